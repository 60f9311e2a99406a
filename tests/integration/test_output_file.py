# SPDX-License-Identifier: Apache-2.0
"""The file of -o: whole or not there. A command that fails leaves what was there before, and nothing else."""
import os
import stat
import subprocess

import pytest
from conftest import ANALYZE, analyze

COMMANDS = {
    "html": ["html"], "summary": ["summary"], "json": ["peak", "--json"], "markdown": ["ops", "--format", "markdown"],
    "flamegraph": ["flamegraph"], "folded": ["export", "--format", "folded"], "pprof": ["export", "--format", "pprof"],
    "sqlite": ["export", "--format", "sqlite"], "csv": ["export", "--format", "csv"], "compact": ["compact"],
}
FAILING = {
    "baseline": ["html", "--baseline", "nothing.bin"], "diff": ["diff", "--baseline", "nothing.bin"],
    "check": ["check", "--baseline", "nothing.bin"], "thread": ["summary", "--thread", "4711"], "mark": ["html", "--to", "mark:none"],
}


@pytest.mark.parametrize("command", FAILING)
def test_a_failure_changes_nothing(trace, tmp_path, command):
    for before in (None, "old text"):
        out = tmp_path / "report"
        if before:
            out.write_text(before)
        done = subprocess.run([ANALYZE, *FAILING[command], "-o", out, trace], capture_output=True, text=True, cwd=tmp_path, timeout=60)
        assert done.returncode in (2, 3) and done.stderr
        assert [path.read_text() for path in tmp_path.iterdir()] == ([before] if before else [])


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_is_replaced(trace, tmp_path, command):
    """By another one, so that who reads the old one still has all of it; with its mode."""
    out = tmp_path / "report"
    out.write_text("what was there before")
    with open(out, "rb") as reader:
        out.chmod(0o640)
        number = out.stat().st_ino
        analyze(*COMMANDS[command], "-o", out, trace)
        assert out.stat().st_ino != number and stat.S_IMODE(out.stat().st_mode) == 0o640
        assert reader.read() == b"what was there before"
    assert out.stat().st_size > 30 and list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("kind", ["link", "hard", "fifo", "device"])
def test_what_is_no_plain_file_is_written_in_place(trace, tmp_path, kind):
    text = analyze("peak", trace).stdout
    out, other = tmp_path / "report", tmp_path / "other"
    if kind == "device":
        assert analyze("peak", "-o", "/dev/stdout", trace).stdout == text
        assert not [name for name in os.listdir("/dev") if name.startswith("stdout.")]
        return
    if kind == "fifo":
        os.mkfifo(out)
        reader = subprocess.Popen(["cat", out], stdout=subprocess.PIPE, text=True)
        analyze("peak", "-o", out, trace)
        assert reader.communicate(timeout=60)[0] == text and stat.S_ISFIFO(out.stat().st_mode)
        return
    other.write_text("old")
    if kind == "link":
        out.symlink_to(other)
    else:
        out.hardlink_to(other)
    analyze("peak", "-o", out, trace)
    assert other.read_text() == text and out.is_symlink() == (kind == "link")
