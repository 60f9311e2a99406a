# SPDX-License-Identifier: Apache-2.0
"""tprof attach on programs that people run, under load, at random moments. Each answers as before, to the end.

ATTACHES: how often each program is attached to (make check-attach: 200)."""
import contextlib
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import pytest
from conftest import BUILD, LAUNCHER, PYTHON, need_ptrace, report

pytestmark = pytest.mark.real
ATTACHES = int(os.environ.get("ATTACHES", "6"))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(600):
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=5).close()
        except OSError:
            time.sleep(0.05)
    raise TimeoutError(f"nothing listens on port {port}")


class Load:
    """Calls `ask` again and again in a thread, until the end; it raises if an answer is wrong."""

    def __init__(self, ask):
        self.ask, self.asked, self.error, self.over = ask, 0, None, False
        self.thread = threading.Thread(target=self.run)

    def run(self):
        try:
            while not self.over:
                self.ask()
                self.asked += 1
        except Exception as error:  # pylint: disable=broad-exception-caught
            self.error = error

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.thread.join()


def files_of(pid):
    """Of the kinds that libtprof.so opens; the program's own come and go with the load."""
    links = []
    for name in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            links.append(os.readlink(f"/proc/{pid}/fd/{name}"))
    return sorted(link for link in links if link.startswith("/proc/") or "/t.bin" in link)


def hammer(pid, directory):
    """Returns the summaries' numbers of allocations, one for each attachment."""
    chance, allocations = random.Random(7), []
    files = files_of(pid)
    for _ in range(ATTACHES):
        for words in (["attach", "-o", directory / "t.bin", pid], ["detach", pid]):
            time.sleep(chance.random() / 30)
            done = subprocess.run([LAUNCHER, *map(str, words)], cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, timeout=60, check=False)
            assert done.returncode == 0, done.stdout
        summary = report(directory / "t.bin")
        assert summary["process"]["end"] == "detached" and not summary["capture"]["lost_events"]
        allocations.append(summary["heap"]["allocations"])
    assert files_of(pid) == files
    return allocations


@pytest.fixture
def begin(tmp_path):
    """Starts a program in a folder that any user may write to, and ends it."""
    need_ptrace()
    started = []

    def run(*command, **options):
        started.append(subprocess.Popen([*map(str, command)], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        **options))
        return started[-1]

    for folder in (tmp_path, *tmp_path.parents[:3]):
        if os.stat(folder).st_uid == os.geteuid() and folder != folder.parent:
            folder.chmod(0o777)
    yield run
    for process in started:
        process.terminate()  # which ends its workers, too
        process.wait(timeout=60)


def need(program):
    return shutil.which(program) or pytest.skip(f"{program} is not installed")


def get(url, expected):
    with urllib.request.urlopen(url, timeout=30) as answer:
        assert answer.read() == expected


NODE = """
const kept = [];
require("http").createServer((request, response) => {
    kept.push(Buffer.alloc(100));
    response.end(JSON.stringify({ list: [1, 2, 3], text: "x".repeat(200) }));
}).listen(Number(process.argv[2]), "127.0.0.1");
"""


def test_node(begin, tmp_path):
    (tmp_path / "server.js").write_text(NODE)
    port = free_port()
    process = begin(need("node"), "server.js", port)
    wait_for(port)
    expected = b'{"list":[1,2,3],"text":"' + b"x" * 200 + b'"}'
    with Load(lambda: get(f"http://127.0.0.1:{port}/", expected)) as load:
        hammer(process.pid, tmp_path)
    assert load.asked > 0 and not load.error and process.poll() is None, load.error


