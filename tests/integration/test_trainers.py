# SPDX-License-Identifier: Apache-2.0
"""The trainers in C: they learn, the same way with and without tprof, and know how much work their BLAS calls do."""
import re

import pytest

from conftest import WORKLOADS, nothing_lost, report

DATA = WORKLOADS.parents[1] / "tests/workloads/data/digits.csv"
ONE = {"OPENBLAS_NUM_THREADS": "1"}
LINE = r"(\w+): (\d+) steps, loss ([\d.]+) to ([\d.]+), accuracy ([\d.]+), (\d+) parameters, (\d+) flop"


def said(run):
    """What a trainer says at its end: steps, losses, accuracy, parameters, FLOP."""
    words = re.fullmatch(LINE, run.stdout.decode().strip()).groups()
    return dict(zip(("steps", "first", "last", "accuracy", "parameters", "flop"), map(float, words[1:])))


def dense(rows, *widths):
    """FLOP of a pass forth through dense layers, and of a whole step: by hand, 2 m k n each."""
    forth = [2 * rows * a * b for a, b in zip(widths, widths[1:])]
    return sum(forth), 3 * sum(forth) - forth[0]


def mlp_flop(batch, depth, width, steps):
    test, step = dense(batch, 64, *[width] * depth, 10)
    return steps * step + test


def cnn_flop(batch, depth, width, steps, side=8):
    pixels = batch * side * side
    convolutions = [2 * pixels * 9 * a * b for a, b in zip([1] + [width] * (depth - 1), [width] * depth)]
    head = 2 * batch * side * side * width * 10
    test = sum(convolutions) + head
    return steps * (3 * test - convolutions[0]) + test


def transformer_flop(batch, depth, width, steps, length=8):
    rows = batch * length
    embed, head = 2 * rows * 8 * width, 2 * batch * width * 10
    block = 2 * rows * width * width * (3 + 1 + 4 + 4) + 2 * 2 * batch * length * length * width
    test = embed + depth * block + head
    return steps * (3 * test - embed) + test


TRAINERS = [("mlp", mlp_flop, dict(batch=50, depth=2, width=64, steps=60)),
            ("mlp", mlp_flop, dict(batch=7, depth=4, width=33, steps=120)),
            ("cnn", cnn_flop, dict(batch=32, depth=2, width=8, steps=40)),
            ("cnn", cnn_flop, dict(batch=5, depth=3, width=6, steps=20, side=16)),
            ("transformer", transformer_flop, dict(batch=16, depth=2, width=32, steps=60)),
            ("transformer", transformer_flop, dict(batch=6, depth=3, width=16, steps=30, length=20))]


def command(name, arguments):
    return [WORKLOADS / name, "--data", DATA, *(word for key, n in arguments.items() for word in (f"--{key}", n))]


@pytest.mark.parametrize("name, flop, arguments", TRAINERS)
def test_learns(tprof, name, flop, arguments):
    run = tprof.profile(command(name, arguments), env=ONE)  # compares its output with that of a bare run
    truth = said(run)
    assert truth["steps"] == arguments["steps"] and truth["last"] < 0.9 * truth["first"]
    assert truth["flop"] == flop(**arguments)


@pytest.mark.parametrize("name, flop, arguments", TRAINERS)
def test_flop_is_exact(tprof, name, flop, arguments):
    """What tprof makes of the BLAS calls' arguments is what the program knows by its own formula, to the last FLOP; and
    is in the steps and under the layers that called them."""
    run = tprof.profile(command(name, arguments), env=ONE)
    summary = report(run.traces()[0])
    nothing_lost(summary)
    ops = {op["name"]: op for op in report(run.traces()[0], command="ops", options=["--top", "0"])["ops"]}
    gemm = [op for op in ops.values() if op["category"] == "blas"]
    total = flop(**arguments)
    assert sum(op["self_flop"] for op in gemm) == total == said(run)["flop"]
    phases = ops["forward"]["flop"] + ops["backward"]["flop"]
    assert phases == total and ops["optimizer"]["flop"] == 0
    if name == "transformer":
        blocks = ("attention", "feed-forward", "attention backward", "feed-forward backward")
        assert {op["name"] for op in gemm} == {"cblas_sgemm", "sgemm"}
        assert 0 < sum(ops[block]["flop"] for block in blocks) < total
    assert report(run.traces()[0])["steps"]["count"] == arguments["steps"]
