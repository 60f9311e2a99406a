# SPDX-License-Identifier: Apache-2.0
"""BLAS and LAPACK calls and their shapes, against a library underneath that counts with the functions' own prototypes."""
import collections
import subprocess

import pytest

from conftest import LIBRARY, ROOT, WORKLOADS, nothing_lost, report

# The same matrices of all shapes; per call: 2 m n k and so on, of what the C and Fortran interfaces are called for.
TIMES = 70


def counted(run):
    """op name -> shape -> calls, as the library underneath says."""
    counts = collections.defaultdict(dict)
    for line in (run.directory.parent / "counts").read_text().splitlines():
        name, rest = line.split(" ", 1)
        shape, calls = rest.rsplit(" ", 1)
        counts[name.rstrip("_")][shape] = int(calls)
    return counts


def profile(tprof, command, preload=(), **env):
    env = {"TPROF_OPS": "blas", "OPENBLAS_NUM_THREADS": "1", "COUNTS_FILE": tprof.directory / "counts", **env}
    run = tprof.run(command, [LIBRARY, *preload], {key: str(value) for key, value in env.items()})
    assert run.status == 0, run.stderr.decode(errors="replace")
    nothing_lost(report(run.traces()[0]))
    ops = {op["name"]: op for op in report(run.traces()[0], command="ops", options=["--top", "0"])["ops"]}
    return run, ops


def agree(run, ops):
    counts = counted(run)
    for name, shapes in counts.items():
        assert ops[name]["calls"] == sum(shapes.values()), name
        if len(shapes) <= 64 and not ops[name]["folded"]:  # what is folded has its sums, by powers of two
            assert {shape["shape"]: shape["calls"] for shape in ops[name]["shapes"]} == shapes, name
    return counts


def test_every_interface(tprof):
    run, ops = profile(tprof, [WORKLOADS / "blas_calls", TIMES])
    counts = agree(run, ops)
    assert run.stderr == b"" and len(counts) == 22
    assert all(len(counts[name]) <= 64 for name in ("dgesv", "dgeqrf", "dsyevd"))  # so agree() compared the shapes
    assert counts["dgeqrf"].keys() >= {"m=22 n=6 (workspace query)", "m=22 n=6"}
    bare = tprof.run([WORKLOADS / "blas_calls", TIMES], env={"OPENBLAS_NUM_THREADS": "1"})
    assert (bare.status, bare.stdout) == (run.status, run.stdout)


def test_lapack(tprof):
    """Of each routine every call and shape; asking for a workspace is no work, and what has no count has none."""
    run, ops = profile(tprof, [WORKLOADS / "lapack_calls", TIMES])
    counts = agree(run, ops)
    assert run.stderr == b"" and len(counts) == 15
    for name, shapes in counts.items():
        assert len(shapes) <= 64 and not ops[name]["folded"], name  # agree() compared the shapes
        by_shape = {shape["shape"]: shape["flop"] for shape in ops[name]["shapes"]}
        assert all(flop == 0 for shape, flop in by_shape.items() if "query" in shape), name
        assert all(flop > 0 for shape, flop in by_shape.items() if "query" not in shape), name  # or of what it called
    # By hand: 1/3 n^3 + 1/2 n^2 + 19/6 n, and 2 m^2 n - 2/3 m^3 + 2 m n + 17/3 m. What others call within themselves is more.
    for name, shape, flop in (("dsytrf", "n=4", 42), ("dgelqf", "m=3 n=8", 191)):
        assert [row["flop"] / row["calls"] for row in ops[name]["shapes"] if row["shape"] == shape] == [flop]
    bare = tprof.run([WORKLOADS / "lapack_calls", TIMES], env={"OPENBLAS_NUM_THREADS": "1"})
    assert (bare.status, bare.stdout) == (run.status, run.stdout)


def numbers(shape):
    return {part.split("=")[0]: int(part.split("=")[1]) for part in shape.split() if "=" in part}


