# SPDX-License-Identifier: Apache-2.0
"""TPROF_COUNTERS: what ops' counters rose by, against what the kernel told the program itself."""
import subprocess

import pytest

from conftest import LIBRARY, WORKLOADS, analyze, report

COUNTERS = {"TPROF_COUNTERS": "page-faults,context-switches,cpu-migrations"}


def counters(trace):
    return {op["name"]: op["counters"] for op in report(trace, command="ops")["ops"] if "counters" in op}


def profile(tprof, *arguments, names=COUNTERS):
    run = tprof.run([WORKLOADS / "faults", *arguments], [LIBRARY],
                    {**names, "TRUTH_FILE": str(tprof.directory / f"run{tprof.runs + 1}" / "truth")})
    assert run.status == 0, run.stderr
    return run


@pytest.fixture(autouse=True)
def allowed(tprof):
    """Some containers forbid perf_event_open altogether; that, too, is told."""
    run = profile(tprof, 1, 1)
    if "permitted" in run.stderr.decode():
        pytest.skip("perf_event_open is forbidden here")


@pytest.mark.parametrize("pages, threads", [(400, 1), (100, 4), (8, 1)])
def test_faults_are_the_kernels(tprof, pages, threads):
    """The kernel's own count for the thread, read within the op: the same, but for the pages of the trace itself."""
    run = profile(tprof, pages, threads)
    truth, found = run.truth(), counters(run.traces()[0])
    assert truth["touched"] == pages * threads * 10 <= truth["kernel"]
    assert 0 <= found["touch"]["page-faults"] - truth["kernel"] <= 20
    assert 0 <= found["inner"]["page-faults"] - truth["touched"] // 4 <= 20
    assert found["rest"]["page-faults"] <= 20
    ops = {op["name"]: op for op in report(run.traces()[0], command="ops")["ops"]}
    assert (ops["touch"]["self_counters"]["page-faults"] + ops["inner"]["self_counters"]["page-faults"] ==
            found["touch"]["page-faults"])


def test_fork(tprof):
    """A child counts for itself, its parent's counters are not its own."""
    run = profile(tprof, 100, 2, "fork")
    parent, child = [counters(trace)["touch"]["page-faults"] for trace in run.traces()]
    assert 0 <= parent - run.truth()["kernel"] <= 20
    assert 0 <= child - run.truth(".child")["kernel"] <= 20


def test_closed_descriptors(tprof):
    """A program that closes what it did not open, and opens files of the same numbers: none of them is read."""
    run = profile(tprof, 40, 1, "close")
    assert run.stdout == b"offset 0\n"
    summary = report(run.traces()[0])
    assert counters(run.traces()[0])["touch"]["page-faults"] >= 5 * 40
    assert any("counters" in note for note in summary["notes"])


# Three threads beside the first, each with an event. Prints its descriptors, all of them.
HOLDS = """
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_barrier_t all;
static void *thread(void *nothing) { free(malloc(10)); pthread_barrier_wait(&all); pthread_barrier_wait(&all); return nothing; }
int main(void)
{
    pthread_t threads[3];
    DIR *directory;
    pthread_barrier_init(&all, NULL, 4);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, thread, NULL);
    pthread_barrier_wait(&all);
    directory = opendir("/proc/self/fd");
    for (struct dirent *entry; (entry = readdir(directory));)
        if (entry->d_name[0] != '.')
            puts(entry->d_name);
    closedir(directory);
    pthread_barrier_wait(&all);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"""


def test_descriptors_are_a_thread_and_counter(tprof, tmp_path):
    """As tprof(1) says: a descriptor each, out of the program's way; where there are none left, threads are not counted."""
    source = tmp_path / "holds.c"
    source.write_text(HOLDS)
    subprocess.run(["gcc", "-O1", source, "-o", tmp_path / "holds", "-pthread"], check=True)
    counters = {"TPROF_COUNTERS": "page-faults,context-switches"}
    for limit, held in ((1024, 8), (64, 8), (14, 6)):
        run = tprof.run(["sh", "-c", f"ulimit -n {limit}; exec {tmp_path}/holds"], [LIBRARY],
                        {**counters, "TPROF_EXE": "holds"})
        assert run.status == 0, run.stderr
        high = [int(line) for line in run.stdout.split() if int(line) >= limit // 2]
        lost = report(run.traces()[0])["capture"]["lost"]["counters"]
        assert len(high) >= held and (lost > 0) == (held < 8), (high, lost)


def test_what_is_missing_is_named(tprof):
    names = "cycles,instructions,LLC-misses,page-faults,rFFFFFFFF"
    run = profile(tprof, 10, 1, names={"TPROF_COUNTERS": names})
    listed = {counter["name"]: counter for counter in report(run.traces()[0], command="ops")["counters"]}
    assert list(listed) == names.split(",") and listed["page-faults"]["counted"]
    missing = [name for name, counter in listed.items() if not counter["counted"]]
    lines = run.stderr.decode().splitlines()
    assert len(lines) == bool(missing)
    for name in missing:
        assert name in lines[0] and listed[name]["reason"]
        assert name in analyze("summary", "--full", run.traces()[0]).stdout
    if listed["cycles"]["counted"]:
        assert listed["cycles"]["value"] > 10000


def test_second_names(tprof):
    """perf's own: what they count is what the first ones do."""
    run = profile(tprof, 100, 1, names={"TPROF_COUNTERS": "page-faults,faults,context-switches,cs,cpu-migrations,migrations"})
    touched = counters(run.traces()[0])["touch"]
    assert touched["faults"] == touched["page-faults"] >= 1000
    assert touched["cs"] == touched["context-switches"] and touched["migrations"] == touched["cpu-migrations"]


def test_unknown_name(tprof):
    run = tprof.run([WORKLOADS / "faults", 10], [LIBRARY], {"TPROF_COUNTERS": "page-fault"})
    (line,) = run.stderr.decode().splitlines()
    assert "TPROF_COUNTERS=page-fault" in line and "page-faults" in line and line.endswith("none")
    assert "counters" not in report(run.traces()[0], command="ops")
