# SPDX-License-Identifier: Apache-2.0
"""The HTML report in a browser: under its own policy its script runs and nothing else does, and no request leaves the page."""
import json
import os
import subprocess

import pytest
from conftest import BUILD, ROOT
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

PEAK = "table[data-path='heap.peak_sites']"
VIEW = "const view = tprof.explorers[0].view;"


def make(trace, name="report.html", options=()):
    path = trace.with_name(name)
    subprocess.run([BUILD / "bin/tprof-analyze", "html", *options, "-o", path, trace], stderr=subprocess.DEVNULL, check=True, timeout=60)
    return path.as_uri()


@pytest.fixture
def page(driver, trace):
    """The page, opened; afterwards the browser has nothing to say of it, and it has asked for nothing but itself."""
    driver.get_log("browser")
    driver.get("about:blank")
    driver.get(make(trace))
    yield driver
    assert driver.get_log("browser") == []
    assert driver.execute_script("return performance.getEntriesByType('resource').map((entry) => entry.name)") == []


@pytest.fixture(scope="session")
def summary(trace):
    done = subprocess.run([BUILD / "bin/tprof-analyze", "summary", "--json", "--top", "0", trace], capture_output=True, check=True, timeout=60)
    return json.loads(done.stdout)


def column(browser, table, key):
    """The exact values of a column, as the rows stand."""
    cells = browser.execute_script("""return Array.from(document.querySelector(arguments[0]).tBodies[0].rows).map((row) =>
        row.querySelector("td[data-k='" + arguments[1] + "']").dataset.v)""", table, key)
    return [json.loads(cell) for cell in cells]


def head(browser, table, title):
    return next(cell for cell in browser.find_elements(By.CSS_SELECTOR, f"{table} > thead th") if cell.text.startswith(title))


def test_a_head_sorts(page):
    blocks = column(page, PEAK, "blocks")
    assert blocks != sorted(blocks, reverse=True)
    head(page, PEAK, "blocks").click()
    assert column(page, PEAK, "blocks") == sorted(blocks, reverse=True)
    assert head(page, PEAK, "blocks").get_attribute("aria-sort") == "descending"
    head(page, PEAK, "blocks").send_keys(Keys.ENTER)
    assert column(page, PEAK, "blocks") == sorted(blocks)
    line = "table[data-path='peak_lines.sites']"
    head(page, line, "function").click()
    names = [cell.text for cell in page.find_elements(By.CSS_SELECTOR, f"{line} > tbody > tr > td:last-child")]
    assert len(names) > 5 and names == sorted(names, key=str.lower)


def test_a_stack_unfolds(page):
    row = next(row for row in page.find_elements(By.CSS_SELECTOR, f"{PEAK} tbody tr") if "remember_loss" in row.text)
    assert not row.find_element(By.CSS_SELECTOR, "ol").is_displayed()
    row.find_element(By.CSS_SELECTOR, "summary").click()
    frames = [frame.text.split()[0] for frame in row.find_elements(By.CSS_SELECTOR, "ol li")]
    assert row.find_element(By.CSS_SELECTOR, "ol").is_displayed() and frames[:3] == ["remember_loss", "train", "main"]


# ---- answers ----

def test_the_answers_come_first(page, summary):
    """On the first screen: what holds the memory, what leaks, what takes the time."""
    memory = page.find_element(By.CSS_SELECTOR, ".card.memory")
    assert memory.rect["y"] + memory.rect["height"] < 1000
    rows = [row.text for row in memory.find_elements(By.CSS_SELECTOR, "tr")]
    answer = summary["answer"]
    assert len(rows) == len(answer["peak"]["rows"])
    assert all(one["name"] in row for one, row in zip(answer["peak"]["rows"], rows))
    leak = page.find_element(By.CSS_SELECTOR, ".card.leaks").text
    assert "104 B a step at digits.c:" in leak and "(remember_loss)" in leak and "since step 1" in leak
    assert "cblas_sgemm" in page.find_element(By.CSS_SELECTOR, ".card.time").text
    memory.find_element(By.XPATH, ".//button[contains(text(), 'digit_set.c')]").click()
    hits = [frame for frame in drawn(page) if frame["hit"]]
    assert {frame["name"] for frame in hits} == {"load_digits"}
    assert sum(frame["amount"] for frame in hits) == next(row["bytes"] for row in answer["peak"]["rows"]
                                                          if row["frame"] and row["frame"]["function"] == "load_digits")


