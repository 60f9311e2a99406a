# SPDX-License-Identifier: Apache-2.0
"""Programs that still run, and dead ones that could be taken for such."""
import contextlib
import os
import pathlib
import shutil
import struct
import subprocess
import time

import pytest
from conftest import ANALYZE, LIBRARY, WORKLOADS, analyze, report

PID, PROCESS_START, NAMESPACE, BOOT_ID = 40, 56, 632, 640  # in the header: tprof-trace(5)
SECOND = 1000000000


def wait_for(what):
    while not what():
        time.sleep(0.01)


def pauses(pid):
    """A thread of it is in pause(), system call 34: nothing more comes from there."""
    calls = [task / "syscall" for task in pathlib.Path(f"/proc/{pid}/task").iterdir()]
    return any(call.read_text().startswith("34 ") for call in calls)


@contextlib.contextmanager
def idle(tprof, *arguments):
    """The process, its trace, and when its start was over."""
    process, run = tprof.start([WORKLOADS / "idle", *arguments])
    wait_for((run.directory / "ready").exists)
    wait_for(lambda: pauses(process.pid))
    try:
        yield process, run.traces()[0], time.monotonic()
    finally:
        process.kill()
        process.wait()


def of(trace):
    process = report(trace)["process"]
    return process["end"], process["duration_ns"]


def patch(trace, offset, data):
    with open(trace, "r+b") as file:
        file.seek(offset)
        file.write(data)


def start_of(pid):
    """Field 22 of /proc/PID/stat."""
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


@pytest.mark.parametrize("how", [[], ["thread"], ["closed"]])
def test_the_end_is_now(tprof, how):
    """What it took at its start does not grow since; a thread may outlive the main one; the lock may have been closed."""
    begun = time.monotonic()
    with idle(tprof, *how) as (_, trace, ready):
        time.sleep(1.2)
        least = time.monotonic() - ready
        end, duration = of(trace)
        assert end == "running"
        assert least * 0.99 <= duration / SECOND <= (time.monotonic() - begun) * 1.01
        leaks = analyze("leaks", trace).stdout
        assert ", still running\n" in leaks and " a second (95%" not in leaks
        assert report(trace, command="leaks")["growth"]["leaks"] == 0
        last = report(trace, command="timeline")["timeline"]["points"][-1]
        assert last["live_bytes"] >= 25000000


def test_a_copy_ends_where_it_was_made(tprof):
    with idle(tprof) as (_, trace, _):
        copy = trace.with_name("copy.bin")
        shutil.copy(trace, copy)
        first = of(copy)
        time.sleep(0.3)
        assert of(copy) == first
        assert first[0] == "running" and first[1] < of(trace)[1] - 0.25 * SECOND
        text = analyze("leaks", copy).stdout
        assert "still running, but not into this file (a copy?)" in text and "What grows" not in text


def test_another_start_of_the_machine(tprof):
    """Its clock is not this one's, though a process of that number runs."""
    with idle(tprof) as (_, trace, _):
        copy = trace.with_name("copy.bin")
        shutil.copy(trace, copy)
        patch(copy, BOOT_ID, bytes(range(16)))
        assert of(copy)[0] == "killed"
        patch(trace, BOOT_ID, bytes(range(16)))
        assert of(trace)[1] == of(copy)[1]


def test_a_zombie_does_not_run(tprof):
    with idle(tprof) as (process, trace, _):
        process.kill()
        wait_for(lambda: ") Z " in pathlib.Path(f"/proc/{process.pid}/stat").read_text())
        assert of(trace)[0] == "killed"


def test_another_process_of_the_number(tprof):
    """This one: its start tells, or the namespace in which it has that number."""
    with idle(tprof) as (process, trace, _):
        process.kill()
        process.wait()
        assert of(trace)[0] == "killed"
        patch(trace, PID, struct.pack("<I", os.getpid()))
        assert of(trace)[0] == "killed"
        patch(trace, PROCESS_START, struct.pack("<Q", start_of(os.getpid())))
        assert of(trace)[0] == "running"
        patch(trace, NAMESPACE, struct.pack("<Q", 1))
        assert of(trace)[0] == "killed"


def test_in_another_namespace(tmp_path, tprof):
    """Seen from outside, its number is another one; from inside a third namespace it has none, but its lock."""
    unshare = ["unshare", "-Urpf", "--mount-proc"]
    if not shutil.which("unshare") or subprocess.run([*unshare, "true"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no PID namespaces here")
    process, run = tprof.start([*unshare, "env", f"LD_PRELOAD={LIBRARY}", WORKLOADS / "idle"], preload=())
    try:
        wait_for((run.directory / "ready").exists)
        trace = next(t for t in run.traces() if report(t)["process"]["exe"].endswith("idle"))
        end, duration = of(trace)
        assert end == "running"
        inside = subprocess.run([*unshare, ANALYZE, "summary", trace], stdout=subprocess.PIPE, text=True, check=True)
        assert ", still running\n" in inside.stdout
        assert of(trace)[1] > duration
        ours = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        subprocess.run(["kill", "-KILL", *ours], check=True)
    finally:
        process.kill()
        process.wait()
    wait_for(lambda: of(trace)[0] == "killed")
