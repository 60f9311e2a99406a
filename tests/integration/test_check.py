# SPDX-License-Identifier: Apache-2.0
"""tprof-analyze check: limits that a run keeps or exceeds, as continuous integration asks for them."""
import json
import os
import subprocess
import xml.etree.ElementTree

import pytest
from conftest import ANALYZE, BUILD, LIBRARY, PYTHON, ROOT, WORKLOADS, analyze, report


# STEPS steps, in each of which it keeps LEAK bytes and an op takes NS nanoseconds, as its own clock says.
PROGRAM = """
#include <stdlib.h>
#include <time.h>
#include <tprof.h>
static void *volatile kept;
static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
int main(int argc, char **argv)
{
    long steps = atol(argv[1]), leak = atol(argv[2]), ns = atol(argv[3]), extra = argc > 4 ? atol(argv[4]) : 0;
    kept = malloc(100000 + extra);
    for (long i = 0; i < steps; i++) {
        tprof_op_begin("work", "test");
        for (long end = now() + ns; now() < end;)
            ;
        tprof_op_end();
        if (leak)
            kept = malloc(leak);
        tprof_step(1);
    }
    return 0;
}
"""


def record(directory, name, *command):
    subprocess.run(list(map(str, command)), cwd=directory, check=True, stdout=subprocess.DEVNULL,
                   env={"LD_PRELOAD": str(LIBRARY), "TPROF_OUTPUT": name})
    return directory / name


# Two thousand lines, each with a block of its own that comes and goes.
MANY_STACKS = """
import random, sys
random.seed(1)
sys.path.insert(0, sys.argv[1])
import tprof
held = {}
exec(compile("".join(f"def touch{i}(): held[{i}] = bytearray(2000)\\n" for i in range(2000)), "lines.py", "exec"))
touch = [globals()[f"touch{i}"] for i in range(2000)]
for step in range(int(sys.argv[2])):
    for i in range(2000):
        held.pop(i, None)
        if random.getrandbits(1):
            touch[i]()
    tprof.step()
"""


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
        # Rounded, they would be the same.
        numbers = (f"{n}" if option == "--max-allocations" else f"{n:,} B" for n in (value, value - 1))
        assert ": {}, and {} is allowed".format(*numbers) in said


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
    assert status == 1 and "can't be checked: a run has no steps" in said and "/s" in said
    status, said, _ = check("--baseline", traces["small"], "--max-regress", "op:nothing=5%", traces["small"])
    assert status == 1 and "can't be checked" in said


@pytest.mark.parametrize("setting, why", [({"TPROF_ALLOC": "off"}, "TPROF_ALLOC=off"),
                                          ({"TPROF_START": "off"}, "recording was never switched on")])
def test_memory_that_was_not_recorded_is_no_success(traces, tmp_path, setting, why):
    """No allocation in the trace is not 0 bytes: no limit is kept by it, and no command says that nothing was alive, or left."""
    trace = tmp_path / "unseen.bin"
    subprocess.run([WORKLOADS / "growth", "none", "50", "1"], check=True, stdout=subprocess.DEVNULL,
                   env={"LD_PRELOAD": str(LIBRARY), "TPROF_OUTPUT": str(trace), **setting})
    limits = ["--max-peak", "1GiB", "--max-unfreed", "1GiB", "--max-allocations", "1000000", "--max-growth", "1GiB"]
    status, said, _ = check(*limits, trace)
    lines = said.splitlines()
    assert status == 1 and len(lines) == 4
    assert all(f"can't be checked: what was allocated is not in {trace}: {why}" in line for line in lines), said
    for old, new in ((trace, traces["small"]), (traces["small"], trace)):
        status, said, _ = check("--baseline", old, "--max-regress", "peak=5%,unfreed=5%,allocations=5%,growth=5%", new)
        lines = said.splitlines()
        assert status == 1 and len(lines) == 4
        assert all(f"can't be checked: what was allocated is not in {trace}: {why}" in line for line in lines), said
    assert check("--max-rss", "1GiB", trace)[0] == 0
    wrong = {"peak": ["nothing was alive", "Peak: 0 B"], "hotspots": ["nothing was allocated", "0 allocations"],
             "timeline": ["peak 0 B", "live bytes", "mmap  "],
             "leaks": ["everything was freed", "nothing does", "0 B in 0 blocks", "live blocks  ", "looks"]}
    for command, words in wrong.items():
        text = analyze(command, trace).stdout
        assert not [word for word in words if word in text], text
        assert "no allocation was recorded" in text and f"note: {why[:11]}" in text
    assert "0 B" not in analyze("steps", trace).stdout
    assert report(trace)["heap"]["recorded"] is False and report(traces["small"])["heap"]["recorded"] is True
    for command in ("export", "flamegraph"):
        assert analyze(command, trace).stderr == f"tprof-analyze: {trace}: no allocation was recorded: {why}\n"
        assert "no allocation" not in analyze(command, "--what", "cpu", trace).stderr


