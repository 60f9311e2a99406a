# SPDX-License-Identifier: Apache-2.0
"""lines: the time of ops by the lines that call them, against what the programs measure themselves."""
import json
import re

import pytest
from conftest import LIBRARY, PYTHON, ROOT, WORKLOADS, analyze, covers

OFTEN = {"TPROF_CPU": "4000", "TPROF_OPS": "blas,tiny_call", "TPROF_ALLOC": "off"}


def marked(text, pattern):
    """The numbers of the lines that have such a comment."""
    return {found.group(1): number for number, line in enumerate(text.splitlines(), 1)
            if (found := re.search(pattern, line))}


def is_near(line, truth, whole):
    """The margin is for what recording may take: no load decides this."""
    low, high = line["op_ns_ci95"]
    assert 0 <= low <= line["op_ns"] <= high <= whole
    assert covers((low, high), truth, margin=0.02 * whole), line


def lines_of(trace, source, *options):
    answer = json.loads(analyze("lines", "--json", source, *options, trace).stdout)
    return answer, {line["line"]: line for line in answer["lines"]}


def test_of_c(tprof):
    run = tprof.run([WORKLOADS / "op_lines"], [LIBRARY], OFTEN)
    assert run.status == 0, run.stderr
    truth, trace = run.truth(), run.traces()[0]
    where = marked((ROOT / "tests/workloads/op_lines.c").read_text(), r"; /\* (\w+) \*/")
    answer, lines = lines_of(trace, "op_lines.c")
    whole = answer["ops_ns"]
    assert whole == pytest.approx(sum(truth.values()) - truth["inner"], rel=0.02)
    for name in ("one", "four", "way", "inner"):
        is_near(lines[where[name]], truth[name], whole)
    assert lines[where["way"]]["op_ns"] == lines[where["inner"]]["op_ns"]
    # Of what waits no sample need be; then it is told that its time is nowhere.
    wait = lines[where["wait"]]["op_ns"] if where["wait"] in lines else 0
    assert wait + answer["ops_unseen_ns"] == pytest.approx(truth["wait"], rel=0.05)
    text = analyze("lines", "op_lines.c", trace).stdout
    assert re.search(r"CPU +total +total a step +in ops +source", text) and "in ops: each op's time" in text
    assert re.search(rf"^ *{where['four']} .* ±\d+% +cblas_saxpy\(4", text, re.MULTILINE)


PYTHON_LINES = """
import ctypes, json, os, sys, time
tiny = ctypes.CDLL(sys.argv[1])
saxpy, length = tiny.cblas_saxpy, 100000
x, y = ((ctypes.c_float * (4 * length))() for _ in range(2))
took = [0, 0]
for _ in range(800):
    at = time.perf_counter_ns()
    saxpy(length, ctypes.c_float(2), x, 1, y, 1)  # one
    then = time.perf_counter_ns()
    saxpy(4 * length, ctypes.c_float(2), x, 1, y, 1)  # four
    took[0] += then - at
    took[1] += time.perf_counter_ns() - then
json.dump(dict(zip(("one", "four"), took)), open(os.environ["TRUTH_FILE"], "w"))
"""


def test_of_python(tprof):
    program = tprof.directory / "ops_of_lines.py"
    program.write_text(PYTHON_LINES)
    run = tprof.run([PYTHON, program, WORKLOADS / "libtinyblas.so"], [LIBRARY], OFTEN)
    assert run.status == 0, run.stderr
    truth, where = run.truth(), marked(PYTHON_LINES, r"\)  # (\w+)$")
    for options in ((), ("--language", "python")):
        answer, lines = lines_of(run.traces()[0], program.name, *options)
        for name in ("one", "four"):
            is_near(lines[where[name]], truth[name], answer["ops_ns"])


def test_without_ops(tprof):
    """No column, and no word of it."""
    run = tprof.run([WORKLOADS / "growth", "cache", 100, 1], [LIBRARY], {"TPROF_OPS": "off", "TPROF_CPU": "4000"})
    assert "in ops" not in analyze("lines", "growth.c", run.traces()[0]).stdout
    answer, lines = lines_of(run.traces()[0], "growth.c")
    assert answer["ops_ns"] == answer["ops_unseen_ns"] == 0 and {line["op_ns"] for line in lines.values()} == {0}
