# SPDX-License-Identifier: Apache-2.0
"""Each planted leak is one finding, at the line where it is planted; of loops that do not leak there is none."""
import re

import pytest
from conftest import BUILD, LIBRARY, PYTHON, ROOT, WORKLOADS, analyze, report
from test_python import PYTHONS

QUIET = {"TPROF_CPU": "0"}
C, PY = (ROOT / "tests/workloads" / name for name in ("leak_kinds.c", "leak_kinds.py"))


def planted(source, kind):
    """The number of the line with that mark."""
    return next(i for i, line in enumerate(source.read_text().splitlines(), 1) if re.search(rf"LEAK {kind}\b", line))


def trace_of(tprof, language, kind, steps):
    command = [WORKLOADS / "leak_kinds"] if language == "c" else [PYTHON, PY, BUILD / "share/tprof"]
    run = tprof.run([*command, kind, steps], [LIBRARY], QUIET)
    assert run.status == 0, run.stderr
    return run.traces()[0]


def growth_of(trace, *options):
    return report(trace, command="leaks", options=options)["growth"]


def sure(growth):
    return [finding for finding in growth["findings"] if finding["verdict"] == "leak"]


@pytest.mark.parametrize("kind, steps, rate", [("wrapped", 300, 24), ("sixteen", 300, 16), ("fiftieth", 3000, 80), ("mapped", 300, 65536)])
def test_a_leak_of_c_is_one_finding(tprof, kind, steps, rate):
    growth = growth_of(trace_of(tprof, "c", kind, steps))
    (finding,) = sure(growth)
    place = finding["lines"][0]
    assert (place["function"], place["line"]) == (kind, planted(C, kind))
    assert finding["ci95"][0] <= rate <= finding["ci95"][1] and finding["stacks"] == 1
    assert finding["kind"] == ("mapping" if kind == "mapped" else "heap")
    assert finding["recent_rate"] is None and finding["until_limit"] is None


def test_blocks_that_are_kept_together_are_one_finding(tprof):
    """Three lines of three functions, one block a step each, below one function."""
    trace = trace_of(tprof, "c", "graph", 300)
    growth = growth_of(trace, "--limit", "1GiB")
    (finding,) = sure(growth)
    assert growth["leaks"] == 3 == finding["stacks"], "the stacks themselves stay as they are"
    assert finding["lines"][0]["function"] == "graph" and len(finding["lines"]) == 3
    assert finding["bytes_per_step"] == pytest.approx(24 + 17 + 40) and finding["blocks_per_step"] == pytest.approx(3)
    assert sum(line["rate"] for line in finding["lines"]) == pytest.approx(finding["bytes_per_step"])
    assert finding["bytes"] == sum(site["bytes"] for site in growth["sites"] if site["verdict"] == "leak")
    assert finding["until_limit"] == pytest.approx(2**30 / 81, rel=0.01)
    text = analyze("leaks", trace).stdout
    assert re.search(r"^ +81 B +81 B to 81 B .* step 1 +3 of 27 B +\S*leak_kinds.c:\d+ \(graph\); 3 stacks$", text, re.M)
    section = text[:text.index("the chance of any false one")]
    assert "3 stacks leak together, typically" in section and "\n   2. " not in section
    assert "\n   3. " in analyze("leaks", "--exact", trace).stdout.split("the chance of")[0], "each stack by itself"


def test_leaks_with_a_wrapper_in_common_are_two(tprof):
    """That get() serves others, too, makes it no place of a leak."""
    found = sure(growth_of(trace_of(tprof, "c", "two", 600)))
    assert [finding["lines"][0]["function"] for finding in found] == ["two", "wrapped"]
    assert found[0]["bytes_per_step"] == pytest.approx(100 / 3, rel=0.1) and found[1]["bytes_per_step"] == pytest.approx(24)


