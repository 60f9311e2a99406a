# SPDX-License-Identifier: Apache-2.0
"""The trainers' twins in PyTorch: FLOP from the arguments of BLAS calls, against torch.profiler's from operators' shapes."""
import json

import pytest

from conftest import PYTHON, ROOT, nothing_lost, report

pytestmark = pytest.mark.real
MODELS = ROOT / "tests/workloads/torch_models.py"
ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
STEPS = 8


@pytest.mark.parametrize("model", ["mlp", "cnn", "transformer"])
def test_flop_is_torchs_own(tprof, model):
    """Exactly, where torch counts: addmm, mm and bmm are one gemm each (or one for each matrix of a batch). Its
    convolutions are not BLAS's."""
    command = [PYTHON, MODELS, model, "--steps", STEPS]
    profiled = tprof.run([*command, "--profile"], env=ENVIRONMENT, timeout=300)
    assert profiled.status == 0, profiled.stderr
    counted = json.loads(profiled.stdout)
    run, summary = tprof.summary(command, env=ENVIRONMENT, timeout=300)
    nothing_lost(summary)
    ops = {(op["category"], op["name"]): op
           for op in report(run.traces()[0], command="ops", options=["--top", "0"])["ops"]}
    products = sum(counted.get(f"aten::{name}", 0) for name in ("addmm", "mm", "bmm"))
    assert ops["blas", "sgemm"]["self_flop"] == products > 0
    phases = ops["phase", "forward"], ops["phase", "backward"]
    assert ops["phase", "optimizer"]["flop"] == 0 < phases[0]["flop"]
    assert summary["steps"]["count"] == STEPS
    # What an operator's gemm does is the operator's, too.
    linear = ops["torch", "aten::addmm"]
    assert linear["flop"] == counted["aten::addmm"] and linear["self_flop"] == 0
    if model == "transformer":
        assert ops["torch", "aten::bmm"]["flop"] == counted["aten::bmm"]
