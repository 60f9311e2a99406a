# SPDX-License-Identifier: Apache-2.0
"""Work done by further processes, however Python makes them: each allocates a block whose size says which it was."""
import concurrent.futures
import ctypes
import multiprocessing
import subprocess
import sys

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p


def work(size):
    return bool(libc.malloc(ctypes.c_size_t(size)))


def main():
    for method, size in (("fork", 1000101), ("spawn", 1000202), ("forkserver", 1000303)):
        process = multiprocessing.get_context(method).Process(target=work, args=(size,))
        process.start()
        process.join()
        print(method, process.exitcode)
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        print("pool", list(pool.map(work, [1000404])))
    code = "import sys; sys.path.insert(0, %r); import python_processes as p; p.work(1000505)" % sys.path[0]
    print("subprocess", subprocess.run([sys.executable, "-c", code], check=True).returncode)


if __name__ == "__main__":
    main()
