# SPDX-License-Identifier: Apache-2.0
"""The HTML report: one well-formed file, each of whose figures is that of --json, and no part of which a trace can write."""
import base64
import hashlib
import html.parser
import json
import os
import pathlib
import random
import re
import subprocess
import xml.etree.ElementTree as ET

import pytest
from conftest import BUILD, LIBRARY, ROOT, WORKLOADS, analyze, report

NAMESPACE = "{http://www.w3.org/1999/xhtml}"
TOP = 7
SANITIZED = pathlib.Path(os.environ.get("CHECK_SANITIZED", BUILD.parent / "asan-ubsan/bin/tprof-analyze"))
OPTIONS = ["--top", str(TOP)]


class Reader(html.parser.HTMLParser):
    """As a browser reads it: which elements there are, and what is text."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.words, self.attributes, self.open, self.raw, self.data = [], [], [], [], {"style": [], "script": []}, []

    def handle_starttag(self, tag, attrs):
        # A script of that type is data, which a browser does not run.
        kind = "data" if dict(attrs).get("type") == "application/json" else tag
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.open.append(kind)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() in (tag, "data" if tag == "script" else tag)

    def handle_data(self, data):
        if self.open and self.open[-1] == "data":
            self.data.append(json.loads(data))
            return
        (self.raw[self.open[-1]] if self.open and self.open[-1] in self.raw else self.words).append(data)


def page_of(*traces, options=(), status=0):
    return analyze("html", *OPTIONS, *options, *traces, status=status).stdout


def read(page):
    """Both ways."""
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader, ET.fromstring(page)


def check_nothing_leaves(reader):
    """No address but names of namespaces and places in the page itself; no handlers; scripts and style by their hashes."""
    for tag, name, value in reader.attributes:
        assert name not in ("src", "action", "srcset", "data", "style") and not name.startswith("on"), (tag, name)
        if name in ("href", "xlink:href"):
            assert value.startswith("#"), value
        elif name != "xmlns":
            assert "://" not in value or tag in ("td", "dd", "div", "th"), (tag, name, value)
    assert not {"link", "iframe", "object", "embed", "base", "form", "img"} & set(reader.tags)
    policy = next(value for tag, name, value in reader.attributes if tag == "meta" and "default-src" in value)
    assert "default-src 'none'" in policy and "unsafe" not in policy
    for kind, texts in reader.raw.items():
        assert texts
        for text in texts:
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in re.search(f"{kind}-src ([^;]*)", policy).group(1), kind
            assert "http" not in text and "url(" not in text and "@import" not in text


def json_of(*traces, number=None, machine=()):
    """What the page's figures are of, by the commands that print them."""
    def ask(command, *options):
        answer = report(*traces, command=command, options=[*OPTIONS, *options])
        return answer if number is None else answer["processes"][number]

    found, leaks = ask("summary", *machine), ask("leaks")
    found["steps"] = ask("steps")["steps"]
    found["growth"], found["reachability"] = leaks["growth"], leaks["reachability"]
    found["tree"] = ask("ops", "--tree")["tree"]
    if machine:
        found["roofline"] = ask("roofline", *machine)["roofline"]
    for by in ("line", "op"):
        found[f"peak_{by}s"] = ask("peak", "--by", by)["peak"]
    return found


def at(answer, path):
    for key in path.split("."):
        answer = answer[key]
    return list(answer.values()) if isinstance(answer, dict) else answer


def direct_cells(row):
    return row.findall(f"{NAMESPACE}td")


def check_facts(article, answer):
    """Each has the JSON's value of its key; returns the keys."""
    facts = {fact.get("data-k"): json.loads(fact.get("data-v")) for fact in article.iter(f"{NAMESPACE}dd") if fact.get("data-k")}
    assert facts == {key: at(answer, key) for key in facts}
    return facts.keys()


def check_figures(article, answer):
    """Each fact and each cell with a key has the JSON's value of it; returns the paths of the tables seen."""
    facts = check_facts(article, answer)
    nested = {id(inner) for cell in article.iter(f"{NAMESPACE}td") for inner in cell.iter(f"{NAMESPACE}table")}
    seen = {}
    for table in article.iter(f"{NAMESPACE}table"):
        if id(table) in nested:
            continue
        path, rows = table.get("data-path"), table.find(f"{NAMESPACE}tbody").findall(f"{NAMESPACE}tr")
        expected = at(answer, path)
        assert len(rows) == len(expected), path
        figures = 0
        for row, item in zip(rows, expected):
            for cell in direct_cells(row):
                if cell.get("data-k"):
                    assert json.loads(cell.get("data-v")) == item[cell.get("data-k")], (path, cell.get("data-k"))
                    figures += 1
        seen[path] = figures
    assert len(facts) > 15
    return seen


