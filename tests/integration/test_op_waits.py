# SPDX-License-Identifier: Apache-2.0
"""Time in which an op waits, told apart from its work: the program measures both for itself, and the CPU samples must agree."""
import pytest
from conftest import LIBRARY, WORKLOADS, analyze, report

WAITING = {"locks", "reads", "sleeps"}
SAMPLES = 5  # by so many the samples may be wrong: they are late, or met another moment


def measured(run):
    return {name: (float(took), float(cpu)) for name, took, cpu in (line.split() for line in run.stdout.decode().splitlines())}


@pytest.fixture(name="run")
def make_run(tprof):
    run = tprof.run([WORKLOADS / "op_waits"], [LIBRARY])
    assert run.status == 0, run.stderr
    return run


def test_waiting_and_work(run):
    truth, trace = measured(run), run.traces()[0]
    period = report(trace)["capture"]["cpu_period_ns"]
    ops = {op["name"]: op for op in report(trace, command="ops")["ops"]}
    assert set(truth) == set(ops) == WAITING | {"spins", "works"}
    for name, (took, cpu) in truth.items():
        op = ops[name]
        assert op["not_running_ns"] == pytest.approx(took - cpu, abs=SAMPLES * period + 0.1 * took), name
        low, high = op["not_running_ns_ci95"]
        assert 0 <= low <= op["not_running_ns"] <= high <= op["self_ns"]
        if name == "spins":
            assert op["spinning_ns"] >= cpu / 2 and op["spinning_ns_ci95"][0] > 0
        else:
            assert op["spinning_ns"] <= SAMPLES * period, name
    for name in WAITING:
        text = analyze("ops", "--filter", f"^{name}$", trace).stdout
        assert f" in {name} itself are waiting: blocked, asleep, or without a free processor" in text
    # One at a time: of a list, only the first four that wait are told.
    spins, works = (analyze("ops", "--filter", f"^{name}$", trace).stdout for name in ("spins", "works"))
    assert " in spins itself are waiting: it goes round in a loop" in spins
    assert " in works itself are waiting: it goes round" not in works


def test_without_samples_nothing_is_known(tprof):
    trace = tprof.run([WORKLOADS / "op_waits"], [LIBRARY], {"TPROF_CPU": "0"}).traces()[0]
    for op in report(trace, command="ops")["ops"]:
        assert op["not_running_ns"] is op["spinning_ns"] is None
    assert "are waiting" not in analyze("ops", trace).stdout
