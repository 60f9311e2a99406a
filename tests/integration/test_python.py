# SPDX-License-Identifier: Apache-2.0
"""Python's frames in the stacks: those that the interpreter itself tells, frame by frame."""
import glob
import importlib.util
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree

import pytest
from conftest import BUILD, LIBRARY, PYTHON, ROOT, WORKLOADS, analyze, has_greenlet, nothing_lost, report, sites
from second_reader import Trace

PROGRAMS = ROOT / "tests/workloads"
# Other versions, where there are any: those of pyenv and of make check-pythons, or named in CHECK_PYTHONS, separated by
# colons.
FOUND = [path for pattern in (os.path.expanduser("~/.pyenv/versions/*/bin/python3"),
                              str(BUILD.parent / "pythons/usr/bin/python3.*")) for path in sorted(glob.glob(pattern))]
OTHERS = [path for path in os.environ.get("CHECK_PYTHONS", ":".join(FOUND)).split(":") if path]


def version_of(python):
    text = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:2])"], stdout=subprocess.PIPE,
                          check=False).stdout
    return tuple(map(int, text.split())) if text else (0, 0)


OLD = [path for path in OTHERS if (3, 7) <= version_of(path) < (3, 9)]
DESCRIBED = [path for path in OTHERS if version_of(path) >= (3, 13)]
PYTHONS = [PYTHON] + [path for path in OTHERS if (3, 9) <= version_of(path) <= (3, 15)]


def notes_of(run):
    return json.loads((run.directory / "truth").read_text())


def without_import(frames):
    return [frame for frame in frames if not frame[1].startswith("<frozen importlib._bootstrap")]


def shown(stack, frames):
    """The Python frames of a stack, to be compared with the interpreter's own. That does not tell of a frame that makes cells
    for its variables and has not begun: it has no line yet."""
    stack = [list(frame) for frame in stack]
    return stack if len(stack) <= len(frames) else [frame for frame in stack if frame[2]]


def told(run, summary, least):
    """The trace, and the node of each block, by its size: each stack is what the interpreter told."""
    nothing_lost(summary)
    notes = notes_of(run)
    assert len(notes) > least
    trace = Trace(run.traces()[0].read_bytes())
    nodes = {event[3]: event[4] for event in trace.events if event[1] == "alloc"}
    for size, frames, _ in notes:
        assert shown(trace.python_stack(nodes[size]), frames) == frames
    return trace, nodes


@pytest.mark.parametrize("ops", ["auto", "qsort"])  # an op that calls back into Python
@pytest.mark.parametrize("python", PYTHONS)
def test_the_frames_that_python_tells(tprof, python, ops):
    run, summary = tprof.summary([python, PROGRAMS / "python_stacks.py"], env={"TPROF_OPS": ops})
    assert ops == "auto" or {op["name"]: op["calls"] for op in summary["ops"]}["qsort"] > 2
    trace, nodes = told(run, summary, 180)
    for node in set(nodes.values()) & set(trace.joins):  # each call of the loop has its native frame; a sample may
        native, other = trace.joins[node]                # come in the middle of a call
        assert len([f for f in trace.numbers(native) if f in trace.loops]) == \
            len([f for f in trace.numbers(other) if f in trace.entries])


@pytest.mark.parametrize("ops", ["auto", "qsort"])
@pytest.mark.parametrize("python", PYTHONS)
def test_greenlets(tprof, python, ops):
    """The stack of the one that runs, whichever others wait in the middle of calls, of C's too."""
    if not has_greenlet(python):
        pytest.skip(f"{python} has no greenlet")
    run, summary = tprof.summary([python, PROGRAMS / "python_greenlets.py"], env={"TPROF_OPS": ops})
    trace, nodes = told(run, summary, 200)
    for node in set(nodes.values()) & set(trace.joins):  # each has its place; below a greenlet's stands who started it
        native, other = trace.joins[node]
        assert len([f for f in trace.numbers(native) if f in trace.loops]) >= \
            len([f for f in trace.numbers(other) if f in trace.entries])


