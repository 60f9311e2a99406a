# SPDX-License-Identifier: Apache-2.0
"""What grows with the steps: planted leaks of known rates are found, at their lines, with rates inside their intervals; and
of loops that do not leak none is said to, with twenty seeds each."""
import json
import re
import subprocess

import pytest
from conftest import BUILD, LIBRARY, PYTHON, ROOT, WORKLOADS, analyze, nothing_lost, report

SOURCE = (ROOT / "tests/workloads/growth.c").read_text().splitlines()
QUIET = {"TPROF_CPU": "0"}
STEPS = 300


def growth(tprof, what, steps=STEPS, seed=1, env=None):
    run = tprof.run([WORKLOADS / "growth", what, steps, seed], [LIBRARY], {**QUIET, **(env or {})})
    assert run.status == 0, run.stderr
    leaks = report(run.traces()[0], command="leaks")
    nothing_lost(leaks)
    return leaks["growth"], run


def leaks_of(result):
    return [site for site in result["sites"] if site["verdict"] == "leak"]


def line_of(call, function):
    """The number of the line in `function` that has `call`."""
    begin = next(i for i, line in enumerate(SOURCE) if re.match(rf"static \w+ \**{function}\(", line))
    return next(i + 1 for i, line in enumerate(SOURCE) if i > begin and call in line)


def has_line(site, function, call):
    line = line_of(call, function)
    return any(frame["function"] == function and frame["line"] == line for frame in site["stack"])


@pytest.mark.parametrize("what, steps, function, call, rate, blocks", [
    ("cache", STEPS, "grow", "remember(200)", 600, 3),
    ("tenth", STEPS, "grow", "remember(160)", 16, 0.1),
    ("tiny", 100, "grow", "remember(16)", 16, 1),
    ("list", STEPS, "append_to_list", "get(1000)", 1000, 1),
    ("late", STEPS, "grow", "remember(500)", 500, 1),
])
def test_a_leak_is_found(tprof, what, steps, function, call, rate, blocks):
    result, _ = growth(tprof, what, steps)
    here = [site for site in leaks_of(result) if has_line(site, function, call)]
    others = [site for site in leaks_of(result) if not has_line(site, function, call)]
    assert here, result
    assert sum(site["ci95"][0] for site in here) <= rate <= sum(site["ci95"][1] for site in here)
    assert sum(site["bytes_per_step"] for site in here) == pytest.approx(rate, rel=0.35)
    assert sum(site["blocks_per_step"] for site in here) == pytest.approx(blocks, rel=0.35)
    for site in here:
        assert site["typical_bytes"] == pytest.approx(rate / blocks)
        assert site["born"][0] <= site["born"][1] <= site["born"][2] <= steps
    if what == "late":
        assert STEPS * 2 / 3 - 8 <= here[0]["since"] <= STEPS * 2 / 3 + 8
        assert here[0]["born"][0] == STEPS * 2 // 3 + 1
    else:
        assert all(site["since"] <= 8 for site in here)
    # The array of pointers grows as well: by an eighth whenever it is full, so by 8 to 9 bytes a step.
    assert len(others) == (1 if what == "list" else 0), others
    if others:
        assert others[0]["ci95"][0] <= 9 and others[0]["ci95"][1] >= 8


def test_the_report_in_words(tprof):
    _, run = growth(tprof, "tenth")
    text = analyze("leaks", "--limit", "8GiB", run.traces()[0]).stdout
    assert re.search(r"1\. 16 B a step \(95% interval", text)
    assert "typically 160 B; born in step 10 to step 300" in text
    number = int(re.search(r"at 16 B a step, 8.00 GiB are reached in ([\d,]+) steps", text).group(1).replace(",", ""))
    assert number == pytest.approx(8 * 1024**3 / 16, rel=0.01)
    assert text.index("the chance of any false one") < text.index("are reached in"), "the limit stands amid what leaks"
    assert "What leaks" in analyze("summary", "--full", run.traces()[0]).stdout
    assert "Leaks: 1 place that grows with every step" in analyze(run.traces()[0]).stdout
    growing = report(run.traces()[0])["steps"]["growth"]
    assert [site["verdict"] for site in growing].count("leak") == 1
    assert "a size is wanted" in analyze("leaks", "--limit", "much", run.traces()[0], status=2).stderr
    assert report(run.traces()[0], command="leaks", options=["--filter", "nowhere"])["growth"]["leaks"] == 1


