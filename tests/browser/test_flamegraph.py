# SPDX-License-Identifier: Apache-2.0
"""The flame graph in a browser: search, zoom and keys do what its text says, by the bytes that its trace holds."""
import json
import subprocess

import pytest
from conftest import BUILD
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys


def frames(browser):
    """Of each frame that is shown: its function, left end, width, bytes."""
    return browser.execute_script("""
        return Array.from(document.querySelectorAll("g.f")).filter((g) => g.style.display !== "none").map((g) => ({
            name: g.querySelector("title").textContent.split(/\\n| \\u2014 /)[0], bytes: Number(g.dataset.b),
            depth: Number(g.dataset.d), x: Number(g.querySelector("rect").getAttribute("x")),
            width: g.querySelector("rect").getBoundingClientRect().width,
            label: g.querySelector("text").getBoundingClientRect().width, hit: g.classList.contains("hit")}))""")


def named(browser, name):
    return browser.find_element(By.XPATH, f"//*[local-name()='g'][starts-with(*[local-name()='title'], '{name}')]")


def text(browser, name):
    return browser.execute_script("return document.querySelector('text.' + arguments[0]).textContent", name)


def press(browser, *keys):
    ActionChains(browser).send_keys(*keys).perform()


@pytest.fixture
def flame(picture):
    return picture("flamegraph")


@pytest.fixture
def peak(trace):
    return json.loads(subprocess.run([BUILD / "bin/tprof-analyze", "peak", "--json", "--top", "0", trace],
                                     capture_output=True, check=True, timeout=60).stdout)


def search(browser, pattern):
    """The page asks by window.prompt, which a test answers beforehand."""
    browser.execute_script("window.prompt = () => arguments[0]", pattern)
    press(browser, "/")


def test_widths_are_bytes_and_labels_fit(flame, peak):
    shown = frames(flame)
    whole = max(shown, key=lambda frame: frame["bytes"])
    assert whole["bytes"] == peak["heap"]["peak_bytes"]
    scale = whole["width"] / whole["bytes"]
    for frame in shown:
        assert frame["width"] == pytest.approx(max(frame["bytes"] * scale, 0.1), abs=0.5)
        assert frame["label"] <= frame["width"] + 1, frame


def test_search(flame, peak):
    losses = sum(site["bytes"] for site in peak["peak"]["sites"]
                 if any(frame["function"] == "remember_loss" for frame in site["stack"]))
    search(flame, "remember_loss")
    assert {frame["name"] for frame in frames(flame) if frame["hit"]} == {"remember_loss"}
    assert text(flame, "matched") == f"matched: {100 * losses / peak['heap']['peak_bytes']:.1f}%"
    press(flame, Keys.ESCAPE)
    assert not any(frame["hit"] for frame in frames(flame)) and text(flame, "matched").strip() == ""
    search(flame, "(")
    assert text(flame, "matched") == "not a regular expression: ("


def test_zoom(flame):
    before = frames(flame)
    named(flame, "train").click()
    after = frames(flame)
    train = next(frame for frame in after if frame["name"] == "train")
    assert train["width"] == pytest.approx(max(frame["width"] for frame in before), abs=0.5)
    inside = [frame for frame in after if frame["depth"] > train["depth"]]
    assert inside and all(frame["bytes"] <= train["bytes"] for frame in inside)
    assert "load_digits" not in {frame["name"] for frame in after}
    press(flame, Keys.ESCAPE)
    again = frames(flame)
    assert [(frame["name"], frame["bytes"]) for frame in again] == [(frame["name"], frame["bytes"]) for frame in before]
    assert [frame["x"] for frame in again] == pytest.approx([frame["x"] for frame in before], abs=0.02)
    assert [frame["width"] for frame in again] == pytest.approx([frame["width"] for frame in before], abs=0.02)


def test_keys(flame):
    press(flame, Keys.HOME, Keys.ARROW_UP, Keys.ARROW_UP)
    first = text(flame, "details")
    press(flame, Keys.ARROW_DOWN)
    assert text(flame, "details") != first
    press(flame, Keys.ARROW_UP, Keys.ENTER)
    assert text(flame, "details") == first and len(frames(flame)) > 0
    assert flame.execute_script("return document.querySelector('text.reset').getAttribute('visibility')") == "visible"
