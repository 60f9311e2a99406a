# SPDX-License-Identifier: Apache-2.0
"""The first page: what holds the memory, in few rows of the user's own lines; what leaks; what takes the time."""
import os
import re

import pytest
from conftest import BUILD, LIBRARY, PYTHON, ROOT, WORKLOADS, Harness, analyze, build_libtorch, report, sites

SOURCES = ROOT / "tests/workloads"
KIB = 1024


def numbered(source):
    """Line numbers by the comment at the line's end."""
    comments = {}
    for number, line in enumerate((SOURCES / source).read_text().splitlines(), 1):
        found = re.search(r"(?:/\*|#) ([\w ]+?)(?: \*/)?$", line)
        if found:
            comments.setdefault(found.group(1), number)
    return comments


def rows_of(trace, source):
    """The cover's rows, as {line of the source: row}; those of no line of it as a list."""
    rows = report(trace)["answer"]["peak"]["rows"]
    inside = [row for row in rows if row["frame"] and str(row["frame"]["file"]).endswith(source)]
    return {row["frame"]["line"]: row for row in inside}, [row for row in rows if row not in inside]


@pytest.fixture(scope="module", name="c_trace")
def profile_c(tmp_path_factory):
    return Harness(tmp_path_factory.mktemp("c")).profile([WORKLOADS / "first_page"]).traces()[0]


@pytest.fixture(scope="module", name="python_trace")
def profile_python(tmp_path_factory):
    return Harness(tmp_path_factory.mktemp("python")).profile([PYTHON, SOURCES / "first_page.py"]).traces()[0]


def test_rows_of_c(c_trace):
    """make_block() would be a row for each of its callers: the callers are the rows. A recursion is one row."""
    line = numbered("first_page.c")
    rows, others = rows_of(c_trace, "first_page.c")
    expected = {line["table"]: (4096 * KIB, 1), line["index"]: (2048 * KIB, 1), line["list"]: (3000 * 1008, 3000),
                line["recursion"]: (100 * 10 * KIB, 100)}
    assert {number: (row["bytes"], row["blocks"]) for number, row in rows.items()} == expected
    assert others == [] and {row["about"] for row in rows.values()} == {"program"}
    answer = report(c_trace)["answer"]["peak"]
    total = report(c_trace)["heap"]["peak_bytes"]
    assert total == sum(size for size, _ in expected.values()) + 10 * 2 * KIB
    assert answer["view"] == "line" and answer["share"] == pytest.approx(1 - 20 * KIB / total)
    assert rows[line["table"]]["parts"] == [{"name": rows[line["table"]]["parts"][0]["name"], "bytes": 4096 * KIB}]
    assert rows[line["table"]]["parts"][0]["name"].startswith("make_block (first_page.c:")


def test_rows_of_python(python_trace):
    line = numbered("first_page.py")
    rows, others = rows_of(python_trace, "first_page.py")
    program = {number: row for number, row in rows.items() if row["about"] == "program"}
    held = {line["table"]: (4 << 20) + 1, line["index"]: (2 << 20) + 1, line["many"]: 3000 * 1001}
    for number, size in held.items():
        assert size <= program[number]["bytes"] < 1.1 * size, program[number]
    # The helper is called by two lines of Layer, and these by one: four blocks of 300,001 bytes come together there.
    init = [row for row in program.values() if row["frame"]["function"] == "Layer.__init__"]
    assert len(init) == 2 and all(600002 <= row["bytes"] < 610000 for row in init)
    # Five lines of 110,001 bytes are too small for a row each, not together.
    (small,) = [row for row in program.values() if row["frame"]["function"] == "small"]
    assert small["frame"]["line"] is None and 550005 <= small["bytes"] < 560000
    assert {row["about"] for row in others} <= {"import", "start", "registry", "other"}
    abouts = [row["about"] in ("program", "other") for row in report(python_trace)["answer"]["peak"]["rows"]]
    assert abouts == sorted(abouts, reverse=True)


