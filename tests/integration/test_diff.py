# SPDX-License-Identifier: Apache-2.0
"""tprof-analyze diff: what changed from one run to another."""
import json
import subprocess

import pytest
from conftest import LIBRARY, WORKLOADS, analyze, report


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    directory = tmp_path_factory.mktemp("diff")
    for name, threads in (("small", 3), ("large", 30)):
        subprocess.run([WORKLOADS / "threads", str(threads)], cwd=directory, check=True, stdout=subprocess.DEVNULL,
                       env={"LD_PRELOAD": str(LIBRARY), "TPROF_OUTPUT": f"{name}.bin"})
    return {name: directory / f"{name}.bin" for name in ("small", "large")}


def diff(*arguments):
    return json.loads(analyze("diff", "--json", *arguments).stdout)


@pytest.mark.parametrize("by", ["function", "module", "op"])
def test_a_run_differs_from_itself_in_nothing(traces, by):
    answer = diff("--by", by, traces["large"], traces["large"])
    assert {total["verdict"] for total in answer["totals"]} == {"same"}
    assert answer["peak"] == answer["unfreed"] == answer["allocated"] == []
    assert not [row for row in answer["ops"] + answer["cpu"] if row["verdict"] not in ("noise", "too few")]


def test_totals_are_the_reports_own(traces):
    heaps = [report(traces[name])["heap"] for name in ("small", "large")]
    totals = {total["name"]: total for total in diff(traces["small"], traces["large"])["totals"]}
    for name, key in (("peak", "peak_bytes"), ("unfreed", "end_bytes"), ("allocated", "allocated_bytes"),
                      ("allocations", "allocations")):
        assert (totals[name]["old"], totals[name]["new"]) == tuple(heap[key] for heap in heaps)
    assert totals["allocations"]["verdict"] == "different"


def test_it_takes_two(traces):
    assert "OLD NEW" in analyze("diff", traces["small"], status=2).stderr
