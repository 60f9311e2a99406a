# SPDX-License-Identifier: Apache-2.0
"""Parallel regions of OpenMP in libraries: one function without a name runs for several operators. Each region is named by the
operator in which it ran, its threads' parts stand with it, and the time that an operator waits for its threads is told."""
import subprocess

import pytest
from conftest import LIBRARY, ROOT, analyze, report, sites
from test_cut import CUT

TIMES = 20
SCALES = 2  # calls of cblas_sscal for each of cblas_saxpy
BUSY_US = 3000
BYTES = 1000
MAIN = """
#include <stdio.h>
extern double region_waited_least, region_waited_most;
void cblas_saxpy(int, float, const float *, int, float *, int);
void cblas_sscal(int, float, float *, int);
int main(void)
{
	for (int i = 0; i < TIMES; i++) {
		cblas_saxpy(BYTES, BUSY_US, 0, 1, 0, 1);
		for (int k = 0; k < SCALES; k++)
			cblas_sscal(BYTES, BUSY_US, 0, 1);
	}
	printf("%.0f %.0f\\n", region_waited_least, region_waited_most);
	return 0;
}
"""
OWN = """
int main(void)
{
	for (int i = 0; i < TIMES; i++) {
#pragma omp parallel num_threads(2)
		__asm__ volatile("");
	}
	return 0;
}
"""
NUMBERS = [f"-D{name}={value}" for name, value in (("TIMES", TIMES), ("SCALES", SCALES), ("BUSY_US", BUSY_US), ("BYTES", BYTES))]


def build(folder, compiler, strip):
    (folder / "main.c").write_text(MAIN)
    subprocess.run([compiler, "-O1", "-g", "-fopenmp", "-shared", "-fPIC", *strip, "-o", folder / "libregions.so",
                    ROOT / "tests/workloads/region_waits.c"], check=True)
    subprocess.run([compiler, "-O1", *NUMBERS, "-o", folder / "main", folder / "main.c", f"-L{folder}", "-lregions",
                    f"-Wl,-rpath,{folder}"], check=True)
    return folder / "main"


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("strip", [["-s"], []])
def test_a_region_is_named_by_its_operator(tprof, tmp_path, compiler, strip):
    run = tprof.run([build(tmp_path, compiler, strip)], [LIBRARY])
    assert run.status == 0, run.stderr
    [trace] = run.traces()
    calls = {"cblas_saxpy": TIMES, "cblas_sscal": TIMES * SCALES}
    regions = {f"{name} (parallel region)": count for name, count in calls.items()}
    ops = {op["name"]: op for op in report(trace, command="ops", options=["--top", "0"])["ops"]}
    parts = {name: op for name, op in ops.items() if op["category"] == "openmp part"}
    assert {name: op["calls"] for name, op in ops.items() if name not in parts} == {**calls, **regions}
    assert all(ops[name]["category"] == "openmp" for name in regions)
    if compiler == "gcc":
        assert {name: op["calls"] for name, op in parts.items()} == {
            f"{name}, a thread's part": 2 * count for name, count in regions.items()}
        for name, count in regions.items():
            assert parts[f"{name}, a thread's part"]["self_allocated_bytes"] >= 2 * BYTES * count
    else:
        assert parts == {}
    # One row for a region and its parts, in the text and in the rows by op.
    text = analyze("ops", "--top", "0", trace).stdout
    times = text.split("\n\n")[2]
    assert all(name in times for name in [*calls, *regions]) and "'s part" not in times and "+0x" not in text
    allocating = {row["op"] for row in sites(trace, "hotspots", "--by", "op", "--top", "0") if row["op"]}
    assert compiler != "gcc" or allocating == set(regions)


def test_waiting_for_threads(tprof, tmp_path):
    """What the program measures around it: the thread that opened the regions waited for the other one all the time."""
    run = tprof.run([build(tmp_path, "gcc", ["-s"])], [LIBRARY])
    least, most = map(float, run.stdout.split())
    [trace] = run.traces()
    ops = {op["name"]: op for op in report(trace, command="ops", options=["--top", "0"])["ops"]}
    for suffix in ("", " (parallel region)"):
        waited = sum(ops[name + suffix]["threads_wait_ns"] for name in ("cblas_saxpy", "cblas_sscal"))
        # What happens between the program's clock and the collector's is in neither's measure; it is far less than the waiting.
        assert 0.5 * least <= waited <= 1.05 * most
        assert all(ops[name + suffix]["threads_wait_ns"] <= ops[name + suffix]["total_ns"] for name in ("cblas_saxpy", "cblas_sscal"))
    text = analyze("ops", trace).stdout
    assert " of cblas_sscal are waiting for its threads" in text and "waiting" in text.split("\n\n")[2]


def test_a_region_outside_of_operators(tprof, tmp_path):
    (tmp_path / "own.c").write_text(OWN)
    subprocess.run(["gcc", "-O1", "-fopenmp", "-s", *NUMBERS, "-o", tmp_path / "own", tmp_path / "own.c"], check=True)
    run = tprof.run([tmp_path / "own"], [LIBRARY])
    [trace] = run.traces()
    ops = {op["name"]: op["calls"] for op in report(trace, command="ops")["ops"]}
    [region] = [name for name in ops if not name.endswith("'s part")]
    assert region.startswith("parallel region at own+0x")
    assert ops == {region: TIMES, f"{region}, a thread's part": 2 * TIMES}


def test_regions_of_a_replay_that_is_saved(tprof, tmp_path, monkeypatch):
    run = tprof.run([build(tmp_path, "gcc", ["-s"])], [LIBRARY])
    [trace] = run.traces()
    for every in ("7", "50"):
        monkeypatch.setenv("CUT_EVERY", every)
        for words in (["ops", "--json"], ["ops", "--tree", "--json"], ["summary"], ["peak", "--by", "op", "--json"]):
            assert analyze(*words, trace, program=CUT).stdout == analyze(*words, trace).stdout, words
