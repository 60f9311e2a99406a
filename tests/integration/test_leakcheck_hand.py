# SPDX-License-Identifier: Apache-2.0
"""One search, exactly: what the collector holds for the program counts, and what lies in its own frames does not
(tests/workloads/in_hand.c, and lost.c with stale words in every dead slot)."""
import os
import signal
import struct
from contextlib import contextmanager

import pytest
from conftest import WORKLOADS, report
from test_control import ctl, map_header, offset_of, stat_of, wait_until
from test_ends import wait_for
from test_leakcheck import KINDS, answer_of, expected

LEAKCHECK = 5
LOST = {("forgotten_often", "definitely_lost"): 100}


class Program:
    """A program, and its mailbox."""

    def __init__(self, process, run):
        self.process, self.run, self.trace = process, run, run.directory / "trace.bin"
        wait_for(self.trace)
        self.header = map_header(self.trace)

    def word(self, field, value=None):
        at = offset_of(field)
        if value is not None:
            self.header[at:at + 4] = struct.pack("<I", value)
        return struct.unpack("<I", self.header[at:at + 4])[0]

    def ask(self):
        """Has it make a fork, with its next event; returns the request's number."""
        number = self.word("control_asked") + 1
        self.word("control_what", LEAKCHECK)
        self.word("control_text_length", 0)
        self.word("control_asked", number)
        self.word("gate", 0)
        return number

    def search(self, number):
        """Once: `tprof ctl PID leakcheck` searches twice, and what is lost is lost both times. Returns functions' blocks."""
        wait_until(self.process, lambda: self.word("control_done") == number)
        ctl(self.process.pid, "leakcheck-taken")
        found = report(self.trace, command="leaks", options=["--top", "0"])["reachability"]
        return {(frame["function"], kind): site["blocks"] for kind in KINDS for site in found[kind]["sites"]
                for frame in site["stack"] if frame["function"] in ("forgotten_often", "held_by_hand", "result")}

    def end(self):
        still = self.word("snapshot_pid")
        if still:
            os.kill(still, signal.SIGKILL)
        (self.run.directory / "end").touch()
        if (self.run.directory / "stop").exists():
            with open(self.run.directory / "stop", "r+b") as stop:
                stop.write(b"\1")
        assert self.process.wait(timeout=30) == 0


def user_ticks(process):
    return int(stat_of(process.pid)[11])


@contextmanager
def started(tprof, *command, env=None):
    process, run = tprof.start([WORKLOADS / command[0], *command[1:]], env={"TPROF_CPU": "0", **(env or {})})
    try:
        program = Program(process, run)
        wait_until(process, (run.directory / "ready").exists)
        if command[-1].startswith("spin"):  # what is left to do before that is microseconds' work; it has used 30 ms since
            used = user_ticks(process)
            wait_until(process, lambda: user_ticks(process) >= used + 3)
        yield program
        program.end()
    finally:
        process.kill()
        process.wait()


def test_words_that_earlier_calls_left(tprof):
    """In each word of the stack that our frames are made on stands the address of a block, of most a lost one.
    (The sampler's signal may come while one is in a register.)"""
    with started(tprof, "lost", "stale") as program:
        for _ in range(4):
            program.search(program.ask())
            assert answer_of(program.trace) == expected()


@pytest.mark.parametrize("way", ["malloc", "calloc", "realloc", "aligned_alloc", "valloc", "posix_memalign"])
def test_a_result(tprof, way):
    """It is the program's, though that does not have it yet."""
    with started(tprof, "in_hand", way) as program:
        for _ in range(3):
            found = program.search(program.ask())
            assert found.pop(("result", "still_reachable")) == 1
            assert found == {**LOST, ("held_by_hand", "definitely_lost"): 6}


def test_a_block_that_moves(tprof):
    """It is said to be freed already; what it leads to is not lost."""
    with started(tprof, "in_hand", "moves") as program:
        for _ in range(3):
            assert program.search(program.ask()) == {**LOST, ("held_by_hand", "still_reachable"): 5}


@pytest.mark.parametrize("way", ["free", "moved", "op"])
def test_an_argument(tprof, way):
    """In a pause the answer comes before the call, and nobody else has its argument."""
    with started(tprof, "in_hand", way, env={"TPROF_OPS": "swab"}) as program:
        ctl(program.process.pid, "stop")
        (program.run.directory / "paused").touch()
        wait_until(program.process, (program.run.directory / "waits").exists)
        number = program.ask()
        (program.run.directory / "go").touch()
        assert program.search(number) == {**LOST, ("held_by_hand", "still_reachable"): 6}


@pytest.mark.parametrize("paused", [False, True])
@pytest.mark.parametrize("way", ["spin", "spin-alternate"])
def test_a_program_that_computes(tprof, way, paused):
    """The sampler's signal finds the registers and the red zone as they are, and words below it that are dead."""
    with started(tprof, "in_hand", way, env={"TPROF_CPU": "999"}) as program:
        if paused:
            ctl(program.process.pid, "stop")
        for _ in range(3):
            assert program.search(program.ask()) == {**LOST, ("held_by_hand", "still_reachable"): 6}


@pytest.mark.parametrize("way", ["registers", "thread", "handler", "coroutine-mapped", "coroutine-heap"])
def test_registers_of_the_caller(tprof, way):
    """Those that calls keep, on whichever stack it is."""
    with started(tprof, "in_hand", way) as program:
        for _ in range(3):
            assert program.search(program.ask()) == {**LOST, ("held_by_hand", "still_reachable"): 6}
