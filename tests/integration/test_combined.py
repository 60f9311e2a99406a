# SPDX-License-Identifier: Apache-2.0
"""What processes had resident together, each page once: held against what the kernel says of the processes at that moment."""
import time

import pytest
from conftest import WORKLOADS, analyze, report

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