def test_a_process_without_a_line_of_the_users(tprof):
    """Such as a worker that a library started: the library's own lines are named, never the interpreter's functions."""
    folder = tprof.directory / "lib/python3/dist-packages"
    folder.mkdir(parents=True)
    (folder / "worker.py").write_text("def hold():\n    return bytearray(5 << 20)\n\n\n"
                                      "def work():\n    return max(map(abs, range(40000000)))\n\n\nkept = hold()\nwork()\n")
    run = tprof.run([PYTHON, "-m", "worker"], [LIBRARY], {"PYTHONPATH": str(folder)})
    assert run.status == 0
    answer = report(run.traces()[0])["answer"]
    for rows, line in ((answer["peak"]["rows"], 2), (answer["time"]["rows"], 6)):
        frame = rows[0]["frame"]
        assert (frame["file"], frame["line"]) == (str(folder / "worker.py"), line), rows[0]


@pytest.mark.parametrize("top", [1, 3, 8, 0])
def test_rows_are_disjoint(python_trace, top):
    """No byte is in two rows: their sum is their share of the peak; and no row has more than all stacks that go through it."""
    cover = report(python_trace, command="peak", options=["--top", str(top)])["cover"]
    peak = report(python_trace)["heap"]["peak_bytes"]
    total = sum(row["bytes"] for row in cover["rows"])
    assert total == pytest.approx(cover["share"] * peak, abs=1) and total <= peak
    assert len(cover["rows"]) <= top or top == 0
    assert all(row["share"] >= (0.01 if top else 0.001) for row in cover["rows"])
    assert cover["share"] > {1: 0.3, 3: 0.6, 8: 0.9, 0: 0.95}[top]
    stacks = sites(python_trace, "peak")
    for row in cover["rows"]:
        if row["frame"] and row["frame"]["line"]:
            through = sum(site["bytes"] for site in stacks if any(
                (frame["file"], frame["line"]) == (row["frame"]["file"], row["frame"]["line"]) for frame in site["stack"]))
            assert row["bytes"] <= through


def test_peak_is_by_auto(c_trace):
    """As text the cover is what `peak` lists; JSON keeps the stacks beside it."""
    assert analyze("peak", c_trace).stdout == analyze("peak", "--by", "auto", c_trace).stdout
    line = numbered("first_page.c")
    assert f"first_page.c:{line['table']}" in analyze("peak", c_trace).stdout
    assert "load: kept[1] = make_block(" in analyze("peak", c_trace).stdout
    assert "make_block" in analyze("peak", "--by", "stack", c_trace).stdout
    found = report(c_trace, command="peak")
    assert found["peak"]["by"] == "stack" and found["cover"] == report(c_trace)["answer"]["peak"]
    assert "hotspots allows one of: stack" in analyze("hotspots", "--by", "auto", c_trace, status=2).stderr


def test_source_that_changed_is_not_shown(tprof, tmp_path):
    """A line of a file that was edited after the run is perhaps not what ran: its function is named instead."""
    script = tmp_path / "keeps.py"
    script.write_text("def keep():\n    return bytearray(5000000)\n\n\nkept = keep()\n")
    os.utime(script, (1000000000, 1000000000))
    run = tprof.profile([PYTHON, script])
    rows = report(run.traces()[0])["answer"]["peak"]["rows"]
    assert rows[0]["name"] == "return bytearray(5000000)" and rows[0]["frame"]["line"] == 2
    script.write_text("# a new first line\n" + script.read_text())
    os.utime(script, (4000000000, 4000000000))
    assert report(run.traces()[0])["answer"]["peak"]["rows"][0]["name"] == "keep"


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_page_fits(c_trace, python_trace, width, monkeypatch):
    """One screen; no line of a table is wider than the page."""
    monkeypatch.setenv("COLUMNS", str(width))
    for trace in (c_trace, python_trace):
        text = analyze(trace).stdout
        assert len(text.splitlines()) <= 50 and "\x1b" not in text and "\nnext: tprof-analyze " in text
        table = text.partition("\nMemory: ")[2].partition("\n  ")[2].partition("of the peak in")[0].splitlines()
        if width >= 100:
            assert all(len(line) <= width for line in table), table


