# SPDX-License-Identifier: Apache-2.0
"""diff and compare as pages, and the same part of a page with a baseline: figures are those of --json."""
import json
import os
import subprocess

import pytest
from conftest import ANALYZE, LIBRARY, ROOT, WORKLOADS, analyze
from test_html import HOSTILE, NAMESPACE, check_nothing_leaves, read

SIDES = {"totals": ("old", "new"), "peak": ("old_bytes", "new_bytes"), "unfreed": ("old_bytes", "new_bytes"),
         "allocated": ("old_bytes", "new_bytes"), "leaks": ("old_rate", "new_rate"), "ops": ("old_p50_ns", "new_p50_ns"),
         "times": ("old_p50_ns", "new_p50_ns"), "cpu": ("old_share", "new_share"), "cpu_stacks": ("old_share", "new_share")}


def record(directory, name, *command, **environment):
    subprocess.run(list(map(str, command)), cwd=directory, check=True, stdout=subprocess.DEVNULL,
                   env={"LD_PRELOAD": str(LIBRARY), "TPROF_OUTPUT": name, **environment})
    return directory / name


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Twice the same program, then one that does more; and training."""
    directory = tmp_path_factory.mktemp("runs")
    digits = [WORKLOADS / "digits", ROOT / "tests/workloads/data/digits.csv"]
    return {"few": record(directory, "few.bin", WORKLOADS / "ops", 30), "more": record(directory, "more.bin", WORKLOADS / "ops", 60),
            "small": record(directory, "small.bin", WORKLOADS / "threads", 3), "large": record(directory, "large.bin", WORKLOADS / "threads", 30),
            "digits": record(directory, "digits.bin", *digits, OPENBLAS_NUM_THREADS="1")}


def tables(tree):
    """By path: the rows, each with the values of its cells by their keys."""
    found = {}
    for table in tree.iter(f"{NAMESPACE}table"):
        rows = table.find(f"{NAMESPACE}tbody").findall(f"{NAMESPACE}tr")
        found[table.get("data-path")] = [{cell.get("data-k"): json.loads(cell.get("data-v")) for cell in row if cell.get("data-k")} for row in rows]
    return found


def check(tree, answer):
    """Each row of the page is one of the JSON's, with all of its figures; returns the tables."""
    found = {path: rows for path, rows in tables(tree).items() if path in SIDES}
    assert [row["old"] for row in found["totals"]] == [row["old"] for row in answer["totals"]]
    for path, rows in found.items():
        old, new = SIDES[path]
        left = list(answer[path])
        for row in rows:
            change = row.pop("change", None)
            match = next((one for one in left if all(one.get(key) == value for key, value in row.items())), None)
            assert match, (path, row)
            left.remove(match)
            assert change is None or change == pytest.approx(match[new] - match[old])
        assert all(one["verdict"] not in ("faster", "slower", "more", "less") for one in left), path
    return found


@pytest.mark.parametrize("old, new", [("few", "more"), ("small", "large"), ("few", "digits")])
def test_a_page_of_differences(runs, old, new):
    reader, tree = read(analyze("diff", "--format", "html", "--top", "0", runs[old], runs[new]).stdout)
    check_nothing_leaves(reader)
    found = check(tree, json.loads(analyze("diff", "--json", "--top", "0", runs[old], runs[new]).stdout))
    assert found["peak"] and found["allocated"] and (new != "digits" or found["ops"])
    words = " ".join(reader.words)
    text = analyze("diff", "--width", "400", runs[old], runs[new]).stdout
    assert "One run a side" in words and all(str(runs[name]) in words for name in (old, new))
    assert [line.strip() in words for line in text.split("\n") if "not listed" in line and "more that differ" not in line].count(False) == 0
    targets = {element.get("id") for element in tree.iter() if element.get("id")}
    assert all(value[1:] in targets for tag, name, value in reader.attributes if name == "href")