def stopped_early(directory, count=400000):
    """A recording that reached RLIMIT_FSIZE."""
    trace = directory / "stopped.bin"
    subprocess.run([WORKLOADS / "limits", "fsize=400000", WORKLOADS / "steady", str(count)], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env={"LIMITS_PRELOAD": str(LIBRARY), "TPROF_OUTPUT": str(trace)})
    assert report(trace)["capture"]["stopped"]
    return trace


def stopped_soon(directory):
    """One that had so small a part of the run that it would be too short to tell its growth."""
    return stopped_early(directory, 4000000)


def cut_off(directory, length=800000):
    """A trace of which a part was copied."""
    whole, trace = record(directory, "whole.bin", WORKLOADS / "steady", 400000), directory / "cut.bin"
    trace.write_bytes(whole.read_bytes()[:length])
    return trace


def cut_off_early(directory):
    """A part that would be too short to tell its growth."""
    return cut_off(directory, 90000)


@pytest.mark.parametrize("make, why", [(stopped_early, "recording stopped before the process ended"),
                                       (stopped_soon, "recording stopped before the process ended"),
                                       (cut_off, "the trace is damaged"), (cut_off_early, "the trace is damaged")])
def test_a_part_of_a_run_keeps_no_rule(traces, tmp_path, make, why):
    """Nobody knows what came then. What was recorded may be too much already."""
    trace = make(tmp_path)
    cut, note = f"can't be checked: only a part is known of {trace}: {why}", f"note: {trace}: {why}"
    limits = ["peak", "unfreed", "allocations", "growth"]
    generous = [word for what in limits for word in (f"--max-{what}", "100GiB" + "/s" * (what == "growth"))]
    status, said, _ = check(*generous, "--max-rss", "100GiB", trace)
    lines = said.splitlines()
    assert status == 1 and len(lines) == 6 and lines[-1] == note and all(line.endswith(cut) for line in lines[:4]), said
    answer = json.loads(check("--json", *generous, "--max-rss", "100GiB", trace)[1])
    assert [rule["verdict"] for rule in answer["rules"]] == ["unchecked"] * 4 + ["kept"]
    assert answer["notes"] == [note[len("note: "):]] and not answer["passed"]
    # At least so much it was, but for what was freed later.
    strict = [word for what in limits for word in (f"--max-{what}", "1" + "/s" * (what == "growth"))]
    answer = json.loads(check("--json", *strict, trace)[1])
    assert [rule["verdict"] for rule in answer["rules"]] == ["breach", "unchecked", "breach", "unchecked"]
    rules = "peak=5%,allocations=5%,unfreed=5%,steps=5%"
    answer = json.loads(check("--json", "--baseline", trace, "--max-regress", rules, trace)[1])
    assert [rule["verdict"] for rule in answer["rules"]] == ["unchecked"] * 4
    answer = json.loads(check("--json", "--baseline", traces["small"], "--max-regress", rules, trace)[1])
    assert [rule["verdict"] for rule in answer["rules"]] == ["breach", "breach", "unchecked", "unchecked"]


def test_a_run_with_a_pause_is_judged_with_a_note(tmp_path):
    """What began in a pause the program asked to leave out: the rest is known, and whoever reads the verdict is told."""
    source = tmp_path / "pause.c"
    source.write_text("#include <stdlib.h>\n#include <tprof.h>\n"
                      "int main(void) { tprof_stop(); free(malloc(1000)); tprof_start(); free(malloc(10)); return 0; }\n")
    subprocess.run(["gcc", "-O0", "-I", ROOT / "include", source, "-o", tmp_path / "pause"], check=True)
    trace = record(tmp_path, "pause.bin", tmp_path / "pause")
    status, said, _ = check("--max-peak", 10, trace)
    assert status == 0 and said.startswith(f"1 rule kept\n\nnote: {trace}: recording was paused for ")


