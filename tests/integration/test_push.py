# SPDX-License-Identifier: Apache-2.0
"""tprof run --push: a server that checks what Pyroscope's POST /ingest asks gets the whole run in parts, whatever it answers."""
import collections
import email.parser
import email.policy
import gzip
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
import urllib.parse

import pytest
from conftest import LAUNCHER, LIBRARY, PYTHON, analyze, report, sites
from exported import messages

pytestmark = pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")

MEMORY = [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")]
CPU = [("samples", "count"), ("cpu", "nanoseconds")]


class Profile:
    """What one request held."""

    def __init__(self, handler, kind):
        url = urllib.parse.urlsplit(handler.path)
        query = urllib.parse.parse_qs(url.query, strict_parsing=True)
        assert url.path == handler.server.path and query["format"] == ["pprof"]
        self.name, = query["name"]
        assert re.fullmatch(r"[^{}]+\{([a-z]+=[^,{}]+,?)*\}", self.name)
        self.start, self.until = int(query["from"][0]), int(query["until"][0])
        assert 1_000_000_000 < self.start <= self.until < self.start + 1000
        content = handler.headers["Content-Type"]
        assert content.startswith("multipart/form-data; boundary=")
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        form = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(f"Content-Type: {content}\r\n\r\n".encode() + body)
        parts = {part.get_param("name", header="content-disposition"): part for part in form.iter_parts()}
        assert set(parts) == {"profile", "sample_type_config"}
        assert all(part.get_filename() for part in parts.values())  # fields that are files
        self.bytes = parts["profile"].get_payload(decode=True)
        self.types = json.loads(parts["sample_type_config"].get_payload(decode=True))
        self.message = kind()
        self.message.ParseFromString(gzip.decompress(self.bytes))
        self.check()

    def check(self):
        text, message = self.message.string_table, self.message
        assert text[0] == ""
        self.values = [(text[kind.type], text[kind.unit]) for kind in message.sample_type]
        assert self.values in (MEMORY, CPU)
        for name, _ in self.values:
            config = self.types[name]
            assert config["units"] in ("samples", "objects", "bytes") and isinstance(config["sampled"], bool)
            assert config["aggregation"] == ("average" if name.startswith("inuse") else "sum") and config["display-name"]
        locations = {location.id for location in message.location}
        functions = {function.id for function in message.function}
        assert message.sample and message.time_nanos and message.period > 0
        assert all(line.function_id in functions for location in message.location for line in location.line)
        for sample in message.sample:
            assert sample.location_id and set(sample.location_id) <= locations
            assert len(sample.value) == len(self.values) and min(sample.value) >= 0 and any(sample.value)

    def sums(self):
        return {name: sum(sample.value[i] for sample in self.message.sample) for i, (name, _) in enumerate(self.values)}


class Server(http.server.ThreadingHTTPServer):
    """Answers as `answers` says, one after the other, then with 200. An answer: a status, with headers; "hang"; "close"."""
    daemon_threads = True

    def __init__(self, directory, answers=(), path="/ingest", address=("127.0.0.1", 0)):
        super().__init__(address, Handler)
        self.kind, self.path = messages("pprof", directory).Profile, path
        self.answers, self.profiles, self.errors, self.seen, self.headers = list(answers), [], [], 0, []
        self.over = threading.Event()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request, client_address):
        pass  # a client that went away

    def close(self):
        self.over.set()
        threading.Thread(target=self.shutdown, daemon=True).start()
        self.server_close()
        assert not self.errors, self.errors

    def total(self):
        """The sums of all profiles, of what is live those of the last one."""
        sums = collections.Counter()
        for profile in self.profiles:
            for name, value in profile.sums().items():
                sums[name] = value if name.startswith("inuse") else sums[name] + value
        return sums


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        server = self.server
        server.seen += 1
        server.headers.append(self.headers)
        try:
            profile = Profile(self, server.kind)
        except Exception as error:  # as a server would answer; the test fails by it
            server.errors.append(repr(error))
            self.send_error(400)
            return
        answer = server.answers.pop(0) if server.answers else 200
        if answer == "hang":
            server.over.wait(60)
            return
        if answer == "close":
            self.close_connection = True
            return
        status, headers = answer if isinstance(answer, tuple) else (answer, {})
        if status == 200:
            server.profiles.append(profile)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()