def test_a_page_with_a_baseline_has_them_too(runs):
    page = analyze("html", "--baseline", runs["small"], "--top", "5", runs["large"]).stdout
    reader, tree = read(page)
    check_nothing_leaves(reader)
    section = next(one for one in tree.iter(f"{NAMESPACE}section") if one.get("id") == "differences")
    found = check(section, json.loads(analyze("diff", "--json", "--top", "0", runs["small"], runs["large"]).stdout))
    assert 0 < len(found["peak"]) <= 5
    assert "id=\"differences\"" not in analyze("html", runs["large"]).stdout


def test_runs_of_several_a_side(runs):
    """With their tests: p and intervals have columns then."""
    again = [record(runs["few"].parent, f"again{i}.bin", WORKLOADS / "ops", 30 + 30 * i) for i in range(2)]
    arguments = ["--baseline", runs["few"], "--baseline", again[0], runs["more"], again[1]]
    tree = read(analyze("diff", "--format", "html", *arguments).stdout)[1]
    answer = json.loads(analyze("diff", "--json", "--top", "0", *arguments).stdout)
    check(tree, answer)
    heads = [head.text for head in tree.iter(f"{NAMESPACE}th")]
    assert ("p" in heads) == any(row.get("p_corrected") is not None for key in SIDES for row in answer.get(key, []))


def test_a_page_of_programs_side_by_side(runs):
    reader, tree = read(analyze("compare", "--format", "html", "--top", "0", runs["few"], runs["more"], runs["digits"]).stdout)
    check_nothing_leaves(reader)
    variants = json.loads(analyze("compare", "--json", runs["few"], runs["more"], runs["digits"]).stdout)["variants"]
    found = tables(tree)
    assert len(found["variants"]) == len(variants) == 3
    for row, variant in zip(found["variants"], variants):
        assert all(variant[key] == value or (value is None and not variant[key]) for key, value in row.items())
        assert row["peak_bytes"] == variant["peak_bytes"] > 0
    for path, key in (("ops", "share"), ("calls", "calls"), ("peaks", "peak_bytes")):
        for number, variant in enumerate(variants):
            values = sorted(op[key] for op in variant["ops"] if op[key])
            assert values and sorted(row[f"v{number}"] for row in found[path] if row[f"v{number}"]) == values
        most = [max(value or 0 for value in row.values()) for row in found[path]]
        assert most == sorted(most, reverse=True)


def test_more_programs_than_a_terminal_has_columns_for(runs, tmp_path):
    traces = []
    for i in range(18):
        traces.append(record(tmp_path, f"run{i}.bin", WORKLOADS / "steady", 7 + i))
    assert "--format html" in analyze("compare", *traces, status=2).stderr
    assert len(tables(read(analyze("compare", "--format", "html", *traces).stdout)[1])["variants"]) == 18


def test_names_are_text(tprof, tmp_path):
    source = tprof.directory / "hostile.c"
    source.write_text(f"""#include <tprof.h>
        #include <stdlib.h>
        void *volatile keep;
        int main(int count, char **arguments) {{
            for (int i = 0; i < 50; i++) {{
                tprof_op_begin({json.dumps(HOSTILE)}, "<u>");
                keep = malloc(count > 1 ? 20000 : 100);
                tprof_op_end();
            }}
            return 0; }}""")
    program = tprof.directory / "a<b>&c"
    subprocess.run(["gcc", f"-I{ROOT}/include", source, "-o", program], check=True)
    traces = [record(tmp_path, "a<b>.bin", program), record(tmp_path, "c&d.bin", program, "more")]
    for command in (["diff"], ["diff", "--by", "op"], ["compare"]):
        reader, _ = read(analyze(*command, "--format", "html", *traces).stdout)
        check_nothing_leaves(reader)
        words = "".join(reader.words)
        assert "a<b>" in words and (command == ["diff"] or HOSTILE in words)
        assert not {"img", "u", "b"} & set(reader.tags)


def test_a_terminal_gets_no_page(runs):
    leader, follower = os.openpty()
    for command in ("html", "diff", "compare"):
        options = [] if command == "html" else ["--format", "html"]
        done = subprocess.run([ANALYZE, command, *options, runs["few"], *([] if command == "html" else [runs["more"]])], stdout=follower,
                              stderr=subprocess.PIPE, text=True, timeout=60)
        assert done.returncode == 2 and "-o FILE" in done.stderr
    os.close(leader)
    os.close(follower)
