# SPDX-License-Identifier: Apache-2.0
"""How the page looks: views of made-up data beside pictures that were looked at. PICTURES=new makes them anew; they are in pictures/.
README's pictures are of a real run: PICTURES=readme makes these, in docs/pictures."""
import base64
import json
import os
import pathlib
import re
import subprocess

import pytest
from conftest import BUILD, ROOT

HERE = pathlib.Path(__file__).parent
MAKE = os.environ.get("PICTURES", "")
LOOKS = 101


def column(rows, key):
    return [row[key] for row in rows]


def made_up():
    """A program that loads data, trains with a leak, and sorts at the end: always the same."""
    names = ["", "main", "load", "train", "forward", "backward", "remember", "sort", "malloc", "app.c", "app", "libblas.so", "sgemm"]
    frames = [(1, 9, 10, 10, 0), (2, 9, 20, 10, 0), (3, 9, 30, 10, 0), (4, 9, 40, 10, 0), (5, 9, 50, 10, 0), (6, 9, 60, 10, 0),
              (7, 9, 70, 10, 0), (12, 0, 0, 11, 2)]
    tree = [(0, -1), (0, 0), (1, 1), (1, 2), (3, 3), (3, 4), (3, 5), (1, 6), (4, 7)]
    nodes = [2, 8, 5, 6, 7]
    changes, ends = [], []
    live = [0] * len(nodes)

    def change(site, size, blocks=1):
        live[site] += size
        changes.append((site, size, blocks, max(size, 0), max(blocks, 0), 0))

    for look in range(1, LOOKS):
        if look == 8:
            change(0, 4 << 20)
        if 12 <= look <= 80:
            change(1, (1 << 20) if look % 4 == 0 else -(1 << 20) if look % 4 == 2 and live[1] else 0)
            change(2, (1 << 19) if look % 4 == 1 else -(1 << 19) if look % 4 == 3 and live[2] else 0)
            change(3, 30000)
        if look in (85, 90):
            change(4, (6 << 20) * (1 if look == 85 else -1))
        ends.append(len(changes))
    times = [look * 10_000_000 for look in range(LOOKS)]
    peak = {0: 4 << 20, 3: 69 * 30000, 4: 6 << 20}
    sites = [{"node": node, "op": 1 if i == 1 else 0, "beginBytes": 0, "beginBlocks": 0, "peakBytes": peak.get(i, 0), "peakBlocks": 1,
              "endBytes": peak.get(i, 0) if i < 4 else 0, "endBlocks": 1, "bytes": 1 << 20, "allocations": 20, "temporary": 0}
             for i, node in enumerate(nodes)]
    calls = [(1, 1, 0, 120_000_000 + i * 10_000_000, 120_000_000 + i * 10_000_000 + 6_000_000) for i in range(68)]
    steps = [(i + 1, 1, 120_000_000 + i * 10_000_000, 130_000_000 + i * 10_000_000, 0, 30000, 8 << 20) for i in range(68)]
    points = [(ns, sum(size for site, size, *_ in changes[:ends[look - 1] if look else 0]), 1, 20 << 20, 0) for look, ns in enumerate(times)]
    lists = {
        "frames": (frames, ["function", "file", "line", "module", "flags"]), "tree": (tree, ["parent", "frame"]),
        "changes": (changes, ["site", "liveBytes", "liveBlocks", "bytes", "allocations", "temporary"]),
        "calls": (calls, ["thread", "op", "depth", "beginNs", "endNs"]),
        "stepList": (steps, ["first", "steps", "beginNs", "endNs", "beginBytes", "endBytes", "highBytes"]),
        "points": (points, ["timeNs", "live", "blocks", "rss", "mapped"]),
    }
    page = {name: {key: [row[i] for row in rows] for i, key in enumerate(keys)} for name, (rows, keys) in lists.items()}
    page["changes"]["ends"] = ends
    page["calls"].update(seen=68, shortestNs=0)
    busy = list(range(1, LOOKS))
    page.update({
        "schema": "tprof-page/1", "looksNs": times, "peakLook": 85, "startNs": 0, "durationNs": times[-1], "estimated": False, "texts": names,
        "reduced": {"lines": 8, "linesShown": 8, "stacks": 5, "rows": 5, "intervals": LOOKS - 1, "calls": 68, "callsShown": 68},
        "sites": {key: column(sites, key) for key in sites[0]},
        "cpu": {"periodNs": 1000000, "node": [8, 7], "thread": [1, 1], "op": [1, 0], "ends": busy, "where": [0] * 80 + [1] * 20,
                "periods": [8 if 12 <= i <= 80 else 2 for i in busy]},
        "opTree": {"parent": [0, 0, 0], "op": [0, 0, 1], "ends": busy, "node": [2] * 100, "calls": [1] * 100, "totalNs": [6000000] * 100,
                   "selfNs": [6000000] * 100},
        "ops": [{"op": 1, "name": "sgemm", "category": "blas", "minNs": 5000000, "p50Ns": 6000000, "p90Ns": 6000000, "p99Ns": 7000000,
                 "maxNs": 8000000, "histogram": [[4194304, 10], [5767168, 50], [7340032, 8]], "shapesTotal": 0, "shapes": []}],
        "threads": [{"thread": 1, "tid": 4711, "firstNs": 0, "lastNs": times[-1], "name": "app"}],
        "work": {"ends": busy, "thread": [1] * 100, "periods": [8 if 12 <= i <= 80 else 2 for i in busy], "opNs": [6000000] * 100,
                 "bytes": [1000] * 100, "allocations": [1] * 100},
        "memory": {key: [size] * LOOKS for key, size in (("live", 1 << 20), ("rss", 20 << 20), ("shared", 4 << 20), ("own", 1 << 20), ("stacks", 1 << 16), ("mapped", 0))},
    })
    frame = {"function": "remember", "file": "app.c", "line": 60, "module": "app"}
    page["report"] = {"heap": {"peak_bytes": (10 << 20) + 69 * 30000, "peak_time_ns": times[85], "end_bytes": (4 << 20) + 69 * 30000}, "marks": [
        {"time_ns": 100_000_000, "thread": 1, "text": "loaded"}], "growth_known": True, "roofline": [], "answer": {
        "peak": {"view": "line", "share": 1, "rows": [
            {"bytes": 6 << 20, "blocks": 1, "share": 0.5, "name": "sort(all);", "frame": {**frame, "function": "sort", "line": 70}, "about": "program", "parts": []},
            {"bytes": 4 << 20, "blocks": 1, "share": 0.33, "name": "data = load();", "frame": {**frame, "function": "load", "line": 20}, "about": "program", "parts": []}]},
        "leaks": [{"bytes_per_step": 30000, "bytes_per_second": None, "ci95": [29999, 30001], "since_step": 1, "bytes": 69 * 30000, "blocks": 69,
                   "stacks": 1, "pinned": None, "what": "remember", "frame": frame, "holder": [{"name": "notes", "type": None, "count": 1}]}],
        "time": {"rows": [{"kind": "op", "name": "sgemm", "self_ns": 600000000, "wait_ns": None, "share": 1, "frame": None, "bound": "compute"}]}}}
    return page


