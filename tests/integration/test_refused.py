# SPDX-License-Identifier: Apache-2.0
"""Kernels that do not have a system call, and sandboxes that refuse it: the program runs, and what is recorded is right."""
import errno

import pytest
from conftest import LIBRARY, WORKLOADS, add, heap_of, nothing_lost, summaries
from test_order import arena_extras
from test_processes import check_processes

CALLS = {"mmap": 9, "madvise": 28, "link": 86, "tgkill": 234, "fallocate": 285, "renameat2": 316}
MAP_SHARED, MADV_WIPEONFORK = 1, 18


def refuse(call, error, argument=-1, value=0):
    return [WORKLOADS / "refuse", CALLS[call], argument, value, error]


def refused(tprof, call, error, command, argument=-1, value=0, **env):
    """A run with the call refused, of which only the program's own processes are recorded."""
    return tprof.profile([*refuse(call, error, argument, value), *command], env={"TPROF_EXE": command[0].name, **env})


@pytest.mark.parametrize("how, children", [("fork", 1), ("nested", 2), ("threads", 20), ("clone", 1)])
def test_fork_where_the_kernel_can_not_wipe(tprof, how, children):
    """gVisor, and Linux before 4.14: a child must not write into its parent's trace."""
    run = refused(tprof, "madvise", errno.EINVAL, [WORKLOADS / "fork", how], 2, MADV_WIPEONFORK)
    assert len(run.truths()) == (children if how == "threads" else children + 1)
    check_processes(run, children + 1)
    for summary in summaries(run.traces()).values():
        assert summary["capture"]["damage"] == []


@pytest.mark.parametrize("call, error", [("fallocate", errno.EPERM), ("fallocate", errno.EINVAL), ("tgkill", errno.EPERM)])
def test_recorded_all_the_same(tprof, call, error):
    """Room in the file is made by writing; threads that nobody can ask about are taken to live."""
    run = refused(tprof, call, error, [WORKLOADS / "shared_arena", 20000], MALLOC_ARENA_MAX="1")
    (summary,) = summaries(run.traces()).values()
    nothing_lost(summary)
    assert heap_of(summary) == add(run.truth(), arena_extras(tprof, env={"MALLOC_ARENA_MAX": "1"}))
    assert summary["heap"]["unmatched_frees"] == 0
    assert summary["capture"]["threads"] == 5


@pytest.mark.parametrize("how", ["fork", "threads"])
def test_a_file_system_with_plain_renames_alone(tprof, how):
    """No RENAME_NOREPLACE, no hard links (some FUSE and shared folders): each process has its trace all the same."""
    run = tprof.profile([*refuse("renameat2", errno.EINVAL), *refuse("link", errno.EPERM), WORKLOADS / "fork", how],
                        env={"TPROF_EXE": "fork"})
    check_processes(run, 21 if how == "threads" else 2)
    assert all(path.stat().st_size for path in run.directory.iterdir())


def test_a_file_system_without_shared_mappings(tprof):
    command = [*refuse("mmap", errno.ENODEV, 3, MAP_SHARED), WORKLOADS / "bindings", "versions"]
    run = tprof.run(command, [LIBRARY], {"TPROF_EXE": "bindings", "LD_LIBRARY_PATH": str(WORKLOADS)})
    assert (run.status, run.stdout, run.traces()) == (0, b"versions 3 4\n", [])
    assert run.stderr.decode() == (
        "tprof: trace.bin: its file system can't map files shared (MAP_SHARED); nothing is recorded\n")
