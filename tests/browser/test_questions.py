# SPDX-License-Identifier: Apache-2.0
"""What people ask of a run, answered in the page alone, by a program whose answers are known (questions.c)."""
import json
import os
import pathlib
import re
import subprocess

import pytest
from conftest import BUILD, ROOT
from selenium.webdriver.common.by import By
from test_html import VIEW, choose, drawn, title

HERE = pathlib.Path(__file__).parent
MACHINE = {"schema": "tprof-machine/1", "cpu": "made up", "cores": 2, "measured_unix_s": 0,
           "gflops": {"SSE": {"single": {"one": 100, "all": 200}, "double": {"one": 50, "all": 100}}},
           "gbytes_per_s": {"L1": {"one": 100, "all": 200}, "memory": {"one": 10, "all": 20}}, "cache_bytes": {"L1": 32768}}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """The page's address."""
    directory = tmp_path_factory.mktemp("questions")
    subprocess.run(["gcc", "-g", "-O1", "-Wall", "-Werror", f"-I{ROOT}/include", HERE / "questions.c", "-o", directory / "questions", "-pthread"], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(BUILD / "lib/libtprof.so"), "TPROF_LEAKCHECK": "exit", "TPROF_CPU": "499"}
    subprocess.run([directory / "questions"], cwd=directory, env=environment, check=True, timeout=120)
    (directory / "machine.json").write_text(json.dumps(MACHINE))
    page = directory / "page.html"
    subprocess.run([BUILD / "bin/tprof-analyze", "html", "--machine", directory / "machine.json", "-o", page, directory / "trace.bin"],
                   stderr=subprocess.DEVNULL, check=True, timeout=60)
    return page.as_uri()


@pytest.fixture
def page(driver, answers):
    driver.get("about:blank")
    driver.get(answers)
    return driver


def tab(page, name):
    page.find_element(By.CSS_SELECTOR, f".tabs [data-tab='{name}']").click()
    return [[cell.text for cell in row.find_elements(By.TAG_NAME, "td")] for row in page.find_elements(By.CSS_SELECTOR, ".panels tbody tr")]


def test_what_was_alive_then_and_not_before(page, answers):
    """Between the marks: the batch, and nothing else of its size. By the link that a colleague would send."""
    before, after = page.execute_script(VIEW + """const marks = tprof.explorers[0].data.raw.report.marks;
        return ["before", "after"].map((text) => marks.find((mark) => mark.text === text).time_ns / 1e9)""")
    page.get(f"{answers}#view=0&measure=growth&from={before}&to={after}")
    page.refresh()
    first = page.find_element(By.CSS_SELECTOR, ".panels tbody tr").text
    assert "3.00 MiB" in first and "questions.c:" in first and "load_batch" in first
    assert "more alive at" in title(page)
    batch = next(frame for frame in drawn(page) if frame["name"] == "load_batch")
    assert batch["amount"] == 3 << 20


def test_which_ops_memory_made_the_peak(page):
    choose(page, "rows by", "op")
    rows = [[cell.text for cell in row.find_elements(By.TAG_NAME, "td")] for row in page.find_elements(By.CSS_SELECTOR, ".panels tbody tr")]
    largest = next(row for row in rows if "(outside of ops)" not in row)
    assert "8.00 MiB" in largest[0] and largest[-1] == "sort"
    assert "sort" in page.find_element(By.CSS_SELECTOR, ".card.memory tr").text


def test_which_layers_backward_is_slowest_and_what_bounds_it(page):
    rows = tab(page, "layers")
    backward = [row for row in rows if "backward" in row]
    assert backward[0][3] == "decoder (backward)" and backward[0][5].startswith("memory (") and backward[0][6] == "scatter"
    encoder = next(row for row in backward if row[3] == "encoder (backward)")
    assert encoder[5].startswith("compute (")


def test_what_leaks_since_when_and_who_holds_it(page):
    leak = page.find_element(By.CSS_SELECTOR, ".card.leaks").text
    assert "1,008 B a step" in leak.replace("0.98 KiB", "1,008 B") and "(remember)" in leak
    assert "since step 1" in leak and "held by notes" in leak
    assert page.find_element(By.CSS_SELECTOR, ".card.leaks .spark").get_attribute("aria-label").startswith("alive of the stacks through questions.c:")


def test_which_thread_waits(page):
    rows = tab(page, "threads")
    assert len(rows) == 2
    share = {}
    for row in rows:
        share[row[-1]] = float(re.search(r"\(([0-9.]+)%\)", row[1]).group(1))  # of its life it did not run
    main, waiter = page.execute_script(VIEW + """return tprof.explorers[0].data.raw.threads.map((thread) => thread.tid)""")
    by_tid = {tid: next(value for key, value in share.items() if f"({tid})" in key) for tid in (main, waiter)}
    assert by_tid[waiter] > by_tid[main] and by_tid[waiter] > 95
