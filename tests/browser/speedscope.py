# SPDX-License-Identifier: Apache-2.0
"""Speedscope, as its package ships it, in the browser."""
import base64
import json

from conftest import BUILD
from selenium.webdriver.support.ui import WebDriverWait

PAGE = BUILD.parent / "speedscope/node_modules/speedscope/dist/release/index.html"


def open_in_speedscope(driver, file, title=None):
    """As its command line does it: by a script that hands over the file. `title`: what it calls it, else the file's name."""
    script = file.with_suffix(".js")
    text = base64.b64encode(file.read_bytes()).decode()
    script.write_text(f"speedscope.loadFileFromBase64({json.dumps(file.name)}, {json.dumps(text)})")
    driver.get("about:blank")
    driver.get(f"{PAGE.as_uri()}#localProfilePath={script}")
    WebDriverWait(driver, 30).until(lambda d: (title or file.name) in d.title)


def press(driver, key):
    driver.execute_script("window.dispatchEvent(new KeyboardEvent('keypress', {key: arguments[0]}));"
                          "window.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0]}))", key)


def rows(driver):
    return driver.execute_script("return Array.from(document.querySelectorAll('tr')).map((row) => Array.from("
                                 "row.querySelectorAll('td')).map((cell) => cell.innerText.trim())).filter((row) => row.length === 3)")


def warnings(driver):
    """Of its reading, such as of an end whose arguments are not its begin's."""
    return [entry["message"] for entry in driver.get_log("browser") if "speedscope-" in entry["message"]]
