# SPDX-License-Identifier: Apache-2.0
"""Free memory that blocks keep: programs with and without the blocks, whose RSS is measured without tprof."""
import re
import statistics

import pytest
from conftest import LIBRARY, PYTHON, ROOT, WORKLOADS, analyze, report

PINNED = WORKLOADS / "pinned"
JEMALLOC = {"MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0"}
KIB = 1024


def rss(tprof, command, **options):
    """In bytes, as the program says it when it ends; without tprof."""
    run = tprof.run(command, **options)
    assert run.status == 0, run.stderr
    return int(run.stdout.split()[-1]) * KIB


def profiled(tprof, command, **options):
    run = tprof.run(command, [LIBRARY, *options.pop("behind", [])], **options)
    assert run.status == 0, run.stderr
    (trace,) = run.traces()
    return trace, report(trace)


@pytest.mark.parametrize("mode, arenas", [("heap", 0), ("arena", 4)])
def test_what_they_keep_is_what_they_cost(tprof, mode, arenas):
    cost = rss(tprof, [PINNED, mode, "keep"]) - rss(tprof, [PINNED, mode, "drop"])
    trace, answer = profiled(tprof, [PINNED, mode, "keep"])
    holes = answer["memory"]["holes"]["readings"][-1]  # the program measures at its end, too
    (leak,) = answer["answer"]["leaks"]
    assert holes["holes_bytes"] + leak["bytes"] == pytest.approx(cost, rel=0.1)
    assert holes["arenas"] == arenas
    assert bool(arenas) == (holes["arena_bytes"] > holes["holes_bytes"] / 2)
    # All of it is this one line's.
    assert leak["frame"]["function"] == "shrink_to_fit"
    assert leak["pinned"]["bytes"] == pytest.approx(cost, rel=0.3)  # at the search before the last
    assert leak["pinned"]["rate"] > 100 * leak["bytes_per_second"]
    page = analyze(trace).stdout
    assert re.search(r"Fragmentation: [\d.]+ MiB of [\d.]+ MiB RSS is free", page)
    assert re.search(r"100\.0% +pinned\.c:\d+ +shrink_to_fit: return realloc\(buffer, SMALL\);", page)
    assert ("MALLOC_ARENA_MAX=1" in page) == bool(arenas)
    assert "MALLOC_MMAP_THRESHOLD_" not in page  # no block is that large


def test_blocks_that_go_keep_nothing(tprof):
    trace, answer = profiled(tprof, [PINNED, "heap", "drop"])
    assert answer["memory"]["holes"]["peak"]["holes_bytes"] < 256 * KIB
    assert "Fragmentation" not in analyze(trace).stdout


@pytest.mark.parametrize("mode", ["heap", "arena"])
def test_malloc_trim_returns_what_is_said(tprof, mode):
    returned = rss(tprof, [PINNED, mode, "keep"]) - rss(tprof, [PINNED, mode, "keep", "trim"])
    trace, answer = profiled(tprof, [PINNED, mode, "keep"])
    assert answer["memory"]["holes"]["readings"][-1]["trimmable_bytes"] == pytest.approx(returned, rel=0.1)
    assert "malloc_trim(0) would return" in analyze("peak", trace).stdout


def test_jemallocs_slabs(tprof):
    library = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
    keep, drop = (rss(tprof, [PINNED, "slabs", what], preload=[library], env=JEMALLOC) for what in ("keep", "drop"))
    trace, answer = profiled(tprof, [PINNED, "slabs", "keep"], behind=[library], env=JEMALLOC)
    kept = answer["heap"]["end_bytes"]
    last = answer["memory"]["holes"]["readings"][-1]
    assert last["holes_bytes"] + kept == pytest.approx(keep - drop, rel=0.1)
    assert "malloc_trim" not in analyze(trace).stdout  # it is glibc's


@pytest.mark.real
def test_graphs_that_are_kept(tprof):
    """The blocks of 640 kept graphs are 4.6 MiB; RSS is larger by more than a hundred times that. tprof says why."""
    program = ROOT / "tests/workloads/keep_losses.py"
    env = {"OMP_NUM_THREADS": "1"}
    keep, drop = (statistics.median(rss(tprof, [PYTHON, program, what], env=env) for _ in range(3))
                  for what in ("keep", "drop"))
    trace, answer = profiled(tprof, [PYTHON, program, "keep"], env=env)
    (leak,) = answer["answer"]["leaks"]
    assert leak["frame"]["file"].endswith("keep_losses.py")
    assert leak["bytes"] < (keep - drop) / 50
    assert 640 * (leak["bytes_per_step"] + leak["pinned"]["rate"]) == pytest.approx(keep - drop, rel=0.05)
    page = analyze(trace).stdout
    assert re.search(r"keep_losses\.py:\d+: .*can't be returned, and grows, too: by [\d.]+ KiB a step", page)
    assert re.search(r"together (9[5-9]|100)% of RSS's growth", page)
    # And what the page says to do about it helps.
    assert "MALLOC_MMAP_THRESHOLD_=131072" in page
    assert rss(tprof, [PYTHON, program, "keep"], env={**env, "MALLOC_MMAP_THRESHOLD_": "131072"}) < drop + (keep - drop) / 20
