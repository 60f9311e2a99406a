# SPDX-License-Identifier: Apache-2.0
"""Very many very short calls: none is dropped, sums are exact, memory is attributed, the trace stays small."""
import json

import pytest

from conftest import LIBRARY, WORKLOADS, analyze, nothing_lost, report
from second_reader import Trace

CALLS = 600000
MANY = 6000000  # so many that a share of them is timed
BLAS = {"TPROF_OPS": "blas"}


def profile(tprof, how, calls=CALLS, length=100, **env):
    command = [WORKLOADS / "hot", how, calls, length]
    run = tprof.run(command, [LIBRARY], {**BLAS, **env})
    summary = report(run.traces()[0])
    nothing_lost(summary)
    return run, {op["name"]: op for op in report(run.traces()[0], command="ops", options=["--top", "0"])["ops"]}


def shapes(op):
    return {shape["shape"]: (shape["calls"], shape["flop"]) for shape in op["shapes"]}


def test_counts_and_sums_are_exact(tprof):
    run, ops = profile(tprof, "plain")
    saxpy = ops["cblas_saxpy"]
    assert run.status == 0 and run.stdout == b"hot: done\n"
    assert saxpy["calls"] == CALLS
    assert 0.5 * CALLS < saxpy["folded"] < CALLS
    assert (saxpy["flop"], saxpy["bytes"]) == (200 * CALLS, 1200 * CALLS)
    assert shapes(saxpy) == {"n=100": (CALLS, 200 * CALLS)}
    assert saxpy["min_ns"] <= saxpy["p50_ns"] <= saxpy["p99_ns"] <= saxpy["max_ns"] <= saxpy["total_ns"]
    # An event each would be 12 bytes and more a call.
    assert run.traces()[0].stat().st_size < 6 * CALLS
    assert "were folded" in analyze("ops", run.traces()[0]).stdout


def test_lengths_by_powers_of_two(tprof):
    run, ops = profile(tprof, "lengths")
    truth = run.truth()
    for name in ("cblas_saxpy", "saxpy"):
        assert ops[name]["calls"] == truth[name], name
        assert ops[name]["folded"] > 0
    assert ops["cblas_saxpy"]["flop"] == 2 * truth["elements"]
    assert sum(shape["calls"] for shape in ops["saxpy"]["shapes"]) == truth["saxpy"]


