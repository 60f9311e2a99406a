# SPDX-License-Identifier: Apache-2.0
"""The formats of valgrind's tools, read by valgrind's own programs: callgrind_annotate, ms_print, dh_view."""
import collections
import csv
import json
import os
import re
import shutil
import subprocess

import pytest
from conftest import LIBRARY, WORKLOADS, analyze, report, sites

DH_VIEW = "/usr/libexec/valgrind/dh_view.js"
need_valgrind = pytest.mark.skipif(not shutil.which("ms_print"), reason="valgrind is not installed")


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """imported.c, whose stacks recurse and are inlined."""
    folder = tmp_path_factory.mktemp("imported")
    subprocess.run([WORKLOADS / "imported"], check=True, cwd=folder,
                   env={**os.environ, "LD_PRELOAD": str(LIBRARY), "TPROF_OUTPUT": str(folder / "trace.bin")})
    return folder / "trace.bin"


def exported(trace, form, folder, *options):
    file = folder / form
    analyze("export", "--format", form, "-o", file, *options, trace)
    return file


def run(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, timeout=120).stdout


@need_valgrind
@pytest.mark.parametrize("which", ["trace", "imported"])
def test_callgrind(which, tmp_path, request):
    trace = request.getfixturevalue(which)
    file, heap = exported(trace, "callgrind", tmp_path), report(trace)["heap"]

    def annotated(event, inclusive):
        text = run("callgrind_annotate", "--threshold=100", "--auto=no", f"--show={event}", f"--sort={event}",
                   f"--inclusive={'yes' if inclusive else 'no'}", file)
        total = int(re.search(r"^ *([\d,]+) \(100\.0%\)  PROGRAM TOTALS", text, re.M)[1].replace(",", ""))
        found = collections.Counter()
        for count, function in re.findall(r"^ *([\d,]+) \([ \d.]+%\)  [^:]*:(\S+?)(?:'\d+)?(?: \[.*\])?$", text, re.M):
            found[function] += int(count.replace(",", ""))
        return total, +found
    rows = list(csv.DictReader(analyze("export", "--format", "csv", trace).stdout.splitlines()))
    for event, column, total in (("Allocated", "allocated_bytes", heap["allocated_bytes"]),
                                 ("Allocations", "allocations", heap["allocations"]),
                                 ("Peak", "peak_bytes", heap["peak_bytes"]), ("Unfreed", "unfreed_bytes", heap["end_bytes"])):
        if not total:
            continue
        ours, own = annotated(event, False)
        assert ours == total
        theirs = collections.Counter()
        for row in rows:
            theirs[row["frames"].rsplit(";", 1)[-1]] += int(row[column])
        for function, count in theirs.items():
            if re.fullmatch(r"\w+", function) and count:
                assert own[function] == count, (event, function)
        _, inclusive = annotated(event, True)
        assert inclusive["main"] == sum(int(row[column]) for row in rows if "main" in row["frames"].split(";")), event