def test_a_leak_once_an_epoch(tprof):
    """Six rises are too few to be told from chance among many stacks; they are not nothing, and not called so."""
    result, run = growth(tprof, "epoch")
    assert leaks_of(result) == [] and (result["leaks"], result["rising"]) == (0, 1)
    (site,) = [site for site in result["sites"] if site["verdict"] == "rising"]
    assert has_line(site, "grow", "remember(800)") and site["typical_bytes"] == 800
    assert site["ci95"][0] <= 16 <= site["ci95"][1] and site["blocks"] in (5, 6)
    text = analyze("leaks", run.traces()[0]).stdout
    assert "nothing does" not in text and "nothing is sure to" in text
    assert text.index("chance of any false one") < text.index("What may leak: it rose too rarely to be told from chance")
    # With enough epochs it is a leak.
    result, _ = growth(tprof, "epoch", steps=1500)
    assert [has_line(site, "grow", "remember(800)") for site in leaks_of(result)] == [True] and result["rising"] == 0


def test_lines_have_what_their_callees_cost(tprof):
    _, run = growth(tprof, "cache", env={"TPROF_CPU": "4000"})
    lines = {line["line"]: line for line in json.loads(
        analyze("lines", "--json", "growth.c", run.traces()[0]).stdout)["lines"]}
    inner, outer = lines[line_of("get(size)", "remember")], lines[line_of("remember(200)", "grow")]
    assert inner["total_unfreed_bytes"] == 600 * STEPS == outer["total_unfreed_bytes"] == outer["total_allocated_bytes"]
    assert outer["total_unfreed_blocks"] == outer["total_allocations"] == 3 * STEPS and outer["unfreed_bytes"] == 0
    call = next(i for i, text in enumerate(SOURCE, 1) if re.match(r"\s+grow\(what, step, steps\);", text))
    assert lines[call]["total_unfreed_bytes"] == 600 * STEPS
    assert lines[call]["total_cpu_ns"] >= outer["total_cpu_ns"] >= outer["cpu_ns"]
    own = lines[line_of("malloc(size)", "get")]
    assert own["growth_bytes_per_step"] == pytest.approx(600) and outer["growth_bytes_per_step"] == 0
    for line in own, inner, outer, lines[call]:
        assert line["total_growth_bytes_per_step"] == pytest.approx(600)
    text = analyze("lines", "growth.c", run.traces()[0]).stdout
    assert re.search(r"at peak +total +allocated +total +calls +unfreed +a step +CPU +total", text)
    assert re.search(rf"^ *{call} +\S+ KiB +176 KiB", text, re.MULTILINE)
    assert "CPU" in text and re.search(r"total a step", text)
    assert re.search(rf"^ *{call} .* 600 B .*grow\(what, step, steps\);", text, re.MULTILINE)


def pooled(trace, by, *options):
    return report(trace, command="leaks", options=["--by", by, "--top", "0", *options])["growth"]


def test_a_leak_that_is_spread_over_many_stacks(tprof):
    """Each way has one block or two, which proves nothing; put together they come to one a step."""
    result, run = growth(tprof, "spread")
    trace = run.traces()[0]
    assert leaks_of(result) == [] and result["by"] == "stack" and result["varying"] > 100
    for by, key, name in (("line", "line", line_of("get(size)", "remember")), ("function", "function", "remember"),
                          ("op", "op", "remember everything")):
        found = pooled(trace, by)
        assert found["by"] == by and [site[key] for site in leaks_of(found)] == [name]
        site = leaks_of(found)[0]
        assert site["bytes_per_step"] == pytest.approx(160) and site["blocks_per_step"] == pytest.approx(1)
        assert site["ci95"][0] <= 160 <= site["ci95"][1] and site["stacks"] > 100
        assert (site["bytes"], site["since"]) == (160 * result["last"], 1)
        assert found["leaks"] == 1 and found["leak_rate"] == pytest.approx(160)
    text = analyze("leaks", "--by", "function", "--limit", "1GiB", trace).stdout
    assert "put together by function" in text and re.search(r"remember \(growth\): \d+ stacks", text)
    assert re.search(r"at 160 B a step, 1.00 GiB are reached", text)
    assert leaks_of(pooled(trace, "line", "--filter", "use_queue")) == []
    (run.directory / "known").write_text("leak:remember\n")
    assert leaks_of(pooled(trace, "line", "--suppressions", run.directory / "known")) == []