def test_redis(begin, tmp_path):
    port = free_port()
    # The server is the program that checks files of redis, under another name; so its package starts no service.
    process = begin("redis-server", "--port", port, "--save", "", "--dir", tmp_path, executable=need("redis-check-rdb"))
    wait_for(port)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        answers, numbers = connection.makefile("rb"), iter(range(sys.maxsize))

        def ask():
            number = b"%d" % next(numbers)
            connection.sendall(b"SET k%b v%b\r\nGET k%b\r\nRPUSH list %b\r\n" % (number, number, number, number))
            assert answers.readline() == b"+OK\r\n"
            assert answers.readline() == b"$%d\r\n" % (len(number) + 1) and answers.readline() == b"v" + number + b"\r\n"
            assert answers.readline() == b":%d\r\n" % (int(number) + 1)

        with Load(ask) as load:
            allocations = hammer(process.pid, tmp_path)
    assert load.asked > 0 and not load.error and process.poll() is None, load.error
    assert all(allocations)


NGINX = """
daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/errors;
events {{ worker_connections 64; }}
http {{ access_log off; server {{ listen 127.0.0.1:{port}; location / {{ return 200 "hello"; }} }} }}
"""


def test_nginx(begin, tmp_path):
    port = free_port()
    (tmp_path / "nginx.conf").write_text(NGINX.format(folder=tmp_path, port=port))
    process = begin(need(BUILD.parent / "nginx/usr/sbin/nginx"), "-c", tmp_path / "nginx.conf", "-p", tmp_path)
    wait_for(port)
    worker = int(subprocess.run(["pgrep", "-P", str(process.pid)], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[0])
    with Load(lambda: get(f"http://127.0.0.1:{port}/", b"hello")) as load:
        hammer(worker, tmp_path)
    assert load.asked > 0 and not load.error and process.poll() is None, load.error
    assert "exited" not in (tmp_path / "errors").read_text()


def test_postgres(begin, tmp_path):
    folders = sorted(map(str, pathlib.Path("/usr/lib/postgresql").glob("*/bin")))
    if not folders:
        pytest.skip("PostgreSQL is not installed")
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    data = tmp_path / "data"
    subprocess.run([*user, f"{folders[-1]}/initdb", "-A", "trust", "-D", data], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL,
                   timeout=120)
    port = free_port()
    process = begin(*user, f"{folders[-1]}/postgres", "-D", data, "-p", port, "-k", tmp_path)
    wait_for(port)
    session = subprocess.Popen([*user, f"{folders[-1]}/psql", "-qtA", "-h", tmp_path, "-p", str(port), "postgres"], cwd=tmp_path,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def ask():
        session.stdin.write("select sum(n) from (select generate_series(1, 2000) n order by random()) s;\n")
        assert session.stdout.readline() == "2001000\n"

    session.stdin.write("select pg_backend_pid();\n")
    backend = int(session.stdout.readline())
    with Load(ask) as load:
        allocations = hammer(backend, tmp_path)
    session.stdin.close()
    assert session.wait(timeout=30) == 0 and load.asked > 0 and not load.error and process.poll() is None, load.error
    assert sum(allocations) > 0


TORCH = """
import sys, torch
torch.manual_seed(1)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(50, 80), torch.nn.ReLU(), torch.nn.Linear(80, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(64, 50), torch.randint(0, 10, (64,))
for n in range(10 ** 9):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    if n % 1000 == 0:
        print(repr(loss.item()), flush=True)
"""


def test_torch(tmp_path):
    """The losses are those of a run that nobody looked at."""
    need_ptrace()
    pytest.importorskip("torch")
    with subprocess.Popen([PYTHON, "-c", TORCH], stdout=subprocess.PIPE, text=True) as process:
        losses = [process.stdout.readline()]
        hammer(process.pid, tmp_path)
        losses += [process.stdout.readline() for _ in range(2)]
        process.kill()
    with subprocess.Popen([PYTHON, "-c", TORCH], stdout=subprocess.PIPE, text=True) as bare:
        assert losses == [bare.stdout.readline() for _ in losses]
        bare.kill()
    assert re.match(r"0\.|2\.", losses[0])