def test_flop_of_the_products(tprof):
    """From the counts underneath, by the definition: 2 m n k, and four times that for complex numbers."""
    run, ops = profile(tprof, [WORKLOADS / "blas_calls", TIMES])
    counts = counted(run)
    for name, factor in (("cblas_sgemm", 2), ("sgemm", 2), ("cblas_dgemm", 2), ("cblas_zgemm", 8)):
        flop = sum(factor * calls * numbers(shape)["m"] * numbers(shape)["n"] * numbers(shape)["k"]
                   for shape, calls in counts[name].items())
        assert ops[name]["flop"] == flop, name
    for name, factor in (("cblas_saxpy", 2), ("cblas_zaxpy", 8), ("cblas_sscal", 1), ("cblas_dznrm2", 4)):
        assert ops[name]["flop"] == sum(factor * calls * numbers(shape)["n"] for shape, calls in counts[name].items())
    assert ops["cblas_dger"]["flop"] == sum(2 * calls * numbers(shape)["m"] * numbers(shape)["n"]
                                            for shape, calls in counts["cblas_dger"].items())


@pytest.mark.parametrize("trainer", ["digits", "mlp"])
def test_training(tprof, trainer):
    digits = WORKLOADS.parents[1] / "tests/workloads/data/digits.csv"
    command = [WORKLOADS / "digits", digits, 2] if trainer == "digits" else [WORKLOADS / "mlp", "--data", digits, "--steps", 60]
    run, ops = profile(tprof, command, [WORKLOADS / "libcountblas.so"])
    assert sum(agree(run, ops)["cblas_sgemm"].values()) >= 100


# Products of matrices that do nothing, and calls of them with integers of 64 bits.
CBLAS = ("void {0}(int order, int ta, int tb, long m, long n, long k, {1} alpha, const void *a, long lda, const void *b, long ldb, "
         "{1} beta, void *c, long ldc)", "{0}(101, 111, 112, m, n, k, {2}, x, k, x, n, {2}, x, n);")
FORTRAN = ("void {0}(const char *ta, const char *tb, const long *m, const long *n, const long *k, {1} alpha, const void *a, "
           "const long *lda, const void *b, const long *ldb, {1} beta, void *c, const long *ldc)",
           '{0}("N", "T", &m, &n, &k, {2}, x, &k, x, &n, {2}, x, &n);')
# Symbols as numpy's and scipy's wheels and distributions have them: prototype, type of a scalar, op, whether integers have 64 bits.
WHEELS = {"scipy_cblas_sgemm64_": (CBLAS, "float", "cblas_sgemm", True), "cblas_dgemm_64": (CBLAS, "double", "cblas_dgemm", True),
          "cblas_cgemm64_": (CBLAS, "const void *", "cblas_cgemm", True),
          "scipy_cblas_zgemm": (CBLAS, "const void *", "cblas_zgemm", False),
          "scipy_sgemm_64_": (FORTRAN, "const void *", "sgemm", True), "dgemm64_": (FORTRAN, "const void *", "dgemm", True),
          "cgemm_64_": (FORTRAN, "const void *", "cgemm", True), "scipy_zgemm_": (FORTRAN, "const void *", "zgemm", False)}


def test_names_of_the_wheels(tprof, tmp_path):
    """Prefixes and suffixes go, and integers are as wide as the names say: of those that are narrow, the upper half is no part."""
    functions = [prototype.format(symbol, scalar) for symbol, ((prototype, _), scalar, *_) in WHEELS.items()]
    calls = [call.format(symbol, scalar, "&one" if "*" in scalar else "1") for symbol, ((_, call), scalar, *_) in WHEELS.items()]
    (tmp_path / "library.c").write_text("".join(f"{function} {{}}\n" for function in functions))
    (tmp_path / "program.c").write_text("".join(f"{function};\n" for function in functions) + """
        int main(void)
        {
            static char x[16];
            static double one[2] = { 1, 0 };
            long m = (1L << 33) + 5, n = (1L << 34) + 7, k = (1L << 35) + 3;
        """ + "\n".join(calls) + "return 0; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", tmp_path / "library.c", "-o", tmp_path / "libwheel.so"], check=True)
    subprocess.run(["gcc", "-w", tmp_path / "program.c", "-o", tmp_path / "program", f"-L{tmp_path}", "-lwheel",
                    f"-Wl,-rpath,{tmp_path}"], check=True)
    _, ops = profile(tprof, [tmp_path / "program"])
    assert {name: op["calls"] for name, op in ops.items()} == {name: 1 for _, _, name, _ in WHEELS.values()}
    sizes = {True: {"m": (1 << 33) + 5, "n": (1 << 34) + 7, "k": (1 << 35) + 3}, False: {"m": 5, "n": 7, "k": 3}}
    assert {name: numbers(op["shapes"][0]["shape"]) for name, op in ops.items()} == {
        name: sizes[wide] for _, _, name, wide in WHEELS.values()}


