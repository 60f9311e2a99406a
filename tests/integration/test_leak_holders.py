# SPDX-License-Identifier: Apache-2.0
"""Each leak names what holds it: in `leaks`, and on the first page."""
import re
import subprocess

import pytest
from conftest import BUILD, PYTHON, ROOT, analyze, report
from test_control import ctl, wait_until

CXX = r"""
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <stdlib.h>
#include <string>
#include <unistd.h>
#include <unordered_map>
#include <vector>
#include <tprof.h>

#define KEEP __attribute__((noinline, noclone))

struct Plugin { virtual ~Plugin() {} char text[100]; };
struct Peer { virtual ~Peer() {} std::shared_ptr<Peer> other; char text[200]; };
struct Record { Record *next; char text[48]; };
struct Model { std::vector<char *> history; };
struct Chunk { Chunk *before; char room[4000]; };

static std::vector<Plugin *> plugins;
static std::unordered_map<int, Plugin *> by_number;
static std::map<std::string, Plugin *> registry;
static std::vector<std::function<int()>> callbacks;
static std::vector<std::shared_ptr<Peer>> peers;
static Record *records;
static Chunk *arena;
static Model *model = new Model;
static thread_local std::vector<char *> *cache = new std::vector<char *>;
void *exported[100000];

static KEEP void vector_kind(int) { plugins.push_back(new Plugin()); }
static KEEP void map_kind(int step) { by_number[step] = new Plugin(); }
static KEEP void registry_kind(int step) { registry["plugin " + std::to_string(step)] = new Plugin(); }
static KEEP void callback_kind(int step) { char *data = (char *)calloc(1, 333); callbacks.push_back([=] { return data[0] + step; }); }
static KEEP void attribute_kind(int) { model->history.push_back((char *)calloc(1, 444)); }
static KEEP void thread_kind(int) { cache->push_back((char *)calloc(1, 555)); }
static KEEP void global_kind(int step) { exported[step] = calloc(1, 666); }

static KEEP void cycle_kind(int)
{
    auto a = std::make_shared<Peer>(), b = std::make_shared<Peer>();
    a->other = b, b->other = a;
    peers.push_back(a);
}

static KEEP void list_kind(int)
{
    Record *record = (Record *)calloc(1, sizeof(Record));
    record->next = records;
    records = record;
}

static KEEP void arena_kind(int)
{
    Chunk *chunk = (Chunk *)calloc(1, sizeof(Chunk));
    chunk->before = arena;
    arena = chunk;
}

int main(int argc, char **argv)
{
    for (int step = 0; step < 200; step++) {
        vector_kind(step), map_kind(step), registry_kind(step), callback_kind(step), attribute_kind(step);
        thread_kind(step), global_kind(step), cycle_kind(step), list_kind(step), arena_kind(step);
        tprof_step(step);
    }
    for (int i = 0; i < 3000 && access(argv[argc - 1], F_OK); i++) { free(malloc(8)); usleep(20000); }
    return 0;
}
"""
STEPS, LINKED = 200, "many of one type"
# Function that allocates: the root, and a type on the way.
EXPECTED = {
    "vector_kind": ("static", "plugins", "Plugin"),
    "map_kind": ("static", "by_number", "Plugin"),
    "registry_kind": ("static", "registry", "Plugin"),
    "callback_kind": ("static", "callbacks", None),
    "attribute_kind": ("static", "model", None),
    "thread_kind": ("tls", "cache", None),
    "global_kind": ("global", "exported", None),
    "cycle_kind": ("static", "peers", "Peer"),
    "list_kind": ("static", "records", LINKED),
    "arena_kind": ("static", "arena", LINKED),
}


def search(tprof, command):
    """The trace of a program that leaks, is searched, and goes on when the file `go` is there."""
    process, run = tprof.start([*command, tprof.directory / "go"], env={"TPROF_CPU": "0"})
    trace = run.directory / "trace.bin"
    wait_until(process, lambda: trace.exists() and report(trace, command="steps")["steps"]["count"] == STEPS)
    assert "blocks are held" in ctl(process.pid, "holders")
    (tprof.directory / "go").touch()
    assert process.wait(timeout=60) == 0
    return trace


def test_kinds_of_cxx(tprof):
    (tprof.directory / "kinds.cc").write_text(CXX)
    subprocess.run(["g++", "-std=c++17", "-O1", "-g", "-I", ROOT / "include", "-o", tprof.directory / "kinds",
                    tprof.directory / "kinds.cc"], check=True)
    trace = search(tprof, [tprof.directory / "kinds"])
    held = report(trace, command="holders", options=["--top", "0"])["holders"]
    findings = report(trace, command="leaks", options=["--top", "0"])["growth"]["findings"]
    for function, (kind, name, mark) in EXPECTED.items():
        found = next(h for h in held if any((f["function"] or "").startswith(function) for f in h["stack"]))
        assert found["root"] == {"kind": kind, "name": name}, function
        if mark == LINKED:  # one word that looks like a pointer cuts a list in two
            assert max(link["count"] for link in found["path"]) > STEPS / 4, function
        elif mark:
            assert any(mark in (link["type"] or "") for link in found["path"][1:]), function
        leak = next(f for f in findings if f["lines"][0]["function"].startswith(function))
        assert leak["holder"][0]["name"] == name, function


@pytest.mark.parametrize("kind, names, first", [
    ("list", ["__main__.kept", "[N]"], "__main__.kept (list, 200 items)"),
    ("cache", ["__main__.cache", "[N]"], "__main__.cache (dict, 200 items)"),
    ("attribute", ["__main__.Model", ".history"], "__main__.Model (type) -> .history (list, 200 items)"),
    ("closure", ["__main__.hooks", "[N]", "closure variable data"], "__main__.hooks (list, 200 items)"),
])
def test_kinds_of_python(tprof, kind, names, first):
    trace = search(tprof, [PYTHON, ROOT / "tests/workloads/leak_kinds.py", BUILD / "share/tprof", kind, STEPS])
    finding = report(trace, command="leaks")["growth"]["findings"][0]
    found = [re.sub("[0-9]+", "N", link["name"]) for link in finding["holder"][:len(names)]]
    assert found == names
    assert re.search(rf"held by {re.escape(first)}.*: \d+ KiB kept", analyze("leaks", trace).stdout)
    assert re.search(rf"is held by {re.escape(names[0])}.* kept", analyze(trace).stdout)