# ---- views ----

def drawn(page):
    return page.execute_script(VIEW + "return view.flame.drawn()")


def title(page):
    return page.find_element(By.CSS_SELECTOR, ".explore .what").text


def choose(page, name, value):
    page.execute_script("""const list = document.querySelector(`.explore select[data-name="${arguments[0]}"]`);
        list.value = arguments[1]; list.dispatchEvent(new Event("change"))""", name, value)


def looks(page):
    return page.execute_script(VIEW + "return tprof.explorers[0].data.raw.looksNs")


def drag(page, first, last):
    """From one part of the plot's width to another."""
    over = page.find_element(By.CSS_SELECTOR, ".timeline .u-over")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", over)
    width = over.rect["width"]
    actions = ActionChains(page, duration=20).move_to_element_with_offset(over, round((first - 0.5) * width), 0).click_and_hold()
    actions.move_by_offset(round((last - first) * width / 2), 3).move_by_offset(round((last - first) * width / 2), -3).release().perform()


def test_widths_are_bytes(page, summary):
    frames = drawn(page)
    whole = frames[0]
    assert whole["name"] == "all" and whole["amount"] == summary["heap"]["peak_bytes"]
    for frame in frames:
        assert frame["width"] == pytest.approx(frame["amount"] * whole["width"] / whole["amount"], abs=0.01)


@pytest.mark.parametrize("measure, key", [("allocated", "allocated_bytes"), ("unfreed", "end_bytes"), ("peak", "peak_bytes")])
def test_measures_are_those_of_the_report(page, summary, measure, key):
    for shape in ("flame", "icicle"):
        for inverted in (False, True):
            choose(page, "show", measure)
            choose(page, "as", shape)
            if page.execute_script(VIEW + "return view.state.inverted") != inverted:
                page.find_element(By.CSS_SELECTOR, ".explore input[type=checkbox]").click()
            assert drawn(page)[0]["amount"] == summary["heap"][key]


def test_ops_are_those_of_the_report(page, summary):
    choose(page, "show", "ops")
    assert drawn(page)[0]["amount"] == sum(op["self_ns"] for op in summary["ops"])
    rows = page.execute_script(VIEW + "return view.grid.shownRows")
    assert {row["name"]: (row["self"], row["total"], row["count"]) for row in rows} == \
        {op["name"]: (op["self_ns"], op["total_ns"], op["calls"]) for op in summary["ops"]}


def test_a_drag_selects_a_range(page):
    """What is below the timeline is then of that range: its sums are those of the report up to both of its ends."""
    drag(page, 0.2, 0.5)
    state = page.execute_script(VIEW + "return [view.state.measure, view.state.from, view.state.to]")
    times = looks(page)
    assert state[0] == "growth" and state[1] in times and state[2] in times
    span = times[-1] - times[0]
    assert state[1] == pytest.approx(times[0] + 0.2 * span, abs=span / 100)
    assert state[2] == pytest.approx(times[0] + 0.5 * span, abs=span / 100)
    more = drawn(page)[0]["amount"]
    rows = page.execute_script(VIEW + "return view.grid.shownRows")
    assert more == sum(max(row["self"], 0) for row in rows) > 0 and "more alive at" in title(page)
    assert any("remember_loss" in row["place"] for row in rows)
    band = page.find_element(By.CSS_SELECTOR, ".timeline .band")
    assert band.is_displayed() and band.rect["width"] == pytest.approx(0.3 * page.find_element(By.CSS_SELECTOR, ".u-over").rect["width"], rel=0.05)
    choose(page, "show", "allocated")
    assert "from" in title(page) and drawn(page)[0]["amount"] > more


def test_a_click_selects_a_moment(page, trace):
    drag(page, 0.4, 0.4)
    measure, at = page.execute_script(VIEW + "return [view.state.measure, view.state.to]")
    assert measure == "alive"
    done = subprocess.run([BUILD / "bin/tprof-analyze", "summary", "--json", "--to", f"{at - 1}ns", trace], capture_output=True,
                          check=True, timeout=60)
    assert drawn(page)[0]["amount"] == json.loads(done.stdout)["heap"]["end_bytes"]


