# SPDX-License-Identifier: Apache-2.0
"""Chunks that are made several at once: what is made and not taken harms nobody, whatever ends the program."""
import struct

import pytest
from conftest import LIBRARY, WORKLOADS, nothing_lost, report, sites

HEADER, CHUNK, MOST = 16384, 65536, 16  # tprof-trace(5); and how many are made at once
COUNT = 400000  # allocations, and frees: some 40 chunks


def chunks(trace):
    """Of each chunk in the file, whether it was begun."""
    data = trace.read_bytes()
    return [struct.unpack_from("<I", data, at)[0] != 0 for at in range(HEADER, len(data), CHUNK)]


def counted(trace):
    """Chunks that the header counts."""
    return struct.unpack_from("<Q", trace.read_bytes(), 160)[0]


def batches(tprof, how, count=COUNT, env=None, limit=None):
    if limit:
        return tprof.run([WORKLOADS / "limits", limit, WORKLOADS / "batches", how, count], [],
                         {"LIMITS_PRELOAD": str(LIBRARY)})
    return tprof.run([WORKLOADS / "batches", how, count], [LIBRARY], env)


def own(trace):
    """Allocations of the program's own loop."""
    return sum(site["allocations"] for site in sites(trace, "hotspots")
               if site["stack"] and site["stack"][0]["function"] == "work")


@pytest.mark.parametrize("how, rounds", [("exit", 1), ("again", 2)])
def test_what_is_left_goes_back_to_the_disk(tprof, how, rounds):
    run = batches(tprof, how)
    trace = run.traces()[0]
    begun = chunks(trace)
    assert (run.status, run.stderr) == (0, b"")
    assert own(trace) == rounds * COUNT and report(trace)["heap"]["end_blocks"] < 10
    nothing_lost(report(trace))
    # Behind the last that was begun there is a hole. It may begin later than that chunk ends: the kernel writes back what the
    # page cache holds in one piece with it, 256 KiB as seen (112 KiB behind the chunk), zeros and all.
    assert begun.count(False) < MOST * rounds
    assert trace.stat().st_blocks * 512 <= HEADER + begun.count(True) * CHUNK + 4 * CHUNK


def test_killed_in_a_batch(tprof):
    """Some counts, so that one ends where chunks are left."""
    left = 0
    for more in (0, 30000, 60000, 90000):
        run = batches(tprof, "kill", COUNT + more)
        trace = run.traces()[0]
        assert (run.status, run.stderr) == (-9, b"")
        assert own(trace) == COUNT + more
        nothing_lost(report(trace))
        begun = chunks(trace)
        left += begun.count(False)
        assert begun.count(False) < MOST and begun.index(True) == 0
    assert left > 0


def test_fork_in_a_batch(tprof):
    """The child has none of its parent's: both go on, each in its own file."""
    run = batches(tprof, "fork")
    assert (run.status, run.stderr) == (0, b"")
    parent, child = run.traces()
    for trace, count in ((parent, 2 * COUNT), (child, COUNT)):
        assert own(trace) == count
        nothing_lost(report(trace))
        assert chunks(trace).count(False) < MOST


@pytest.mark.parametrize("room", range(10, 26, 3))
def test_file_size_limit_in_a_batch(tprof, room):
    """A batch that does not fit is no reason not to use what room there is."""
    run = batches(tprof, "exit", limit=f"fsize={HEADER + room * CHUNK + 1000}")
    trace = run.traces()[0]
    summary = report(trace)
    assert run.status == 0 and summary["capture"]["stopped"] is True
    assert chunks(trace) == [True] * room
    assert summary["capture"]["damage"] == []
    heap = summary["heap"]
    assert heap["allocations"] + heap["frees"] + summary["capture"]["lost_events"] >= 2 * COUNT


@pytest.mark.parametrize("how", ["threads", "together"])
def test_short_threads_make_none(tprof, how):
    """Nor does the file grow by more than a chunk for each that lives at once."""
    run = batches(tprof, how, 300)
    trace = run.traces()[0]
    assert (run.status, run.stderr) == (0, b"")
    nothing_lost(report(trace))
    assert all(chunks(trace)) and counted(trace) == len(chunks(trace))
    assert len(chunks(trace)) <= (20 if how == "threads" else 320)
    assert own(trace) == 3000
