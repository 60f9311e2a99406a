# SPDX-License-Identifier: Apache-2.0
"""Damaged and foreign traces: what is intact is reported, the rest is named; no crash, no hang."""
import os
import random
import shutil
import subprocess

import pytest
from conftest import ANALYZE, Harness, LIBRARY, ROOT, WORKLOADS, analyze, report

# Built with AddressSanitizer and UndefinedBehaviorSanitizer, where there is one.
CHECKED = os.environ.get("CHECK_SANITIZED", "")
PROGRAM = CHECKED if os.path.exists(CHECKED) else ANALYZE


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    directory = tmp_path_factory.mktemp("trace")
    run = Harness(directory).profile([WORKLOADS / "truth", "4", "3000", "1"])
    return run.traces()[0].read_bytes()


@pytest.fixture(scope="module")
def trace_of_steps(tmp_path_factory):
    """With operators, their work, folded ones, and steps."""
    run = Harness(tmp_path_factory.mktemp("steps")).profile(
        [WORKLOADS / "digits", ROOT / "tests/workloads/data/digits.csv"], env={"TPROF_STEP": "train_step"})
    return run.traces()[0].read_bytes()


def survive(path, command="summary", statuses=(0, 3)):
    """Runs the checked analyzer; a sanitizer's word or a signal is a failure. Returns the finished process."""
    done = subprocess.run([str(PROGRAM), command, "--json", str(path)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace", timeout=60, check=False,
                          env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0:exitcode=99"})
    assert done.returncode in statuses, f"status {done.returncode}: {done.stderr[-3000:]}"
    if done.returncode == 3:
        assert str(path) in done.stderr
    return done


FOREIGN = {
    "empty": b"", "one byte": b"T", "magic alone": b"TPROF\r\n\032", "ELF": b"\x7fELF" + bytes(100000),
    "script": b"#!/bin/sh\necho\n", "zeros": bytes(1000000), "ones": b"TPROF\r\n\032" + b"\xff" * 100000,
}


@pytest.mark.parametrize("what", FOREIGN)
def test_foreign(tmp_path, what):
    path = tmp_path / "foreign.bin"
    path.write_bytes(FOREIGN[what])
    done = survive(path, statuses=(3,))
    assert len(done.stderr.strip().splitlines()) == 1
    assert "offset" in done.stderr or "byte" in done.stderr or "empty" in done.stderr


def test_missing_and_directory(tmp_path):
    assert str(tmp_path / "no.bin") in analyze("summary", tmp_path / "no.bin", status=3).stderr
    assert str(tmp_path) in analyze("summary", tmp_path, status=3).stderr


def test_version_of_the_future(tmp_path, trace):
    path = tmp_path / "future.bin"
    path.write_bytes(trace[:8] + (2).to_bytes(4, "little") + trace[12:])
    assert "version" in survive(path, statuses=(3,)).stderr
    # Feature bits that a reader must know.
    path.write_bytes(trace[:24] + b"\x80" + trace[25:])
    assert "feature" in survive(path, statuses=(3,)).stderr


def test_truncated_anywhere(tmp_path, trace):
    path = tmp_path / "cut.bin"
    whole = None
    offsets = [1, 100, 2047, 2048, 16383, 16384, 16385, 16500, *range(17000, len(trace), max(1, len(trace) // 40))]
    for offset in [*offsets, len(trace) - 1, len(trace)]:
        path.write_bytes(trace[:offset])
        done = survive(path)
        if offset >= len(trace):
            whole = done.stdout
    assert '"damage": []' in whole


def test_what_is_intact_is_reported(tmp_path, trace):
    path = tmp_path / "half.bin"
    path.write_bytes(trace)
    whole = report(path)
    path.write_bytes(trace[:16384 + 2 * 65536 + 5000])
    half = report(path)
    assert 0 < half["heap"]["allocations"] < whole["heap"]["allocations"]
    assert half["capture"]["damage"]
    text = analyze(path).stdout
    assert "note:" in text


COMMANDS = ["summary", "peak", "leaks", "hotspots", "timeline", "ops", "steps", "threads", "roofline", "compare", "info", "dump"]


@pytest.mark.parametrize("name", ["truth", "steps"])
@pytest.mark.parametrize("seed", range(3))
def test_bits_flipped(request, tmp_path, name, seed):
    trace = request.getfixturevalue({"truth": "trace", "steps": "trace_of_steps"}[name])
    numbers = random.Random(seed)
    path = tmp_path / "flipped.bin"
    used = len(trace.rstrip(b"\0"))
    for _ in range(12):
        data = bytearray(trace)
        for _ in range(numbers.choice([1, 3, 30])):
            where = numbers.choice([numbers.randrange(2048), 16384 + numbers.randrange(200), numbers.randrange(used)])
            data[where] ^= 1 << numbers.randrange(8)
        path.write_bytes(data)
        survive(path, command=numbers.choice(COMMANDS))


@pytest.mark.parametrize("seed", range(3))
def test_chunks_shuffled(tmp_path, trace, seed):
    numbers = random.Random(seed)
    chunks = [trace[i:i + 65536] for i in range(16384, len(trace), 65536)]
    numbers.shuffle(chunks)
    path = tmp_path / "shuffled.bin"
    path.write_bytes(trace[:16384] + b"".join(chunks))
    survive(path)
    path.write_bytes(trace[:16384] + b"".join(chunks + chunks))
    survive(path)


def test_reports_are_not_written_over_traces(tprof):
    """The trace that is read may be a running program's: it stays as it is, and so does any other."""
    run = tprof.run([WORKLOADS / "steady", "7"], [LIBRARY])
    trace = run.traces()[0]
    other = trace.with_name("other.bin")
    shutil.copy(trace, other)
    before = trace.read_bytes()
    for output in (trace, other):
        for command in (["flamegraph"], ["export", "--format", "chrome"], ["summary"]):
            assert "it is a trace" in analyze(*command, "-o", output, trace, status=2).stderr
    analyze("check", "--max-peak", "1GiB", "--junit", trace, trace, status=2)
    assert trace.read_bytes() == before == other.read_bytes()
    analyze("flamegraph", "-o", trace.with_name("peak.svg"), trace)


@pytest.mark.parametrize("option", ["--suppressions", "--rules"])
def test_files_of_lines(tmp_path, trace, option):
    """What is no such file is refused, and never read without end: a gate without its rules would let everything pass."""
    (tmp_path / "t.bin").write_bytes(trace)
    (tmp_path / "long").write_text("#" * 70000 + "\n")
    command = ["leaks"] if option == "--suppressions" else ["check", "--max-peak", "1TiB"]
    for path, reason in ((tmp_path, "Is a directory"), (tmp_path / "none", "No such file"), ("/dev/zero", "a line with a NUL"),
                         (tmp_path / "long", "more than 65,534 bytes")):
        said = analyze(*command, option, path, tmp_path / "t.bin", status=2, timeout=30).stderr
        assert f"{path}: can't be read: " in said and reason in said
    (tmp_path / "good").write_text("# " + "x" * 65000 + "\n# no newline at the end")
    analyze(*command, option, tmp_path / "good", tmp_path / "t.bin")


def test_output_that_does_not_fit(tmp_path, trace):
    """On a full disk, or past RLIMIT_FSIZE: said with the file's name, and nobody is told to look at it."""
    (tmp_path / "t.bin").write_bytes(trace)
    for command in ("html", "flamegraph"):
        for output, limit in (("/dev/full", ""), (tmp_path / "out", "ulimit -f 1;")):
            done = subprocess.run(["bash", "-c", f"{limit} exec {ANALYZE} {command} -o {output} {tmp_path}/t.bin"],
                                  capture_output=True, text=True, check=False, timeout=60)
            assert done.returncode == 2 and done.stderr.count("\n") == 1, done
            assert f"{output}: could not be written to its end" in done.stderr
