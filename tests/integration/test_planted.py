# SPDX-License-Identifier: Apache-2.0
"""Leaks of every kind, all in one loop: each is one finding, at its line and with its rate, and names what holds it."""
import json
import re

import pytest
from conftest import BUILD, PYTHON, ROOT, WORKLOADS, report
from test_control import ctl, wait_until

SOURCES = ROOT / "tests/workloads"
QUIET = {"TPROF_CPU": "0"}
STEPS = 1500

# Bytes of a step; what the path to the blocks begins with: names, numbers as N. Of the variables, gc.get_referrers() says the same.
PYTHON_KINDS = {
    "list": (1002, ["__main__.kept_list", "[N]"]),
    "cache": (1012, ["__main__.cache", "[N]"]),
    "chain": (1022, ["__main__.head"]),
    "closure": (1032, ["__main__.hooks", "[N]", "closure variable data"]),
    "attribute": (1042, ["__main__.model", ".history", "[N]"]),
    "class": (1052, ["__main__.Model", ".shared", "[N]"]),
    "slot": (1062, ["__main__.slotted", ".kept", "[N]"]),
    "cycle": (1072, ["no variable: a cycle that gc has not collected"]),
    "callback": (1082, ["__main__.bound", "[N]", ".__self__", ".data"]),
    "partial": (1092, ["__main__.partials", "[N]", ".args", "[N]"]),
    "exception": (1102, ["__main__.errors", "[N]", None, ".tb_frame"]),
    "view": (1112, ["__main__.views", "[N]"]),
    "lru_cache": (1122, ["__main__.cached", None, "[N]"]),
    "thread_local": (1132, ["__main__.local", None, '["kept"]', "[N]"]),
    "contextvar": (1142, ["__main__.context", None, "[N]"]),
    "generator": (1152, ["__main__.generator", "local inner", "[N]"]),
    "weakref": (1162, ["__main__.refs", "[N]", ".__callback__", "closure variable data"]),
    "default": (1172, ["__main__.default_kind", None, "[N]", "[N]"]),
    "set": (1182, ["__main__.seen", None, ".data"]),
    "deque": (1192, ["__main__.deque"]),
    "queue": (1202, ["__main__.waiting", ".queue"]),
    "ordered": (1212, ["__main__.ordered", "[N]"]),
    "nested": (1222, ["__main__.nested", "[N]", "[N]"]),
    "module": (1232, ["__main__.modules", ".name_N"]),
    "log": (1242, ["__main__.handler", ".records", "[N]", ".args"]),
    "atexit": (1252, ["_PyRuntime"]),
    "ctypes": (1261, ["__main__.buffers", "[N]"]),
    "task": (1272, ["__main__.loop"]),
    "stream": (1281, ["__main__.stream"]),
    "text": (1291, ["__main__.sentence"]),
    "rare": (65002 / 50, ["__main__.rare", "[N]"]),
}

# Bytes of a step; kind and name of the root; a type on the way, or that many blocks are a chain.
CHAIN = "many of one type"
NATIVE_KINDS = {
    "vector": (112, "static", "plugins", "Plugin"),
    "map": (112 + 24, "static", "by_number", "Plugin"),
    "registry": (112 + 72, "static", "registry", "Plugin"),
    "callback": (333 + 32, "static", "callbacks", None),
    "attribute": (444 + 8, "static", "model", None),
    "thread": (555 + 8, "tls", "cache", None),
    "global": (666, "global", "exported", None),
    "cycle": (2 * 240 + 16, "static", "peers", "Peer"),
    "list": (56, "static", "records", CHAIN),
    "arena": (4008, "static", "arena", CHAIN),
    "std_list": (16 + 112, "static", "in_list", CHAIN),
    "std_deque": (277 + 8, "static", "in_deque", None),
    "std_set": (64 + 121, "static", "names", None),
    "error": (128 + 272 + 32 + 8, "static", "errors", None),
    "tree": (152, "static", "tree", CHAIN),
    "bucket": (168, "static", "buckets", CHAIN),
    "sixteen": (16, "static", "tiny", CHAIN),
    "fiftieth": (20000 / 50, "static", "rare", CHAIN),
    "table": (4 * 96, "static", "rows", None),
    "mapping": (8192, None, None, None),
    "key": (388, "tls", None, CHAIN),
    "local": (488 + 8, "thread-stack", None, None),
}


def planted(source):
    """Numbers of the lines that are marked, by kind."""
    lines = (SOURCES / source).read_text().splitlines()
    found = ((re.search(r"(?:#|/\*) LEAK (\w+)", line), number) for number, line in enumerate(lines, 1))
    return {mark.group(1): number for mark, number in found if mark}


