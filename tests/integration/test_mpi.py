# SPDX-License-Identifier: Apache-2.0
"""MPI: all that communicates is an operator, by C and by Fortran. Open MPI's Fortran functions do the work themselves,
MPICH's call the C ones."""
import re
import shutil
import subprocess

import pytest

from conftest import LIBRARY, PYTHON, ROOT, WORKLOADS, report


def profile(tprof, command):
    run = tprof.run(command, [LIBRARY], {"TPROF_OPS": "mpi", "TPROF_CHILDREN": "0"})
    assert run.status == 0, run.stderr
    ops = report(run.traces()[0], command="ops", options=["--top", "0"])["ops"]
    assert {op["category"] for op in ops} == {"mpi"}
    return run, {op["name"]: op["calls"] for op in ops}


@pytest.mark.parametrize("library", ["openmpi", "mpich"])
def test_each_way_to_communicate(tprof, library):
    """Also persistent, one-sided, among neighbours, and matched probes; not what asks for a state (MPI_Comm_rank)."""
    run, ops = profile(tprof, [WORKLOADS / f"mpi_calls-{library}", 3])
    truth = dict(line.split() for line in run.stdout.decode().splitlines())
    assert len(truth) > 50 and {"MPI_Iscan", "MPI_Ineighbor_alltoall", "MPI_Issend", "MPI_Mprobe"} < set(truth)
    assert ops == {name: int(calls) for name, calls in truth.items()}


@pytest.mark.parametrize("library,suffix", [("openmpi", "_f08_"), ("mpich", "_f08ts_")])
@pytest.mark.parametrize("times", [3, 5000])
def test_fortran(tprof, library, suffix, times):
    """By mpif.h, `use mpi` and `use mpi_f08`. The C function that a Fortran one calls is no further call."""
    _, ops = profile(tprof, [WORKLOADS / f"mpi_fortran-{library}", times])
    names = ["mpi_irecv_", "mpi_send_", "mpi_wait_", "mpi_barrier_", "mpi_exscan_", f"mpi_allreduce{suffix}"]
    assert ops == {**dict.fromkeys(names, times), "mpi_init_": 1, "mpi_finalize_": 1}


@pytest.mark.parametrize("times", [3, 5000])
def test_names(tprof, times):
    """As compilers and libraries have them; and the C functions, called by the program itself in between."""
    _, ops = profile(tprof, [WORKLOADS / "mpi_names", times])
    names = ["mpi_send", "mpi_send_", "mpi_send__", "MPI_SEND", "MPI_SEND_", "mpi_send_f08_", "mpi_send_f08ts_",
             "mpi_send_f08ts_large_", "MPI_Send_f08", "MPI_Send_f", "MPI_Send_fts", "MPI_Send_c"]
    assert ops == {**dict.fromkeys(names, times), "MPI_Send": 2 * times + 1}


RANKS = 4


def mpirun(tprof, library, command, log, environment=()):
    """Runs it with RANKS ranks. Returns for each rank its trace and its own log."""
    launcher = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root"], "mpich": ["mpirun.mpich"]}[library]
    if not shutil.which(launcher[0]):
        pytest.skip(f"no {launcher[0]}")
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(tprof.directory), "TPROF_OPS": "mpi",
                 "LD_PRELOAD": str(LIBRARY), **dict(environment)}
    run = subprocess.run([*launcher, "-n", str(RANKS), *map(str, command)], cwd=tprof.directory, env=variables,
                         capture_output=True, timeout=120)
    assert run.returncode == 0, run.stderr.decode()
    traces = {}
    for trace in sorted(tprof.directory.glob("trace*.bin")):
        rank = report(trace, command="info")["capture"]["rank"]
        if rank and rank["joined"]:  # not the launcher
            assert rank["rank"] not in traces
            traces[rank["rank"]] = trace
    assert sorted(traces) == list(range(RANKS))
    return [(traces[rank], (tprof.directory / f"{log}.{rank}").read_text().splitlines()) for rank in range(RANKS)]


def recorded(trace):
    """The records as lines of such a log, but with the communicators' numbers; and how many requests were complete."""
    lines, done, requests = [], 0, set()
    for event in report(trace, command="dump", options=["--top", "0"])["events"]:
        if event["kind"] == "comm" and event["call"] not in ("wait", "test"):
            lines.append([event["call"], event["communicator"], event["sequence"], event["peer"], event["tag"], event["sent"],
                          event["received"]])
            assert event["begins"] == (event["request"] > 0)
            requests |= {event["request"]} - {0}
        elif event["kind"] == "comm_done":
            if "source" in event:
                lines.append(["from", event["source"], event["tag"], event["received"]])
            if event["request"]:
                requests.remove(event["request"])
                done += 1
    assert not requests
    return lines, done


