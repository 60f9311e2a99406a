# SPDX-License-Identifier: Apache-2.0
"""MPI: all that communicates is an operator, by C and by Fortran. Open MPI's Fortran functions do the work themselves,
MPICH's call the C ones."""
import pytest

from conftest import LIBRARY, WORKLOADS, report


def profile(tprof, command):
    run = tprof.run(command, [LIBRARY], {"TPROF_OPS": "mpi", "TPROF_CHILDREN": "0"})
    assert run.status == 0, run.stderr
    ops = report(run.traces()[0], command="ops", options=["--top", "0"])["ops"]
    assert {op["category"] for op in ops} == {"mpi"}
    return run, {op["name"]: op["calls"] for op in ops}


@pytest.mark.parametrize("library", ["openmpi", "mpich"])
def test_each_way_to_communicate(tprof, library):
    """Also persistent, one-sided, among neighbours, and matched probes; not what asks for a state (MPI_Comm_rank)."""
    run, ops = profile(tprof, [WORKLOADS / f"mpi_calls-{library}", 3])
    truth = dict(line.split() for line in run.stdout.decode().splitlines())
    assert len(truth) > 50 and {"MPI_Iscan", "MPI_Ineighbor_alltoall", "MPI_Issend", "MPI_Mprobe"} < set(truth)
    assert ops == {name: int(calls) for name, calls in truth.items()}


@pytest.mark.parametrize("library,suffix", [("openmpi", "_f08_"), ("mpich", "_f08ts_")])
@pytest.mark.parametrize("times", [3, 5000])  # the latter are folded
def test_fortran(tprof, library, suffix, times):
    """By mpif.h, `use mpi` and `use mpi_f08`. The C function that a Fortran one calls is no further call."""
    _, ops = profile(tprof, [WORKLOADS / f"mpi_fortran-{library}", times])
    names = ["mpi_irecv_", "mpi_send_", "mpi_wait_", "mpi_barrier_", "mpi_exscan_", f"mpi_allreduce{suffix}"]
    assert ops == dict.fromkeys(names, times)


@pytest.mark.parametrize("times", [3, 5000])
def test_names(tprof, times):
    """As compilers and libraries have them; and the C functions, called by the program itself in between."""
    _, ops = profile(tprof, [WORKLOADS / "mpi_names", times])
    names = ["mpi_send", "mpi_send_", "mpi_send__", "MPI_SEND", "MPI_SEND_", "mpi_send_f08_", "mpi_send_f08ts_",
             "mpi_send_f08ts_large_", "MPI_Send_f08", "MPI_Send_f", "MPI_Send_fts", "MPI_Send_c"]
    assert ops == {**dict.fromkeys(names, times), "MPI_Send": 2 * times + 1}