def test_times_of_one_run_do_not_regress_against_themselves(traces):
    names = [op["name"] for op in report(traces["ops"])["ops"] if op["calls"] > 2]
    assert names
    rules = ",".join(f"op:{name}=0%" for name in names)
    assert check("--baseline", traces["ops"], "--max-regress", rules, traces["ops"])[0] == 0


# OPS ops, the last of which takes FACTOR times as long, as its own clock says. All take so long that what holds one call up
# is little of it.
OPS_PROGRAM = """
#include <stdlib.h>
#include <time.h>
#include <tprof.h>
static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
int main(int argc, char **argv)
{
    static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g" };
    long ops = atol(argv[1]), factor = atol(argv[2]);
    for (long i = 0; i < 2000; i++)
        for (long k = 0; k < ops; k++) {
            tprof_op_begin(names[k], "test");
            for (long end = now() + (k == ops - 1 ? factor : 1) * 20000; now() < end;)
                ;
            tprof_op_end();
        }
    return argc == 3 ? 0 : 1;
}
"""


def test_one_run_a_side_is_judged_as_diff_does(tmp_path):
    """What diff calls slower is a breach, what it calls one run can't be checked: a single op has none beside it."""
    (tmp_path / "ops.c").write_text(OPS_PROGRAM)
    subprocess.run(["gcc", "-O1", f"-I{ROOT}/include", tmp_path / "ops.c", "-o", tmp_path / "ops"], check=True)
    for count in (1, 7):
        old, new = (record(tmp_path, f"{count}-{factor}.bin", tmp_path / "ops", count, factor) for factor in (1, 4))
        verdicts = {op["name"]: op["verdict"] for op in json.loads(analyze("diff", "--json", old, new).stdout)["ops"]}
        if count == 1:
            assert verdicts["a"] in ("one run", "drifts", "too few")
        answers = {"slower": "breach", "one run": "unchecked", "drifts": "unchecked", "too few": "unchecked"}
        for name, verdict in verdicts.items():
            answer = said("--baseline", old, "--max-regress", f"op:{name}=50%", new)["rules"][0]
            if answer["ratio"] > 1.5:
                assert answer["verdict"] == answers.get(verdict, "kept"), (name, verdict, answer)
            if verdict == "one run":
                assert "with one run a side nothing tells the program from the machine" in answer["message"]
        last = verdicts["abcdefg"[count - 1]]
        assert last in ("slower", "one run", "drifts", "too few"), verdicts


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
    (["--max-regress", "speed=5%"], ["speed=5%", "op:NAME"]), (["--max-regress", "peak=5"], ["peak=5", "N%"]),
    (["--max-regress", "op:=5%"], ["op:=5%", "op:NAME"]), (["--max-growth", "fast/step"], ["fast/step", "1KiB/step"]),
    (["--max-allocations", "-1"], ["--max-allocations", "a number"]), (["--max-rss", ""], ["--max-rss", "2GiB"]),
    (["--max-unfreed", "5%"], ["--max-unfreed", "5%"]), (["--rules", "/nowhere/rules"], ["/nowhere/rules"])])
def test_wrong_rules(traces, arguments, words):
    status, said, error = check(*arguments, traces["small"])
    assert status == 2 and said == "" and len(error.splitlines()) == 1
    assert all(word in error for word in words)


def test_a_wrong_line_of_a_rules_file_is_named(traces):
    rules = traces["directory"] / "wrong"
    rules.write_text("max-peak 1GiB\nmax-fun 3\n")
    status, _, error = check("--rules", rules, traces["small"])
    assert status == 2 and f"{rules}:2: max-fun" in error and "max-peak" in error


@pytest.mark.parametrize("command", ["check", "diff", "compare", "peak", "roofline", "lines"])
def test_a_full_disk_is_not_taken_for_full_memory(traces, command):
    """More than the output's buffer holds, so that writing fails while the answer is put together."""
    arguments = {"check": [word for size in range(1, 60) for word in ("--max-peak", size)] + [traces["ops"]],
                 "diff": [traces["small"], traces["ops"]]}.get(command, [traces["ops"]])
    with open("/dev/full", "wb") as full:
        done = subprocess.run([str(ANALYZE), command, "--json", *map(str, arguments)], stdout=full, stderr=subprocess.PIPE,
                              text=True, timeout=120, check=False)
    assert "could not be written" in done.stderr and "memory" not in done.stderr, done.stderr
    assert done.returncode == (1 if command == "check" else 2)


