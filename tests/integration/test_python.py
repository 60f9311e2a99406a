# SPDX-License-Identifier: Apache-2.0
"""Python's frames in the stacks: those that the interpreter itself tells, frame by frame."""
import json

import pytest
from conftest import LIBRARY, PYTHON, ROOT, nothing_lost, sites
from second_reader import Trace

PROGRAMS = ROOT / "tests/workloads"
FIRST = 1000001


def notes_of(run):
    return json.loads((run.directory / "truth").read_text())


def without_import(frames):
    return [frame for frame in frames if not frame[1].startswith("<frozen importlib._bootstrap")]


def test_the_frames_that_python_tells(tprof):
    run, summary = tprof.summary([PYTHON, PROGRAMS / "python_stacks.py"])
    nothing_lost(summary)
    notes = notes_of(run)
    assert len(notes) > 180
    trace = Trace(run.traces()[0].read_bytes())
    nodes = {event[3]: event[4] for event in trace.events if event[1] == "alloc"}
    for size, frames, _ in notes:
        assert [list(frame) for frame in trace.python_stack(nodes[size])] == frames


def test_the_report_shows_them(tprof):
    """In their order, with nothing between them but what is no part of the interpreter."""
    run, _ = tprof.summary([PYTHON, PROGRAMS / "python_stacks.py"])
    notes = {size: frames for size, frames, _ in notes_of(run)}
    seen = 0
    for site in sites(run.traces()[0], "leaks"):
        size = site["bytes"] // site["blocks"]
        if site["blocks"] != 1 or size not in notes:
            continue
        seen += 1
        python = [f for f in site["stack"] if f["language"] == "python"]
        assert [[f["function"], f["file"], f["line"] or 0] for f in python] == without_import(notes[size])
        inside = site["stack"][site["stack"].index(python[0]):]
        assert all(f["language"] == "python" or not f["module"].startswith("python3") for f in inside)
    assert seen > 100


def test_languages(tprof):
    """The same memory in each view; Python's has nothing but Python where there is any."""
    run, summary = tprof.summary([PYTHON, PROGRAMS / "python_stacks.py"])
    trace, total = run.traces()[0], summary["heap"]["peak_bytes"]
    languages = {}
    for language in ("mixed", "python", "native"):
        for by in ("stack", "function", "line"):
            rows = sites(trace, "peak", "--language", language, "--by", by)
            assert sum(row["bytes"] for row in rows) == total
        stacks = [s["stack"] for s in sites(trace, "peak", "--language", language)]
        languages[language] = {frozenset(f["language"] for f in stack) for stack in stacks}
    assert frozenset(["python"]) in languages["python"] and frozenset(["native", "python"]) not in languages["python"]
    assert languages["native"] == {frozenset(["native"])}
    assert frozenset(["native", "python"]) in languages["mixed"]
    shown = sites(trace, "leaks", "--interpreter")
    assert any("_PyEval_EvalFrameDefault" in [f["function"] for f in s["stack"]] for s in shown)


def test_folding_under_the_line(tprof):
    """All that a line of Python allocated, through whatever native code, is that line's."""
    run, _ = tprof.summary([PYTHON, PROGRAMS / "python_stacks.py"])
    notes = notes_of(run)
    (row,) = [r for r in sites(run.traces()[0], "leaks", "--language", "python", "--by", "line")
              if (r["file"] or "").endswith("python_stacks.py") and r["line"] == notes[0][1][0][2]]
    assert row["bytes"] >= sum(size for size, _, _ in notes)
    assert row["function"] == "note" and row["blocks"] >= len(notes)


def test_without_python_frames(tprof):
    run, _ = tprof.summary([PYTHON, PROGRAMS / "python_stacks.py"], env={"TPROF_PYTHON": "0"})
    trace = Trace(run.traces()[0].read_bytes())
    assert not trace.joins and not trace.codes
    refused = tprof.run([PYTHON, "-c", "pass"], [LIBRARY], {"TPROF_PYTHON": "maybe"})
    assert refused.status == 0 and refused.stderr.count(b"\n") == 1 and b"TPROF_PYTHON" in refused.stderr
