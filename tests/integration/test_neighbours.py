# SPDX-License-Identifier: Apache-2.0
"""Ranks that wait for some of the others: for their neighbours, and where parts are empty. The ranks' own logs are the truth."""
import json
import shutil

import pytest
from conftest import LIBRARY, WORKLOADS, analyze, report

LAUNCHERS = {"openmpi": ["mpirun.openmpi", "--oversubscribe"], "mpich": ["mpirun.mpich"]}
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "TPROF_CPU": "off", "TPROF_ALLOC": "off"}
RANKS, LATE, STEPS, DELAY_MS = 6, 2, 6, 20
BOTH = pytest.mark.parametrize("library", LAUNCHERS)


def job(tprof, library):
    """Returns the run, and for each rank its log: op, step, when it gave, when it began to wait, when it left, for whom it waits."""
    if not shutil.which(LAUNCHERS[library][0]):
        pytest.skip(f"no {LAUNCHERS[library][0]}")
    run = tprof.run([*LAUNCHERS[library], "-np", RANKS, WORKLOADS / f"neighbours-{library}", LATE, STEPS, DELAY_MS], [LIBRARY], MPI,
                    timeout=300)
    assert run.status == 0, run.stderr
    logs = [[line.split() for line in (run.directory / f"log.{rank}").read_text().splitlines()] for rank in range(RANKS)]
    return run, [[(name, *map(int, times), [int(rank) for rank in ranks]) for name, _, *times, ranks in
                  ((*line[:5], line[5:]) for line in log)] for log in logs]


def truth(logs):
    """By function: how long all waited, as their clocks say, and the time in the calls. By rank: how long it made others wait."""
    waited, spent, caused = {}, {}, [0] * RANKS
    for calls in zip(*logs):
        (name,) = {call[0] for call in calls}
        for _, _, began, left, ranks in calls:
            last = max(ranks, key=lambda rank: calls[rank][1], default=None)
            wait = 0 if last is None else max(0, min(calls[last][1], left) - began)
            waited[name] = waited.get(name, 0) + wait
            spent[name] = spent.get(name, 0) + left - began
            if wait:
                caused[last] += wait
    return waited, spent, caused


@BOTH
def test_waits(tprof, library):
    """Each function's waiting and transfer are those of the logs, and so is what the late rank made the others wait."""
    run, logs = job(tprof, library)
    found = json.loads(analyze("ranks", "--json", "--top", "0", *run.traces()).stdout)["ranks"]
    waited, spent, caused = truth(logs)
    assert found["count"] == RANKS and found["unmatched"] == found["collectives_incomplete"] == found["collectives_disagreeing"] == 0
    functions = {entry["name"]: entry for entry in found["collectives"]}
    assert {"MPI_Neighbor_allgather", "MPI_Ineighbor_alltoall", "MPI_Neighbor_alltoallw", "MPI_Neighbor_allgatherv",
            "MPI_Neighbor_alltoallv", "MPI_Ineighbor_alltoallv", "MPI_Alltoallv", "MPI_Alltoallw", "MPI_Ialltoallv",
            "MPI_Gatherv", "MPI_Scatterv", "MPI_Allgatherv"} <= set(waited) <= set(functions)
    for name, wait in waited.items():
        # What lies between a clock's reading and the call is the error: some microseconds, but in an unlucky call a slice of time.
        assert abs(functions[name]["wait_ns"] - wait) < 0.05 * wait + 5e6, name
        assert abs(functions[name]["transfer_ns"] + functions[name]["wait_ns"] - spent[name]) < 0.05 * spent[name] + 5e6, name
    assert ("MPI_Start" in waited) == (library == "mpich")
    late = found["list"][LATE]
    assert max(found["list"], key=lambda rank: rank["caused_wait_ns"]) is late
    assert abs(late["caused_wait_ns"] - caused[LATE]) < 0.05 * caused[LATE] + 20e6
    patterns = {entry["name"]: entry["pattern"] for entry in found["collectives"]}
    assert patterns["MPI_Neighbor_alltoallv"] == "Wait for Neighbours" and patterns["MPI_Alltoallv"] == "Wait at NxN"


@BOTH
def test_what_is_recorded(tprof, library):
    """Which parts are not empty, of calls that have empty ones; and whom a rank hears from, in each topology."""
    run, logs = job(tprof, library)
    ranks = {report(trace, command="info")["process"]["pid"]: trace for trace in run.traces()}
    for entry in json.loads(analyze("ranks", "--json", *run.traces()).stdout)["ranks"]["list"]:
        rank, trace = entry["rank"], ranks[entry["pid"]]
        events = report(trace, command="dump", options=["--top", "0"])["events"]
        told = [event["parts"] for event in events if event["kind"] == "comm" and "parts" in event and event["call"] == "alltoall"]
        said = [call[4] for call in logs[rank] if call[0] in ("MPI_Alltoallv", "MPI_Alltoallw", "MPI_Ialltoallv", "MPI_Start")]
        assert told == [ranks for ranks in said if ranks] and len(told) >= 3 * STEPS
        told = [event["parts"] for event in events if event["kind"] == "comm" and "parts" in event and "neighbor" in event["call"]]
        assert told == ([[0]] * 2 * STEPS if rank % 2 else [])
        groups = report(trace, command="info")["communicators"]
        topologies = [group["source_ranks"] for group in groups if group["source_ranks"] is not None]
        assert topologies == [[rank - 1 if rank else None, rank + 1 if rank + 1 < RANKS else None],
                              [0] if rank else list(range(1, RANKS)), [(rank - 1) % RANKS, (rank - 2) % RANKS]]
