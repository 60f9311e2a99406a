# SPDX-License-Identifier: Apache-2.0
"""Allocators other than malloc, and pools, that rules describe: recorded as the program itself counts, or not at all."""
import re
import subprocess

import pytest

from conftest import LIBRARY, ROOT, WORKLOADS, analyze, functions, nothing_lost, report, sites

RULES, POOLS = ROOT / "tests/workloads/ruled.rules", ROOT / "preload/rules/pools.rules"
QUIET = {"TPROF_CPU": "0"}


def told(output):
    """Lines "NAME NUMBER [NUMBER]", as the programs print them."""
    return {name: tuple(map(int, numbers.split())) for name, numbers in re.findall(r"^(\w+) (\d+(?: \d+)?)$", output.decode(), re.M)}


def run_both(tprof, command, env=None):
    """The trace of a run that did as the bare one, and what it told."""
    bare, run = tprof.run(command), tprof.run(command, [LIBRARY], {**QUIET, **(env or {})})
    assert (run.status, run.stdout) == (bare.status, bare.stdout) and bare.status == 0, run.stderr
    return run, run.traces()[0], told(run.stdout)


def allocators(trace):
    """By name: module, functions, and why it is not recorded."""
    hooks = report(trace, command="info")["capture"]["hooks"]["allocators"]
    return {hook["allocator"]: (hook["module"].rsplit("/", 1)[-1], hook["functions"], hook.get("reason")) for hook in hooks}


def unfreed(trace):
    return sites(trace, "leaks")


def within(found, function):
    return [site for site in found if any(name and name.split("(")[0] == function for name in functions(site["stack"]))]


@pytest.mark.parametrize("program, name", [("own_heap-jemalloc", "malloc"), ("own_heap-tcmalloc", "malloc"), ("own_heap-rjem", "jemalloc")])
def test_allocators_in_the_program(tprof, program, name):
    run, trace, counts = run_both(tprof, [WORKLOADS / program])
    summary = report(trace)
    nothing_lost(summary)
    work = within(sites(trace, "hotspots", "--top", "0"), "work")
    assert sum(site["allocations"] for site in work) == counts["taken"][0]
    left = sum(site["blocks"] for site in within(unfreed(trace), "work"))
    assert counts["taken"][0] - left == counts["given"][0]
    kept = within(unfreed(trace), "keep")
    assert (sum(site["blocks"] for site in kept), sum(site["bytes"] for site in kept)) == counts["kept"]
    assert summary["capture"]["unseen_allocators"] == [] and not summary["capture"]["foreign_malloc"]
    ((found, (module, hooked, reason)),) = allocators(trace).items()
    assert (found, module, reason) == (name, program, None) and hooked >= 11
    text = analyze("info", trace).stdout
    assert f"{program}: {name}: {hooked} functions in their code" in text
    assert ("malloc in its code;" in text) == (name == "malloc")


def test_each_kind_of_rule(tprof):
    """Sizes by one argument, by two and fixed; blocks by pointers; ten arguments; resizing, also in vain; pools."""
    run, trace, counts = run_both(tprof, [WORKLOADS / "ruled", 1000], {"TPROF_RULES": RULES})
    summary = report(trace)
    nothing_lost(summary)
    own = {name: numbers for name, numbers in counts.items() if name.startswith("own_")}
    pool = (320 * 1000 + 100, 320 * 1000)
    stdio = 1
    assert summary["heap"]["allocations"] == sum(begun for begun, _ in own.values()) + pool[0] + stdio
    assert summary["heap"]["frees"] == sum(ended for _, ended in own.values()) + pool[1]
    assert summary["heap"]["failed_reallocs"] == 1000
    assert summary["heap"]["unmatched_frees"] == 0
    left = [(site["blocks"], site["bytes"]) for site in unfreed(trace) if site["bytes"] != 4096]
    assert sorted(left) == sorted([counts["live"], counts["pool"]])
    assert allocators(trace) == {"own": ("ruled", 8, None), "own pools": ("ruled", 5, None)}
    # The chunks and the pools themselves are the pools', and no part of the heap.
    pools = summary["heap"]["pools"]
    assert (pools["block_allocations"], pools["block_frees"]) == pool
    assert pools["pools"] > 4000 and pools["end_bytes"] > counts["pool"][1]


