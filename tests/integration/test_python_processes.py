# SPDX-License-Identifier: Apache-2.0
"""Python's frames in the processes that torch makes, and at the interpreter's end."""
import json

import pytest
from conftest import LIBRARY, PYTHON, analyze, nothing_lost, sites
from second_reader import Trace
from test_python import PROGRAMS, PYTHONS


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("words, least", [([], 15), (["beside"], 5)])
def test_the_end_of_the_interpreter(tprof, python, words, least):
    """What is called while it is taken down; then C allocates without it."""
    run, summary = tprof.summary([python, PROGRAMS / "python_shutdown.py", *words])
    nothing_lost(summary)
    notes = [json.loads(line) for line in (run.directory / "truth").read_text().splitlines()]
    assert len(notes) >= least
    trace = Trace(run.traces()[0].read_bytes())
    nodes = {event[3]: event[4] for event in trace.events if event[1] == "alloc"}
    for size, frames, _ in notes:
        assert [list(frame) for frame in trace.python_stack(nodes[size])] == frames
    if not words:  # else the other thread may have the last word
        assert trace.python_stack([event for event in trace.events if event[1] == "alloc"][-1][4]) == []


def rows_of(trace, program):
    """What a process's own lines of the program allocated and kept, by a call of keep(): its caller -> bytes."""
    found = {}
    for site in sites(trace, "leaks", "--language", "python"):
        names = [frame["function"] for frame in site["stack"]]
        if names and names[0] == "keep" and site["stack"][0]["file"] == str(program):
            caller = site["stack"][1]
            key = caller["function"], program.read_text().splitlines()[caller["line"] - 1].partition("# ")[2], names[-1]
            found[key] = found.get(key, 0) + site["bytes"]
    return found


FAMILY = """
import concurrent.futures, os, subprocess, sys
def work(_):
    return os.getpid(), os.getppid()
if __name__ == "__main__":
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        print(*next(pool.map(work, [1])), flush=True)
    subprocess.run([sys.executable, "-c", "import os; print(os.getpid(), os.getppid())"])
"""


def test_a_family_of_processes(tprof, monkeypatch):
    """The table of a run's processes says what each is, below the one that made it."""
    program = tprof.directory / "family.py"
    program.write_text(FAMILY)
    run = tprof.run([PYTHON, program, "word"], [LIBRARY])
    (worker, first), (child, parent) = (map(int, line.split()) for line in run.stdout.decode().splitlines())
    assert first == parent
    monkeypatch.setenv("COLUMNS", "120")
    text = analyze("peak", *run.traces()).stdout
    rows = {int(row.split()[0]): row for row in text[text.index("All 3 processes"):].splitlines()[2:5]}
    assert "  python3" in rows[first] and rows[first].endswith(" word") and "    python3" not in rows[first]
    assert rows[worker].endswith(f"    fork of {first}")
    assert rows[child].endswith("-c import os; print(os.getpid(), os.getppid())") and "    python3" in rows[child]


@pytest.mark.real
def test_processes_of_torch(tprof):
    """DataLoader's workers, forked and spawned, and torch.multiprocessing: each with the lines that ran in it."""
    program = PROGRAMS / "torch_processes.py"
    run = tprof.profile([PYTHON, program], timeout=600)
    kept = {}
    for path in run.traces():
        for key, size in rows_of(path, program).items():
            kept.setdefault(key, []).append(size)
    item = "Items.__getitem__", "in a worker", "<module>"
    assert sorted(kept.pop(item)) == [6 * 3000001] * 2 + [6 * 3100001] * 2
    assert sorted(kept.pop(("spawned", "in a process of torch.multiprocessing", "<module>"))) == [3200001, 3200002]
    assert not kept
    together = json.loads(analyze("summary", "--json", *run.traces(), timeout=600).stdout)
    processes = {p["process"]["pid"]: p["process"] for p in together["processes"]}
    (first,) = [p for p in processes.values() if p["ppid"] not in processes]
    assert len(processes) >= 8 and sum(p["ppid"] == first["pid"] for p in processes.values()) >= 7
    peak = together["combined"]
    assert peak["peak_bytes"] == sum(p["bytes"] for p in peak["peak_processes"])
    assert peak["peak_bytes"] > max(p["heap"]["peak_bytes"] for p in together["processes"])