def said(log):
    lines, done, names = [], 0, {}
    for line in log:
        what, *rest = line.split(" ")
        if what == "done":
            done += int(rest[0])
        elif what == "from":
            lines.append([what, *map(int, rest)])
        else:
            name, numbers = " ".join(rest[:-7]), [int(n) for n in rest[-7:]]
            names[name] = numbers[:2]
            lines.append([what, name, *numbers[2:]])
    return lines, done, names


def check(trace, log):
    """All calls and all that they asked for, in order. Returns each communicator's number by its name in the log."""
    told, done = recorded(trace)
    truth, completed, members = said(log)
    known = {group["communicator"]: group for group in report(trace, command="info")["communicators"]}
    numbers = {}
    for one, other in zip(told, truth):
        if one[0] != "from":
            numbers.setdefault(other[1], one[1])
            group = known[one[1]]
            assert [group["rank"], group["size"]] == members[other[1]]
            one[1] = next(name for name, number in numbers.items() if number == one[1])
        assert one == other
    assert len(told) == len(truth) and done == completed
    return {name: known[number] for name, number in numbers.items()}


def identities(groups):
    """What ranks agree by, for each communicator: the chain of those that it was made of."""
    by_number = {group["communicator"]: group for group in groups}

    def identity(group):
        if group["parent"] is None:
            return group["name"]
        return identity(by_number[group["parent"]]), group["parent_sequence"], group["leader"]
    return {number: identity(group) for number, group in by_number.items()}


@pytest.mark.parametrize("library", ["openmpi", "mpich"])
@pytest.mark.parametrize("program", ["mpi_ranks", "mpi_ranks_fortran"])
def test_what_ranks_tell_one_another(tprof, library, program):
    """Against the log that each rank writes: communicators, sequence, peers, tags, roots, bytes, who sent what, requests; and the
    ranks agree on which communicator is which."""
    log = tprof.directory / "log"
    agreed = {}
    for rank, (trace, lines) in enumerate(mpirun(tprof, library, [WORKLOADS / f"{program}-{library}", log], "log")):
        named = check(trace, lines)
        ids = identities(report(trace, command="info")["communicators"])
        for name, group in named.items():
            agreed.setdefault(name, set()).add(ids[group["communicator"]])
        capture = report(trace, command="info")["capture"]
        assert capture["rank"]["joined"] and capture["rank"]["size"] == RANKS and capture["rank"]["local_rank"] == rank
        assert capture["rank"]["launcher"] == {"openmpi": "Open MPI", "mpich": "PMI"}[library]
        assert capture["host"] == subprocess.run(["uname", "-n"], capture_output=True, text=True).stdout.strip()
    assert all(len(ids) == 1 for ids in agreed.values()), agreed
    assert len({next(iter(ids)) for ids in agreed.values()}) == len(agreed) >= 3


@pytest.mark.parametrize("library", ["openmpi", "mpich"])
def test_a_wrapper_is_no_rank(tprof, library):
    """A shell between the launcher and the program has the variables of its rank, and so has a child of the program."""
    launcher = [f"mpirun.{library}", *(["--oversubscribe", "--allow-run-as-root"] if library == "openmpi" else [])]
    program = WORKLOADS / f"mpi_ranks-{library}"
    run = subprocess.run([*launcher, "-n", "2", "/bin/sh", "-c", f"{program} log; true"], cwd=tprof.directory,
                         env={"PATH": "/usr/bin:/bin", "HOME": str(tprof.directory), "TPROF_OPS": "mpi", "LD_PRELOAD": str(LIBRARY)},
                         capture_output=True, timeout=120)
    assert run.returncode == 0, run.stderr.decode()
    ranks = {}
    for trace in tprof.directory.glob("trace*.bin"):
        data = report(trace, command="info")
        if data["capture"]["rank"]:
            ranks.setdefault(data["process"]["name"], []).append((data["capture"]["rank"]["rank"], data["capture"]["rank"]["joined"]))
    assert sorted(ranks[program.name]) == [(0, True), (1, True)]
    shells = [rank for name, all_ranks in ranks.items() if name != program.name for rank in all_ranks]
    assert not any(joined for _, joined in shells) and {rank for rank, _ in shells} == {0, 1}


