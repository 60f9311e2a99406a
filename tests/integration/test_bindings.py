# SPDX-License-Identifier: Apache-2.0
"""What a call leads to is the loader's to say: hooked, it leads there still, and is counted once."""
import pytest
from conftest import LIBRARY, WORKLOADS
from test_op_hooks import ops_of


@pytest.mark.parametrize("program", ["bindings", "bindings-now"])
@pytest.mark.parametrize("how, said, calls", [
    ("plt", b"plt 40 1\n", {"bind_call": 40}),
    ("versions", b"versions 3 4\n", {"bind_versioned": 2}),
    ("deep", b"deep 1 2\n", {"bind_lazy": 1}),  # the other one could be either: it is left alone
    ("shallow", b"shallow 1 1\n", {"bind_lazy": 2}),
    ("none", b"none 0 0\n", {}),
    ("errors", None, {}),
])
def test_targets(tprof, program, how, said, calls):
    """
    plt: an address that is a PLT entry leads to a slot, which leads to the function; not round and round, nor counted twice.
    versions: of two functions of one name each caller has its own. deep: so it has with RTLD_DEEPBIND. none: a pointer that
    is NULL, as nothing defined the symbol, or since the program made it so, stays NULL. errors: the loader's last message is
    about what the program asked.
    """
    command = [WORKLOADS / program, how]
    env = {"TPROF_OPS": "bind_*,-bind_by_*,-bind_user,-bind_off,-bind_weak", "LD_LIBRARY_PATH": str(WORKLOADS)}
    bare = tprof.run(command, env=env)
    assert (bare.status, bare.stdout) == (0, said or bare.stdout)
    run = tprof.run(command, [LIBRARY], env)
    assert (run.status, run.stdout, run.stderr) == (0, bare.stdout, b"")
    assert ops_of(run.traces()[0]) == {name: (count, 0) for name, count in calls.items()}
