# SPDX-License-Identifier: Apache-2.0
"""What the measured programs read, generated once: the same bytes each time."""
import json
import pathlib
import random


def json_file(directory, megabytes):
    path = pathlib.Path(directory) / f"input-{megabytes}.json"
    if path.exists():
        return path
    draw = random.Random(1)
    with open(path, "w", encoding="ascii") as out:
        out.write("[")
        while out.tell() < megabytes * 1000000:
            record = {"id": draw.randrange(10**9), "name": f"user{draw.randrange(10**6)}", "score": draw.random(),
                      "tags": [f"tag{draw.randrange(1000)}" for _ in range(draw.randrange(8))],
                      "place": {"x": draw.randrange(1000), "y": None, "ok": draw.random() < 0.5}}
            out.write(json.dumps(record) + ",\n")
        out.write("0]\n")
    return path


def text_file(directory, lines):
    path = pathlib.Path(directory) / f"input-{lines}.txt"
    if path.exists():
        return path
    draw = random.Random(2)
    with open(path, "w", encoding="ascii") as out:
        for _ in range(lines):
            label = draw.randrange(10)
            words = (f"w{int(draw.expovariate(0.001)) * (label + 1) % 20000}" for _ in range(20))
            out.write(f"__label__{label} {' '.join(words)}\n")
    return path
