# SPDX-License-Identifier: Apache-2.0
"""The threads command: of each thread what it counted and measured itself. And what the collector keeps for each."""
import json
import re
import subprocess

import pytest
from conftest import LIBRARY, PYTHON, WORKLOADS, analyze, nothing_lost, report

NAMES = [f"worker-{k}" for k in (1, 2, 3, 4)]
BURN = dict(zip(NAMES, ("burn_one", "burn_two", "burn_three", "burn_four")))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    from conftest import Harness  # pylint: disable=import-outside-toplevel
    return Harness(tmp_path_factory.mktemp("threads")).profile([WORKLOADS / "thread_work", 50],
                                                               env={"TPROF_CPU": "499"})


def threads(run, *options):
    answer = report(run.traces()[0], command="threads", options=options)
    nothing_lost(answer)
    return answer


def workers(run):
    return {row["name"]: row for row in threads(run)["threads"] if row["name"] in NAMES}


def test_counts_are_the_threads_own(run):
    found = workers(run)
    assert set(found) == set(NAMES)
    for k, name in enumerate(NAMES, 1):
        row, truth = found[name], run.truth()[name]
        assert {key: row[key] for key in ("tid", "allocations", "frees", "bytes", "peak_bytes")} == \
            {key: truth[key] for key in ("tid", "allocations", "frees", "bytes", "peak_bytes")}
        # Main freed 20 k more of its blocks: whose a block is does not change with who frees it.
        assert (row["unfreed_blocks"], row["unfreed_bytes"]) == (30 * k, 30 * k * 64 * k)
        assert row["peak_blocks"] == 100 * k
        assert row["top_allocation"] == {"function": "allocate", "module": "thread_work", "bytes": truth["bytes"]}
    everything = threads(run)
    for key, total in (("allocations", "allocations"), ("bytes", "allocated_bytes"), ("peak_bytes", "peak_bytes"),
                       ("unfreed_bytes", "end_bytes")):
        assert sum(row[key] for row in everything["threads"]) == everything["heap"][total]
    assert everything["threads_total"] == len(everything["threads"]) == 5


def test_ops_are_the_threads_own(run):
    """The outer op alone counts, as the inner one is in it: no more than was measured around it, no less than computed in it."""
    for k, name in enumerate(NAMES, 1):
        assert 0.99 * k * 25e6 < workers(run)[name]["op_ns"] <= run.truth()[name]["op_ns"]
    rows = threads(run)["threads"]
    assert next(row for row in rows if row["thread"] == 1)["op_ns"] == 0
    tree = report(run.traces()[0], command="ops", options=["--tree"])["tree"]
    assert sum(row["op_ns"] for row in rows) == sum(node["total_ns"] for node in tree if node["parent"] is None)


def test_samples_are_the_threads_own(run):
    rows = threads(run)["threads"]
    capture = report(run.traces()[0])["capture"]
    assert sum(row["cpu_samples"] for row in rows) == capture["cpu_samples"]
    assert sum(row["cpu_ns"] for row in rows) == capture["cpu_ns"] > 50 * capture["cpu_period_ns"]  # a late one counts for several
    by_thread = report(run.traces()[0], command="hotspots", options=["--by", "thread"])["cpu"]
    assert {row["thread"]: row["self_ns"] for row in by_thread} == {row["thread"]: row["cpu_ns"] for row in rows
                                                                   if row["cpu_samples"]}
    # How many samples a thread gets is the kernel's: on a busy machine a few that are late stand for all of its time. Whose
    # they are is not: no other thread runs its function.
    own = 0
    for row in (row for row in rows if row["cpu_samples"]):
        cpu = report(run.traces()[0], command="hotspots", options=["--thread", row["thread"], "--top", "0"])["cpu"]
        burnt = {site["function"]: site["total_ns"] for site in cpu if site["function"] in BURN.values()}
        assert set(burnt) <= {BURN.get(row["name"])}
        assert row["top_cpu"]["ns"] == max(site["self_ns"] for site in cpu)
        assert row["first_ns"] < row["last_ns"] or row["name"] not in BURN
        own += sum(burnt.values())
    assert own > 0.5 * capture["cpu_ns"]


@pytest.mark.parametrize("sort, key, order", [("cpu", "cpu_ns", -1), ("ops", "op_ns", -1), ("bytes", "bytes", -1),
                                              ("allocations", "allocations", -1), ("frees", "frees", -1),
                                              ("peak", "peak_bytes", -1), ("unfreed", "unfreed_bytes", -1),
                                              ("first", "first_ns", 1), ("thread", "thread", 1)])
def test_order(run, sort, key, order):
    values = [order * row[key] for row in threads(run, "--sort", sort)["threads"]]
    assert values == sorted(values)
    assert len(threads(run, "--sort", sort, "--top", "2")["threads"]) == 2


def test_text(run):
    trace = run.traces()[0]
    text = analyze("threads", "--sort", "peak", "--exact", trace).stdout
    rows = [line.split() for line in text.splitlines() if "worker-" in line]
    assert [row[2] for row in rows] == NAMES[::-1]
    assert "102,400" in text and "burn_four" in text and "CPU time" in text and "in ops" in text
    assert "and 3 more threads" in analyze("threads", "--top", "2", trace).stdout
    assert "--sort" in analyze("threads", "--sort", "name", trace, status=2).stderr