def article(tree, number=0):
    return next(found for found in tree.iter(f"{NAMESPACE}article") if found.get("data-process") == str(number))


# Each table of a page about one process, by its place in the JSON.
EVERY = {"heap.peak_sites", "heap.unfreed_sites", "heap.hot_sites", "peak_lines.sites", "peak_ops.sites", "growth.sites",
         "growth.resident", "ops", "tree", "steps.outliers", "steps.ops", "cpu", "priorities.time", "roofline",
         "reachability.definitely_lost.sites"}
MACHINE = {"schema": "tprof-machine/1", "cpu": "<b>Made up</b>", "cores": 2, "measured_unix_s": 0,
           "gflops": {"SSE": {"single": {"one": 100, "all": 200}, "double": {"one": 50, "all": 100}}},
           "gbytes_per_s": {"L1": {"one": 100, "all": 200}, "memory": {"one": 10, "all": 20}}, "cache_bytes": {"L1": 32768}}


def test_figures(tprof, tmp_path):
    """All sections, of programs that have what they tell of, against the JSON of the same traces."""
    machine = tmp_path / "machine.json"
    machine.write_text(json.dumps(MACHINE))
    digits = [WORKLOADS / "digits", ROOT / "tests/workloads/data/digits.csv"]
    runs = {"ops": ([WORKLOADS / "ops", 30], {}), "digits": (digits, {"OPENBLAS_NUM_THREADS": "1"}),
            "outliers": ([WORKLOADS / "outliers"], {}), "growth": ([WORKLOADS / "growth", "spread", 300, 1], {}),
            "lost": ([WORKLOADS / "lost"], {"TPROF_LEAKCHECK": "exit"}), "hot": ([WORKLOADS / "hot", "plain", 100000, 100], {}),
            "samples": ([WORKLOADS / "steady", 100000], {"TPROF_ALLOC": "sample:4096"})}
    seen = {}
    for name, (command, environment) in runs.items():
        trace = tprof.run(command, [LIBRARY], environment).traces()[0]
        reader, tree = read(page_of(trace, options=["--machine", machine]))
        check_nothing_leaves(reader)
        answer = json_of(trace, machine=["--machine", machine])
        tables = check_figures(article(tree), answer)
        for path, figures in tables.items():
            seen[path] = seen.get(path, 0) + figures
        left_out = answer["heap"]["peak_sites_total"] - TOP
        assert left_out <= 0 or f"and {left_out:,} more" in " ".join(reader.words), name
        frames = [frame["function"].split("(")[0] for site in answer["heap"]["peak_sites"] for frame in site["stack"]
                  if frame["function"]]
        assert all(any(function in words for words in reader.words) for function in frames), name
    assert EVERY <= set(seen), EVERY - set(seen)
    assert all(figures > 0 for figures in seen.values()), seen


def alive_at(data, look):
    """The bytes of each of the page's rows at a look, by its sums."""
    sites, changes = data["sites"], data["changes"]
    alive = list(sites["beginBytes"])
    for i in range(changes["ends"][look - 1] if look else 0):
        alive[changes["site"][i]] += changes["liveBytes"][i]
    return alive


def check_sums(data, answer):
    """What the page adds up is what the report says."""
    sites, changes, tree, heap = data["sites"], data["changes"], data["opTree"], answer["heap"]
    assert sum(sites["peakBytes"]) == heap["peak_bytes"] and sum(sites["peakBlocks"]) == heap["peak_blocks"]
    assert sum(sites["endBytes"]) == heap["end_bytes"] and sum(sites["endBlocks"]) == heap["end_blocks"]
    assert sum(sites["bytes"]) == heap["allocated_bytes"] and sum(sites["allocations"]) == heap["allocations"]
    assert sum(sites["temporary"]) == heap["temporary_allocations"]
    assert [sum(changes[key]) for key in ("bytes", "allocations", "temporary")] == \
        [heap["allocated_bytes"], heap["allocations"], heap["temporary_allocations"]]
    assert sum(alive_at(data, len(data["looksNs"]) - 1)) == heap["end_bytes"]
    assert sum(data["cpu"]["periods"]) * data["cpu"]["periodNs"] == answer["capture"]["cpu_ns"]
    if data["peakLook"] >= 0:
        assert alive_at(data, data["peakLook"]) == sites["peakBytes"]
    ops, names = {}, {op["op"]: op["name"] for op in data["ops"]}
    for node, self_ns, calls in zip(tree["node"], tree["selfNs"], tree["calls"]):
        name = names[tree["op"][node]]
        ops[name] = [a + b for a, b in zip(ops.get(name, [0, 0]), (self_ns, calls))]
    assert ops == {op["name"]: [op["self_ns"], op["calls"]] for op in answer["ops"] if op["calls"]}
    for op, told in zip(data["ops"], answer["ops"]):
        assert sum(calls for _, calls in op["histogram"]) == told["calls"]
        assert [op[key] for key in ("name", "minNs", "p50Ns", "maxNs")] == [told[key] for key in ("name", "min_ns", "p50_ns", "max_ns")]


