# SPDX-License-Identifier: Apache-2.0
"""Python's frames in programs that are drawn at random, and where there are more of them than are kept."""
import json

import pytest
from conftest import LIBRARY, nothing_lost, report
from second_reader import Trace
from test_python import PROGRAMS, PYTHONS, notes_of, shown, told, version_of

CUT = 2  # the root of a stack that is deeper than is kept, in tprof/format.h


def nested_as_told(trace, nodes, cut):
    """Each call of the interpreter's loop has its native frame. Generators that an exception is handed through have none, and
    with `cut` nobody outside of them is told."""
    for node in nodes:
        native, other = trace.joins[node]
        loops = sum(frame in trace.loops for frame in trace.numbers(native))
        entries = [frame in trace.entries for frame in trace.numbers(other)]
        assert loops == sum(entries) or cut and loops > sum(entries) and not entries[-1]


@pytest.mark.parametrize("chains, how, env", [(40, "signals", {}), (40, "threads", {"TPROF_OPS": "qsort"}),
                                              (4, "", {"TPROF_PYTHON": "alloc"})])
@pytest.mark.parametrize("python", PYTHONS)
def test_ways_through(tprof, python, chains, how, env):
    """Some thirty ways from one frame to the next, in one another."""
    run, summary = tprof.summary([python, PROGRAMS / "python_through.py", 1, chains, how], env={"TPROF_DEPTH": "1000", **env})
    trace, nodes = told(run, summary, 10 * chains)
    nested_as_told(trace, [nodes[size] for size, _, _ in notes_of(run)], cut=version_of(python) == (3, 9))


@pytest.mark.parametrize("python", PYTHONS)
def test_forks_on_the_way(tprof, python):
    """In any thread, in the middle of calls: the child has what was there before in its stacks, too."""
    run = tprof.run([python, PROGRAMS / "python_through.py", 5, 20, "forks"], [LIBRARY], {"TPROF_DEPTH": "1000"})
    assert (run.status, run.stdout, run.stderr) == (0, b"True\n", b"")
    told(run, report(run.directory / "trace.bin"), 300)
    children = sorted(run.directory.glob("truth.*"))
    assert len(children) > 5 and len(run.traces()) == len(children) + 1
    for truth in children:
        path = run.directory / f"trace{truth.suffixes[-1]}.bin"
        trace, summary = Trace(path.read_bytes()), report(path)
        nothing_lost(summary)
        nodes = {event[3]: event[4] for event in trace.events if event[1] == "alloc"}
        notes = json.loads(truth.read_text())
        assert notes
        for size, frames, _ in notes:
            assert shown(trace.python_stack(nodes[size]), frames) == frames


@pytest.mark.parametrize("depth", [None, 1, 1000])
@pytest.mark.parametrize("python", PYTHONS)
def test_deeper_than_is_kept(tprof, python, depth):
    """The innermost frames, and a mark where there are more; whatever the last stack was."""
    run, summary = tprof.summary([python, PROGRAMS / "python_deep.py"], env={"TPROF_DEPTH": str(depth)} if depth else {})
    nothing_lost(summary)
    depth = depth or 256
    trace = Trace(run.traces()[0].read_bytes())
    nodes = {event[3]: event[4] for event in trace.events if event[1] == "alloc"}
    cut = 0
    for size, frames, _ in notes_of(run):
        assert [list(frame) for frame in trace.python_stack(nodes[size])] == frames[:depth]
        assert (trace.stack(trace.joins[nodes[size]][1])[1] == CUT) == (len(frames) > depth)
        cut += len(frames) > depth
    assert cut >= 7
