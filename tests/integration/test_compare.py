# SPDX-License-Identifier: Apache-2.0
"""compare: the trainers side by side; repeated runs are one column."""
import collections
import re
import shutil

import pytest

from conftest import LIBRARY, WORKLOADS, analyze, report
from test_roofline import machine  # noqa: F401 (a fixture)
from test_trainers import DATA, ONE, cnn_flop, mlp_flop, said, transformer_flop

ARGUMENTS = {"mlp": dict(batch=50, depth=2, width=64), "cnn": dict(batch=32, depth=2, width=8),
             "transformer": dict(batch=16, depth=2, width=32)}
FLOP = {"mlp": mlp_flop, "cnn": cnn_flop, "transformer": transformer_flop}
STEPS = 15


@pytest.fixture
def runs(tprof):
    """Traces by name, and what the programs said."""
    traces, truth = {}, {}
    for name in ("mlp", "cnn", "transformer", "mlp"):
        run = tprof.run([WORKLOADS / name, "--data", DATA, "--steps", STEPS], [LIBRARY], ONE)
        trace = tprof.directory / f"{name}{len(traces) if name in traces else ''}.bin"
        shutil.copy(run.traces()[0], trace)
        traces[trace.stem], truth[name] = trace, said(run)
    return traces, truth


def test_side_by_side(runs, machine):  # noqa: F811
    traces, truth = runs
    assert len(traces) == 4
    variants = report(*traces.values(), command="compare", options=["--machine", machine])["variants"]
    assert [variant["label"] for variant in variants] == ["mlp", "cnn", "transformer"]
    assert [variant["runs"] for variant in variants] == [2, 1, 1]
    for variant in variants:
        name = variant["label"]
        assert variant["parameters"] == truth[name]["parameters"]
        one = FLOP[name](steps=1, **ARGUMENTS[name])
        assert variant["flop_per_step"] == FLOP[name](steps=2, **ARGUMENTS[name]) - one
        assert variant["step_ci95_ns"][0] <= variant["step_ns"] <= variant["step_ci95_ns"][1]
        assert variant["gflops"] == pytest.approx(variant["flop_per_step"] / variant["step_ns"])
        assert variant["utilisation"] == pytest.approx(variant["gflops"] / 80)
        assert sum(op["share"] for op in variant["ops"]) == pytest.approx(1)
        assert sum(op["peak_bytes"] for op in variant["ops"]) == report(traces[name])["heap"]["peak_bytes"]
        (gemm,) = [op for op in variant["ops"] if op["name"] == "cblas_sgemm"]
        assert gemm["bound"] in ("compute", "memory") and gemm["roof_fraction"] > 0
        assert variant["peak_bytes"] >= report(traces[name])["heap"]["peak_bytes"]
    assert sum(op["calls"] for op in variants[0]["ops"] if op["name"] == "optimizer") == 2 * STEPS


def test_top_in_json(runs):
    """The ops that stand in either of the text's tables, of each program; without --top all."""
    traces, _ = runs
    whole = report(*traces.values(), command="compare")["variants"]
    shown = report(*traces.values(), command="compare", options=["--top", "2"])["variants"]
    assert [variant["ops"] for variant in shown] != [variant["ops"] for variant in whole]
    ops = collections.defaultdict(list)
    for op in (op for variant in whole for op in variant["ops"]):
        ops[op["name"], op["category"]].append(op)
    wanted = {name for key in ("share", "peak_bytes")
              for name in sorted(ops, key=lambda name: -max(op[key] for op in ops[name]))[:2]}
    assert [variant["ops"] for variant in shown] == [
        [op for op in variant["ops"] if (op["name"], op["category"]) in wanted] for variant in whole]
    assert report(*traces.values(), command="compare", options=["--top", "0"])["variants"] == whole


def numbers_of(text, title):
    """Of a line of the table, times in nanoseconds."""
    (line,) = [line for line in text.splitlines() if line.strip().startswith(f"{title}  ")]
    unit = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "%": 1, "": 1}
    found = re.findall(r"([\d.,]+(?:e[+]\d+)?) ?(ns|us|ms|s|%|)(?= |$)", line.replace(title, "", 1))
    return [float(number.replace(",", "")) * unit[suffix] for number, suffix in found]


def test_text(runs, machine):  # noqa: F811
    traces, truth = runs
    text = analyze("compare", "--machine", machine, *traces.values()).stdout
    head = text.splitlines()[0].split()
    assert head == ["mlp", "cnn", "transformer"]
    rows = {line.split("  ")[1]: line for line in text.splitlines() if line.startswith("  ")}
    assert f"{int(truth['mlp']['parameters']):,}" in rows["parameters"]
    variants = report(*traces.values(), command="compare", options=["--machine", machine])["variants"]
    for title, of in (("step", lambda one: one["step_ns"]),
                      ("95% of the mean, +-", lambda one: one["step_ci95_ns"][1] - one["step_ns"]),  # down it may end at 0
                      ("items a second", lambda one: one["items_per_step"] / one["step_ns"] * 1e9),
                      ("FLOP a step", lambda one: one["flop_per_step"]), ("GFLOP/s", lambda one: one["gflops"]),
                      ("of what the cores can do", lambda one: 100 * one["utilisation"])):
        assert numbers_of(text, title) == pytest.approx([of(one) for one in variants], rel=0.02, abs=0.06), title
    assert "Share of the time in ops" in text and "attention" in text and "Memory at the peak" in text


def test_columns_of_automatic_names(tprof):
    """Traces that are called by their process's number say nothing: the program and what its arguments differ in does."""
    def columns(output, *runs):
        traces = []
        for program, *arguments in runs:
            before = set(tprof.directory.glob("*/*.bin"))
            run = tprof.run([WORKLOADS / program, "--data", DATA, "--steps", 3, *arguments], [LIBRARY],
                            {**ONE, "TPROF_OUTPUT": str(tprof.directory / f"run{tprof.runs + 1}" / output)})
            assert run.status == 0, run.stderr
            (trace,) = set(tprof.directory.glob("*/*.bin")) - before
            traces.append(trace)
        return [variant["label"] for variant in report(*traces, command="compare")["variants"]]

    assert columns("%e.%p.bin", ["mlp"], ["cnn"]) == ["mlp", "cnn"]
    assert columns("%p.bin", ["mlp", "--batch", 8], ["mlp", "--batch", 16]) == ["mlp 8", "mlp 16"]
    assert columns("trace.%p.bin", ["mlp", "--batch", 8], ["cnn", "--batch", 8]) == ["mlp", "cnn"]
    assert columns("trace.bin", ["mlp"], ["mlp", "--depth", 3]) == ["mlp", "mlp --depth 3"]


def test_workers_are_no_further_runs(tprof):
    """Two runs of a program that forks, each with two traces: two runs, with all four processes' memory in pairs."""
    runs = [tprof.run([WORKLOADS / "fork", "fork"], [LIBRARY]).traces() for _ in range(2)]
    assert [len(traces) for traces in runs] == [2, 2]
    (variant,) = report(*runs[0], *runs[1], command="compare")["variants"]
    assert variant["runs"] == 2 and set(variant["files"]) == {str(trace) for traces in runs for trace in traces}
    assert variant["peak_bytes"] == max(report(*traces)["combined"]["peak_bytes"] for traces in runs)