@pytest.fixture(scope="module")
def address(trace):
    """A page of tprof's with these data instead of its own, without the tables below."""
    path = trace.with_name("made.html")
    subprocess.run([BUILD / "bin/tprof-analyze", "html", "-o", path, trace], stderr=subprocess.DEVNULL, check=True, timeout=60)
    text = path.read_text()
    data = json.dumps(made_up()).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    text, count = re.subn(r'(<script type="application/json"[^>]*>).*?(</script>)', lambda found: found[1] + data + found[2], text, count=1, flags=re.S)
    assert count == 1
    path.write_text(text)
    return path.as_uri()


COMPARE = """
const [one, other, done] = arguments;
const load = (data) => new Promise((go, stop) => { const image = new Image(); image.onload = () => go(image); image.onerror = stop; image.src = "data:image/png;base64," + data; });
const pixels = (image, w, h) => { const canvas = document.createElement("canvas"); canvas.width = w; canvas.height = h;
    const context = canvas.getContext("2d"); context.imageSmoothingQuality = "high"; context.drawImage(image, 0, 0, w, h); return context.getImageData(0, 0, w, h).data; };
Promise.all([load(one), load(other)]).then(([a, b]) => {
    if (a.width !== b.width || Math.abs(a.height - b.height) > 40) return done("sizes " + [a.width, a.height, b.width, b.height]);
    const w = a.width >> 2, h = Math.min(a.height, b.height) >> 2, p = pixels(a, w, h), q = pixels(b, w, h);
    let sum = 0, far = 0;
    for (let i = 0; i < p.length; i++) { const d = Math.abs(p[i] - q[i]); sum += d; far += d > 60; }
    done([sum / p.length, far / p.length]); }, (error) => done("no picture: " + error));"""


