# SPDX-License-Identifier: Apache-2.0
"""Libraries that come and go, bypass the hooks, or bring a malloc of their own."""
import json
import re
import shutil
import subprocess

import pytest
from conftest import LIBRARY, PYTHON, WORKLOADS, analyze, functions, nothing_lost, report, sites


def unfreed(trace):
    return sites(trace, "leaks")


def test_two_libraries_at_one_address(tprof):
    """An address means what was loaded there when it was recorded."""
    run, summary = tprof.summary([WORKLOADS / "dl", "reuse", WORKLOADS])
    if not run.truth()["reused"]:
        pytest.skip("the loader did not reuse the address here")
    by_function = {}
    for site in unfreed(run.traces()[0]):
        name = functions(site["stack"])[0]
        by_function[name] = by_function.get(name, 0) + site["bytes"]
    assert by_function["plugin_a_allocate"] == 2 * 10 * 1111
    assert by_function["plugin_b_allocate"] == 20 * 2222
    nothing_lost(summary)


RELATIVE = """
#include <dlfcn.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	void *handle, *(*allocate)(unsigned long);
	if (argc < 2 || chdir(argv[1]) || !(handle = dlopen("./libplugin_b.so", RTLD_NOW)) || chdir("/"))
		return 1;
	*(void **)&allocate = dlsym(handle, "plugin_allocate");
	return !allocate(2222);
}
"""


def test_library_loaded_by_a_relative_path(tprof, tmp_path):
    """Its first stack is seen when the program is in another folder, and it has its symbols all the same."""
    (tmp_path / "relative.c").write_text(RELATIVE)
    subprocess.run(["gcc", tmp_path / "relative.c", "-o", tmp_path / "relative"], check=True)
    run, summary = tprof.summary([tmp_path / "relative", WORKLOADS])
    site = next(site for site in unfreed(run.traces()[0]) if site["bytes"] == 2222)
    assert "plugin_b_allocate" in functions(site["stack"])
    info = json.loads(analyze("info", "--json", run.traces()[0]).stdout)
    paths = [module["path"] for module in info["modules"]]
    assert str((WORKLOADS / "libplugin_b.so").resolve()) in paths
    assert not any(path.startswith(".") for path in paths)
    nothing_lost(summary)


def test_deepbind_is_said(tprof):
    run, summary = tprof.summary([WORKLOADS / "dl", "deepbind", WORKLOADS])
    assert any("DEEPBIND" in skipped["reason"] for skipped in summary["capture"]["hooks"]["skipped"])
    assert "DEEPBIND" in analyze(run.traces()[0]).stdout
    assert any(site["bytes"] == 2222 for site in unfreed(run.traces()[0]))


@pytest.mark.parametrize("ops", ["auto", "off"])
def test_namespaces_are_said(tprof, ops):
    """What another namespace's libc hands out is not in the report, and that is; dlmopen into the program's is dlopen."""
    run, summary = tprof.summary([WORKLOADS / "dl", "dlmopen", WORKLOADS], env={"TPROF_OPS": ops})
    assert run.stdout == b"dl: done\n"
    (skipped,) = [s for s in summary["capture"]["hooks"]["skipped"] if "dlmopen" in s["reason"]]
    assert skipped["module"] == f"{WORKLOADS}/libplugin_a.so"
    trace = run.traces()[0]
    for command in ("summary", "peak", "leaks", "ops", "info", "threads"):
        assert "libplugin_a.so was loaded by dlmopen" in analyze(command, trace).stdout.replace("\n", " "), command
    sizes = [site["bytes"] for site in unfreed(trace)]
    assert 2222 in sizes and 1111 not in sizes


def test_malloc_by_name(tprof):
    """What dlsym finds in libc itself passes the hooks by; its frees may not: they are counted, never fatal."""
    run, summary = tprof.summary([WORKLOADS / "dl", "dlsym", WORKLOADS])
    by_name = [s for s in sites(run.traces()[0], "hotspots") if "by_name" in functions(s["stack"]) and s["largest_bytes"] == 1111]
    assert sum(s["allocations"] for s in by_name) == 10
    assert not [s for s in unfreed(run.traces()[0]) if s["bytes"] % 1111 == 0 and "by_name" in functions(s["stack"])]
    nothing_lost(summary)


def test_origin_of_the_caller(tprof):
    """A dlopen in between changes who asks, and $ORIGIN with it; the bare and the profiled run are compared."""
    run, _ = tprof.summary([WORKLOADS / "dl", "origin", WORKLOADS])
    assert run.stdout == b"dl: done\n"


def test_own_malloc_is_said(tprof):
    """Never an empty page."""
    run, summary = tprof.summary([WORKLOADS / "own_malloc"])
    assert summary["capture"]["foreign_malloc"] is True
    assert any("static" in skipped["reason"] for skipped in summary["capture"]["hooks"]["skipped"])
    text = analyze(run.traces()[0]).stdout
    assert "this program's own malloc is linked statically: its allocations can't be seen" in text


