# SPDX-License-Identifier: Apache-2.0
"""tprof live: a program that runs, on a screen (in tmux), in lines, once as JSON, and for Prometheus. It reads what reports read."""
import json
import os
import re
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from conftest import BUILD, LAUNCHER, PYTHON, analyze, report
from test_control import asleep, wait_until

# Leaks 3,000 bytes in each step. Reads up to which step it goes on, and waits for the next number then, without an allocation.
PROGRAM = """import os, sys
sys.path.insert(0, sys.argv[1])
import tprof
kept = []
step = 0
os.mkfifo("steps")
open("ready", "w").close()
orders = os.open("steps", os.O_RDWR)
while True:
    until = int(os.read(orders, 20))
    if not until:
        os._exit(0)
    while step < until:
        with tprof.op("forward"):
            kept.append(bytearray(3000))  # the leak
        tprof.step()
        step += 1
    os.write(os.open("done", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), b"%d" % step)
"""
LINE = next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if "# the leak" in line)


def live(*arguments, status=0, **how):
    done = subprocess.run([str(LAUNCHER), "live", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=120, check=False, stdin=subprocess.DEVNULL, **how)
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr


class Program:
    """Runs to the step that it is told to, and waits there."""

    def __init__(self, tprof):
        script = tprof.directory / "leaky.py"
        script.write_text(PROGRAM)
        self.process, run = tprof.start([PYTHON, script, BUILD / "share/tprof"])
        self.directory, self.trace = run.directory, run.directory / "trace.bin"
        wait_until(self.process, (self.directory / "ready").exists)

    def order(self, number):
        with open(self.directory / "steps", "w", encoding="ascii") as orders:
            orders.write(str(number))

    def advance(self, steps):
        done = self.directory / "done"
        self.order(steps)
        wait_until(self.process, lambda: done.exists() and done.read_text() == str(steps))
        asleep(self.process)

    def end(self):
        self.order(0)
        assert self.process.wait(timeout=60) == 0


@pytest.fixture
def program(tprof):
    program = Program(tprof)
    yield program
    if program.process.poll() is None:
        program.process.kill()
        program.process.wait()


def without_times(answer):
    """What does not change while the program waits."""
    heap = {key: value for key, value in answer["heap"].items() if "time" not in key and not isinstance(value, (list, dict))}
    (leak,) = answer["answer"]["leaks"]
    return heap, leak, answer["steps"]["count"], [(op["name"], op["calls"]) for op in answer["ops"]]


def test_once(program):
    """The JSON is the summary's, and that of a trace of which the program writes nothing for now is the same."""
    program.advance(400)
    answer = json.loads(live("--once", "--json", program.process.pid))
    assert answer["schema"] == "tprof/1" and answer["live"]["running"] is True
    assert answer["live"]["live_bytes"] == answer["heap"]["end_bytes"] > 400 * 3000
    assert answer["live"]["allocations_per_second"] == 0
    assert without_times(answer) == without_times(report(program.trace))
    assert answer["answer"]["leaks"][0]["frame"]["line"] == LINE
    text = live("--once", program.trace)
    assert re.search(r"\n400 steps of ", text) and "Leaks: 1 place that grows with every step" in text
    program.end()


def test_it_follows(program):
    """A line each interval, with what the program has done by then; the last one when it ended."""
    follower = subprocess.Popen([str(LAUNCHER), "live", "--interval", "100ms", str(program.process.pid)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    seen = 0
    for steps in (100, 150, 400, 700):
        program.advance(steps)
        for line in follower.stdout:
            found = re.search(r" step ([\d,]+) of ", line)
            seen = int(found.group(1).replace(",", "")) if found else 0
            if seen == steps:
                break
    assert seen == 700 and "leak: " in line and "leaky.py" in line
    before = (program.directory / "trace.bin").stat().st_size
    program.end()
    rest = follower.stdout.readlines()
    assert follower.wait(timeout=60) == 0 and follower.stderr.read() == ""
    assert all("step 700 of" in line for line in rest) and len(rest) >= 1
    assert (program.directory / "trace.bin").stat().st_size >= before  # it is read, and nothing else


class Terminal:
    """tprof live in tmux, with a server of its own."""

    def __init__(self, directory, *arguments, term=None, size=(80, 24)):
        self.base = ["tmux", "-S", str(directory / "tmux"), "-f", "/dev/null"]
        self.ended = directory / "ended"
        command = f"{LAUNCHER} live {' '.join(map(str, arguments))}; echo status $? >{self.ended}"
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        if term:
            command = f"TERM={term} {command}"
        subprocess.run([*self.base, "new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), command], check=True, env=environment)

    def text(self):
        return subprocess.run([*self.base, "capture-pane", "-p"], check=False, stdout=subprocess.PIPE, text=True).stdout

    def press(self, *keys):
        subprocess.run([*self.base, "send-keys", *keys], check=True)

    def wait(self, pattern):
        end = time.monotonic() + 20
        while not re.search(pattern, text := self.text()):
            assert time.monotonic() < end, text
            time.sleep(0.05)
        return text

    def close(self):
        subprocess.run([*self.base, "kill-server"], check=False, stderr=subprocess.DEVNULL)


@pytest.fixture
def terminal(tmp_path):
    opened = []

    def start(*arguments, **how):
        opened.append(Terminal(tmp_path, *arguments, **how))
        return opened[0]

    yield start
    for one in opened:
        one.close()


def test_screen(program, terminal):
    program.advance(300)
    screen = terminal(program.process.pid)
    text = screen.wait(r"\n300 steps of ")
    lines = text.rstrip("\n").split("\n")
    assert len(lines) == 24 and lines[-1].startswith("overview | 1-5 view")
    assert "still running" in text and "Leaks: 1 place that grows" in text
    program.advance(500)
    screen.wait(r"\n500 steps of ")
    screen.press("2")
    text = screen.wait("What leaks")
    assert "leaky.py" in text
    screen.press("End")
    assert "What leaks" not in screen.wait("100%")
    screen.press("3")
    screen.wait(r"500 .*forward")
    screen.press("s")
    screen.wait("ops by total")
    screen.press("4")
    screen.wait(r"Threads \(1\)")
    screen.press("5")
    screen.wait(r"Memory at the peak so far *\n")
    screen.press("Enter")
    screen.wait(r"Memory at the peak so far, by stack")
    screen.press("PageDown")
    screen.wait(r"leaky\.py:\d+|\.c:\d+")
    screen.press("Enter")
    screen.wait(r"Memory at the peak so far *\n")
    screen.press("Space")
    screen.wait("memory, frozen")
    program.advance(600)
    screen.press("1")
    assert "\n500 steps of " in screen.wait("overview, frozen")
    screen.press("Space")
    screen.wait(r"\n600 steps of ")
    screen.press("q")
    wait_until(program.process, lambda: screen.ended.exists() and screen.ended.read_text())
    assert screen.ended.read_text() == "status 0\n"
    program.end()


def test_keys_that_ask_the_program(program, terminal):
    """A mark, and a search for holders, whose answer stands in the view of leaks from then on."""
    program.advance(300)
    screen = terminal(program.process.pid)
    screen.wait(r"\n300 steps of ")
    screen.press("m")
    screen.wait("mark:")
    screen.press("halfway", "Enter")
    screen.wait(r"process \d+: marked")
    screen.press("h")
    screen.wait("the search took")
    screen.press("2")
    screen.wait(r"held by __main__\.kept \(list, 300 items\)")
    screen.press("n")
    screen.wait("frames: Python's")
    program.end()
    screen.wait("leaks, ended")
    assert "halfway" in analyze("dump", program.trace).stdout


@pytest.mark.parametrize("size", [(40, 8), (200, 60)])
def test_other_sizes(program, terminal, size):
    program.advance(300)
    screen = terminal(program.process.pid, size=size)
    screen.wait("live ")
    assert len(screen.text().rstrip("\n").split("\n")) == size[1]
    screen.press("PageDown", "PageUp", "Down", "Up", "Home", "Tab")
    screen.wait("What leaks")


@pytest.mark.parametrize("term, expected", [("vt100", "overview"), ("dumb", r"live .* RSS .* step 300 of ")])
def test_terminals(program, terminal, term, expected):
    """Without colours; and one that can't move its cursor gets lines."""
    program.advance(300)
    screen = terminal(program.process.pid, term=term)
    screen.wait(expected)


# ---- metrics ----

def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def metrics_of(text):
    assert text.endswith("# EOF\n")
    samples = dict(re.findall(r"^(\w+)\{.*\} (\S+)$", text, re.M))
    assert len(re.findall("^# TYPE ", text, re.M)) == 10
    return {name: float(value) for name, value in samples.items()}


def check_metrics(text, program):
    answer = report(program.trace)
    samples = metrics_of(text)
    assert samples["tprof_live_bytes"] == answer["heap"]["end_bytes"]
    assert samples["tprof_peak_bytes"] == answer["heap"]["peak_bytes"]
    assert samples["tprof_allocations_total"] == answer["heap"]["allocations"]
    assert samples["tprof_allocated_bytes_total"] == answer["heap"]["allocated_bytes"]
    assert samples["tprof_steps_total"] == samples["tprof_op_calls_total"] == 300
    assert samples["tprof_leak_bytes_per_step"] == pytest.approx(answer["answer"]["leaks"][0]["bytes_per_step"])
    assert re.search(r'tprof_leak_bytes_per_step\{program="[^"]+",pid="\d+",place="<module> [^"]*leaky\.py:\d+"\}', text)
    assert 'op="forward"' in text


def test_metrics_in_a_file(program, tmp_path):
    program.advance(300)
    live("--once", "--openmetrics", tmp_path / "tprof.prom", program.process.pid)
    check_metrics((tmp_path / "tprof.prom").read_text(), program)


def get(port, path="/metrics"):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
        return answer.read().decode(), answer.headers["Content-Type"]


@pytest.fixture
def served(program):
    program.advance(300)
    port = free_port()
    server = subprocess.Popen([str(LAUNCHER), "live", "--openmetrics", str(port), str(program.process.pid)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True)
    server.stdout.readline()  # after the first look
    yield port
    server.kill()
    server.wait()


def test_metrics_at_a_port(program, served):
    text, kind = get(served)
    assert kind.startswith("application/openmetrics-text; version=1.0.0")
    check_metrics(text, program)
    with pytest.raises(urllib.error.HTTPError, match="404"):
        get(served, "/")
    error = live("--once", "--openmetrics", served, program.process.pid, status=2)
    assert f"--openmetrics {served}: the port can't be served: Address already in use" in error


PROMETHEUS = BUILD.parent / "prometheus/usr/bin/prometheus"


@pytest.mark.real
@pytest.mark.skipif(not PROMETHEUS.exists(), reason="the package can't be fetched")
def test_prometheus_scrapes(program, served, tmp_path):
    port = free_port()
    (tmp_path / "prometheus.yml").write_text(f"scrape_configs:\n- job_name: tprof\n  scrape_interval: 100ms\n  static_configs:\n"
                                             f"  - targets: ['127.0.0.1:{served}']\n")
    server = subprocess.Popen([PROMETHEUS, f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/data",
                               f"--web.listen-address=127.0.0.1:{port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        def found():
            try:
                text, _ = get(port, "/api/v1/query?query=tprof_leak_bytes_per_step")
            except OSError:
                return []
            return json.loads(text)["data"]["result"]
        wait_until(program.process, found)
        (one,) = found()
        assert "leaky.py" in one["metric"]["place"] and one["metric"]["job"] == "tprof"
        assert float(one["value"][1]) == pytest.approx(3000, rel=0.02)
    finally:
        server.kill()
        server.wait()


# ---- what can't be followed ----

@pytest.mark.parametrize("arguments, status, said", [
    ([], 2, "no trace is named"), (["1", "2"], 2, "live follows one process"),
    (["--interval", "5ms", "1"], 2, "--interval 5ms: a time of 100ms or more is wanted"),
    (["nothing.bin"], 3, "nothing.bin: can't be opened")])
def test_what_cannot_be_followed(arguments, status, said):
    assert said in live(*arguments, status=status)


def test_a_process_without_a_trace():
    assert f"process {os.getpid()} has no trace" in live(os.getpid(), status=3)
    assert "there is no process 99999999" in live(99999999, status=3)


def test_a_trace_of_the_past(tprof):
    """It is shown once, in lines as well."""
    run = tprof.run([Path("/bin/true")], [BUILD / "lib/libtprof.so"])
    (trace,) = run.traces()
    assert live(trace).count("\n") == 1
    assert json.loads(live("--json", trace))["live"]["running"] is False