RANGE = "#view=0&measure=growth&from=0.2&to=0.6&shape=flame"


@pytest.mark.parametrize("width, scheme, view", [(1400, "light", RANGE), (1400, "dark", "#view=0"), (390, "light", "#view=0"), (390, "dark", RANGE)])
def test_it_looks_as_it_did(driver, address, width, scheme, view):
    """Reduced to an eighth of their size, where letters are grey: other fonts pass, other pictures do not."""
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 1300, "deviceScaleFactor": 0.5, "mobile": False})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    driver.get("about:blank")
    driver.get(address + view)
    driver.execute_async_script("""document.querySelector(".answers").scrollIntoView();
        setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(arguments[0])), 300)""")
    png = driver.get_screenshot_as_base64()
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    name = HERE / "pictures" / f"{'range' if 'growth' in view else 'peak'}-{scheme}-{width}.png"
    if MAKE == "new":
        name.parent.mkdir(exist_ok=True)
        name.write_bytes(base64.b64decode(png))
    driver.get("about:blank")
    mean, far = driver.execute_async_script(COMPARE, png, base64.b64encode(name.read_bytes()).decode())
    assert mean < 4 and far < 0.02, (mean, far)


@pytest.mark.skipif(MAKE != "readme", reason="makes README's pictures")
def test_readme(driver, tmp_path):
    environment = {**os.environ, "LD_PRELOAD": str(BUILD / "lib/libtprof.so"), "OPENBLAS_NUM_THREADS": "1", "TPROF_LEAKCHECK": "exit",
                   "TPROF_CPU": "999"}
    subprocess.run([BUILD.parent / "workloads/digits", ROOT / "tests/workloads/data/digits.csv"], cwd=tmp_path, env=environment,
                   stdout=subprocess.DEVNULL, check=True, timeout=60)
    subprocess.run([BUILD / "bin/tprof-analyze", "html", "-o", tmp_path / "page.html", tmp_path / "trace.bin"], stderr=subprocess.DEVNULL,
                   check=True, timeout=60)
    folder = ROOT / "docs/pictures"
    folder.mkdir(exist_ok=True)
    for name, view, at in (("answers", "", ".answers"), ("range", "#view=0&measure=growth&from=0.05&to=0.15&shape=flame", ".explore")):
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 1100, "height": 700 if name == "answers" else 800, "deviceScaleFactor": 1, "mobile": False})
        driver.get("about:blank")
        driver.get((tmp_path / "page.html").as_uri() + view)
        driver.execute_async_script("""document.querySelectorAll("nav").forEach((nav) => { nav.style.display = "none"; });
            window.scrollTo(0, document.querySelector(arguments[0]).getBoundingClientRect().top + window.scrollY - 8);
            setTimeout(arguments[1], 300)""", at)
        (folder / f"{name}.png").write_bytes(base64.b64decode(driver.get_screenshot_as_base64()))
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