@pytest.mark.parametrize("what, function, call, rate", [("cache", "remember", "get(size)", 600),
                                                        ("list", "append_to_list", "get(1000)", 1000)])
def test_put_together_each_leak_is_listed_once(tprof, what, function, call, rate):
    """All functions around it grow as well, main() too, and get() is in every stack."""
    _, run = growth(tprof, what)
    found = leaks_of(pooled(run.traces()[0], "line"))
    here = [site for site in found if site["function"] == function and site["line"] == line_of(call, function)]
    assert len(here) == 1 and here[0]["bytes_per_step"] == pytest.approx(rate)
    others = [site for site in found if site is not here[0]]
    assert [site["function"] for site in others] == (["append_to_list"] if what == "list" else [])
    modules = [(site["module"], site["path"]) for site in leaks_of(pooled(run.traces()[0], "module"))]
    assert modules == [("growth", str(WORKLOADS / "growth"))]


@pytest.mark.parametrize("what", ["none", "warm-up", "sawtooth"])
def test_put_together_nothing_leaks_that_does_not(tprof, what):
    for seed in range(7):
        _, run = growth(tprof, what, seed=seed)
        for by in ("line", "function", "module", "op"):
            assert leaks_of(pooled(run.traces()[0], by)) == [], (seed, by)


def run_python(tprof, text):
    """The trace of a program in Python that is told where tprof.py is, and the number of the line that it marks."""
    program = tprof.directory / "program.py"
    program.write_text(text)
    run = tprof.run([PYTHON, program, BUILD / "share/tprof"], [LIBRARY], QUIET)
    assert run.status == 0, run.stderr
    return run.traces()[0], next(i for i, line in enumerate(text.splitlines(), 1) if "# the line" in line)


SPREAD = """
import random, sys
sys.path.insert(0, sys.argv[1])
import tprof
kept = []
def keep():
    kept.append(bytearray(3000))  # the line
def go(path, length):
    if not length:
        keep()
    elif path & 1:
        go(path >> 1, length - 1)
    else:
        go(path >> 1, length - 1)
random.seed(1)
for _ in range(300):
    go(random.getrandbits(8), 8)
    tprof.step()
"""


def test_a_line_of_python_is_named(tprof):
    trace, line = run_python(tprof, SPREAD)
    assert [s for s in leaks_of(report(trace, command="leaks")["growth"]) if s["blocks_per_step"] > 0.9] == []
    found = [s for s in leaks_of(pooled(trace, "line", "--language", "python")) if s["line"] == line]
    assert len(found) == 1 and found[0]["function"] == "keep" and found[0]["file"].endswith("program.py")
    # A bytearray's 3001 bytes, and 8 for its pointer in the list, which grows by an eighth when it is full.
    assert found[0]["ci95"][0] <= 3001 + 9 and found[0]["ci95"][1] >= 3001 + 8
    assert found[0]["blocks_per_step"] == pytest.approx(1, rel=0.01)


TWO_WAYS = """
import sys
sys.path.insert(0, sys.argv[1])
import tprof
kept = []
for _ in range(300):
    kept.extend((bytearray(3000), bytes(3000)))  # the line
    tprof.step()
"""