def test_a_baseline_that_cannot_be_read(traces):
    assert check("--baseline", "/nowhere/trace.bin", "--max-regress", "peak=5%", traces["small"])[0] == 3


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Runs of 200 steps, without and with a leak of 4,096 bytes a step; some that keep 50,000 bytes more."""
    directory = tmp_path_factory.mktemp("runs")
    (directory / "steps.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-O1", f"-I{ROOT}/include", directory / "steps.c", "-o", directory / "steps"], check=True)
    kinds = {"base": (200, 0, 1000), "leaky": (200, 4096, 1000)}
    found = {kind: [record(directory, f"{kind}{i}.bin", directory / "steps", *arguments) for i in range(3)]
             for kind, arguments in kinds.items()}
    found["big"] = [record(directory, f"big{i}.bin", directory / "steps", 20, 0, 1000, 50000 + 10 * i) for i in range(3)]
    found["small"] = [record(directory, f"small{i}.bin", directory / "steps", 20, 0, 1000, 10 * i) for i in range(3)]
    return found


def baselines(traces):
    return [word for trace in traces for word in ("--baseline", trace)]


def said(*arguments):
    status, output, error = check("--json", *arguments)
    assert error == ""
    answer = json.loads(output)
    assert answer["passed"] == (status == 0) == all(rule["verdict"] == "kept" for rule in answer["rules"])
    return answer


@pytest.mark.parametrize("metric", ["peak", "unfreed"])
def test_memory_of_several_runs(runs, metric):
    answer = said(*baselines(runs["small"]), "--max-regress", f"{metric}=5%,{metric}=90%", *runs["big"])
    breach, kept = answer["rules"]
    assert (breach["verdict"], kept["verdict"]) == ("breach", "kept")
    assert breach["p_corrected"] < 0.05 and breach["new"] > 1.05 * breach["old"]
    # Half a KiB more, of runs that differ by 10 bytes: over a limit of nothing, and no more than chance.
    shuffled = [runs["small"][0], runs["small"][2]]
    answer = said(*baselines(shuffled), "--max-regress", f"{metric}=0%", runs["small"][1], runs["small"][2])
    assert answer["passed"] and answer["rules"][0]["p"] > 0.05


def test_limits_hold_for_each_run(runs):
    peaks = [report(trace)["heap"]["peak_bytes"] for trace in runs["small"]]
    assert said("--max-peak", max(peaks), *runs["small"])["passed"]
    answer = said("--max-peak", max(peaks) - 1, *runs["small"])
    assert answer["rules"][0]["verdict"] == "breach" and answer["rules"][0]["new"] == max(peaks)
    assert "in the run that has most" in answer["rules"][0]["message"]


def test_growth(runs):
    assert said("--max-growth", "5KiB/step", runs["leaky"][0])["passed"]
    assert said("--max-growth", "0/step", runs["base"][0])["passed"]
    answer = said("--max-growth", "4095/step", "--max-growth", "1KiB", *runs["leaky"])
    assert [rule["verdict"] for rule in answer["rules"]] == ["breach", "breach"]
    assert answer["rules"][0]["new"] == pytest.approx(4096, rel=0.01)
    (rule,) = said("--max-growth", "1KiB/s", runs["leaky"][0])["rules"]
    assert rule["verdict"] == "unchecked" and "say /step" in rule["message"]


def test_growth_of_too_few_steps(runs, tmp_path):
    """What the run leaks is far above the limit, or far below: who looks at so few steps can't know."""
    for steps, words in ((10, "a run has 10 steps, and growth by steps wants 16 or more"), (60, None)):
        trace = record(tmp_path, f"{steps}.bin", runs["leaky"][0].parent / "steps", steps, 4096, 1000)
        for limit, verdict in (("1KiB/step", "breach"), ("8KiB/step", "kept")):
            answer = said("--max-growth", limit, trace)
            (rule,) = answer["rules"]
            assert rule["verdict"] == ("unchecked" if words else verdict)
            assert answer["passed"] is (rule["verdict"] == "kept")
            assert not words or words in rule["message"]


