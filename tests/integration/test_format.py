# SPDX-License-Identifier: Apache-2.0
"""The format is what its text says: a second reader, written from it, finds the same in a trace."""
import re
import subprocess

from conftest import LIBRARY, ROOT, WORKLOADS, heap_of, report
from second_reader import Trace


def replay(trace):
    """Of one thread: the counts that a report has."""
    live, held = {}, None
    counts = dict.fromkeys(("allocations", "frees", "allocated_bytes", "peak_bytes", "end_bytes", "end_blocks"), 0)
    now = 0
    for event in trace.events:
        if event[1] == "alloc":
            live[event[2]] = event[3]
            now += event[3]
            counts["allocations"] += 1
            counts["allocated_bytes"] += event[3]
            counts["peak_bytes"] = max(counts["peak_bytes"], now)
        elif event[1] == "free":
            held = (event[2], live.pop(event[2]))
            now -= held[1]
            counts["frees"] += 1
        else:
            live[held[0]] = held[1]
            now += held[1]
            counts["frees"] -= 1
    counts["end_bytes"], counts["end_blocks"] = now, len(live)
    return counts


def test_second_reader_agrees(tprof):
    run, summary = tprof.summary([WORKLOADS / "truth", 1, 20000, 1, "failures"])
    counts = replay(Trace(run.traces()[0].read_bytes()))
    assert counts == {key: heap_of(summary)[key] for key in counts}
    assert counts["allocations"] == run.truth()["allocations"]
    assert summary["heap"]["failed_reallocs"] > 0


def test_stacks_of_the_second_reader(tprof):
    run, _ = tprof.summary([WORKLOADS / "stack2"])
    trace = Trace(run.traces()[0].read_bytes())
    nodes = [event[4] for event in trace.events if event[1] == "alloc"]
    stacks = {trace.stack(node)[1] for node in nodes}
    assert len(nodes) > len(run.truth()["stacks"]) and stacks <= {1, 3}
    assert {frame[0] for node in nodes for frame in trace.stack(node)[0]} <= set(trace.modules)


def test_the_machine(tprof):
    """The header says which machine wrote the trace: ELF's number of it, as the library's own file has it."""
    run, _ = tprof.summary([WORKLOADS / "truth", 1, 10, 1])
    library = LIBRARY.read_bytes()
    assert Trace(run.traces()[0].read_bytes()).machine == int.from_bytes(library[18:20], "little")


def test_times_go_forward(tprof):
    run, _ = tprof.summary([WORKLOADS / "steady", 100000])
    times = [event[0] for event in Trace(run.traces()[0].read_bytes()).events]
    assert len(times) >= 100000 and times == sorted(times)
    assert report(run.traces()[0])["heap"]["reordered_events"] == 0


FIELD = re.compile(r"^\.It (\d+) Ta (\w+)(?:\[(\d+)\])? Ta (\w+)", re.M)
SIZES = {"u8": 1, "u32": 4, "i32": 4, "u64": 8, "moment": 24, "span": 8, "checkpoint": 32}


def test_the_page_is_the_header(tprof):
    """Offsets, sizes and names in tprof-trace(5) are those of format.h, and none is left out."""
    page = (ROOT / "include/tprof/tprof-trace.5").read_text()
    lines = ["#include <stddef.h>", "#include <tprof/format.h>"]
    for section, name in (("HEADER", "tprof_header"), ("CHUNKS", "tprof_chunk")):
        text = re.search(rf"^\.Sh {section}\n(.*?)^\.El", page, re.M | re.S).group(1)
        end = 0
        for offset, kind, count, field in FIELD.findall(text):
            size = SIZES[kind] * int(count or 1)
            lines.append(f"_Static_assert(offsetof(struct {name}, {field}) == {offset}, \"{field}\");")
            lines.append(f"_Static_assert(sizeof(((struct {name} *)0)->{field}) == {size}, \"{field}\");")
            assert int(offset) == end
            end += size
        lines.append(f"_Static_assert(sizeof(struct {name}) == {end}, \"all of {name}\");")
    source = tprof.directory / "page.c"
    source.write_text("\n".join(lines) + "\n")
    assert len(lines) > 60
    subprocess.run(["gcc", "-fsyntax-only", "-I", ROOT / "include", source], check=True)


def test_the_page_names_all_records():
    """Every type of a LONG record has its entry, under its number."""
    page = (ROOT / "include/tprof/tprof-trace.5").read_text()
    header = (ROOT / "include/tprof/format.h").read_text()
    for name, number in re.findall(r"TPROF_(?:EVENT|TABLE)_(\w+) = (\d+)", header):
        assert f".It {name} ({number})" in page, name