@pytest.fixture
def serve(tmp_path):
    servers = []

    def start(*arguments, **named):
        servers.append(Server(tmp_path, *arguments, **named))
        return servers[-1]
    yield start
    for server in servers:
        server.close()


PROGRAM = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void *kept[1 << 20];
__attribute__((noinline)) static void *keep(size_t size) { return malloc(size); }
__attribute__((noinline)) static void spend(size_t size) { void *volatile block = malloc(size); free(block); }
int main(int argc, char **argv)
{
	long rounds = atol(argv[1]), wait = atol(argv[2]);
	int status = argc > 3 ? atoi(argv[3]) : 0;

	for (long i = 0; i < rounds; i++) {
		kept[i] = keep(100 + (size_t)i % 50);
		for (int k = 0; k < 20; k++)
			spend(1000);
		if (i % 100 == 0)
			usleep((useconds_t)wait);
	}
	for (volatile long i = 0; i < 100000000; i++)
		;
	if (status < 0)
		raise(-status);
	return status;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    (folder / "service.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-g", "-O1", "-o", folder / "service", folder / "service.c"], check=True)
    return folder / "service"


def push(server, command, tmp_path, *options, every="100ms", status=0, environment=None):
    """What the launcher printed on stderr."""
    url = server if isinstance(server, str) else server.url
    done = subprocess.run([LAUNCHER, "run", "-q", "-o", tmp_path / "trace.bin", "--push", url, "--every", every, *options, "--",
                           *map(str, command)], capture_output=True, text=True, check=False, timeout=110,
                          env={**os.environ, **(environment or {})})
    assert done.returncode == status, done.stderr
    return done.stderr


def whole(tmp_path):
    """The run's own figures, as the server would add them up."""
    found = report(tmp_path / "trace.bin")
    heap = found["heap"]
    return {"alloc_objects": heap["allocations"], "alloc_space": heap["allocated_bytes"], "inuse_objects": heap["end_blocks"],
            "inuse_space": heap["end_bytes"], "samples": found["capture"]["cpu_samples"], "cpu": found["capture"]["cpu_ns"]}


def equal(server, tmp_path):
    total, own = server.total(), whole(tmp_path)
    assert {name: total[name] for name in own if name not in ("cpu", "samples")} == {
        name: own[name] for name in own if name not in ("cpu", "samples")}
    assert abs(total["cpu"] - own["cpu"]) <= own["cpu"] * 1e-6 + 100
    return own


# ---- what is sent ----

def test_the_parts_are_the_whole(serve, program, tmp_path):
    """The sum of all profiles is what the report of the trace says; each interval begins where the last one ended."""
    server = serve()
    err = push(server, [program, 3000, 30000], tmp_path)
    own = equal(server, tmp_path)
    assert own["alloc_objects"] >= 63000 and own["cpu"] > 0
    memory = [p for p in server.profiles if p.values == MEMORY]
    assert len(memory) > 3 and f"{len(server.profiles)} profiles pushed to {server.url}" in err and "dropped" not in err
    for one, other in zip(memory, memory[1:]):
        assert other.message.time_nanos == one.message.time_nanos + one.message.duration_nanos
    text = memory[0].message.string_table
    assert {"keep", "spend", "main"} <= set(text) and any(name.endswith("service.c") for name in text)
    pid = report(tmp_path / "trace.bin")["process"]["pid"]
    assert {p.name for p in server.profiles} == {f"service{{pid={pid},host={os.uname().nodename}}}"}


def test_of_python_and_its_ops(serve, tmp_path):
    server = serve()
    (tmp_path / "train.py").write_text("import time\ndef forward():\n    return [bytes(1000) for _ in range(1000)]\nkeep = []\n"
                                       "for i in range(40):\n    keep.append(forward())\n    time.sleep(0.02)\n")
    push(server, [PYTHON, tmp_path / "train.py"], tmp_path)
    equal(server, tmp_path)
    assert any("forward" in p.message.string_table for p in server.profiles)