def test_leaks_are_on_the_page(tprof):
    """The leak, its line and who holds it; and of a program that leaks nothing a sentence."""
    run = tprof.run([WORKLOADS / "leak_kinds", "wrapped", 300], [LIBRARY], {"TPROF_LEAKCHECK": "exit"})
    answer = report(run.traces()[0])["answer"]["leaks"]
    findings = [one for one in report(run.traces()[0], command="leaks")["growth"]["findings"] if one["verdict"] == "leak"]
    assert [(one["bytes_per_step"], one["frame"]["line"]) for one in answer] == [
        (one["bytes_per_step"], one["lines"][0]["line"]) for one in findings]
    text = analyze(run.traces()[0]).stdout
    assert re.search(r"\nLeaks: 1 place that grows with every step", text)
    assert re.search(r"\n  leak_kinds\.c:\d+ is held by kept \(static\) -> ", text)
    unasked = tprof.run([WORKLOADS / "leak_kinds", "wrapped", 300], [LIBRARY])
    hint = r"\n  record with TPROF_LEAKCHECK=step:\d+ to see who holds it\n"
    assert re.search(hint, analyze(unasked.traces()[0]).stdout) and not re.search(hint, text)
    nothing = tprof.profile([WORKLOADS / "first_page"])
    assert report(nothing.traces()[0])["answer"]["leaks"] == []
    assert re.search(r"\nLeaks\n  (none found|not known): ", analyze(nothing.traces()[0]).stdout)


WORKERS = """import os, sys
sys.path.insert(0, sys.argv[1])
import tprof
kept = bytearray(5000000)
for worker in range(12):
    if os.fork() == 0:
        mine = bytearray(3000000 - 100000 * worker)
        for step in range(300 if worker == 11 else 0):
            kept_of_worker = globals().setdefault("leak", [])
            kept_of_worker.append(bytearray(600))  # the leak
            tprof.step()
        os._exit(0)
    os.wait()
"""


def traces_of(tprof, text):
    """Of a Python program that uses tprof.py and starts others."""
    script = tprof.directory / "workers.py"
    script.write_text(text)
    run = tprof.run([PYTHON, script, BUILD / "share/tprof"], [LIBRARY])
    assert run.status == 0, run.stderr
    return run.traces()


def test_processes_that_matter_have_sections(tprof):
    """The largest in whole, of each role the largest in brief, and one that leaks even if it is the smallest; the others are counted."""
    traces = traces_of(tprof, WORKERS)
    assert len(traces) == 13
    text = analyze(*traces).stdout
    assert text.count("\nMemory: ") == 3 and text.count("\nSlowest ops") + text.count("\nCPU time") >= 1
    assert "\nand 10 more processes (--full shows all)\n" in text
    reports = report(*traces)["processes"]
    second = sorted(reports, key=lambda one: one["heap"]["peak_bytes"])[-2]
    (largest,) = re.findall(r"\n\nOf 12 processes of one role, the largest:\n\S+ \(pid (\d+),", text)
    (leaking,) = re.findall(r"\n\nOf 12 processes of one role, the largest that leaks:\n\S+ \(pid (\d+),", text)
    assert int(largest) == second["process"]["pid"]
    assert text.count("\nLeaks: 1 place that grows with every step") == 1 and "workers.py:10" in text
    (found,) = [one for one in reports if one["answer"]["leaks"]]
    (leak,) = found["answer"]["leaks"]
    assert leak["frame"]["line"] == 10 and found["process"]["pid"] == int(leaking)
    assert "next: tprof-analyze leaks " in text


ARENAS = """import os, sys
sys.path.insert(0, sys.argv[1])
import tprof
kept = bytearray(50000000)
if os.fork() == 0:
    kept = [None] * 600000
    def fill(depth, step):
        if depth:
            return fill(depth - 1, step)
        for place in range(1500):
            kept[1500 * step + place] = float(step + place)
    for step in range(400):
        fill(step % 37, step)  # maps arenas from as many stacks
        tprof.step()
    os._exit(0)
os.wait()
"""