@pytest.mark.parametrize("library", ["openmpi", "mpich"])
def test_threads(tprof, library):
    """Several at once: each request is complete once, and each communicator's calls are counted without a gap."""
    rounds = 500
    run = tprof.run([WORKLOADS / f"mpi_threads-{library}", rounds], [LIBRARY],
                    {"TPROF_OPS": "mpi", "TPROF_CHILDREN": "0", "TPROF_ALLOC": "off", "TPROF_CPU": "off"})
    assert run.status == 0, run.stderr
    if run.stdout != b"multiple\n":
        pytest.skip("this library does not allow several threads")
    told, done = recorded(run.traces()[0])
    assert done == 4 * 2 * rounds
    counted = {}
    for call in told:
        if call[0] == "allreduce":
            counted.setdefault(call[1], []).append(call[2])
    assert list(counted.values()) == [list(range(1, rounds + 1))] * 4


@pytest.mark.parametrize("library", ["openmpi", "mpich"])
@pytest.mark.parametrize("ns", [0, 20000])
def test_polls(tprof, library, ns):
    """Calls that ask whether something is there, and find nothing, are counted, but the trace does not grow with them: only with those
    that find something, each of which is recorded."""
    rounds, events, size = 5, {}, {}
    for polls in (500, 20000 if not ns else 2000):
        run = tprof.run([WORKLOADS / f"mpi_polls-{library}", rounds, polls, ns], [LIBRARY],
                        {"TPROF_OPS": "mpi", "TPROF_CHILDREN": "0", "TPROF_ALLOC": "off", "TPROF_CPU": "off"})
        assert run.status == 0, run.stderr
        truth = {name: int(calls) for name, calls, _ in map(str.split, run.stdout.decode().splitlines())}
        assert len(truth) == 6 and min(truth.values()) >= rounds * (polls + 1)
        ops = report(run.traces()[0], command="ops", options=["--top", "0"])["ops"]
        assert {op["name"]: op["calls"] for op in ops if op["name"] in truth} == truth
        told, done = recorded(run.traces()[0])
        assert done == rounds * (4 + 6)  # what four ways wait for, and six sends
        assert sum(call[0] == "probe" for call in told) == 2 * rounds
        events[polls] = len(report(run.traces()[0], command="dump", options=["--top", "0"])["events"])
        size[polls] = run.traces()[0].stat().st_size
    few, many = sorted(events)
    # Of each way the first few, and some more where another program had the processor. One of 4096 begins a record.
    assert events[many] - events[few] < 6 * rounds * 10 + 6 * rounds * many / 200 and size[many] - size[few] <= 1 << 16


def test_gloo(tprof):
    """torch.distributed: the methods of its groups are virtual functions, and each begins what Work::wait waits for."""
    program = ROOT / "tests/workloads/gloo_ranks.py"
    log = tprof.directory / "log"
    ranks = [subprocess.Popen([PYTHON, program, str(rank), str(RANKS), tprof.directory / "store", log], cwd=tprof.directory,
                              env={"PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1", "TPROF_ALLOC": "off", "TPROF_CPU": "off",
                                   "TPROF_OUTPUT": f"rank{rank}.bin", "LD_PRELOAD": str(LIBRARY)}) for rank in range(RANKS)]
    assert [process.wait(timeout=200) for process in ranks] == [0] * RANKS
    halves = []
    for rank in range(RANKS):
        trace = tprof.directory / f"rank{rank}.bin"
        lines, done, names = said((tprof.directory / f"log.{rank}").read_text().splitlines())
        told, completed = recorded(trace)
        groups = {group["communicator"]: group for group in report(trace, command="info")["communicators"]}
        assert [groups[number]["kind"] for number in sorted(groups)] == ["world", "torch"]
        assert [[groups[number]["rank"], groups[number]["size"]] for number in sorted(groups)] == [names["world"], names["half"]]
        made = [call for call in told if call[0] == "create"]
        assert [call[1] for call in made] == [2]
        for call in told:
            call[1] = {1: "world", 2: "half"}[call[1]]
        assert [call for call in told if call[0] != "create"] == lines
        assert completed == len(lines) - 1  # all but the first, which joins
        halves.append(groups[2]["name"])
    assert halves[0] == halves[2] != halves[1] == halves[3] and "" not in halves
