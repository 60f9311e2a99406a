# SPDX-License-Identifier: Apache-2.0
"""export --format perfetto: a trace as Perfetto's importer wants it, and the numbers of the reports."""
import collections

import pytest
from conftest import LIBRARY, WORKLOADS, report
from exported import by_stack, check_memory, digits_trace, export, hostile_trace, messages

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
CLEARED, NEEDS = 1, 2
BOOTTIME, MONOTONIC_COARSE = 6, 4
TABLES = ("event_names", "event_categories", "function_names", "frames", "callstacks", "build_ids", "mapping_paths", "source_paths",
          "mappings")


class Trace:
    """A file, read with what its importer insists on: one sequence whose tables are there before they are needed, tracks that are
    described, slices that nest, heap profiles whose packets follow one another."""

    def __init__(self, file, directory):
        trace = messages("perfetto", directory).Trace()
        trace.ParseFromString(file.read_bytes())
        self.tables = {table: {} for table in TABLES}
        self.tracks, self.slices, self.instants = {}, [], []
        self.counters, self.samples, self.dumps, self.flows = collections.defaultdict(list), [], collections.defaultdict(list), []
        self.open, self.index, self.clocks, self.continued = collections.defaultdict(list), 0, {}, False
        events = []
        for number, packet in enumerate(trace.packet):
            assert packet.trusted_packet_sequence_id == 1
            assert packet.sequence_flags == (NEEDS if number else CLEARED)
            self.read(packet, events)
        assert not self.continued
        for ns, _, event in sorted(events, key=lambda e: e[:2]):
            self.event(ns, event)
        assert not any(self.open.values()), "slices without an end"

    def read(self, packet, events):
        for table in TABLES:
            for entry in getattr(packet.interned_data, table):
                assert entry.iid and entry.iid not in self.tables[table]
                self.tables[table][entry.iid] = entry
        kind = packet.WhichOneof("data")
        if kind == "clock_snapshot":
            self.clocks = {clock.clock_id: clock.timestamp for clock in packet.clock_snapshot.clocks}
        elif kind == "track_descriptor":
            track = packet.track_descriptor
            assert track.uuid and (not track.parent_uuid or track.parent_uuid in self.tracks)
            self.tracks[track.uuid] = track
        elif kind == "track_event":
            assert packet.track_event.track_uuid in self.tracks
            events.append((packet.timestamp, len(events), packet.track_event))
        elif kind == "perf_sample":
            sample = packet.perf_sample
            self.samples.append((self.stack(sample.callstack_iid), sample.pid, sample.tid, packet.timestamp))
        elif kind == "profile_packet":
            self.profile(packet.profile_packet)
        else:
            assert kind is None and packet.HasField("interned_data")

    def profile(self, packet):
        assert packet.index == self.index
        self.index += 1
        self.continued = packet.continued
        for dump in packet.process_dumps:
            for sample in dump.samples:
                self.dumps[dump.pid, dump.heap_name, dump.timestamp].append((self.stack(sample.callstack_id), sample))

    def stack(self, number):
        """Names of functions, innermost first."""
        frames = [self.tables["frames"][frame] for frame in self.tables["callstacks"][number].frame_ids]
        for frame in frames:
            mapping = self.tables["mappings"][frame.mapping_id]
            assert all(path in self.tables["mapping_paths"] for path in mapping.path_string_ids)
            assert not mapping.build_id or mapping.build_id in self.tables["build_ids"]
            assert not frame.source_path_iid or frame.source_path_iid in self.tables["source_paths"]
        return tuple(self.tables["function_names"][frame.function_name_id].str.decode() for frame in reversed(frames))

    def event(self, ns, event):
        track = self.tracks[event.track_uuid]
        if event.type == COUNTER:
            assert track.HasField("counter") and event.HasField("counter_value")
            self.counters[track.parent_uuid, track.name].append((ns, event.counter_value))
            return
        name = event.name or (self.tables["event_names"][event.name_iid].name if event.name_iid else "")
        details = {d.name: d.string_value or d.uint_value or d.bool_value for d in event.debug_annotations}
        self.flows += [(flow, "from", event.track_uuid, name) for flow in event.flow_ids]
        self.flows += [(flow, "to", event.track_uuid, name) for flow in event.terminating_flow_ids]
        if event.type == BEGIN:
            self.open[event.track_uuid].append((name, ns))
        elif event.type == END:
            assert self.open[event.track_uuid], "an end without a begin"
            path = tuple(outer for outer, _ in self.open[event.track_uuid])
            self.slices.append((event.track_uuid, path, self.open[event.track_uuid].pop()[1], ns, details))
        else:
            assert event.type == INSTANT
            self.instants.append((event.track_uuid, name, ns, details))

    def ops(self):
        return [one for one in self.slices if self.tracks[one[0]].HasField("thread")]


