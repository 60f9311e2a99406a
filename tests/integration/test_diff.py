# SPDX-License-Identifier: Apache-2.0
"""tprof-analyze diff: what changed from one run to another, or from several to several."""
import json
import re
import subprocess

import pytest
from conftest import ANALYZE, LIBRARY, PYTHON, WORKLOADS, analyze, peak_rss, report

# Two versions of a program: lines moved, a function more, one that takes twice the memory.
PROGRAM = """
#include <stdlib.h>
{padding}
static void *volatile kept[4096];
static unsigned next;
{more}
__attribute__((noinline)) void weights(size_t size) {{ kept[next++] = malloc(size); __asm__(""); }}
{padding}
__attribute__((noinline)) void nodes(int depth, size_t size)
{{
    if (depth)
        nodes(depth - 1, size);
    else
        kept[next++] = malloc(size);
    __asm__("");
}}
int main(int argc, char **argv)
{{
    size_t base = argc > 1 ? (size_t)atol(argv[1]) : 0;
    for (int i = 0; i < 100; i++)
        weights({size} + base);
    nodes({depth}, 50000);
    return 0;
}}
"""


def build(directory, name, **values):
    source = directory / f"{name}.c"
    source.write_text(PROGRAM.format(**values))
    subprocess.run(["gcc", "-g", "-O1", "-fno-optimize-sibling-calls", source, "-o", directory / name], check=True)
    return directory / name


def record(directory, name, *command, **env):
    subprocess.run(list(map(str, command)), cwd=directory, check=True, stdout=subprocess.DEVNULL,
                   env={"LD_PRELOAD": str(LIBRARY), "TPROF_OUTPUT": name, **env})
    return directory / name


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    directory = tmp_path_factory.mktemp("diff")
    return {name: record(directory, f"{name}.bin", WORKLOADS / "threads", threads)
            for name, threads in (("small", 3), ("large", 30))}


def diff(*arguments):
    return json.loads(analyze("diff", "--json", *arguments).stdout)


def functions(row):
    return [frame["function"] for frame in row["stack"]]


@pytest.mark.parametrize("by", ["stack", "function", "module", "op"])
def test_a_run_differs_from_itself_in_nothing(traces, by):
    answer = diff("--by", by, traces["large"], traces["large"])
    assert {total["verdict"] for total in answer["totals"]} == {"same"}
    assert answer["peak"] == answer["unfreed"] == answer["allocated"] == []
    assert not [row for row in answer["ops"] + answer["cpu"] if row["verdict"] not in ("noise", "too few", "too few runs")]


def test_totals_are_the_reports_own(traces):
    heaps = [report(traces[name])["heap"] for name in ("small", "large")]
    totals = {total["name"]: total for total in diff(traces["small"], traces["large"])["totals"]}
    for name, key in (("peak", "peak_bytes"), ("unfreed", "end_bytes"), ("allocated", "allocated_bytes"),
                      ("allocations", "allocations")):
        assert (totals[name]["old"], totals[name]["new"]) == tuple(heap[key] for heap in heaps)
    assert totals["allocations"]["verdict"] == "different"


def test_what_was_not_recorded_is_not_compared(tmp_path):
    """Nor is the growth of a run that is too short for one: 0 is no measurement, and each such run is named."""
    def made(name, *arguments, **env):
        return record(tmp_path, name, WORKLOADS / "growth", *arguments, **env)
    whole, short = made("whole.bin", "cache", 100, 1), made("short.bin", "none", 1, 1)
    blind = [made(f"blind{i}.bin", "cache", 100, 1, TPROF_CPU="0", TPROF_ALLOC="off") for i in range(2)]
    assert diff(whole, whole)["notes"] == [] and diff(whole, whole)["growth"]["verdict"] == "same"
    assert diff(whole, whole)["heap_known"]
    for old, new in ((whole, blind[0]), (blind[0], whole)):
        answer = diff(old, new)
        assert answer["notes"] == [f"{blind[0]}: what was allocated was not recorded: TPROF_ALLOC=off",
                                   f"{blind[0]}: CPU sampling was off"]
        assert answer["cpu"] == answer["cpu_stacks"] == [] and not answer["cpu_known"]
        assert answer["peak"] == answer["unfreed"] == answer["allocated"] == answer["leaks"] == []
        assert not answer["heap_known"] and answer["growth"] is None
        for total in answer["totals"]:
            values = {"old": total["old"], "new": total["new"]}
            counted = "old" if old == whole else "new"
            assert all((values[side] is not None) == (total["name"] == "rss" or side == counted) for side in values)
            assert (total["verdict"] is None) == (total["ratio"] is None) == (total["name"] != "rss")
        text = analyze("diff", old, new).stdout
        assert f"note: {blind[0]}: CPU sampling was off" in text and "not known: a side has no samples" in text
        assert text.count("not known: a side did not record it") == 3 and " 0 B" not in text and "Growth a" not in text
    for old, new in ((whole, short), (short, whole)):
        assert report(short, command="leaks")["growth"]["looks"] < 16 <= report(whole, command="leaks")["growth"]["looks"]
        assert diff(old, new)["growth"] is None and "Growth a" not in analyze("diff", old, new).stdout
    # Among several runs those without samples are left out: shares are the mean of the others'.
    command, truth = [WORKLOADS / "cpu_split", 100], str(tmp_path / "truth")
    busy = [record(tmp_path, f"busy{i}.bin", *command, TPROF_CPU="1000", TRUTH_FILE=truth) for i in range(2)]
    off = record(tmp_path, "off.bin", *command, TPROF_CPU="0", TRUTH_FILE=truth)
    shares = {row["name"]: row["old_share"] for row in diff(*sides(busy[:1], busy[1:]))["cpu"]}
    assert shares and {row["name"]: row["old_share"] for row in diff(*sides([busy[0], off], busy[1:]))["cpu"]} == shares


