# SPDX-License-Identifier: Apache-2.0
"""A file that grows while it is read, and is refreshed a hundred times, ends with the same report as one that is read at its
end. The program stops itself after each step; what its file is then is what tests/cut/cut.c reads, one after the other."""
import os
import shutil
import signal
import subprocess

import pytest
from conftest import WORKLOADS, analyze
from test_cut import CUT

ROUNDS = 100
PROGRAMS = {"steps": ([WORKLOADS / "stops", ROUNDS], ROUNDS),
            "code that moves": ([WORKLOADS / "jitdump", "made.dump", "stops"], 6)}
COMMANDS = [["summary"], ["summary", "--json"], ["peak", "--json"], ["peak", "--by", "step", "--json"],
            ["peak", "--by", "thread", "--json"], ["leaks", "--json", "--top", "0"], ["hotspots", "--json"], ["steps", "--json"],
            ["timeline", "--json"], ["threads", "--json"], ["info", "--json"]]


@pytest.fixture(name="snapshots", params=PROGRAMS)
def make_snapshots(tprof, request):
    command, rounds = PROGRAMS[request.param]
    process, run = tprof.start(command, env={"TPROF_CPU": "0"})
    trace, folder, number = run.directory / "trace.bin", run.directory / "snapshots", 0
    folder.mkdir()
    while True:
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        subprocess.run(["cp", "--sparse=always", trace, folder / str(number)], check=True)
        number += 1
        if not os.WIFSTOPPED(status):
            break
        process.send_signal(signal.SIGCONT)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0 and number == rounds + 1
    shutil.copy(folder / str(rounds), trace)
    return trace, folder


def test_a_live_file_ends_as_a_finished_one(snapshots, monkeypatch):
    trace, folder = snapshots
    monkeypatch.setenv("CUT_SNAPSHOTS", str(folder))
    for words in COMMANDS:
        whole, followed = analyze(*words, trace), analyze(*words, trace, program=CUT)
        assert followed.stdout == whole.stdout, words
        assert followed.stderr == whole.stderr, words
