# SPDX-License-Identifier: Apache-2.0
"""Limited recording: a trace of the second writer (tests/fuzz/corpus/levels), as the second reader and a sum over its blocks see it."""
import json
import math

import pytest
from conftest import BUILD, ROOT, analyze, report
from second_compact import PLAIN, Columns, expand, frames
from second_reader import Trace
from test_compact import meaningful

TRACE = ROOT / "tests/fuzz/corpus/levels"
FIRST_MEAN = 512 << 10


@pytest.fixture(scope="module", name="events")
def fixture_events():
    return Trace(TRACE.read_bytes()).events


def chance(size, mean):
    """With which a block is recorded."""
    if mean == 0:
        return 1
    return -math.expm1(-size / (FIRST_MEAN if mean is None else 1 << mean))


def test_dump(events):
    """Blocks with their means, and levels, as the second reader has them."""
    dumped = json.loads(analyze("dump", "--json", TRACE).stdout)["events"]

    def mean_of(mean):
        return None if mean is None else 1 << mean if mean else 0

    blocks = [(e["kind"], int(e["address"], 16), e["size"], e.get("mean")) for e in dumped if e["kind"] in ("alloc", "pool_alloc")]
    assert blocks == [(e[1], e[2], e[3], mean_of(e[6])) for e in events if e[1] in ("alloc", "pool_alloc")]
    assert len({mean for *_, mean in blocks}) == 4 and len(blocks) > 50
    levels = [(e["mean"], e["ops"]) for e in dumped if e["kind"] == "level"]
    assert levels == [(mean_of(e[2]), e[3]) for e in events if e[1] == "level"] and len(levels) == 6
    text = analyze("dump", TRACE).stdout
    assert text.count("  all recorded") == [mean for *_, mean in blocks].count(0) + [mean for mean, _ in levels].count(0)


def test_estimates(events):
    """Sums over the blocks: x / p, with the variance x^2 (1 - p) / p^2."""
    sums, variance, live, freed = [0, 0], [0, 0], {}, 0
    for event in events:
        if event[1] in ("alloc", "pool_alloc"):
            p = chance(event[3], event[6])
            live[event[2]] = (event[3], p)
            for i, x in enumerate((event[3], 1)):
                sums[i] += x / p
                variance[i] += x * x * (1 - p) / p ** 2
        elif event[1] == "free":
            freed += 1 / live.pop(event[2])[1] if event[2] in live else 0
    heap = report(TRACE)["heap"]
    assert heap["estimated"]
    assert heap["allocated_bytes"] == round(sums[0]) and heap["allocations"] == round(sums[1])
    assert heap["frees"] == round(freed)
    assert heap["end_bytes"] == round(sum(size / p for size, p in live.values()))
    low, high = heap["allocated_bytes_ci95"]
    assert low < sums[0] - math.sqrt(variance[0]) and sums[0] + math.sqrt(variance[0]) < high


def test_levels(events):
    """Times between the LEVEL events; ops that were recorded in a part of them."""
    found = report(TRACE)
    capture, changes = found["capture"], [e for e in events if e[1] == "level"]
    assert capture["max_overhead_percent"] == 1.5
    spans = capture["levels"]
    assert spans[0]["from_ns"] == 0 and spans[-1]["to_ns"] == found["process"]["duration_ns"]
    assert all(a["to_ns"] == b["from_ns"] for a, b in zip(spans, spans[1:]))
    begins = [4 * e[0] - 1000 for e in changes if (e[2], e[3]) != (0, True) or e is not changes[0]]
    assert [span["from_ns"] for span in spans[1:]] == begins
    for total in capture["levels_time"]:
        same = [s for s in spans if all(s[key] == total[key] for key in ("allocations", "mean_bytes", "ops"))]
        assert same and total["time_ns"] == sum(s["to_ns"] - s["from_ns"] for s in same)
    recorded = sum(s["to_ns"] - s["from_ns"] for s in spans if s["ops"])
    assert capture["ops_recorded_share"] == pytest.approx(recorded / found["process"]["duration_ns"])
    ops = {op["name"]: op for op in json.loads(analyze("ops", "--json", TRACE).stdout)["ops"]}
    assert ops["marked"]["estimated_calls"] == ops["marked"]["calls"] == 60
    assert ops["marked"]["estimated_calls_ci95"] == [60, 60]
    assert ops["hooked"]["calls"] == 30
    assert ops["hooked"]["estimated_calls"] == round(30 * found["process"]["duration_ns"] / recorded)
    low, high = ops["hooked"]["estimated_calls_ci95"]
    assert 30 <= low <= 60 <= high


def test_words():
    for command in ("summary", "info"):
        text = " ".join(analyze(command, TRACE).stdout.split())
        assert "recording was limited to 1.5% of the CPU time: all allocations were recorded for" in text
        assert "one per 4.00 KiB to 512 KiB for the rest" in text
    assert "at times, one each 512 KiB or more often" in analyze("summary", TRACE).stdout


def test_comparisons():
    """What compares runs says that one of them has a part of the calls."""
    done = analyze("check", "--max-peak", "1T", TRACE)
    assert f"{TRACE}: calls of hooked functions were recorded in 50.5% of the time" in done.stdout + done.stderr


def test_other_programs(tmp_path, monkeypatch):
    """A compact copy is the same trace; a replay that is saved and loaded again and again says the same."""
    compact = tmp_path / "compact.bin"
    analyze("compact", "-o", compact, TRACE)
    data = compact.read_bytes()
    assert meaningful(expand(data)) == meaningful(TRACE.read_bytes())
    assert PLAIN not in b"".join(Columns(group).data[0] for group in frames(data)[3:])  # all records were coded
    assert analyze("dump", "--json", compact).stdout == analyze("dump", "--json", TRACE).stdout
    monkeypatch.setenv("CUT_EVERY", "7")
    for words in (["summary", "--json"], ["ops", "--json"], ["info", "--json"], ["timeline", "--json"]):
        whole = analyze(*words, TRACE)
        assert analyze(*words, TRACE, program=BUILD / "tests/cut/tprof-analyze-cut").stdout == whole.stdout