def test_it_takes_two(traces):
    assert "OLD NEW" in analyze("diff", traces["small"], status=2).stderr
    assert "--baseline" in analyze("diff", traces["small"], traces["small"], traces["small"], status=2).stderr


def test_stacks_match_in_another_version(tmp_path):
    """Lines and addresses moved, the file has another name, recursion is deeper: only what changed is named."""
    old = build(tmp_path, "trainer", padding="", more="", size=1000, depth=3)
    new = build(tmp_path, "trainer-next", padding="\n" * 40, size=2000, depth=9,
                more='void other(void) { kept[next++] = "more code"; }')
    traces = [record(tmp_path, f"{p.name}.bin", p) for p in (old, new)]
    answer = diff("--top", 0, *traces)
    for key in ("peak", "unfreed", "allocated"):
        (row,) = [r for r in answer[key] if r["old_bytes"]]
        assert (row["old_bytes"], row["new_bytes"], row["ratio"], row["verdict"]) == (100000, 200000, 2, "different")
        assert functions(row) == ["weights", "main"]
        assert row["name"] == "weights in (program)" and row["stack"][0]["module"] == "(program)"
    assert not [r for r in answer["peak"] if "nodes" in functions(r)]
    assert [row["name"] for row in diff("--by", "function", *traces)["peak"]] == ["weights in (program)"]
    text = analyze("diff", *traces).stdout
    assert re.search(r"195 KiB, was 97\.7 KiB: 2\.000x, different\n +weights +\(program\)\n +main", text)
    assert "One run a side" in text


def counts(answer, key):
    return {count["verdict"]: count["rows"] for count in answer["counts"][key]}


def test_what_is_the_same_is_counted(tmp_path):
    """Not listed; nor is what differs by so little that its ratio is 1.000, or by next to nothing of all."""
    tiny = '__attribute__((constructor)) void tiny(void) {{ kept[next++] = malloc({}); __asm__(""); }}'
    programs = [build(tmp_path, name, padding="", more=tiny.format(few), size=size, depth=0)
                for name, size, few in (("one", 100000, 10), ("two", 100020, 20), ("three", 200000, 10))]
    one, two, three = (record(tmp_path, f"{p.name}.bin", p) for p in programs)
    answer, text = diff(one, one), analyze("diff", one, one).stdout
    assert answer["peak"] == [] and counts(answer, "peak") == {"same": 3}
    assert "  nothing differs\n  not listed: 3 the same\n" in text and len(text.splitlines()) < 60
    answer, text = diff(one, two), analyze("diff", one, two).stdout
    assert [row["verdict"] for row in answer["peak"]] == ["different", "different"]
    assert counts(answer, "peak") == {"same": 1, "alike": 2}
    assert " different\n" not in text.partition("Memory at the peak")[2]
    assert text.count("not listed: 1 the same, 2 nearly the same (within 0.05% of their own size, or 0.1% of all)\n") == 3
    answer, text = diff(one, three), analyze("diff", one, three).stdout
    assert counts(answer, "peak") == {"same": 2, "different": 1}
    assert "19.1 MiB, was 9.54 MiB: 2.000x, different" in text and "not listed: 2 the same\n" in text
    assert "not listed: 2 the same, 1 more that differs (--top)" not in text


