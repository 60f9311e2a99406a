# SPDX-License-Identifier: Apache-2.0
"""Many traces in one report: read by any number of threads with the same answer, exact sums, bounded memory."""
import json
import os
import re
import shutil
import struct
import subprocess

import pytest
from conftest import ANALYZE, LIBRARY, PYTHON, WORKLOADS, analyze, peak_rss, report

PIPES = "for i in 1 2; do seq 20000 | sort -n | uniq | wc -l; ls -l / | sort; done >/dev/null"
WORKERS = """
import multiprocessing
import time

def work(n):
    kept = [bytearray(1000 + i) for i in range(2000 * (n + 1))]
    time.sleep(0.05)
    return sum(map(len, kept))

if __name__ == "__main__":
    inherited = [str(i) * 50 for i in range(20000)]
    with multiprocessing.get_context("fork").Pool(4) as pool:
        pool.map(work, range(8), 1)
"""
REPORTS = (["summary"], ["summary", "--json"], ["summary", "--full"], ["peak", "--by", "stack"], ["leaks", "--json"], ["hotspots"],
           ["timeline", "--json"], ["threads"], ["steps", "--json"], ["html"], ["export", "--format", "pprof"])


def traces_of(directory, command, **environment):
    directory.mkdir()
    subprocess.run(command, check=True, cwd=directory, stdout=subprocess.DEVNULL, timeout=300,
                   env={**os.environ, "LD_PRELOAD": str(LIBRARY), "TPROF_OUTPUT": str(directory / "trace-%p.bin"),
                        "TRUTH_FILE": str(directory / "truth"), **environment})
    return sorted(directory.glob("trace-*"))


@pytest.fixture(name="runs", scope="module")
def runs_of_several_processes(tmp_path_factory):
    """Pipes of a shell, a pool of forked workers of Python, processes that share pages and have readings of smaps, and a ring."""
    folder = tmp_path_factory.mktemp("many")
    (folder / "pool.py").write_text(WORKERS)
    return {"pipes": traces_of(folder / "pipes", ["bash", "-c", PIPES]),
            "pool": traces_of(folder / "pool", [PYTHON, str(folder / "pool.py")]),
            "family": traces_of(folder / "family", [str(WORKLOADS / "family"), "workers"], TPROF_CPU="off"),
            "ring": traces_of(folder / "ring", [PYTHON, str(folder / "pool.py")], TPROF_RING="4M"),
            "ends": traces_of(folder / "ends", [str(WORKLOADS / "shifts"), "killed"])}


def printed(words, traces, jobs, tmp_path):
    """What a command prints, and writes."""
    written = tmp_path / "written"
    done = analyze(*words, "--jobs", jobs, "-o", written, *traces)
    return done.stdout, done.stderr, written.read_bytes()


@pytest.mark.parametrize("name", ["pipes", "pool", "family", "ring", "ends"])
def test_the_number_of_threads_changes_nothing(runs, name, tmp_path):
    traces = runs[name]
    assert len(traces) >= 2
    for words in REPORTS:
        if name == "ring" and words[0] not in ("summary", "leaks", "timeline"):
            continue
        one = printed(words, traces, 1, tmp_path)
        assert len(one[2]) > 100
        for jobs in (2, 7):
            assert printed(words, traces, jobs, tmp_path) == one, (words, jobs)


def blocks_over_time(trace, start_ns):
    """(time, change of live bytes) of each event of a process, and of its end."""
    live, total = {}, 0
    for event in json.loads(analyze("dump", "--json", trace).stdout)["events"]:
        change = 0
        if event["kind"] == "alloc":
            live[event["address"]] = change = event["size"]
        elif event["kind"] == "free" and not event.get("cancelled"):
            change = -live.pop(event["address"], 0)
        total += change
        yield start_ns + event["time_ns"], 1, change
    process = report(trace)["process"]
    yield start_ns + process["duration_ns"], 0, -total


@pytest.mark.parametrize("name", ["pipes", "pool"])
def test_the_peak_of_all_is_that_of_their_events_merged(runs, name):
    """Summed here, from the events of each trace: one second reader of what the report merges."""
    together = report(*runs[name])
    starts = {process["process"]["trace"]: process["process"]["start_ns"] for process in together["processes"]}
    changes = [change for trace in runs[name] for change in blocks_over_time(trace, starts[str(trace)])]
    now = most = 0
    for _, _, change in sorted(changes, key=lambda change: change[:2]):
        now += change
        most = max(most, now)
    assert now == 0
    assert together["combined"]["peak_bytes"] == pytest.approx(most, rel=0.001)


def test_a_damaged_and_an_unreadable_trace_among_many(runs, tmp_path):
    whole = report(*runs["pipes"])
    traces = [shutil.copy(trace, tmp_path) for trace in runs["pipes"]]
    victim = max(range(len(traces)), key=lambda i: os.path.getsize(traces[i]))
    events = json.loads(analyze("dump", "--json", traces[victim]).stdout)["events"]
    with open(traces[victim], "r+b") as file:
        file.seek(events[len(events) // 2]["offset"])
        file.write(bytes([255]) * 64)
    one, many = (analyze("--json", "--jobs", jobs, *traces) for jobs in (1, 4))
    assert (one.stdout, one.stderr) == (many.stdout, many.stderr)
    for before, after in zip(whole["processes"], json.loads(many.stdout)["processes"]):
        if after["process"]["trace"] != str(traces[victim]):
            assert before["heap"]["allocations"] == after["heap"]["allocations"]
            assert after["capture"]["damage"] == []
        else:
            assert after["capture"]["damage"]
    with open(traces[victim], "r+b") as file:
        file.write(struct.pack("Q", 0))
    assert str(traces[victim]) in analyze("--jobs", "4", *traces, status=3).stderr


def test_each_further_trace_takes_little_memory(tmp_path):
    """300 traces of a process less 100 of them: what stays of each. They are read, and written as JSON, a few at a time."""
    traces = traces_of(tmp_path / "many", ["bash", "-c", "for i in $(seq 100); do ls -l / | sort | tail -n 1; done"])[:300]
    assert len(traces) == 300
    for words in ([], ["summary", "--json"], ["timeline", "--json"]):
        few, many = (peak_rss([ANALYZE, *words, "--jobs", "2", *traces[:count]]) for count in (100, 300))
        assert (many - few) / 200 < 256 << 10, words


@pytest.mark.parametrize("words", [["summary"], ["peak", "--by", "line"], ["timeline"], ["info"], ["lines"], ["ranks"]])
def test_json_of_one_and_of_many_is_laid_out_as_python_does(runs, words):
    """The keys of one process are the report's own; of many they are indented as what they are in. Digits of fractions are kept."""
    for traces in (runs["pipes"], runs["pipes"][:1]):
        written = analyze(*words, "--json", *traces).stdout
        python = json.dumps(json.loads(written, parse_float="\0{}".format), indent=2, ensure_ascii=False)
        assert re.sub(r'"\\u0000([^"]*)"', r"\1", python) + "\n" == written
        assert list(json.loads(written))[0] == "schema"


def test_a_number_of_jobs_is_wanted(runs):
    for wrong in ("0", "-1", "x", "1025"):
        assert "--jobs" in analyze("--jobs", wrong, *runs["pipes"], status=2).stderr
