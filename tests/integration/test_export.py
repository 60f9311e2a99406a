# SPDX-License-Identifier: Apache-2.0
"""export, whatever the format: where it writes, and what it leaves when it fails."""
import os
import subprocess

import pytest
from conftest import ANALYZE, LIBRARY, WORKLOADS, analyze


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
