# SPDX-License-Identifier: Apache-2.0
"""Programs of many processes, as users write them: pools, managers, shells, daemons, servers that fork before they accept,
DataLoaders. Each of their processes says who it is and what it kept; the traces say the same. SOAK_TURNS: how often each
is run."""
import json
import os

import pytest
from conftest import LIBRARY, PYTHON, ROOT, analyze

FAMILIES = ROOT / "tests/workloads/python_families.py"
TURNS = int(os.environ.get("SOAK_TURNS", "1"))
PLAIN = ["futures fork", "futures spawn", "futures forkserver", "pool fork", "pool spawn", "broken", "tree", "prefork"]
REAL = ["loader fork", "loader spawn", "loader forkserver", "hogwild fork", "hogwild spawn", "hogwild forkserver", "search loky", "search multiprocessing"]

MAY_BE_KILLED = {"broken": ["killed"], "prefork": ["server"],  # joblib ends its pools by a signal, wherever their workers are
                 "search multiprocessing": ["worker"]}


def notes_of(run):
    return {note["pid"]: note for note in map(json.loads, (run.directory / "truth").read_text().splitlines())}


def told(traces, command, *options):
    """A report of all processes together."""
    return json.loads(analyze(command, "--json", *options, *traces, timeout=600).stdout)


def kept(process, size):
    """The blocks of that size that were never freed, and the Python function that took them."""
    return [(site["blocks"], site["stack"][0]["function"]) for site in process["unfreed"]["sites"]
            if site["stack"] and site["bytes"] == size * site["blocks"]]


def one_process(summary, note, words):
    capture, process = summary["capture"], summary["process"]
    assert capture["lost_events"] == 0 and capture["damage"] == [] and not capture["stopped"], capture
    assert summary["heap"]["unmatched_frees"] == 0
    assert process["end"] == "exit" or process["end"] == "killed" and note["role"] in MAY_BE_KILLED.get(words, ())
    if note["role"] != "daemon":
        assert process["ppid"] == note["ppid"], note


def a_family(tprof, words):
    """Bare and profiled: the same is printed. Returns the profiled run and who was in it, by pid."""
    bare = tprof.run([PYTHON, FAMILIES, *words], timeout=300)
    assert bare.status == 0, bare.stderr
    run = tprof.run([PYTHON, FAMILIES, *words], [LIBRARY], timeout=300)
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr)
    notes = notes_of(run)
    assert {note["role"] for note in notes.values()} == {note["role"] for note in notes_of(bare).values()}
    return run, notes


def last_programs(together):
    """By pid; what the process ran before an exec is apart."""
    found = [p for p in together["processes"] if p["process"]["end"] != "exec"]
    assert len({p["process"]["pid"] for p in found}) == len(found)
    return {p["process"]["pid"]: p for p in found}


@pytest.mark.parametrize("words", [
    *PLAIN, *(pytest.param(words, marks=pytest.mark.real) for words in REAL)])
def test_families(tprof, words):
    for _ in range(TURNS):
        run, notes = a_family(tprof, words.split())
        if len(run.traces()) == 1:  # threads alone
            one_process(told(run.traces(), "summary"), *notes.values(), words)
            continue
        together = told(run.traces(), "summary")
        programs = last_programs(together)
        blocks = last_programs(told(run.traces(), "leaks", "--language", "python", "--top", "0"))
        for pid, note in notes.items():
            one_process(programs[pid], note, words)
            assert kept(blocks[pid], note["size"]) == [(1, "keep")], note
        assert len(together["processes"]) == len(run.traces())
        first, *others = sorted((pid for pid, p in programs.items() if p["process"]["ppid"] not in programs),
                                key=lambda pid: notes[pid]["role"] != "first")
        assert notes[first]["role"] == "first"
        assert all(notes[pid]["role"] == "daemon" for pid in others)  # whose parent may have ended before it began
        peak = together["combined"]
        assert peak["peak_bytes"] == sum(p["bytes"] for p in peak["peak_processes"])
        assert peak["peak_bytes"] >= max(p["heap"]["peak_bytes"] for p in together["processes"]) >= notes[first]["size"]
