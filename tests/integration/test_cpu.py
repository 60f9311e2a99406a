# SPDX-License-Identifier: Apache-2.0
"""CPU samples: the truth that a program measures itself, and the programs that a sampler could disturb."""
import collections
import json
import math
import re
import signal
import subprocess

import pytest
from conftest import BUILD, LIBRARY, PYTHON, WORKLOADS, analyze, report, sampled

FAST = {"TPROF_CPU": "997"}  # a prime: in no step with what the programs do
# An interval that one honest run in some hundred thousand misses: the tests are to fail for reasons only.
Z = 4.5


def wilson(share, trials, z=Z):
    centre = share + z * z / (2 * trials)
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return (centre - half) / (1 + z * z / trials), (centre + half) / (1 + z * z / trials)


def independent(trace):
    """So many samples of equal weight would say as much (Kish 1965): on a busy machine some come late, and stand for several."""
    events = json.loads(analyze("dump", "--json", "--top", "0", trace).stdout)["events"]
    periods = [event["periods"] for event in events if event["kind"] == "sample"]
    return sum(periods) ** 2 / sum(n * n for n in periods)


def cpu(trace, *options, key="cpu"):
    return report(trace, command="hotspots", options=["--top", "0", *options])[key]


def by_function(rows):
    return {row["function"]: row for row in rows if row["module"] == "cpu_split"}


@pytest.fixture(scope="module")
def split(tmp_path_factory):
    """A traced run of cpu_split, and what it says of itself."""
    from conftest import Harness  # pylint: disable=import-outside-toplevel
    harness = Harness(tmp_path_factory.mktemp("split"))
    run = sampled(lambda capture: capture["cpu_samples"] >= 100, lambda: harness.profile([WORKLOADS / "cpu_split", 2000], env=FAST))
    return run.traces()[0], run.truth()


def test_shares(split):
    """Each function's share, as it measured it itself, lies in the interval around its share of the samples."""
    trace, truth = split
    answer = report(trace)
    rows = by_function(answer["cpu"])
    capture, samples = answer["capture"], independent(trace)
    assert capture["cpu_period_ns"] == 10**9 // 997
    assert abs(capture["cpu_ns"] + capture["cpu_own_ns"] - 2e9) < 2e8
    for name in ("heavy", "medium", "light", "down"):
        share = truth[name] / 2e9
        row = rows[name]
        low, high = wilson(row["self_share"], samples)
        assert low <= share <= high, (name, share, samples, row)
        assert row["self_share_ci95"][0] < row["self_share"] < row["self_share_ci95"][1]
        # The interval that is printed is the one at 95%, and as wide as so many samples make it.
        assert row["self_share_ci95"] == pytest.approx(wilson(row["self_share"], samples, 1.959964), abs=1e-4)


def test_each_sample_is_dumped_with_its_stack(split):
    """As many as were taken, for as much time; their stacks stand beside the events, each once."""
    trace, _ = split
    dump, capture = json.loads(analyze("dump", "--json", trace).stdout), report(trace)["capture"]
    samples = [event for event in dump["events"] if event["kind"] == "sample"]
    assert len(samples) == capture["cpu_samples"]
    assert sum(event["periods"] for event in samples) * capture["cpu_period_ns"] == capture["cpu_ns"]
    ((_, stacks),) = [(one["pid"], one["stacks"]) for one in dump["stacks"]]
    heavy = sum(stacks[str(event["stack"])]["stack"][0]["function"] == "heavy" for event in samples)
    assert heavy == by_function(cpu(trace))["heavy"]["self_samples"] > 0


def test_totals(split):
    """main is in every stack; recursion counts once; self times sum up to all."""
    trace, _ = split
    rows = cpu(trace)
    own = by_function(rows)
    samples = report(trace)["capture"]["cpu_samples"]
    assert own["main"]["total_samples"] >= 0.99 * samples
    assert own["down"]["total_samples"] <= samples
    assert abs(own["down"]["total_samples"] - own["down"]["self_samples"]) <= 3
    assert sum(row["self_samples"] for row in rows) == samples
    assert own["measured"]["total_samples"] >= sum(own[f]["total_samples"] for f in ("heavy", "medium", "light"))


