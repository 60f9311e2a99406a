# SPDX-License-Identifier: Apache-2.0
"""tprof attach and detach: the program says what it did meanwhile, and goes on as if nothing had been."""
import ctypes
import os
import pathlib
import random
import signal
import subprocess
import time

import pytest
from conftest import LAUNCHER, LIBRARY, PYTHON, WORKLOADS, analyze, functions, need_ptrace, nothing_lost, report

PTRACE_SEIZE, PTRACE_DETACH = 0x4206, 17
BLOCK = 1000


class Program:
    """tests/workloads/attached, or another one that answers each letter."""

    def __init__(self, directory, command=(WORKLOADS / "attached",), env=None):
        self.directory = directory
        self.process = subprocess.Popen([*map(str, command)], cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env={**os.environ, **(env or {})}, bufsize=0)
        self.pid = self.process.pid

    def do(self, letters):
        for letter in letters:
            self.process.stdin.write(letter.encode())
            assert self.process.stdout.readline() == b".\n"

    def launcher(self, *arguments, status=0):
        done = subprocess.run([LAUNCHER, *map(str, arguments)], cwd=self.directory, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout if status == 0 else done.stderr

    def attach(self, *options, status=0):
        return self.launcher("attach", *options, self.pid, status=status)

    def detach(self, status=0):
        return self.launcher("detach", self.pid, status=status)

    def quit(self):
        self.process.stdin.write(b"q")
        out, err = self.process.communicate(timeout=60)
        assert (self.process.returncode, out, err) == (0, b"", b"")


@pytest.fixture(autouse=True)
def ptrace():
    need_ptrace()


@pytest.fixture
def start(tmp_path):
    programs = []

    def begin(*command, **options):
        programs.append(Program(tmp_path, command or (WORKLOADS / "attached",), **options))
        return programs[-1]

    yield begin
    for program in programs:
        program.process.kill()
        program.process.wait()
        for stream in program.process.stdin, program.process.stdout, program.process.stderr:
            stream.close()


def kept(trace):
    """(allocations, live blocks) of keep(), by the stacks of all allocations."""
    summary = report(trace, options=["--top", "0"])
    nothing_lost(summary)
    made = sum(site["allocations"] for site in summary["heap"]["hot_sites"] if "keep" in functions(site["stack"]))
    leaks = report(trace, command="leaks", options=["--top", "0"])["unfreed"]["sites"]
    return made, sum(site["blocks"] for site in leaks if "keep" in functions(site["stack"]))


def test_what_happens_while_attached(start, tmp_path):
    program = start()
    program.do("aaaf")
    said = program.attach()
    assert f"attached to {program.pid} (attached)" in said and f"records into {tmp_path}/trace.bin" in said
    program.do("aafff")  # 20 new blocks; 15 of the old ones go
    said = program.detach()
    assert f"detached from {program.pid}" in said
    program.do("aaaffff")
    program.quit()
    trace = tmp_path / "trace.bin"
    assert kept(trace) == (20, 20)
    summary = report(trace)
    assert summary["process"]["end"] == "detached"
    assert summary["capture"]["pauses"]["attached_after_ns"] > 0 and not summary["capture"]["pauses"]["off_at_start"]
    assert summary["heap"]["unmatched_frees"] == 15
    text = analyze(trace).stdout
    assert "until tprof was detached" in text and "tprof was attached " in text and "recording was paused" not in text


def test_until_the_program_ends(start, tmp_path):
    program = start()
    program.do("aa")
    program.attach("-o", "./where.bin")
    program.do("aaaffffff")
    program.quit()
    assert kept(tmp_path / "where.bin") == (30, 20)
    assert report(tmp_path / "where.bin")["process"]["end"] == "exit"


def test_each_time_a_trace_of_its_own(start, tmp_path):
    program = start(WORKLOADS / "attached", 3)
    program.do("c")
    for i in range(1, 5):
        program.attach("-o", f"{i}.bin")
        program.do("a" * i + "f")
        program.detach()
        program.do("af")
    program.do("c")
    program.quit()
    for i in range(1, 5):
        assert kept(tmp_path / f"{i}.bin")[0] == 10 * i, i


def test_settings_hold_for_one_time(start, tmp_path):
    program = start(WORKLOADS / "attached", 2)
    program.do("c")
    program.attach("--cpu", "off", "--ops", "off", "--step", "churn", "--alloc", "off")
    program.do("a")
    program.detach()
    first = report(tmp_path / "trace.bin")
    assert not first["heap"]["allocations"] and not first["capture"]["cpu_period_ns"]
    program.attach()  # into a file of the same name
    program.do("a")
    program.detach()
    program.do("c")
    program.quit()
    assert kept(tmp_path / "trace.bin")[0] == 10
    second = report(tmp_path / "trace.bin")
    assert second["capture"]["cpu_period_ns"] and second["process"]["run"] != first["process"]["run"]
    assert sorted(path.name for path in tmp_path.glob("*.bin*")) == ["trace.bin", "trace.bin.old"]


def test_for_a_time(start, tmp_path):
    program = start()
    said = program.attach("--duration", "300ms", "--cpu", "off")
    assert "detached from" in said
    program.do("a")
    program.quit()
    summary = report(tmp_path / "trace.bin")
    assert summary["process"]["end"] == "detached" and summary["process"]["duration_ns"] >= 300_000_000
    assert summary["capture"]["cpu_period_ns"] in (0, None) and not summary["heap"]["allocations"]


def has_files(pid, expected):
    """Waits for a thread that is still in a hook."""
    for _ in range(200):
        found = open_files(pid)
        if found == expected:
            return True
        time.sleep(0.05)
    return found == expected


def open_files(pid):
    return sorted(os.readlink(link) for link in pathlib.Path(f"/proc/{pid}/fd").iterdir())


def test_nothing_is_left(start):
    """But the library's mapping and memory, and its signal handler: threads may be in its code."""
    program = start(WORKLOADS / "attached", 4)
    program.do("ca")
    files = open_files(program.pid)
    for _ in range(3):
        program.attach("-o", "again.bin")
        program.do("a")
        program.detach()
    assert has_files(program.pid, files), open_files(program.pid)
    maps = pathlib.Path(f"/proc/{program.pid}/maps").read_text()
    assert not [line for line in maps.splitlines() if "again.bin" in line and line.split()[5].startswith("rw")], maps
    before = maps.count("\n")
    for _ in range(3):
        program.attach("-o", "again.bin")
        program.detach()
    assert pathlib.Path(f"/proc/{program.pid}/maps").read_text().count("\n") <= before + 8
    program.do("c")
    program.quit()


@pytest.mark.parametrize("threads", [1, 500])
def test_at_random_moments(start, tmp_path, threads):
    """Threads check what is in their blocks, and are joined; no event of a thread is lost or in disorder."""
    program, chance = start(WORKLOADS / "attached", threads), random.Random(threads)
    program.do("c")
    for i in range(6):
        time.sleep(chance.random() / 20)
        program.attach("-o", f"{i}.bin", "--cpu", "999")
        program.do("a")
        time.sleep(chance.random() / 20)
        program.detach()
    program.do("c")
    program.quit()
    for i in range(6):
        summary = report(tmp_path / f"{i}.bin")
        nothing_lost(summary)
        assert kept(tmp_path / f"{i}.bin")[0] == 10
        # At most one block of each thread is from before.
        assert summary["heap"]["unmatched_frees"] <= threads


PYTHON_PROGRAM = """
import sys
kept = []

def keep():
    for _ in range(10):
        kept.append(bytearray(1000))

while (letter := sys.stdin.buffer.raw.read(1)) != b"q":
    if letter == b"a":
        keep()
    print(".", flush=True)
"""


def test_python(start, tmp_path):
    program = start(PYTHON, "-c", PYTHON_PROGRAM)
    program.do("a")
    program.attach()
    program.do("aaa")
    program.detach()
    program.do("a")
    program.quit()
    leaks = report(tmp_path / "trace.bin", command="leaks", options=["--top", "0"])["unfreed"]["sites"]
    assert sum(site["blocks"] for site in leaks if "keep" in functions(site["stack"]) and site["bytes"] >= BLOCK) == 30


LEAK = """
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) static void *lose(void)
{
	return malloc(1000);
}

int main(void)
{
	for (;;) {
		((volatile char *)lose())[0] = 1;
		free(malloc(3000));
		usleep(2000);
	}
}
"""


def test_a_leak_from_before(tmp_path):
    """It is found by its growth since."""
    (tmp_path / "p.c").write_text(LEAK)
    subprocess.run(["gcc", "-g", "-O1", "-o", tmp_path / "leak", tmp_path / "p.c"], check=True)
    with subprocess.Popen([tmp_path / "leak"]) as process:
        time.sleep(0.5)
        subprocess.run([LAUNCHER, "attach", "--duration", "3s", "-o", tmp_path / "t.bin", str(process.pid)], check=True,
                       stdout=subprocess.DEVNULL, timeout=60)
        process.kill()
    (leak,) = report(tmp_path / "t.bin")["answer"]["leaks"]
    assert leak["frame"]["function"] == "lose" and leak["bytes"] == 1000 * leak["blocks"] > 0
    assert "lose" in analyze("leaks", tmp_path / "t.bin").stdout


TABLE = """
#include <stdlib.h>
#include <unistd.h>

static void **table;

__attribute__((noinline)) static void fill(int i)
{
	table[i] = malloc(500);
}

__attribute__((noinline)) static void lose(void)
{
	((volatile char *)malloc(700))[0] = 1;
}

int main(void)
{
	char c;

	table = calloc(100000, sizeof(*table));
	for (int i = 0; read(0, &c, 1) == 1 && c != 'q';) {
		for (int end = i + 100; i < end; i++) {
			fill(i);
			lose();
		}
		if (write(1, ".\\n", 2) != 2)
			return 1;
	}
	return 0;
}
"""


@pytest.mark.parametrize("attach", [True, False])
def test_leak_check_of_what_older_blocks_hold(start, tmp_path, attach):
    """The table is from before the recording: nobody knows it as a block, and what it holds is not lost."""
    (tmp_path / "p.c").write_text(TABLE)
    subprocess.run(["gcc", "-g", "-O1", "-o", tmp_path / "table", tmp_path / "p.c"], check=True)
    program = start(tmp_path / "table", env={} if attach else {"LD_PRELOAD": str(LIBRARY), "TPROF_START": "off"})
    program.do("a")
    if attach:
        program.attach()
    else:
        program.launcher("ctl", program.pid, "start")
    program.do("aa")
    program.launcher("ctl", program.pid, "leakcheck")
    program.quit()
    found = report(tmp_path / "trace.bin", command="leaks", options=["--top", "0"])["reachability"]
    lost = {function: site["blocks"] for site in found["definitely_lost"]["sites"]
            for function in functions(site["stack"]) if function in ("fill", "lose")}
    assert set(lost) == {"lose"} and 190 <= lost["lose"] <= 200, lost


FILL = """
#include <signal.h>
#include <stdlib.h>

static volatile sig_atomic_t over;

static void end(int number)
{
	over = number;
}

/* Takes nearly all of its time in its second instruction. */
__asm__(".type kernel_fill, @function; kernel_fill: .cfi_startproc; mov %rsi, %rcx; "
        "rep stosb; ret; .cfi_endproc; .size kernel_fill, . - kernel_fill");
void kernel_fill(char *to, size_t count);

int main(void)
{
	size_t bytes = 64 << 20, sum = 0;
	char *space = malloc(bytes);

	signal(SIGTERM, end);
	while (!over)
		kernel_fill(space, bytes);
	for (size_t i = 0; i < bytes; i++)
		sum += space[i] == space[0];
	return sum != bytes;
}
"""


def test_in_the_first_instructions_of_an_op(tmp_path):
    """They can't be moved while the thread is there. It goes on, and the report names the function."""
    (tmp_path / "p.c").write_text(FILL)
    subprocess.run(["gcc", "-O1", "-o", tmp_path / "fill", tmp_path / "p.c"], check=True)
    with subprocess.Popen([tmp_path / "fill"]) as process:
        time.sleep(0.3)
        for _ in range(5):
            subprocess.run([LAUNCHER, "attach", "--ops", "kernel_*", "-o", tmp_path / "t.bin", str(process.pid)], check=True,
                           stdout=subprocess.DEVNULL, timeout=60)
            subprocess.run([LAUNCHER, "detach", str(process.pid)], check=True, stdout=subprocess.DEVNULL, timeout=60)
        process.terminate()
    assert process.returncode == 0
    refused_there = "the program is in its first instructions just now"
    assert refused_there in analyze("info", tmp_path / "t.bin.old").stdout + analyze("info", tmp_path / "t.bin").stdout


# ---- what is refused, with the reason, and leaves the program as it was ----

def refused(program, status=1):
    said = program.attach(status=status)
    assert said.startswith("tprof: "), said
    return said


def test_stopped(start):
    program = start()
    os.kill(program.pid, signal.SIGSTOP)
    assert "is stopped; kill -CONT" in refused(program)
    os.kill(program.pid, signal.SIGCONT)
    program.do("a")
    program.quit()


def test_traced_by_another(start):
    program, libc = start(), ctypes.CDLL(None, use_errno=True)
    program.do("a")
    assert libc.ptrace(PTRACE_SEIZE, program.pid, None, None) == 0
    assert f"is traced by {pathlib.Path('/proc/self/comm').read_text().strip()} (pid {os.getpid()})" in refused(program)
    program.do("a")
    libc.ptrace(PTRACE_DETACH, program.pid, None, None)


def test_started_with_it(start):
    program = start(env={"LD_PRELOAD": str(LIBRARY)})
    program.do("a")
    assert "was started with libtprof.so: tprof ctl" in refused(program)
    program.do("a")
    program.quit()


def test_static(start, tmp_path):
    (tmp_path / "p.c").write_text('#include <unistd.h>\nint main(void) { char c; while (read(0, &c, 1) == 1 && c != 113) '
                                  'if (write(1, ".\\n", 2) != 2) return 1; return 0; }\n')
    subprocess.run(["gcc", "-static", "-o", tmp_path / "static", tmp_path / "p.c"], check=True)
    program = start(tmp_path / "static")
    program.do("a")
    assert "is linked statically" in refused(program)
    program.do("a")
    program.quit()


SANDBOX = """
import ctypes, struct
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
allow = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0x7fff0000))
libc.prctl(22, 2, struct.pack("=HxxxxxxQ", 1, ctypes.addressof(allow)), 0, 0)  # PR_SET_SECCOMP
"""


def test_in_a_sandbox(start):
    program = start(PYTHON, "-c", SANDBOX + PYTHON_PROGRAM)
    program.do("a")
    assert "is in a seccomp sandbox" in refused(program)
    program.do("a")
    program.quit()


def test_no_trace_can_be_written(start, tmp_path):
    program = start()
    program.do("a")
    (tmp_path / "is-folder.bin").mkdir()
    assert "can't write the trace: " in program.attach("-o", "is-folder.bin", status=1)
    program.do("a")
    program.attach("-o", "good.bin")
    program.do("a")
    program.quit()
    assert kept(tmp_path / "good.bin")[0] == 10


def test_twice_and_not_at_all(start):
    program = start()
    program.do("a")
    assert "is not attached to" in program.detach(status=1)
    program.attach()
    assert "is attached to already" in refused(program)
    program.detach()
    assert "is not attached to" in program.detach(status=1)
    program.quit()
    assert "does not exist" in program.launcher("attach", 2 ** 22 + 1, status=1)


@pytest.mark.parametrize("words", [["attach"], ["attach", "x"], ["attach", "-1"], ["attach", "--duration", "never", "1"],
                                   ["attach", "--cpu", "many", "1"], ["detach", "--cpu", "1", "1"], ["detach"],
                                   ["run", "--duration", "1s", "true"]])
def test_wrong_usage(start, words):
    said = start().launcher(*words, status=2)
    assert said.startswith("tprof: "), said


VFORK = """
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	char c;
	pid_t child;

	while (read(0, &c, 1) == 1 && c != 'q') {
		if (c == 'v') {
			child = vfork();
			if (child == 0) {
				if (write(1, ".\\n", 2) != 2 || read(0, &c, 1) != 1)
					_exit(1);
				_exit(0);
			}
			waitpid(child, NULL, 0);
		}
		if (write(1, ".\\n", 2) != 2)
			return 1;
	}
	return 0;
}
"""


def test_in_vfork(start, tmp_path):
    """Its only thread waits in the kernel: it can't be stopped."""
    (tmp_path / "p.c").write_text(VFORK)
    subprocess.run(["gcc", "-o", tmp_path / "vfork", tmp_path / "p.c"], check=True)
    program = start(tmp_path / "vfork")
    program.do("v")
    assert "waits in the kernel, as for a disk or a child of vfork" in refused(program)
    program.do("x")  # the child's
    program.attach()
    program.do("a")
    program.detach()
    program.quit()


# ---- hooks in code, while threads run in it ----

def code_of(pid):
    """The program's own code, as it is in memory."""
    with open(f"/proc/{pid}/maps", encoding="ascii") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        ranges = [[int(at, 16) for at in line.split()[0].split("-")] for line in maps if " r-xp " in line and line.rstrip().endswith("attached_own")]
        code = []
        for low, high in ranges:
            memory.seek(low)
            code.append(memory.read(high - low))
    assert code
    return code


def own(trace):
    """Blocks of keep() that are left, calls of each kernel, and functions of the allocator that are hooked."""
    leaks = report(trace, command="leaks", options=["--top", "0"])["unfreed"]["sites"]
    hooks = report(trace, command="info")["capture"]["hooks"]["allocators"]
    kernels = {op["name"]: op["calls"] for op in report(trace, command="ops", options=["--top", "0"])["ops"] if op["name"].startswith("kernel")}
    return (sum(site["blocks"] for site in leaks if any((name or "").startswith("keep") for name in functions(site["stack"]))), kernels,
            [hook["functions"] for hook in hooks if hook["allocator"] == "jemalloc" and hook["by"] == "code"])


def test_an_allocator_and_kernels_of_its_own(start, tmp_path):
    """Three days into a run: jemalloc is linked in, kernels are static, and four threads run in both all the time."""
    program = start(WORKLOADS / "attached_own", 4)
    program.do("w")
    before = code_of(program.pid)
    for i, ops in enumerate(("kernel_asked", "off", "kernel_*", "kernel_asked")):
        program.do("w")
        said = program.attach("--ops", ops, "-o", f"{i}.bin")
        assert "hooks were written into the code of " in said and code_of(program.pid) != before
        program.do("ww")
        assert "hooks were written back into the code of " in program.detach()
        assert code_of(program.pid) == before
        program.do("w")
        blocks, kernels, hooked = own(tmp_path / f"{i}.bin")
        assert blocks == 20 and len(hooked) == 1 and hooked[0] >= 11
        assert kernels.get("kernel_asked") == (None if ops == "off" else 2000)
        assert ("kernel_churn" in kernels) == (ops == "kernel_*")
    program.quit()


def test_a_sleep_goes_on(start):
    """The stop interrupts it, and what is called meanwhile takes time: it is as long as without."""
    program = start(WORKLOADS / "attached_own", 2)
    for _ in range(6):
        program.process.stdin.write(b"s")
        program.attach("--ops", "kernel_*")
        program.detach()
        assert program.process.stdout.readline() == b".\n"
    program.quit()


def test_hooks_in_code_come_and_go(start):
    """At random instants, in functions that four threads call without a break: none of them ever runs half a hook."""
    program, chance = start(WORKLOADS / "attached_own", 4), random.Random(11)
    program.do("w")
    before = code_of(program.pid)
    for _ in range(int(os.environ.get("ATTACHES", "15"))):
        program.attach("--ops", "kernel_*", "--alloc", chance.choice(["trace", "sample:64k", "off"]))
        program.do("w")
        time.sleep(chance.random() / 50)
        program.detach()
        time.sleep(chance.random() / 50)
    assert code_of(program.pid) == before
    program.quit()