@pytest.mark.parametrize("python", PYTHONS)
def test_subinterpreters(tprof, python):
    """What one runs is its own; the frames of who called it stay native."""
    run, summary = tprof.summary([python, PROGRAMS / "python_subinterpreter.py"])
    nothing_lost(summary)
    trace = Trace(run.traces()[0].read_bytes())
    stacks = {event[3]: [frame[0] for frame in trace.python_stack(event[4])] for event in trace.events
              if event[1] == "alloc" and event[3] in (2000034, 3000034, 4000034, 5000034)}
    assert stacks == {3000034: ["outside", "<module>"], 2000034: ["inside", "<module>"],
                      4000034: ["outside", "<module>"], 5000034: ["outside", "<module>"]}


def test_the_report_shows_them(tprof):
    """In their order, with nothing between them but what is no part of the interpreter."""
    run, _ = tprof.summary([PYTHON, PROGRAMS / "python_stacks.py"])
    notes = {size: frames for size, frames, _ in notes_of(run)}
    seen = 0
    for site in sites(run.traces()[0], "leaks"):
        size = site["bytes"] // site["blocks"]
        if site["blocks"] != 1 or size not in notes:
            continue
        seen += 1
        python = [f for f in site["stack"] if f["language"] == "python"]
        assert [[f["function"], f["file"], f["line"] or 0] for f in python] == without_import(notes[size])
        inside = site["stack"][site["stack"].index(python[0]):]
        assert all(f["language"] == "python" or not f["module"].startswith("python3") for f in inside)
    assert seen > 100


def test_what_all_packages_call_the_same(tprof, tmp_path, monkeypatch):
    """A package's file is named with the package; what a file does as it is imported, with the file."""
    outer = tmp_path / "outer"
    (outer / "inner").mkdir(parents=True)
    (outer / "__init__.py").write_text("import outer.inner\n")
    (outer / "inner/__init__.py").write_text("import outer.inner.work\n")
    (outer / "inner/work.py").write_text("kept = bytearray(3 << 20)\n")
    run = tprof.profile([PYTHON, "-c", "import outer"], env={"PYTHONPATH": str(tmp_path)})
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.setenv("LC_ALL", "C")
    listed = analyze("summary", "--full", "--top", "1", run.traces()[0]).stdout
    assert "<module> (work.py:1" in listed
    assert " < <module> (inner/__init__.py:1) < <module> (outer/__init__.py:1) < <module> (<string>:1)" in listed


def test_languages(tprof):
    """The same memory in each view; Python's has nothing but Python where there is any."""
    run, summary = tprof.summary([PYTHON, PROGRAMS / "python_stacks.py"])
    trace, total = run.traces()[0], summary["heap"]["peak_bytes"]
    languages = {}
    for language in ("mixed", "python", "native"):
        for by in ("stack", "function", "line"):
            rows = sites(trace, "peak", "--language", language, "--by", by)
            assert sum(row["bytes"] for row in rows) == total
        stacks = [s["stack"] for s in sites(trace, "peak", "--language", language)]
        languages[language] = {frozenset(f["language"] for f in stack) for stack in stacks}
    assert frozenset(["python"]) in languages["python"] and frozenset(["native", "python"]) not in languages["python"]
    assert languages["native"] == {frozenset(["native"])}
    assert frozenset(["native", "python"]) in languages["mixed"]
    shown = sites(trace, "leaks", "--interpreter")
    assert any("_PyEval_EvalFrameDefault" in [f["function"] for f in s["stack"]] for s in shown)


def test_suppressions_do_not_depend_on_the_language_shown(tprof, tmp_path):
    """They are held against every frame: of the program's lines, and of the libraries below them."""
    program = tmp_path / "keeps.py"
    program.write_text("import mmap\nkept = [bytearray(5000 + i) for i in range(50)]\nimport os\nos._exit(0)\n")
    trace = tprof.run([PYTHON, program], [LIBRARY]).traces()[0]
    for pattern in ("keeps.py", "libc.so", "^PyByteArray_"):
        rules = tmp_path / "rules"
        rules.write_text(f"leak:{pattern}\n")
        found = {}
        for language in ("mixed", "python", "native"):
            options = ["--language", language, "--suppressions", rules]
            unfreed = report(trace, command="leaks", options=[*options, "--top", "0"])["unfreed"]
            folded = analyze("export", "--what", "unfreed", *options, trace).stdout.splitlines()
            assert sum(int(line.rsplit(" ", 1)[1]) for line in folded) == unfreed["bytes"]
            found[language] = {rule["pattern"]: rule["bytes"] for rule in unfreed["suppressed"]["rules"]}
        assert found["python"] == found["native"] == found["mixed"], found
        assert pattern not in found["mixed"] or found["mixed"][pattern] > 0
        assert pattern != "keeps.py" or found["mixed"][pattern] >= 50 * 5000