def test_names_that_are_no_wheels(tprof, tmp_path):
    """A program's own cswap64() gets numbers where Fortran's swap would get pointers: without an underscore it is not that."""
    (tmp_path / "library.c").write_text(
        "void cswap64(unsigned long mask, unsigned long *a, unsigned long *b)\n"
        "{ unsigned long both = mask & (*a ^ *b); *a ^= both; *b ^= both; }\n")
    (tmp_path / "program.c").write_text("""
        void cswap64(unsigned long mask, unsigned long *a, unsigned long *b);
        int main(void)
        {
            unsigned long a = 1, b = 2;
            cswap64(0, &a, &b);
            cswap64(-1, &a, &b);
            return a != 2 || b != 1;
        }""")
    subprocess.run(["gcc", "-shared", "-fPIC", tmp_path / "library.c", "-o", tmp_path / "libswap.so"], check=True)
    subprocess.run(["gcc", tmp_path / "program.c", "-o", tmp_path / "program", f"-L{tmp_path}", "-lswap",
                    f"-Wl,-rpath,{tmp_path}"], check=True)
    _, ops = profile(tprof, [tmp_path / "program"])
    assert not ops


def test_folded_calls_of_nothing(tprof, tmp_path):
    """Vectors of no element are folded with those of one, and count as none, also in a record that began with one."""
    (tmp_path / "library.c").write_text("double cblas_ddot(int n, const double *x, int incx, const double *y, int incy)\n"
                                        "{ return n > 0 ? *x * *y * incx * incy : 0; }\n")
    (tmp_path / "program.c").write_text("""
        #include <tprof.h>
        double cblas_ddot(int n, const double *x, int incx, const double *y, int incy);
        int main(void)
        {
            double one = 1, sum = 0;
            for (int i = 0; i < 60000; i++) {
                if (i % 60 == 0)
                    tprof_step(0); /* the next call begins a record */
                sum += cblas_ddot(i % 60 == 0, &one, 1, &one, 1);
            }
            return sum != 1000;
        }""")
    subprocess.run(["gcc", "-shared", "-fPIC", tmp_path / "library.c", "-o", tmp_path / "libdot.so"], check=True)
    subprocess.run(["gcc", tmp_path / "program.c", "-o", tmp_path / "program", f"-I{ROOT}/include", f"-L{tmp_path}", "-ldot",
                    f"-Wl,-rpath,{tmp_path}"], check=True)
    _, ops = profile(tprof, [tmp_path / "program"])
    assert ops["cblas_ddot"]["calls"] == 60000 and ops["cblas_ddot"]["folded"] > 30000
    assert ops["cblas_ddot"]["flop"] == 2 * 1000


def test_conjugated_and_not_transposed(tprof, tmp_path):
    """OpenBLAS's CblasConjNoTrans and R are no transposition."""
    prototypes = [CBLAS[0].format("cblas_zgemm", "const void *"), FORTRAN[0].format("zgemm_", "const void *")]
    (tmp_path / "library.c").write_text("".join(f"{prototype} {{}}\n" for prototype in prototypes))
    (tmp_path / "program.c").write_text("".join(f"{prototype};\n" for prototype in prototypes) + """
        int main(void)
        {
            long n = 2;
            for (int i = 111; i <= 114; i++)
                cblas_zgemm(102, i, 111, n, n, n, &n, &n, n, &n, n, &n, &n, n);
            for (const char *i = "NTCRntcr"; *i; i++)
                zgemm_("N", i, &n, &n, &n, &n, &n, &n, &n, &n, &n, &n, &n);
            return 0;
        }""")
    subprocess.run(["gcc", "-shared", "-fPIC", tmp_path / "library.c", "-o", tmp_path / "libz.so"], check=True)
    subprocess.run(["gcc", tmp_path / "program.c", "-o", tmp_path / "program", f"-L{tmp_path}", "-lz",
                    f"-Wl,-rpath,{tmp_path}"], check=True)
    _, ops = profile(tprof, [tmp_path / "program"])
    shapes = {name: {shape["shape"]: shape["calls"] for shape in op["shapes"]} for name, op in ops.items()}
    assert shapes == {"cblas_zgemm": {"m=2 n=2 k=2 NN": 2, "m=2 n=2 k=2 TN": 2},
                      "zgemm": {"m=2 n=2 k=2 NN": 4, "m=2 n=2 k=2 NT": 4}}
