# SPDX-License-Identifier: Apache-2.0
"""Code without unwind tables that tprof reads: callers are missing, and the report says whose, why, and in what share of stacks."""
import re
import subprocess

import pytest

from conftest import LIBRARY, PYTHON, analyze, functions, report, sampled, sites

# Where code returns, it tells how to find its caller (test_code_rules.py). These functions are left by longjmp.
WORK = r"""
#include <setjmp.h>
#include <stdlib.h>
#include <time.h>

static jmp_buf back;
static void (*volatile away)(struct __jmp_buf_tag *, int) = (void (*)(struct __jmp_buf_tag *, int))longjmp;
static char *volatile block;

#define LEAVE() do { away(back, 1); __asm__ volatile("ud2"); __builtin_unreachable(); } while (0)

__attribute__((noinline)) static void deep(int n)
{
    if (n)
        deep(n - 1);
    block = malloc(777);
    LEAVE();
}

char *lib(int n)
{
    if (!setjmp(back))
        deep(n);
    *block = 1;
    return block;
}

__attribute__((noinline)) static void burns(double seconds)
{
    clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);

    while (clock() < end)
        for (volatile int i = 0; i < 100000; i++)
            ;
    LEAVE();
}

void burn(double seconds)
{
    if (!setjmp(back))
        burns(seconds);
}
"""

PROGRAM = r"""
#include <stdlib.h>

char *lib(int n);
void burn(double seconds);

__attribute__((noinline)) static void mid(int n)
{
    *(volatile char *)lib(n) = 2;
}

int main(int argc, char **argv)
{
    for (int i = 0; i < 10; i++)
        mid(5);
    if (argc > 1)
        burn(atof(argv[1]));
    return 0;
}
"""

WORK += "".join(f"int little{i}(int n) {{ return n * {i} + little{i - 1}(n); }}\n" if i else "int little0(int n) { return n; }\n"
                for i in range(100))  # a .debug_frame that is worth to be compressed

NO_TABLES = ["-O2", "-fno-asynchronous-unwind-tables", "-fno-optimize-sibling-calls"]
BUILDS = {
    "debug_frame": [*NO_TABLES, "-g", "-gz=zlib", "-fomit-frame-pointer"],
    "no_eh_frame_hdr": ["-O2", "-fno-optimize-sibling-calls", "-fomit-frame-pointer", "-Wl,--no-eh-frame-hdr"],
    "none": [*NO_TABLES, "-g0", "-fomit-frame-pointer"],
}
WORDS = {
    "debug_frame": ("unwind tables only in .debug_frame, which tprof could not read", ".debug_frame only, not read"),
    "no_eh_frame_hdr": ("its unwind tables have no index", ".eh_frame without .eh_frame_hdr"),
    "none": ("its code there has no unwind tables", "none"),
}


def build(folder, library, program):
    """A library and a program that calls it, with these flags."""
    (folder / "library.c").write_text(WORK)
    (folder / "program.c").write_text(PROGRAM)
    subprocess.run(["gcc", *library, "-shared", "-fPIC", "-o", folder / "libwork.so", folder / "library.c"], check=True)
    subprocess.run(["gcc", *program, "-o", folder / "program", folder / "program.c", "-L", folder, "-lwork",
                    f"-Wl,-rpath,{folder}"], check=True)
    return folder / "program", folder / "libwork.so"


def guessed(stack):
    return [frame["function"] for frame in stack if frame["guessed"]]


def all_guessed(allocations):
    return {"allocations": allocations, "allocations_share": float(allocations > 0), "cpu_samples": 0, "cpu_samples_share": 0.0}


def check_words(trace, reason):
    for command in ("summary", "leaks", "peak"):
        (note,) = [line for line in analyze(command, trace).stdout.splitlines() if "lack the callers" in line]
        assert note.startswith("note: libwork.so: the stacks of 100.0% of the allocations")
        assert WORDS[reason][0] in note
    assert f"lack callers in {trace.parent.parent}/libwork.so (unwind tables: {WORDS[reason][1]})" in \
        analyze("info", trace).stdout


@pytest.mark.parametrize("reason", BUILDS)
def test_walks_that_end(tprof, tmp_path, reason):
    """Nothing stands in rbp: the walk ends in the first such frame."""
    program, library = build(tmp_path, BUILDS[reason], ["-O2", "-fomit-frame-pointer"])
    run, summary = tprof.summary([program], env={"TPROF_CPU": "0"})
    (entry,) = summary["capture"]["no_unwind_tables"]
    assert entry == {"module": str(library), "reason": reason, "allocations": 10, "allocations_share": 1.0,
                     "cpu_samples": 0, "cpu_samples_share": 0.0}
    assert summary["capture"]["stacks_short"] == 10 and summary["capture"]["guessed_callers"] == all_guessed(0)
    check_words(run.traces()[0], reason)
    library.unlink()
    (entry,) = report(run.traces()[0])["capture"]["no_unwind_tables"]
    assert entry["reason"] is None and entry["allocations_share"] == 1.0
    assert "its file is not here to tell more" in analyze("leaks", run.traces()[0]).stdout