def test_what_the_interpreter_imports_as_it_starts(tprof):
    """Nobody's import statement is in such stacks: as Python's they are what runs it, and not what was not recorded."""
    run = tprof.profile([PYTHON, "-c", "kept = bytearray(1 << 20)"])
    trace = run.traces()[0]
    for command in (["peak", "--by", "line", "--top", "0"], ["hotspots", "--top", "0"], ["export", "--format", "folded"]):
        assert "(stack not recorded)" not in analyze(*command, "--language", "python", trace).stdout
    stacks = [site["stack"] for site in sites(trace, "peak", "--language", "python")]
    assert all(stacks)
    assert any(all(frame["file"].startswith("<frozen importlib") for frame in stack if frame["language"] == "python")
               and stack[0]["language"] == "python" for stack in stacks)


def test_folding_under_the_line(tprof):
    """All that a line of Python allocated, through whatever native code, is that line's."""
    run, _ = tprof.summary([PYTHON, PROGRAMS / "python_stacks.py"])
    line = notes_of(run)[0][1][0]
    sizes = [size for size, frames, _ in notes_of(run) if frames[0] == line]
    (row,) = [r for r in sites(run.traces()[0], "leaks", "--language", "python", "--by", "line")
              if [r["function"], r["file"], r["line"]] == line]
    assert row["bytes"] >= sum(sizes) and row["blocks"] >= len(sizes) > 180


@pytest.mark.parametrize("off", ["0", "off"])
def test_without_python_frames(tprof, off):
    run, summary = tprof.summary([PYTHON, PROGRAMS / "python_stacks.py"], env={"TPROF_PYTHON": off, "TPROF_CPU": off})
    trace = Trace(run.traces()[0].read_bytes())
    assert not trace.joins and not trace.codes and not summary["capture"]["cpu_samples"]


def test_python_value_that_is_none(tprof):
    refused = tprof.run([PYTHON, "-c", "pass"], [LIBRARY], {"TPROF_PYTHON": "maybe"})
    assert refused.status == 0 and refused.stderr.count(b"\n") == 1 and b"TPROF_PYTHON" in refused.stderr


@pytest.mark.parametrize("python", PYTHONS)
def test_pythons_own_allocator(tprof, python):
    """Each object, exactly, where malloc sees arenas at most."""
    program = PROGRAMS / "python_objects.py"
    run, summary = tprof.summary([python, program], env={"TPROF_PYTHON": "alloc"})
    nothing_lost(summary)
    assert summary["heap"]["unmatched_frees"] == 0
    text = program.read_text().splitlines()
    found = {}  # (line's first word, size of a block): blocks; newer versions call one thing in several ways
    for site in sites(run.traces()[0], "leaks"):
        frame = next((f for f in site["stack"] if f["language"] == "python"), None)
        if frame and frame["file"] == str(program):
            key = text[frame["line"] - 1].split()[0], site["bytes"] / site["blocks"]
            found[key] = found.get(key, 0) + site["blocks"]
    assert found["small", 100] == 1000
    assert found["large", 6000] == 100
    assert sum(blocks for (word, _), blocks in found.items() if word == "gone") < 100
    _, plain = tprof.summary([python, program])
    assert plain["heap"]["allocations"] < summary["heap"]["allocations"] / 5


def not_read(run, version):
    """The program ran as ever, its stacks are native, and each report says which Python it was."""
    nothing_lost(report(run.traces()[0]))
    told_of = report(run.traces()[0])["capture"]["python"]
    assert told_of["version"] is None and told_of["not_read"] == version
    assert f"the frames of this Python ({version}) can't be read" in analyze(run.traces()[0]).stdout
    trace = Trace(run.traces()[0].read_bytes())
    assert not trace.joins and not trace.codes


