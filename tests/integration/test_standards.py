# SPDX-License-Identifier: Apache-2.0
"""include/tprof.h and tprof.py in programs of others: any standard of C and C++, and what their compilers complain of."""
import ast
import shutil
import subprocess

import pytest

from conftest import LIBRARY, ROOT, report

CALLS = """#include <tprof.h>
#include <tprof.h>

static const char text[] = "block";

int main(void)
{
	tprof_thread_name("main");
	tprof_stop();
	tprof_start();
	tprof_op_begin("one", NULL);
	tprof_op_detail("2x3", 12, 24);
	tprof_op_end();
	tprof_op_begin_detail("two", "layer", "4", 8, 16);
	tprof_op_end();
	tprof_mark("here");
	tprof_value("loss", 3);
	tprof_pool_alloc(NULL, text, 10);
	tprof_pool_free(text);
	tprof_pool_reset(NULL);
	%s
	tprof_step(5);
	return 0;
}
"""
IN_CXX = CALLS.replace("%s", '{ tprof::op scope("three"); tprof::recording now; }')
STRICT = ["-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Wshadow", "-Wundef", "-Werror"]
C = ["c89", "gnu89", "c99", "gnu99", "c11", "c17", "c2x"]
CXX = ["c++11", "gnu++11", "c++14", "c++17", "c++20", "c++2b"]


@pytest.mark.parametrize("compiler, standard", [*((name, one) for name in ("gcc", "clang") for one in C),
                                                *((name, one) for name in ("g++", "clang++") for one in CXX)])
def test_header(tprof, tmp_path, compiler, standard):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    cxx = "++" in compiler
    source = tmp_path / ("user.cc" if cxx else "user.c")
    source.write_text(IN_CXX if cxx else CALLS.replace("%s", ""))
    more = ["-Wold-style-cast"] if cxx else ["-Wstrict-prototypes"]
    subprocess.run([compiler, f"-std={standard}", *STRICT, *more, f"-I{ROOT / 'include'}", "-o", tmp_path / "user", source],
                   check=True)
    assert tprof.run([tmp_path / "user"]).status == 0
    ops = report(tprof.run([tmp_path / "user"], [LIBRARY]).traces()[0], command="ops")["ops"]
    assert {op["name"] for op in ops} == {"one", "two", *(["three"] if cxx else [])}


def test_python_file_is_of_python_3_9():
    text = (ROOT / "scripts/tprof.py").read_text(encoding="utf-8")
    ast.parse(text, feature_version=(3, 9))
    with pytest.raises(SyntaxError):
        ast.parse(text + "\nmatch 1:\n    case 1: pass\n", feature_version=(3, 9))
