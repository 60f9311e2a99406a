# SPDX-License-Identifier: Apache-2.0
"""TPROF_RING: a trace that never exceeds a size, and whose report is that of a trace of any size."""
import contextlib
import json
import os
import random
import re
import signal
import struct
import subprocess
import time

import pytest
from conftest import ANALYZE, LAUNCHER, LIBRARY, ROOT, WORKLOADS, heap_of, nothing_lost, report
from second_reader import Trace

RING = {"TPROF_RING": "4M", "TPROF_CPU": "off", "TPROF_RING_WAIT": "60000"}
SIZE = 4 << 20
HEADER = struct.Struct("<QIIIIQQQIIQQ")  # from ring_bytes to checkpoint
AT = 1608


def ring_of(trace):
    with open(trace, "rb") as file:
        file.seek(AT)
        names = "bytes places free reserve folder seen_ns waited cut depth tables too_big checkpoint"
        return dict(zip(names.split(), HEADER.unpack(file.read(HEADER.size))))


def lost_by(trace):
    """Events that were dropped because the ring was full: its place among the causes in the header is 12."""
    with open(trace, "rb") as file:
        return struct.unpack("<Q", os.pread(file.fileno(), 8, 224 + 8 * 12))[0]


def counts(file):
    """What the program counted itself, threads together: made, freed, bytes."""
    numbers = struct.unpack("<512Q", file.read_bytes())
    return [sum(numbers[i::8]) for i in range(3)]


def made(trace):
    """Of make(), which all threads call: its blocks, those of them that were freed, and bytes."""
    heap = report(trace, options=["--top", "0"])["heap"]
    blocks, bytes_, live = 0, 0, 0
    for site in heap["hot_sites"]:
        if site["stack"] and site["stack"][0]["function"] == "make":
            blocks, bytes_ = blocks + site["allocations"], bytes_ + site["bytes"]
    for site in heap["unfreed_sites"]:
        if site["stack"] and site["stack"][0]["function"] == "make":
            live += site["blocks"]
    return [blocks, blocks - live, bytes_]


def wait_until(what, seconds=60):
    for _ in range(seconds * 100):
        if what():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come to be")


