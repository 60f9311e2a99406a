# SPDX-License-Identifier: Apache-2.0
"""Hosts made of namespaces: each has a name and a network of its own, and an Ethernet between them."""
import contextlib
import os
import shutil
import signal
import subprocess

NETWORK = "10.77.31"


def refused():
    """Why there can be no such hosts; None if there can."""
    for tool in ("ip", "nsenter", "unshare"):
        if not shutil.which(tool):
            return f"{tool} is not installed"
    tried = subprocess.run(["unshare", "--uts", "--net", "sh", "-c", "hostname elsewhere && ip link add name one type veth peer name two"],
                           capture_output=True, text=True, check=False)
    return tried.stderr.strip() or "namespaces are not permitted" if tried.returncode else None


def _run(*command):
    subprocess.run([str(word) for word in command], check=True, capture_output=True)


def enter(pid):
    """The beginning of a command line that is to run on the host."""
    return ["nsenter", "-t", str(pid), "--uts", "--net"]


@contextlib.contextmanager
def hosts(count):
    """A list of (address, name, pid of a process there). The first one has a bridge to which the others are connected."""
    made = []
    try:
        for i in range(count):
            # Says that it is in its namespaces, and stays as long as it can read.
            keeper = subprocess.Popen(["unshare", "--uts", "--net", "sh", "-c", f"hostname host{i} && ip link set lo up && echo && read x"],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            made.append((f"{NETWORK}.{i + 1}", f"host{i}", keeper))
            assert keeper.stdout.read(1) == b"\n"
        first = made[0][2].pid
        _run(*enter(first), "ip", "link", "add", "bridge", "type", "bridge")
        _run(*enter(first), "ip", "addr", "add", f"{NETWORK}.1/24", "dev", "bridge")
        _run(*enter(first), "ip", "link", "set", "bridge", "up")
        for address, name, keeper in made[1:]:
            _run(*enter(first), "ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", keeper.pid)
            _run(*enter(first), "ip", "link", "set", name, "master", "bridge", "up")
            _run(*enter(keeper.pid), "ip", "addr", "add", f"{address}/24", "dev", "eth0")
            _run(*enter(keeper.pid), "ip", "link", "set", "eth0", "up")
        yield [(address, name, keeper.pid) for address, name, keeper in made]
    finally:
        for _, _, keeper in made:
            with contextlib.suppress(ProcessLookupError):
                os.kill(keeper.pid, signal.SIGKILL)
            keeper.stdin.close()
            keeper.stdout.close()
            keeper.wait()


def remote_shell(path, made):
    """Writes what mpirun is to call in place of ssh: `PATH ADDRESS COMMAND...`."""
    cases = "\n".join(f"{address}) exec {' '.join(enter(pid))} sh -c \"$*\" ;;" for address, _, pid in made)
    path.write_text(f"#!/bin/sh\naddress=$1\nshift\ncase $address in\n{cases}\nesac\necho \"no host $address\" >&2\nexit 1\n")
    path.chmod(0o755)
    return path
