# SPDX-License-Identifier: Apache-2.0
"""The search for blocks that nothing points to finds pointers wherever they lie, and gives no result when it could not look."""
import re
import shutil
import subprocess
import threading

import pytest
from conftest import ANALYZE, LAUNCHER, LIBRARY, WORKLOADS, nothing_lost, report
from test_control import ctl, turned

KINDS = ("definitely_lost", "indirectly_lost", "possibly_lost", "still_reachable")


def reach_of(trace):
    return report(trace, command="leaks", options=["--top", "0"])["reachability"]


def blocks_of(trace, function):
    """Blocks by kind, of those that a function of the program's allocated."""
    found = reach_of(trace)
    blocks = {kind: sum(site["blocks"] for site in found[kind]["sites"]
                        if any(frame["function"] in (function, function + "()") for frame in site["stack"])) for kind in KINDS}
    return {kind: count for kind, count in blocks.items() if count}


@pytest.mark.parametrize("place", ["private", "file", "unlinked", "sparse", "memfd", "zero", "dontfork", "wiped", "block",
                                   "readonly"])
def test_places_of_pointers(tprof, place):
    run = tprof.profile([WORKLOADS / "kept_in", place], env={"TPROF_LEAKCHECK": "exit"})
    assert blocks_of(run.traces()[0], "fill") == {"still_reachable": 40}
    assert blocks_of(run.traces()[0], "lose") == {"definitely_lost": 3}
    nothing_lost(report(run.traces()[0]))


def test_shared_memory_is_left_as_it_is(tprof):
    """To read a page of shared memory that is not there makes one: of 16 GiB nothing is made."""
    run = tprof.profile([WORKLOADS / "kept_in", "zero"], env={"TPROF_LEAKCHECK": "exit"})
    assert report(run.traces()[0])["heap"]["rss_peak_bytes"] < 1 << 28
    assert blocks_of(run.traces()[0], "fill") == {"still_reachable": 40}


def test_a_signal_that_interrupts_the_wait(tprof):
    """The program's handler ends the wait for the search, which goes on all the same."""
    run = tprof.profile([WORKLOADS / "kept_in", "private", "tick"], env={"TPROF_LEAKCHECK": "exit"})
    assert run.stderr == b""
    assert blocks_of(run.traces()[0], "fill") == {"still_reachable": 40}
    assert blocks_of(run.traces()[0], "lose") == {"definitely_lost": 3}


def test_a_fork_that_goes_away(tprof):
    """Somebody ends what is searched: that is said, and nothing is found."""
    library = tprof.directory / "lib"
    library.mkdir()
    shutil.copy(LIBRARY, library / "libtprof.so")
    (tprof.directory / "bin").mkdir()
    analyzer = tprof.directory / "bin/tprof-analyze"
    # The fork is the other child of the process: it has no program of its own.
    analyzer.write_text(f'#!/bin/sh\nfor pid in $(ps --ppid $2 -o pid=); do [ $pid = $$ ] || kill -9 $pid; done\n'
                        f'exec {ANALYZE} "$@"\n')
    analyzer.chmod(0o755)
    run = tprof.run([WORKLOADS / "kept_in", "private"], [library / "libtprof.so"], {"TPROF_LEAKCHECK": "exit"})
    assert run.status == 0 and b"the memory of the fork, process" in run.stderr and b"it has ended" in run.stderr
    assert not any((reach_of(run.traces()[0]) or {}).get(kind, {}).get("blocks") for kind in KINDS)


def test_two_checks_at_once(tprof):
    """One is made, the others are refused with the reason; each result is right."""
    process, run = tprof.start([WORKLOADS / "control"])
    try:
        turned(process, run)
        done, together = [], threading.Barrier(4)

        def check():
            together.wait()
            done.append(subprocess.run([str(LAUNCHER), "ctl", str(process.pid), "leakcheck"], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, timeout=120, check=False))

        threads = [threading.Thread(target=check) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert 0 in [run.returncode for run in done]
        for one in done:
            assert (one.returncode == 0 and re.search(r"definitely lost +0 B", one.stdout)) or \
                (one.returncode == 1 and "another leak check of it is under way" in one.stderr), one
        ctl(process.pid, "leakcheck")
        (run.directory / "end").touch()
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("way, function, blocks", [
    ("main", "lose", {"definitely_lost": 3}),
    ("joined", "lose", {"definitely_lost": 6}),
    ("detached", "lose", {"definitely_lost": 6}),
    ("result", "lose", {"definitely_lost": 3}),
    ("result", "give", {"still_reachable": 3}),
    ("waiting", "lose", {"definitely_lost": 3}),
    ("waiting", "give", {"still_reachable": 1}),
])
def test_words_on_stacks_that_nothing_uses(tprof, way, function, blocks):
    """Below main() as it has returned, and below what waiting threads use; on ended threads' stacks, which glibc keeps. What a
    thread returned that may still be joined is not lost, nor is what glibc keeps for the next thread."""
    run = tprof.profile([WORKLOADS / "lost_stacks", way], env={"TPROF_LEAKCHECK": "exit"})
    assert blocks_of(run.traces()[0], function) == blocks
    found = reach_of(run.traces()[0])
    assert all(any(frame["function"] in ("lose", "give") for frame in site["stack"])
               for kind in KINDS[:3] for site in found[kind]["sites"])


@pytest.mark.parametrize("function, kind", [("array", "still_reachable"), ("object", "still_reachable"),
                                            ("string", "still_reachable"), ("length", "still_reachable"),
                                            ("odd", "possibly_lost")])
def test_pointers_that_cxx_makes(tprof, function, kind):
    """As Valgrind's heuristics have it."""
    run = tprof.profile([WORKLOADS / "interior"], env={"TPROF_LEAKCHECK": "exit"})
    assert blocks_of(run.traces()[0], function) == {kind: 1}