def test_keys_move_and_zoom_the_timeline(page):
    timeline = page.find_element(By.CSS_SELECTOR, ".timeline")
    page.execute_script("arguments[0].focus()", timeline)
    times = looks(page)

    def state():
        return page.execute_script(VIEW + "return [view.state.from, view.state.to, view.timeline.from, view.timeline.to]")

    timeline.send_keys(Keys.HOME)
    assert state()[:2] == [times[0], times[0]]
    timeline.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert state()[:2] == [times[2], times[2]]
    timeline.send_keys(Keys.SHIFT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert state()[:2] == [times[2], times[4]]
    timeline.send_keys("+")
    assert state()[3] - state()[2] == pytest.approx(0.6 * (times[-1] - times[0]), rel=0.01)
    left = state()[2]
    timeline.send_keys(".")
    assert state()[2] > left
    timeline.send_keys("0", Keys.ESCAPE)
    assert state() == [None, None, times[0], times[-1]]


def test_the_wheel_and_two_fingers_zoom(page):
    """About where they are; the wheel alone scrolls the page."""
    before, turned, pinched = page.execute_script(VIEW + """
        const root = document.querySelector(".timeline"), box = root.getBoundingClientRect(), over = root.querySelector(".u-over").getBoundingClientRect();
        const span = () => [view.timeline.from, view.timeline.to], at = over.left + over.width / 4, y = box.top + 50;
        const wheel = (shiftKey) => root.dispatchEvent(new WheelEvent("wheel", { deltaY: -200, clientX: at, clientY: y, shiftKey, cancelable: true }));
        const finger = (type, pointerId, clientX) => root.dispatchEvent(new PointerEvent(type, { pointerId, clientX, clientY: y, pointerType: "touch" }));
        root.setPointerCapture = () => {};
        wheel(false);
        const before = span();
        wheel(true);
        const turned = span();
        view.timeline.zoom(...view.timeline.whole);
        finger("pointerdown", 7, over.left + over.width * 0.4); finger("pointerdown", 8, over.left + over.width * 0.6);
        finger("pointermove", 7, over.left + over.width * 0.2); finger("pointermove", 8, over.left + over.width * 0.8);
        finger("pointerup", 7, 0); finger("pointerup", 8, 0);
        return [before, turned, span()];""")
    whole = looks(page)[0], looks(page)[-1]
    length = whole[1] - whole[0]
    assert before == list(whole)
    assert turned[1] - turned[0] < 0.7 * length
    quarter = whole[0] + length / 4
    assert (quarter - turned[0]) / (turned[1] - turned[0]) == pytest.approx(0.25, abs=0.01)
    assert pinched == pytest.approx([whole[0] + length / 3, whole[0] + 2 * length / 3], abs=length / 50)


def test_several_processes(driver, tmp_path):
    """Each has views of its own, which are made when they come into sight; a link leads to those of any of them."""
    subprocess.run([BUILD.parent / "workloads/fork", "nested"], cwd=tmp_path, stdout=subprocess.DEVNULL, check=True, timeout=60,
                   env={**os.environ, "LD_PRELOAD": str(BUILD / "lib/libtprof.so")})
    traces = sorted(tmp_path.glob("*.bin"))
    subprocess.run([BUILD / "bin/tprof-analyze", "html", "-o", tmp_path / "page.html", *traces], stderr=subprocess.DEVNULL, check=True, timeout=60)
    address = (tmp_path / "page.html").as_uri()
    driver.get("about:blank")
    driver.get(address)
    last = len(traces) - 1
    assert last > 1 and driver.execute_script("return [!!tprof.explorers[0], !!tprof.explorers[arguments[0]]]", last) == [True, False]
    driver.execute_async_script("document.getElementById(`p${arguments[0]}`).scrollIntoView(); setTimeout(arguments[1], 500)", last)
    assert driver.execute_script("return !!tprof.explorers[arguments[0]]", last)
    driver.get("about:blank")
    driver.get(f"{address}#view={last}&measure=allocated")
    assert driver.execute_script("return tprof.explorers[arguments[0]].view.state.measure", last) == "allocated"
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_a_frame_zooms(page):
    canvas = page.find_element(By.CSS_SELECTOR, ".flames canvas")
    before = drawn(page)
    train = next(frame for frame in before if frame["name"] == "train")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    x, y = train["x"] + train["width"] / 2, train["y"] + 8
    ActionChains(page).move_to_element_with_offset(canvas, round(x - canvas.rect["width"] / 2), round(y - canvas.rect["height"] / 2)).click().perform()
    names = {frame["name"] for frame in drawn(page)}
    assert {"train", "remember_loss"} <= names and "load_digits" not in names
    assert next(frame for frame in drawn(page) if frame["name"] == "train")["width"] == pytest.approx(before[0]["width"])
    page.execute_script("arguments[0].focus()", canvas)
    canvas.send_keys(Keys.ESCAPE)
    assert drawn(page) == before
    canvas.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    said = page.find_element(By.CSS_SELECTOR, ".flames .said").text
    canvas.send_keys(Keys.ARROW_RIGHT)
    assert said and page.find_element(By.CSS_SELECTOR, ".flames .said").text != said


def test_search(page, summary):
    page.find_element(By.TAG_NAME, "body").send_keys("/")
    field = page.switch_to.active_element
    field.send_keys("remember_loss")
    losses = sum(site["bytes"] for site in summary["heap"]["peak_sites"] if any(frame["function"] == "remember_loss" for frame in site["stack"]))
    assert {frame["name"] for frame in drawn(page) if frame["hit"]} == {"remember_loss"}
    assert f"({100 * losses / summary['heap']['peak_bytes']:.1f}%)" in page.find_element(By.CSS_SELECTOR, ".matched").text
    field.clear()
    field.send_keys("(")
    assert page.find_element(By.CSS_SELECTOR, ".matched").text == "not a regular expression"


def test_a_link_shows_the_same(page, trace):
    drag(page, 0.1, 0.6)
    choose(page, "show", "allocated")
    choose(page, "as", "flame")
    choose(page, "frames", "native")
    page.find_element(By.CSS_SELECTOR, ".explore input[placeholder^=search]").send_keys("sgemm")
    expected = drawn(page), title(page), [frame["hit"] for frame in drawn(page)]
    page.execute_async_script("setTimeout(arguments[0], 400)")
    link = page.current_url
    assert "#view=0" in link and "measure=allocated" in link
    page.get("about:blank")
    page.get(link)
    assert (drawn(page), title(page), [frame["hit"] for frame in drawn(page)]) == expected
    assert page.execute_script(VIEW + "return view.state.search") == "sgemm"


def test_a_row_is_found_in_the_picture(page):
    grid = page.find_element(By.CSS_SELECTOR, ".explore .grid")
    choose(page, "rows by", "function")
    grid.find_element(By.XPATH, ".//td//button[text()='load_digits']").click()
    assert {frame["name"] for frame in drawn(page) if frame["hit"]} == {"load_digits"}
    grid.find_element(By.CSS_SELECTOR, "input[type=search]").send_keys("remember")
    assert [row.text.split()[-2] for row in grid.find_elements(By.CSS_SELECTOR, "tbody tr")] == ["remember_loss"]


def test_the_lines_tell_their_numbers(page):
    """What the pointer is over stands below the plot."""
    over = page.find_element(By.CSS_SELECTOR, ".timeline .u-over")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", over)
    ActionChains(page).move_to_element(over).perform()
    said = page.find_element(By.CSS_SELECTOR, ".timeline + .said").text
    assert "alive" in said and "digit" in said


@pytest.mark.parametrize("scheme, dark", [("light", False), ("dark", True)])
def test_it_is_light_or_dark_as_the_reader_wants(page, scheme, dark):
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    red = page.execute_script("return Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])")
    assert (red < 64) == dark
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("width", [1400, 390])
def test_nothing_is_wider_than_the_window(page, width):
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
    page.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    wide = page.execute_script("return document.documentElement.scrollWidth")
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide <= width


LANES = """
const lanes = document.querySelector(".lanes canvas"), over = document.querySelector(".u-over").getBoundingClientRect(), at = lanes.getBoundingClientRect();
const pixels = lanes.getContext("2d").getImageData(0, 0, lanes.width, lanes.height).data;
let last = 0;
for (let i = 3; i < pixels.length; i += 4) if (pixels[i]) last = Math.max(last, (i >> 2) % lanes.width);
return [at.left + last * at.width / lanes.width, over.right];"""


def test_lanes_are_as_wide_as_the_plot(driver, trace):
    """Whatever the window's width was when the page was made."""
    address = make(trace)
    for width in (150, 390, 1400, 700):
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
        if width == 150:
            driver.get("about:blank")
            driver.get(address)
        driver.execute_async_script("setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(arguments[0])), 200)")
        right, plot = driver.execute_script(LANES)
        assert width == 150 or right == pytest.approx(plot, abs=3), width
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


# ---- how it looks ----

CONTRAST = r"""
const parse = (text) => { const n = text.match(/[\d.]+/g).map(Number); return n.length > 3 ? n : [...n, 1]; };
const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
const back = (e) => { const own = parse(getComputedStyle(e).backgroundColor);
    return own[3] === 1 || !e.parentElement ? (own[3] ? own : [255, 255, 255, 1]) : over(own, back(e.parentElement)); };
const light = (c) => { const [r, g, b] = c.slice(0, 3).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const bad = [], seen = new Set(), walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
    const e = walk.currentNode.parentElement, style = getComputedStyle(e);
    if (!walk.currentNode.textContent.trim() || e.closest("script, style, svg, noscript, [aria-pressed=false]") || !e.getClientRects().length) continue;
    const key = style.color + back(e) + style.opacity;
    if (seen.has(key)) continue;
    seen.add(key);
    const b = back(e), a = light(over(parse(style.color), b)), c = light(b), ratio = (Math.max(a, c) + 0.05) / (Math.min(a, c) + 0.05);
    if (ratio < 4.5) bad.push([walk.currentNode.textContent.slice(0, 40), e.className, ratio]);
}
return [bad, seen.size];"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(page, scheme):
    """Contrast of 4.5 and more, as WCAG 2 asks for at level AA."""
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    found = []
    for name in [tab.get_attribute("data-tab") for tab in page.find_elements(By.CSS_SELECTOR, ".tabs button")]:
        page.execute_script("document.querySelector(`.tabs [data-tab='${arguments[0]}']`).click()", name)
        bad, seen = page.execute_script(CONTRAST)
        found += bad
        assert seen > 5
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert found == []


def test_labels_in_pictures_can_be_read(page):
    """The text of frames is black, or white where a search hit them: against every colour that frames have."""
    ratios = page.execute_script(r"""
        const canvas = document.querySelector(".flames canvas"), context = canvas.getContext("2d"), view = tprof.explorers[0].view;
        const light = (c) => { const [r, g, b] = Array.from(c).slice(0, 3).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const scale = canvas.width / canvas.clientWidth, pixels = context.getImageData(0, 0, canvas.width, canvas.height).data;
        return view.flame.drawn().filter((f) => f.width > 30).map((f) => {
            const at = 4 * (Math.round((f.y + 1.5) * scale) * canvas.width + Math.round((f.x + 1.5) * scale)), c = pixels.slice(at, at + 3);
            return [f.name, (light(c) + 0.05) / (light([17, 17, 17]) + 0.05)]; });""")
    assert ratios and all(ratio >= 4.5 for _, ratio in ratios), ratios


def test_sizes(trace, page):
    """The page is a few times as large as its tables: 15 MiB at most, whatever the trace."""
    data = page.execute_script("return document.querySelector('script.data').textContent.length")
    assert data < 4 << 20 and len(looks(page)) in (401, 402)


def test_every_control_has_a_name_and_is_reached_by_keys(page):
    nameless = page.execute_script("""
        return Array.from(document.querySelectorAll("button, input, select, canvas, [role=application], [role=tab]")).filter((e) => {
            if (e.closest("[aria-hidden=true]")) return false;
            const label = e.closest("label"), name = e.getAttribute("aria-label") || e.title || e.textContent.trim() || (label && label.textContent.trim());
            return !name; }).map((e) => e.outerHTML.slice(0, 80))""")
    assert nameless == []
    seen = set()
    page.execute_script("document.activeElement.blur(); window.scrollTo(0, 0)")
    for _ in range(120):
        ActionChains(page).send_keys(Keys.TAB).perform()
        seen.add(page.execute_script("""const e = document.activeElement;
            return e.matches(".timeline") ? "timeline" : e.matches(".flames canvas") ? "flame" : e.matches("[role=tab]") ? "tab" :
                e.matches(".card button") ? "answer" : e.matches(".explore select") ? "select" : e.tagName"""))
        if {"timeline", "flame", "tab", "answer", "select"} <= seen:
            return
    pytest.fail(f"only {seen}")


# ---- tables ----

def shown_heads(page, table):
    return [cell.text for cell in page.find_elements(By.CSS_SELECTOR, f"{table} > thead th") if cell.is_displayed()]


def pause(page):
    """Until the address has followed."""
    page.execute_async_script("setTimeout(arguments[0], 400)")


def test_tables_of_the_page_have_sorting_filters_and_columns(page):
    missing = page.execute_script("""
        return Array.from(document.querySelectorAll("table[data-path], .grid table")).filter((t) => !t.closest("td")).filter((table) => {
            const bar = (table.closest(".wide") ?? table).previousElementSibling, rows = table.tBodies[0].rows.length, heads = table.tHead.rows[0].cells;
            return !(bar?.matches(".bar") && (heads.length < 3 || bar.querySelector(".columns input")) && (rows < 5 || bar.querySelector("[type=search]")) &&
                (rows < 2 || table.matches(".ordered") || Array.from(heads).every((head) => head.matches(".sort")))); }).map((t) => t.outerHTML.slice(0, 200))""")
    assert missing == []


@pytest.mark.parametrize("table, name, hidden, sort, words", [
    (PEAK, "p0.heap.peak_sites", "%", "blocks", "remember_loss|load_digits"), (".panels .grid table", "p0.ops", "mean", "calls", "^cblas_s(gemm|scal)")])
def test_a_link_has_the_tables(page, table, name, hidden, sort, words):
    """Which columns and rows they have, and their order: in the address, so another one sees the same."""
    if name == "p0.ops":
        page.execute_script("document.querySelector(`.tabs [data-tab='ops']`).click()")
    bar = page.execute_script("return document.querySelector(arguments[0]).closest('.wide').previousElementSibling", table)
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", bar)
    before = shown_heads(page, table)
    bar.find_element(By.CSS_SELECTOR, ".columns summary").click()
    bar.find_element(By.XPATH, f".//label[normalize-space()='{hidden}']/input").click()
    bar.find_element(By.CSS_SELECTOR, "[type=search]").send_keys(words)
    head = next(cell for cell in page.find_elements(By.CSS_SELECTOR, f"{table} > thead th") if cell.text.strip() == sort)
    (head.find_elements(By.CSS_SELECTOR, "button") or [head])[0].click()
    assert shown_heads(page, table) == [title for title in before if title.strip() != hidden]

    def rows():
        return [row.text for row in page.find_elements(By.CSS_SELECTOR, f"{table} > tbody > tr") if row.is_displayed()]

    expected = shown_heads(page, table), rows()
    assert 0 < len(expected[1]) < 10
    pause(page)
    link = page.current_url
    assert f"sort.{name}=" in link and f"filter.{name}=" in link and f"columns.{name}=" in link
    page.get("about:blank")
    page.get(link)
    assert (shown_heads(page, table), rows()) == expected
    # A link without them, followed on the same page, shows all again.
    page.execute_script("location.hash = '#view=0' + arguments[0]", "&tab=ops" if name == "p0.ops" else "")
    pause(page)
    assert shown_heads(page, table) == before and len(rows()) > len(expected[1])


def test_chosen_columns_stay_when_the_selection_changes(page):
    grid = page.find_element(By.CSS_SELECTOR, ".explore .grid")
    grid.find_element(By.CSS_SELECTOR, ".columns summary").click()
    grid.find_element(By.XPATH, ".//label[normalize-space()='blocks']/input").click()
    drag(page, 0.2, 0.5)
    choose(page, "show", "unfreed")
    heads = shown_heads(page, ".explore .grid table")
    assert "blocks" not in heads and "itself" in heads


# ---- pictures ----

MACHINE = {"schema": "tprof-machine/1", "cpu": "Made up", "cores": 2, "measured_unix_s": 0,
           "gflops": {"SSE": {"single": {"one": 100, "all": 200}, "double": {"one": 50, "all": 100}}},
           "gbytes_per_s": {"L1": {"one": 100, "all": 200}, "memory": {"one": 10, "all": 20}}, "cache_bytes": {"L1": 32768}}


def test_the_roofline_tells_its_ops(driver, trace):
    """By the pointer and by keys, in a box of the page's own; below the picture it is said."""
    machine = trace.with_name("machine.json")
    machine.write_text(json.dumps(MACHINE))
    driver.get("about:blank")
    driver.get(make(trace, "roof.html", ["--machine", machine]))
    places = json.loads(subprocess.run([BUILD / "bin/tprof-analyze", "roofline", "--json", "--machine", machine, trace], capture_output=True,
                                       check=True, timeout=60).stdout)["roofline"]
    svg = driver.find_element(By.CSS_SELECTOR, "svg.roof")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", svg)
    assert driver.execute_script("return document.querySelectorAll('svg.roof title').length") == 0
    tip = driver.find_element(By.CSS_SELECTOR, ".picture:has(svg.roof) .tip")
    assert not tip.is_displayed()
    driver.execute_script("arguments[0].focus()", svg)
    for place in [one for one in places if one["gflops"] and one["flop_per_byte"]]:
        svg.send_keys(Keys.ARROW_RIGHT)
        lines = tip.text.split("\n")
        assert tip.is_displayed() and lines[0].startswith(place["name"] + ": ") and f"{place['gflops']:.3g} GFLOP/s" in lines[1]
        assert f"{100 * place['roof_fraction']:.1f}% of its roof" in lines and place["bound"] in lines[0]
        assert place["name"] in driver.find_element(By.CSS_SELECTOR, ".picture:has(svg.roof) + .said").text
    svg.send_keys(Keys.ESCAPE)
    assert not tip.is_displayed()
    circle = driver.find_element(By.CSS_SELECTOR, "svg.roof circle")
    ActionChains(driver).move_to_element(circle).perform()
    assert tip.is_displayed() and tip.text.split(": ")[0] in {place["name"] for place in places}
    box, around = tip.rect, driver.find_element(By.CSS_SELECTOR, ".picture:has(svg.roof)").rect
    assert around["x"] <= box["x"] and box["x"] + box["width"] <= around["x"] + around["width"] + 1
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []


# ---- compared ----

@pytest.fixture(scope="module")
def other(trace):
    """A run of the same program with one thread more."""
    path = trace.with_name("other.bin")
    environment = {**os.environ, "LD_PRELOAD": str(BUILD / "lib/libtprof.so"), "TPROF_CPU": "0", "OPENBLAS_NUM_THREADS": "2",
                   "TPROF_OUTPUT": str(path)}
    subprocess.run([BUILD.parent / "workloads/digits", ROOT / "tests/workloads/data/digits.csv"], env=environment, stdout=subprocess.DEVNULL,
                   check=True, timeout=60)
    return path


def test_a_baseline(driver, trace, other, summary):
    driver.get("about:blank")
    driver.get(make(trace, "compared.html", ["--baseline", other]))
    before = json.loads(subprocess.run([BUILD / "bin/tprof-analyze", "summary", "--json", "--top", "0", other], capture_output=True,
                                       check=True, timeout=60).stdout)
    card = driver.find_element(By.CSS_SELECTOR, ".differences")
    assert "What changed" in card.text and "other.bin" in card.text and "allocations" in card.text
    for widths, of, base in (("new", summary, before), ("old", before, summary)):
        choose(driver, "baseline", widths)
        frames = drawn(driver)
        assert frames[0]["amount"] == of["heap"]["peak_bytes"] and frames[0]["base"] == base["heap"]["peak_bytes"]

        def held(answer, function):
            return sum(site["bytes"] for site in answer["heap"]["peak_sites"] if any(f["function"] == function for f in site["stack"]))

        for name in ("load_digits", "layer_forward", "train"):
            frame = next((one for one in frames if one["name"] == name), None)
            assert (frame["amount"], frame["base"]) == (held(of, name), held(base, name)) if frame else not held(of, name)
    rows = driver.execute_script(VIEW + "return view.grid.shownRows")
    assert sum(row["self"] for row in rows) == summary["heap"]["peak_bytes"]
    assert sum(row["before"] for row in rows) == before["heap"]["peak_bytes"]
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []


@pytest.mark.parametrize("command", ["diff", "compare"])
def test_a_page_of_two_runs(driver, trace, other, command):
    """Tables only: they sort, and a link has that too."""
    path = trace.with_name(f"{command}.html")
    subprocess.run([BUILD / "bin/tprof-analyze", command, "--format", "html", "-o", path, other, trace], stderr=subprocess.DEVNULL, check=True,
                   timeout=60)
    driver.get_log("browser")
    driver.get("about:blank")
    driver.get(path.as_uri())
    table, key, title = ("totals", "new", "new") if command == "diff" else ("calls", "v0", None)
    table = f"table[data-path='{table}']"
    title = title or driver.find_elements(By.CSS_SELECTOR, f"{table} th")[1].text
    before = column(driver, table, key)
    head(driver, table, title).click()
    assert column(driver, table, key) == sorted(before, reverse=True) and len(before) > 3
    pause(driver)
    link = driver.current_url
    assert "#sort." in link
    driver.get("about:blank")
    driver.get(link)
    assert column(driver, table, key) == sorted(before, reverse=True)
    for scheme in ("light", "dark"):
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        assert driver.execute_script(CONTRAST)[0] == []
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": False})
    assert driver.execute_script("return document.documentElement.scrollWidth") <= 390
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert driver.get_log("browser") == []


HOSTILE = "</script><img src=x onerror=alert(1)>\"'&<!--]]>${1}`"


def test_names_write_no_markup(driver, tmp_path):
    """Ops, threads, marks and layers of that name are text wherever the script shows them, and so is a link's search."""
    (tmp_path / "hostile.c").write_text(f"""#include <tprof.h>
        #include <stdlib.h>
        #include <sys/prctl.h>
        void *volatile keep;
        int main(void) {{
            prctl(PR_SET_NAME, "</b><i>x&\\"");
            for (int i = 0; i < 50; i++) {{
                tprof_op_begin({json.dumps(HOSTILE)}, "layer");
                keep = malloc(100);
                tprof_op_end();
                tprof_mark({json.dumps(HOSTILE)});
                tprof_step(1);
            }}
            return 0; }}""")
    subprocess.run(["gcc", f"-I{ROOT}/include", tmp_path / "hostile.c", "-o", tmp_path / "a<b>&c"], check=True)
    subprocess.run([tmp_path / "a<b>&c", HOSTILE], env={**os.environ, "LD_PRELOAD": str(BUILD / "lib/libtprof.so"),
                                                        "TPROF_OUTPUT": str(tmp_path / "trace.bin")}, check=True)
    driver.get_log("browser")
    driver.get("about:blank")
    driver.get(make(tmp_path / "trace.bin") + "#view=0&stack=op&by=op&measure=allocated&search=" + "%3Cimg%20src=x%20onerror=alert(1)%3E")
    for name in ("ops", "layers", "steps", "threads", "stacks"):
        driver.execute_script("document.querySelector(`.tabs [data-tab='${arguments[0]}']`).click()", name)
        panel = driver.find_element(By.CSS_SELECTOR, ".panels").text
        assert name in ("steps", "threads") or HOSTILE in panel, name
    over = driver.find_element(By.CSS_SELECTOR, ".timeline .u-over")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", over)
    ActionChains(driver).move_to_element(over).perform()
    assert HOSTILE in driver.find_element(By.CSS_SELECTOR, ".legend").text
    assert driver.execute_script("return document.querySelectorAll('img, u, i, script[src]').length") == 0
    assert driver.get_log("browser") == []
