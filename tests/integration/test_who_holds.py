# SPDX-License-Identifier: Apache-2.0
"""Who keeps blocks alive: programs whose holders are known, with sizes computed by hand."""
import subprocess
import time

import pytest
from conftest import ROOT, analyze, report
from test_control import ctl, wait_until
from test_ends import wait_for

NATIVE = r"""
#include <iterator>
#include <list>
#include <memory>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <unistd.h>
#include <unordered_map>
#include <vector>
#include <tprof.h>

struct Node { Node *next; long numbers[2]; };
struct Base { virtual ~Base() {} };
struct Session : Base { char text[300]; };
struct Peer : Base { std::shared_ptr<Peer> other; char text[200]; };

static Node *chain;
void *exported[64];
static std::unordered_map<int, Session *> registry;
static std::vector<Session *> sessions;
static thread_local std::vector<char *> cache;
void **ring;

__attribute__((noinline)) static Node *make_node(Node *next)
{
    Node *node = (Node *)calloc(1, sizeof(Node));
    node->next = next;
    return node;
}

__attribute__((noinline)) static void fill_exported() { for (void *&entry : exported) entry = calloc(1, 1000); }
__attribute__((noinline)) static void fill_registry() { for (int i = 0; i < 200; i++) registry[i] = new Session(); }

__attribute__((noinline)) static void fill_sessions()
{
    sessions.reserve(150);
    for (int i = 0; i < 150; i++) sessions.push_back(new Session());
}

__attribute__((noinline)) static std::vector<Session *> &once()
{
    static std::vector<Session *> inside;
    return inside;
}

__attribute__((noinline)) static void fill_once()
{
    once().reserve(20);
    for (int i = 0; i < 20; i++) once().push_back(new Session());
}

__attribute__((noinline)) static void fill_cache()
{
    cache.reserve(10);
    for (int i = 0; i < 10; i++) cache.push_back((char *)calloc(1, 3000));
}

__attribute__((noinline)) static void make_cycle()
{
    auto a = std::make_shared<Peer>(), b = std::make_shared<Peer>();
    a->other = b;
    b->other = a;
    static Peer *one; /* from which all of the cycle is reached */
    one = a.get();
    asm volatile("" : : "r"(&one) : "memory");
}

__attribute__((noinline)) static void make_ring() /* two blocks that both lead to a third */
{
    void **left = (void **)calloc(1, 500), **right = (void **)calloc(1, 600);
    left[0] = right[0] = calloc(1, 4000);
    ring = (void **)calloc(2, sizeof(void *));
    ring[0] = left;
    ring[1] = right;
}

static std::list<Session> in_list;
void **cursor;

__attribute__((noinline)) static void fill_list() { for (int i = 0; i < 300; i++) in_list.emplace_back(); }

/* A second way to all of the list, through two more blocks: no block of it is held by one root alone. */
__attribute__((noinline)) static void make_cursor()
{
    cursor = (void **)calloc(1, 700);
    void **inner = (void **)calloc(1, 800);
    cursor[0] = inner;
    inner[0] = &*std::next(in_list.begin(), 200);
}

/* What functions left on the stack are no pointers that anybody means. */
__attribute__((noinline)) static void clean() { char room[8192]; memset(room, 0, sizeof(room)); asm volatile("" : : "r"(room) : "memory"); }

int main(int argc, char **argv)
{
    for (int i = 0; i < 100000; i++) chain = make_node(chain);
    fill_exported(), fill_registry(), fill_sessions(), fill_once(), fill_cache(), make_cycle(), make_ring();
    fill_list(), make_cursor(), clean();
    for (int i = 0; argc > 1 && i < atoi(argv[1]); i++) {
        free(malloc(8));
        tprof_step(1);
        usleep(20000);
    }
    return 0;
}
"""
SESSION = 312  # a pointer to the table of virtual functions, 300 bytes, padding
# Function that allocates: root's kind and name, retained bytes and blocks of what holds them, the type at the path's end.
EXPECTED = {
    "make_node": ("static", "chain", 100000 * 24, 100000, "24 B of make_node"),
    "fill_exported": ("global", "exported", 64 * 1000, 64, "1,000 B of fill_exported"),
    "fill_cache": ("tls", "cache", 10 * 3000 + 10 * 8, 11, "2.93 KiB of fill_cache"),
    "fill_sessions": ("static", "sessions", 150 * (SESSION + 8), 151, "Session"),
    "fill_once": ("static", "once()::inside", 20 * (SESSION + 8), 21, "Session"),
}


@pytest.fixture(scope="module")
def native(tmp_path_factory):
    directory = tmp_path_factory.mktemp("holds")
    (directory / "holds.cc").write_text(NATIVE)
    subprocess.run(["g++", "-std=c++17", "-O1", "-g", "-I", ROOT / "include", "-o", directory / "holds",
                    directory / "holds.cc"], check=True)
    return directory / "holds"


