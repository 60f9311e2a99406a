# SPDX-License-Identifier: Apache-2.0
"""What the tests of several export formats share."""
import collections
import importlib.util
import subprocess
import sys

from conftest import ANALYZE, LIBRARY, ROOT, WORKLOADS, analyze, peak_rss

# Text that a trace may hold: quotes, markup, separators, control characters, bytes that are no UTF-8.
HOSTILE = b'a"\\;<b>\x01\n\xff\xc0\x80\xed\xa0\x80\xc2\x85 \xe2\x82\xac'

PROGRAMS = {"hostile": r"""
#include <stdlib.h>
#include <tprof.h>
int main(void)
{
	static const char text[] = "a\"\\;<b>\x01\n\xff\xc0\x80\xed\xa0\x80\xc2\x85 \xe2\x82\xac";
	void *volatile kept;

	tprof_thread_name(text);
	tprof_op_begin(text, "layer");
	tprof_op_detail(text, 1, 2);
	kept = malloc(1000);
	tprof_mark(text);
	tprof_op_end();
	tprof_step(1);
	return kept == NULL;
}
""", "loop": r"""
#include <stdlib.h>
#include <tprof.h>
int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 0;

	for (long i = 0; i < n; i++) {
		void *volatile block;

		tprof_op_begin(i % 2 ? "odd" : "even", "layer");
		block = malloc(100);
		free(block);
		tprof_op_end();
		if (i % 100 == 0)
			tprof_step(1);
	}
	return 0;
}
""", "many": r"""
#include <stdlib.h>
static void *volatile kept;
__attribute__((noinline, noclone)) static void branch(int depth)
{
	if (!depth) {
		kept = malloc(8);
		return;
	}
	branch(depth - 1);
	__asm__ volatile("");
	branch(depth - 1);
	__asm__ volatile("");
}
int main(void)
{
	kept = malloc(10000000);
	branch(15);
	return 0;
}
"""}


def build(name, directory):
    (directory / f"{name}.c").write_text(PROGRAMS[name])
    subprocess.run(["gcc", "-O1", "-g", "-fno-builtin", f"-I{ROOT}/include", directory / f"{name}.c", "-o", directory / name], check=True)
    return directory / name


def hostile_trace(tprof, directory):
    return tprof.run([build("hostile", directory)], [LIBRARY]).traces()[0]


def digits_trace(tprof):
    """A leak, CPU time, ops of a BLAS, steps that the program does not mark."""
    return tprof.run([WORKLOADS / "digits", ROOT / "tests/workloads/data/digits.csv"], [LIBRARY], {"OPENBLAS_NUM_THREADS": "1"}).traces()[0]


def export(form, trace, output, *options):
    """The exported file."""
    done = analyze("export", "--format", form, "-o", output, *options, *(trace if isinstance(trace, list) else [trace]))
    assert done.stdout == ""
    return output


def check_memory(form, tprof, directory, room=3 << 19):
    """The analyzer needs no more memory for a trace of the same stacks that is 50 times as long."""
    program = build("loop", directory)
    traces = [tprof.run([program, count], [LIBRARY], {"TPROF_CPU": "0"}).traces()[0] for count in (4000, 200000)]
    assert traces[1].stat().st_size > 20 * traces[0].stat().st_size
    short, long = (peak_rss([ANALYZE, "export", "--format", form, "-o", directory / "exported", trace]) for trace in traces)
    assert long < short + room, (short, long)


def messages(name, directory):
    """Python's module of the messages in analyzer/export/NAME.proto."""
    folder = ROOT / "analyzer/export"
    subprocess.run(["protoc", f"-I{folder}", f"--python_out={directory}", folder / f"{name}.proto"], check=True)
    spec = importlib.util.spec_from_file_location(f"{name}_pb2", directory / f"{name}_pb2.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def by_stack(trace, what):
    """Of folded stacks: names of functions, innermost first -> bytes, or nanoseconds."""
    sums = collections.Counter()
    for line in analyze("export", "--format", "folded", "--what", what, trace).stdout.splitlines():
        stack, number = line.rsplit(" ", 1)
        sums[tuple(reversed(stack.split(";")))] += int(number)
    return dict(sums)