def test_variants_with_other_arguments(tprof):
    """What a compiler made of a function has its own arguments: nothing is guessed."""
    run, trace, counts = run_both(tprof, [WORKLOADS / "ruled-varied", 100], {"TPROF_RULES": RULES})
    found = allocators(trace)
    changed = subprocess.run(["nm", WORKLOADS / "ruled-varied"], capture_output=True, text=True, check=True).stdout
    changed = set(re.findall(r" t ((?:own|pool)_\w+)\.(?:isra|constprop|part)", changed))
    assert changed and found
    frees = {"own": {"own_release", "own_resize"}, "own pools": {"pool_give", "pool_clear"}}
    for name, ends in frees.items():
        if changed & ends:
            assert found[name][2].endswith("the compiler changed its arguments")
            assert f"{name} in ruled-varied is not recorded, since not all of its functions could be hooked" in analyze(trace).stdout
    assert not [site for site in unfreed(trace) if site["bytes"] not in (4096,) and site["blocks"] > 50 and changed & frees["own"]]


TOY = """
#include <stddef.h>
#include <stdio.h>
static char arena[1 << 20];
static size_t used;
__attribute__((noinline, noclone)) void *toy_alloc(size_t n) { used += n; return arena + used - n; }
__attribute__((noinline, noclone)) void toy_short(void) { }
__attribute__((noinline, noclone)) void toy_free(void *block) { %s; }
int main(void)
{
	for (int i = 0; i < 100; i++) {
		void *block = toy_alloc(100);
		if (i %% 2)
			toy_free(block);
		toy_short();
	}
	puts("done");
}
"""


@pytest.fixture
def toy(tmp_path):
    def build(free, rules):
        (tmp_path / "toy.c").write_text(TOY % free)
        subprocess.run(["gcc", "-O1", "-g", "-fno-align-functions", tmp_path / "toy.c", "-o", tmp_path / "toy"], check=True)
        (tmp_path / "toy.rules").write_text(rules)
        return [tmp_path / "toy"], {"TPROF_RULES": tmp_path / "toy.rules"}
    return build


def test_frees_that_can_not_be_hooked(tprof, toy):
    """Blocks whose end can't be seen would seem to leak: then none of that allocator is recorded."""
    command, env = toy("(void)block", "[toy]\ntoy_alloc alloc size=1\ntoy_free free block=1\n")
    run, trace, _ = run_both(tprof, command, env)
    assert report(trace)["heap"]["allocations"] == 1 # puts
    assert allocators(trace)["toy"] == ("toy", 1, "toy_free: it is shorter than a jump")
    assert "note: toy in toy is not recorded, since not all of its functions could be hooked: toy_free: it is shorter" in analyze(trace).stdout


def test_allocations_that_can_not_be_hooked(tprof, toy):
    """They are missing, and the report says so; the others are there."""
    command, env = toy("used += block != 0", "[toy]\ntoy_alloc alloc size=1\ntoy_short alloc bytes=8\ntoy_free free block=1\n")
    run, trace, _ = run_both(tprof, command, env)
    heap = report(trace)["heap"]
    assert (heap["allocations"], heap["frees"], heap["end_blocks"]) == (101, 50, 51)
    assert "toy in toy is recorded but for the blocks of a function that could not be hooked: toy_short: it is shorter" in analyze(trace).stdout