def test_the_data_adds_up(tprof):
    """The sums of the page's data are the figures of the report, and at each moment those of a report up to then."""
    digits = [WORKLOADS / "digits", ROOT / "tests/workloads/data/digits.csv"]
    for command, environment in ((digits, {"OPENBLAS_NUM_THREADS": "2"}), ([WORKLOADS / "growth", "spread", 100, 1], {}),
                                 ([WORKLOADS / "ops", 30], {}), ([WORKLOADS / "fork", "nested"], {})):
        trace = tprof.run(command, [LIBRARY], environment).traces()[0]
        data, = read(page_of(trace))[0].data
        check_sums(data, report(trace, command="summary", options=["--top", "0"]))
        for look in (1, 57, 200, 399):
            moment = data["looksNs"][look] - 1  # what happens at the look itself comes after it
            heap = report(trace, command="summary", options=["--to", f"{moment}ns"])["heap"]
            assert sum(alive_at(data, look)) == heap["end_bytes"], look


def test_a_large_tree_is_cut_and_adds_up(tprof):
    """Of more stacks than a page shows, what is cut off counts in the line that it grew from."""
    source = tprof.directory / "many.c"
    functions = ["#include <stdlib.h>", "void *volatile keep;", "__attribute__((noinline)) static void f0(unsigned path)",
                 "{ keep = malloc(path + 16); __asm__ volatile(\"\"); }"]
    for i in range(1, 16):
        functions += [f"__attribute__((noinline)) static void f{i}(unsigned path)", "{", "if (path & 1) {", f"f{i - 1}(path >> 1);",
                      "__asm__ volatile(\"nop\");", "} else {", f"f{i - 1}(path >> 1);", "__asm__ volatile(\"\");", "}", "}"]
    source.write_text("\n".join([*functions, "int main(void) { for (unsigned path = 0; path < 1 << 15; path++) f15(path); return 0; }\n"]))
    program = tprof.directory / "many"
    subprocess.run(["gcc", "-g", "-O1", "-fno-optimize-sibling-calls", source, "-o", program], check=True)
    trace = tprof.run([program], [LIBRARY]).traces()[0]
    data, = read(page_of(trace))[0].data
    reduced, answer = data["reduced"], report(trace, command="summary", options=["--top", "0"])
    assert reduced["stacks"] > 32000 and reduced["lines"] > 4000 > reduced["linesShown"] and len(data["tree"]["parent"]) == reduced["linesShown"] + 1
    assert all(parent < node for node, parent in enumerate(data["tree"]["parent"]) if node)
    check_sums(data, answer)


def test_a_filter(tprof):
    """What does not match is one line, so that sums stay those of the report."""
    trace = tprof.run([WORKLOADS / "digits", ROOT / "tests/workloads/data/digits.csv"], [LIBRARY]).traces()[0]
    data, = read(page_of(trace, options=["--filter", "remember_loss"]))[0].data
    check_sums(data, report(trace, command="summary", options=["--top", "0"]))
    names = {data["texts"][number] for number in data["frames"]["function"]}
    assert "remember_loss" in names and "(stacks that do not match --filter)" in names and "load_digits" not in names
    held = report(trace, command="peak", options=["--top", "0", "--filter", "remember_loss"])["peak"]["bytes"]
    of = [data["texts"][data["frames"]["function"][frame]] if frame >= 0 else "" for frame in data["tree"]["frame"]]
    sites = data["sites"]
    assert sum(size for node, size in zip(sites["node"], sites["peakBytes"]) if not of[node].startswith("(stacks that")) == held > 0


def test_several_processes(tprof):
    """A section of each, and all together."""
    traces = tprof.run([WORKLOADS / "fork", "nested"], [LIBRARY]).traces()
    assert len(traces) > 2
    reader, tree = read(page_of(*traces))
    check_nothing_leaves(reader)
    for number in range(len(traces)):
        check_figures(article(tree, number), json_of(*traces, number=number))
    combined = report(*traces, options=OPTIONS)["combined"]
    table, = [table for table in article(tree, "combined").iter(f"{NAMESPACE}table") if table.get("data-path") == "peak_processes"]
    rows = table.find(f"{NAMESPACE}tbody").findall(f"{NAMESPACE}tr")
    found = [[json.loads(cell.get("data-v")) for cell in row if cell.get("data-k") in ("pid", "bytes")] for row in rows]
    assert found == [[one["pid"], one["bytes"]] for one in combined["peak_processes"]]
    pictures = [svg for svg in article(tree, "combined").iter("{http://www.w3.org/2000/svg}svg")]
    points = report(*traces, command="timeline")["combined"]["timeline"]["points"]
    assert len(pictures) == 1
    assert len(pictures[0].findall(".//*[@class='v']")) == len(points)
    targets = {element.get("id") for element in tree.iter() if element.get("id")}
    assert all(value[1:] in targets for tag, name, value in reader.attributes if name == "href")