@pytest.mark.skipif(not OLD, reason="no older Python is installed")
@pytest.mark.parametrize("python", OLD)
def test_pythons_that_are_too_old(tprof, python):
    run = tprof.profile([python, "-c", "print(len([bytes(5000) for _ in range(100)]))"])
    assert run.stdout == b"100\n"
    not_read(run, "{}.{}".format(*version_of(python)))


DESCRIPTION = """
import ctypes, sys
words = (ctypes.c_uint64 * 96).in_dll(ctypes.pythonapi, "_PyRuntime")
print(sys.hexversion, *words)
"""
INTERPRETER = """
const unsigned long long _PyRuntime[96] = { %s };
const unsigned long Py_Version = %s;
long PyCode_Type[60];
void _PyEval_EvalFrameDefault(void) {}
void *PyGILState_GetThisThreadState(void) { return 0; }
"""


@pytest.mark.skipif(not DESCRIBED, reason="no Python that describes itself is installed")
@pytest.mark.parametrize("python", DESCRIBED)
def test_free_threaded_pythons(tprof, python):
    """A real description, but for the word that says so. (Where none of these builds can be had.) As it was, it is read."""
    version, *words = subprocess.run([python, "-c", DESCRIPTION], stdout=subprocess.PIPE, check=True).stdout.decode().split()
    library, program = tprof.directory / "libdescribed.so", tprof.directory / "program"
    found = []
    for free_threaded in "01":
        words[2] = free_threaded
        (tprof.directory / "source.c").write_text(INTERPRETER % (", ".join(word + "ull" for word in words), version))
        (tprof.directory / "main.c").write_text(
            "#include <stdlib.h>\nextern long PyCode_Type[];\nint main(void) { free(malloc(1)); return (int)PyCode_Type[0]; }\n")
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, tprof.directory / "source.c"], check=True)
        subprocess.run(["gcc", "-o", program, tprof.directory / "main.c", library, "-Wl,-rpath,$ORIGIN"], check=True)
        found.append(tprof.profile([program]))
    not_read(found[1], "{}.{}".format(*version_of(python)))
    if version_of(python) < (3, 15):  # later ones are also asked for a function's code
        assert report(found[0].traces()[0])["capture"]["python"]["not_read"] is None


def lines_of(run, file, *options):
    return {line["line"]: line for line in report(file, run.traces()[0], command="lines", options=options)["lines"]}


def test_lines_of_a_python_file(tprof):
    """Each line with its source and what it did; the sums are those of the files, and of the whole."""
    program = PROGRAMS / "python_objects.py"
    run, _ = tprof.summary([PYTHON, program], env={"TPROF_PYTHON": "alloc"})
    text = program.read_text().splitlines()
    lines = lines_of(run, "python_objects.py", "--language", "python")
    assert all(line["source"] == text[number - 1] for number, line in lines.items())
    by_word = {line["source"].split()[0]: line for line in lines.values()}
    assert 100000 <= by_word["small"]["unfreed_bytes"] <= 120000 and by_word["small"]["unfreed_blocks"] >= 1000
    assert 600000 <= by_word["large"]["unfreed_bytes"] <= 610000
    assert by_word["gone"]["allocated_bytes"] >= 200 * 1000 and by_word["gone"]["unfreed_bytes"] < 1000
    assert by_word["grown"]["allocations"] >= 1
    files = report(run.traces()[0], command="lines", options=["--language", "python", "--top", "0"])["files"]
    (whole,) = [file for file in files if file["file"] == str(program)]
    assert whole["unfreed_bytes"] == sum(line["unfreed_bytes"] for line in lines.values())
    page = analyze("lines", "python_objects.py", "--language", "python", run.traces()[0]).stdout
    assert "small = [bytes(67) for _ in range(1000)]" in page
    analyze("lines", "no_such_file.py", run.traces()[0], status=2)


SURROGATE = """
import ctypes, types
libc = ctypes.CDLL(None)
libc.malloc.argtypes = [ctypes.c_size_t]
def function():
    libc.malloc(123457)
names = {name: "n\\udcffme" for name in ("co_name", "co_qualname") if hasattr(function.__code__, name)}
types.FunctionType(function.__code__.replace(**names), globals())()
"""


