# SPDX-License-Identifier: Apache-2.0
"""What heaptrack, massif and gperftools recorded, as traces: their figures are those that their own programs print."""
import collections
import gzip
import os
import random
import re
import shutil
import subprocess

import pytest
from conftest import BUILD, WORKLOADS, analyze, report, sites
from test_bad_input import PROGRAM

HEAPTRACK = "/usr/lib/heaptrack/libexec/heaptrack_interpret"
TCMALLOC = "/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4"
NEEDED = {"raw": HEAPTRACK, "interpreted": HEAPTRACK, "massif": shutil.which("ms_print"), "gperftools": shutil.which("google-pprof")}
OWN = {"main", "take", "take_inlined", "keep", "recurse", "grow"}  # functions of imported.c


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, timeout=120, **options).stdout


def record(kind, folder):
    """A file of that kind, of one run of imported.c."""
    program, environment = WORKLOADS / "imported", {**os.environ, "HEAPPROFILE": str(folder / "profile")}
    if kind in ("raw", "interpreted"):
        run("heaptrack", *(["--raw"] if kind == "raw" else []), "-o", folder / "heaptrack", program)
        return next(folder.glob("heaptrack*.zst"))
    if kind == "massif":
        run("valgrind", "--tool=massif", f"--massif-out-file={folder}/massif.out", "--detailed-freq=4", "--max-snapshots=40", program)
        return folder / "massif.out"
    run(program, env={**environment, "LD_PRELOAD": TCMALLOC, "HEAP_PROFILE_INUSE_INTERVAL": "400000"})
    return sorted(folder.glob("profile.*.heap"))[1]  # while it allocates


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Files by kind, each recorded when it is first asked for."""
    files = {}

    def file_of(kind):
        if not NEEDED[kind] or not os.path.exists(NEEDED[kind]):
            pytest.skip(f"{kind}: its programs are not installed")
        if kind not in files:
            files[kind] = record(kind, tmp_path_factory.mktemp(kind))
        return files[kind]
    return file_of


def imported(file, folder, cut=False):
    trace = folder / "imported.bin"
    trace.unlink(missing_ok=True)
    done = analyze("import", file, "-o", trace)
    assert bool(done.stderr) == cut and done.stdout == ""
    return trace


def names(stack):
    """Functions of imported.c, innermost first."""
    return tuple(frame["function"] for frame in stack if frame["function"] in OWN)


def by_stack(trace, command, key):
    found = collections.Counter()
    for site in sites(trace, command, "--by", "stack"):
        found[names(site["stack"])] += site[key]
    return +found


def heaptrack_folded(file, cost, folder):
    run("heaptrack_print", "-F", folder / "folded", "--flamegraph-cost-type", cost, "--disable-builtin-suppressions",
        "--disable-embedded-suppressions", file)
    found = collections.Counter()
    for line in (folder / "folded").read_text().splitlines():
        stack, count = line.rsplit(" ", 1)
        frames = [re.sub(r" \(.*", "", frame) for frame in stack.split(";")]
        found[tuple(frame for frame in reversed(frames) if frame in OWN)] += int(count)
    return +found


@pytest.mark.parametrize("kind", ["raw", "interpreted"])
def test_heaptrack(kind, recorded, tmp_path):
    file = recorded(kind)
    trace, printed = imported(file, tmp_path), file
    if kind == "raw":
        text = run("zstdcat", file)
        printed = tmp_path / "interpreted.gz"
        printed.write_bytes(gzip.compress(run(HEAPTRACK, input=text)))
    # Inlined frames of a stack come in another order in heaptrack's folded stacks.
    def unordered(counts):
        return collections.Counter({tuple(sorted(stack)): sum(n for other, n in counts.items() if sorted(other) == sorted(stack))
                                    for stack in counts})
    for cost, command, key in (("peak", "peak", "bytes"), ("leaked", "leaks", "bytes"), ("allocations", "hotspots", "allocations"),
                               ("temporary", "hotspots", "temporary")):
        theirs, ours = heaptrack_folded(printed, cost, tmp_path), by_stack(trace, command, key)
        assert unordered(ours) == unordered(theirs), cost
    said = run("heaptrack_print", printed).decode()
    heap = report(trace)["heap"]
    assert heap["allocations"] == int(re.search(r"calls to allocation functions: (\d+)", said)[1])
    assert sum(by_stack(trace, "hotspots", "temporary").values()) == int(re.search(r"temporary memory allocations: (\d+)", said)[1])


def test_heaptrack_names(recorded, tmp_path):
    """Each form has inlined functions, files and lines, and they agree; the program's file is not needed."""
    stacks = [by_place(imported(recorded(kind), tmp_path)) for kind in ("raw", "interpreted")]
    assert stacks[0] == stacks[1]
    assert any(function == "take_inlined" and inlined for stack in stacks[0] for function, _file, _line, inlined in stack)