def test_native_stacks_of_one_line_of_python_are_one(tprof):
    """Where native frames are left out, what differs in them alone is one leak, with the sum of their rates."""
    trace, line = run_python(tprof, TWO_WAYS)
    found = {}
    for options in ((), ("--language", "python")):
        result = report(trace, command="leaks", options=options)["growth"]
        assert result["by"] == "stack" and result["leaks"] == len(leaks_of(result))
        found[options] = [s for s in leaks_of(result) if s["stack"][s["own"]]["line"] == line and s["blocks_per_step"] > 0.9]
    apart, (together,) = found.values()
    assert len(apart) == 2 and together["stacks"] >= 2
    assert together["bytes_per_step"] >= sum(site["bytes_per_step"] for site in apart) >= 2 * 3000
    assert together["bytes_per_step"] == pytest.approx(sum(site["bytes_per_step"] for site in apart), rel=0.01)
    assert together["blocks_per_step"] == pytest.approx(2, rel=0.01)
    assert re.search(r"1\. 5.9\d KiB a step.*\n.*native stacks.*\n +<module> +\S*program.py:7\n",
                     analyze("leaks", "--language", "python", trace).stdout)
    rows = []
    for options in found:
        page = analyze("html", *options, trace).stdout
        section = page[page.index('id="p0-growth"'):page.index('id="p0-unfreed"')]
        leaks = re.findall(r"<tr>(?:(?!</tr>).)*>leak<.*?</tr>", section, re.S)
        rows.append(sum("program.py:%d" % line in row for row in leaks))
    assert rows[0] >= 2 and rows[1] == 1


@pytest.mark.parametrize("what", ["none", "warm-up", "sawtooth"])
@pytest.mark.parametrize("seeds", [range(0, 10), range(10, 20)], ids=["seeds 0-9", "seeds 10-19"])
def test_no_false_leak(tprof, what, seeds):
    for seed in seeds:
        result, _ = growth(tprof, what, seed=seed)
        assert leaks_of(result) == [] and result["rising"] == 0, seed
        assert result["enough"] and result["varying"] >= 2
        own = [site for site in result["sites"] if any(f["function"] == "grow" for f in site["stack"])]
        assert [site["verdict"] for site in own] == ([what] if what != "none" else []), seed


@pytest.mark.parametrize("steps", [24, 30, 40])
def test_no_false_leak_in_a_short_run(tprof, steps):
    """What begins empty fills for as long, a cache that replaces its blocks as well; that it leaks is not said."""
    for seed in range(1000, 1010):
        result, _ = growth(tprof, "none", steps, seed)
        assert leaks_of(result) == [] and result["enough"], seed


@pytest.mark.parametrize("steps", [24, 40])
@pytest.mark.parametrize("what, function, call, rate", [("cache", "grow", "remember(200)", 600),
                                                        ("list", "append_to_list", "get(1000)", 1000),
                                                        ("late", "grow", "remember(500)", 500)])
def test_a_leak_in_a_short_run(tprof, what, steps, function, call, rate):
    result, _ = growth(tprof, what, steps)
    here = [site for site in leaks_of(result) if has_line(site, function, call)]
    assert sum(site["ci95"][0] for site in here) <= rate <= sum(site["ci95"][1] for site in here)


@pytest.mark.parametrize("seed", [8, 9, 10, 13, 19])
def test_a_cache_that_still_fills(tprof, seed):
    """Its bytes jump as entries of other sizes take each other's place; its blocks rise ever more slowly."""
    result, _ = growth(tprof, "tiny", 100, seed)
    cache = [site for site in result["sites"] if any(f["function"] == "use_cache" for f in site["stack"])]
    assert [site["verdict"] for site in cache] == ["warm-up"]
    assert [has_line(site, "grow", "remember(16)") for site in leaks_of(result)] == [True]


def test_long_runs_are_looked_at_now_and_then(tprof):
    """The steps are halved again and again; the leak is as exact as before."""
    result, _ = growth(tprof, "cache", steps=20000)
    assert 64 <= result["looks"] < 128
    rates = [site["bytes_per_step"] for site in leaks_of(result)]
    assert sum(rates) == pytest.approx(600, rel=1e-6)


