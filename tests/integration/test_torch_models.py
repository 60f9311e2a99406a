# SPDX-License-Identifier: Apache-2.0
"""The trainers' twins in PyTorch: FLOP from the arguments of BLAS calls and from operators' shapes, against torch.profiler's
where it counts, and against sums by hand."""
import json

import pytest

from conftest import PYTHON, ROOT, nothing_lost, report
from test_roofline import machine  # noqa: F401 pylint: disable=unused-import

pytestmark = pytest.mark.real
MODELS = ROOT / "tests/workloads/torch_models.py"
ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
STEPS = 8
BATCH, DEPTH, WIDTH, HEADS, LENGTH, SIDE, CLASSES = 32, 2, 32, 2, 16, 8, 10  # torch_models.py's own

# Operators that work on more than their tensors' sizes tell, and the first call of one whose arguments are not known yet.
UNTOLD = {"aten::sum.dim_IntList", "aten::index.Tensor", "aten::nll_loss_forward", "aten::nll_loss_backward",
          "aten::arange.start_out", "aten::sum.IntList_out", "aten::copy_"}


def parameters(model):
    """How many numbers, in how many tensors."""
    dense = lambda inputs, outputs: inputs * outputs + outputs  # noqa: E731
    if model == "mlp":
        return dense(SIDE ** 2, WIDTH) + (DEPTH - 1) * dense(WIDTH, WIDTH) + dense(WIDTH, CLASSES), 2 * DEPTH + 2
    if model == "cnn":
        return dense(9, WIDTH) + (DEPTH - 1) * dense(9 * WIDTH, WIDTH) + dense(WIDTH * SIDE ** 2, CLASSES), 2 * DEPTH + 2
    block = 2 * 2 * WIDTH + sum(dense(*sizes) for sizes in ((WIDTH, 3 * WIDTH), (WIDTH, WIDTH), (WIDTH, 4 * WIDTH),
                                                            (4 * WIDTH, WIDTH)))
    return dense(SIDE, WIDTH) + LENGTH * WIDTH + DEPTH * block + dense(WIDTH, CLASSES), 5 + 12 * DEPTH