def test_a_worker_that_leaks_small_objects_has_a_section(tprof):
    """No stack of its grows: its arenas together do."""
    traces = traces_of(tprof, ARENAS)
    text = analyze(*traces).stdout
    assert text.count("\nMemory: ") == 2 and "small objects (arenas)" in text.split("\nMemory: ")[2]
    (line,) = re.findall("leak: .*", analyze("--brief", *traces).stdout)
    assert re.search(r"leak: [\d.]+ KiB a step by Python's small objects \(arenas\).*, in process \d+$", line)


BUSY = """import os
def count(n):
    return sum(i * i for i in range(n))  # the work
kept = bytearray(5000000)
for worker in range(3):
    if os.fork() == 0:
        mine = bytearray(3000000)
        count(3000000)
        os._exit(0)
for worker in range(3):
    os.wait()
"""


def test_the_time_of_workers_is_told(tprof):
    """Their CPU time is in their section, and in the short findings that of all is added up."""
    script = tprof.directory / "busy.py"
    script.write_text(BUSY)
    run = tprof.run([PYTHON, script], [LIBRARY])
    assert run.status == 0, run.stderr
    answers = report(*run.traces())
    cpu = [process["capture"]["cpu_ns"] for process in answers["processes"]]
    text = analyze(*run.traces()).stdout
    part = text.split("\nOf 3 processes of one role, the largest:\n")[1]
    assert re.search(r"CPU time: [^\n]*\n[^\n]*\n[^\n]* busy\.py:3 ", part.split("\n\n\n")[0])
    brief = analyze("--brief", *run.traces()).stdout
    said = re.search(r"time: (.*) of CPU time by 4 processes; largest of yours: (\S+ \S+) at busy\.py:3 ", brief).groups()
    time, largest = (float(text.split()[0]) * {"ms": 1e6, "s": 1e9}[text.split()[1]] for text in said)
    assert time == pytest.approx(sum(cpu), rel=0.01)
    # A function's line is one row of all processes, whose time is that of its rows in each.
    row = answers["combined"]["time"]["rows"][0]
    apart = [own["self_ns"] for process in answers["processes"] for own in process["answer"]["time"]["rows"] if own["frame"] == row["frame"]]
    assert row["frame"]["line"] == 3 and len(apart) == 3 and row["self_ns"] == sum(apart) and row["share"] == row["self_ns"] / sum(cpu)
    assert largest == pytest.approx(row["self_ns"], rel=0.01)
    assert re.search(r"\nCPU time of all 4 processes: [^\n]*\n[^\n]*\n[^\n]* busy\.py:3 ", text)
    page = tprof.directory / "page.html"
    analyze("html", "-o", page, *run.traces())
    shown = page.read_text().split('data-path="time.rows"')[1].split("</table>")[0]
    assert f'data-v="{row["self_ns"]}"' in shown and "busy.py:3<" in shown
    assert "memory: " in brief and " at the peak of 4 processes together" in brief


def test_launchers_have_no_section(tprof):
    """`timeout` and the shell hold a few KiB, and the page is not about them."""
    script = tprof.directory / "kept.py"
    script.write_text("kept = bytearray(50000000)\n")
    run = tprof.run(["timeout", "60", "sh", "-c", f"{PYTHON} {script}; true"], [LIBRARY])
    traces = run.traces()
    assert run.status == 0 and len(traces) >= 3
    text = analyze(*traces).stdout
    assert text.count("\nMemory: ") == 1 and "kept.py:1" in text
    assert f"\nand {len(traces) - 1} more processes (--full shows all)\n" in text
    assert "more process" not in analyze("--full", *traces).stdout


DIGITS = SOURCES / "data/digits.csv"

