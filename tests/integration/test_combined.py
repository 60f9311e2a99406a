# SPDX-License-Identifier: Apache-2.0
"""What processes had resident together, each page once, and what forks copied: held against what the kernel says of the processes at that moment."""
import json
import shutil
import time

import pytest
from conftest import PYTHON, WORKLOADS, analyze, report

MB = 1000000
SLACK = 3 * MB // 2  # tprof's own, and what libc and the test's program do after they were seen
PROGRAM = 5 * MB  # of the program's and its libraries' files


@pytest.fixture(name="file", scope="module")
def file_of_a_size(tmp_path_factory):
    path = tmp_path_factory.mktemp("mapped") / "file"
    path.write_bytes(bytes(range(256)) * (30 * MB // 256))
    return path


def family(tprof, how, *arguments):
    run = tprof.profile([WORKLOADS / "family", how, *arguments], env={"TPROF_CPU": "off"})
    while how == "orphans" and not (run.directory / "done").exists():
        time.sleep(0.01)
    return run.truth(), run.traces()


@pytest.mark.parametrize("how", ["workers", "orphans"])
def test_pages_shared_by_fork_count_once(tprof, how):
    truth, traces = family(tprof, how)
    together = report(*traces)["combined"]
    assert abs(together["rss_anonymous_bytes"] - truth["pss_anon"]) < SLACK
    assert abs(together["pss_peak_bytes"] - truth["pss"]) < SLACK
    assert 0 <= together["rss_peak_bytes"] - together["pss_peak_bytes"] < PROGRAM
    assert together["rss_separate_bytes"] > truth["pss_anon"] + 40 * MB


@pytest.mark.parametrize("how", ["files", "chunks"])
def test_pages_of_files_count_once(tprof, file, how):
    """Three processes that map a whole file have it once; three that map a third each have all of it."""
    truth, traces = family(tprof, how, file)
    together = report(*traces)["combined"]
    assert truth["files"] <= together["rss_files_bytes"] + SLACK
    assert together["rss_files_bytes"] <= truth["files"] + PROGRAM
    assert abs(together["pss_peak_bytes"] - truth["pss"]) < SLACK
    if how == "files":
        assert truth["rss"] > 3 * truth["files"] > together["rss_peak_bytes"]


def test_limits_go_by_the_sum(tprof):
    """No process has 60 MB, and all have twice as much when their RSS is added up."""
    _, traces = family(tprof, "workers")
    together = report(*traces)["combined"]
    peak = together["rss_peak_bytes"]
    assert max(process["heap"]["rss_peak_bytes"] for process in report(*traces)["processes"]) < 60 * MB < peak
    analyze("check", "--max-rss", peak, *traces)
    analyze("check", "--max-rss", peak - 1, *traces, status=1)
    assert peak < together["rss_separate_bytes"]


def test_the_report_says_it_in_words(tprof):
    _, traces = family(tprof, "workers")
    together = report(*traces)["combined"]
    assert (together["processes"], together["most_at_once"]) == (4, 4)
    said = analyze("--exact", *traces).stdout
    assert "4 of them lived at one time at most" in said
    assert f"{together['rss_peak_bytes']:,} B at most, each page counted once" in said
    assert f"(the RSS of each, added up: {together['rss_separate_bytes']:,} B)" in said
    timeline = report(*traces, command="timeline")["combined"]["timeline"]["points"]
    assert max(point["rss_bytes"] for point in timeline) == together["rss_anonymous_bytes"] + together["rss_files_bytes"]


def test_an_ended_process_counts_no_more(tprof):
    """Ten workers of 10 MB, one after the other."""
    run = tprof.profile([WORKLOADS / "shifts", "turns"])
    together = report(*run.traces())["combined"]
    assert (together["processes"], together["most_at_once"]) == (11, 2)
    assert together["rss_peak_bytes"] < 25 * MB


READERS = """
import json, os, sys, time
def rolled(name, pid="self"):
    with open(f"/proc/{pid}/smaps_rollup") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))
words = [str(i).zfill(60) for i in range(200_000)]
table = bytearray(20_000_000)
for i in range(0, len(table), 4096):
    table[i] = 1
ends, leave, pids = [os.pipe() for _ in range(2)], os.pipe(), []
for number in range(2):
    pids.append(os.fork())
    if not pids[-1]:
        before, sizes = rolled("Private_Dirty"), 0
        for word in words:
            sizes += len(word)
        for i in range(0, 10_000_000, 4096):
            table[i] = 2
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            sorted(range(5000))
        os.write(ends[number][1], str(rolled("Private_Dirty") - before).encode())
        os.read(leave[0], 1)
        os._exit(0)
told = [int(os.read(end[0], 100)) for end in ends]
together = sum(rolled("Pss_Anon", pid) for pid in ["self", *pids])
os.write(leave[1], b"..")
for _ in range(2):
    os.wait()
with open(os.environ["TRUTH_FILE"], "w") as out:
    json.dump({"pid": os.getpid(), "together": together, "copied": told, "words": sum(map(sys.getsizeof, words))}, out)
"""


def test_what_forks_copied_is_told_with_pythons_part(tprof):
    """Each worker reads 200,000 strings, whose reference counts change, and writes to half of a table."""
    run = tprof.profile([PYTHON, "-c", READERS])
    truth, traces = run.truth(), run.traces()
    combined = report(*traces)["combined"]
    row, = combined["copied"]
    # The first worker is read, and ends, before the second is: both have their copies long before.
    assert truth["together"] - 4 * MB < combined["rss_anonymous_bytes"] < truth["together"] + 2 * MB
    assert (row["parent_pid"], row["processes"]) == (truth["pid"], 2)
    assert row["low_bytes"] <= row["bytes"] <= row["high_bytes"]
    for told, found in zip(sorted(truth["copied"]), (row["low_bytes"], row["high_bytes"])):
        assert abs(found - told) < 2 * MB
    assert truth["words"] < row["python_bytes"] + MB
    assert row["python_bytes"] < row["bytes"] - 9 * MB
    said = analyze("--exact", *traces).stdout
    assert f"each of 2 forks of {truth['pid']} wrote to {row['bytes']:,} B of its parent's pages" in said
    assert f"{row['python_bytes']:,} B of it by Python's reference counts" in said


def test_a_fork_that_only_reads_copies_nothing(tprof, file):
    _, traces = family(tprof, "files", file)
    assert report(*traces)["combined"]["copied"] == []
    assert "copy-on-write" not in analyze(*traces).stdout


def test_a_folder_stands_for_its_traces(tprof, tmp_path):
    """Those below it too; files that are no traces are passed over."""
    traces = tprof.profile([WORKLOADS / "shifts", "overlap"]).traces()
    folder = tmp_path / "copies"
    (folder / "below").mkdir(parents=True)
    for trace in traces:
        shutil.copy(trace, folder / ("below" if trace == traces[-1] else "."))
    (folder / "train.log").write_text("no trace")
    (folder / "short.bin").write_bytes(b"")
    found, named = report(folder), report(*traces)
    assert found["combined"] == named["combined"]
    assert [one["process"]["pid"] for one in found["processes"]] == [one["process"]["pid"] for one in named["processes"]]
    most = named["combined"]["peak_bytes"]
    analyze("check", "--max-peak", most, folder)
    analyze("check", "--max-peak", most - 1, folder, status=1)
    page = analyze(folder).stdout
    assert f"\nnext: tprof-analyze peak {folder} " in page and ": see " not in page  # all are in the report
    assert f": see {folder}" in analyze(folder / traces[0].name).stdout
    totals = json.loads(analyze("diff", "--json", folder, folder).stdout)["totals"]
    assert {total["old"] for total in totals if total["name"] == "peak"} == {most}


WORKERS = """import os, sys
def load(size):
    return bytearray(size)
usual, odd = int(sys.argv[1]), int(sys.argv[2])
for number in range(6):
    if os.fork() == 0:
        batch = load(usual + number * 50_000)
        extra = bytearray(odd) if number == 3 else None
        open(f"worker{number}", "w").write(str(os.getpid()))
        os._exit(0)
for _ in range(6):
    os.wait()
"""


def workers(tprof, usual, odd):
    run = tprof.profile([PYTHON, "-c", "import sys; exec(compile(open(sys.argv.pop(1)).read(), 'work.py', 'exec'))",
                         work_file(tprof), usual, odd])
    return run, report(*run.traces())["combined"]["roles"]


def work_file(tprof):
    path = tprof.directory / "work.py"
    path.write_text(WORKERS)
    return path


def test_the_odd_one_is_named_with_its_line(tprof):
    run, roles = workers(tprof, 4 * MB, 20 * MB)
    parent, forks = sorted(roles, key=lambda role: len(role["pids"]))
    assert (len(parent["pids"]), len(forks["pids"]), parent["odd"]) == (1, 6, [])
    odd, = forks["odd"]
    assert odd["pid"] == int((run.directory / "worker3").read_text())
    assert (odd["figure"], odd["place"]) == ("peak_bytes", "work.py:8")
    assert abs(odd["more_bytes"] - 20 * MB) < MB // 10
    assert abs(odd["ratio"] - odd["value"] / forks["peak_bytes"]["median"]) < 1e-6
    peaks = sorted(summary["heap"]["peak_bytes"] for summary in report(*run.traces())["processes"]
                   if summary["process"]["pid"] in forks["pids"])
    spread = forks["peak_bytes"]
    assert (spread["least"], spread["most"]) == (peaks[0], peaks[-1])
    assert abs(spread["median"] - (peaks[2] + peaks[3]) / 2) <= 1
    said = analyze(*run.traces()).stdout
    assert f"the odd one out: {odd['pid']}: {odd['ratio']:.1f}x the peak of the others like it" in said
    assert "work.py:8, 19.1 MiB more" in said


def test_equal_workers_have_no_odd_one(tprof):
    """The sixth has 6% more than the first, and each has a little more than the one before."""
    run, roles = workers(tprof, 4 * MB, 0)
    assert [role["odd"] for role in roles] == [[], []]
    assert "odd one" not in analyze(*run.traces()).stdout


def test_numbers_in_the_command_make_no_role(tprof):
    """Four programs that were started as ranks are, and one with other arguments."""
    command = "for rank in 0 1 2 13; do /bin/true --rank=$rank; done; /bin/true --other"
    run = tprof.profile(["/bin/sh", "-c", command])
    roles = report(*run.traces())["combined"]["roles"]
    found = sorted(len(role["pids"]) for role in roles if role["role"].startswith("true"))
    assert found == [1, 4]


def test_of_many_processes_the_largest_are_listed(tprof):
    run = tprof.profile(["/bin/sh", "-c", "for i in $(seq 30); do /bin/true $i; done"])
    count = len(run.traces())
    assert count > 30
    rows = [line for line in analyze(*run.traces()).stdout.splitlines() if " true " in line and "KiB" in line]
    assert f"and {count - 20} more processes" in analyze(*run.traces()).stdout
    assert len(rows) <= 21
    assert "more processes that held" not in analyze("--top", 0, *run.traces()).stdout