def test_fragmentation_has_its_line(tprof):
    result, _ = growth(tprof, "fragments")
    memory = result["memory"]
    assert memory["rest"]["verdict"] == "leak" and memory["rss"]["verdict"] == "leak"
    assert memory["rest"]["rate"] == pytest.approx(memory["live"]["rate"], rel=0.3)
    parts = memory["live"]["rate"] + memory["anonymous"]["rate"] + memory["rest"]["rate"]
    assert parts == pytest.approx(memory["rss"]["rate"], rel=0.1)


def test_mappings_have_their_line(tprof):
    result, run = growth(tprof, "map")
    memory = result["memory"]
    assert leaks_of(result) == []
    assert memory["anonymous"]["verdict"] == "leak" and memory["rest"]["verdict"] != "leak"
    assert memory["anonymous"]["rate"] == pytest.approx(65536)
    assert memory["rss"]["rate"] == pytest.approx(65536, rel=0.1)
    mapping = result["mappings"][0]
    assert len(result["mappings"]) == 1 and mapping["verdict"] == "leak" and mapping["file"] is False
    assert has_line(mapping, "map_some", "mmap(") and mapping["since"] == 1
    assert mapping["bytes_per_step"] == pytest.approx(65536) and mapping["bytes"] == 65536 * result["last"]
    assert re.search(r"1\. 64.0 KiB a step \(95% interval .*\) of address space, by mmap; .* since step 1\n\s+map_some",
                     analyze("leaks", run.traces()[0]).stdout)
    assert re.search(r"at 6\d.\d KiB a step, 1.00 GiB are reached in 1[56],", analyze("leaks", "--limit", "1g",
                                                                                     run.traces()[0]).stdout)


FREED_AT_THE_END = """
import sys
sys.path.insert(0, sys.argv[1])
import tprof
class Step:
    kept = []
    def run(self):
        self.kept.append(bytearray(5000))
for _ in range(40):
    Step().run()
    tprof.step()
Step.kept.clear()
"""


def test_ages_of_what_is_freed_at_the_end(tprof):
    """As Python does with all it has: what lived when the last step ended has ages and a size."""
    run = tprof.run([PYTHON, "-c", FREED_AT_THE_END, BUILD / "share/tprof"], [LIBRARY], QUIET)
    assert run.status == 0, run.stderr
    site = next(s for s in leaks_of(report(run.traces()[0], command="leaks")["growth"]) if s["bytes_per_step"] > 4000)
    assert site["typical_bytes"] == 5001 and site["born"] == [1, 21, 40]
    assert "typically 4.88 KiB; born in step 1 to step 40, half of them more than 19 steps old" in \
        analyze("leaks", run.traces()[0]).stdout


PARTS = ("live", "allocator", "mapped", "files", "stacks", "collector")


@pytest.mark.parametrize("what, steps, cause", [("map", STEPS, "mapped"), ("file", STEPS, "files"), ("fragments", STEPS, "allocator"),
                                                ("stack", 100, "stacks")])
def test_what_rss_is_made_of(tprof, what, steps, cause):
    """The lines add up to RSS, and what grows does so in the line of its cause."""
    result, run = growth(tprof, what, steps)
    parts, rss = result["resident"], result["memory"]["rss"]
    assert set(parts) == set(PARTS)
    for end in ("first_bytes", "last_bytes"):
        assert sum(parts[part][end] for part in PARTS) == rss[end]
    grown = {part: parts[part]["last_bytes"] - parts[part]["first_bytes"] for part in PARTS}
    step = 65536 if what != "fragments" else result["memory"]["live"]["rate"]
    assert grown[cause] > 0.5 * step * steps and parts[cause]["rate"] == pytest.approx(step, rel=0.5)
    if what == "file":  # in each sample, not now and then
        assert parts["files"]["verdict"] == "leak" and parts["files"]["rate"] == pytest.approx(65536, rel=0.02)
    if what == "map":
        assert parts["mapped"]["last_bytes"] % 65536 == 0  # nothing else was mapped, and all of it was touched
    # What tprof counts, now and then, may lag behind: by as much as the allocator's line has too much.
    others = {part: size for part, size in grown.items() if part not in (cause, "allocator", "live")}
    assert max(others.values()) < 0.1 * step * steps, grown
    if what == "fragments":
        assert parts["allocator"]["verdict"] == "leak"
    text = analyze("leaks", "--exact", run.traces()[0]).stdout
    for part, words in zip(PARTS, ("live blocks", "the allocator's", "anonymous mmap", "files, shared memory", "stacks",
                                   "tprof's own tables")):
        assert re.search(rf"  {words} +{parts[part]['first_bytes']:,} B +{parts[part]['last_bytes']:,} B ", text)