def exported(trace, tmp_path, *options):
    return Trace(export("perfetto", trace, tmp_path / "out.pftrace", *options), tmp_path)


def run_ops(tprof, steps=20):
    return tprof.run([WORKLOADS / "ops", steps], [LIBRARY]).traces()[0]


def test_ops_steps_marks(tprof, tmp_path):
    file = run_ops(tprof)
    trace = exported(file, tmp_path)
    base = trace.clocks[BOOTTIME]
    calls = collections.Counter(path for _, path, *_ in trace.ops())
    assert calls[("forward",)] == 20 and calls[("forward", "layer")] == 40 and calls[("backward",) * 3] == 20
    layers = [one for one in trace.ops() if one[1][-1] == "layer"]
    assert collections.Counter(details["shape"] for *_, details in layers) == {"2x3": 20, "4x5": 20}
    assert all(details["flop"] == 120 and details["bytes"] == 64 for *_, details in layers)
    assert [path for _, path, _, _, details in trace.ops() if details.get("still open")] == [("shutdown",)]
    layer = next(op for op in report(file)["ops"] if op["name"] == "layer")
    took = sum(end - begin for _, _, begin, end, _ in layers)
    assert abs(took - layer["total_ns"] - layer["total_overhead_ns"]) < 100
    steps = [(path[0], end - begin) for track, path, begin, end, _ in trace.slices if trace.tracks[track].name == "steps"]
    expected = report(file, command="steps")["steps"]["list"]
    assert [name for name, _ in steps] == [f"step {i + 1}" for i in range(20)]
    assert [time for _, time in steps] == pytest.approx([step["time_ns"] for step in expected], abs=2)
    (mark,) = report(file, command="timeline")["timeline"]["marks"]
    assert [(name, ns - base) for track, name, ns, _ in trace.instants if trace.tracks[track].name == "marks"] == [("done", mark["time_ns"])]
    names = {track.thread.thread_name for track in trace.tracks.values() if track.HasField("thread")}
    assert "loader" in names


def test_memory(tprof, tmp_path):
    file = run_ops(tprof)
    trace, heap = exported(file, tmp_path), report(file)["heap"]
    (process,) = (uuid for uuid, track in trace.tracks.items() if track.HasField("process"))
    live = [value for _, value in trace.counters[process, "live bytes"]]
    assert max(live) == heap["peak_bytes"] and live[-1] == heap["end_bytes"]
    assert trace.counters[process, "RSS"]
    dumps = {name: (ns - trace.clocks[MONOTONIC_COARSE], samples) for (_, name, ns), samples in trace.dumps.items()}
    assert set(dumps) == {"alive at the peak", "libc.malloc"}
    at, peak = dumps["alive at the peak"]
    assert at == heap["peak_time_ns"]
    assert sum(sample.self_allocated for _, sample in peak) == heap["peak_bytes"]
    assert sum(sample.alloc_count for _, sample in peak) == heap["peak_blocks"]
    _, whole = dumps["libc.malloc"]
    assert sum(sample.self_allocated for _, sample in whole) == heap["allocated_bytes"]
    assert sum(sample.self_allocated - sample.self_freed for _, sample in whole) == heap["end_bytes"]
    assert sum(sample.alloc_count - sample.free_count for _, sample in whole) == heap["end_blocks"]


