# SPDX-License-Identifier: Apache-2.0
"""Processes in another root directory: their children's traces are beside their own, or the report names the obstacle."""
import os
import pathlib
import subprocess
import tempfile

import pytest
from conftest import LIBRARY, WORKLOADS, add, analyze, heap_of, nothing_lost, report, sites

ROOTS = WORKLOADS / "roots"
AS_ROOT = [*(["user"] if os.geteuid() else [])]  # who is not root becomes it in a user namespace of his own
WAYS = ["chroot", "syscall", "pivot", "over", "close,chroot", "close,syscall", "close,pivot", "thread,chroot"]


def roots(tprof, steps, *more, bare=False, env=None):
    """Runs it; returns the run and the truth: blocks by pid."""
    directory = tprof.directory / "empty"
    directory.mkdir(exist_ok=True)
    command = [ROOTS, ",".join([*AS_ROOT, steps]), directory, *more]
    run = tprof.run(command, [] if bare else [LIBRARY], env)
    if run.status == 77 and AS_ROOT:
        pytest.skip(f"neither root nor allowed a user namespace: {run.stderr.decode()}")
    assert run.status == 0, run.stderr
    assert list(directory.iterdir()) == []
    return run, {int(pid): int(blocks) for pid, blocks in (line.split() for line in run.stdout.splitlines() if line[0:1].isdigit())}


@pytest.mark.parametrize("steps", WAYS)
def test_children_are_recorded(tprof, steps):
    run, truth = roots(tprof, steps)
    assert run.stderr == b"" and len(truth) == 2 and len(run.traces()) == 3
    first, *children = [report(trace) for trace in run.traces()]
    assert {child["process"]["pid"]: child["heap"]["allocations"] for child in children} == truth
    assert [fork["pid"] for fork in first["run"]["forked"]] and first["run"]["not_recorded"] == []
    for child, trace in zip(children, run.traces()[1:]):
        nothing_lost(child)
        assert child["heap"]["end_bytes"] == 1000 * truth[child["process"]["pid"]]
        for key in ("name", "exe", "started_as", "run"):
            assert child["process"][key] == first["process"][key]
        assert child["process"]["ppid"] == first["process"]["pid"]
        (site,) = sites(trace, "leaks")
        assert [frame["function"] for frame in site["stack"][:2]] == ["work", "main"]
    places = {trace.read_bytes()[632:656] for trace in run.traces()}  # pid_namespace and boot_id, though there is no /proc
    assert len(places) == 1 and bytes(24) not in places


def test_a_program_that_has_closed_the_directory(tprof):
    run, truth = roots(tprof, "chroot,close")
    (trace,) = run.traces()
    assert run.stderr.count(b"no such directory after chroot; nothing is recorded") == len(truth) == 2
    (note,) = report(trace)["run"]["not_recorded"]
    assert (note["how"], note["count"], note["pid"] in truth) == ("fork", 2, True)
    assert note["reason"] == "its trace could not be written: no such directory after chroot"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give up root")
def test_a_user_that_may_not_write(tprof):
    """The directory that is kept open gives nobody a right to write in it."""
    run, truth = roots(tprof, "chroot,drop")
    (trace,) = run.traces()
    (note,) = report(trace)["run"]["not_recorded"]
    assert (note["how"], note["count"], note["pid"] in truth) == ("fork", 2, True)
    assert note["reason"] == "its trace could not be written: permission denied to user 65534"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give up root")
def test_a_user_that_may_write(tprof):
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        _, truth = roots(tprof, "chroot,drop", env={"TPROF_OUTPUT": f"{name}/x.bin"})
        children = [report(path) for path in pathlib.Path(name).glob("x.*.bin")]
        assert {child["process"]["pid"]: child["heap"]["allocations"] for child in children} == truth


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give up root")
@pytest.mark.parametrize("steps", ["none/drop", "none/drop-syscall", "chroot/drop", "none/chroot,drop"])
def test_workers_that_give_up_root(tprof, steps):
    """Their traces are made before."""
    run, truth = roots(tprof, steps)
    assert run.stderr == b"" and len(run.traces()) == 3
    first, *children = [report(trace) for trace in run.traces()]
    assert {child["process"]["pid"]: child["heap"]["allocations"] for child in children} == truth
    for child in children:
        nothing_lost(child)
    assert first["run"]["not_recorded"] == []


LIST = """
#include <dirent.h>
#include <stdio.h>
int main(void)
{
	DIR *directory = opendir("/proc/self/fd");
	for (struct dirent *entry; (entry = readdir(directory));)
		if (entry->d_name[0] != '.')
			printf("fd %s\\n", entry->d_name);
	return 0;
}
"""


def test_a_started_program_gets_no_descriptor(tprof, tmp_path):
    (tmp_path / "list.c").write_text(LIST)
    if subprocess.run(["gcc", "-static", "-o", tmp_path / "list", tmp_path / "list.c"], check=False).returncode:
        pytest.skip("no static libc")
    for steps in ("over", "thread"):
        bare, _ = roots(tprof, steps, tmp_path / "list", bare=True)
        run, _ = roots(tprof, steps, tmp_path / "list")
        own = [sorted(line for line in r.stdout.splitlines() if line.startswith(b"fd ")) for r in (bare, run)]
        assert own[0] == own[1] and len(own[0]) >= 8


def test_few_descriptors(tprof):
    """Where there is no high number, nothing is kept open, and the program has all of its own."""
    directory = tprof.directory / "empty"
    directory.mkdir()
    limit = f"ulimit -n 64; exec {ROOTS} {','.join([*AS_ROOT, 'chroot'])} {directory}"
    run = tprof.run(["sh", "-c", limit], [LIBRARY], {"TPROF_EXE": "roots"})
    if run.status == 77 and AS_ROOT:
        pytest.skip("no user namespace")
    (trace,) = run.traces()
    (note,) = report(trace)["run"]["not_recorded"]
    assert note["reason"] == "its trace could not be written: no such directory after chroot"