def test_mapped_memory_that_is_not_touched_is_no_part_of_rss(tprof):
    run = tprof.run([PYTHON, "-c", UNTOUCHED, BUILD / "share/tprof"], [LIBRARY], QUIET)
    assert run.status == 0, run.stderr
    result = report(run.traces()[0], command="leaks")["growth"]
    held = int(run.stdout)
    assert result["memory"]["anonymous"]["last_bytes"] > 2**30
    last = result["resident"]["mapped"]["last_bytes"]
    # Python maps arenas as well; what is unmapped, in whole or in part, is gone.
    assert 8 * 2**20 + 3 * 4096 <= last <= held


UNTOUCHED = """
import mmap, sys, time
sys.path.insert(0, sys.argv[1])
import tprof
large = mmap.mmap(-1, 2**30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
gone = mmap.mmap(-1, 2**24, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
gone[:] = b"x" * 2**24
for page in range(3):
    large[page * 2**20] = 1
large[2**29:2**29 + 2**23] = b"x" * 2**23
gone.close()
for _ in range(60):
    time.sleep(0.01)
    tprof.step()
status = dict(line.split(":") for line in open("/proc/self/status"))
print(int(status["RssAnon"].split()[0]) * 1024)
"""


def test_without_steps_time_takes_their_place(tprof):
    """It is then called growth, not a leak: nobody said what a step is."""
    kept = 2000000
    run = tprof.run([WORKLOADS / "steady", kept], [LIBRARY], QUIET)
    result = report(run.traces()[0], command="leaks")["growth"]
    assert result["unit"] == "second" and result["looks"] >= 16
    growing = [site for site in result["sites"] if site["verdict"] == "growth"]
    assert growing and growing[0]["bytes_per_second"] > 0
    blocks, ran = growing[0]["blocks_per_second"], report(run.traces()[0])["process"]["duration_ns"] / 1e9
    assert kept / ran / 10 < blocks < 1e8  # a second's, not a millisecond's; nobody allocates in 10 ns
    assert f", {blocks:,.0f} blocks; " in analyze("leaks", run.traces()[0]).stdout
    assert report(run.traces()[0])["steps"]["growth"] == []


def seconds(text):
    """3 h 12 min, 2 min 05 s, 1.50 s, 12.3 ms"""
    units = {"h": 3600, "min": 60, "s": 1, "ms": 1e-3}
    return sum(float(number) * units[unit] for number, unit in re.findall(r"([\d.]+) (h|min|s|ms)\b", text))


def left(result, limit):
    """What is left until the limit, at the rate of what leaks or, where that is more, of RSS."""
    memory = result["memory"]
    rates = [result["leak_rate"]] + ([memory["rss"]["recent_rate"] or memory["rss"]["rate"]] if memory["rss"]["verdict"] == "leak" else [])
    return (limit - max(memory["rss"]["last_bytes"], memory["live"]["last_bytes"])) / max(rates)


def test_the_limit_in_steps(tprof):
    result, run = growth(tprof, "cache")
    assert result["leak_rate"] == pytest.approx(600)
    text = analyze("leaks", "--limit", "8GiB", run.traces()[0]).stdout
    assert f"  {result['leaks']} stacks do, 600 B a step together; --by line" in text
    number = int(re.search(r"8.00 GiB are reached in ([\d,]+) steps", text).group(1).replace(",", ""))
    assert number == pytest.approx(left(result, 8 * 2**30), abs=1)
    text = analyze("leaks", "--limit", "1k", run.traces()[0]).stdout
    assert "1.00 KiB are reached already" in text


