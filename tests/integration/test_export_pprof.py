# SPDX-License-Identifier: Apache-2.0
"""export --format pprof: its values are those of the reports, and go tool pprof reads it."""
import collections
import gzip
import re
import shutil
import subprocess

import pytest
from conftest import LIBRARY, WORKLOADS, report
from exported import by_stack, check_memory, digits_trace, export, hostile_trace, messages

VALUES = ["peak_blocks", "peak", "allocations", "allocated", "unfreed_blocks", "unfreed", "temporary", "growth", "samples", "cpu"]


class Profile:
    """A file, read by the messages' description; the samples with names for numbers."""

    def __init__(self, file, directory):
        self.raw = messages("pprof", directory).Profile()
        self.raw.ParseFromString(gzip.decompress(file.read_bytes()))
        text = self.text = self.raw.string_table
        assert text[0] == "" and len(set(text)) == len(text)
        assert [(text[t.type], text[t.unit]) for t in self.raw.sample_type] == [
            (name, "nanoseconds" if name == "cpu" else "bytes" if name in ("peak", "allocated", "unfreed", "growth") else "count")
            for name in VALUES]
        self.mappings = self.numbered(self.raw.mapping)
        self.functions, self.locations = self.numbered(self.raw.function), self.numbered(self.raw.location)
        self.samples = [self.sample(sample) for sample in self.raw.sample]

    @staticmethod
    def numbered(entries):
        found = {entry.id: entry for entry in entries}
        assert len(found) == len(entries) and 0 not in found
        return found

    def sample(self, sample):
        stack = []
        for number in sample.location_id:
            location = self.locations[number]
            if location.mapping_id:
                mapping = self.mappings[location.mapping_id]
                assert mapping.memory_start <= location.address <= mapping.memory_limit
            stack += [self.text[self.functions[line.function_id].name] for line in location.line]
        assert len(sample.value) == len(VALUES)
        labels = {self.text[label.key]: self.text[label.str] for label in sample.label}
        assert len(labels) == len(sample.label)
        return tuple(stack), labels, dict(zip(VALUES, sample.value))

    def total(self, value):
        return sum(values[value] for _, _, values in self.samples)

    def by(self, label, value):
        sums = collections.Counter()
        for _, labels, values in self.samples:
            sums[labels.get(label)] += values[value]
        return {key: number for key, number in sums.items() if number}


def profile(trace, tmp_path, *options):
    return Profile(export("pprof", trace, tmp_path / "profile.pb.gz", *options), tmp_path)


def check_totals(found, summary):
    heap = summary["heap"]
    assert {value: found.total(value) for value in VALUES if value not in ("growth", "samples")} == {
        "peak_blocks": heap["peak_blocks"], "peak": heap["peak_bytes"], "allocations": heap["allocations"],
        "allocated": heap["allocated_bytes"], "unfreed_blocks": heap["end_blocks"], "unfreed": heap["end_bytes"],
        "temporary": heap["temporary_allocations"], "cpu": summary["capture"]["cpu_ns"]}


def check_stacks(found, trace):
    for value in ("peak", "allocated", "cpu"):
        sums = collections.Counter()
        for stack, _, values in found.samples:
            sums[stack] += values[value]
        assert {stack: number for stack, number in sums.items() if number} == by_stack(trace, value), value


def test_values_are_those_of_the_reports(tprof, tmp_path):
    trace = digits_trace(tprof)
    found = profile(trace, tmp_path)
    summary = report(trace, command="leaks", options=["--top", "0"])
    check_totals(found, summary)
    check_stacks(found, trace)
    grown = sorted((site["grown_bytes"], site["stack"][site["own"]]["function"]) for site in summary["growth"]["sites"]
                   if site["verdict"] in ("leak", "may leak"))
    assert grown and grown == sorted((values["growth"], stack[0]) for stack, _, values in found.samples if values["growth"])
    assert grown[-1][1] == "remember_loss"
    (process,) = found.by("process", "allocated")
    assert re.fullmatch(r"digits \(pid \d+\)", process)
    loss = [labels["step"] for stack, labels, values in found.samples if values["unfreed"] and stack[0] == "remember_loss"]
    assert len(loss) == 1 and re.fullmatch(r"\d+-\d+", loss[0])


def test_labels(tprof, tmp_path):
    trace = tprof.run([WORKLOADS / "ops", 20], [LIBRARY]).traces()[0]
    found = profile(trace, tmp_path)
    check_totals(found, report(trace))
    check_stacks(found, trace)

    def rows(by):
        return report(trace, command="peak", options=["--by", by, "--top", "0"])["peak"]["sites"]

    for by in ("op", "layer"):
        assert found.by(by, "peak") == {row[by]: row["bytes"] for row in rows(by)}
    names = {thread["thread"]: f"{thread['name']} (tid {thread['tid']})" for thread in report(trace, command="info")["threads"]}
    assert found.by("thread", "peak") == {names[row["thread"]]: row["bytes"] for row in rows("thread")}
    unfreed = report(trace, command="leaks", options=["--top", "0"])["unfreed"]["sites"]
    steps = {(site["bytes"], f"{site['first_step']}-{site['last_step']}" if site["first_step"] < site["last_step"] else str(site["first_step"]))
             for site in unfreed if any(frame["function"] == "take" for frame in site["stack"])}
    assert steps and steps == {(values["unfreed"], labels["step"]) for stack, labels, values in found.samples
                               if stack[0] == "take" and values["unfreed"]}


