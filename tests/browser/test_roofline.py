# SPDX-License-Identifier: Apache-2.0
"""The roofline's picture, as a browser lays it out: nothing stands on another's label or outside of the picture."""
import itertools

import pytest


@pytest.fixture
def roof(picture):
    return picture("roofline")


def test_labels(roof):
    boxes = roof.execute_script("""
        return Array.from(document.querySelectorAll("text[paint-order]")).map((t) => {
            const box = t.getBoundingClientRect();
            return [t.textContent, box.left, box.right, box.top, box.bottom]; })""")
    size = roof.execute_script("const box = document.documentElement.getBoundingClientRect(); return [box.width, box.height]")
    assert any(words.startswith("memory, ") for words, *_ in boxes) and any("cblas_sgemm" in words for words, *_ in boxes)
    for words, left, right, top, bottom in boxes:
        assert 0 <= left and right <= size[0] and 0 <= top and bottom <= size[1], words
    for (one, left, right, top, bottom), (other, l, r, t, b) in itertools.combinations(boxes, 2):
        # Two lines of text may share the room of their descenders.
        assert min(bottom, b) - max(top, t) < 3 or min(right, r) - max(left, l) <= 0, (one, other)