def lives(pid):
    """And is no zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


# What may differ between two runs of a program whose memory is at the same addresses. All else in their reports is equal.
DIFFER = {
    "a time, and a rate or share of it": r"_ns(_per_\w+)?$|_ns\[\]$|per_s$|gflops$|roof_fraction$|share(_of_\w+)?$|utilisation$",
    "chosen or judged by times": r"outliers$|^priorities$|^answer\.time$|short_lived(_\w+)?$|(warmup|effective)_(calls|steps)$"
                                 r"|(excess|padding|saved)_\w+$",
    "calls of more than some microseconds are not folded": r"^ops\[\]\.folded$|^capture\.op_events$",
    "read from the kernel at some moment": r"rss\w*$|^memory$|^growth\.(memory\.rest|parts|resident)$|pinned$|^timeline$",
    "of the run itself": r"^process\.(pid|run|cwd|trace)$|^threads\[\]\.tid$|^trace\.(file|settings|ticks_per_us)$",
    "the form of the trace, with samples of memory by the clock": r"^capture\.(events|\w+_bytes|ring)$|^trace\.chunks$",
}
MAY_DIFFER = re.compile("|".join(DIFFER.values()))
OVER_TIME = "growth without steps is over time"
NOTES = re.compile(r"the ring.s checkpoint has|for room in the ring")  # of rings


def common(value, path=""):
    """Without what may differ."""
    if isinstance(value, dict):
        if value.get("unit") == "second" or ("bytes_per_step" in value and value["bytes_per_step"] is None):
            return OVER_TIME
        below = {key: f"{path}.{key}".lstrip(".") for key in value}
        return {key: common(v, below[key]) for key, v in value.items() if not MAY_DIFFER.search(below[key])}
    if not isinstance(value, list):
        return value
    if path == "notes":
        value = [note for note in value if not NOTES.search(note)]
    elif path in ("ops", "steps.ops"):  # the slowest is first
        value = sorted(value, key=lambda op: op["name"])
    return [row for row in (common(v, f"{path}[]") for v in value) if row is not OVER_TIME]


def both(tprof, command, env=None):
    """The same program, its memory at the same addresses, with a trace of any size and with a ring."""
    env = {"TPROF_CPU": "off", "TPROF_EXE": command[0].name, **(env or {})}
    runs = [tprof.profile(["setarch", "-R", *command], env={**env, **ring}) for ring in ({}, RING)]
    traces = [run.directory / "trace.bin" for run in runs]
    assert traces[1].stat().st_size <= SIZE < traces[0].stat().st_size
    assert ring_of(traces[1])["checkpoint"] > 0
    return traces


DIGITS = ROOT / "tests/workloads/data/digits.csv"
SAME = {  # and what the reports of each must contain
    "blocks": (["truth", 1, 600000, 1, "failures"], lambda r: r["peak"]["heap"]["allocations"] > 300000),
    "leak": (["growth", "cache", 6000, 1], lambda r: r["leaks"]["growth"]["findings"][0]["bytes_per_step"] == 600),
    "no leak": (["growth", "none", 6000, 1], lambda r: not r["leaks"]["growth"]["findings"] and r["leaks"]["unfreed"]["sites"]),
    "training": (["mlp", "--data", DIGITS, "--batch", 1, "--width", 4, "--steps", 12000],
                 lambda r: r["steps"]["steps"]["count"] == 12000 and {"forward", "backward", "cblas_sgemm"} <= {op["name"] for op in r["ops"]["ops"]}),
    "short ops": (["hot", "allocate", 20000000, 10], lambda r: r["ops"]["ops"][0]["calls"] >= 20000000),
}


@pytest.mark.parametrize("what", SAME)
def test_report_is_the_same(tprof, what):
    """Of a program whose memory is at the same addresses."""
    (program, *arguments), holds = SAME[what]
    traces = both(tprof, [WORKLOADS / program, *arguments])
    reports = {}
    for command in ("summary", "peak", "leaks", "hotspots", "ops", "steps", "info"):
        whole, ring = (common(report(trace, command=command, options=["--top", "0"] * (command != "info"))) for trace in traces)
        assert whole == ring
        reports[command] = ring
    assert holds(reports)


def test_what_stays_exact(tprof):
    """Of several threads: the program's own counts."""
    run = tprof.profile([WORKLOADS / "ring", "counts", 4, 300000], env=RING)
    summary = report(run.directory / "trace.bin")
    nothing_lost(summary)
    assert summary["capture"]["file_bytes"] <= SIZE
    ring = summary["capture"]["ring"]
    assert ring["bytes"] == SIZE and 0 < ring["folded_events"] < summary["capture"]["events"]
    assert ring["too_small_for"] == 0 and ring["room_bytes"] == SIZE
    assert made(run.directory / "trace.bin") == counts(run.directory / "counts")
    assert summary["heap"]["unmatched_frees"] == 0


@pytest.mark.parametrize("arguments", [(64, 20000), (64, 200, 30000, 10)], ids=["busy", "idle"])
def test_more_threads_than_places(tprof, arguments):
    """A thread that waits for room ends its own chunk, and those of threads that have been idle, whether or not they still live."""
    run = tprof.profile([WORKLOADS / "ring", "counts", *arguments], env=RING)
    trace = run.directory / "trace.bin"
    summary = report(trace)
    nothing_lost(summary)
    assert summary["capture"]["ring"]["waited_ns"] > 0 and trace.stat().st_size <= SIZE
    assert summary["heap"]["unmatched_frees"] == 0
    assert made(trace) == counts(run.directory / "counts")