def test_mappings(tprof, tmp_path):
    trace = digits_trace(tprof)
    found = profile(trace, tmp_path)
    modules = {module["path"]: module for module in report(trace, command="info")["modules"]}
    assert found.text[found.raw.mapping[0].filename].endswith("/digits"), "the first one is the program"
    assert len(found.raw.mapping) > 3
    for mapping in found.raw.mapping:
        module = modules[found.text[mapping.filename]]
        assert found.text[mapping.build_id] == module["build_id"]
        assert (mapping.memory_start, mapping.memory_limit) == (int(module["start"], 16), int(module["end"], 16))


def test_part_of_the_run(tprof, tmp_path):
    trace = tprof.run([WORKLOADS / "ops", 20], [LIBRARY]).traces()[0]
    options = ["--from", "5ms", "--to", "20ms"]
    check_totals(profile(trace, tmp_path, *options), report(trace, options=options))
    found = profile(trace, tmp_path, "--thread", "2")
    assert found.total("allocated") == report(trace, options=["--thread", "2"])["heap"]["allocated_bytes"]
    assert len(found.by("thread", "allocated")) == 1
    assert all("layer" in stack for stack, _, _ in profile(trace, tmp_path, "--filter", "^layer$").samples)


def test_several_processes(tprof, tmp_path):
    run = tprof.run(["sh", "-c", f"{WORKLOADS}/ops 3; {WORKLOADS}/ops 4"], [LIBRARY])
    found = profile(run.traces(), tmp_path)
    heaps = [report(trace)["heap"]["allocated_bytes"] for trace in run.traces()]
    assert sorted(found.by("process", "allocated").values()) == sorted(filter(None, heaps))


def test_what_is_shown_first(tprof, tmp_path):
    trace = tprof.run([WORKLOADS / "ops", 3], [LIBRARY]).traces()[0]
    for what, value in (("peak", "peak"), ("allocated", "allocated"), ("unfreed", "unfreed"), ("temporary", "temporary"), ("cpu", "cpu")):
        found = profile(trace, tmp_path, "--what", what)
        assert found.text[found.raw.default_sample_type] == value


def test_hostile_names(tprof, tmp_path):
    found = profile(hostile_trace(tprof, tmp_path), tmp_path)
    shown = 'a"\\;<b>????????? \u20ac'
    assert shown in found.by("op", "allocated") and shown in found.by("layer", "allocated")
    assert all(ord(char) >= 32 for text in found.text for char in text)


def test_memory_does_not_grow_with_the_trace(tprof, tmp_path):
    check_memory("pprof", tprof, tmp_path)


# ---- go tool pprof ----

need_go = pytest.mark.skipif(not shutil.which("go"), reason="no go is here: make check-real")


def go(*arguments):
    done = subprocess.run(["go", "tool", "pprof", *map(str, arguments)], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.real
@need_go
def test_go_shows_the_same(tprof, tmp_path):
    trace = digits_trace(tprof)
    file = export("pprof", trace, tmp_path / "profile.pb.gz")
    summary = report(trace, command="leaks", options=["--top", "0"])
    heap = summary["heap"]
    for value, unit, total in (("peak", "B", heap["peak_bytes"]), ("allocated", "B", heap["allocated_bytes"]), ("unfreed", "B", heap["end_bytes"]),
                               ("allocations", "", heap["allocations"]), ("cpu", "ns", summary["capture"]["cpu_ns"]),
                               ("growth", "B", sum(site["grown_bytes"] for site in summary["growth"]["sites"] if site["verdict"] == "leak"))):
        shown = go("-top", f"-sample_index={value}", f"-unit={unit or 'auto'}", file)
        assert re.search(rf"Total samples = {total}{unit}\b|accounting for \d+{unit}, [\d.]+% of {total}{unit} total", shown), shown
    assert "remember_loss" in go("-top", "-sample_index=growth", file)
    assert re.search(r"remember_loss .*/digits\.c:\d+", go("-lines", "-top", "-sample_index=growth", file))
    traces = go("-traces", "-sample_index=unfreed", "-unit=B", file)
    assert re.search(r"step: *\d+-\d+", traces) and re.search(r"\d+B +remember_loss", traces)
    tags = go("-tags", "-sample_index=peak", "-unit=B", file)
    assert "op: Total" in tags and "process: Total" in tags


@pytest.mark.real
@need_go
def test_go_compares(tprof, tmp_path):
    """A run against itself has no difference; against a shorter one, that of the heaps."""
    small, large = (tprof.run([WORKLOADS / "ops", steps], [LIBRARY], {"TPROF_CPU": "0"}).traces()[0] for steps in (5, 25))
    files = [export("pprof", trace, tmp_path / f"{i}.pb.gz") for i, trace in enumerate((small, large))]
    assert "accounting for 0, 0% of" in go("-top", "-sample_index=allocated", f"-diff_base={files[0]}", files[0])
    shown = go("-top", "-sample_index=allocations", f"-diff_base={files[0]}", files[1])
    difference = report(large)["heap"]["allocations"] - report(small)["heap"]["allocations"]
    assert f"accounting for {difference}, " in shown, shown