@pytest.fixture(scope="module")
def repeated(tmp_path_factory):
    """Runs whose memory varies by some 5%, and some with a fifth more."""
    directory = tmp_path_factory.mktemp("repeated")
    program = build(directory, "varies", padding="", more="", size=0, depth=0)
    return {name: [record(directory, f"{name}{i}.bin", program, size) for i, size in enumerate(sizes)]
            for name, sizes in (("old", (980, 1000, 1020, 1005)), ("alike", (990, 1015, 985, 1025)),
                                ("more", (1200, 1220, 1190, 1210)))}


def sides(old, new):
    return [word for trace in old for word in ("--baseline", trace)] + list(new)


def test_runs_of_a_side_are_pooled(repeated):
    answer = diff(*sides(repeated["old"], repeated["alike"]))
    assert (answer["old_runs"], answer["new_runs"]) == ([str(t) for t in repeated["old"]],
                                                        [str(t) for t in repeated["alike"]])
    totals = {total["name"]: total for total in answer["totals"]}
    peak = totals["peak"]
    assert peak["verdict"] == "noise" and peak["p"] > 0.05
    assert peak["old"] == sum(report(t)["heap"]["peak_bytes"] for t in repeated["old"]) / 4
    assert peak["ratio_ci95"][0] < 1 < peak["ratio_ci95"][1]
    (row,) = answer["peak"]
    assert row["verdict"] == "noise" and row["name"].startswith("weights")
    assert totals["allocations"]["verdict"] == "same"
    answer = diff(*sides(repeated["old"], repeated["more"]))
    totals = {total["name"]: total for total in answer["totals"]}
    (row,) = answer["peak"]
    assert totals["unfreed"]["verdict"] == row["verdict"] == "more"
    assert row["ratio"] == pytest.approx(4820 / 4005) and row["p_corrected"] < 0.001
    assert row["ratio_ci95"][0] < row["ratio"] < row["ratio_ci95"][1]
    # One new run is held against what the old ones vary by.
    for new, verdict in (("more", "more"), ("alike", "noise")):
        answer = diff(*sides(repeated["old"], repeated[new][:1]))
        assert {total["name"]: total for total in answer["totals"]}["peak"]["verdict"] == verdict


def test_too_few_runs_are_told(repeated):
    """Two old runs and a new one may differ by more than 5%; with as many more as the report asks for they don't."""
    def peak_of(*arguments):
        return next(total for total in diff(*arguments)["totals"] if total["name"] == "peak")
    few = sides(repeated["old"][:2], repeated["alike"][1:2])
    peak = peak_of(*few)
    assert peak["verdict"] == "too few runs" and peak["ratio_ci95"][0] < 1 < 1.05 < peak["ratio_ci95"][1]
    assert 1 <= peak["more_runs"] <= 3 and f"too few runs to tell: {peak['more_runs']} more would" in analyze("diff", *few).stdout
    enough = peak_of(*sides(repeated["old"], repeated["alike"][:1 + peak["more_runs"]]))
    assert enough["verdict"] == "noise" and "more_runs" not in enough


def test_memory_of_one_run_a_side_is_a_fact_and_no_verdict(repeated):
    """Two runs of one program whose memory varies differ; that one of them has more says nothing of the program."""
    for old, new in ((0, 1), (1, 2), (2, 3)):
        answer = diff(repeated["old"][old], repeated["old"][new])
        totals = {total["name"]: total for total in answer["totals"]}
        assert totals["peak"]["old"] != totals["peak"]["new"]
        assert totals.pop("rss")["verdict"] in ("one run", "same")
        rows = answer["peak"] + answer["unfreed"] + answer["allocated"] + list(totals.values())
        assert {row["verdict"] for row in rows} <= {"different", "same"} and totals["peak"]["verdict"] == "different"
    assert "whether or not two runs of one program differ as much" in analyze("diff", *repeated["old"][:2]).stdout


def test_two_runs_that_do_the_same_do_not_differ(tmp_path):
    """In what is counted; and RSS, which does by some pages, is not said to."""
    old, new = (record(tmp_path, f"{name}.bin", WORKLOADS / "growth", "cache", 100, 1, TPROF_CPU="0")
                for name in ("old", "new"))
    answer = diff(old, new)
    rss = [total["verdict"] for total in answer["totals"] if total["name"] == "rss"]
    assert rss in (["one run"], ["same"])
    assert {total["verdict"] for total in answer["totals"] if total["name"] != "rss"} == {"same"}
    assert answer["peak"] == answer["unfreed"] == answer["allocated"] == []


