# SPDX-License-Identifier: Apache-2.0
"""Processes by role: ranks and their children, against what the programs wrote down of themselves."""
import re

import pytest
from conftest import Harness, LIBRARY, PYTHON, ROOT, WORKLOADS, analyze, report
from test_ranks import MPI

MB = 1000000


def roles_of(run):
    return report(*run.traces())["combined"]["roles"]


def written(run, name):
    """The number that a process wrote into a file."""
    return int((run.directory / name).read_text())


RANK = """import os
MB = 1_000_000
rank = int(os.environ["OMPI_COMM_WORLD_RANK"])


def load():
    return bytearray((20 if rank == 3 else 8) * MB)


def worker(number):
    batch = bytearray((10 if (rank, number) == (1, 0) else 3) * MB)
    open(f"worker.{rank}.{number}", "w").write(str(os.getpid()))
    os._exit(0)


data = load()
for number in range(2):
    if os.fork() == 0:
        worker(number)
open(f"rank.{rank}", "w").write(str(os.getpid()))
for _ in range(2):
    os.wait()
"""


@pytest.fixture(name="job", scope="module")
def job_of_five(tmp_path_factory):
    """Started in another order than by rank, each below a shell that has the launcher's variables, too."""
    tprof = Harness(tmp_path_factory.mktemp("job"))
    program = tprof.directory / "train.py"
    program.write_text(RANK)
    start = f'OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=5 /bin/sh -c "{PYTHON} {program}; true" &'
    return tprof.run(["sh", "-c", f"for rank in 4 2 3 0 1; do {start} done; wait"], [LIBRARY])


def test_ranks_have_a_role_and_numbers(job):
    ranks, = [role for role in roles_of(job) if role["are_ranks"]]
    assert ranks["ranks"] == list(range(5))
    assert ranks["pids"] == [written(job, f"rank.{rank}") for rank in range(5)]
    assert ranks["role"].startswith("ranks: ") and "train.py" in ranks["role"]
    odd, = ranks["odd"]
    assert (odd["rank"], odd["pid"], odd["figure"]) == (3, written(job, "rank.3"), "peak_bytes")
    assert odd["place"] == "train.py:7" and abs(odd["more_bytes"] - 12 * MB) < MB // 10
    said = analyze("peak", *job.traces()).stdout
    assert re.search(rf"the odd one out: rank 3: {odd['ratio']:.1f}x the peak of the others like it .*: train\.py:7, 11\.4 MiB more",
                     said), said
    assert re.search(rf"^ *{written(job, 'rank.0')} .* rank 0: ", said, re.M), said


def test_children_of_ranks_have_another_role(job):
    """Also the shells, though they have a launcher's variables."""
    workers, = [role for role in roles_of(job) if written(job, "worker.0.0") in role["pids"]]
    assert not workers["are_ranks"]
    assert dict(zip(workers["pids"], workers["ranks"])) == \
        {written(job, f"worker.{rank}.{number}"): rank for rank in range(5) for number in range(2)}
    assert workers["ranks"] == sorted(workers["ranks"])
    odd, = [one for one in workers["odd"] if one["figure"] == "peak_bytes"]
    assert (odd["rank"], odd["pid"], odd["place"]) == (1, written(job, "worker.1.0"), "train.py:11")
    assert f"the odd one out: {odd['pid']}, of rank 1: " in analyze("peak", *job.traces()).stdout


def test_largest_roles_come_first(job):
    roles = roles_of(job)
    peaks = {process["process"]["pid"]: 0 for process in report(*job.traces())["processes"]}
    for process in report(*job.traces())["processes"]:
        peaks[process["process"]["pid"]] = max(peaks[process["process"]["pid"]], process["heap"]["peak_bytes"])
    sums = [sum(peaks[pid] for pid in role["pids"]) for role in roles if role["are_ranks"] or max(map(peaks.get, role["pids"])) > MB]
    assert roles[0]["are_ranks"] and sums[0] == max(sums)


def test_ranks_that_joined(tprof):
    """Of Open MPI: rank 3 keeps what the others do not have."""
    run = tprof.run(["mpirun.openmpi", "--oversubscribe", "-np", 5, WORKLOADS / "stragglers-openmpi", "leak", 3, 20, 60], [LIBRARY], MPI)
    assert run.status == 0, run.stderr
    ranks, = [role for role in roles_of(run) if role["are_ranks"]]
    assert ranks["ranks"] == list(range(5))
    odd, = [one for one in ranks["odd"] if one["figure"] == "peak_bytes"]
    source = (ROOT / "tests/workloads/stragglers.c").read_text(encoding="utf-8").splitlines()
    line = 1 + next(number for number, text in enumerate(source) if "calloc(1, sizeof(*note))" in text)
    assert odd["rank"] == 3 and odd["place"].endswith(f"stragglers.c:{line}")


def test_one_rank_is_no_group(tprof):
    run = tprof.run(["sh", "-c", "/bin/true; /bin/true"], [LIBRARY], {"SLURM_PROCID": "0", "SLURM_NTASKS": "1"})
    roles = roles_of(run)
    assert not any(role["are_ranks"] for role in roles)
    assert {rank for role in roles for rank in role["ranks"]} == {None}


def test_a_child_belongs_to_the_program_that_forked_it(tprof):
    """Not to the one that exec put it in the place of, which has the same pid."""
    program = tprof.directory / "second.py"
    program.write_text("import os\nif os.fork() == 0:\n    x = bytearray(5_000_000)\n    os._exit(0)\nos.wait()\n")
    run = tprof.run(["bash", "-c", f"(x=1; x=2); exec {PYTHON} {program}"], [LIBRARY])
    roles = roles_of(run)
    bash = next(role for role in roles if role["role"].startswith("bash"))["pids"][0]
    forks = [role["pids"] for role in roles if role["role"].startswith("fork of")]
    assert len(forks) == 2 and all(len(pids) == 1 and pids[0] != bash for pids in forks)
