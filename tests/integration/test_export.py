# SPDX-License-Identifier: Apache-2.0
"""export, whatever the format: where it writes, and what it leaves when it fails."""
import json
import os
import random
import subprocess

import pytest
from conftest import ANALYZE, LIBRARY, WORKLOADS, analyze
from test_bad_input import PROGRAM


@pytest.fixture
def trace(tprof):
    return tprof.run([WORKLOADS / "ops", 5], [LIBRARY]).traces()[0]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder"


def export(*arguments):
    return subprocess.run([ANALYZE, "export", "--format", "chrome", *arguments], capture_output=True, text=True, check=False, timeout=60)


def test_file_is_replaced_whole(trace, folder):
    out = folder / "ops.json"
    out.write_text("old")
    reader = out.open()
    done = export("-o", out, trace)
    assert done.returncode == 0 and done.stderr == ""
    assert reader.read() == "old", "who reads the old file keeps it"
    assert out.read_text() == export(trace).stdout
    assert os.listdir(folder) == ["ops.json"]
    assert out.stat().st_mode & 0o777 == 0o666 & ~current_umask()


def current_umask():
    umask = os.umask(0)
    os.umask(umask)
    return umask


def test_failure_leaves_the_old_file(trace, folder):
    out = folder / "ops.json"
    out.write_text("old")
    (folder / "broken").write_bytes(b"no trace")
    assert export("-o", out, folder / "broken").returncode == 3
    assert out.read_text() == "old" and sorted(os.listdir(folder)) == ["broken", "ops.json"]
    done = subprocess.run(["sh", "-c", 'ulimit -f 1; trap "" XFSZ; "$@"', "sh", ANALYZE, "export", "--format", "chrome", "-o", out,
                           trace], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2 and f"{out}: could not be written to its end" in done.stderr
    assert out.read_text() == "old" and sorted(os.listdir(folder)) == ["broken", "ops.json"]
    done = export("-o", folder / "none/ops.json", trace)
    assert done.returncode == 2 and "none/ops.json: can't be written" in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_trace_is_not_written_over(trace):
    before = trace.read_bytes()
    done = export("-o", trace, trace)
    assert done.returncode == 2 and "it is a trace" in done.stderr
    assert trace.read_bytes() == before


def test_pipe(trace):
    """What is no regular file is written as it is."""
    assert export("-o", "/dev/stdout", trace).stdout == export(trace).stdout


def test_formats_are_named():
    done = export("--format", "elf", "trace.bin")
    assert done.returncode == 2 and all(name in done.stderr for name in ("folded", "chrome"))
    assert "--format FORMAT" in analyze("export", "--help").stdout


STREAMED = ("pprof", "speedscope", "perfetto", "firefox", "chrome")


@pytest.mark.parametrize("form", STREAMED)
def test_bits_flipped(trace, folder, form):
    """No damage of a trace crashes or hangs an export, or makes it say that all is well when it is not."""
    numbers, whole = random.Random(form), trace.read_bytes()
    used = len(whole.rstrip(b"\0"))
    for _ in range(12):
        data = bytearray(whole)
        for _ in range(numbers.choice([1, 3, 30, 300])):
            data[numbers.randrange(2048, used)] ^= 1 << numbers.randrange(8)
        (folder / "flipped.bin").write_bytes(data[:numbers.choice([used, len(data), numbers.randrange(16384, len(data))])])
        done = subprocess.run([PROGRAM, "export", "--format", form, "-o", folder / "out", folder / "flipped.bin"], capture_output=True,
                              text=True, errors="replace", check=False, timeout=60,
                              env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0:exitcode=99"})
        assert done.returncode in (0, 3), done.stderr[-3000:]


@pytest.mark.parametrize("form", STREAMED)
def test_odd_traces(tprof, folder, form):
    """Of a program that does nothing, and of one with very many threads: an export that says nothing on standard error."""
    for command, environment in ((["/bin/true"], {"TPROF_ALLOC": "off", "TPROF_CPU": "0", "TPROF_OPS": "off"}),
                                 ([WORKLOADS / "extremes", "threads", 3000], {})):
        (odd,) = tprof.run(command, [LIBRARY], environment).traces()
        done = subprocess.run([ANALYZE, "export", "--format", form, "-o", folder / "out", odd], capture_output=True, text=True, check=False,
                              timeout=120)
        assert done.returncode == 0 and done.stderr == "", done.stderr
        if form in ("speedscope", "firefox", "chrome"):
            json.loads((folder / "out").read_text(encoding="utf-8"))


@pytest.mark.parametrize("form", STREAMED)
def test_full_disk(trace, form):
    done = subprocess.run([ANALYZE, "export", "--format", form, "-o", "/dev/full", trace], capture_output=True, text=True, check=False,
                          timeout=60)
    assert done.returncode == 2 and "/dev/full: could not be written to its end" in done.stderr


@pytest.mark.parametrize("form", ("speedscope", "perfetto", "firefox", "chrome"))
def test_limit_is_told(trace, folder, form):
    done = subprocess.run([ANALYZE, "export", "--format", form, "--limit", "5", "-o", folder / "out", trace], capture_output=True, text=True,
                          check=False, timeout=60)
    assert done.returncode == 0 and done.stderr == "tprof-analyze: stopped after 5 ops (--limit)\n"