@pytest.mark.parametrize("threads, calls, burst", [(64, 64000, 2000), (4, 640000, 20000)], ids=["many", "few"])
def test_calls_that_are_added_late(tprof, threads, calls, burst):
    """Calls are counted in records that the folder had to read before: threads sleep, and it can't wait for their chunks to end."""
    run = tprof.profile([WORKLOADS / "ring_ops", threads, calls, burst, 10000], env=RING)
    trace = run.directory / "trace.bin"
    summary = report(trace, command="ops")
    nothing_lost(summary)
    assert summary["capture"]["ring"]["checkpoint"] > 0 and trace.stat().st_size <= SIZE
    dot, bursts = (next(op for op in summary["ops"] if op["name"] == name) for name in ("cblas_sdot", "bursts"))
    assert dot["calls"] == threads * calls and dot["folded"] > dot["calls"] // 2
    assert bursts["calls"] == threads * calls // (4 * burst)
    assert bursts["total_ns"] == pytest.approx(bursts["self_ns"] + dot["total_ns"], rel=1e-6)


def test_the_second_reader(tprof):
    """What the page says of the form of a ring: the events in the file are those that the checkpoint lacks, and some that it has."""
    run = tprof.profile([WORKLOADS / "ring", "counts", 1, 400000], env=RING)
    trace = run.directory / "trace.bin"
    capture = report(trace)["capture"]
    ring = Trace(trace.read_bytes())
    number, _, folded, ticks = ring.checkpoint
    assert number == capture["ring"]["checkpoint"] and folded == capture["ring"]["folded_events"]
    assert len(ring.places) == ring_of(trace)["places"] and {0, 1} <= set(ring.places) <= {0, 1, 2}
    assert ring.places.count(1) == ring_of(trace)["free"] and len(ring.state) > 1000
    after = [sum(event[0] > (ticks >> ring.tick_shift) - same for event in ring.events) for same in (0, 1)]
    others = capture["events"] - capture["alloc_events"] - capture["free_events"]
    assert after[0] <= capture["events"] - folded <= after[1] + others and others < 2000


@pytest.mark.parametrize("seed", range(10))
def test_killed_program(tprof, seed):
    """At any moment: the file has all up to then, to one call of each thread."""
    draw = random.Random(seed)
    process, run = tprof.start([WORKLOADS / "ring", "counts", 3, 1 << 30], env=RING)
    trace = run.directory / "trace.bin"
    wait_until(lambda: trace.exists() and ring_of(trace)["checkpoint"] > 0)
    time.sleep(draw.uniform(0, 0.3))
    if draw.random() < 0.5:
        os.kill(ring_of(trace)["folder"], signal.SIGKILL)
        time.sleep(draw.uniform(0, 0.01))
    process.kill()
    process.wait()
    wait_until(lambda: not lives(ring_of(trace)["folder"]))
    assert trace.stat().st_size <= SIZE
    summary = report(trace)
    nothing_lost(summary)
    for seen, done, most in zip(made(trace), counts(run.directory / "counts"), (3, 3, 3 * 515)):
        assert 0 <= seen - done <= most


def test_killed_folder(tprof):
    """Another one goes on from the checkpoint."""
    process, run = tprof.start([WORKLOADS / "ring", "counts", 2, 1500000], env=RING)
    trace = run.directory / "trace.bin"
    wait_until(lambda: trace.exists() and ring_of(trace)["checkpoint"] > 0)
    folders = set()
    while process.poll() is None:
        folder = ring_of(trace)["folder"]
        if lives(folder) and folder not in folders and len(folders) < 3:
            time.sleep(0.05)
            with contextlib.suppress(ProcessLookupError):  # both have just ended
                os.kill(folder, signal.SIGKILL)
            folders.add(folder)
        time.sleep(0.01)
    assert process.returncode == 0 and len(folders) >= 2
    summary = report(trace)
    nothing_lost(summary)
    assert made(trace) == counts(run.directory / "counts")
    assert trace.stat().st_size <= SIZE