@pytest.mark.parametrize("reason", ["debug_frame", "no_eh_frame_hdr"])
def test_walks_that_pass_callers_by(tprof, tmp_path, reason):
    """In rbp stands the frame of who called the library: the walk goes on from there, and what is between is missing."""
    program, _ = build(tmp_path, BUILDS[reason], ["-O0"])
    run, summary = tprof.summary([program], env={"TPROF_CPU": "0"})
    (site,) = sites(run.traces()[0], "leaks")
    assert functions(site["stack"])[:2] == ["deep", "main"] and site["stack_end"] == "root"
    assert guessed(site["stack"]) == ["main"] and summary["capture"]["guessed_callers"] == all_guessed(10)
    assert re.search(r"^ *main .*\(guessed\)$", analyze("peak", "--by", "stack", run.traces()[0]).stdout, re.MULTILINE)
    assert "10 allocations and 0 CPU samples have a caller that was guessed" in analyze("info", run.traces()[0]).stdout
    (entry,) = summary["capture"]["no_unwind_tables"]
    assert (entry["reason"], entry["allocations"], entry["allocations_share"]) == (reason, 10, 1.0)
    assert summary["capture"]["stacks_short"] == 0
    check_words(run.traces()[0], reason)


@pytest.mark.parametrize("reason", BUILDS)
def test_cpu_samples(tprof, tmp_path, reason):
    program, library = build(tmp_path, BUILDS[reason], ["-O2", "-fomit-frame-pointer"])
    run = sampled(lambda capture: capture["cpu_samples"] >= 5, lambda: tprof.run([program, "0.3"], [LIBRARY], {"TPROF_CPU": "1000"}))
    summary = report(run.directory / "trace.bin")
    (entry,) = summary["capture"]["no_unwind_tables"]
    assert (entry["module"], entry["reason"], entry["allocations"]) == (str(library), reason, 10)
    samples = summary["capture"]["cpu_samples"]
    assert entry["cpu_samples"] <= samples
    assert entry["cpu_samples_share"] == pytest.approx(entry["cpu_samples"] / samples)
    assert entry["cpu_samples_share"] > 0.5


@pytest.mark.parametrize("tables", [True, False])
def test_frame_pointers_do(tprof, tmp_path, tables):
    """Without tables, but with frame pointers: no caller is missing. Where the tables are read, nothing is said; without any, the callers
    were guessed."""
    program, _ = build(tmp_path, [*NO_TABLES, "-g" if tables else "-g0", "-fno-omit-frame-pointer"], ["-O0"])
    run, summary = tprof.summary([program], env={"TPROF_CPU": "0"})
    (site,) = sites(run.traces()[0], "leaks")
    assert functions(site["stack"])[:9] == 6 * ["deep"] + ["lib", "mid", "main"]
    assert guessed(site["stack"]) == ([] if tables else [*5 * ["deep"], "lib", "mid"])
    assert summary["capture"]["guessed_callers"] == all_guessed(0 if tables else 10)
    assert summary["capture"]["no_unwind_tables"] == []
    assert "lack the callers" not in analyze("leaks", run.traces()[0]).stdout


def test_programs_with_tables(tprof, tmp_path):
    """Of large programs that have all their tables nothing is said."""
    (tmp_path / "large.cc").write_text("#include <map>\n#include <regex>\nstd::map<int, std::regex> made;\n")
    script = ("import numpy, sqlite3, json\nrows = [(i, str(i)) for i in range(20000)]\n"
              "base = sqlite3.connect(':memory:')\nbase.execute('create table t (a, b)')\n"
              "base.executemany('insert into t values (?, ?)', rows)\njson.dumps(rows)\nnumpy.sort(numpy.ones(100000))\n")
    for command in ([PYTHON, "-c", script], ["g++", "-c", "-o", tmp_path / "large.o", tmp_path / "large.cc"]):
        run = tprof.run(command, preload=[LIBRARY])
        assert run.status == 0 and len(run.traces()) >= 1
        assert [report(trace)["capture"]["no_unwind_tables"] for trace in run.traces()] == [[]] * len(run.traces())


@pytest.mark.parametrize("reason", BUILDS)
def test_info_counts_the_same(tprof, tmp_path, reason, monkeypatch):
    """info, which counts by stack only those that pass such code, and summary, which counts all by stack."""
    monkeypatch.setitem(globals(), "PROGRAM", PROGRAM.replace("mid(5);", "*(volatile char *)malloc(i), mid(i), *(volatile char *)malloc(3);"))
    program, library = build(tmp_path, BUILDS[reason], ["-O2", "-fomit-frame-pointer"])
    trace = tprof.run([program], [LIBRARY], {"TPROF_CPU": "0"}).traces()[0]
    info, summary = report(trace, command="info")["capture"], report(trace)["capture"]
    (entry,) = info["no_unwind_tables"]
    assert (entry["module"], entry["allocations"]) == (str(library), 10)
    assert entry["allocations_share"] == pytest.approx(1 / 3, abs=1e-6) and info == summary