@pytest.mark.parametrize("by, names", [
    ("line", {"function", "module", "file", "line"}), ("module", {"module", "path"}),
    ("thread", {"thread", "name", "tid"}), ("stack", {"stack", "function", "module"})])
def test_groups(split, by, names):
    rows = cpu(split[0], "--by", by)
    assert names <= set(rows[0])
    assert sum(row["self_samples"] for row in rows) == report(split[0])["capture"]["cpu_samples"]
    assert analyze("hotspots", "--by", by, split[0]).stdout.count("CPU time") >= 2


CRUNCH = """
import sys, time
sys.path.insert(0, sys.argv[1])
import tprof
def crunch():
    end = time.thread_time() + 0.2
    while time.thread_time() < end:
        sum(range(1000))
with tprof.op("crunching"):
    crunch()
"""


def test_callers_of_an_op(tprof):
    """An op that hotspots lists is one that it knows: here one that the program tells, then one that is hooked. Some of
    the samples in the latter end in assembly without unwind tables: nearly all do in the kernel for CPUs that OpenBLAS does
    not know."""
    run = sampled(lambda capture: capture["cpu_samples"] >= 15,
                  lambda: tprof.run([PYTHON, "-c", CRUNCH, BUILD / "share/tprof"], [LIBRARY]))
    listed = {row["op"]: row["self_samples"] for row in cpu(run.traces()[0], "--by", "op")}
    assert listed["crunching"] > 5
    assert cpu(run.traces()[0], "--callers", "crunching", key="callers")["samples"] == listed["crunching"]
    text = analyze("hotspots", "--callers", "crunching", run.traces()[0]).stdout
    assert "no sample met" not in text and "ops --tree shows which ops call it" in text
    with open("/proc/cpuinfo", encoding="ascii") as cpuinfo:
        avx2 = " avx2 " in cpuinfo.read()
    run = tprof.run([PYTHON, "-c", "import numpy\na = numpy.ones((300, 300))\n"
                     "for _ in range(1000): a @ a"], [LIBRARY],
                    {"OPENBLAS_NUM_THREADS": "1", **({"OPENBLAS_CORETYPE": "Haswell"} if avx2 else {})})
    (op, samples), = [(row["op"], row["self_samples"]) for row in cpu(run.traces()[0], "--by", "op")
                      if "gemm" in (row["op"] or "")]
    found = cpu(run.traces()[0], "--callers", op, key="callers")
    assert found["samples"] == samples > 5
    assert {row["module"].startswith("_multiarray_umath") for row in found["rows"]} == {True}


def test_callers_and_callees(split):
    trace, _ = split
    own = by_function(cpu(trace))
    callers = cpu(trace, "--callers", "heavy", key="callers")
    assert [row["function"] for row in callers["rows"]] == ["measured"]
    assert callers["samples"] == own["heavy"]["total_samples"]
    callees = cpu(trace, "--callees", "measured", key="callees")
    found = {row["function"]: row["total_samples"] for row in callees["rows"]}
    assert found["heavy"] == own["heavy"]["total_samples"]
    assert sum(found.values()) == callees["samples"] == own["measured"]["total_samples"]
    # What is called directly, not what ran: below main that is never a leaf.
    called = {row["function"] for row in cpu(trace, "--callees", "main", key="callees")["rows"]}
    assert "measured" in called and not called & {"heavy", "medium", "light"}
    assert "no sample met" in analyze("hotspots", "--callers", "nonsense", trace).stdout
    assert "measured" in analyze("hotspots", "--callers", "heavy", trace).stdout
    analyze("hotspots", "--callers", "a", "--callees", "b", trace, status=2)
    analyze("peak", "--callers", "a", trace, status=2)