def search(tprof, command, steps):
    """The trace of a program that leaks, makes the file `ready`, is searched, and ends when the file `go` is there."""
    process, run = tprof.start([*command, steps, tprof.directory / "ready", tprof.directory / "go"], env=QUIET)
    wait_until(process, (tprof.directory / "ready").exists)
    assert "blocks are held" in ctl(process.pid, "holders")
    (tprof.directory / "go").touch()
    assert process.wait(timeout=120) == 0
    return run.traces()[0]


def findings_of(trace):
    """Those that surely leak, but for Python's arenas: small objects are leaked along with what is looked for here."""
    growth = report(trace, command="leaks", options=["--top", "0"])["growth"]
    assert all(one["verdict"] == "leak" for one in growth["findings"] if one["kind"] != "arenas"), "and nothing that only may"
    return [one for one in growth["findings"] if one["kind"] != "arenas"]


def check_lines(findings, lines):
    """Each planted line is the place of one finding, and there is no other."""
    assert sorted(one["lines"][0]["line"] for one in findings) == sorted(lines.values())
    return {kind: next(one for one in findings if one["lines"][0]["line"] == line) for kind, line in lines.items()}


def check_rate(kind, finding, rate):
    assert finding["ci95"][0] <= rate * 1.05 and finding["ci95"][1] >= rate, kind
    assert finding["bytes_per_step"] == pytest.approx(rate, rel=0.25), kind


def names_of(finding):
    return [re.sub("[0-9]+", "N", link["name"]) if link["name"] else None for link in finding["holder"]]


def test_kinds_of_python(tprof):
    trace = search(tprof, [PYTHON, SOURCES / "planted.py", BUILD / "share/tprof"], STEPS)
    lines = planted("planted.py")
    assert set(lines) == set(PYTHON_KINDS) and len(lines) == 31
    for kind, finding in check_lines(findings_of(trace), lines).items():
        rate, names = PYTHON_KINDS[kind]
        check_rate(kind, finding, rate)
        assert names_of(finding)[:len(names)] == names, kind
    variables = json.loads((tprof.directory / "ready").read_text())
    known = {kind: name for kind, name in variables.items() if name and kind != "contextvar"}  # which tasks hold as well
    assert len(known) >= 20
    assert known == {kind: PYTHON_KINDS[kind][1][0].removeprefix("__main__.") for kind in known}


def test_kinds_of_c_and_cxx(tprof):
    trace = search(tprof, [WORKLOADS / "planted"], STEPS)
    lines = planted("planted.cc")
    assert set(lines) == set(NATIVE_KINDS) and len(lines) == 22
    held = report(trace, command="holders", options=["--top", "0"])["holders"]
    for kind, finding in check_lines(findings_of(trace), lines).items():
        rate, root, name, mark = NATIVE_KINDS[kind]
        assert finding["kind"] == ("mapping" if kind == "mapping" else "heap")
        check_rate(kind, finding, rate)
        if not root:
            assert finding["holder"] == [], "no search reads the mappings' holders"
            continue
        assert name is None or finding["holder"][0]["name"] == name, kind
        path = next(one for one in held if [f["line"] for f in one["stack"]] == [f["line"] for f in finding["stack"]])
        assert path["root"]["kind"] == root, kind
        if mark == CHAIN:  # one word that looks like a pointer cuts a list in two
            assert max(link["count"] for link in path["path"]) > 1500 / 50 / 4, kind
        elif mark:
            assert any(mark in (link["type"] or "") for link in finding["holder"][1:]), kind


# What the first page of a training loop must say: the line among those of the finding, and the variable that holds it.
TORCH_KINDS = {"total": "__main__.total", "losses": "__main__.losses", "view": "__main__.views", "hook": "__main__.model"}


@pytest.mark.real
@pytest.mark.parametrize("kind", TORCH_KINDS)
def test_kinds_of_torch(tprof, kind):
    trace = search(tprof, [PYTHON, SOURCES / "planted_torch.py", BUILD / "share/tprof", kind], 150)
    (finding,) = findings_of(trace)
    lines = [line["line"] for line in finding["lines"]]
    # What is appended to a list is not allocated there: the graph is, at the lines that made it.
    assert planted("planted_torch.py")[kind] in lines or kind == "losses"
    assert all(line["file"].endswith("planted_torch.py") for line in finding["lines"])
    assert names_of(finding)[0] == TORCH_KINDS[kind]
