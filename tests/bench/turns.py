# SPDX-License-Identifier: Apache-2.0
"""Programs that are all there at once and take turns on one processor, a few milliseconds each: what else the machine does,
it does to all of them. What is left is where each process happened to be put in memory, so each is begun many times. Runs
one after the other differ by ten percent; a median of these is known to one."""
import json
import os
import random
import shutil
import statistics
import subprocess
import tempfile

from measure import environment

# glibc hands freed tensors back to the kernel and asks for them again: 300 to 750 page faults a step as chance will have
# it, up to a sixth of the step's time. All the programs that are compared keep what they have.
STILL = {"MALLOC_TRIM_THRESHOLD_": "4000000000", "MALLOC_MMAP_THRESHOLD_": "33554432",
         "MALLOC_TOP_PAD_": "67108864", "PYTHONHASHSEED": "0"}


class Player:
    """A program that answers each line of its input with a line of JSON."""

    def __init__(self, command, extra, processor):
        self.directory = tempfile.mkdtemp(prefix="bench-", dir="build")
        extra = {k: v.replace("@", os.path.abspath(self.directory)) for k, v in extra.items()}
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            ["taskset", "-c", str(processor), *command], env=environment({**STILL, **extra}), text=True,
            cwd=self.directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def turn(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        try:
            self.process.communicate(timeout=60)
        finally:
            self.process.kill()
            shutil.rmtree(self.directory)


def game(variants, line, turns, processor):
    """One process of each variant, in turns. Name -> what it answered each time."""
    players, said = {}, {name: [] for name in variants}
    try:
        for name, (command, extra) in variants.items():
            players[name] = Player(command, extra, processor)
        for player in players.values():
            player.turn(line)  # the first one warms up
        for _ in range(turns):
            for name in random.sample(list(players), len(players)):
                said[name].append(players[name].turn(line))
    finally:
        for player in players.values():
            player.end()
    return said


def games(variants, line, turns, count, key):
    """Name -> of each game, the median of `key` over its turns, and that of its ratio to bare in the same turn."""
    figures = {name: [] for name in variants}
    processors = sorted(os.sched_getaffinity(0))
    for i in range(count):
        said = game(variants, line, turns, processors[i % len(processors)])
        for name, answers in said.items():
            ratios = [mine[key] / bare[key] for mine, bare in zip(answers, said["bare"])]
            figures[name].append((statistics.median(answer[key] for answer in answers), statistics.median(ratios)))
    return figures


def switched(variant, line, turns, count, key):
    """Of `count` processes under tprof, each by itself on its processor: the median ratio of a turn in which it records to one
    in which it is paused. Where a process was put in memory is the same for both."""
    command, extra = variant
    processors, figures = sorted(os.sched_getaffinity(0)), []
    for i in range(count):
        player, ratios = Player(command, extra, processors[i % len(processors)]), []
        try:
            player.turn(f"{line} start")
            for _ in range(turns):
                said = {way: player.turn(f"{line} {way}")[key] for way in random.sample(["start", "stop"], 2)}
                ratios.append(said["start"] / said["stop"])
        finally:
            player.end()
        figures.append(statistics.median(ratios))
    return figures


def interval(values, times=2000):
    """The median, the quartiles' distance, and where 95% of the medians lie of as many values drawn from these."""
    drawn = random.Random(1)
    medians = sorted(statistics.median(drawn.choices(values, k=len(values))) for _ in range(times))
    quartiles = statistics.quantiles(values, n=4) if len(values) > 1 else [0, 0, 0]
    return {"median": statistics.median(values), "spread": quartiles[2] - quartiles[0],
            "low": medians[times // 40], "high": medians[-times // 40 - 1]}