def test_windows(split):
    """Cut at the time of a sample in the middle: it is of the first part, as are all before it."""
    trace, _ = split
    events = json.loads(analyze("dump", "--json", "--top", "0", trace).stdout)["events"]
    times = sorted(event["time_ns"] for event in events if event["kind"] == "sample")
    cut = times[len(times) // 2]
    first = report(trace, options=["--to", f"{cut}ns"])["capture"]["cpu_samples"]
    rest = report(trace, options=["--from", f"{cut + 1}ns"])["capture"]["cpu_samples"]
    assert first == sum(time <= cut for time in times) > 0
    assert rest == sum(time > cut for time in times) > 0


def test_pictures(split):
    trace, _ = split
    folded = analyze("export", "--what", "cpu", "--format", "folded", trace).stdout.splitlines()
    weights = {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in folded}
    assert sum(weights.values()) == report(trace)["capture"]["cpu_ns"]
    assert max(weights, key=weights.get) == "main;measured;heavy"
    picture = analyze("flamegraph", "--what", "cpu", trace).stdout
    assert "heavy" in picture and "of CPU time" in picture and "samples" in picture
    assert "MiB" not in picture


def test_text(split):
    text = analyze("summary", "--full", split[0]).stdout
    assert "Where the CPU time went" in text
    assert re.search(r"cpu +[\d.]+ s in \d+ samples", text)
    assert re.search(r"cpu +[\d.]+ s in \d+ samples", analyze("info", split[0]).stdout)


def test_off(tprof):
    run, summary = tprof.summary([WORKLOADS / "steady", 10], env={"TPROF_CPU": "0"})
    assert summary["cpu"] == []
    assert summary["capture"]["cpu_period_ns"] == 0
    assert "CPU sampling was off" in analyze(run.traces()[0]).stdout


# ---- traps: each prints what it saw, and profile() compares that with a bare run ----

def some(capture):
    return capture["cpu_samples"] > 0


def tenth_of_a_second(capture):
    return capture["cpu_ns"] > 10**8


def trap(tprof, name, *arguments, env=None, enough=lambda capture: True):
    run = tprof.run([WORKLOADS / "cpu_traps", name, *arguments])
    assert run.status == 0
    environment = {"TPROF_CPU": "2000", "TPROF_VERBOSE": "0", **(env or {})}
    profiled = sampled(enough, lambda: tprof.run([WORKLOADS / "cpu_traps", name, *arguments], [LIBRARY], environment))
    assert (profiled.status, profiled.stdout) == (run.status, run.stdout)
    assert re.fullmatch(rb"(tprof: [^\n]*\n)*", profiled.stderr)
    return profiled


def first(run):
    return report(run.directory / "trace.bin")["capture"]


def test_a_profiler_of_its_own(tprof):
    run = trap(tprof, "profiler", enough=some)
    assert b"ticked: 1" in run.stdout
    assert not first(run)["cpu_stopped"]


def test_handlers_for_all_signals(tprof):
    """Ours steps aside: it was reported as unused before, and nothing comes that nobody sent."""
    run = trap(tprof, "handlers")
    assert b"came by themselves: 0" in run.stdout
    assert first(run)["cpu_stopped"]
    # What came before is there, what came after is not.
    assert 0 < first(run)["cpu_ns"] <= run.truth()["cpu_ns"] + first(run)["cpu_period_ns"]
    assert "the program uses" in analyze(run.directory / "trace.bin").stdout


def test_all_signals_blocked(tprof):
    run = trap(tprof, "blocked", enough=tenth_of_a_second)
    assert run.stdout == b"pending: 0\n"


def test_waiting_for_all_signals(tprof):
    run = trap(tprof, "sigwait", enough=some)
    assert b"others: 0" in run.stdout


def test_short_calls(tprof):
    run = trap(tprof, "calls", enough=some)
    assert run.stdout == b"ended early: 0\n"


def test_forks(tprof):
    run = trap(tprof, "fork", enough=some)
    assert len(run.traces()) == 31
    assert sum(report(trace)["capture"]["cpu_samples"] for trace in run.traces()[1:]) > 0


def test_many_short_threads(tprof):
    run = trap(tprof, "threads")
    capture = first(run)
    assert capture["lost_events"] == 0
    assert capture["damage"] == []


def test_threads_of_c11(tprof):
    """They are known from their first instruction on, as those of pthread_create are."""
    run = trap(tprof, "c11")
    assert run.stdout == b"results: 14\n"
    assert first(run)["threads"] == 3
    assert first(run)["cpu_ns"] > 2 * 10**8


def test_exec_under_sampling(tprof):
    """A signal that is pending at exec would kill the new image, which has no handler yet."""
    run = trap(tprof, "exec", 100)
    assert run.stdout == b"the last image 0\n"
    assert len(run.traces()) == 101


def test_signals_that_come_together(tprof):
    """The kernel enters all handlers before the first one runs: the time is of what they interrupt."""
    samples, shares = 0, collections.Counter()
    while samples <= 50:  # in as many runs as that takes: see sampled()
        run = trap(tprof, "together", env={"TPROF_CPU": "1000"}, enough=some)
        assert run.stdout == b"ticks: 200\nstrays: 200\n"
        count = first(run)["cpu_samples"]
        samples += count
        for row in cpu(run.directory / "trace.bin"):
            shares[row["function"]] += row["total_share"] * count
    assert shares["computes_while_signals_wait"] > 0.9 * samples
    assert max(shares["on_tick"], shares["on_stray"]) < 0.1 * samples


# ---- the program's own use of signals: the sampler's among them ----

def signal_trap(tprof, name, expected, env=None, enough=lambda capture: True):
    command = [WORKLOADS / "signal_traps", name]
    bare = tprof.run(command)
    run = sampled(enough, lambda: tprof.run(command, [LIBRARY], {"TPROF_CPU": "2000", **(env or {})}))
    assert (run.status, run.stdout) == (bare.status, bare.stdout) == (0, expected)
    return run, first(run)


def test_every_signal_taken(tprof):
    """Blocked, sent and taken by sigtimedwait, sigwait and signalfd: the sampler's too, which it then gives up."""
    run, capture = signal_trap(tprof, "take", b"not taken as sent: 0\nnot blocked: 0\n")
    assert capture["cpu_stopped"]
    assert run.stderr == b"tprof: CPU sampling ended: the program uses its signal itself\n"


@pytest.mark.parametrize("where", ["thread", "child"])
def test_every_signal_taken_where_it_is_inherited_as_blocked(tprof, where):
    """What a thread or a child inherits is the mask that the program knows of."""
    run, _ = signal_trap(tprof, where, b"wrong as inherited: 0\n")
    assert run.stderr == b"tprof: CPU sampling ended: the program uses its signal itself\n"


def test_every_signal_sent_to_the_process(tprof):
    """Whichever thread gets ours, the one that waits for it takes it."""
    run, _ = signal_trap(tprof, "process", b"not taken: 0\n")
    assert run.stderr == b"tprof: CPU sampling ended: the program uses its signal itself\n"


def test_mask_of_a_vfork_child(tprof):
    signal_trap(tprof, "vfork_mask", b"pending: 31\n")


@pytest.mark.parametrize("env", [{}, {"TPROF_CHILDREN": "0"}, {"TPROF_START": "off"}])
def test_signals_of_a_child(tprof, env):
    """Our handler is not the child's, whether it is recorded or not."""
    run, _ = signal_trap(tprof, "child_asks", b"real-time signals unused: 31\n", env)
    assert run.stderr == b""


@pytest.mark.parametrize("how, expected", [
    ("once", b"not unused before: 0\ncame by themselves: 0\ndid not come: 0\n"),
    ("sigset", b"not unused before: 0\ncame by themselves: 0\ndid not come: 0\n"),
    ("hold", b"pending: 31\nwrong: 0\n")])
def test_every_signal_by_older_functions(tprof, how, expected):
    """sysv_signal, which signal() is in strict C, sigset, and their kin."""
    run, capture = signal_trap(tprof, how, expected)
    assert run.stderr == b"tprof: CPU sampling ended: the program uses its signal itself\n"
    assert capture["cpu_stopped"]


def test_every_signal_ignored(tprof):
    """Sampling goes on until somebody sends ours, which then is ignored."""
    run, capture = signal_trap(tprof, "ignore", b"not ignored: 0\n", enough=some)
    assert run.stderr == b"tprof: CPU sampling ended: the program uses its signal itself\n"
    assert capture["cpu_stopped"]


def test_every_signal_reset_by_syscall(tprof):
    """Our timers' signals would end a program that resets ours past libc's functions."""
    run, capture = signal_trap(tprof, "resets_by_syscall", b"not as reset: 0\n")
    assert run.stderr == b"tprof: CPU sampling ended: the program uses its signal itself\n"
    assert capture["cpu_stopped"]


def test_every_signal_kills_by_default(tprof):
    run, _ = signal_trap(tprof, "die", b"died of it: 31\ndid not: 0\n")
    assert len(run.traces()) == 32


def test_handlers_that_nobody_needs(tprof):
    """A runtime's, for every signal there is (Go): as long as nobody sends ours, sampling goes on."""
    run, capture = signal_trap(
        tprof, "unused", b"not as set: 0\nnot as reset: 0\nnot as set again: 0\ncame by themselves: 0\n",
        enough=tenth_of_a_second)
    assert run.stderr == b""
    assert not capture["cpu_stopped"]


@pytest.mark.parametrize("env", [{}, {"TPROF_CHILDREN": "0"}, {"TPROF_START": "off"}])
def test_a_handler_that_is_needed_after_all(tprof, env):
    """It gets the first signal as the others: from whom it came, its value, the mask that the program asked for."""
    sent = b"strays: 0\nother values: 0\nother masks: 0\n"
    run, capture = signal_trap(tprof, "used", b"not as set: 0\n" + sent + b"child: 0\n" + sent + b"not as set: 0\n", env,
                               enough=(lambda capture: True) if "TPROF_START" in env else some)
    if "TPROF_START" not in env:
        assert capture["cpu_stopped"]
        assert set(run.stderr.splitlines()) == {b"tprof: CPU sampling ended: the program uses its signal itself"}


def test_vfork_child_resets_signals(tprof):
    """What it does to its handlers does not concern its parent, whose memory it runs on."""
    run, capture = signal_trap(tprof, "vfork", b"status: 0\nreal-time signals unused: 31\n", enough=some)
    assert run.stderr == b""
    assert not capture["cpu_stopped"]


@pytest.mark.parametrize("name, expected", [("reset", b"reset: 1\n"), ("mask", b"pending in the handler: 0\n")])
def test_sampling_goes_on(tprof, name, expected):
    """The default action for all signals, and handlers that block all, are no use of the sampler's signal."""
    run, capture = signal_trap(tprof, name, expected, enough=some)
    assert run.stderr == b""
    assert not capture["cpu_stopped"]


def test_everything_blocked_from_the_start(tprof):
    """A program that was started so, and takes whatever comes, is not handed the sampler's signal."""
    def run(*preload):
        return subprocess.run([WORKLOADS / "signal_traps", "inherited"], cwd=tprof.directory, capture_output=True,
                              timeout=60, check=False,
                              env={"LD_PRELOAD": ":".join(map(str, preload)), "TPROF_CPU": "2000", "LC_ALL": "C"},
                              preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()))
    bare, profiled = run(), run(LIBRARY)
    assert (profiled.returncode, profiled.stdout, profiled.stderr) == (bare.returncode, bare.stdout, bare.stderr) == (
        0, b"came: 0\n", b"")
    assert report(tprof.directory / "trace.bin")["capture"]["cpu_samples"] > 0


def test_small_signal_stacks(tprof):
    """Nothing is written below an alternate stack that is too small for the sampler's signal: such a thread is left out."""
    signal_trap(tprof, "small_stacks", 3 * b"written below the stack: 0\n")


def test_unmapped_signal_stack(tprof):
    """The kernel could not push the sampler's signal there, and would end the program."""
    _, capture = signal_trap(tprof, "stack_gone", b"alive: 1\n")
    assert capture["lost"]["cpu_timer"] == 1
