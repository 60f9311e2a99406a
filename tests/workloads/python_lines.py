# SPDX-License-Identifier: Apache-2.0
"""What people's scripts are made of, kept to the end. Under -X tracemalloc it writes down what each of its lines holds."""
import collections
import json
import os
import random
import tracemalloc


class Node:
    def __init__(self, name, kids):
        self.name = name
        self.kids = kids


def tree(depth, rng):
    return Node("node %f" % rng.random(), [tree(depth - 1, rng) for _ in range(3)] if depth else [])


def count_words(n, rng):
    counts = collections.Counter()
    for _ in range(n):
        word = "".join(rng.choice("abcdefgh") for _ in range(4))
        counts[word] += 1
    return counts


def records(n):
    for i in range(n):
        yield {"text": str(i) * 10}


def remember(space, n):
    for name in map(str, range(n)):
        if name not in space:
            space[name] = bytes(100 * len(name))
    return space


kept = [tree(6, random.Random(1)), count_words(20000, random.Random(2)), list(records(3000))]
kept.append(remember({}, 2000))
kept.append(sorted((str(i) for i in range(5000)), key=lambda text: text[::-1]))
kept.append({i: [i] * (i % 50) for i in range(3000)})
kept.append(json.loads(json.dumps(["text number %d" % i for i in range(3000)])))
large = bytearray(3000000)
large.extend(b"x" * 1000000)
if tracemalloc.is_tracing():
    only = tracemalloc.Filter(True, __file__)
    found = tracemalloc.take_snapshot().filter_traces([only]).statistics("lineno")
    with open(os.environ["TRUTH_FILE"], "w") as out:
        json.dump({one.traceback[0].lineno: one.size for one in found}, out)
os._exit(0)  # nothing is taken down
