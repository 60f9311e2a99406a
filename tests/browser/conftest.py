# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, and pictures of a run that is always the same."""
import os
import pathlib
import subprocess

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("CHECK_BUILD", ROOT / "build/release"))


@pytest.fixture(scope="session")
def driver():
    options = Options()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1400,1000"):
        options.add_argument(argument)
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def trace(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    environment = {**os.environ, "LD_PRELOAD": str(BUILD / "lib/libtprof.so"), "TPROF_CPU": "0", "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([BUILD.parent / "workloads/digits", ROOT / "tests/workloads/data/digits.csv"], cwd=directory,
                   env=environment, stdout=subprocess.DEVNULL, check=True, timeout=60)
    return directory / "trace.bin"


@pytest.fixture
def picture(driver, trace):
    """picture(COMMAND, OPTIONS...): the SVG that a command writes, opened; its browser says nothing of errors."""
    def show(command, *options):
        path = trace.with_name(f"{command}.svg")
        subprocess.run([BUILD / "bin/tprof-analyze", command, *options, "-o", path, trace], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=True, timeout=60)
        driver.get(path.as_uri())
        return driver
    yield show
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []
