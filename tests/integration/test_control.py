# SPDX-License-Identifier: Apache-2.0
"""tprof ctl: a running program's recording is paused, goes on, and is marked, by the header page of its trace alone."""
import json
import mmap
import os
import pwd
import random
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest
from conftest import LAUNCHER, LIBRARY, ROOT, WORKLOADS, analyze, report, sites
from test_ends import wait_for


def ctl(pid, *words, status=0, **how):
    done = subprocess.run([str(LAUNCHER), "ctl", str(pid), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=30, check=False, **how)
    assert done.returncode == status, f"tprof ctl {words}: status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout if status == 0 else done.stderr


def turned(process, run):
    """Waits until the program has been through a whole turn from now on, however long that takes it."""
    path = run.directory / "turns"

    def turns():
        return int.from_bytes(path.read_bytes(), "little") if path.exists() else 0

    wanted = turns() + 2
    wait_until(process, lambda: turns() >= wanted)


def stat_of(task):
    """What /proc/PID/stat has from the state on, of a process or of a thread."""
    return (Path("/proc") / str(task) / "stat").read_text().rsplit(")", 1)[1].split()


def wait_until(process, condition):
    """On however slow a machine: only what would never come is given up."""
    end = time.monotonic() + 600
    while not condition():
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.001)


def asleep(process, task=None):
    """Waits until the process's first thread sleeps, or the one named."""
    wait_until(process, lambda: stat_of(f"{process.pid}/task/{task or process.pid}")[0] == "S")


@pytest.fixture
def program(tprof):
    """A program that runs until it is told to end; its end waits for the whole of it."""
    process, run = tprof.start([WORKLOADS / "control"], env={"TPROF_CPU": "0"})
    wait_for(run.directory / "trace.bin")

    def end():
        (run.directory / "end").touch()
        assert process.wait(timeout=60) == 0
        return run.truth()

    turned(process, run)
    yield process, run, end
    process.kill()
    process.wait()


def events(trace):
    return json.loads(analyze("dump", "--json", "--top", "0", trace).stdout)["events"]


def kinds(trace):
    return [event["kind"] for event in events(trace) if event["kind"] not in ("memory", "name", "region")]


def test_a_pause_records_ends_alone(program):
    process, run, end = program
    assert "paused" in ctl(process.pid, "stop")
    assert "was paused already" in ctl(process.pid, "stop")
    turned(process, run)
    assert "paused" in ctl(process.pid, "status")
    assert "records" in ctl(process.pid, "start")
    assert "recorded already" in ctl(process.pid, "start")
    turned(process, run)
    truth = end()
    trace = run.traces()[0]
    seen = kinds(trace)
    first, last = seen.index("pause"), seen.index("resume")
    assert set(seen[first + 1:last]) <= {"op_end", "free"}
    summary = report(trace)
    assert 0 < summary["heap"]["allocations"] < truth["allocations"]
    assert summary["heap"]["end_blocks"] <= 1 and summary["heap"]["unmatched_frees"] <= 1
    assert any("recording was paused 1 time" in note for note in summary["notes"])
    assert summary["process"]["end"] == "exit"


def test_texts_of_marks_in_json(program):
    """Every event's JSON has them as they were given, whatever stands in them."""
    process, run, end = program
    texts = ['gr\u00f6\u00dfer "5\\6"', "\u65e5\u672c \U0001f600", "plain"]
    for text in texts:
        ctl(process.pid, "mark", text)
    end()
    assert [event["text"] for event in events(run.traces()[0]) if event["kind"] == "mark"] == texts


@pytest.mark.parametrize("tunables", ["glibc.malloc.tcache_count=0", "glibc.malloc.tcache_count=7"])
def test_pauses_among_threads(tprof, tunables):
    """Frees in a pause are recorded once for each address: no block that began outside of one is missed, though threads are in
    the midst of allocating it when the pause begins, and get an address that was freed in it."""
    for _ in range(3):
        run = tprof.run([WORKLOADS / "paused", "race", 400], [LIBRARY],
                        {"TPROF_CPU": "0", "MALLOC_ARENA_MAX": "1", "GLIBC_TUNABLES": tunables})
        assert run.status == 0, run.stderr
        trace = run.traces()[0]
        own = [site for site in sites(trace, "leaks") if any(f["function"] in ("exchange", "main") for f in site["stack"])]
        assert own == []
        assert report(trace)["heap"]["allocations"] > 10000


def test_blocks_of_before_a_pause(tprof):
    """They end in it, whatever else comes and goes there; of that at most one end for each address is recorded."""
    run = tprof.run([WORKLOADS / "paused", 50000, 1000], [LIBRARY], {"TPROF_CPU": "0"})
    assert run.status == 0, run.stderr
    heap = report(run.traces()[0])["heap"]
    assert (heap["allocations"], heap["frees"], heap["end_blocks"]) == (1000, 1000, 0)
    assert heap["unmatched_frees"] < 500


def test_ops_stay_in_order(program):
    """However a pause cuts them, no op ends in another's place: begins and ends nest, and none is left open."""
    process, run, end = program
    for _ in range(8):
        ctl(process.pid, "stop")
        ctl(process.pid, "start")
    end()
    open_ops = []
    for event in events(run.traces()[0]):
        if event["kind"] == "op":
            open_ops.append(event["name"])
            assert open_ops in (["outer"], ["inner"], ["outer", "inner"])
        elif event["kind"] == "op_end":
            open_ops.pop()
    assert open_ops == []


def test_marks_and_snapshots(program):
    process, run, end = program
    ctl(process.pid, "mark", "before")
    turned(process, run)
    ctl(process.pid, "mark", "x" * 60)
    assert "snapshot 3" in ctl(process.pid, "snapshot")
    ctl(process.pid, "stop")
    ctl(process.pid, "mark", "in the pause")
    end()
    trace = run.traces()[0]
    marks = [event["text"] for event in events(trace) if event["kind"] == "mark"]
    assert marks == ["before", "x" * 48, "snapshot 3", "in the pause"]
    timeline = report(trace, command="timeline")["timeline"]
    assert [mark["text"] for mark in timeline["marks"]] == marks and timeline["marks_total"] == 4
    times = [mark["time_ns"] for mark in timeline["marks"]]
    assert times == sorted(times)
    lines = analyze("timeline", trace).stdout.splitlines()
    assert [line.split()[-1] for line in lines if "x" * 48 in line or "snapshot 3" in line] == ["x" * 48, "3"]
    part = report(trace, options=["--from", "mark:before", "--to", "mark:snapshot 3"])
    whole = report(trace)
    assert 0 < part["heap"]["allocations"] < whole["heap"]["allocations"]
    assert part["heap"]["end_blocks"] <= 1
    assert "no mark 'nowhere'" in analyze("peak", "--to", "mark:nowhere", trace, status=2).stderr
    assert "later than" in analyze("peak", "--from", "mark:snapshot 3", "--to", "mark:before", trace, status=2).stderr


def test_a_child_of_a_pause_is_paused(program):
    process, run, end = program
    ctl(process.pid, "stop")
    (run.directory / "fork").touch()
    wait_until(process, lambda: len(run.traces()) == 2)
    end()
    assert kinds(run.traces()[1]) == []
    summary = report(run.traces()[1])
    assert summary["process"]["end"] == "exit" and summary["capture"]["pauses"]["off_at_start"]


def marks_of(trace):
    return [event["text"] for event in events(trace) if event["kind"] == "mark"]


@pytest.mark.parametrize("cpu", ["0", "99"])
@pytest.mark.parametrize("way", ["poll", "epoll", "select", "pselect", "pause", "nanosleep", "sigwait", "read", "accept",
                                 "semaphore", "message", "cond", "join"])
def test_an_idle_program_answers(tprof, way, cpu):
    """One that waits, in whatever call, does all that it is asked for, and goes on waiting: no call ends by it."""
    process, run = tprof.start([WORKLOADS / "waits_in", way], env={"TPROF_CPU": cpu})
    try:
        wait_until(process, (run.directory / "ready").exists)
        asleep(process)
        trace = run.traces()[0]
        assert "marked" in ctl(process.pid, "mark", "x")
        assert "paused" in ctl(process.pid, "stop")
        assert "records" in ctl(process.pid, "start")
        assert "marked" in ctl(process.pid, "snapshot", "y")
        assert "no request waits" in ctl(process.pid, "cancel")
        assert re.search(r"definitely lost +2.93 KiB in 3 blocks", ctl(process.pid, "leakcheck"))
        assert process.poll() is None and not (run.directory / "went_on").exists()
        (run.directory / "end").touch()
        process.send_signal(signal.SIGUSR1)
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()
    assert marks_of(trace) == ["x", "y"]


def test_a_sleep_lasts_as_long_as_it_did(tprof):
    """What is left of it, where the kernel says that."""
    process, run = tprof.start([WORKLOADS / "waits_in", "sleeps", "1500"])
    try:
        wait_until(process, (run.directory / "ready").exists)
        asleep(process)
        for number in range(4):
            ctl(process.pid, "mark", str(number))
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()
    slept = int((run.directory / "slept").read_text())
    assert slept >= 1500, slept
    assert marks_of(run.traces()[0]) == ["0", "1", "2", "3"]


def test_a_request_that_is_not_answered(tprof):
    """It stands, can be taken back, and the next one takes its place."""
    process, run = tprof.start([WORKLOADS / "waits_in", "poll"])
    try:
        wait_until(process, (run.directory / "ready").exists)
        asleep(process)
        process.send_signal(signal.SIGSTOP)
        wait_until(process, lambda: stat_of(process.pid)[0] == "T")
        assert "did not answer in 2 s: it is stopped" in ctl(process.pid, "mark", "a", status=1)
        assert "waits for the program's next event" in ctl(process.pid, "status")
        assert "did not answer in 2 s" in ctl(process.pid, "mark", "b", status=1)
        assert "taken back" in ctl(process.pid, "cancel")
        assert "no request waits" in ctl(process.pid, "cancel")
        assert "did not answer in 2 s" in ctl(process.pid, "mark", "c", status=1)
        assert "did not answer in 5 s" in ctl(process.pid, "leakcheck", status=1)
        process.send_signal(signal.SIGCONT)
        ctl(process.pid, "mark", "d")
        assert "definitely lost" in ctl(process.pid, "leakcheck")
    finally:
        process.kill()
        process.wait()
    assert marks_of(run.traces()[0]) == ["d"]
    assert "no process" in ctl(process.pid, "status", status=3)


def test_without_a_signal_to_wake_it(tprof):
    """A program that uses the signal itself is told of, and not ended by it."""
    process, run = tprof.start([WORKLOADS / "waits_in", "all_signals"])
    try:
        wait_until(process, (run.directory / "ready").exists)
        asleep(process)
        assert "no signal to wake it by" in ctl(process.pid, "mark", "a", status=1)
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


def test_who_may_and_how():
    assert "has no trace" in ctl(os.getpid(), "status", status=3)
    for words in (["begin"], ["mark"], ["mark", "a", "b"], ["start", "now"], []):
        assert "usage:" in ctl(os.getpid(), *words, status=2)
    assert "usage:" in ctl("12x", "status", status=2)
    assert "start" in subprocess.run([str(LAUNCHER), "ctl", "--help"], stdout=subprocess.PIPE, text=True,
                                     check=True).stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_another_user_may_not(program, tmp_path):
    process, run, _ = program
    folder = tmp_path / "public"  # the build may lie where nobody can look
    shutil.copytree(LAUNCHER.parent, folder)
    for place in (tmp_path, *tmp_path.parents):
        if place == Path(tempfile.gettempdir()):
            break
        place.chmod(0o755)
    program_copy = folder / "tprof"
    done = subprocess.run([str(program_copy), "ctl", str(process.pid), "stop"], user=pwd.getpwnam("nobody").pw_uid,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=30)
    assert done.returncode == 3 and "another user's" in done.stderr, done.stderr
    assert run.traces()


# ---- somebody else writes in the header ----

HEADER = 16384  # tprof-trace(5)


def offset_of(field):
    """By the page that describes the format."""
    page = (ROOT / "include/tprof/tprof-trace.5").read_text()
    return int(re.search(rf"^\.It (\d+) Ta \S+ Ta {field}$", page, re.M).group(1))


def map_header(trace):
    with open(trace, "r+b") as file:
        return mmap.mmap(file.fileno(), HEADER)


@pytest.mark.parametrize("cpu", ["0", "999"])
def test_garbage_in_the_header(tprof, cpu):
    """Threads, forks, pauses: whatever stands in the page that everybody may write to, the program runs as without tprof."""
    process, run = tprof.start([WORKLOADS / "odd", "churn"], env={"TPROF_CPU": cpu})
    try:
        trace = run.directory / "trace.bin"
        wait_for(trace)
        header = map_header(trace)
        generator = random.Random(7)
        stop = time.monotonic() + 3
        while time.monotonic() < stop:
            at = generator.randrange(8, 1024) & ~7
            header[at:at + 8] = generator.choice([b"\0" * 8, b"\xff" * 8, generator.randbytes(8),
                                                  struct.pack("<II", generator.randrange(8), generator.randrange(8))])
            time.sleep(0.0002)
        header[:] = b"\0" * HEADER
        time.sleep(0.2)
        (run.directory / "end").touch()
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.wait()


def test_leakcheck_ends_no_other_process(program):
    """The header names the fork that was searched, and is to end: another process is left alone."""
    process, traced, _ = program
    with subprocess.Popen(["sleep", "600"]) as other:
        header, at, done = map_header(traced.directory / "trace.bin"), offset_of("snapshot_pid"), threading.Event()

        def write():
            while not done.is_set():
                header[at:at + 4] = struct.pack("<I", other.pid)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            refused = 0
            for _ in range(30):
                run = subprocess.run([str(LAUNCHER), "ctl", str(process.pid), "leakcheck"], stdout=subprocess.DEVNULL,
                                     stderr=subprocess.PIPE, text=True, timeout=60, check=False)
                assert other.poll() is None
                # What it was to search and to end was no fork of the program's: it found the other process there.
                refused += run.returncode == 3 and "the memory of the fork, process 0," in run.stderr
                if refused == 3:
                    break
            assert refused == 3
        finally:
            done.set()
            writer.join()
            other.kill()
    assert process.poll() is None