def test_slow_folder(tprof):
    """The file grows, and chunks are used again, between its opening and the moment up to which it is read."""
    slow = {"LD_PRELOAD": str(WORKLOADS / "libslow_flock.so")}
    command = ["/bin/sh", "-c", 'TPROF_RING_FOLDER=$$ exec "$0" "$@"', WORKLOADS / "ring", "counts", 3, 300000, 1000, 1000]
    for _ in range(4):
        process, run = tprof.start(command, env={**RING, "TPROF_EXE": "ring"})
        trace = run.directory / "trace.bin"
        wait_until(trace.exists)
        subprocess.run([ANALYZE, "fold", str(process.pid), trace], env=slow, check=True)
        assert process.wait() == 0
        summary = report(trace)
        nothing_lost(summary)
        assert summary["heap"]["unmatched_frees"] == 0
        assert made(trace) == counts(run.directory / "counts")


def test_stopped_folder(tprof):
    """The program waits as long as it was told, then drops events, which are counted."""
    process, run = tprof.start([WORKLOADS / "ring", "counts", 1, 1 << 30], env={**RING, "TPROF_RING_WAIT": "50"})
    trace = run.directory / "trace.bin"
    wait_until(lambda: trace.exists() and ring_of(trace)["folder"] and ring_of(trace)["checkpoint"])
    folder = ring_of(trace)["folder"]
    os.kill(folder, signal.SIGSTOP)
    try:
        wait_until(lambda: lost_by(trace) > 10000)
    finally:
        os.kill(folder, signal.SIGKILL)
    process.kill()
    process.wait()
    summary = report(trace)
    lost = summary["capture"]["lost"]["ring"]
    assert lost == summary["capture"]["lost_events"] == lost_by(trace)
    assert summary["capture"]["ring"]["waited_ns"] >= 40_000_000
    heap = heap_of(summary)
    allocated, freed, _ = counts(run.directory / "counts")
    assert 0 <= allocated + freed - (heap["allocations"] + heap["frees"]) <= lost
    assert trace.stat().st_size <= SIZE


def test_the_program_does_not_notice(tprof):
    """It has no child, no descriptor and no signal more; the folder has no preload, and a session of its own."""
    script = r"""
import ctypes, os, signal, sys
signal.signal(signal.SIGCHLD, lambda *_: os.write(2, b"SIGCHLD\n"))
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes, libc.free.argtypes = [ctypes.c_size_t], [ctypes.c_void_p]
def use():
    for _ in range(400000):
        libc.free(libc.malloc(100))
before = sorted(os.listdir("/proc/self/fd"))
use()
assert sorted(os.listdir("/proc/self/fd")) == before
try:
    os.waitpid(-1, 0)
except ChildProcessError:
    print("no child")
assert not open(f"/proc/self/task/{os.getpid()}/children").read()
child = os.spawnlp(os.P_NOWAIT, "true", "true")
assert os.wait() == (child, 0)
"""
    run = tprof.profile(["/usr/bin/python3", "-c", script], env={**RING, "TPROF_CHILDREN": "0", "TPROF_RING": "4M"})
    assert (run.stdout, run.status) == (b"no child\n", 0)
    assert ring_of(run.directory / "trace.bin")["checkpoint"] > 0


def test_the_folder(tprof):
    process, run = tprof.start([WORKLOADS / "ring", "counts", 1, 1 << 30, 1000, 1000], env=RING)
    trace = run.directory / "trace.bin"
    wait_until(lambda: trace.exists() and ring_of(trace)["checkpoint"])
    folder = ring_of(trace)["folder"]
    environment = open(f"/proc/{folder}/environ", "rb").read()
    stat = open(f"/proc/{folder}/stat", encoding="utf8").read().rsplit(")", 1)[1].split()
    assert environment == b""
    assert stat[3] == str(folder) and int(stat[16]) == 10  # session, nice
    assert int(stat[1]) != process.pid
    files = {os.readlink(f"/proc/{folder}/fd/{fd}") for fd in os.listdir(f"/proc/{folder}/fd")}
    assert files == {"/dev/null", str(trace)}
    process.kill()
    process.wait()
    wait_until(lambda: not lives(folder))