# Written from reading the programs: the text of the first row, texts of other rows of the user's, and of rows of no interest.
HELD = {
    "mlp": ([WORKLOADS / "mlp", "--data", DIGITS, "--batch", 50, "--steps", 60], "calloc(IMAGES * PIXELS",
            ["*p = (struct parameter){"], []),
    "cnn": ([WORKLOADS / "cnn", "--data", DIGITS, "--batch", 16, "--width", 8, "--steps", 40], "calloc(IMAGES * PIXELS",
            ["patches = floats(count * TAPS)", "outputs[i] = floats(count)"], []),
    "transformer": ([WORKLOADS / "transformer", "--data", DIGITS, "--batch", 16, "--width", 32, "--steps", 60],
                    "calloc(IMAGES * PIXELS", [".up = new_linear(", ".down = new_linear("], []),
    "digits": ([WORKLOADS / "digits", DIGITS], None, ["calloc(IMAGES * PIXELS", "malloc(sizeof(*note))"], []),
    "numpy": ([PYTHON, SOURCES / "first_page_numpy.py"], None,
              ["numpy.zeros(20000)", "numpy.random.rand(2000, 500)", "gram = rows.T @ rows"], ["import numpy"]),
    "jq": (["jq", "-n", '[range(100000)|{a:.,b:"x\\(.)"}]|group_by(.a%7)|length'], "jv_object_set", ["jv_array_set"], []),
    "sklearn": ([PYTHON, SOURCES / "sklearn_fit.py"], None, ["model.fit(", "data = numpy.loadtxt("],
                ["from sklearn.ensemble import", "import numpy"]),
    "torch cnn": ([PYTHON, SOURCES / "torch_models.py", "cnn", "--batch", 50, "--steps", 30], "loss.backward()",
                  ["rows = [[int(word) for word"], ["import torch", "torch's registry of operators"]),
    "torch transformer": ([PYTHON, SOURCES / "torch_models.py", "transformer", "--batch", 50, "--steps", 30], None,
                          ["loss.backward()", "rows = [[int(word) for word"], ["import torch"]),
    "torch loader": ([PYTHON, SOURCES / "torch_loader.py"], None, [], ["import torch", "torch's registry of operators"]),
    "torch mlp": ([PYTHON, SOURCES / "keep_losses.py", "drop"], None, ["loss.backward()", "optimizer.step()"],
                  ["import torch", "torch's registry of operators"]),
    "libtorch": (["libtorch_train", 60], "rows = torch::randn(", ["error.backward();", "optimizer.step();"],
                 ["torch's registry of operators", "libraries' start"]),
    "gensim": ([PYTHON, SOURCES / "gensim_words.py"], "model = Word2Vec(", [], ["from gensim.models import"]),
    "node": (["node", SOURCES / "first_page_node.js"], "node::NodeArrayBufferAllocator::", [], []),
}
REAL = ("sklearn", "torch cnn", "torch transformer", "torch loader", "torch mlp", "libtorch", "gensim")


@pytest.mark.parametrize("program", [pytest.param(name, marks=[pytest.mark.real] if name in REAL else []) for name in HELD])
def test_what_holds_the_memory_of(tprof, program):
    """At least 80% of the peak in eight rows, and those that the program's text lets one expect among them."""
    command, first, others, plain = HELD[program]
    if program == "libtorch":
        command = [build_libtorch(tprof.directory), *command[1:]]
    run = tprof.run(command, [LIBRARY], {"OPENBLAS_NUM_THREADS": "1"}, timeout=600)
    assert run.status == 0, run.stderr
    main = next(trace for trace in run.traces() if trace.name == "trace.bin")
    peak = report(main)["answer"]["peak"]
    names = {True: [], False: []}
    for row in peak["rows"]:
        names[row["about"] in ("program", "other")].append(row["name"])
    assert len(peak["rows"]) <= 8 and peak["share"] >= 0.8
    assert first is None or first in names[True][0], names
    for own, texts in ((True, others), (False, plain)):
        for text in texts:
            assert any(text in name for name in names[own]), (text, names)
