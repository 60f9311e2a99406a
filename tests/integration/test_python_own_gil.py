# SPDX-License-Identifier: Apache-2.0
"""Interpreters with a GIL each, in threads that run at once: each stack is what the interpreter that made it tells."""
import json

import pytest
from conftest import nothing_lost
from second_reader import Trace
from test_python import OTHERS, PROGRAMS, version_of

PYTHONS = [path for path in OTHERS if (3, 12) <= version_of(path) <= (3, 15)]


@pytest.mark.skipif(not PYTHONS, reason="no Python whose interpreters have a GIL each is installed")
@pytest.mark.parametrize("env", [{}, {"TPROF_CPU": "999"}, {"TPROF_PYTHON": "alloc"}])
@pytest.mark.parametrize("python", PYTHONS)
def test_own_gil(tprof, python, env):
    run, summary = tprof.summary([python, PROGRAMS / "python_own_gil.py", 2, 5], env={"TPROF_DEPTH": "1000", **env})
    nothing_lost(summary)
    if "TPROF_CPU" not in env:
        assert not summary["capture"]["python"]["unread"]
    trace = Trace(run.traces()[0].read_bytes())
    nodes = {event[3]: event[4] for event in trace.events if event[1] == "alloc"}
    truths = sorted(run.directory.glob("truth.*"))
    assert len(truths) == 5
    for truth in truths:
        notes = json.loads(truth.read_text())
        assert len(notes) > 150
        for size, frames in notes:
            assert [list(frame) for frame in trace.python_stack(nodes[size])] == frames
            native, other = trace.joins[nodes[size]]
            assert sum(frame in trace.loops for frame in trace.numbers(native)) >= \
                sum(frame in trace.entries for frame in trace.numbers(other)) > 0