def test_the_launcher(tprof):
    """It starts the folder itself, as a child of its own, also if the ring is full before."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("TPROF_")}
    env["PATH"] = f"{tprof.directory}:{env['PATH']}"
    (tprof.directory / "nice").write_text('#!/bin/sh\nsleep 1\nexec /usr/bin/nice "$@"\n', encoding="utf8")
    (tprof.directory / "nice").chmod(0o755)
    command = [LAUNCHER, "run", "--ring", "4M", "--cpu", "off", "-q", "--", WORKLOADS / "ring", "counts", "1", "30000000"]
    process = subprocess.Popen(command, cwd=tprof.directory, env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    trace = tprof.directory / "trace.bin"
    wait_until(lambda: trace.exists() and ring_of(trace)["checkpoint"])
    pid = struct.unpack_from("<I", trace.read_bytes(), 40)[0]
    folder = ring_of(trace)["folder"]
    with open(f"/proc/{folder}/stat", encoding="utf8") as file:
        stat = file.read().rsplit(")", 1)[1].split()
    os.kill(pid, signal.SIGKILL)
    assert process.wait(timeout=30) == 128 + signal.SIGKILL
    wait_until(lambda: not lives(folder))
    assert stat[1] == str(process.pid) and stat[16] == "10"
    assert b"next: tprof-analyze ./trace.bin" in process.stderr.read()


def test_read_while_it_is_written(tprof):
    """Each look has all that the program counted before it, and no more than it counted after."""
    process, run = tprof.start([WORKLOADS / "ring", "counts", 2, 1 << 30], env=RING)
    trace = run.directory / "trace.bin"
    wait_until(lambda: trace.exists() and ring_of(trace)["checkpoint"] > 1)
    for _ in range(4):
        before = counts(run.directory / "counts")
        seen = made(trace)
        after = counts(run.directory / "counts")
        assert before[0] <= seen[0] <= after[0] + 2 and before[1] <= seen[1] <= after[1] + 2
    lines = subprocess.run([ANALYZE, "live", "--once", "--json", trace], check=True, capture_output=True).stdout
    assert json.loads(lines)["heap"]["allocations"] >= after[0]
    process.kill()
    process.wait()


def test_requests(tprof):
    """Marks and snapshots before and after their events were folded, and a leak check, which writes tables."""
    process, run = tprof.start([WORKLOADS / "ring", "counts", 1, 1 << 30], env=RING)
    trace = run.directory / "trace.bin"
    wait_until(lambda: trace.exists() and ring_of(trace)["checkpoint"] > 0)
    for words in (["mark", "early"], ["snapshot", "also early"], ["leakcheck"]):
        subprocess.run([ANALYZE, "ctl", str(process.pid), *words], check=True, capture_output=True)
    number = ring_of(trace)["checkpoint"]
    wait_until(lambda: ring_of(trace)["checkpoint"] > number + 3)
    subprocess.run([ANALYZE, "ctl", str(process.pid), "mark", "late"], check=True, capture_output=True)
    process.kill()
    process.wait()
    timeline = report(trace, command="timeline")
    assert [m["text"] for m in timeline["timeline"]["marks"]] == ["early", "also early", "late"]
    assert report(trace, command="leaks")["reachability"]
    assert trace.stat().st_size <= SIZE


def test_forks_and_execs(tprof):
    """Each process has a ring and a folder of its own."""
    script = f"for i in 1 2 3; do {WORKLOADS / 'ring'} counts$i 1 300000 & done; wait; exec {WORKLOADS / 'ring'} counts4 1 300000"
    run = tprof.run(["sh", "-c", script], [LIBRARY], RING)
    assert (run.status, run.stderr) == (0, b"")
    found = {}
    for trace in run.traces():
        summary = report(trace)
        nothing_lost(summary)
        assert trace.stat().st_size <= SIZE
        if summary["process"]["exe"].endswith("/ring"):
            found[summary["process"]["args"][1]] = made(trace)
    assert found == {f"counts{i}": counts(run.directory / f"counts{i}") for i in range(1, 5)}
    answer = json.loads(subprocess.run([ANALYZE, "summary", "--json", *run.traces()], check=True, capture_output=True).stdout)
    peaks = [p["heap"]["peak_bytes"] for p in answer["processes"]]
    assert max(peaks) <= answer["combined"]["peak_bytes"] <= sum(peaks)
    text = subprocess.run([ANALYZE, *run.traces()], check=True, capture_output=True, text=True).stdout
    assert "of rings, what each process held at its checkpoint counts for the time before it" in text


def test_many_processes(tprof):
    """64 at once, each with a ring and a folder."""
    script = f"for i in $(seq 64); do {WORKLOADS / 'ring'} counts$i 1 500000 & done; wait"
    run = tprof.run(["sh", "-c", script], [LIBRARY], {**RING, "TPROF_EXE": "ring"})
    assert (run.status, run.stderr) == (0, b"") and len(run.traces()) == 64
    for trace in run.traces():
        summary = report(trace)
        nothing_lost(summary)
        assert trace.stat().st_size <= SIZE and summary["capture"]["ring"]["checkpoint"] > 0
        assert made(trace) == counts(run.directory / summary["process"]["args"][1])


def test_tables_that_fill_the_ring(tprof):
    """Each stack is a new one. New ones are cut at their outer ends, and all is counted as before."""
    run = tprof.profile([WORKLOADS / "ring_stacks", 100000], env=RING)
    trace = run.directory / "trace.bin"
    summary = report(trace)
    nothing_lost(summary)
    assert trace.stat().st_size <= SIZE
    assert summary["capture"]["ring"]["depth"] in (1, 4, 32) and summary["capture"]["ring"]["cut_at_ns"] > 0
    assert summary["heap"]["frees"] >= 100000 and summary["heap"]["end_blocks"] < 100
    assert summary["capture"]["stacks_cut"] > 10000
    assert "the ring's tables fill it: since" in subprocess.run([ANALYZE, trace], check=True, capture_output=True,
                                                                text=True).stdout


def test_tables_of_many_threads(tprof):
    """They share chunks of tables, which are never freed: 13 of 63. A chunk for each thread would cut stacks to 4 frames or 1."""
    cpu = str(min(os.sched_getaffinity(0)))
    run = tprof.profile(["taskset", "-c", cpu, WORKLOADS / "ring_stacks", 530, 40], env={**RING, "TPROF_EXE": "ring_stacks"})
    summary = report(run.directory / "trace.bin")
    nothing_lost(summary)
    assert ring_of(run.directory / "trace.bin")["depth"] in (0, 32) and summary["heap"]["frees"] >= 530 * 40


def works_within(tprof, trace, run, room):
    """The ring stayed as large as it got room, and lost nothing."""
    assert run.status == 0 and run.stdout == b"done\n" and run.stderr == b""
    wait_until(lambda: not lives(ring_of(trace)["folder"]))
    summary = report(trace)
    nothing_lost(summary)
    assert trace.stat().st_size <= room and 0 < ring_of(trace)["places"] <= (room - 16384) // 65536
    assert summary["capture"]["ring"]["room_bytes"] == 16384 + 65536 * ring_of(trace)["places"]
    assert sum("the ring stayed at" in note for note in summary["notes"]) == 1
    assert ring_of(trace)["checkpoint"] > 1 and summary["heap"]["unmatched_frees"] == 0
    assert made(trace) == counts(tprof.directory / "counts")


@pytest.mark.parametrize("filled", [0, 512, 1024], ids=lambda kib: f"{kib}KiB of others")
def test_full_disk(tprof, small_disk, filled):
    """Before there is a checkpoint, room for it is kept."""
    (small_disk / "other").write_bytes(bytes(filled << 10))
    run = tprof.run([WORKLOADS / "ring", tprof.directory / "counts", 2, 300000], [LIBRARY],
                    {**RING, "TPROF_OUTPUT": str(small_disk / "trace.bin")})
    works_within(tprof, small_disk / "trace.bin", run, (2048 - filled) << 10)


def test_limit_of_files(tprof):
    """RLIMIT_FSIZE, which is less than the ring's size."""
    run = tprof.run(["prlimit", f"--fsize={3 << 19}", WORKLOADS / "ring", tprof.directory / "counts", 2, 300000], [LIBRARY],
                    {**RING, "TPROF_EXE": "ring"})
    works_within(tprof, run.directory / "trace.bin", run, 3 << 19)


