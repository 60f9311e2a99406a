# SPDX-License-Identifier: Apache-2.0
"""The HTML report in a browser: under its own policy its script runs and nothing else does, and no request leaves the page."""
import json
import subprocess

import pytest
from conftest import BUILD
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

PEAK = "table[data-path='heap.peak_sites']"


@pytest.fixture
def page(driver, trace):
    """The page, opened; afterwards the browser has nothing to say of it, and it has asked for nothing but itself."""
    path = trace.with_name("report.html")
    subprocess.run([BUILD / "bin/tprof-analyze", "html", "-o", path, trace], stderr=subprocess.DEVNULL, check=True, timeout=60)
    driver.get_log("browser")
    driver.get(path.as_uri())
    yield driver
    assert driver.get_log("browser") == []
    assert driver.execute_script("return performance.getEntriesByType('resource').map((entry) => entry.name)") == []


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


def test_a_picture_tells_its_numbers(page):
    """What is pointed at in the picture of memory stands below it."""
    points = page.find_elements(By.CSS_SELECTOR, "svg.memory rect.v")
    point = max(points, key=lambda found: float(found.get_attribute("width")))  # the pointer stands on whole pixels
    ActionChains(page).move_to_element(point).perform()
    said = page.find_element(By.CSS_SELECTOR, "figure output").text
    assert said == page.execute_script("return arguments[0].querySelector('title').textContent", point) and "live" in said


def test_a_frame_zooms(page):
    """The flame graph in the page does what the one of its own does, and its keys are its own."""
    def shown():
        return page.execute_script("""return Array.from(document.querySelectorAll("svg.flame g.f")).filter((g) =>
            g.style.display !== "none").map((g) => g.querySelector("title").textContent.split(/\\n| \\u2014 /)[0])""")

    before = shown()
    frame = page.find_element(By.XPATH, "//*[local-name()='svg'][@class='flame']//*[local-name()='g']"
                                        "[starts-with(*[local-name()='title'], 'train')]")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", frame)
    frame.click()
    assert {"train", "remember_loss"} <= set(shown()) and "load_digits" in before and "load_digits" not in shown()
    page.find_element(By.CSS_SELECTOR, "svg.flame text.reset").click()
    assert shown() == before


@pytest.mark.parametrize("scheme, dark", [("light", False), ("dark", True)])
def test_it_is_light_or_dark_as_the_reader_wants(page, scheme, dark):
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    red = page.execute_script("return Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])")
    assert (red < 64) == dark
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_nothing_is_wider_than_the_window(page):
    assert page.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
