# SPDX-License-Identifier: Apache-2.0
"""The roofline: kernels that are made to be bound by the one or the other, under a machine that is given."""
import itertools
import json
import os
import subprocess
import xml.dom.minidom

import pytest

from conftest import ANALYZE, WORKLOADS, analyze, report

MACHINE = {"schema": "tprof-machine/1", "cpu": "Made up", "cores": 2, "measured_unix_s": 0,
           "gflops": {"SSE": {"single": {"one": 20, "all": 40}, "double": {"one": 10, "all": 20}},
                      "AVX2": {"single": {"one": 80, "all": 160}, "double": {"one": 40, "all": 80}}},
           "gbytes_per_s": {"L1": {"one": 300, "all": 600}, "L2": {"one": 150, "all": 300},
                            "L3": {"one": 50, "all": 80}, "memory": {"one": 10, "all": 15}},
           "cache_bytes": {"L1": 32768, "L2": 1 << 20, "L3": 16 << 20}}


@pytest.fixture
def machine(tmp_path):
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(MACHINE))
    return path


@pytest.fixture
def trace(tprof):
    return tprof.profile([WORKLOADS / "roofs"], env={"OPENBLAS_NUM_THREADS": "1"}).traces()[0]


def places(trace, machine):
    return {op["name"]: op for op in report(trace, command="roofline", options=["--machine", machine])["roofline"]}


def test_classes(trace, machine):
    """By hand: FLOP over peak against bytes over the bandwidth of the level that holds them."""
    found = places(trace, machine)
    expected = {"triad": ("memory", "memory", 1 / 12 * 10), "large gemv": ("memory", "memory", 2 / 8 * 10),
                "small gemv": ("memory", "L1", 2 / 8 * 300), "exp": ("compute", "L1", 80)}
    n = 256  # of double: three matrices, more than L2 holds, 40 GFLOP/s; BLAS's own work is known without a word of the program
    expected["cblas_dgemm"] = ("compute", "L3", 40)
    assert found["cblas_dgemm"]["self_flop"] == 5 * 2 * n ** 3
    for name, (bound, level, roof) in expected.items():
        op = found[name]
        assert (op["bound"], op["level"]) == (bound, level), name
        assert op["roof"] == pytest.approx(roof, rel=1e-6), name
        work, ideal = op["self_flop"], op["ideal_ns"]
        assert ideal == pytest.approx(work / roof, rel=1e-3) and op["calls"] == 5
        assert op["roof_fraction"] == pytest.approx(ideal / op["time_ns"], rel=1e-2)
        assert op["gflops"] == pytest.approx(work / op["time_ns"], rel=1e-2)


def test_utilisation(tprof, machine):
    """Of a trainer: FLOP of its steps over their time, by the peak of the cores."""
    data = WORKLOADS.parents[1] / "tests/workloads/data/digits.csv"
    run = tprof.profile([WORKLOADS / "mlp", "--data", data, "--steps", 20], env={"OPENBLAS_NUM_THREADS": "1"})
    trace = run.traces()[0]
    use = report(trace, command="roofline", options=["--machine", machine])["utilisation"]
    steps = report(trace, command="steps")["steps"]
    assert use["flop_per_step"] == 3 * 883200 - 2 * 50 * 64 * 64 and use["precision"] == "single"
    assert use["gflops"] == pytest.approx(use["flop_per_step"] / steps["mean_ns"], rel=1e-3)
    assert use["share"] == pytest.approx(use["gflops"] / use["peak_gflops"])


def test_text_and_picture(trace, machine, tmp_path):
    text = analyze("roofline", "--machine", machine, trace).stdout
    assert "Made up, 2 cores" in text and "triad" in text and "memory" in text
    picture = tmp_path / "roof.svg"
    analyze("roofline", "--machine", machine, "-o", picture, trace)
    svg = xml.dom.minidom.parse(str(picture)).documentElement
    assert svg.tagName == "svg"
    titles = [node.firstChild.data for node in svg.getElementsByTagName("title")]
    bound = "memory-bound" if places(trace, machine)["triad"]["explained"] else "no roof explains it"  # on a busy machine
    assert any(title.startswith(f"triad: {bound}") for title in titles)
    for circle in svg.getElementsByTagName("circle"):
        assert 0 < float(circle.getAttribute("cx")) < 960 and 0 < float(circle.getAttribute("cy")) < 620
    labels = [(node.firstChild.data, float(node.getAttribute("x")), float(node.getAttribute("y")))
              for node in svg.getElementsByTagName("text") if node.getAttribute("paint-order")]
    assert {"triad", "cblas_dgemm"} <= {words for words, _, _ in labels}
    for (one, x, y), (other, u, v) in itertools.combinations(labels, 2):  # a letter is 5 wide at least
        assert abs(y - v) > 11 or x + 5 * len(one) <= u or u + 5 * len(other) <= x, (one, other)


