# SPDX-License-Identifier: Apache-2.0
"""Who keeps Python's objects alive: a program whose holders are known, on each Python that there is."""
import re

import pytest
from conftest import ROOT, Harness, analyze, report
from test_control import ctl, wait_until
from test_python import PYTHONS

STEPS = 60
# The path to the blocks of each size, as far as names go: root first, (name, type) each. Numbers are N.
PATHS = {
    1001: [("__main__.losses", "list"), ("[N]", "bytearray")],
    1002: [("__main__.cache", "dict"), ("[N]", "bytearray")],
    1003: [("__main__.cache", "dict"), ('["step N"]', "bytearray")],
    1004: [("__main__.model", "Model"), (".history", "list"), ("[N]", "bytearray")],
    1005: [("__main__.Model", "type"), (".shared", "list"), ("[N]", "bytearray")],
    1006: [("__main__.cached", "functools._lru_cache_wrapper"), (None, "dict"), ("[N]", "bytearray")],
    1007: [("__main__.limited", "functools._lru_cache_wrapper"), (None, "dict"), ("[N]", "functools._lru_list_elem"),
           (None, "bytearray")],
    1008: [("__main__.keep", "function"), ("closure variable inside", "list"), ("[N]", "bytearray")],
    1009: [("__main__.hooks", "list"), ("[N]", "method"), (".__self__", "Hook"), (".data", "bytearray")],
    1010: [("__main__.seen", "set"), (None, "Hook"), (".data", "bytearray")],
    1011: [("__main__.default", "function"), (None, "tuple"), ("[N]", "list"), ("[N]", "bytearray")],
    1012: [("__main__.local", "_thread._local"), (None, "dict"), ('["kept"]', "list"), ("[N]", "bytearray")],
    1013: [("__main__.deque", "collections.deque")],
    1014: [("__main__.generator", "generator"), ("local inner", "list"), ("[N]", "bytearray")],
    1016: [("__main__.slotted", "Slotted"), (".kept", "list"), ("[N]", "bytearray")],
    1017: [("local mine of train()", "list"), ("[N]", "bytearray")],
    1018: [("__main__.head", "Node"), (".next", "Node"), (".data", "bytearray")],
    1019: [("__main__.views", "list"), ("[N]", "memoryview")],
    1020: [("no variable: a cycle that gc has not collected", None), (None, "Node"), (".data", "bytearray")],
}


def steps_of(path):
    """Names with numbers left out; a generator's frame is an object of its own up to 3.10."""
    links = [(re.sub(r"[0-9]+", "N", link["name"]) if link["name"] else None, link["type"]) for link in path]
    return [link for link in links if link != (None, "frame")]


@pytest.fixture(scope="module", params=PYTHONS)
def searched(request, tmp_path_factory):
    tprof = Harness(tmp_path_factory.mktemp("holders"))
    process, run = tprof.start([request.param, ROOT / "tests/workloads/python_holders.py", tprof.directory])
    wait_until(process, (tprof.directory / "ready").exists)
    assert "blocks are held" in ctl(process.pid, "holders")
    (tprof.directory / "go").touch()
    assert process.wait(timeout=60) == 0
    return run.traces()[0]


def by_size(trace):
    """By the size of the bytearrays. The bytes of one are a block of their own; from 3.15 on they are an object of type bytes."""
    held = report(trace, command="holders", options=["--top", "0"])["holders"]
    return {h["bytes"] // h["blocks"] - (33 if h["path"][-1]["type"] == "bytes" else 1): h for h in held
            # The interpreter may have specialized the first few calls' code
            if h["blocks"] > STEPS * 0.8 and h["bytes"] % h["blocks"] == 0}


def test_paths(searched):
    found = by_size(searched)
    for size, path in PATHS.items():
        held = found[size]
        assert steps_of(held["path"])[:len(path)] == path, size
        assert held["root"] == {"kind": "unknown" if size == 1020 else "python", "name": path[0][0]}
        # One word that looks like a pointer is enough to take a chain's rest from its head; cycles are on their own
        assert held["held_blocks"] > STEPS / 2 or size in (1013, 1018, 1020), size
    error = steps_of(found[1015]["path"])
    assert error[:2] == [("__main__.errors", "list"), ("[N]", "ValueError")]
    assert ("local frame_data", "bytearray") in error


def test_repeated_links(searched):
    chain = [link["count"] for link in by_size(searched)[1018]["path"] if link["name"] == ".next"]
    assert chain and chain[0] > STEPS / 4


def test_retained(searched):
    """A list of bytearrays: each has a block for its bytes, and an object of 56 bytes in one of 64."""
    held = by_size(searched)[1001]
    at = held["path"][held["holder"]]
    assert at["name"] == "__main__.losses" and at["items"] == STEPS
    whole = STEPS * (1002 + 64)
    assert 0.9 * whole <= held["retained_bytes"] <= whole + 1000
    assert 0.9 * 2 * STEPS <= held["retained_blocks"] <= 2 * STEPS + 2


def test_text(searched):
    text = analyze("holders", "--top", "0", searched).stdout
    assert f"__main__.losses (list, {STEPS} items)" in text
    assert "-> closure variable inside (list" in text
    assert re.search(r"-> \.next \(Node\) x [0-9]{2}", text)