def test_disk_that_is_too_small(tprof, small_disk):
    """Where there is no room for a checkpoint, events are dropped and counted."""
    (small_disk / "other").write_bytes(bytes((2048 - 200) << 10))
    run = tprof.run([WORKLOADS / "ring", tprof.directory / "counts", 1, 200000], [LIBRARY],
                    {**RING, "TPROF_OUTPUT": str(small_disk / "trace.bin"), "TPROF_RING_WAIT": "100"})
    assert run.status == 0 and run.stdout == b"done\n"
    summary = report(small_disk / "trace.bin")
    heap = heap_of(summary)
    allocated, freed, _ = counts(tprof.directory / "counts")
    assert allocated + freed - heap["allocations"] - heap["frees"] <= summary["capture"]["lost"]["ring"]


def test_what_a_ring_can_not_tell(tprof):
    run = tprof.profile([WORKLOADS / "ring", "counts", 1, 300000], env=RING)
    for options, what in ((["--by", "thread"], b"a report by thread"), (["--thread", "1"], b"--thread"), (["--from", "1ms"], b"--from")):
        done = subprocess.run([ANALYZE, "peak", *options, run.directory / "trace.bin"], capture_output=True, check=False)
        assert done.returncode == 2 and not done.stdout
        assert re.search(rb"the ring has only a summary of its events up to .*" + what + b" is not possible", done.stderr)


