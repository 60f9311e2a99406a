# SPDX-License-Identifier: Apache-2.0
"""Engines for fleets, each with a folder and ports of its own, as long as a `with` block runs: a function, which gives the URL of a
new fleet of that name. None: the engine is not installed."""
import contextlib
import importlib.util
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request

CLICKHOUSE = shutil.which("clickhouse-server", path="/usr/bin:/usr/sbin")
POSTGRESQL = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"), default=None)


def _free_ports(count):
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


@contextlib.contextmanager
def _folder(owner=None):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tprof-fleet-test-"))
    if owner and os.geteuid() == 0:
        shutil.chown(folder, owner)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


USERS = """<yandex><profiles><default/></profiles><quotas><default/></quotas><users><default><password></password>
<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users></yandex>"""

SERVER = """<yandex><logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
<path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path><users_config>{folder}/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database><mark_cache_size>67108864</mark_cache_size>
<remote_servers><fleet>{shards}</fleet></remote_servers></yandex>"""

SHARD = "<shard><replica><host>127.0.0.1</host><port>{}</port></replica></shard>"


@contextlib.contextmanager
def clickhouse():
    """Two servers, the two shards of a cluster."""
    if not CLICKHOUSE:
        yield None
        return
    with _folder() as folder, contextlib.ExitStack() as running:
        ports = _free_ports(4)
        shards = "".join(SHARD.format(port) for port in ports[2:])
        for http, tcp in zip(ports, ports[2:]):
            place = folder / str(http)
            place.mkdir()
            (place / "users.xml").write_text(USERS)
            (place / "config.xml").write_text(SERVER.format(folder=place, http=http, tcp=tcp, shards=shards))
            out = running.enter_context(open(place / "out", "wb"))
            process = subprocess.Popen([CLICKHOUSE, f"--config-file={place}/config.xml"], cwd=place, stdout=out, stderr=out)
            running.callback(_end, process)
        for http in ports[:2]:
            _wait(f"http://127.0.0.1:{http}/ping", folder / str(http) / "out")
        yield lambda name: f"clickhouse://127.0.0.1:{ports[0]},127.0.0.1:{ports[1]}/{name}?cluster=fleet"


def _end(process):
    """At once: a server that is told to end waits for its connections, and its data goes anyway."""
    process.kill()
    process.wait()


def _wait(url, out):
    for _ in range(600):
        with contextlib.suppress(OSError), urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=5):
            return
        time.sleep(0.1)
    raise AssertionError(f"no answer from {url}: {out.read_text(errors='replace')[-2000:]}")


@contextlib.contextmanager
def postgresql():
    """A cluster of databases."""
    if not POSTGRESQL or not importlib.util.find_spec("psycopg2"):
        yield None
        return
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    with _folder("postgres") as folder:
        port, data, control = _free_ports(1)[0], folder / "data", [*user, POSTGRESQL.parent / "pg_ctl", "-D", folder / "data"]
        quiet = {"cwd": folder, "check": True, "stdout": subprocess.DEVNULL}
        subprocess.run([*user, POSTGRESQL, "-D", data, "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "--locale=C.UTF-8"], **quiet)
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off -c max_wal_size=4GB"
        subprocess.run([*control, "-o", options, "-l", folder / "log", "-w", "start"], **quiet)

        def place(name):
            subprocess.run([POSTGRESQL.parent / "createdb", "-h", "127.0.0.1", "-p", str(port), "-U", "postgres", name], **quiet)
            return f"postgresql://postgres@127.0.0.1:{port}/{name}"

        try:
            yield place
        finally:
            subprocess.run([*control, "-m", "immediate", "-w", "stop"], **quiet)


@contextlib.contextmanager
def sqlite():
    with _folder() as folder:
        yield lambda name: f"sqlite:{folder}/{name}.db"


ENGINES = {"sqlite": sqlite, "postgresql": postgresql, "clickhouse": clickhouse}