def test_processes_of_a_run_are_one_run(tmp_path):
    """Children of fork belong to their parent's run, wherever they stand among the traces."""
    runs = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        record(tmp_path / name, "trace.bin", WORKLOADS / "fork", "nested")
        runs.append(sorted((tmp_path / name).glob("trace*.bin")))
    assert len(runs[0]) > 1
    answer = diff(*sides(runs[0][::-1], runs[1]))
    assert len(answer["old_runs"]) == len(answer["new_runs"]) == 1
    combined = json.loads(analyze("summary", "--json", *runs[0]).stdout)["combined"]
    totals = {total["name"]: total for total in answer["totals"]}
    assert totals["peak"]["old"] == combined["peak_bytes"]
    assert totals["allocations"]["old"] == sum(
        report(trace)["heap"]["allocations"] for trace in runs[0])


def test_filter(tmp_path):
    programs = [build(tmp_path, name, padding="", more="", size=size, depth=0)
                for name, size in (("a", 1000), ("b", 2000))]
    traces = [record(tmp_path, f"{p.name}.bin", p) for p in programs]
    assert diff("--filter", "weights", *traces)["peak"] and not diff("--filter", "nodes", *traces)["peak"]


def test_a_trace_that_cannot_be_read(traces):
    assert "/nowhere" in analyze("diff", "--baseline", "/nowhere/x.bin", traces["small"], status=3).stderr


# LEVELS pairs of functions that call each other: 2**LEVELS stacks, and one of them that in the next version keeps a block more.
def many_stacks(levels, extra):
    lines = ["#include <stdlib.h>", "static void *volatile kept[1 << 20];", "static unsigned next;",
             "#define KEEP(path) kept[next++] = malloc(16 + (path) % 7)"]
    for level in range(levels):
        for name in "ab":
            calls = (f"KEEP(path); if (path == {extra}) KEEP(0);" if level == 0 else
                     f"if (path >> {level - 1} & 1) a{level - 1}(path); else b{level - 1}(path);")
            lines.append(f"__attribute__((noinline)) void {name}{level}(unsigned path) {{ {calls} __asm__(\"\"); }}")
    lines.append(f"int main(void) {{ for (unsigned i = 0; i < 1u << {levels}; i++)"
                 f" {{ if (i >> {levels - 1} & 1) a{levels - 1}(i); else b{levels - 1}(i); }} return 0; }}")
    return "\n".join(lines)


def test_many_stacks(tmp_path):
    """Of 65,536 stacks with a common beginning, 16 deep, the one that changed; in no more memory than the stacks of two runs need."""
    levels, extra = 16, 0b1011001110001011
    traces = []
    for name, path in (("old", 1 << 31), ("new", extra)):
        (tmp_path / f"{name}.c").write_text(many_stacks(levels, path))
        subprocess.run(["gcc", "-O1", "-fno-optimize-sibling-calls", tmp_path / f"{name}.c", "-o", tmp_path / name],
                       check=True)
        traces.append(record(tmp_path, f"{name}.bin", tmp_path / name))
    answer = diff("--top", 0, *traces)
    for key, count in (("peak", "blocks"), ("unfreed", "blocks"), ("allocated", "allocations")):
        (row,) = answer[key]
        path = [("b", "a")[extra >> level & 1] + str(level) for level in range(levels)]
        assert functions(row) == path + ["main"]
        assert (row[f"old_{count}"], row[f"new_{count}"], row["verdict"]) == (1, 2, "different")
    assert peak_rss([ANALYZE, "diff", *traces]) < 224 << 20
    assert peak_rss([ANALYZE, "peak", traces[0]]) < 112 << 20


@pytest.mark.real
def test_two_torch_runs(tmp_path):
    """Two runs of one program, a third of a million live blocks each: by stack, in the memory of one run's report."""
    traces = []
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        record(tmp_path / name, "trace.bin", PYTHON, WORKLOADS.parents[1] / "tests/workloads/torch_train.py",
               PYTHONHASHSEED="1", OMP_WAIT_POLICY="passive")
        traces.append(max((tmp_path / name).glob("trace*.bin"), key=lambda p: p.stat().st_size))
    assert peak_rss([ANALYZE, "diff", *traces]) < 1.5 * peak_rss([ANALYZE, "peak", traces[0]]) < 1 << 30
    answer = diff("--top", 0, *traces)
    (peak,) = [total for total in answer["totals"] if total["name"] == "peak"]
    # What differs is little: nearly all stacks of one run are found in the other.
    assert sum(row["change"] for row in answer["peak"]) < 0.01 * peak["old"]
    assert not [op["name"] for op in answer["ops"] if op["verdict"] in ("new", "gone")]
