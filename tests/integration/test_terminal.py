# SPDX-License-Identifier: Apache-2.0
"""Reports on a terminal: their width, and the pager between them and it."""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import time

import pytest
from conftest import ANALYZE, LIBRARY, ROOT, WORKLOADS, analyze

LESS = shutil.which("less")
STTY = shutil.which("stty")


class Terminal:
    """A program on a pseudo terminal of its own."""

    def __init__(self, command, columns=100, rows=20, **environment):
        kept = {name: value for name, value in os.environ.items()
                if name not in ("PAGER", "TPROF_PAGER", "LESS", "NO_COLOR", "COLUMNS", "LINES")}
        self.shown = b""
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            os.execve(str(command[0]), [str(word) for word in command],
                      {**kept, "TERM": "xterm", "LC_ALL": "C.UTF-8", **environment})
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, until=None, again=None, timeout=60):
        """All that is shown until the program ends, or until this text; types `again` now and then."""
        end = time.monotonic() + timeout
        while until is None or until not in self.shown:
            assert time.monotonic() < end, self.shown
            if not select.select([self.end], [], [], 0.5)[0]:
                if again:
                    os.write(self.end, again)
                continue
            try:
                more = os.read(self.end, 65536)
            except OSError:  # no program has the terminal any more
                more = b""
            if not more:
                break
            self.shown += more
        return self.shown.replace(b"\r\n", b"\n").decode()

    def status(self):
        os.close(self.end)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def shown(*words, columns=100, **environment):
    """What a report shows on a terminal whose size is known from the begin, and its exit status."""
    terminal = Terminal(["/bin/sh", "-c", f'{STTY} cols {columns} rows 20; exec "$@"', "sh", ANALYZE, *words], **environment)
    text = terminal.read()
    return text, terminal.status()


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    directory = tmp_path_factory.mktemp("terminal")
    subprocess.run([WORKLOADS / "growth", "spread", "300", "1"], cwd=directory, check=True, stdout=subprocess.DEVNULL,
                   env={"LD_PRELOAD": str(LIBRARY), "PATH": os.environ["PATH"]})
    return directory / "trace.bin"


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*[mK]|\x1b\[\?1[hl]|\x1b[=>]|\r", "", text)


def test_width(trace):
    """--width is what COLUMNS says; it stands over the terminal's, and what is out of bounds is refused."""
    for command in ("summary", "peak", "leaks", "info"):
        for columns in (60, 80, 200):
            told = analyze(command, "--width", columns, trace).stdout
            assert told == subprocess.run([ANALYZE, command, trace], capture_output=True, text=True, check=True,
                                          env={**os.environ, "COLUMNS": str(columns)}).stdout
    narrow, wide = (analyze("timeline", "--width", columns, trace).stdout for columns in (60, 200))
    narrow, wide = (len(re.search("^ *0 B .*$", plot, re.M).group(0)) for plot in (narrow, wide))
    assert 50 < narrow <= 60 and 190 < wide <= 200
    assert plain(shown("timeline", trace, columns=130, TPROF_PAGER="")[0]) != \
        plain(shown("timeline", "--width", 70, trace, columns=130, TPROF_PAGER="")[0]) == \
        plain(shown("timeline", trace, columns=70, TPROF_PAGER="")[0])
    for wrong in ("59", "1001", "0", "-1", "wide", ""):
        assert "from 60 to 1000" in analyze("peak", f"--width={wrong}", trace, status=2).stderr


def test_pager_is_for_terminals(trace, tmp_path):
    """Elsewhere, and where it is not wanted, the report is printed as it is."""
    expected = analyze("peak", trace).stdout
    named = {**os.environ, "TPROF_PAGER": "echo paged; cat", "PAGER": "echo paged; cat"}
    assert subprocess.run([ANALYZE, "peak", trace], capture_output=True, text=True, check=True, env=named).stdout == expected
    without, status = shown("peak", trace, columns=120, TPROF_PAGER="", PAGER="echo paged; cat")
    assert status == 0 and "\x1b[" in without
    for words, environment in ((["--no-pager"], {"TPROF_PAGER": "echo paged; cat"}), ([], {"TPROF_PAGER": "cat"}),
                               ([], {"PAGER": "cat"}), ([], {"PAGER": ""}), ([], {"PATH": str(tmp_path)})):
        assert shown("peak", *words, trace, columns=120, **environment) == (without, 0)
    assert shown("peak", "-o", tmp_path / "report", trace, TPROF_PAGER="echo paged; cat") == ("", 0)
    # Of check the exit status counts, whether or not somebody reads to the end.
    text, status = shown("check", "--max-peak", 1, trace, TPROF_PAGER="echo paged; exit 0")
    assert status == 1 and "paged" not in text


def test_pager(trace):
    """It gets what the terminal would get: as wide, in the same colours."""
    without = shown("summary", trace, columns=90, TPROF_PAGER="")[0]
    assert "\x1b[1m" in without
    for environment in ({"TPROF_PAGER": "sed s/^/:/"}, {"PAGER": "sed s/^/:/"}, {"TPROF_PAGER": "sed s/^/:/", "PAGER": "false"}):
        text, status = shown("summary", trace, columns=90, **environment)
        assert status == 0 and text == "".join(f":{line}\n" for line in without.splitlines())
    text, status = shown("summary", trace, columns=90, TPROF_PAGER="sed s/^/:/", NO_COLOR="1")
    assert status == 0 and text == "".join(f":{line}\n" for line in plain(without).splitlines())
    assert shown("ops", "--json", trace, TPROF_PAGER="grep -c .")[0].strip().isdigit()
    assert shown("summary", trace, PAGER="printf %s. $LESS")[0] == "FRX."
    assert shown("summary", trace, PAGER="printf %s. $LESS", LESS="S")[0] == "S."


def test_whoever_leaves_the_pager_has_read_enough(trace):
    """The report is longer than a pipe holds."""
    assert len(analyze("dump", trace).stdout) > 1 << 20
    text, status = shown("dump", trace, TPROF_PAGER="head -n 3")
    assert (len(text.splitlines()), status) == (3, 0)
    assert shown("dump", trace, TPROF_PAGER="exit 5") == ("", 0)


def test_pager_that_is_not_there(trace):
    """The shell says so."""
    for command in ("summary", "dump"):
        text, status = shown(command, trace, TPROF_PAGER="/none/pager")
        assert status == 2 and text.count("\n") == 1 and "/none/pager" in text


def test_a_trace_that_cannot_be_read(trace, tmp_path):
    """The message and the status are those without a pager."""
    (tmp_path / "bad.bin").write_bytes(b"T")
    assert shown("peak", tmp_path / "bad.bin", TPROF_PAGER="cat; true") == shown("peak", "--no-pager", tmp_path / "bad.bin")
    assert shown("peak", tmp_path / "bad.bin", TPROF_PAGER="cat; true")[1] == 3


@pytest.mark.skipif(not LESS, reason="less is not installed")
def test_less(trace):
    """A long report stops at the end of the screen, and `q` ends it; a short one needs no key."""
    terminal = Terminal(["/bin/sh", "-c", f'{STTY} cols 80 rows 10; exec "$@"', "sh", ANALYZE, "dump", trace])
    terminal.read(until=b":\x1b[K")
    os.write(terminal.end, b"q")
    assert len(terminal.read().splitlines()) < 100 and terminal.status() == 0
    text, status = shown("check", "--max-peak", "1GiB", trace)
    assert status == 0 and text
    terminal = Terminal(["/bin/sh", "-c", f'{STTY} cols 200 rows 500; exec "$@"', "sh", ANALYZE, "info", trace])
    text = terminal.read()
    assert terminal.status() == 0
    assert [line.rstrip() for line in plain(text).splitlines()] == analyze("info", "--width", 200, trace).stdout.splitlines()


@pytest.mark.skipif(not LESS, reason="less is not installed")
def test_interrupt(trace):
    """Ctrl-C ends the report; the pager, which has the terminal, goes on until it is left."""
    terminal = Terminal(["/bin/sh", "-c", f'{STTY} cols 80 rows 10; exec "$@"', "sh", ANALYZE, "dump", trace])
    terminal.read(until=b":\x1b[K")
    os.write(terminal.end, b"\x03")
    terminal.read(again=b"q")
    assert terminal.status() in (-signal.SIGINT, 128 + signal.SIGINT, 0)


# ---- bars and curves ----

BLOCKS = "▏▎▍▌▋▊▉█"


def eighths(bar):
    return sum(BLOCKS.index(block) + 1 for block in bar)


def test_bars(trace):
    """Beside each share one as long as it, of eight columns; nowhere but on a terminal that has room for it."""
    for words in (["peak"], ["summary"], ["peak", "--by", "line"], ["leaks", "--by", "size"]):
        text = plain(shown(*words, trace, columns=130, TPROF_PAGER="cat")[0])
        shares = re.findall(rf" ([\d.]+)% (?: +[\d,]+ )? ([{BLOCKS}]+) ", text)
        assert shares, text
        for share, bar in shares:
            assert abs(eighths(bar) - float(share) * 64 / 100) <= 0.5 + 0.05 * 64 / 100, (share, bar)
        in_ascii = plain(shown(*words, trace, columns=130, TPROF_PAGER="cat", LC_ALL="C")[0])
        found = re.findall(r" ([\d.]+)% (?: +[\d,]+ )? (#+) ", in_ascii)
        assert [share for share, _ in found] == [share for share, _ in shares if float(share) >= 6.25] and in_ascii.isascii()
        for share, bar in found:
            assert abs(len(bar) - float(share) * 8 / 100) <= 0.51, (share, bar)
        for other in (analyze(*words, trace).stdout, analyze(*words, "--json", trace).stdout,
                      shown(*words, "--format", "markdown", trace, columns=130, TPROF_PAGER="cat")[0],
                      plain(shown(*words, trace, columns=79, TPROF_PAGER="cat")[0])):
            assert not re.search(f"[{BLOCKS}]", other)


def test_curve_of_a_leak(tprof):
    """It rises to what is there at the end."""
    trace = tprof.run([WORKLOADS / "digits", ROOT / "tests/workloads/data/digits.csv"], [LIBRARY]).traces()[0]
    for command in ("summary", "leaks"):
        text = plain(shown(command, trace, columns=130, TPROF_PAGER="cat")[0])
        (curve, *_) = re.findall("[▁▂▃▄▅▆▇█]{8}", text)
        assert sorted(curve) == list(curve) and curve[0] < "▄" and curve[-1] == "█"
        text = plain(shown(command, trace, columns=130, TPROF_PAGER="cat", LC_ALL="C")[0])
        (in_ascii, *_) = re.findall("  ([_.:=+*#-]{8})  ", text)
        assert [("▁▂▃▄▅▆▇█".index(level)) for level in curve] == ["_.:-=+*#".index(level) for level in in_ascii]