def test_stacks_are_those_of_the_reports(tprof, tmp_path):
    file = digits_trace(tprof)
    trace = exported(file, tmp_path)
    for (_, name, _), samples in trace.dumps.items():
        sums = collections.Counter()
        for stack, sample in samples:
            sums[stack] += sample.self_allocated
        assert dict(sums) == by_stack(file, "peak" if name == "alive at the peak" else "allocated")
    summary = report(file)
    assert len(trace.samples) == summary["capture"]["cpu_samples"] > 0
    assert {stack for stack, *_ in trace.samples} == set(by_stack(file, "cpu"))
    assert {(pid, tid) for _, pid, tid, _ in trace.samples} == {(summary["process"]["pid"],) * 2}
    steps = report(file, command="steps")["steps"]
    assert steps["source"] == "period" and steps["count"] == len([1 for track, *_ in trace.slices if trace.tracks[track].name == "steps"])
    modules = {module["build_id"] for module in report(file, command="info")["modules"]}
    assert {entry.str.decode() for entry in trace.tables["build_ids"].values()} <= modules
    lines = {frame.line_number for frame in trace.tables["frames"].values()
             if trace.tables["function_names"][frame.function_name_id].str == b"remember_loss"}
    assert lines and 0 not in lines


def test_part_of_the_run(tprof, tmp_path):
    file = run_ops(tprof)
    trace = exported(file, tmp_path, "--from", "5ms", "--to", "20ms")
    base = trace.clocks[BOOTTIME]
    times = [time - base for _, _, begin, end, _ in trace.slices for time in (begin, end)]
    assert min(times) >= 5_000_000 and max(times) <= 20_000_000
    heap = report(file, options=["--from", "5ms", "--to", "20ms"])["heap"]
    assert sum(sample.self_allocated for (_, name, _), samples in trace.dumps.items() if name == "libc.malloc"
               for _, sample in samples) == heap["allocated_bytes"]
    loader = exported(file, tmp_path, "--thread", "2")
    assert {loader.tracks[track].thread.thread_name for track, *_ in loader.ops()} == {"loader"}


def test_flows_between_processes(tprof, tmp_path):
    run = tprof.run(["sh", "-c", f"{WORKLOADS}/ops 3; {WORKLOADS}/ops 4"], [LIBRARY])
    trace = exported(run.traces(), tmp_path)
    processes = {uuid: track.process for uuid, track in trace.tracks.items() if track.HasField("process")}
    assert sorted(process.process_name for process in processes.values()) == ["ops", "ops", "sh"]
    flows = collections.defaultdict(dict)
    for flow, end, track, name in trace.flows:
        flows[flow][end] = (processes[track].process_name, name)
    assert len(flows) == 2
    for flow in flows.values():
        assert flow["from"][0] == "sh" and flow["from"][1].startswith("starts ops (pid ")
        assert flow["to"][0] == "ops" and flow["to"][1].startswith("started by sh (pid ")


def test_folded_calls(tprof, tmp_path):
    file = tprof.run([WORKLOADS / "hot", "plain", 30000, 10], [LIBRARY], {"TPROF_OPS": "cblas_saxpy", "TPROF_CPU": "0"}).traces()[0]
    (op,) = report(file, command="ops", options=["--top", "0"])["ops"]
    trace = exported(file, tmp_path)
    folded = [details for _, name, _, details in trace.instants if name == "cblas_saxpy"]
    assert sum(details["calls"] for details in folded) == op["folded"] > 20000
    assert len(trace.ops()) + op["folded"] == op["calls"]


def test_hostile_names(tprof, tmp_path):
    trace = exported(hostile_trace(tprof, tmp_path), tmp_path)
    shown = 'a"\\;<b>????????? \u20ac'
    assert [path for _, path, *_ in trace.ops()] == [(shown,)]
    assert [name for _, name, *_ in trace.instants] == [shown]


def test_memory_does_not_grow_with_the_trace(tprof, tmp_path):
    check_memory("perfetto", tprof, tmp_path)


@pytest.mark.real
def test_torch(tprof, tmp_path):
    """Python's lines are in the stacks, and the steps are the backward passes."""
    file = tprof.run(["/usr/bin/python3", WORKLOADS.parents[1] / "tests/workloads/keep_losses.py"], [LIBRARY], timeout=300).traces()[0]
    trace = exported(file, tmp_path)
    steps = report(file, command="steps")["steps"]
    assert steps["count"] == len([path for track, path, *_ in trace.slices if trace.tracks[track].name == "steps"]) > 0
    sources = {entry.str.decode() for entry in trace.tables["source_paths"].values()}
    assert any(source.endswith("keep_losses.py") for source in sources)
    assert any(path[-1] == "aten::addmm" for _, path, *_ in trace.ops())