def test_dump(tprof):
    """All events since the checkpoint, and none before."""
    run = tprof.profile([WORKLOADS / "ring", "counts", 1, 300000], env=RING)
    capture = report(run.directory / "trace.bin")["capture"]
    events = report(run.directory / "trace.bin", command="dump")["events"]
    since = capture["events"] - capture["ring"]["folded_events"]
    assert since <= len(events) <= since + 5  # of the same moment
    assert all(event["time_ns"] >= capture["ring"]["folded_until_ns"] for event in events)


@pytest.mark.parametrize("value", ["1M", "5G", "much", ""])
def test_wrong_sizes(tprof, value):
    run = tprof.run(["true"], [LIBRARY], {"TPROF_RING": value})
    assert f"tprof: TPROF_RING={value}: allowed is a size from 4M to 4G, as in 256M, or off; using off\n" in run.stderr.decode()


def test_a_damaged_checkpoint(tprof):
    """Whichever bytes of it are wrong, what is left is reported, with what is missing."""
    run = tprof.profile([WORKLOADS / "ring", "counts", 1, 300000], env=RING)
    trace = run.directory / "trace.bin"
    data = trace.read_bytes()
    number = ring_of(trace)["checkpoint"]
    for damage in [*range(120, 200, 16), 200, 1000]:  # from the first bytes after the chunk's header on
        damaged = bytearray(data)
        for at in range(16384, len(data), 65536):
            magic, kind = struct.unpack_from("<II", data, at)
            if magic and kind == 4 and struct.unpack_from("<Q", data, at + 48)[0] == number:
                damaged[at + damage] ^= 0xff
        trace.write_bytes(damaged)
        done = subprocess.run([ANALYZE, "summary", "--json", trace], capture_output=True, check=True)
        assert b"checkpoint can't be decompressed" in done.stderr, (damage, done.stderr)
        assert json.loads(done.stdout)["capture"]["events"] > 0