@pytest.mark.parametrize("rules, said", [
    ("toy_alloc alloc size=1\n", r"line 1: a rule needs a line \[NAME\] above it"),
    ("# comment\n\n[toy]\ntoy_alloc allocates size=1\n", "line 4: a rule is: SYMBOL alloc"),
    ("[toy]\ntoy_alloc alloc size=7\n", "line 2: arguments are size=1 to size=6"),
    ("[toy]\ntoy_alloc alloc size=1*\n", "line 2: arguments are"),
    ("[toy]\ntoy_alloc alloc\n", "line 2: alloc and realloc need size=ARGUMENT"),
    ("[toy]\ntoy_alloc alloc size=1 bytes=8\n", "line 2: alloc and realloc need size=ARGUMENT"),
    ("[toy]\ntoy_free free\n", "line 2: realloc and free need block=ARGUMENT"),
    ("[toy]\ntoy_free free block=*1\n", r"line 2: block=\*ARGUMENT is for alloc"),
    ("[toy]\ntoy_clear reset pool=1\n", r"line 2: reset and grow are for pools: \[NAME\] pool"),
    ("[toy] pool\ntoy_clear reset\n", "line 2: reset needs pool=ARGUMENT"),
    ("[toy] heap\n", r"line 1: behind \[NAME\] only the word pool may stand"),
    ("[]\n", r"line 1: an allocator is: \[NAME\]"),
    ("[" + "x" * 64 + "]\n", r"line 1: an allocator is: \[NAME\]"),
    ("[toy]\n" + "x" * 256 + " alloc size=1\n", "line 2: a symbol has at most 255 bytes"),
    ("[toy]\n" + "".join(f"f{i} alloc size=1\n" for i in range(1100)), r"line \d+: there are more than 1,024 rules"),
    ("".join(f"[a{i}]\n" for i in range(70)), r"line \d+: there are more than 64 allocators"),
    ("", "it is no file of 1 byte to 1 MiB"),
    ("\0\0\0\n\xff[", "line 1: "),
])
def test_wrong_rules_are_said(tprof, toy, rules, said):
    command, env = toy("used += block != 0", "")
    env["TPROF_RULES"].write_text(rules)
    run = tprof.run(command, [LIBRARY], {**QUIET, **env})
    assert (run.status, run.stdout) == (0, b"done\n")
    assert re.search(rf"tprof: TPROF_RULES=\S+: allowed is a file of rules, tprof-rules\(5\): {said}.*; using none\n", run.stderr.decode())
    assert report(run.traces()[0])["heap"]["allocations"] == 1


def test_file_of_rules_that_is_missing(tprof):
    run = tprof.run([WORKLOADS / "ruled", 1], [LIBRARY], {**QUIET, "TPROF_RULES": "/nowhere/there.rules"})
    assert run.status == 0
    assert b"TPROF_RULES=/nowhere/there.rules: allowed is a file of rules, tprof-rules(5): it can't be read; using none" in run.stderr


def test_nothing_is_hooked_without_need(tprof):
    """No allocations are recorded: the program's code stays as it is."""
    run, trace, _ = run_both(tprof, [WORKLOADS / "own_heap-rjem"], {"TPROF_ALLOC": "off"})
    assert allocators(trace) == {} and report(trace)["heap"]["allocations"] == 0


def test_slices_of_glib(tprof, tmp_path):
    """The field's case: a pool that others fill hides who loses its parts."""
    (tmp_path / "p.c").write_text("""
        #include <stdio.h>
        #include <string.h>
        extern void *g_slice_alloc(unsigned long n);
        extern void g_slice_free1(unsigned long n, void *p);
        static void *lost[5000];
        __attribute__((noinline)) void loses(int i) { lost[i] = g_slice_alloc(200); memset(lost[i], 1, 200); }
        __attribute__((noinline)) void tidy(void)
        {
            void *p[40];
            for (int i = 0; i < 40; i++) p[i] = g_slice_alloc(200);
            for (int i = 0; i < 40; i++) g_slice_free1(200, p[i]);
        }
        int main(void) { for (int i = 0; i < 5000; i++) { tidy(); loses(i); } puts("done"); }
    """)
    library = subprocess.run(["gcc", "-print-file-name=libglib-2.0.so.0"], capture_output=True, text=True).stdout.strip()
    subprocess.run(["gcc", "-O1", "-g", tmp_path / "p.c", library, "-o", tmp_path / "p"], check=True)
    run, trace, _ = run_both(tprof, [tmp_path / "p"], {"TPROF_RULES": POOLS})
    (lost,) = within(unfreed(trace), "loses")
    assert (lost["blocks"], lost["bytes"]) == (5000, 1000000) and not within(unfreed(trace), "tidy")
    assert allocators(trace)["GLib's slices"][2] is None
    assert not [one for one in report(trace)["capture"]["unseen_allocators"] if one["name"] == "GLib's slices"]
    # Without the rules the report says what stands between.
    run, trace, _ = run_both(tprof, [tmp_path / "p"])
    assert "TPROF_RULES" in next(note for note in report(trace)["notes"] if "GLib's slices" in note)


