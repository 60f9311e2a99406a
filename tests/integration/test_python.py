# SPDX-License-Identifier: Apache-2.0
"""Python's frames in the stacks: those that the interpreter itself tells, frame by frame."""
import json

import pytest
from conftest import PYTHON, ROOT, nothing_lost, sites
from second_reader import Trace

PROGRAMS = ROOT / "tests/workloads"
FIRST = 1000001


def notes_of(run):
    return json.loads((run.directory / "truth").read_text())


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
        assert [[f["function"], f["file"], f["line"] or 0] for f in python] == notes[size]
        inside = site["stack"][site["stack"].index(python[0]):]
        assert all(f["language"] == "python" or not f["module"].startswith("python3") for f in inside)
    assert seen > 100
