# SPDX-License-Identifier: Apache-2.0
"""Uses much of the interpreter: objects, text, numbers, generators, coroutines, threads, exceptions. Prints a digest of it all."""
import asyncio
import base64
import collections
import decimal
import functools
import hashlib
import itertools
import json
import queue
import random
import re
import struct
import subprocess
import threading
import zlib

found = []


class Key:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return self.n == other.n

    def __hash__(self):
        return hash(self.n)

    def __getattr__(self, name):
        raise AttributeError(name)


def objects():
    counts = {}
    for i in range(3000):
        counts[Key(i % 97)] = counts.get(Key(i % 97), 0) + i
        try:
            Key(1).missing
        except AttributeError as e:
            found.append(str(e))
    found.append(sorted((key.n, count) for key, count in counts.items()))


def text():
    found.append(json.loads(json.dumps({str(i): [i, i / 3, None, True, "\u1234x"] for i in range(300)})))
    found.append(re.sub(r"(\w+)-(\d+)", lambda m: m[2] + m[1], " ".join(f"ab{i}-{i}" for i in range(500))))
    found.append(hashlib.sha256(zlib.compress(b"abc" * 10000)).hexdigest())
    found.append(base64.b64encode(struct.pack("<40d", *range(40))))
    found.append(collections.Counter("hello world" * 50).most_common())


def squares(n):
    for i in range(n):
        try:
            yield i * i
        finally:
            found.append(i % 7)


def numbers():
    random.seed(3)
    found.append(sum(squares(1000)))
    found.append([str(decimal.Decimal(1) / decimal.Decimal(i)) for i in range(1, 50)])
    found.append([2**i % 1000007 for i in range(200)] + [3**500])
    found.append(sorted(random.random() for _ in range(200)))
    found.append(list(itertools.permutations(range(5))))
    found.append(functools.reduce(lambda a, b: a * b % 1000003, range(1, 400)))


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


def recursion():
    found.append(depth(800))
    try:
        depth(10**6)
    except RecursionError as e:
        found.append(str(e)[:30])


async def coroutines():
    async def one(n):
        await asyncio.sleep(0)
        return n + 1

    return await asyncio.gather(*(one(i) for i in range(50)))


def threads():
    results = queue.Queue()
    started = [threading.Thread(target=lambda i=i: [results.put(i * j) for j in range(100)]) for i in range(4)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    found.append(sorted(results.get() for _ in range(400)))


objects()
text()
numbers()
recursion()
found.append(asyncio.run(coroutines()))
threads()
found.append(subprocess.run(["/bin/echo", "hi"], capture_output=True, check=True).stdout)
print(hashlib.md5(repr(found).encode()).hexdigest(), len(repr(found)))