def by_place(trace):
    return {tuple((frame["function"], os.path.basename(frame["file"]), frame["line"], frame["inlined"]) for frame in site["stack"]
                  if frame["function"] in OWN): site["blocks"] for site in sites(trace, "peak", "--by", "stack")}


def tree_of(lines):
    """Bytes of each node of a tree of ms_print, by its functions, innermost first."""
    found, path = {}, []
    for line in lines:
        node = re.match(r"([ |]*)->\d+\.\d+% \(([\d,]+)B\) 0x[0-9A-F]+: (\w+)", line)
        if node:
            path[len(node[1]) // 2:] = [node[3]]
            found[tuple(path)] = int(node[2].replace(",", ""))
    return found


def test_massif(recorded, tmp_path):
    file = recorded("massif")
    trace = imported(file, tmp_path)
    printed = run("ms_print", "--threshold=0", file).decode()
    peak = int(re.search(r"(\d+) \(peak\)", printed)[1])
    rows = {int(row[0]): [int(number.replace(",", "")) for number in row[1:]]
            for row in re.findall(r"^ *(\d+) +([\d,]+) +([\d,]+) +([\d,]+) +([\d,]+) +([\d,]+)$", printed, re.M)}
    answer = report(trace)
    assert answer["heap"]["peak_bytes"] == max(row[2] for row in rows.values()) >= rows[peak][2]
    assert answer["heap"]["end_bytes"] == rows[max(rows)][2]

    text = printed.splitlines()
    at = next(i for i, line in enumerate(text) if re.match(rf" *{peak} +[\d,]+ ", line))
    end = next((i for i in range(at + 1, len(text)) if text[i].startswith("-----")), len(text))
    theirs = tree_of(text[at:end])
    assert len(theirs) > 4
    ours = collections.Counter()
    for site in sites(trace, "peak", "--by", "stack", "--to", f"mark:massif's peak, snapshot {peak}"):
        stack = [frame["function"] for frame in site["stack"]]
        for depth in range(1, len(stack) + 1):
            ours[tuple(stack[:depth])] += site["bytes"]
    assert {stack: ours[stack] for stack in theirs} == theirs


@pytest.mark.parametrize("option", ["--stacks=yes", "--time-unit=ms", "--time-unit=B", "--pages-as-heap=yes"])
def test_massif_options(option, recorded, tmp_path):
    recorded("massif")  # or skip
    file = tmp_path / "massif.out"
    run("valgrind", "--tool=massif", f"--massif-out-file={file}", option, WORKLOADS / "imported")
    trace = imported(file, tmp_path)
    heaps = [int(heap) for heap in re.findall(r"^mem_heap_B=(\d+)", file.read_text(), re.M)]
    stacks = [int(size) for size in re.findall(r"^mem_stacks_B=(\d+)", file.read_text(), re.M)]
    answer = report(trace)
    assert (answer["heap"]["peak_bytes"], answer["heap"]["end_bytes"]) == (max(heaps), heaps[-1])
    mapped = max(point["mapped_bytes"] for point in report(trace, command="timeline")["timeline"]["points"])
    assert max(stacks) <= mapped < max(stacks) + 4096
    notes = analyze("summary", trace).stdout
    assert ("not in seconds" in notes) == (option != "--time-unit=ms") and ("pages that were mapped" in notes) == ("pages" in option)


def test_massif_over_time(recorded, tmp_path):
    """Each snapshot's sum is what is live at its time."""
    file = recorded("massif")
    trace = imported(file, tmp_path)
    snapshots = re.findall(r"^time=(\d+)\nmem_heap_B=(\d+)", file.read_text(), re.M)
    for time, heap in snapshots[1:]:
        part = report(trace, options=["--to", f"{time}ns"])
        assert part["heap"]["end_bytes"] == int(heap), time


def test_gperftools(recorded, tmp_path):
    file = recorded("gperftools")
    trace = imported(file, tmp_path)
    for figure, command, key in (("inuse_space", "peak", "bytes"), ("inuse_objects", "peak", "blocks"),
                                 ("alloc_space", "hotspots", "bytes"), ("alloc_objects", "hotspots", "allocations")):
        theirs = collections.Counter()
        for line in run("google-pprof", "--collapsed", f"--{figure}", WORKLOADS / "imported", file).decode().splitlines():
            stack, count = line.rsplit(" ", 1)
            frames = [re.sub(r"[<\[].*", "", frame) for frame in stack.split(";")]
            theirs[tuple(frame for frame in reversed(frames) if frame in OWN)] += int(count)
        assert by_stack(trace, command, key) == +theirs, figure


def test_sampled(tmp_path):
    """A sample of tcmalloc's heap: estimates are those of a Poisson process, as pprof makes them."""
    file = tmp_path / "sample.heap"
    file.write_text("heap profile: 3: 300 [ 3: 300] @ heap_v2/524288\n  3: 300 [ 3: 300] @ 0x401000 0x402000\n\nMAPPED_LIBRARIES:\n")
    answer = report(imported(file, tmp_path))
    assert answer["capture"]["sample_bytes"] == 524288
    assert answer["heap"]["peak_bytes"] == pytest.approx(300 / (1 - 2.718281828 ** (-100 / 524288)), rel=1e-3)


@pytest.mark.parametrize("kind", NEEDED)
def test_every_command_reads_it(kind, recorded, tmp_path):
    trace = imported(recorded(kind), tmp_path)
    for command in ("summary", "peak", "leaks", "hotspots", "timeline", "lines", "info", "dump", "threads"):
        assert analyze(command, trace).stdout
    first = analyze("summary", trace).stdout
    assert "imported from" in first and "pid 0" not in first and "1970" not in first
    assert analyze("flamegraph", "-o", tmp_path / "flame.svg", trace) and (tmp_path / "flame.svg").stat().st_size > 1000
    assert analyze("html", "-o", tmp_path / "page.html", trace)
    page = (tmp_path / "page.html").read_text()
    assert "imported from" in page and "pid 0," not in page and "1970-01-01" not in page
    process = report(trace, command="info")["process"]
    assert process["end"] == "unknown" and process["imported"][0].startswith("imported from")
    analyze("check", "--max-peak", "1KiB", trace, status=1)
    shutil.copy(trace, tmp_path / "again.bin")
    same = report(trace, tmp_path / "again.bin", command="diff")
    assert same["totals"][0]["old"] == same["totals"][0]["new"] > 0
    assert analyze("compare", trace, tmp_path / "again.bin").stdout


def test_two_versions(recorded, tmp_path):
    """A newer version of the program that leaks less: diff tells by stack."""
    file = recorded("interpreted")
    text = run("zstdcat", file).decode().splitlines()
    last = max(i for i, line in enumerate(text) if line.startswith("- "))
    old = imported(file, tmp_path).rename(tmp_path / "old.bin")
    (tmp_path / "new.gz").write_bytes(gzip.compress("\n".join([*text[:last], *text[last + 1:], ""]).encode()))
    new = imported(tmp_path / "new.gz", tmp_path)
    rows = {row["name"]: row for row in report(old, new, command="diff")["totals"]}
    assert rows["unfreed"]["new"] > rows["unfreed"]["old"] and rows["peak"]["new"] == rows["peak"]["old"]


# ---- files that are cut short, or wrong ----

@pytest.mark.parametrize("kind", NEEDED)
def test_cut_short(kind, recorded, tmp_path):
    """What is whole is imported, and a sentence says what is not."""
    file, cut = recorded(kind), tmp_path / "cut"
    data = gzip.compress(run("zstdcat", file)) if file.suffix == ".zst" else file.read_bytes()
    for part in (0.5, 0.9):
        cut.write_bytes(data[:int(len(data) * part)])
        done = subprocess.run([BUILD / "bin/tprof-analyze", "import", cut, "-o", tmp_path / "cut.bin"], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, done.stderr
        assert re.search(rf"{cut}: ends .*: what follows line \d+ is left out", done.stderr)
        assert "is missing" in analyze("summary", tmp_path / "cut.bin").stdout
        (tmp_path / "cut.bin").unlink()


def test_a_prefix_is_what_it_was(recorded, tmp_path):
    """The first lines of a file give what heaptrack counts of them."""
    text = run("zstdcat", recorded("interpreted")).splitlines(keepends=True)
    for count in (len(text) // 3, len(text) // 2):
        (tmp_path / "cut").write_bytes(b"".join(text[:count]) + b"+ ")
        heap = report(imported(tmp_path / "cut", tmp_path, cut=True))["heap"]
        assert heap["allocations"] == sum(line.startswith(b"+") for line in text[:count])
        assert heap["frees"] == sum(line.startswith(b"-") for line in text[:count])


WRONG = {
    "not ours": (b"hello\n", "line 1: begins as no file that can be imported; heaptrack's"),
    "empty": (b"", "the file is empty; heaptrack's"),
    "a trace": (b"TPROF\r\n\032", "is a trace of tprof already"),
    "memray": (b"memray\0", "is memray's, whose format is not documented"),
    "an unknown letter": (b"v 10400 3\nQ 1\n", r"line 2: begins with 'Q', which heaptrack's interpreted files do not have; they have v "),
    "a stack of nobody": (b"v 10400 3\na 10 5\n", "line 2: stack 5 is not known: there are 0 so far"),
    "no number": (b"v 10400 3\ns 1 a\ni zz 1\n", "line 3: 'i' wants an address and the number of a module"),
    "a number of 65 bits": (b"v 10400 3\na 10000000000000000 0\n", "line 2: 'a' wants a size"),
    "an allocation of nobody": (b"v 10400 3\na 1 0\n+ 1\n", "line 3: allocation 1 is not known: there are 1 so far"),
    "a huge block": (b"v 10400 3\nm 1 -\n+ ffffffffffffff 0 10\n", "line 3: a block of ffffffffffffff bytes; at most 400000000000"),
    "a tree too short": (b"desc: a\ncmd: b\ntime_unit: i\nsnapshot=0\ntime=0\nmem_heap_B=5\nmem_heap_extra_B=0\nmem_stacks_B=0\n"
                         b"heap_tree=peak\nn1: 5 x\nn0: 5 y\n", "line 11: 'nCHILDREN: BYTES TEXT' is wanted, with 1 blanks before it"),
    "another unit": (b"desc: a\ncmd: b\ntime_unit: h\n", "line 3: 'time_unit: ' wants i, ms or B"),
    "another profile": (b"heap profile: 1: 1 [ 1: 1] @ growthz\n", "line 1: a profile of another kind; 'heapprofile' and"),
    "more in use than ever": (b"heap profile: 1: 1 [ 1: 1] @ heapprofile\n 2: 2 [ 1: 1] @ 0x1\n",
                              "line 2: more is in use than was allocated"),
    "a long line": (b"v 10400 3\n#" + bytes(b"x" * 2000000), None),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong(what, tmp_path):
    file, trace = tmp_path / "file", tmp_path / "trace.bin"
    data, message = WRONG[what]
    file.write_bytes(data)
    done = subprocess.run([PROGRAM, "import", file, "-o", trace], capture_output=True, text=True, check=False, timeout=60)
    assert len(done.stderr.splitlines()) == 1 and str(file) in done.stderr
    if message:
        assert done.returncode == 3 and message in done.stderr and not trace.exists()


def test_usage(tmp_path):
    for words in (["import", tmp_path / "a"], ["import", "-o", tmp_path / "b", tmp_path / "a", tmp_path / "a"]):
        assert "import FILE -o TRACE" in analyze(*words, status=2).stderr
    assert "No such file" in analyze("import", tmp_path / "none", "-o", tmp_path / "b", status=3).stderr
    assert "Is a directory" in analyze("import", tmp_path, "-o", tmp_path / "b", status=3).stderr


@pytest.mark.parametrize("kind", NEEDED)
def test_damaged(kind, recorded, tmp_path):
    """Changed bytes and lines neither crash nor hang it, and what it takes is a trace."""
    file, draw = recorded(kind), random.Random(kind)
    data = run("zstdcat", file) if file.suffix == ".zst" else file.read_bytes()
    lines = data.splitlines(keepends=True)
    for _ in range(40):
        damaged = list(lines)
        for _ in range(draw.randint(1, 3)):
            at = draw.randrange(min(len(damaged), 400))
            line = bytearray(damaged[at])
            damage = draw.randrange(4)
            if damage == 0 and line:
                line[draw.randrange(len(line))] = draw.randrange(256)
            elif damage == 1:
                number = b"%x" % draw.choice([0, 1, 2**31, 2**32, 2**63, 2**64 - 1])
                line = bytearray(re.sub(rb"[0-9a-f]+", number, bytes(line), count=1))
            elif damage == 2:
                line = bytearray()
            else:
                line += damaged[draw.randrange(len(damaged))]
            damaged[at] = bytes(line)
        (tmp_path / "file").write_bytes(b"".join(damaged))
        trace = tmp_path / "trace.bin"
        trace.unlink(missing_ok=True)
        done = subprocess.run([PROGRAM, "import", tmp_path / "file", "-o", trace], capture_output=True, text=True, check=False, timeout=60,
                              errors="replace", env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0:exitcode=99"})
        assert done.returncode in (0, 3), done.stderr
        if done.returncode == 0:
            assert subprocess.run([PROGRAM, "summary", trace], capture_output=True, check=False, timeout=60).returncode == 0