def test_growth_over_time_has_its_rate(tprof):
    """Of a program that grows by a clock, too; and the limit is a time."""
    result, run = growth(tprof, "clock", 400)
    assert result["unit"] == "second"
    found = [site for site in result["sites"] if any(f["function"] == "grow_by_the_clock" for f in site["stack"])]
    assert [site["verdict"] for site in found] == ["growth"]
    assert found[0]["bytes_per_second"] == pytest.approx(1000 / 0.002, rel=0.1)
    text = analyze("leaks", "--limit", "1GiB", run.traces()[0]).stdout
    told = re.search(r"a second, 1.00 GiB are reached in (.*)", text).group(1)
    assert seconds(told) == pytest.approx(left(result, 2**30), rel=0.02)


ON_EXIT = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void **list;
__attribute__((noinline)) static void keep(void)
{
    void **block = malloc(1000);
    *block = list;
    list = block;
}
int main(int argc, char **argv)
{
    for (int i = 0; i < 1000; i++, usleep(500))
        keep();
    while (list) {
        void **block = list;
        list = *block;
        free(block);
        if (argc > 1 && list && !*list)
            break;
    }
    return 0;
}
"""


@pytest.mark.parametrize("left, words", [(0, ", freed on the program's way out\n"),
                                         (1000, ", freed on the program's way out, all but 1,000 B\n")])
def test_what_is_freed_at_the_end_leaks_until_then(tprof, left, words):
    """A program without steps: what was alive at the last look before its way out, and what was left of it then."""
    (tprof.directory / "keeps.c").write_text(ON_EXIT)
    subprocess.run(["gcc", "-g", "-O1", "-o", tprof.directory / "keeps", tprof.directory / "keeps.c"], check=True)
    run = tprof.run([tprof.directory / "keeps", *["one"] * (left > 0)], [LIBRARY], QUIET)
    trace = run.traces()[0]
    (finding,) = report(trace, command="leaks")["growth"]["findings"]
    assert finding["lines"][0]["function"] == "keep" and finding["verdict"] == "growth"
    assert 900 <= finding["blocks"] <= 1000 and finding["bytes"] == 1000 * finding["blocks"] and finding["left_bytes"] == left
    text = analyze("leaks", "--exact", trace).stdout
    assert words in text and "none of them lives" not in text and f" {finding['bytes']:,} B " in text and "; 0 B in" not in text


LISTS = r"""
#include <stdlib.h>
#include <time.h>
static void **list;
__attribute__((noinline)) static void *keep(size_t size)
{
    return malloc(size);
}
int main(void)
{
    for (int i = 0; i < 100; i++) {
        void **item = keep(sizeof(void *) + 1);
        clock_t until = clock() + CLOCKS_PER_SEC / 20000;
        *item = list;
        list = item;
        while (clock() < until)
            ;
    }
    return 0;
}
"""


def test_a_little_in_a_moment_is_no_growth(tprof):
    """What a program such as ls lists in milliseconds grows by megabytes a second, and is nothing that goes on."""
    (tprof.directory / "lists.c").write_text(LISTS)
    subprocess.run(["gcc", "-g", "-O1", "-o", tprof.directory / "lists", tprof.directory / "lists.c"], check=True)
    run = tprof.run([tprof.directory / "lists"], [LIBRARY], QUIET)
    assert run.status == 0 and report(run.traces()[0], command="leaks")["growth"]["findings"] == []


def test_times_are_since_the_process_began(tprof):
    """As those of its peak are, and not since the first process of its run did."""
    run = tprof.run(["sh", "-c", f"sleep 2; {WORKLOADS}/growth clock 400 1; exit 0"], [LIBRARY], QUIET)
    (grows,) = (p for p in report(*run.traces(), command="leaks")["processes"] if p["process"]["name"] == "growth")
    text = analyze("leaks", *run.traces()).stdout
    since, unit = re.search(r" blocks? by [^\n]*, since ([\d.]+) (us|ms|s)$", text, re.M).groups()
    assert float(since) * {"us": 1e3, "ms": 1e6, "s": 1e9}[unit] < grows["process"]["duration_ns"]
    assert grows["process"]["start_ns"] <= grows["growth"]["findings"][0]["since"]


QUIET_PROGRAMS = {
    "none": [WORKLOADS / "growth", "none", 600, 1],
    "warm-up": [WORKLOADS / "growth", "warm-up", 600, 2],
    "ring": [WORKLOADS / "leak_kinds", "ring", 3000],
    "filled": [WORKLOADS / "leak_kinds", "filled", 3000],
    "python": [PYTHON, ROOT / "tests/workloads/leak_kinds.py", BUILD / "share/tprof", "local", 3000],
    "python floats": [PYTHON, ROOT / "tests/workloads/leak_kinds.py", BUILD / "share/tprof", "freed floats", 3000],
}


@pytest.mark.parametrize("program", QUIET_PROGRAMS)
def test_no_line_of_rss_grows_where_nothing_does(tprof, program):
    """A page of static data that is touched now and then, or what is taken to lie between two readings of smaps, is no growth."""
    run = tprof.run(QUIET_PROGRAMS[program], [LIBRARY], QUIET)
    assert run.status == 0, run.stderr
    growth = report(run.traces()[0], command="leaks")["growth"]
    lines = {(table, name): line for table in ("memory", "resident", "parts") for name, line in (growth[table] or {}).items()}
    assert {key for key, line in lines.items() if line["verdict"] == "leak"} == set()
    assert not re.search(r"  grows$", analyze("leaks", run.traces()[0]).stdout, re.M)


def test_lines_of_rss_agree_with_their_intervals(tprof):
    """What grows does so by its interval, too."""
    for what in ("cache", "map", "list"):
        result, _ = growth(tprof, what, 600)
        lines = [line for table in ("memory", "resident", "parts") for line in (result[table] or {}).values()]
        grows = [line for line in lines if line["verdict"] == "leak"]
        assert grows and all(line["ci95"][0] > 0 for line in grows)


def test_too_short_to_tell(tprof):
    result, run = growth(tprof, "cache", steps=17)
    assert result["unit"] == "step" and result["sites"] is not None
    run = tprof.run([WORKLOADS / "truth", 1, 10, 1], [LIBRARY], QUIET)
    text = analyze("leaks", run.traces()[0]).stdout
    assert "What leaks" not in text


TORCH = """
import sys, ctypes, torch
from ctypes import CDLL
class Api(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint64)] + [(n, ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)) for n in
        ("op_begin", "op_end", "op_detail")] + [("step", ctypes.CFUNCTYPE(None, ctypes.c_uint64))]
step = Api.in_dll(CDLL(None), "tprof_api_1").step
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(256, 64), torch.randint(0, 10, (256,))
total, kept = 0, []
for i in range(120):
    loss = torch.nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    total = total + (loss if sys.argv[1] == "loss" else loss.item())
    if sys.argv[1] == "list":
        kept.append(bytearray(100000))
    step(256)
"""


@pytest.mark.real
@pytest.mark.parametrize("what", ["loss", "list", "none"])
def test_torch_keeps_its_losses(tprof, what):
    """total += loss keeps each step's graph: among its blocks the loss itself, a float of 4 bytes in 64 of the allocator's."""
    run = tprof.run([PYTHON, "-c", TORCH, what], [LIBRARY], QUIET, timeout=300)
    assert run.status == 0, run.stderr.decode()
    result = report(run.traces()[0], command="leaks")["growth"]
    found = leaks_of(result)
    if what == "none":
        assert found == []
        return
    assert found
    if what == "list":
        assert found[0]["ci95"][0] <= 100001 <= found[0]["ci95"][1]
    if what == "loss":
        assert any("torch" in frame["module"] or "c10" in frame["module"] for frame in found[0]["stack"])
        assert sum(site["bytes_per_step"] for site in found) > 100
