# SPDX-License-Identifier: Apache-2.0
"""The page's script and style in the tree are those of web/'s sources. make check-web builds them anew; this needs no node."""
import hashlib
import json
import re

import pytest
from conftest import ROOT

WEB = ROOT / "web"


def sources():
    digest = hashlib.sha256()
    names = [f"src/{name}" for name in sorted(path.name for path in (WEB / "src").iterdir())]
    for name in [*names, "build.mjs", "package-lock.json"]:
        digest.update(f"{name}\0".encode() + (WEB / name).read_bytes() + b"\0")
    return digest.hexdigest()


@pytest.mark.parametrize("name", ["page.js", "page.css"])
def test_the_bundle_is_of_the_sources(name):
    text = (ROOT / "analyzer/report/html" / name).read_text()
    assert re.search(r"Sources: (\w+)", text).group(1) == sources(), "make web"


def test_versions_are_pinned():
    """By the lock file, which says of no package where it is downloaded."""
    package, lock = (json.loads((WEB / name).read_text()) for name in ("package.json", "package-lock.json"))
    asked = {**package.get("dependencies", {}), **package.get("devDependencies", {})}
    assert asked and all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in asked.values())
    packages = {name: facts for name, facts in lock["packages"].items() if name}
    assert all("integrity" in facts and "resolved" not in facts for facts in packages.values())
    assert {name: packages[f"node_modules/{name}"]["version"] for name in asked} == asked
