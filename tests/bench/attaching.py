# SPDX-License-Identifier: Apache-2.0
"""How long a program stands still while a tool attaches to it: of four threads the one that is stopped longest, and the longest
time in which none went on. heaptrack attaches by gdb."""
import json
import os
import shutil
import subprocess
import tempfile
import time

from measure import environment, spread

GAPS = "build/bench/gaps"
SECONDS = 3


class Attaching:
    def __init__(self, build, quick):
        self.launcher = f"{build}/bin/tprof"
        self.rounds = 3 if quick else 7

    def tools(self):
        yield "bare", None
        yield "tprof", lambda pid: [self.launcher, "attach", "-o", "attached.bin", pid]
        if shutil.which("heaptrack") and shutil.which("gdb"):
            yield "heaptrack", lambda pid: ["heaptrack", "-o", "attached", "-p", pid]

    def gaps(self, attach, directory):
        """Milliseconds: {"longest", "all"}."""
        with open(os.devnull, "w", encoding="ascii") as nothing, subprocess.Popen(
                [os.path.abspath(GAPS), str(SECONDS)], cwd=directory, env=environment({}), stdout=subprocess.PIPE) as program:
            time.sleep(SECONDS / 2)
            tool = attach and subprocess.Popen(attach(str(program.pid)), cwd=directory, env=environment({}), stdout=nothing,
                                               stderr=nothing, stdin=nothing)
            said = program.communicate(timeout=60)[0]
            if tool:
                tool.wait(timeout=60)
        return json.loads(said)

    def all(self):
        results = {}
        with tempfile.TemporaryDirectory(prefix="bench-", dir="build") as directory:
            for _ in range(self.rounds):
                for name, attach in self.tools():
                    results.setdefault(name, []).append(self.gaps(attach, directory))
        for key, name, target in (("longest", "attach: the thread that stands longest", "-"), ("all", "attach: all threads", "50")):
            row = {"name": name, "unit": "ms", "target": target}
            row.update({tool: spread([gap[key] for gap in gaps]) for tool, gaps in results.items()})
            yield row