def test_what_no_roof_explains(tprof, machine, tmp_path):
    """Ops that wait: neither is said to be bound by a memory, and of the one whose calls are uneven that is said."""
    trace = tprof.profile([WORKLOADS / "uneven"]).traces()[0]
    found = places(trace, machine)
    assert not found["uneven"]["explained"] and not found["slow"]["explained"]
    uneven = found["uneven"]["uneven"]
    assert uneven["p90_ns"] >= 50e6 and uneven["p50_ns"] <= uneven["p90_ns"] / 10
    text = analyze("roofline", "--machine", machine, trace).stdout
    rows = [line for line in text.splitlines() if line.endswith((" uneven", " slow"))]
    assert len(rows) == 2 and all("no roof" in row and "memory" not in row for row in rows)
    assert "uneven is uneven: half of its 30 calls take at most" in text and "no roof explains it" in text
    picture = tmp_path / "roof.svg"
    analyze("roofline", "--machine", machine, "-o", picture, trace)
    assert "uneven: no roof explains it" in picture.read_text() and "memory-bound (" not in picture.read_text()
    summary = analyze("summary", "--full", "--machine", machine, trace).stdout.partition("What to look at first")[2]
    assert "it waits; no roof explains it" in summary and "-bound" not in summary


def test_summary(trace, machine, tmp_path):
    """The summary's priorities under the roofs of a machine that is named; of one that was never measured it has none."""
    unknown = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "nothing")}
    def summary(*arguments, status=0):
        done = subprocess.run([ANALYZE, "summary", *arguments, trace], env=unknown, capture_output=True, text=True, timeout=120)
        assert done.returncode == status, done.stderr
        return done
    found = places(trace, machine)
    named = json.loads(summary("--json", "--machine", machine).stdout)["priorities"]["time"]
    assert {"triad"} <= {one["op"] for one in named} and all(
        {**one["roof"], "name": one["op"]}.items() <= found[one["op"]].items() for one in named)
    text = summary("--full", "--machine", machine).stdout.partition("What to look at first")[2]
    share = f"{100 * found['triad']['roof_fraction']:.1f}% of"
    assert (f"memory-bound, {share} its roof" if found["triad"]["explained"] else f"no roof explains its time ({share} one)") in text
    assert [one["roof"] for one in json.loads(summary("--json").stdout)["priorities"]["time"]] == [None] * len(named)
    assert "-bound" not in summary().stdout and not [*(tmp_path / "nothing").rglob("*.json")]  # nothing was measured
    assert "not there" in summary("--machine", tmp_path / "none", status=2).stderr


def test_summary_measures_for_itself(trace, tmp_path):
    """What --measure found is what the page is written with, kept or not; a bad trace is told before anything is measured."""
    nowhere = {name: value for name, value in os.environ.items() if name not in ("XDG_CACHE_HOME", "HOME")}
    def summary(file):
        return subprocess.run([ANALYZE, "summary", "--json", "--measure", file], env=nowhere, capture_output=True, text=True,
                              timeout=120, check=False)
    roofs = {one["op"]: one["roof"] for one in json.loads(summary(trace).stdout)["priorities"]["time"]}
    assert roofs["triad"]["bound"] == "memory" and roofs["triad"]["roof_fraction"] > 0
    (tmp_path / "bad.bin").write_bytes(b"nothing")
    done = summary(tmp_path / "bad.bin")
    assert done.returncode == 3 and "bad.bin" in done.stderr and "measured" not in done.stderr


def test_precision(trace, machine):
    """By what the kernel works on, not by a name; an annotation does not say."""
    found = places(trace, machine)
    assert (found["cblas_dgemm"]["precision"], found["cblas_dgemm"]["precision_said"]) == ("double", True)
    assert (found["triad"]["precision"], found["triad"]["precision_said"]) == ("single", False)
    ops = {op["name"]: op for op in report(trace, command="ops")["ops"]}
    assert ops["cblas_dgemm"]["flop_in"] == {"double": ops["cblas_dgemm"]["flop"]}
    assert ops["triad"]["flop_in"] == {"unsaid": ops["triad"]["flop"]}


def test_the_machine_is_kept(trace, tmp_path):
    """Measured once, into a file of its own; read back; measured anew when asked to. No number is looked at."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    def roofline(*arguments):
        done = subprocess.run([ANALYZE, "roofline", "--json", *arguments], env=environment, capture_output=True,
                              text=True, timeout=120, check=True)
        return json.loads(done.stdout)["machine"], done.stderr
    first, said = roofline()
    (path,) = (tmp_path / "tprof").iterdir()
    assert str(path) in said and first["gflops"]["SSE"]["single"]["one_core"] > 0
    assert first["gbytes_per_s"]["memory"]["all_cores"] > 0
    assert roofline() == (first, "")
    path.write_text(json.dumps({**MACHINE, "cores": first["cores"]}))
    assert roofline()[0]["cpu"] == "Made up"
    page = subprocess.run([ANALYZE, "summary", "--full", trace], env=environment, capture_output=True, text=True, timeout=120, check=True)
    first_ops = page.stdout.partition("What to look at first")[2]
    assert "triad" in first_ops and "memory-bound, " in first_ops  # the summary knows the machine by then
    again, said = roofline("--measure")
    assert again["cpu"] == first["cpu"] and "measured" in said


def test_wrong_use(trace, machine, tmp_path):
    assert "one of them" in analyze("roofline", "--measure", "--machine", machine, trace, status=2).stderr
    assert "not there" in analyze("roofline", "--machine", tmp_path / "none", trace, status=2).stderr
    assert "name a trace" in analyze("roofline", "-o", tmp_path / "x.svg", status=2).stderr
    assert "no trace is named" in analyze("ops", status=2).stderr
