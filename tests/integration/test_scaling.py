# SPDX-License-Identifier: Apache-2.0
"""scripts/scaling: its fit on numbers that were made with a known exponent, and on a real program's memory."""
import importlib.machinery
import importlib.util
import json
import math
import os
import random
import subprocess
import sys
import xml.dom.minidom

import pytest

from conftest import ROOT, WORKLOADS

SCRIPT = ROOT / "scripts/scaling"
DATA = ROOT / "tests/workloads/data/digits.csv"


@pytest.fixture(scope="module")
def scaling():
    loader = importlib.machinery.SourceFileLoader("scaling", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("scaling", loader))
    loader.exec_module(module)
    return module


def test_student(scaling):
    """The tables' values."""
    for degrees, point in ((1, 12.706), (2, 4.303), (5, 2.571), (10, 2.228), (30, 2.042), (100, 1.984)):
        assert scaling.student(degrees) == pytest.approx(point, abs=0.001)


@pytest.mark.parametrize("constant, factor, exponent", [(0, 3, 1), (100, 2, 2), (1e6, 40, 1.5), (5, 1e-3, 3), (7, 2, 0.5)])
def test_exact(scaling, constant, factor, exponent):
    fit = scaling.Fit([(x, constant + factor * x ** exponent) for x in (8, 16, 32, 64, 128, 256)])
    assert fit.exponent == pytest.approx(exponent, abs=1e-4)
    assert fit(100) == pytest.approx(constant + factor * 100 ** exponent, rel=1e-6)
    assert fit.interval[1] - fit.interval[0] < 0.01


@pytest.mark.parametrize("with_constant", [True, False])
def test_intervals_cover(scaling, with_constant):
    """Of 300 made-up measurements with errors of 5%, the exponent is in 95 of 100 intervals; three standard deviations
    of such a count are 11."""
    chance, covered, trials = random.Random(7), 0, 300
    for _ in range(trials):
        exponent, factor = chance.uniform(0.6, 3), 10 ** chance.uniform(-3, 3)
        constant = factor * chance.uniform(0, 8 ** exponent) if with_constant else 0
        points = [(x, (constant + factor * x ** exponent) * (1 + chance.gauss(0, 0.05)))
                  for x in (4, 8, 16, 32, 64, 128) for _ in range(3)]
        low, high = scaling.Fit(points, with_constant).interval
        covered += low <= exponent <= high
    assert 0.95 * trials - 12 <= covered


def test_too_few(scaling):
    with pytest.raises(ValueError):
        scaling.Fit([(1, 2), (2, 3), (1, 2.1), (2, 3.1)])
    assert math.isinf(max(map(abs, scaling.Fit([(1, 5), (2, 5.2), (3, 4.9), (4, 5.05), (5, 4.8)]).interval)))


def test_program(tmp_path):
    """The memory of an MLP is a constant (its parameters, the digits) and a part that grows as its batch does."""
    picture = tmp_path / "scaling.svg"
    run = subprocess.run([sys.executable, SCRIPT, "--over", "64:1024", "--repeat", "1", "--json", "-o", picture, "--",
                          WORKLOADS / "mlp", "--data", DATA, "--steps", "3", "--batch", "{}"],
                         capture_output=True, text=True, timeout=120, check=True,
                         env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    fit = json.loads(run.stdout)["heap's peak, bytes"]
    assert [x for x, _ in fit["points"]] == [64, 128, 256, 512, 1024]
    assert fit["exponent"] == pytest.approx(1, abs=0.02)
    # A row of the batch: image, two hidden layers, two gradients, scores, label.
    assert fit["factor"] == pytest.approx(4 * (64 + 4 * 64 + 10 + 1), rel=0.1)
    assert xml.dom.minidom.parse(str(picture)).documentElement.tagName == "svg"


def test_wrong_use():
    for arguments in (["--over", "8:64", "--", "true"], ["--over", "0,1", "--", "echo", "{}"]):
        assert subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, check=False).returncode == 2
    failed = subprocess.run([sys.executable, SCRIPT, "--over", "1,2", "--", "false", "{}"], capture_output=True,
                            check=False)
    assert failed.returncode == 1 and b"status 1" in failed.stderr