def test_stripped_program_still_has_stacks(tprof):
    run, _ = tprof.summary([WORKLOADS / "truth-stripped", 1, 1000, 1])
    for site in unfreed(run.traces()[0]):
        assert site["stack_end"] == "root"
        assert any(frame["module"] == "truth-stripped" for frame in site["stack"])
        assert "__libc_start_main" in " ".join(str(f) for f in functions(site["stack"]))


def test_program_replaced_since(tprof, tmp_path):
    """A module that is another file by now is not symbolized with the wrong one: the report says so."""
    program = tmp_path / "victim"
    shutil.copy(WORKLOADS / "deep", program)
    run, _ = tprof.summary([program, 5])
    assert "recurse_even" in functions(unfreed(run.traces()[0])[0]["stack"])
    program.unlink()
    shutil.copy(WORKLOADS / "steady", program)
    assert "recurse_even" not in functions(unfreed(run.traces()[0])[0]["stack"])
    text = analyze(run.traces()[0]).stdout
    assert "victim" in text and "note:" in text
    program.unlink()
    site = unfreed(run.traces()[0])[0]
    assert site["bytes"] == 4242 and any(frame["module"] == "victim" for frame in site["stack"])


def test_separate_debug_file(tprof, tmp_path):
    """By build-id and .gnu_debuglink, beside the program or in --debug-dir."""
    program, debug = tmp_path / "split", tmp_path / "split.debug"
    shutil.copy(WORKLOADS / "deep", program)
    subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
    subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", program], check=True)
    run, _ = tprof.summary([program, 5])
    assert "recurse_even" in functions(unfreed(run.traces()[0])[0]["stack"])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    debug.rename(elsewhere / "split.debug")
    assert "recurse_even" not in functions(unfreed(run.traces()[0])[0]["stack"])
    found = sites(run.traces()[0], "leaks", "--debug-dir", elsewhere)
    assert "recurse_even" in functions(found[0]["stack"])


def unseen(tprof, what, status=0):
    run = tprof.run([WORKLOADS / "unseen", what], [LIBRARY], {"TPROF_CPU": "0"})
    assert run.status == status, run.stderr
    (trace,) = run.traces()
    return report(trace)["capture"]["unseen_allocators"], analyze("leaks", trace).stdout


def test_allocators_that_no_hook_sees_are_said(tprof):
    (found,), text = unseen(tprof, "private")
    assert (found["name"], found["symbol"], found["pool"]) == ("jemalloc", "_xjem_mallocx", False)
    assert found["module"] == str(WORKLOADS / "unseen") and found["setting"] is None
    assert "a second allocator, jemalloc, is linked into unseen (_xjem_mallocx)" in text
    assert "everything was freed" not in text and "another allocator's blocks were not seen" in text
    # It is there, too, where malloc's blocks are what the program has.
    found, text = unseen(tprof, "obstack")
    assert {one["name"]: one["pool"] for one in found} == {"jemalloc": False, "obstacks": True}
    assert "obstacks (_obstack_newchunk in libc.so.6) hand out parts of larger blocks" in text


def test_a_pool_that_is_there_and_not_used_is_not_said(tprof):
    """Every program has libc's obstacks."""
    found, text = unseen(tprof, "none")
    assert [one["name"] for one in found] == ["jemalloc"] and "obstack" not in text
    run = tprof.run([WORKLOADS / "truth", 1, 10, 1], [LIBRARY], {"TPROF_CPU": "0"})
    assert report(run.traces()[0])["capture"]["unseen_allocators"] == []


KEEPS = """
import decimal, email, json, os
kept = [bytearray(10000) for _ in range(100)]
os._exit(0)
"""


def test_a_trace_on_a_machine_without_the_binaries(tprof):
    """One note and not one a file; what is held is held there too."""
    run = tprof.run([PYTHON, "-c", KEEPS], [LIBRARY], {"TPROF_CPU": "0"})
    (here,) = run.traces()
    there = run.directory / "there.bin"
    there.write_bytes(here.read_bytes().replace(b"/usr/bin/python3", b"/usr/xin/python3")
                      .replace(b"/lib/x86_64-linux-gnu/", b"/lib/x86_64-xinux-gnu/").replace(b"/lib64/ld-", b"/lib64/xd-"))
    notes = [line for line in analyze("leaks", there).stdout.splitlines() if line.startswith("note: ")]
    (note,) = [line for line in notes if "not here" in line or "not there any more" in line]
    assert re.search(r"^note: \d+ modules: \d+ not here; names from build-ids: (none|\d+); --debug-dir ", note)
    held = {}
    for trace in here, there:
        for site in sites(trace, "leaks"):
            held.setdefault(site["held_by"], {}).setdefault(trace, 0)
            held[site["held_by"]][trace] += site["bytes"]
    # Which of the imports' blocks are interned strings only the names of functions say.
    held["Python's imported modules"][here] += held.get("Python's interned strings", {}).get(here, 0)
    for what in ("Python's imported modules", "Python's start"):
        assert held[what][there] == pytest.approx(held[what][here], rel=0.15)