@pytest.mark.parametrize("python", PYTHONS)
def test_half_a_character(tprof, python):
    """A name that no UTF-8 can say: the trace's is UTF-8 all the same."""
    run, summary = tprof.summary([python, "-c", SURROGATE])
    nothing_lost(summary)
    trace = Trace(run.traces()[0].read_bytes())
    nodes = [event[4] for event in trace.events if event[1] == "alloc" and event[3] == 123457]
    assert [frame[0] for frame in trace.python_stack(nodes[0])] == ["n?me", "<module>"]


NO_MEMORY = """
import os
kept = bytearray(5000000)
try:
    kept *= 1 << 40
except MemoryError:
    print(len(kept), flush=True)
os._exit(0)
"""


@pytest.mark.parametrize("python", PYTHONS)
def test_a_realloc_that_fails(tprof, python):
    """What the block was, it is."""
    run, summary = tprof.summary([python, "-c", NO_MEMORY], env={"TPROF_PYTHON": "alloc"})
    nothing_lost(summary)
    assert run.stdout == b"5000000\n"
    assert [site["blocks"] for site in sites(run.traces()[0], "leaks") if site["bytes"] >= 5000000] == [1]


@pytest.mark.parametrize("python", PYTHONS)
def test_alike(tprof, python):
    """Functions that differ in little are not taken for each other, nor one for the last one in its place: of 3.10, a lambda of
    14 bytes on line 31 and one of 12 on line 29 were."""
    run, summary = tprof.summary([python, PROGRAMS / "python_alike.py"])
    assert run.stdout == b"True\n"
    told(run, summary, 1200)


@pytest.mark.parametrize("python", PYTHONS)
def test_lines_are_tracemallocs(tprof, python):
    """What Python's own tool says that each line holds. It also sees objects that are taken again from the interpreter's
    lists of free ones, which no allocator does: some 80 each of a few kinds, 20 KB at a time."""
    program = PROGRAMS / "python_lines.py"
    traced = tprof.run([python, "-X", "tracemalloc", program])
    assert traced.status == 0
    truth = {int(line): size for line, size in notes_of(traced).items()}
    run, summary = tprof.summary([python, program], env={"TPROF_PYTHON": "alloc", "TPROF_CPU": "0"})
    nothing_lost(summary)
    held = {number: line["unfreed_bytes"] for number, line in lines_of(run, program, "--language", "python").items()}
    assert sum(truth.values()) > 5000000 and sum(size > 40000 for size in truth.values()) > 7
    text = program.read_text().splitlines()
    for line in set(truth) | set(held):
        if text[line - 1].startswith("import"):  # to tracemalloc the importer's own; to tprof the statement's
            continue
        assert abs(truth.get(line, 0) - held.get(line, 0)) <= 20000, (line, truth.get(line, 0), held.get(line, 0))


def test_lines_have_what_a_function_begins_with(tprof):
    """Cells for variables that are shared are made before the function's first line, and belong to it."""
    program = tprof.directory / "cells.py"
    program.write_text("def cells(a, b):\n    return lambda: (a, b)\n\n\nkept = [cells(i, i) for i in range(5000)]\n"
                       "import os\nos._exit(0)\n")
    run, _ = tprof.summary([PYTHON, "-S", program], env={"TPROF_PYTHON": "alloc", "TPROF_CPU": "0"})
    lines = lines_of(run, "cells.py", "--language", "python")
    assert 10000 <= lines[1]["unfreed_blocks"] < 10100
    assert set(lines) <= set(range(1, 8))


LONG = "kept = [bytes(5000 + i) for i in range(100)]  # a line that is longer than there is room for, whatever the terminal"