def test_a_leak_that_accelerates(tprof):
    """The n-th step leaks n / 20 blocks of 16 bytes: 400 B a step at last; what is to come is told from that."""
    trace = trace_of(tprof, "c", "accelerates", 500)
    growth = growth_of(trace, "--limit", "1GiB")
    (finding,) = sure(growth)
    assert 16 * 375 / 20 < finding["recent_rate"] < 16 * 500 / 20 and finding["recent_rate"] > 1.2 * finding["bytes_per_step"]
    assert finding["until_limit"] == pytest.approx(2**30 / finding["recent_rate"], rel=0.01)
    text = analyze("leaks", "--limit", "1GiB", trace).stdout
    assert "it accelerates: " in text
    memory = growth["memory"]
    rss, size = memory["rss"], max(memory["rss"]["last_bytes"], memory["live"]["last_bytes"])
    rate = max(finding["recent_rate"], (rss["recent_rate"] or rss["rate"]) if rss["verdict"] == "leak" else 0)
    told = int(re.search(r"1.00 GiB are reached in ([\d,]+) steps", text).group(1).replace(",", ""))
    assert told == pytest.approx((2**30 - size) / rate, abs=1), "from what it was of late"


@pytest.mark.parametrize("steps", [300, 3000])
def test_a_table_that_doubles_is_a_leak(tprof, steps):
    """Four records of 96 bytes a step in an array that realloc doubles: some jumps, each when it is due."""
    trace = trace_of(tprof, "c", "doubling", steps)
    (finding,) = sure(growth_of(trace))
    assert (finding["lines"][0]["function"], finding["lines"][0]["line"]) == ("doubling", planted(C, "doubling"))
    assert finding["ci95"][0] <= 384 <= finding["ci95"][1] and finding["bytes_per_step"] == pytest.approx(384, rel=0.05)
    assert finding["table_factor"] == 2 and finding["table_next"] == pytest.approx(4096 if steps == 3000 else 512, rel=0.1)
    assert "a table that becomes 2 times as large when it is full, next at about step " in analyze("leaks", trace).stdout


def test_a_list_that_is_copied_to_append_is_a_leak(tprof):
    (finding,) = sure(growth_of(trace_of(tprof, "c", "copied", 300)))
    assert finding["lines"][0]["line"] == planted(C, "copied") and finding["bytes_per_step"] == pytest.approx(100)


@pytest.mark.parametrize("kind, steps", [("curriculum", 400), ("sequence", 400), ("sequence", 40), ("sequence", 3000)])
def test_what_grows_with_the_work_is_no_leak(tprof, kind, steps):
    """Each block is freed in the next step, which needs more of them, or larger ones."""
    trace = trace_of(tprof, "c", kind, steps)
    growth = growth_of(trace)
    assert growth["findings"] == [] and growth["replaced"] >= 1
    work = [site for site in growth["sites"] if site["verdict"] == "work"]
    assert len(work) == growth["replaced"] and all(site["bytes_per_step"] > 0 for site in work)
    text = analyze("leaks", trace).stdout
    assert re.search(r"^  \d+ stacks? grows? with the work, by .* a step: no leak, ", text, re.M) and "live blocks together do" not in text


def test_what_grows_with_the_work_in_python(tprof):
    growth = growth_of(trace_of(tprof, "python", "replaced", 200))
    assert sure(growth) == [] and growth["replaced"] == 1


@pytest.mark.parametrize("kind", ["pool", "ring", "filled", "interned", "none"])
def test_no_finding_where_nothing_leaks(tprof, kind):
    assert growth_of(trace_of(tprof, "c", kind, 400))["findings"] == []


@pytest.mark.parametrize("kind, rate", [("list", 2001), ("cache", 2033), ("closure", 3001), ("exception", 2501), ("view", 4001), ("cycle", 1801)])
def test_a_leak_of_python_is_one_finding(tprof, kind, rate):
    found = sure(growth_of(trace_of(tprof, "python", kind, 200)))
    assert len(found) == 1
    lines = [line["line"] for line in found[0]["lines"]]
    assert planted(PY, kind) in lines and found[0]["lines"][0]["file"].endswith("leak_kinds.py")
    assert found[0]["ci95"][1] >= rate and found[0]["bytes_per_step"] <= 1.5 * rate