def test_without_samples_and_ops(tprof):
    run = tprof.run([WORKLOADS / "threads", 2], [LIBRARY], {"TPROF_CPU": "0"})
    answer = report(run.traces()[0], command="threads")
    own = [row for row in answer["threads"] if row["bytes"] == 20 * 1000 + 24]
    assert len(own) == 14 and {(row["allocations"], row["frees"], row["unfreed_bytes"]) for row in own} == {(21, 20, 0)}
    assert sorted(row["peak_bytes"] for row in own) == [24] * 7 + [20024] * 7  # the first batch has left its blocks
    assert {row["top_cpu"] for row in own} == {None}
    # None has CPU time: then the order is that of the bytes.
    assert [row["bytes"] for row in answer["threads"]] == sorted((row["bytes"] for row in answer["threads"]), reverse=True)
    text = analyze("threads", run.traces()[0]).stdout
    assert not re.search("CPU time(?!: CPU sampling was off)", text) and "in ops" not in text and "allocated most in" in text


THROUGH_CONTAINERS = """
#include <string>
#include <vector>
static volatile unsigned sum;
__attribute__((noinline)) static void fills(void)
{
    std::vector<std::string> many;
    for (int i = 0; i < 100000; i++)
        many.push_back(std::string(100, 'x'));
    for (int n = 0; n < 40; n++)
        for (auto &text : many)
            sum = sum + (unsigned)text.size();
}
int main() { fills(); }
"""


def test_what_stands_for_a_thread_is_what_hotspots_says(tprof):
    """CPU time is the innermost function's, the library's too; bytes are of the function that wanted them."""
    source, program = tprof.directory / "containers.cc", tprof.directory / "containers"
    source.write_text(THROUGH_CONTAINERS)
    subprocess.run(["g++", "-O0", "-g", source, "-o", program], check=True)
    trace = tprof.run([program], [LIBRARY], {"TPROF_CPU": "1000"}).traces()[0]
    (row,) = report(trace, command="threads")["threads"]
    answer = report(trace, command="hotspots", options=["--by", "function", "--sort", "bytes", "--top", "0"])
    first = answer["hotspots"]["sites"][0]
    assert (row["top_allocation"]["function"], row["top_allocation"]["bytes"]) == (first["function"], first["bytes"])
    assert first["function"].startswith("fills")
    most = max(answer["cpu"], key=lambda one: one["self_ns"])
    assert row["top_cpu"]["ns"] == most["self_ns"]
    own = sum(one["self_ns"] for one in answer["cpu"] if one["function"] and one["function"].startswith("fills"))
    assert own < 0.5 * answer["capture"]["cpu_ns"]  # most is in functions of the library's templates


def test_threads_that_can_not_be_had(tprof):
    """However many they are, the next one is known from its first instruction: this one calls nothing that is hooked."""
    command = [WORKLOADS / "refused_threads"]
    bare = tprof.run(command)
    assert (bare.status, bare.stdout) == (0, b"refused 600\n")
    run, summary = tprof.summary(command)
    assert run.stdout == bare.stdout
    nothing_lost(summary)
    assert summary["capture"]["threads"] == 2


OTHER = """
import ctypes, threading
libc = ctypes.CDLL(None)
libc.pthread_setname_np.argtypes = [ctypes.c_ulong, ctypes.c_char_p]
named = threading.Event()

def other():
    named.wait()
    for i in range(60000):  # chunks: with its next one a thread is seen to have its name
        b"x" * (1000 + i % 100)

thread = threading.Thread(target=other)
thread.start()
assert libc.pthread_setname_np(thread.ident, b"the other") == 0
named.set()
thread.join()  # and no chunk of this thread's any more
"""


def test_a_name_from_another_thread(tprof):
    """Is of the thread that is named, not of the one that names it."""
    run = tprof.run([PYTHON, "-I", "-c", OTHER], [LIBRARY])
    assert (run.status, run.stderr) == (0, b"")
    first, second = (thread["name"] for thread in report(run.traces()[0], command="info")["threads"])
    assert first.startswith("python3") and second == "the other"


@pytest.mark.parametrize("count,paths,frames", [(1, 10, 20), (1, 200000, 40), (32, 20000, 40)])
def test_memory_of_the_collector(tprof, count, paths, frames):
    """At most 16 MiB, 1 MiB a thread, 32 bytes a distinct node of the stacks; the program's threads and the main one."""
    command = [WORKLOADS / "resident", count, paths, frames]
    bare, run = tprof.run(command), tprof.run(command, [LIBRARY])
    nothing_lost(report(run.traces()[0]))
    nodes = report(run.traces()[0], command="info")["trace"]["nodes"]
    assert nodes > paths
    more = json.loads(run.stdout)["own"] - json.loads(bare.stdout)["own"]
    assert more <= (16 + count + 1 << 20) + 32 * nodes