def test_memory_within_is_attributed(tprof):
    """A call that holds an event is a call like any other."""
    _, ops = profile(tprof, "allocate")
    scal = ops["cblas_sscal"]
    assert scal["calls"] == CALLS and scal["folded"] > 0.5 * CALLS
    assert (scal["allocated_bytes"], scal["peak_bytes"]) == (64 * CALLS // 1000, 64)
    assert scal["untimed"] == 0, "one call in a thousand holds an event: each is looked at"


def folds(run):
    return [event for event in Trace(run.traces()[0].read_bytes()).events if event[1] == "fold"]


def test_share_is_timed(tprof):
    """Of very many very short calls a random share is timed, one in 256; all are counted, and what is said of times is said to
    be estimated."""
    run, ops = profile(tprof, "plain", MANY, 20)
    saxpy = ops["cblas_saxpy"]
    assert (saxpy["calls"], saxpy["flop"], saxpy["bytes"]) == (MANY, 40 * MANY, 240 * MANY)
    assert shapes(saxpy) == {"n=20": (MANY, 40 * MANY)}
    records = folds(run)
    assert saxpy["untimed"] == sum(event[4] - event[6] for event in records) > 0
    calls, timed = (sum(event[i] for event in records if event[6] < event[4]) for i in (4, 6))
    expected = calls / 256
    assert abs(timed - expected) < 6 * expected ** 0.5 + len(records), (calls, timed)
    assert saxpy["estimated"]
    for key in ("total_ns", "self_ns"):
        low, high = saxpy[key + "_ci95"]
        assert low <= saxpy[key] <= high
    assert saxpy["ci95_ns"][0] <= saxpy["mean_ns"] <= saxpy["ci95_ns"][1]
    assert saxpy["min_ns"] <= saxpy["p50_ns"] <= saxpy["p99_ns"] <= saxpy["max_ns"]
    assert "a random share of them was timed" in analyze("ops", run.traces()[0]).stdout
    # Where all are timed nothing is estimated.
    _, ops = profile(tprof, "plain")
    assert all("total_ns_ci95" not in op for op in ops.values() if not op["untimed"])


def test_share_lasts_no_longer_than_it_did(tprof):
    """A timed call that waited for a processor stands for 256: that many can't have, as all were over by then."""
    run, ops = profile(tprof, "plain", MANY, 20)
    trace = Trace(run.traces()[0].read_bytes())
    shares = [event for event in trace.events if event[1] == "fold" and event[7]]
    assert shares and all(event[7] > 0 for event in folds(run) if 0 < event[6] < event[4])
    for event, after in zip(shares, shares[1:]):
        assert (event[7] >> trace.tick_shift) <= after[0] - event[0] + 1
    assert ops["cblas_saxpy"]["total_ns"] <= report(run.traces()[0])["process"]["duration_ns"]


def test_share_lasts_as_long_as_it_did(tprof):
    """Also where something happens in a call now and then, that is none of those which the record counts."""
    run, _ = profile(tprof, "rarely", MANY, 20)
    trace = Trace(run.traces()[0].read_bytes())
    shares = [event for event in trace.events if event[1] == "fold" and event[7]]
    lasted = sum(event[7] >> trace.tick_shift for event in shares[:-1])
    assert len(shares) > 2 and lasted > 0.5 * (shares[-1][0] - shares[0][0])


def test_share_of_other_lengths(tprof):
    run, ops = profile(tprof, "lengths", MANY, 4)
    truth = run.truth()
    assert [ops[name]["calls"] for name in ("cblas_saxpy", "saxpy")] == [truth["cblas_saxpy"], truth["saxpy"]]
    assert ops["cblas_saxpy"]["flop"] == 2 * truth["elements"]
    assert ops["saxpy"]["untimed"] > 0


def test_memory_within_what_is_not_timed(tprof):
    """Some of these calls are not timed, and an allocation in one is its op's all the same."""
    _, ops = profile(tprof, "rarely", MANY, 20)
    scal = ops["cblas_sscal"]
    assert scal["calls"] == MANY and scal["untimed"] > 0
    assert (scal["allocated_bytes"], scal["self_allocations"]) == (64 * MANY // 20000, MANY // 20000)
    assert scal["peak_bytes"] == 64


def test_share_of_two_threads(tprof):
    _, ops = profile(tprof, "threads", MANY, 20)
    assert ops["cblas_saxpy"]["calls"] == 2 * MANY and ops["cblas_saxpy"]["flop"] == 80 * MANY
    assert ops["cblas_saxpy"]["untimed"] > 0


def test_share_interrupted(tprof):
    """What is not timed is left by longjmp and interrupted by handlers that call ops: all is counted."""
    run = tprof.run([WORKLOADS / "hot", "jumps", MANY + 1, 1], [LIBRARY], {"TPROF_OPS": "tiny_call,blas"})
    assert run.status == 0
    ops = {op["name"]: op for op in report(run.traces()[0], command="ops", options=["--top", "0"])["ops"]}
    call, dot = ops["tiny_call"], ops["cblas_sdot"]
    assert call["calls"] == MANY + 1 and call["unwound"] == MANY // 20000 and call["untimed"] > 0
    # A handler that comes while tprof itself records is not recorded, and counted as that.
    lost = report(run.traces()[0])["capture"]["lost"]["reentrant"]
    assert dot["calls"] <= run.truth()["handled"] <= dot["calls"] + lost


def tiny_calls(tprof, command, **env):
    """Each trace's (calls, unwound, open) of tiny_call, most calls first; of the first most are not timed."""
    run = tprof.run(command, [LIBRARY], {"TPROF_OPS": "tiny_call", "TPROF_ALLOC": "off", **env})
    assert run.status == 0
    ops = [report(trace, command="ops", options=["--top", "0"])["ops"] for trace in run.traces()]
    calls = sorted(((op["calls"], op["unwound"], op["open"], op["untimed"]) for all_of in ops for op in all_of),
                   reverse=True)
    assert calls[0][3] > calls[0][0] / 2
    return [op[:3] for op in calls]


def test_share_of_short_threads(tprof):
    """A thread comes to it after some thousand calls, not only after 65,535: many live for no more."""
    threads, calls = 20, 50000
    assert tiny_calls(tprof, [WORKLOADS / "hot", "exits", calls, threads]) == [(threads * calls, threads, 0)]


@pytest.mark.parametrize("alloc", ["off", "trace"])
@pytest.mark.parametrize("how", ["exits", "waits"])
def test_share_ends_its_thread(tprof, how, alloc):
    """The last call of each thread is left by pthread_exit, or cancelled."""
    assert tiny_calls(tprof, [WORKLOADS / "hot", how, 400000, 5], TPROF_ALLOC=alloc) == [(5 * 400000, 5, 0)]


def test_share_left_by_exceptions(tprof):
    """An exception needs no event of its own: what it left has ended when the next one begins."""
    calls = MANY + 1
    assert tiny_calls(tprof, [WORKLOADS / "hot_throws", calls]) == [(calls, MANY // 20000, 0)]


def test_share_forks(tprof):
    """The call that forked ends in the parent; it is none of the child's, whose own are its own trace's."""
    assert tiny_calls(tprof, [WORKLOADS / "hot", "forks", MANY, 1]) == [(MANY, 0, 0)] + 12 * [(10, 0, 0)]


def test_share_pauses(tprof):
    """What began before a pause is counted, what began in it is not."""
    assert tiny_calls(tprof, [WORKLOADS / "hot", "stops", MANY, 1]) == [(MANY, 0, 0)]


def test_share_killed(tprof):
    run, ops = profile(tprof, "kill", MANY, 20)
    assert run.status == -9 and MANY - 1 <= ops["cblas_saxpy"]["calls"] <= MANY
    assert ops["cblas_saxpy"]["untimed"] > 0


def test_within_another_op(tprof):
    run, ops = profile(tprof, "nested")
    gemv, dot = ops["cblas_sgemv"], ops["cblas_sdot"]
    assert (gemv["calls"], dot["calls"]) == (CALLS // 100, CALLS)
    assert dot["folded"] > 0.5 * CALLS and gemv["folded"] == 0
    assert abs(gemv["total_ns"] - gemv["self_ns"] - dot["total_ns"]) <= 0.1 * gemv["total_ns"]
    assert shapes(gemv) == {"m=100 n=10": (CALLS // 100, 2000 * CALLS // 100)}
    # In the trace each record of folded calls stands within the sgemv whose calls it counts.
    depth = 0
    for event in json.loads(analyze("dump", "--json", run.traces()[0]).stdout)["events"]:
        depth += {"op": 1, "op_end": -1}.get(event["kind"], 0)
        assert event["kind"] != "folded" or (depth == 1 and event["calls"] <= 100)


def test_on_the_smallest_stack(tprof):
    """PTHREAD_STACK_MIN is what a thread may have: what hooks, walks and samples need is within it."""
    _, ops = profile(tprof, "small", TPROF_OPS="blas,tiny_call", TPROF_CPU="999")
    assert (ops["cblas_sscal"]["calls"], ops["tiny_call"]["calls"]) == (CALLS, CALLS)
    assert ops["cblas_sscal"]["allocated_bytes"] == 64 * CALLS // 1000


def test_two_threads(tprof):
    _, ops = profile(tprof, "threads")
    assert ops["cblas_saxpy"]["calls"] == 2 * CALLS
    assert ops["cblas_saxpy"]["flop"] == 400 * CALLS


def test_killed(tprof):
    """Records are counted up in the file: a kill loses no call that was over."""
    run, ops = profile(tprof, "kill")
    assert run.status == -9
    assert CALLS - 1 <= ops["cblas_saxpy"]["calls"] <= CALLS


def test_long_calls_are_not_folded(tprof):
    _, ops = profile(tprof, "slow")
    by_shape = shapes(ops["cblas_saxpy"])
    assert ops["cblas_saxpy"]["calls"] == CALLS
    assert by_shape["n=100000"] == (CALLS // 50000, 200000 * CALLS // 50000)
    assert by_shape["n=100"] == (CALLS - CALLS // 50000, 200 * (CALLS - CALLS // 50000))


@pytest.mark.parametrize("step", ["cblas_sgemv", "*gemv"])
def test_steps_by_function(tprof, step):
    run, ops = profile(tprof, "nested", TPROF_STEP=step)
    assert ops["cblas_sgemv"]["calls"] == CALLS // 100
    assert report(run.traces()[0])["steps"]["count"] == CALLS // 100


def test_steps_without_ops(tprof):
    run, ops = profile(tprof, "nested", TPROF_STEP="cblas_sgemv", TPROF_OPS="off")
    assert set(ops) == {"cblas_sgemv"} and ops["cblas_sgemv"]["category"] == "step"
    assert report(run.traces()[0])["steps"]["count"] == CALLS // 100


def test_second_reader_agrees(tprof):
    run, ops = profile(tprof, "lengths")
    calls, elements = {}, {}
    for event in Trace(run.traces()[0].read_bytes()).events:
        if event[1] == "op":
            last = event[2]
        if event[1] not in ("work", "fold"):
            continue
        kind, _dtype, _flags, dims = event[2:] if event[1] == "work" else event[3]
        assert kind == 24 and len(dims) == 1  # AXPY
        op = event[2] if event[1] == "fold" else last
        calls[op] = calls.get(op, 0) + (event[4] if event[1] == "fold" else 1)
        elements[op] = elements.get(op, 0) + (event[5] if event[1] == "fold" else dims[0])
    assert sum(calls.values()) == CALLS
    assert sorted(2 * sum for sum in elements.values()) == sorted(op["flop"] for op in ops.values())