@pytest.mark.parametrize("kind", ["local", "none"])
def test_no_finding_where_no_python_leaks(tprof, kind):
    assert sure(growth_of(trace_of(tprof, "python", kind, 200))) == []


def test_a_leak_of_small_objects_of_python(tprof):
    """
    70 floats a step, of 32 bytes each in Python's allocator, and the list object's 64: its arenas grow, and no line of theirs is
    known until objects are recorded.
    """
    rate = 70 * 32 + 64
    trace = trace_of(tprof, "python", "floats", 4000)
    (arenas,) = [finding for finding in sure(growth_of(trace)) if finding["kind"] == "arenas"]
    assert arenas["ci95"][0] <= rate <= arenas["ci95"][1] and arenas["bytes_per_step"] == pytest.approx(rate, rel=0.1)
    assert [line["line"] for line in arenas["lines"]] == [None]
    for command in ([], ["leaks"]):
        text = analyze(*command, trace).stdout
        assert "mmap" in text and text.count("Python's small objects (arenas)\n") == 1
        assert text.count("record with TPROF_PYTHON=alloc to see the lines that make Python's small objects") == 1
    assert "Python's small objects (arenas)" in [one["what"] for one in report(trace)["answer"]["leaks"]]
    run = tprof.run([PYTHON, PY, BUILD / "share/tprof", "floats", 400], [LIBRARY], {**QUIET, "TPROF_PYTHON": "alloc"})
    (finding,) = sure(growth_of(run.traces()[0]))
    assert finding["kind"] == "heap" and finding["lines"][0]["line"] == planted(PY, "floats")
    assert finding["bytes_per_step"] > 70 * 24


def test_small_objects_of_python_that_go_are_no_leak(tprof):
    assert growth_of(trace_of(tprof, "python", "freed floats", 4000))["findings"] == []


def test_code_that_is_made_anew_is_one_finding(tprof):
    found = sure(growth_of(trace_of(tprof, "python", "generated", 100)))
    large = [finding for finding in found if finding["bytes_per_step"] > 2000]
    assert len(large) == 1 and large[0]["ci95"][0] <= 2201 * 1.5


def test_steps_that_the_ops_tell_give_the_rate(tprof):
    """The program marks none; its BLAS calls come in a period, and `leaks` tells what it keeps in each."""
    run = tprof.run([WORKLOADS / "leak_blas"], [LIBRARY], {**QUIET, "TPROF_OPS": "blas", "OPENBLAS_NUM_THREADS": "1"})
    assert run.status == 0, run.stderr
    growth = growth_of(run.traces()[0])
    (finding,) = [finding for finding in sure(growth) if finding["lines"][0]["function"] == "keep"]
    assert growth["unit"] == "step" and abs(growth["last"] - 600) <= 20
    assert finding["ci95"][0] <= 48 <= finding["ci95"][1] and finding["blocks_per_step"] == pytest.approx(1)


@pytest.mark.parametrize("python", PYTHONS)
def test_the_interpreters_lines_are_not_the_users(tprof, python):
    """A CPython that somebody has built has lines of its own, in files that are not the system's."""
    script = tprof.directory / "leaky.py"
    script.write_text("import sys\nsys.path.insert(0, sys.argv[1])\nimport tprof\nkept = []\nfor step in range(300):\n"
                      "    kept.append(bytearray(3000))\n    tprof.step()\n")
    run = tprof.run([python, script, BUILD / "share/tprof"], [LIBRARY])
    assert run.status == 0, run.stderr
    (leak,) = report(run.traces()[0])["answer"]["leaks"]
    assert (leak["frame"]["line"], leak["bytes_per_step"]) == (6, pytest.approx(3000, rel=0.05))