def test_how_lines_are_shown(tprof):
    """Each line of source where it stands, cut at its end if at all; lines that are left out leave a mark."""
    text = ["", "", "", "a = bytes(6000)", "", "", "one = 1", "", "", "b = bytes(7000)", "", "", "pass", "pass", "", "", LONG, ""]
    program = tprof.directory / "shown.py"
    program.write_text("\n".join(text))
    run, _ = tprof.summary([PYTHON, "-S", program])
    page = analyze("lines", "shown.py", "--language", "python", run.traces()[0]).stdout.splitlines()
    start = next(i for i, line in enumerate(page) if line.strip().startswith("line "))
    column = page[start].index("source")
    end = page.index("  total: with what was called from the line")
    rows = [(line.split()[0], line[column:]) for line in page[start + 1:end] if line[:8].strip()]
    numbers = [number for number, _ in rows]
    assert numbers == [*map(str, range(1, 13)), "⋮", *map(str, range(15, 18))]
    for number, source in rows:
        whole = text[int(number) - 1] if number.isdigit() else ""
        assert source == whole if len(whole) <= len(source) else source.endswith("…") and whole.startswith(source[:-1])


def test_lines_of_a_c_file(tprof):
    source = PROGRAMS / "digits.c"
    leak = next(i for i, text in enumerate(source.read_text().splitlines(), 1) if "malloc(sizeof(*note))" in text)
    run, _ = tprof.summary([WORKLOADS / "digits", PROGRAMS / "data/digits.csv", 2])
    line = lines_of(run, "digits.c")[leak]
    assert line["unfreed_bytes"] == 60 * 104 and line["allocations"] == 60 and line["function"] == "remember_loss"


@pytest.mark.real
def test_leak_in_a_torch_loop(tprof):
    """Named with file and line, though torch's C++ allocated it."""
    program = PROGRAMS / "torch_leak.py"
    line = next(i for i, text in enumerate(program.read_text().splitlines(), 1) if "# the leak" in text)
    run, _ = tprof.summary([PYTHON, program], timeout=600)
    rows = sites(run.traces()[0], "peak", "--language", "python", "--by", "line")
    (row,) = [r for r in rows if (r["file"], r["line"]) == (str(program), line)]
    assert row["function"] == "remember" and row["bytes"] >= 28 * 256 * 10 * 4
    growing = lines_of(run, program, "--language", "python")[line]
    assert 10240 <= growing["growth_bytes_per_step"] <= 12000
    page = analyze("peak", "--by", "stack", "--filter", "^remember$", run.traces()[0]).stdout
    assert re.search(r"remember +\S*torch_leak.py:%d" % line, page)


def test_every_process_has_its_stacks(tprof):
    """fork, spawn, forkserver, a pool's worker, a subprocess: a trace each, with Python's frames."""
    run = tprof.profile([PYTHON, PROGRAMS / "python_processes.py"])
    wanted = {1000101, 1000202, 1000303, 1000404, 1000505}
    seen = {}
    for path in run.traces():
        trace = Trace(path.read_bytes())
        for event in trace.events:
            if event[1] == "alloc" and event[3] in wanted:
                seen[event[3]] = (path, [frame[0] for frame in trace.python_stack(event[4])])
    assert set(seen) == wanted and len({path for path, _ in seen.values()}) == len(wanted)
    assert all(names[0] == "work" and names[-1] == "<module>" for _, names in seen.values())
    together = report(*run.traces())
    assert len(together["processes"]) == len(run.traces()) and together["combined"]["peak_bytes"] > 0


# Killed by the filter (seccomp(2)) at the system call that tells whether an address can be read.
ASKS = """
import ctypes, os, struct
code = b"".join(struct.pack("HBBI", *line) for line in (
    (0x20, 0, 0, 0), (0x15, 0, 3, 14), (0x20, 0, 0, 16), (0x15, 0, 1, 0xffffffff), (6, 0, 0, 0x80000000), (6, 0, 0, 0x7fff0000)))
buffer = ctypes.create_string_buffer(code)
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(buffer)))
prctl = ctypes.CDLL("libc.so.6").prctl  # its own: with the one that is hooked recording would end
def work():
    for _ in range(1000):
        bytes(1234)
work()
if prctl(38, 1, 0, 0, 0) == 0 and prctl(22, 2, ctypes.c_void_p(ctypes.addressof(program)), 0, 0) == 0:
    work()
    os._exit(7)
"""


