# SPDX-License-Identifier: Apache-2.0
"""Python's frames, whichever way the interpreter was started, whoever looks on, whichever thread goes on with what."""
import ctypes.util
import shutil
import subprocess
import sysconfig
import zipfile

import pytest
from conftest import LIBRARY, PYTHON, WORKLOADS, nothing_lost, report
from second_reader import Trace
from test_python import PROGRAMS, PYTHONS, told


WATCHERS = ["nobody", "settrace", "setprofile", "cProfile", "monitoring", "faulthandler"]


@pytest.mark.parametrize("python", PYTHONS)
def test_while_others_look_on(tprof, python):
    """Tracing, profiling, monitoring take other ways through the interpreter; generators and coroutines go on in threads that
    did not begin them."""
    for who in WATCHERS:
        run, summary = tprof.summary([python, PROGRAMS / "python_watched.py", who])
        told(run, summary, 60)


def test_ways_to_start(tprof):
    """A script, a command line, standard input, a module, an archive; and what the interpreter says meanwhile."""
    program = PROGRAMS / "python_watched.py"
    path = {"PYTHONPATH": str(PROGRAMS)}
    archive = tprof.directory / "program.pyz"
    with zipfile.ZipFile(archive, "w") as out:
        out.write(program, "__main__.py")
    isolated = f"import sys; sys.path.insert(0, {str(PROGRAMS)!r})\nimport python_watched"
    for command in (["-c", program.read_text()], ["-m", "python_watched"], [archive], ["-X", "dev", program], ["-O", program],
                    ["-I", "-c", isolated]):
        run, summary = tprof.summary([PYTHON, *command], env=path)
        told(run, summary, 60)
    with open(program, "rb") as source:
        for command in (["-"], ["-X", "importtime", program]):  # which tells times
            run = tprof.run([PYTHON, *command], [LIBRARY], path, stdin=source)
            assert run.status == 0, run.stderr
            told(run, report(run.traces()[0]), 60)


EMBEDDING = r"""
#include <Python.h>
#include <pthread.h>

static const char *program;

static void *other_thread(void *text)
{
	PyGILState_STATE state = PyGILState_Ensure();

	PyRun_SimpleString(text);
	PyGILState_Release(state);
	return NULL;
}

/* Twice, as its own host does. The second interpreter stands where the first one stood. */
int main(int argc, char **argv)
{
	for (int round = 0; round < 2; round++) {
		pthread_t thread;
		PyThreadState *kept;

		if (round)
			Py_Finalize();
		Py_InitializeEx(0);
		PyRun_SimpleString("import sys; sys.path.insert(0, sys.argv[1] if len(sys.argv) > 1 else '" FOLDER "')\n"
				   "from python_notes import note, notes, tell\n"
				   "def called(n): return called(n - 1) if n else note()\n");
		if (round)
			PyRun_SimpleString("notes.append((0, [], 0)); notes.clear(); import python_notes; python_notes.FIRST = 3000001");
		PyRun_SimpleString("called(0); called(12)");
		{
			PyObject *module = PyImport_AddModule("__main__");
			PyObject *result = PyObject_CallMethod(module, "called", "i", 5);

			Py_XDECREF(result);
		}
		kept = PyEval_SaveThread();
		pthread_create(&thread, NULL, other_thread, "called(3)\nsorted([2, 1], key=note)");
		pthread_join(thread, NULL);
		PyEval_RestoreThread(kept);
		PyRun_SimpleString(round ? "import os; os.environ['TRUTH_FILE'] += '.2'; tell()" : "tell()");
	}
	return 0;
}
"""


@pytest.mark.skipif(not shutil.which("python3.11-config"), reason="Python's headers are not installed")
def test_embedded(tprof):
    """A C program that has the interpreter as a library, calls it in several ways, and ends it and begins anew."""
    source, program = tprof.directory / "embedding.c", tprof.directory / "embedding"
    source.write_text(EMBEDDING)
    flags = [flag for what in ("--includes", "--ldflags") for flag in
             subprocess.run(["python3.11-config", what, "--embed"], stdout=subprocess.PIPE, check=True).stdout.decode().split()]
    subprocess.run(["gcc", "-O1", f'-DFOLDER="{PROGRAMS}"', source, "-o", program, *flags], check=True)
    run, summary = tprof.summary([program])
    trace, nodes = told(run, summary, 4)
    second = run.truth(".2")
    assert len(second) >= 4
    for size, frames, _ in second:
        assert [list(frame) for frame in trace.python_stack(nodes[size])] == frames


LIBPYTHON = ctypes.util.find_library("python" + sysconfig.get_config_var("LDVERSION"))
A_LIFE = """
def inner(size):
    kept.append(bytearray(size))

def outer(size):
    inner(size)

kept = []
outer({size})
"""


@pytest.mark.skipif(not LIBPYTHON, reason="Python's shared library is not installed")
@pytest.mark.parametrize("python", ["1", "alloc"])
def test_loaded(tprof, python):
    """A program that loads the interpreter and asks for its functions: it is known from its first instruction on, and needs no
    further call of the loader's. In each of its lives."""
    sizes = [1000000, 2000000, 3000000]
    run, summary = tprof.summary([WORKLOADS / "python_loaded", LIBPYTHON, *(A_LIFE.format(size=size) for size in sizes)],
                                 env={"TPROF_PYTHON": python})
    nothing_lost(summary)
    assert summary["heap"]["unmatched_frees"] == 0
    trace = Trace(run.traces()[0].read_bytes())
    nodes = {event[3]: event[4] for event in trace.events if event[1] == "alloc"}
    for size in sizes:  # and the zero behind it
        assert [tuple(frame) for frame in trace.python_stack(nodes[size + 1])] == [
            ("inner", "<string>", 3), ("outer", "<string>", 6), ("<module>", "<string>", 9)]
