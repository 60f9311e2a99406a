# SPDX-License-Identifier: Apache-2.0
"""What programs do to the frames that lie around hooked calls: they behave as without, and each call is counted."""
import pytest

from conftest import LIBRARY, WORKLOADS, report

QUIET, SAMPLED = {"TPROF_CPU": "0"}, {"TPROF_CPU": "2000"}


def attack(tprof, how, times, *more, env=None, ops="tiny_call"):
    """The same output with and without; the one op, and the summary's capture."""
    command = [WORKLOADS / "attack", how, times, *more]
    bare, run = tprof.run(command), tprof.run(command, [LIBRARY], {"TPROF_OPS": ops, **(env or QUIET)})
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr)
    assert bare.status == 0
    answer = report(run.traces()[0], command="ops", options=["--top", "0"])
    assert answer["capture"]["damage"] == [] and answer["capture"]["stopped"] is False
    return {op["name"]: op for op in answer["ops"]}, answer["capture"]


@pytest.mark.parametrize("env", [QUIET, SAMPLED])
def test_a_handler_jumps_out_of_calls(tprof, env):
    """One to seven deep: all of them got an end, none is open."""
    ops, capture = attack(tprof, "jump", 700, env=env)
    assert capture["lost_events"] == 0
    call = ops["tiny_call"]
    assert (call["calls"], call["unwound"], call["open"]) == (100 * sum(range(1, 8)) + 1, 100 * sum(range(1, 8)), 0)


@pytest.mark.parametrize("env", [QUIET, SAMPLED])
def test_a_handler_on_a_stack_of_its_own_calls(tprof, env):
    """The signal is sent from within the call, so that each handler comes while nothing is being recorded."""
    ops, capture = attack(tprof, "alternate", 500, env=env)
    assert capture["lost_events"] == 0
    call = ops["tiny_call"]
    assert (call["calls"], call["unwound"], call["open"]) == (1000, 0, 0)


@pytest.mark.parametrize("env", [QUIET, SAMPLED])
def test_coroutines_that_switch_in_the_middle_of_calls(tprof, env):
    """They end in any order, on stacks that lie beside each other. None was left, and none lasts longer than the program."""
    ops, capture = attack(tprof, "coroutines", 500, env=env)
    assert capture["lost_events"] == 0
    call = ops["tiny_call"]
    assert (call["calls"], call["unwound"], call["open"]) == (2 * 8 * 500 * 3, 0, 0)
    assert call["allocated_bytes"] == 2 * 8 * 500 * 2 * 100


def test_a_thousand_threads_in_a_call_at_once(tprof):
    ops, capture = attack(tprof, "threads", 1000)
    assert capture["lost_events"] == 0 and capture["threads"] >= 1000
    call = ops["tiny_call"]
    assert (call["calls"], call["unwound"], call["open"]) == (11 * 1000, 0, 0)


def test_ten_thousand_deep(tprof):
    """What is nested deeper than is kept is called and counted: as lost, and the reports say why."""
    ops, capture = attack(tprof, "deep", 10000)
    call, lost = ops["tiny_call"], capture["lost"]["op_depth"]
    assert call["calls"] + lost == 2 * 10000 and call["calls"] >= 2 * 256
    assert (call["unwound"], call["open"], capture["lost_events"]) == (0, 0, lost)
    assert call["allocated_bytes"] == 2 * 100


@pytest.mark.parametrize("env", [QUIET, SAMPLED])
def test_a_stack_that_overflows_in_calls(tprof, env):
    """The fault comes in whatever touches the stack's end first, the hooks' own code too; what comes after is recorded."""
    ops, capture = attack(tprof, "overflow", 20, env=env)
    call = ops["tiny_call"]
    assert call["calls"] - call["unwound"] == 20 and call["open"] == 0
    assert capture["lost_events"] == capture["lost"]["op_depth"] + capture["lost"]["reentrant"]


def test_a_handler_jumps_out_of_every_instruction_of_a_hook(tprof):
    """What was being recorded is over then, though the next call comes from the same place on the same stack."""
    ops, capture = attack(tprof, "step", 500)
    call = ops["tiny_call"]
    assert 250 <= call["calls"] <= 500
    assert capture["lost_events"] == capture["lost"]["reentrant"] <= 250


@pytest.mark.parametrize("settings", [{}, {"TPROF_OPS": "off"}])
def test_a_handler_at_every_instruction_of_a_hook(tprof, settings):
    """Whatever a handler's own hooks leave behind, the event that it interrupted is whole, and its own are counted."""
    run = tprof.run([WORKLOADS / "attack", "nested", 20], [LIBRARY], {"TPROF_OPS": "tiny_call", **QUIET, **settings})
    assert run.status == 0
    summary = report(run.traces()[0])
    heap, capture = summary["heap"], summary["capture"]
    assert capture["damage"] == [] and capture["stopped"] is False
    assert heap["maps"] + heap["unmaps"] + capture["lost_events"] == 2 * int(run.stderr)
    if not settings:
        (call,) = [op for op in report(run.traces()[0], command="ops")["ops"] if op["name"] == "tiny_call"]
        assert (call["calls"], call["unwound"], call["open"]) == (20, 0, 0)
        assert capture["lost"]["reentrant"] > 100


def test_libraries_unloaded_beside_their_callers(tprof):
    """Two that take each other's place, each with a function of the same name."""
    ops, capture = attack(tprof, "unload", 400, WORKLOADS, ops="plugin_*")
    assert capture["lost_events"] == 0
    assert (ops["plugin_allocate"]["calls"], ops["plugin_allocate"]["unwound"]) == (400, 0)
    assert [ops[name]["calls"] for name in ("plugin_a_allocate", "plugin_b_allocate")] == [200, 200]
    assert ops["plugin_allocate"]["allocated_bytes"] == 400 * 100
