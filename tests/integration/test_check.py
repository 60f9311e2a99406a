# SPDX-License-Identifier: Apache-2.0
"""tprof-analyze check: limits that a run keeps or exceeds, as continuous integration asks for them."""
import subprocess
import xml.etree.ElementTree

import pytest
from conftest import ANALYZE, LIBRARY, WORKLOADS, report


def record(directory, name, *command):
    subprocess.run(list(map(str, command)), cwd=directory, check=True, stdout=subprocess.DEVNULL,
                   env={"LD_PRELOAD": str(LIBRARY), "TPROF_OUTPUT": name})
    return directory / name


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """One program with little and with more to do, and one with ops."""
    directory = tmp_path_factory.mktemp("check")
    return {"small": record(directory, "small.bin", WORKLOADS / "threads", 3),
            "large": record(directory, "large.bin", WORKLOADS / "threads", 30),
            "ops": record(directory, "ops.bin", WORKLOADS / "ops", 1),
            "directory": directory}


def check(*arguments):
    done = subprocess.run([str(ANALYZE), "check", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def test_limits_at_the_byte(traces):
    heap = report(traces["small"])["heap"]
    for option, value in (("--max-peak", heap["peak_bytes"]), ("--max-unfreed", heap["end_bytes"]),
                          ("--max-allocations", heap["allocations"])):
        assert check(option, value, traces["small"]) == (0, "1 rule kept\n", "")
        status, said, _ = check(option, value - 1, traces["small"])
        assert status == 1 and said.startswith(option[2:]) and "is allowed" in said


def test_regressions(traces):
    old, new = (report(traces[name])["heap"]["allocations"] for name in ("small", "large"))
    more = 100 * (new / old - 1)
    base = ["--baseline", traces["small"]]
    assert check(*base, "--max-regress", f"allocations={more + 0.1:.6f}%", traces["large"])[0] == 0
    status, said, _ = check(*base, "--max-regress", f"allocations={more - 0.1:.6f}%,peak=100000%", traces["large"])
    assert status == 1 and len(said.splitlines()) == 1 and "more than the baseline's" in said
    assert check(*base, "--max-regress", "allocations=0%,peak=0%,unfreed=0%", traces["small"])[0] == 0


def test_what_cannot_be_checked_is_no_success(traces):
    status, said, _ = check("--max-growth", "1KiB/step", traces["small"])
    assert status == 1 and "can't be checked" in said
    status, said, _ = check("--baseline", traces["small"], "--max-regress", "op:nothing=5%", traces["small"])
    assert status == 1 and "can't be checked" in said


def test_times_of_one_run_do_not_regress_against_themselves(traces):
    names = [op["name"] for op in report(traces["ops"])["ops"] if op["calls"] > 2]
    assert names
    rules = ",".join(f"op:{name}=0%" for name in names)
    assert check("--baseline", traces["ops"], "--max-regress", rules, traces["ops"])[0] == 0


def test_rules_file_and_junit(traces):
    rules = traces["directory"] / "rules"
    rules.write_text("# of the nightly run\n\nmax-peak 1\nmax-allocations 1000000000\nmax-regress peak=0%,unfreed=0%\n")
    junit = traces["directory"] / "junit.xml"
    status, said, _ = check("--rules", rules, "--junit", junit, "--baseline", traces["small"], traces["small"])
    assert status == 1 and [line.split(":")[0] for line in said.splitlines()] == ["max-peak 1"]
    suite = xml.etree.ElementTree.parse(junit).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("4", "1")
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert failed == ["max-peak 1"]


@pytest.mark.parametrize("arguments, words", [
    ([], ["--max-peak"]), (["--max-peak", "much"], ["--max-peak", "much", "2GiB"]),
    (["--max-growth", "1KiB/week"], ["1KiB/week", "1KiB/step"]), (["--max-regress", "peak=5%"], ["--baseline"]),
    (["--max-regress", "speed=5%"], ["speed=5%", "op:NAME"]), (["--rules", "/nowhere/rules"], ["/nowhere/rules"])])
def test_wrong_rules(traces, arguments, words):
    status, said, error = check(*arguments, traces["small"])
    assert status == 2 and said == "" and len(error.splitlines()) == 1
    assert all(word in error for word in words)


def test_a_wrong_line_of_a_rules_file_is_named(traces):
    rules = traces["directory"] / "wrong"
    rules.write_text("max-peak 1GiB\nmax-fun 3\n")
    status, _, error = check("--rules", rules, traces["small"])
    assert status == 2 and f"{rules}:2: max-fun" in error and "max-peak" in error


def test_a_baseline_that_cannot_be_read(traces):
    assert check("--baseline", "/nowhere/trace.bin", "--max-regress", "peak=5%", traces["small"])[0] == 3