def test_children_have_the_hooks_too(tprof, tmp_path):
    """A fork has its parent's hooks; what runs after an exec is hooked anew."""
    (tmp_path / "f.c").write_text("""
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static char arena[1 << 16];
        static size_t used;
        __attribute__((noinline, noclone)) void *toy_alloc(size_t n) { used += n; return arena + used - n; }
        __attribute__((noinline, noclone)) void toy_free(void *block) { used += block == arena; }
        int main(int argc, char **argv)
        {
            pid_t child = argc > 1 ? -1 : fork();
            for (int i = 0; i < (child ? 10 : 20); i++) toy_alloc(100);
            toy_free(toy_alloc(1));
            if (child == 0) execl("/proc/self/exe", argv[0], "again", NULL);
            if (child > 0) waitpid(child, NULL, 0);
            return 0;
        }
    """)
    (tmp_path / "f.rules").write_text("[toy]\ntoy_alloc alloc size=1\ntoy_free free block=1\n")
    subprocess.run(["gcc", "-O1", "-g", tmp_path / "f.c", "-o", tmp_path / "f"], check=True)
    run = tprof.run([tmp_path / "f"], [LIBRARY], {**QUIET, "TPROF_RULES": tmp_path / "f.rules"})
    assert run.status == 0
    blocks = sorted(sum(site["blocks"] for site in unfreed(trace)) for trace in run.traces())
    assert blocks == [10, 10, 20]
    assert [allocators(trace)["toy"] for trace in run.traces()] == [("f", 2, None)] * 3


def test_leak_check_of_an_allocator_of_its_own(tprof, tmp_path):
    """What is lost is found in its memory, too, and what the program holds is not."""
    (tmp_path / "l.c").write_text("""
        #include <stddef.h>
        #include <stdio.h>
        #include <sys/mman.h>
        static char *arena;
        static size_t used;
        struct node { struct node *next; char text[100]; };
        static struct node *kept;
        __attribute__((noinline, noclone)) void *toy_alloc(size_t n)
        {
            if (!arena) arena = mmap(NULL, 1 << 22, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            used += (n + 15) & ~15UL;
            return arena + used - ((n + 15) & ~15UL);
        }
        __attribute__((noinline, noclone)) void toy_free(void *block) { used += block == arena; }
        __attribute__((noinline)) void keeps(void) { struct node *n = toy_alloc(sizeof *n); n->next = kept; kept = n; }
        __attribute__((noinline)) void loses(void) { *(volatile char *)toy_alloc(333) = 1; }
        int main(void) { for (int i = 0; i < 2000; i++) { keeps(); if (i % 10 == 0) loses(); toy_free(toy_alloc(1)); } puts("done"); }
    """)
    (tmp_path / "l.rules").write_text("[toy]\ntoy_alloc alloc size=1\ntoy_free free block=1\n")
    subprocess.run(["gcc", "-O1", "-g", tmp_path / "l.c", "-o", tmp_path / "l"], check=True)
    run, trace, _ = run_both(tprof, [tmp_path / "l"], {"TPROF_RULES": tmp_path / "l.rules", "TPROF_LEAKCHECK": "exit"})
    reach = report(trace, command="leaks", options=["--top", "0"])["reachability"]
    assert [(functions(site["stack"])[0], site["blocks"]) for site in reach["definitely_lost"]["sites"]] == [("loses", 200)]
    assert sum(site["blocks"] for site in reach["still_reachable"]["sites"] if functions(site["stack"])[0] == "keeps") == 2000


def test_in_a_ring(tprof):
    run, trace, counts = run_both(tprof, [WORKLOADS / "own_heap-rjem"], {"TPROF_RING": "4M"})
    kept = within(unfreed(trace), "keep")
    assert (sum(site["blocks"] for site in kept), sum(site["bytes"] for site in kept)) == counts["kept"]


def test_sampled(tprof):
    """The true value lies in the interval, as in 19 runs of 20: in one of four it does for sure."""
    exact = report(run_both(tprof, [WORKLOADS / "own_heap-rjem"])[1])["heap"]["end_bytes"]

    def holds():
        heap = report(run_both(tprof, [WORKLOADS / "own_heap-rjem"], {"TPROF_ALLOC": "sample:4k"})[1])["heap"]
        assert heap["estimated"]
        low, high = heap["end_bytes_ci95"]
        return low <= exact <= high and high < 2 * exact
    assert any(holds() for _ in range(4))