def test_growth_among_too_many_stacks(tmp_path):
    """Sixteen looks have fourteen differences: of 2,000 stacks none can be sure to grow, and nothing found is no answer."""
    program = tmp_path / "many.py"
    program.write_text(MANY_STACKS)
    for steps, verdict in ((16, "unchecked"), (40, "kept")):
        trace = record(tmp_path, f"many{steps}.bin", PYTHON, program, BUILD / "share/tprof", steps)
        (rule,) = said("--max-growth", "1MiB/step", trace)["rules"]
        assert rule["verdict"] == verdict, rule
        assert verdict == "kept" or "16 looks can't tell growth from chance among the" in rule["message"]
        text = analyze("leaks", trace).stdout
        assert ("too short a run to tell: from 16 looks" in text) == (verdict == "unchecked")


def test_growth_over_a_baseline(runs):
    """Bytes a step of what leaks: by their intervals where there is a run a side, else by what the runs differ by."""
    base, leaky = runs["base"], runs["leaky"]
    faster = record(leaky[0].parent, "faster.bin", leaky[0].parent / "steps", 200, 6144, 1000)
    for old, new in ((base[:1], leaky[:1]), (base, leaky), (base[:1], leaky)):
        (rule,) = said(*baselines(old), "--max-regress", "growth=900%", *new)["rules"]
        assert rule["verdict"] == "breach" and rule["p_corrected"] < 0.05
        assert rule["old"] == 0 and rule["new"] == pytest.approx(4096, rel=0.01)
        assert "4.00 KiB a step, more than the baseline's 0 B a step" in rule["message"]
        assert said(*baselines(new), "--max-regress", "growth=0%", *old)["passed"]
    breach, kept = said(*baselines(leaky[:1]), "--max-regress", "growth=40%,growth=60%", faster)["rules"]
    assert (breach["verdict"], kept["verdict"]) == ("breach", "kept")
    assert breach["ratio"] == pytest.approx(1.5, rel=0.02) and "50.0% more" in breach["message"]
    assert said(*baselines(leaky), "--max-regress", "growth=0%", *leaky)["passed"]
    # So few events that, however slow the machine is, there are no 16 moments to look at.
    short = [record(leaky[0].parent, "short.bin", leaky[0].parent / "steps", 2, 4096, 1000)]
    for old, new, who in ((short, leaky, "the baseline"), (leaky, short, "the run")):
        (rule,) = said(*baselines(old), "--max-regress", "growth=900%", *new)["rules"]
        assert rule["verdict"] == "unchecked" and f"{who} is too short" in rule["message"]


def test_growth_by_steps_is_not_held_against_growth_by_time(runs, traces):
    clock = record(traces["directory"], "clock.bin", WORKLOADS / "growth", "clock", 400, 1)
    assert report(clock, command="leaks")["growth"]["unit"] == "second"
    (rule,) = said(*baselines([clock]), "--max-regress", "growth=900%", runs["leaky"][0])["rules"]
    assert rule["verdict"] == "unchecked" and "one run has steps enough to tell growth by, and another has not" in rule["message"]
    assert said(*baselines([clock]), "--max-regress", "growth=0%", clock)["passed"]


def test_rss_against_a_baseline(runs):
    assert said(*baselines(runs["base"][:1]), "--max-regress", "rss=400%", "--max-rss", "1GiB", runs["base"][1])["passed"]
    assert not said("--max-rss", "1KiB", runs["base"][1])["passed"]


def test_all_that_was_said_is_in_junit(runs, tmp_path):
    junit = tmp_path / "junit.xml"
    answer = said("--junit", junit, "--max-peak", 1, "--max-rss", "1GiB", *runs["small"])
    cases = list(xml.etree.ElementTree.parse(junit).getroot())
    assert [case.get("name") for case in cases] == [rule["rule"] for rule in answer["rules"]]
    assert cases[0].find("failure").get("message") == answer["rules"][0]["message"]
    assert cases[1].find("failure") is None
    status, _, error = check("--junit", tmp_path / "no/such/junit.xml", "--max-peak", 1, runs["small"][0])
    assert status == 2 and "--junit" in error
    assert not os.path.exists(tmp_path / "no")
