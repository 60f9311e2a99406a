# SPDX-License-Identifier: Apache-2.0
"""Code that compilers make at run time: its names from perf maps and jitdumps."""
import json
import os
import random
import re
import shutil
import struct
import subprocess

import pytest
from conftest import ANALYZE, WORKLOADS, analyze, functions, nothing_lost, report, sites

CHECKED = os.environ.get("CHECK_SANITIZED", "")
NODE = shutil.which("node")
# What the workload's functions allocate: size, name, line, file.
WANTED = [(100000, "alpha", 11, "alpha.jit"), (100016, "alpha", 13, "alpha.jit"),
          (200000, "beta", 21, "some folder/beta.jit"), (200016, "beta", 23, "some folder/beta.jit"),
          (300000, "gamma<int, é>", 31, "gamma.jit"), (300016, "gamma<int, é>", 33, "gamma.jit")]
ROUNDS = 20


def by_size(trace, *options):
    """What JIT code allocated: (size, the stack's functions and lines from the inner one to the outer) -> blocks."""
    found = {}
    for site in sites(trace, "leaks", *options):
        names = functions(site["stack"])
        if "keep" not in names:
            continue
        inner = site["stack"][names.index("keep") + 1]
        outer = site["stack"][names.index("keep") + 2]["function"]
        key = site["bytes"] // site["blocks"], inner["function"], inner["line"], inner["file"], outer
        found[key] = found.get(key, 0) + site["blocks"]
    return found


def check(found):
    """Each in its function's line, whichever function stood at its address before or after; alpha ran twice."""
    for size, name, line, file in WANTED:
        rounds = (2 if name == "alpha" else 1) * ROUNDS
        if name == "beta":  # at its first address, and where it was moved to
            rounds = 2 * ROUNDS
        assert found.pop((size, name, line, file, "outer")) == rounds, (size, name)
    assert found == {(400000, None, None, None, "outer"): ROUNDS, (400016, None, None, None, "outer"): ROUNDS}


@pytest.mark.parametrize("words", [[], ["ticks"], ["v8"], ["ticks", "v8"]])
def test_jitdump(tprof, words):
    """Found where it was mapped, in whatever folder; by time, lines and moves too."""
    folder = tprof.directory / "elsewhere"
    folder.mkdir()
    run, summary = tprof.summary([WORKLOADS / "jitdump", folder / "jit-1.dump", *words])
    nothing_lost(summary)
    check(by_size(run.traces()[0]))
    (folder / "jit-1.dump").rename(folder / "gone.dump")
    assert {key[1] for key in by_size(run.traces()[0])} == {None}


def test_jitdump_that_was_not_mapped(tprof):
    """Beside the trace, in the process's folder, or where --debug-dir says, under its usual name."""
    run, summary = tprof.summary([WORKLOADS / "jitdump", "made.dump", "unmapped"])
    trace = run.traces()[0]
    assert {key[1] for key in by_size(trace)} == {None}
    name = f"jit-{summary['process']['pid']}.dump"
    (run.directory / "made.dump").rename(run.directory / name)
    check(by_size(trace))
    moved = tprof.directory / "trace.bin"
    trace.rename(moved)
    check(by_size(moved))
    (run.directory / name).rename(tprof.directory / name)
    check(by_size(moved))
    folder = tprof.directory / "debug"
    folder.mkdir()
    (tprof.directory / name).rename(folder / name)
    assert {key[1] for key in by_size(moved)} == {None}
    check(by_size(moved, "--debug-dir", folder))
    os.utime(folder / name, (1, 1))  # of an earlier process with the same pid
    assert {key[1] for key in by_size(moved, "--debug-dir", folder)} == {None}


def test_every_report_reads_it(tprof):
    run, _ = tprof.summary([WORKLOADS / "jitdump", tprof.directory / "jit-1.dump"])
    for command, options in (("peak", ["--by", "function"]), ("flamegraph", ["-o", run.directory / "peak.svg"]), ("lines", ["beta.jit"]),
                             ("export", ["--format", "folded"]), ("dump", []), ("dump", ["--json"])):
        text = analyze(command, *options, run.traces()[0]).stdout
        if command in ("peak", "export") or "--json" in options:
            assert all(name in text for name in ("alpha", "beta", "gamma"))
        if command == "lines":
            assert "21" in text and "23" in text


def test_perf_map(tprof):
    """Where there is no jitdump; of two entries for an address the later one counts."""
    run, summary = tprof.summary([WORKLOADS / "jitdump", "made.dump", "unmapped"])
    trace = run.traces()[0]
    data = (run.directory / "made.dump").read_bytes()
    loads = [struct.unpack_from("<Q", data, at + 24)[0] for at, id_ in records(data) if id_ == 0]
    folder = tprof.directory / "maps"
    folder.mkdir()
    lines = [f"{loads[0]:x} 20 outer", f"{loads[1]:x} 40 first", f"{loads[1]:x} 40 second one", "nonsense", "1 2"]
    (folder / f"perf-{summary['process']['pid']}.map").write_text("\n".join(lines))
    of_two = {size: size + size + 16 for size in (100000, 200000, 300000, 400000)}
    assert by_name(trace, "--debug-dir", folder) == {
        "second one": (40 * of_two[100000] + 20 * of_two[200000] + 20 * of_two[300000], 160),
        None: (20 * of_two[200000] + 20 * of_two[400000], 80)}


