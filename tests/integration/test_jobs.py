# SPDX-License-Identifier: Apache-2.0
"""Ranks of a parallel job that were each started under tprof run: which of the traces are one run."""
import json
import os
import subprocess

import pytest

from conftest import ANALYZE, LAUNCHER, WORKLOADS


def start(directory, job, rank, size=2):
    """A rank of a job of torchrun's; it lives until its pipe is closed."""
    env = {**os.environ, "RANK": str(rank), "WORLD_SIZE": str(size), "TORCHELASTIC_RUN_ID": job}
    return subprocess.Popen([LAUNCHER, "run", "-q", "-o", directory / "%p.bin", "--", "sh", "-c", "echo up; read line"], env=env,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def together(*processes):
    """Ends ranks once all of them have begun."""
    for process in processes:
        assert process.stdout.readline() == b"up\n"
    for process in processes:
        process.communicate(b"\n")
        assert process.returncode == 0


def runs(directory):
    """The ranks of each run, in order of the runs' begin."""
    traces = sorted(directory.glob("*.bin"))
    done = subprocess.run([ANALYZE, "info", "--json", "--all-runs", *traces], capture_output=True, check=True)
    answer = json.loads(done.stdout)
    return [sorted(process["capture"]["rank"]["rank"] for process in run["processes"]) if "processes" in run
            else [run["capture"]["rank"]["rank"]] for run in answer["runs"]]


def test_ranks_of_one_job(tmp_path):
    together(start(tmp_path, "a", 0), start(tmp_path, "a", 1))
    assert runs(tmp_path) == [[0, 1]]


@pytest.mark.parametrize("job", ["a", "none"])
def test_jobs_one_after_the_other(tmp_path, job):
    """Also where they are called the same: no job has a rank twice."""
    together(start(tmp_path, job, 0), start(tmp_path, job, 1))
    together(start(tmp_path, job, 1), start(tmp_path, job, 0))
    assert runs(tmp_path) == [[0, 1], [0, 1]]


def test_ranks_that_never_met(tmp_path):
    """They are one job only if it has a name."""
    together(start(tmp_path, "none", 0))
    together(start(tmp_path, "none", 1))
    assert runs(tmp_path) == [[0], [1]]
    named = tmp_path / "named"
    named.mkdir()
    together(start(named, "a", 0))
    together(start(named, "a", 1))
    assert runs(named) == [[0, 1]]


def test_other_jobs_are_not_mixed_in(tmp_path):
    ranks = [start(tmp_path, "a", 0), start(tmp_path, "b", 0), start(tmp_path, "a", 1), start(tmp_path, "c", 1, size=3)]
    together(*ranks)
    assert sorted(runs(tmp_path)) == [[0], [0, 1], [1]]


def test_mpirun(tmp_path):
    """Each of two jobs is a run; one rank says what to do next."""
    for _ in range(2):
        done = subprocess.run(["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root", "-n", "3", LAUNCHER, "run", "--",
                               WORKLOADS / "mpi_calls-openmpi", "1"], cwd=tmp_path, capture_output=True, check=True)
        assert done.stderr.count(b"tprof: next: ") == done.stderr.count(b"tprof: next: tprof-analyze ranks .\n") == 1
        assert done.stderr.count(b"tprof: ranks: ") == 1
    traces = [*tmp_path.glob("*.bin"), *tmp_path.glob("*.old")]
    assert len(traces) == 6
    done = subprocess.run([ANALYZE, "summary", "--json", *traces], capture_output=True, check=True)
    assert len(json.loads(done.stdout)["processes"]) == 3
    text = subprocess.run([ANALYZE, "--full", *traces], capture_output=True, text=True, check=True).stdout
    assert all(f", rank {rank} of 3)" in text for rank in range(3))
    done = subprocess.run([ANALYZE, "check", "--max-peak", "1G", *traces], capture_output=True, check=True)
    assert b"FAIL" not in done.stdout