def test_of_samples(serve, program, tmp_path):
    """Estimates add up, too; the profile says that they are."""
    server = serve()
    push(server, [program, 3000, 20000], tmp_path, "--alloc", "sample:4096")
    total, trace = server.total(), tmp_path / "trace.bin"
    allocated, live = sites(trace, "hotspots", "--by", "stack"), sites(trace, "leaks", "--by", "stack")  # rounded by stack
    assert total["alloc_objects"] == sum(site["allocations"] for site in allocated) > 50000
    assert total["alloc_space"] == sum(site["bytes"] for site in allocated)
    assert total["inuse_objects"] == sum(site["blocks"] for site in live) and total["inuse_space"] == sum(site["bytes"] for site in live)
    memory = [p for p in server.profiles if p.values == MEMORY]
    assert all("allocations were sampled: bytes and blocks are estimates" in p.message.string_table for p in memory)


def test_of_a_ring(serve, program, tmp_path):
    """Totals come from the state, so events that were given up meanwhile are in them."""
    server = serve()
    push(server, [program, 60000, 2000], tmp_path, "--ring", "4M", environment={"TPROF_RING_WAIT": "60000"})
    own = equal(server, tmp_path)
    assert own["alloc_objects"] >= 60000 * 21
    assert int.from_bytes((tmp_path / "trace.bin").read_bytes()[1672:1680], "little") > 0  # there is a checkpoint


def test_a_process_that_runs(serve, program, tmp_path):
    """push PID, as of a program that tprof attach records."""
    server = serve()
    process = subprocess.Popen([program, "3000", "30000"], env={**os.environ, "LD_PRELOAD": str(LIBRARY),
                                                                 "TPROF_OUTPUT": str(tmp_path / "trace.bin")})
    try:
        while not (tmp_path / "trace.bin").exists():
            time.sleep(0.01)
        done = analyze("push", "--url", server.url, "--every", "0.2", process.pid)
    finally:
        process.wait()
    assert "pushed" in done.stderr
    equal(server, tmp_path)


WORKERS = """import os, subprocess, sys, time
def work(size):
    kept = []
    for step in range(20):
        kept.append([bytearray(size) for _ in range(50)])
        time.sleep(0.02)
    return kept
def serve(number):
    mine = work(1000 * number)
    if number == 2:
        subprocess.run([sys.executable, __file__, "again"], check=True)
    os._exit(0)
if sys.argv[1:] == ["again"]:
    work(7000)
else:
    for number in (1, 2, 3):
        if os.fork() == 0:
            serve(number)
    for number in (1, 2, 3):
        os.wait()
    os.execv(sys.executable, [sys.executable, __file__, "again"])
"""


def test_of_workers(serve, tmp_path):
    """What the program starts is followed, and what these start; each has its own name. An exec does not end it."""
    server = serve()
    (tmp_path / "serve.py").write_text(WORKERS)
    err = push(server, [PYTHON, tmp_path / "serve.py"], tmp_path)
    reports = [report(trace) for trace in tmp_path.glob("trace*.bin")]
    images = collections.Counter(one["process"]["pid"] for one in reports)
    assert len(images) == 5 and len(reports) >= 6 and "dropped" not in err
    whole, told, live = collections.Counter(), collections.Counter(), {}
    for one in reports:
        if one["heap"]["allocations"]:
            whole[one["process"]["pid"], "alloc_objects"] += one["heap"]["allocations"]
            whole[one["process"]["pid"], "alloc_space"] += one["heap"]["allocated_bytes"]
    for profile in server.profiles:
        pid = int(re.search(r"\{pid=(\d+),", profile.name).group(1))
        for name, value in profile.sums().items():
            if name.startswith("alloc"):
                told[pid, name] += value
            elif name.startswith("inuse"):
                live[pid, name] = value
    assert told == whole
    for one in reports:
        if images[one["process"]["pid"]] == 1:
            assert live[one["process"]["pid"], "inuse_space"] == one["heap"]["end_bytes"]


# ---- servers ----

@pytest.mark.parametrize("answers", [[500, 500], [(429, {"Retry-After": "1"})], ["close", 503], [408, 502]])
def test_it_is_tried_again(serve, program, tmp_path, answers):
    """Nothing is lost, and nothing is counted twice."""
    server = serve(answers)
    err = push(server, [program, 3000, 30000], tmp_path)
    assert server.answers == [] and "dropped" not in err
    equal(server, tmp_path)