@need_valgrind
@pytest.mark.parametrize("which", ["trace", "imported"])
def test_massif(which, tmp_path, request):
    trace = request.getfixturevalue(which)
    file, heap = exported(trace, "massif", tmp_path), report(trace)["heap"]
    printed = run("ms_print", "--threshold=0", file)
    peak = int(re.search(r"(\d+) \(peak\)", printed)[1])
    rows = {int(row[0]): int(row[1].replace(",", "")) for row in re.findall(r"^ *(\d+) +[\d,]+ +([\d,]+) +[\d,]+ +0 +0$", printed, re.M)}
    assert rows[peak] == max(rows.values()) == heap["peak_bytes"] and rows[max(rows)] == heap["end_bytes"]
    text = printed.splitlines()
    at = next(i for i, line in enumerate(text) if re.match(rf" *{peak} +[\d,]+ ", line))
    end = next((i for i in range(at + 1, len(text)) if text[i].startswith("-----")), len(text))
    found, path = {}, []
    for line in text[at:end]:
        node = re.match(r"([ |]*)->\d+\.\d+% \(([\d,]+)B\) (?:0x[0-9A-F]+: (\S+)|in )", line)
        if node:
            path[len(node[1]) // 2:] = [node[3]]
            if node[3]:
                found[tuple(path)] = int(node[2].replace(",", ""))
    theirs = collections.Counter()
    for site in sites(trace, "peak", "--by", "stack"):
        stack = [frame["function"] for frame in site["stack"]]
        for depth in range(1, len(stack) + 1):
            theirs[tuple(stack[:depth])] += site["bytes"]
    known = {stack: count for stack, count in found.items() if all(re.fullmatch(r"\w+", name) for name in stack)}
    assert len(known) > 3
    for stack, count in known.items():
        assert count <= theirs[stack], stack  # massif has a function once for each line of it
    first = collections.Counter()
    for line in text[at:end]:
        node = re.match(r"->\d+\.\d+% \(([\d,]+)B\) ", line)
        first["all"] += int(node[1].replace(",", "")) if node else 0
    assert first["all"] == heap["peak_bytes"]


def test_what_is_exported_for_massif_can_be_imported(imported, tmp_path):
    file = exported(imported, "massif", tmp_path)
    analyze("import", file, "-o", tmp_path / "again.bin")
    ours, theirs = report(tmp_path / "again.bin")["heap"], report(imported)["heap"]
    assert (ours["peak_bytes"], ours["end_bytes"]) == (theirs["peak_bytes"], theirs["end_bytes"])
    largest = max(sites(imported, "peak", "--by", "stack"), key=lambda site: site["bytes"])
    again = max(sites(tmp_path / "again.bin", "peak", "--by", "stack"), key=lambda site: site["bytes"])
    shown = [frame["function"] for frame in again["stack"]]  # without what starts the program
    assert "main" in shown and shown == [frame["function"] for frame in largest["stack"]][:len(shown)]
    assert again["bytes"] == largest["bytes"]


def test_dhat(imported, tmp_path):
    data, heap = json.loads(exported(imported, "dhat", tmp_path).read_text()), report(imported)["heap"]
    sums = {key: sum(point[key] for point in data["pps"]) for key in ("tb", "tbk", "gb", "gbk", "eb", "ebk")}
    assert sums == {"tb": heap["allocated_bytes"], "tbk": heap["allocations"], "gb": heap["peak_bytes"], "gbk": heap["peak_blocks"],
                    "eb": heap["end_bytes"], "ebk": heap["end_blocks"]}
    frames = [re.sub(r"^0x[0-9A-F]+: (\S+).*", r"\1", frame) for frame in data["ftbl"]]
    own = {}
    for point in data["pps"]:
        names = [frames[frame] for frame in point["fs"]]
        if "recurse" in names:  # blocks of 100 bytes, one at a time
            assert point["mb"] == 100 and point["mbk"] == 1 and point["eb"] == 0
        own[names[0]] = own.get(names[0], 0) + point["tb"]
    kept = [point for point in data["pps"] if "keep" in [frames[frame] for frame in point["fs"]]]
    assert len(kept) == 1 and kept[0]["tbk"] == kept[0]["mbk"] == 1000 and kept[0]["ebk"] == 100
    # Each fourth of the blocks is there before another sleep of 20 ms.
    assert 250 * (60 + 40 + 20) * 1_000_000 < kept[0]["tl"] < 1000 * data["te"]


@pytest.mark.skipif(not os.path.exists(DH_VIEW) or not shutil.which("node"), reason="dh_view or node is not installed")
def test_dh_view_reads_it(imported, tmp_path):
    """The viewer's own code builds its tree from the file."""
    file = exported(imported, "dhat", tmp_path)
    script = """
const fs = require("fs"), blank = new Proxy(function () {}, {get: (t, key) => key === Symbol.toPrimitive ? () => "" : blank,
  set: () => true, apply: () => blank, construct: () => blank});
const code = fs.readFileSync(process.argv[2], "utf8") + `
;gSelect = {childNodes: gSelectData.map(() => ({})), selectedIndex: 0}; gData = JSON.parse(data);
buildTree(); return [gRoot._totalBytes, gRoot._totalBlocks, gRoot._atTGmaxBytes, gRoot._atTEndBytes];`;
console.log(JSON.stringify(new Function("document", "window", "data", code)(blank, blank, fs.readFileSync(process.argv[3], "utf8"))));
"""
    (tmp_path / "view.js").write_text(script)
    heap = report(imported)["heap"]
    assert json.loads(run("node", tmp_path / "view.js", DH_VIEW, file)) == [
        heap["allocated_bytes"], heap["allocations"], heap["peak_bytes"], heap["end_bytes"]]


def test_one_process_is_wanted(tmp_path):
    subprocess.run([WORKLOADS / "fork", "fork"], check=False, cwd=tmp_path, capture_output=True,
                   env={**os.environ, "LD_PRELOAD": str(LIBRARY), "TPROF_OUTPUT": str(tmp_path / "trace.bin")})
    traces = sorted(tmp_path.glob("trace*.bin"))
    assert len(traces) > 1
    for form in ("massif", "dhat"):
        assert "--process PID says which" in analyze("export", "--format", form, *traces, status=2).stderr
    pid = report(traces[0])["process"]["pid"]
    assert analyze("export", "--format", "massif", "--process", pid, *traces).stdout