def products(model):
    """FLOP of a step's matrix products and convolutions, forward; and of what backward spares: the input's gradient."""
    if model == "mlp":
        first = 2 * BATCH * SIDE ** 2 * WIDTH
        return first + 2 * BATCH * ((DEPTH - 1) * WIDTH ** 2 + WIDTH * CLASSES), first
    if model == "cnn":
        first, image = 2 * BATCH * SIDE ** 2 * 9 * WIDTH, SIDE ** 2
        return first * (1 + (DEPTH - 1) * WIDTH) + 2 * BATCH * WIDTH * image * CLASSES, first
    tokens, first = BATCH * LENGTH, 2 * BATCH * LENGTH * SIDE * WIDTH
    attention = 2 * (2 * BATCH * HEADS * LENGTH ** 2 * (WIDTH // HEADS))  # scores, weighting
    return first + DEPTH * (2 * tokens * 12 * WIDTH ** 2 + attention) + 2 * BATCH * WIDTH * CLASSES, first


def beside(model):
    """FLOP of a step beside these, forward and backward, without exponentials and the sums of gradients, which are not known."""
    if model != "transformer":
        relu = DEPTH * BATCH * WIDTH * (SIDE ** 2 if model == "cnn" else 1)
        return relu, relu
    tokens, scores = BATCH * LENGTH * WIDTH, BATCH * HEADS * LENGTH ** 2
    # 8 of a normalised element, the scores' scale, positions and two residual sums, relu, the mean's division
    forward = DEPTH * (2 * 8 * tokens + scores + 2 * tokens + 4 * tokens) + tokens + BATCH * WIDTH
    # 9 of a normalised element, the scale, two sums of gradients, relu, the mean's
    return forward, DEPTH * (2 * 9 * tokens + scores + 2 * tokens + 4 * tokens) + tokens


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
    gemm = sum(counted.get(f"aten::{name}", 0) for name in ("addmm", "mm", "bmm"))
    assert ops["blas", "sgemm"]["self_flop"] == gemm > 0
    assert summary["steps"]["count"] == STEPS
    # What an operator's gemm does is the operator's, too.
    linear = ops["torch", "aten::addmm"]
    assert linear["flop"] == counted["aten::addmm"] and linear["self_flop"] == 0
    if model == "transformer":
        assert ops["torch", "aten::bmm"]["flop"] == counted["aten::bmm"]
        assert ops["torch", "aten::add.Tensor"]["flop"] == counted["aten::add"]
        made = LENGTH * WIDTH  # the positions, scaled before torch.profiler is there
        assert ops["torch", "aten::mul.Tensor"]["flop"] == counted["aten::mul"] + made


@pytest.mark.parametrize("model", ["mlp", "cnn", "transformer"])
def test_flop_of_a_step_by_hand(tprof, model, machine):
    """All of a step's, exactly, but for what has no count, of which the phases say so: Adam's are 9 a parameter (exp_avg: 2,
    or the 3 of torch 2's lerp; exp_avg_sq: 3, denominator: 2 beside the root, parameter: 2), and one of each tensor's step."""
    run, _ = tprof.summary([PYTHON, MODELS, model, "--steps", STEPS], env=ENVIRONMENT, timeout=300)
    listed = report(run.traces()[0], command="ops", options=["--top", "0"])
    ops = {(op["category"], op["name"]): op for op in listed["ops"]}
    numbers, tensors = parameters(model)
    (forward, spared), (more, more_back) = products(model), beside(model)
    forward_op, backward_op, optimizer = (ops["phase", name] for name in ("forward", "backward", "optimizer"))
    torch_2 = ("torch", "aten::lerp_.Scalar") in ops
    assert optimizer["flop"] == STEPS * ((10 if torch_2 else 9) * numbers + tensors)
    assert forward_op["flop"] == STEPS * (forward + more)
    accumulated = 0 if torch_2 else (STEPS - 1) * numbers  # the first gradients are stored; torch 2's all are
    assert backward_op["flop"] == STEPS * (2 * forward - spared + more_back) + accumulated
    assert all(phase["flop_uncounted_calls"] == STEPS for phase in (forward_op, backward_op, optimizer))
    # torch 2 multiplies two numbers when it starts, without BLAS.
    assert sum(op["self_matrix_flop"] for key, op in ops.items() if key not in (("blas", "sgemm"), ("torch", "aten::dot"))) == sum(
        op["self_flop"] for (category, _), op in ops.items() if category == "onednn")
    assert ("torch", "aten::dot") not in ops or ops["torch", "aten::dot"]["self_matrix_flop"] == 4
    unknown = {name for (_, name), op in ops.items() if op["no_shape_calls"] or op["no_formula_calls"]}
    known = listed["torch_work"]
    assert unknown <= UNTOLD and known["no_shape_calls"] + known["no_formula_calls"] < 0.05 * known["known_calls"]
    # What moves memory and computes little: bytes by hand, of f32.
    assert ops["torch", "aten::addcdiv_"]["bytes"] == STEPS * 4 * numbers * 4
    assert ops["torch", "aten::threshold_backward"]["bytes"] == 3 * 4 * ops["torch", "aten::threshold_backward"]["flop"]
    assert ops["torch", "aten::t"]["bytes"] == ops["torch", "aten::empty.memory_format"]["bytes"] == 0
    roofs = report(run.traces()[0], command="roofline", options=["--top", "0", "--machine", machine])
    bounds = {op["name"]: op["bound"] for op in roofs["roofline"]}
    elementwise = ["aten::addcdiv_", "aten::add_.Tensor", "aten::mul_.Tensor", "aten::clamp_min", "aten::threshold_backward"]
    assert {bounds[name] for name in elementwise} == {"memory"}
    assert roofs["utilisation"]["flop_per_step"] == 3 * forward - spared  # no optimizer's, no activation's