def by_function(trace, options=()):
    """The largest finding of each function that allocates."""
    found = {}
    for held in report(trace, command="holders", options=["--top", "0", *options])["holders"]:
        for frame in held["stack"]:
            found.setdefault(frame["function"].split("(")[0] if frame["function"] else None, held)
    return found


def check_native(trace, functions):
    found = by_function(trace)
    for function in functions:
        kind, name, size, blocks, last = EXPECTED[function]
        held = found[function]
        assert held["root"] == {"kind": kind, "name": name}, function
        assert (held["retained_bytes"], held["retained_blocks"]) == (size, blocks), function
        assert held["path"][-1]["type"].split("(")[0] == last
        assert held["held_bytes"] == held["bytes"]
    return found


def check_all(trace):
    found = check_native(trace, EXPECTED)
    assert found["make_node"]["path"][-1]["count"] == 100000
    registry = found["fill_registry"]
    assert registry["root"] == {"kind": "static", "name": "registry"} and registry["path"][-1]["type"] == "Session"
    assert registry["held_blocks"] == registry["blocks"] == 200 and registry["retained_blocks"] == 200 + 200 + 1
    listed = found["fill_list"]  # the root that is nearest, with all that the search reached from it: the halves on both sides
    assert listed["root"] == {"kind": "static", "name": "in_list"} and listed["path"][-1]["count"] > 50
    assert 150 <= listed["held_blocks"] < listed["blocks"] == 300
    cycle = found["make_cycle"]
    assert cycle["root"]["name"] == "make_cycle()::one"
    assert cycle["path"][1]["type"].startswith("std::_Sp_counted_ptr_inplace<Peer") and cycle["retained_blocks"] == 2
    return found


def test_native_at_exit(tprof, native):
    """Destructors of static objects have run by then."""
    run = tprof.profile([native], env={"TPROF_LEAKCHECK": "exit"})
    trace = run.traces()[0]
    check_native(trace, ["make_node", "fill_exported"])
    text = analyze("holders", trace).stdout
    assert "chain (static)" in text
    assert "-> 24 B of make_node(Node*) x 100,000   retains 2.29 MiB in 100,000 blocks" in text
    assert "every word that looks like a pointer counts as one" in text
    largest = report(trace, command="holders")["largest_holders"]
    assert largest[0]["path"][0]["name"] == "chain"
    assert [h["bytes"] for h in largest] == sorted((h["bytes"] for h in largest), reverse=True)


def test_dominators_of_a_shared_block(tprof, native):
    """What two blocks lead to is retained by neither, and by what leads to both."""
    run = tprof.profile([native], env={"TPROF_LEAKCHECK": "exit"})
    held = [h for h in report(run.traces()[0], command="holders", options=["--top", "0"])["holders"]
            if any((f["function"] or "").startswith("make_ring") for f in h["stack"])]
    retained = {link["type"].split("(")[0]: link["retained_bytes"] for h in held for link in h["path"][1:]}
    assert retained["500 B of make_ring"] == 500 and retained["600 B of make_ring"] == 600
    assert retained["16 B of make_ring"] == 16 + 500 + 600 + 4000


def wait_for_search(trace):
    """The program may have ended before its fork was searched."""
    for _ in range(600):
        if report(trace, command="holders")["holders_search"]:
            return
        time.sleep(0.1)


def test_at_a_step(tprof, native):
    """While the program runs; it waits for nobody, and has no child that it would see."""
    run = tprof.profile([native, 75], env={"TPROF_LEAKCHECK": "step:3"})
    assert len(run.traces()) == 1
    wait_for_search(run.traces()[0])
    check_all(run.traces()[0])


def test_stripped(tprof, native):
    """Without symbols there are modules and offsets, and the types that RTTI keeps."""
    stripped = tprof.directory / "stripped"
    subprocess.run(["strip", "-s", "-o", stripped, native], check=True)
    run = tprof.profile([stripped, 75], env={"TPROF_LEAKCHECK": "step:3"})
    wait_for_search(run.traces()[0])
    largest = max((h for h in report(run.traces()[0], command="holders", options=["--top", "0"])["holders"]
                   if h["path"][-1]["type"] == "Session"), key=lambda h: h["blocks"])
    assert largest["root"]["kind"] == "static" and largest["root"]["name"].startswith("stripped+0x")


def test_by_ctl(tprof, native):
    process, run = tprof.start([native, 3000])
    wait_for(run.directory / "trace.bin")
    wait_until(process, lambda: "step" in analyze("dump", "--top", "0", run.directory / "trace.bin").stdout)
    assert "blocks are held" in ctl(process.pid, "holders")
    process.kill()
    process.wait(timeout=60)
    check_all(run.traces()[0])


def test_without_a_search(tprof, native):
    run = tprof.profile([native])
    assert "no search was made" in analyze("holders", run.traces()[0]).stdout
    found = report(run.traces()[0], command="holders")
    assert found["holders"] == [] and found["holders_search"] is None