def by_name(trace, *options):
    """What JIT code allocated, by its function: bytes, blocks."""
    found = {}
    for site in sites(trace, "leaks", *options):
        names = functions(site["stack"])
        if "keep" in names:
            name = names[names.index("keep") + 1]
            bytes_, blocks = found.get(name, (0, 0))
            found[name] = bytes_ + site["bytes"], blocks + site["blocks"]
    return found


def records(data):
    at = struct.unpack_from("<I", data, 8)[0]
    while at + 16 <= len(data):
        id_, size = struct.unpack_from("<II", data, at)
        yield at, id_
        at += size


def test_damaged_jitdumps(tprof):
    """Whatever stands in the file: the reports are there, and their sums are the same."""
    dump = tprof.directory / "jit-1.dump"
    run, _ = tprof.summary([WORKLOADS / "jitdump", dump])
    trace, whole, rng = run.traces()[0], dump.read_bytes(), random.Random(42)
    program = CHECKED or str(ANALYZE)
    truth = report(trace, command="leaks")["unfreed"]["bytes"]
    heads = [at for at, _ in records(whole)]
    for _ in range(40):
        data = bytearray(whole)
        if rng.random() < 0.3:
            data = data[:rng.randrange(len(data))]
        for _ in range(rng.randrange(1, 6)):
            at = rng.choice(heads) + rng.randrange(64) if rng.random() < 0.7 else rng.randrange(len(whole))
            if at < len(data):
                data[at] = rng.choice((0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)))
        dump.write_bytes(data)
        done = subprocess.run([program, "leaks", "--json", "--top", "0", str(trace)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60, check=False)
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        unfreed = json.loads(done.stdout)["unfreed"]
        assert sum(site["bytes"] for site in unfreed["sites"]) == unfreed["bytes"] == truth


@pytest.mark.parametrize("program", ["remapped", "remapped-nopie"])
def test_a_file_that_is_mapped_again(tprof, program):
    """Code that the program maps from its own file has the file's names, for as long as it is there; forked children too.
    Also where it is mapped to be read, and may be run later; another file has at least its own name, while it is there."""
    run = tprof.profile([WORKLOADS / program])
    found, modules = {}, {}
    for trace in run.traces():
        for site in sites(trace, "leaks"):
            if 1001 <= site["bytes"] <= 1009:
                found[site["bytes"]] = site["stack"][0]["function"], functions(site["stack"])[1:3]
                modules[site["bytes"]] = site["stack"][0]["module"]
    assert found == {1001: ("first", ["call", "main"]), 1002: ("second", ["call", "main"]), 1003: (None, ["call", "main"]),
                     1004: ("second", ["call", "main"]), 1005: ("first", ["call", "main"]), 1006: ("second", ["call", "main"]),
                     1007: ("second", ["call", "main"]), 1008: (None, ["call", "main"]), 1009: (None, ["call", "main"])}
    assert (modules[1003], modules[1007], modules[1008], modules[1009]) == (None, program, "remapped.code", None)
    pages = [analyze("leaks", trace).stdout for trace in run.traces()]
    assert sum(bool(re.search(r"remapped\.code\+0x20[0-9a-f]{2}\b", page)) for page in pages) == 1


@pytest.mark.skipif(not NODE, reason="node is not installed")
def test_builtins_of_node(tprof):
    """V8 maps its builtins a second time, close to the code that it makes: they are their file's there too, with the names that it
    has for them."""
    script = 'for (let i = 0; i < 3000; i++) JSON.parse("[" + "[1],".repeat(200) + "1]");'
    run = tprof.profile([NODE, "--short-builtin-calls", "-e", script], env={"TPROF_CPU": "0"})
    callers = {}
    for site in sites(run.traces()[0], "hotspots", "--filter", "Builtin_JsonParse"):
        for frame, caller in zip(site["stack"], site["stack"][1:]):
            if frame["function"] and frame["function"].startswith("v8::internal::Builtin_JsonParse("):
                who = caller["module"], (caller["function"] or "?").split("_Return")[0]
                callers[who] = callers.get(who, 0) + site["allocations"]
    [(module, name)] = callers
    assert callers[module, name] > 3000
    linked = subprocess.run(["ldd", NODE], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    [file] = {path for path in (NODE, *linked) if path.startswith("/") and os.path.basename(path) == module}
    symbols = subprocess.run(f"nm -D {file}; nm {file}", shell=True, capture_output=True, text=True, check=False).stdout
    assert name == ("Builtins_CEntry" if " Builtins_CEntry" in symbols else "?")


@pytest.mark.skipif(not NODE, reason="node is not installed")
def test_node(tprof):
    """A real compiler's dump, with lines: what its own functions allocate by native code is put down to them."""
    script = tprof.directory / "hot.js"
    script.write_text("""function inner(n) {
  let bytes = 0;
  for (let i = 0; i < n; i++)
    bytes += Buffer.allocUnsafeSlow(100000).length;
  return bytes;
}
function outer(n) {
  let sum = 0;
  for (let i = 0; i < n; i++)
    sum += inner(20);
  return sum;
}
console.log(outer(2000));
""")
    run = tprof.profile([NODE, "--perf-prof", "--interpreted-frames-native-stack", script], env={"TPROF_CPU": "999"})
    trace = run.traces()[0]
    rows = sites(trace, "hotspots", "--filter", "inner .*hot.js")
    calls = sum(row["allocations"] for row in rows if row["bytes"] // row["allocations"] >= 100000)
    assert calls >= 30000  # of 40,000; some of them before the first code of it was made
    frames = [frame for row in rows for frame in row["stack"]]
    assert any("outer" in (frame["function"] or "") for frame in frames)
    assert any(frame["line"] == 4 and frame["file"] == str(script) for frame in frames)