@pytest.mark.parametrize("python", PYTHONS)
def test_hooks_ask_the_kernel_nothing(tprof, python):
    """Only samples have to ask whether an address can be read."""
    run = tprof.run([python, "-c", ASKS], [LIBRARY], {"TPROF_CPU": "0"})
    assert run.status == 7
    trace = Trace(run.traces()[0].read_bytes())
    stacks = [trace.python_stack(event[4]) for event in trace.events if event[1] == "alloc" and 1234 <= event[3] < 1300]
    assert len(stacks) >= 2000 and all(stack[0][0] == "work" for stack in stacks[-1000:])


def instructions(tprof, python, depth, rounds):
    """That the collector spends on stacks in a Python program that allocates `rounds` times below so many frames."""
    code = f"""
def work(n):
    for _ in range(n):
        bytes(1000)
def deeper(n):
    return deeper(n - 1) if n else work({rounds})
deeper({depth})
"""
    out = tprof.directory / "callgrind.out"
    # Of stacks alone: memory samples are taken by the clock, and how many there are would decide. Nor of the search for the
    # thread's state, millions each time: a call more before Python has begun may mean one more of it.
    done = tprof.run(["valgrind", "--tool=callgrind", "--toggle-collect=tpc_python_stack",
                      "--toggle-collect=tpc_python_find_key", f"--callgrind-out-file={out}", python, "-S", "-E", "-c", code],
                     [LIBRARY], {"TPROF_CPU": "0"}, timeout=300)
    assert done.status == 0, done.stderr
    return int(re.search(rb"Collected : (\d+)", done.stderr).group(1))


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")
@pytest.mark.parametrize("python", [PYTHON] + DESCRIBED)
def test_what_a_stack_costs(tprof, python):
    """Instructions an allocation, by the difference of two lengths: so much for 60 Python frames, so much for 10."""
    tprof.run([python, "-S", "-E", "-c", ""])  # a Python that was never run before compiles its start, and keeps that in files
    for depth, most in ((10, 800), (60, 2200)):
        cost = (instructions(tprof, python, depth, 6000) - instructions(tprof, python, depth, 1000)) / 5000
        assert 5 * depth < cost < most


def outcomes(path):
    """Of each test in a JUnit report: passed, failed, skipped..."""
    return {(case.get("classname"), case.get("name")): sorted(child.tag for child in case)
            for case in xml.etree.ElementTree.parse(path).iter("testcase")}


@pytest.mark.real
@pytest.mark.parametrize("mode", ["1", "alloc"])
@pytest.mark.parametrize("package, files", [
    ("numpy", ["core/tests/test_indexing.py", "core/tests/test_dtype.py", "core/tests/test_nditer.py",
               "core/tests/test_regression.py", "lib/tests/test_index_tricks.py", "random/tests/test_generator_mt19937.py"]),
    ("sklearn", ["cluster/tests/test_hierarchical.py", "neighbors/tests/test_kd_tree.py", "tree/tests/test_export.py"]),
])
def test_other_peoples_tests(tprof, package, files, mode):
    """numpy's and scikit-learn's own tests, as installed, have the same outcomes."""
    spec = importlib.util.find_spec(package)
    paths = [os.path.join(spec.submodule_search_locations[0], file) for file in files] if spec else []
    paths = [path for path in paths if os.path.exists(path)][:2 if mode == "alloc" else None]
    if not paths:
        pytest.skip(f"{package}'s tests are not installed")
    cpu = "0" if mode == "alloc" else "99"
    command = [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=report.xml", *paths]
    bare = tprof.run(command, timeout=600)
    run = tprof.run(command, [LIBRARY], {"TPROF_PYTHON": mode, "TPROF_CPU": cpu}, timeout=900)
    assert run.status == bare.status
    expected = outcomes(bare.directory / "report.xml")
    assert len(expected) > 50 and outcomes(run.directory / "report.xml") == expected
    summary = report(run.directory / "trace.bin")
    nothing_lost(summary)
    assert summary["heap"]["unmatched_frees"] == 0
    # Only a sample can meet a frame that is half made: its stack is counted, and native. Without samples there is none.
    samples = summary["capture"]["cpu_samples"]
    assert summary["capture"]["python"]["unread"] <= (max(2, samples // 100) if samples else 0)