HOSTILE = "</script><img src=x onerror=alert(1)>\"'&<!--]]>"


def test_a_trace_writes_no_markup(tprof):
    """Arguments, names of threads, ops and marks, and the folder: what is no word of tprof's is text."""
    source = tprof.directory / "hostile.c"
    source.write_text(f"""#include <tprof.h>
        #include <stdlib.h>
        #include <sys/prctl.h>
        void *volatile keep;
        int main(void) {{
            prctl(PR_SET_NAME, "</b><i>x&\\"");
            for (int i = 0; i < 50; i++) {{
                tprof_op_begin({json.dumps(HOSTILE)}, "<u>");
                free(malloc(1000));
                keep = malloc(100);
                tprof_op_end();
                tprof_mark({json.dumps(HOSTILE)});
                tprof_step(1);
            }}
            return 0; }}""")
    program = tprof.directory / "a<b>&c"
    subprocess.run(["gcc", f"-I{ROOT}/include", source, "-o", program], check=True)
    run = tprof.run([program, HOSTILE, "\x1b[31m", "--></style>"], [LIBRARY])
    reader, _ = read(page_of(run.traces()[0]))
    check_nothing_leaves(reader)
    words = "".join(reader.words)
    assert "a<b>&c" in words and words.count(HOSTILE) >= 3 and "\x1b" not in words
    assert not {"img", "u", "b"} & set(reader.tags)


def test_empty_and_damaged(tprof, tmp_path):
    """A page of what is there, which says what is not."""
    whole = tprof.run([WORKLOADS / "steady", "7"], [LIBRARY]).traces()[0].read_bytes()
    path = tmp_path / "part.bin"
    for size in (len(whole) // 2, len(whole) // 4, 20000, 16384):
        path.write_bytes(whole[:size])
        reader, tree = read(page_of(path, options=["--color", "never"]))
        check_nothing_leaves(reader)
        check_figures(article(tree), json_of(path))
    off = tprof.run(["/bin/true"], [LIBRARY], {"TPROF_ALLOC": "off", "TPROF_OPS": "off", "TPROF_CPU": "0"}).traces()[0]
    reader, tree = read(page_of(off))
    assert any("no allocation was recorded" in words for words in reader.words)
    facts = check_facts(article(tree), json_of(off))
    assert {key for key in facts if key.startswith("heap.")} == {"heap.rss_peak_bytes"} and "capture.events" in facts
    assert "live bytes" not in "".join(reader.words)
    path.write_bytes(b"no trace")
    analyze("html", "-o", tmp_path / "x.html", path, status=3)


def test_what_it_is_written_to(tprof, tmp_path):
    trace = tprof.run([WORKLOADS / "steady", "7"], [LIBRARY]).traces()[0]
    said = analyze("html", "-o", tmp_path / "report.html", trace)
    assert said.stdout == "" and said.stderr.endswith(f"open {tmp_path}/report.html in a browser\n")
    again = analyze("html", trace).stdout
    assert (tmp_path / "report.html").read_text() == again  # the same trace, the same page
    before = trace.read_bytes()
    assert "it is a trace" in analyze("html", "-o", trace, trace, status=2).stderr
    assert trace.read_bytes() == before
    assert "html takes no --json" in analyze("html", "--json", trace, status=2).stderr


@pytest.mark.parametrize("seed", range(6))
def test_changed_bytes(tprof, tmp_path, seed):
    """Whatever a trace says, the page is well-formed, and the sanitizers have nothing to say."""
    assert SANITIZED.exists(), "make sanitized"
    numbers = random.Random(seed)
    traces = [tprof.run([WORKLOADS / "ops", 5], [LIBRARY]).traces()[0].read_bytes(),
              tprof.run([WORKLOADS / "lost"], [LIBRARY], {"TPROF_LEAKCHECK": "exit"}).traces()[0].read_bytes()]
    path, pages = tmp_path / "changed.bin", 0
    for _ in range(6):
        changed = bytearray(numbers.choice(traces))
        for _ in range(numbers.choice((1, 10, 300))):
            changed[numbers.randrange(16384, len(changed))] = numbers.randrange(256)
        path.write_bytes(changed)
        done = subprocess.run([SANITIZED, "html", path], capture_output=True, text=True, errors="replace", timeout=60, check=False,
                              env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0:exitcode=99"})
        assert done.returncode in (0, 3), done.stderr[-3000:]
        if done.returncode == 0:
            check_nothing_leaves(read(done.stdout)[0])
            pages += 1
    assert pages
