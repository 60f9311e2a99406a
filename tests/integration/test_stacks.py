# SPDX-License-Identifier: Apache-2.0
"""Stacks: those that libunwind sees, from every kind of frame; depth, cuts, names and lines."""
import json
import os

import pytest
from conftest import WORKLOADS, functions, nothing_lost, sites

KINDS = [f"{program}{level}" for program in ("stack", "exceptions") for level in (0, 2, 3)]


@pytest.fixture
def noted(tprof):
    """Runs a program that notes its own stacks; returns pairs of (note, the report's stack)."""
    def pairs(program):
        run, summary = tprof.summary([WORKLOADS / program])
        nothing_lost(summary)
        by_bytes = {}
        for site in sites(run.traces()[0], "leaks"):
            by_bytes.setdefault(site["bytes"], []).append(site)
        notes = {}
        for note in run.truth()["stacks"]:  # a loop takes the same stack again: one site, and one note
            key = json.dumps([note["function"], note["frames"]])
            notes.setdefault(key, {**note, "size": 0})["size"] += note["size"]
        assert len(notes) >= 20
        return [(note, by_bytes.get(note["size"], [])) for note in notes.values()]
    return pairs


@pytest.mark.parametrize("program", KINDS)
def test_the_same_frames_as_libunwind(noted, program):
    bases = {}
    for note, found in noted(program):
        assert len(found) == 1, note
        stack = [frame for frame in found[0]["stack"] if not frame["inlined"]]
        assert found[0]["stack_end"] == "root", note
        modules = [os.path.basename(module) for module, _ in note["frames"]]
        assert [frame["module"] for frame in stack] == modules, (note, functions(stack))
        assert note["function"] in functions(found[0]["stack"])[:2], (note, functions(stack))
        # The innermost frames differ by the call: stack_note's there, malloc's here. All others are the same, with
        # one load address for each module.
        for frame, (module, offset) in list(zip(stack, note["frames"]))[1:]:
            base = int(frame["address"], 16) - offset
            assert bases.setdefault(module, base) == base, (note, functions(stack))


@pytest.mark.parametrize("depth", [1, 5, 64, 256, 300])
def test_depth(tprof, depth):
    """A cut stack keeps its innermost frames and says that it was cut."""
    run, summary = tprof.summary([WORKLOADS / "deep", 1000], env={"TPROF_DEPTH": str(depth)})
    (site,) = [s for s in sites(run.traces()[0], "leaks") if s["bytes"] == 4242]
    assert len(site["stack"]) == depth
    assert site["stack_end"] == "cut"
    assert functions(site["stack"]) == ["recurse_even" if i % 2 == 0 else "recurse_odd" for i in range(depth)]
    assert summary["capture"]["stacks_cut"] == 1


def test_default_depth(tprof):
    run, _ = tprof.summary([WORKLOADS / "deep", 1000])
    (site,) = [s for s in sites(run.traces()[0], "leaks") if s["bytes"] == 4242]
    assert len(site["stack"]) == 256


def test_whole_stack(tprof):
    run, summary = tprof.summary([WORKLOADS / "deep", 100])
    (site,) = [s for s in sites(run.traces()[0], "leaks") if s["bytes"] == 4242]
    names = functions(site["stack"])
    assert names[:101] == ["recurse_even" if i % 2 == 0 else "recurse_odd" for i in range(101)]
    assert names[101] == "main" and names[-1] == "_start"
    assert site["stack_end"] == "root"
    assert summary["capture"]["stacks_cut"] == 0


def test_lines(tprof):
    """The demo's leak by file and line."""
    source = WORKLOADS.parents[1] / "tests/workloads/digits.c"
    lines = source.read_text().splitlines()
    leak = next(i for i, text in enumerate(lines, 1) if "= allocate(1, sizeof(*note))" in text)
    run, summary = tprof.summary([WORKLOADS / "digits", source.parent / "data/digits.csv", 2])
    (site,) = [s for s in sites(run.traces()[0], "leaks") if "remember_loss" in functions(s["stack"])]
    frame = next(f for f in site["stack"] if f["function"] == "remember_loss")
    assert frame["file"].endswith("digits.c") and frame["line"] == leak
    assert site["blocks"] == 60 and site["bytes"] == 60 * 104
    nothing_lost(summary)


def test_inlined_frames(tprof):
    run, _ = tprof.summary([WORKLOADS / "stack2"])
    found = [s["stack"] for s in sites(run.traces()[0], "leaks") if "inlined" in functions(s["stack"])]
    assert found
    for stack in found:
        names = functions(stack)
        assert names[names.index("inlined") + 1] == "with_inlined"
        assert stack[names.index("inlined")]["inlined"] is True