def test_a_server_that_is_down_at_first(serve, program, tmp_path):
    first = serve()
    address = first.server_address
    first.shutdown()
    first.server_close()
    done = {}
    thread = threading.Thread(target=lambda: done.update(err=push(first.url, [program, 3000, 60000], tmp_path)))
    thread.start()
    time.sleep(0.5)
    server = serve(address=address)
    thread.join()
    assert "pushed" in done["err"] and "dropped" not in done["err"]
    equal(server, tmp_path)


def test_a_server_that_stays_down(program, tmp_path):
    """The program's status is kept, the wait is bounded, and what was not taken is counted."""
    began = time.monotonic()
    err = push("http://127.0.0.1:9", [program, 300, 1000, 7], tmp_path, status=7)
    assert time.monotonic() - began < 60
    assert re.search(r"0 profiles pushed to http://127.0.0.1:9; \d+ dropped.*\(last: curl: \(7\)", err), err


def test_a_server_that_hangs(serve, program, tmp_path):
    """Intervals go on; the program and the launcher do not wait for it without end."""
    server = serve(["hang"] * 1000)
    err = push(server, [program, 300, 1000], tmp_path)
    assert re.search(r"0 profiles pushed.*; [1-9]\d* dropped", err)


def test_a_server_that_refuses(serve, program, tmp_path):
    """It is not asked again with the same profile."""
    server = serve([400, 400])
    err = push(server, [program, 3000, 30000], tmp_path)
    assert "; 2 refused (last: the server answered 400)" in err
    assert server.seen == len(server.profiles) + 2


# ---- the program ----

@pytest.mark.parametrize("status, expected", [(3, 3), (-signal.SIGTERM, 143), (-signal.SIGKILL, 137)])
def test_status(serve, program, tmp_path, status, expected):
    server = serve()
    push(server, [program, 500, 1000, status], tmp_path, status=expected)
    equal(server, tmp_path)


def test_it_is_beside_the_program(serve, tmp_path):
    """No thread, no socket, no child of the program is of the client's; the client is not preloaded."""
    server = serve()
    (tmp_path / "look.py").write_text(
        "import os, time\ntime.sleep(1)\nprint(len(os.listdir('/proc/self/task')), [os.readlink('/proc/self/fd/' + f) for f in"
        " os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + f)], open(f'/proc/self/task/{os.getpid()}/children').read())\n")
    done = subprocess.run([LAUNCHER, "run", "-q", "-o", tmp_path / "trace.bin", "--push", server.url, "--every", "100ms", "--", PYTHON,
                           tmp_path / "look.py"], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.startswith("1 ") and "socket" not in done.stdout and done.stdout.rstrip().endswith("]")
    assert sorted(path.name for path in tmp_path.glob("trace*")) == ["trace.bin"]


def test_a_header_and_a_name_of_ones_own(serve, program, tmp_path):
    """TPROF_PUSH_HEADER goes with each request, and is on no command line; a name in the URL is kept, and a path."""
    server = serve(path="/pyroscope/ingest")
    url = f"{server.url}/pyroscope/ingest?name=" + urllib.parse.quote("shop{env=prod}")
    push(url, [program, 500, 1000], tmp_path, environment={"TPROF_PUSH_HEADER": 'X-Scope-OrgID: "a\\b'})
    assert server.profiles and {p.name for p in server.profiles} == {"shop{env=prod}"}
    assert {headers["X-Scope-OrgID"] for headers in server.headers} == {'"a\\b'}


def test_wrong_words(tmp_path, program):
    def refused(*words):
        done = subprocess.run([LAUNCHER, "run", *words, "--", program, "1", "1"], capture_output=True, text=True, check=False,
                              cwd=tmp_path)
        assert done.returncode == 2 and not list(tmp_path.iterdir())
        return done.stderr
    assert "tprof: --push ftp://x: an address is wanted" in refused("--push", "ftp://x")
    assert "tprof: --every soon: a time of 100ms or more is wanted" in refused("--push=http://x", "--every=soon")
    assert "tprof: --every is of --push URL" in refused("--every", "10s")
    assert "--push follows one trace" in refused("--push", "http://x", "-o", "t.%p.bin")
    assert "option --push needs a value" in subprocess.run([LAUNCHER, "run", "--push"], capture_output=True, text=True, check=False).stderr
    assert "push follows one process" in analyze("push", "--url", "http://x", "a", "b", status=2).stderr
