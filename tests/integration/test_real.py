# SPDX-License-Identifier: Apache-2.0
"""Programs that nobody here wrote: PyTorch, scikit-learn, a DataLoader with forked workers."""
import pytest
from conftest import LIBRARY, PYTHON, ROOT, analyze, installed, nothing_lost, report, sites, summaries

pytestmark = pytest.mark.real
PROGRAMS = ROOT / "tests/workloads"


def event_count(capture):
    return capture["alloc_events"] + capture["free_events"]


def test_torch_training(tprof):
    run, summary = tprof.summary([PYTHON, PROGRAMS / "torch_train.py"], timeout=600)
    capture = summary["capture"]
    assert b"accuracy" in run.stdout
    nothing_lost(summary)
    assert event_count(capture) > 1000000
    assert capture["trace_bytes"] / event_count(capture) <= 10
    assert summary["heap"]["unmatched_frees"] == 0
    assert summary["process"]["end"] == "exit" and summary["process"]["status"] == 0
    modules = {frame["module"] for site in summary["heap"]["hot_sites"] for frame in site["stack"]}
    assert any("libtorch" in str(module) for module in modules)
    assert "torch_train.py" in analyze(run.traces()[0]).stdout


def test_torch_on_a_full_disk(tprof, small_disk):
    """Most of its trace are stacks: no event refers to one that there was no room for."""
    trace = small_disk / "trace.bin"
    run = tprof.run([PYTHON, "-c", "import torch; print(torch.ones(3).sum())"], [LIBRARY], {"TPROF_OUTPUT": str(trace)})
    assert (run.status, run.stdout) == (0, b"tensor(3.)\n")
    summary = report(trace)
    assert summary["capture"]["damage"] == [] and summary["capture"]["lost"]["no_space"] > 1000000
    assert summary["heap"]["allocations"] > 50000
    assert all(site["stack"] for site in sites(trace, "hotspots"))
    assert "no stack" not in analyze("dump", trace).stdout


@pytest.mark.parametrize("allocator", ["jemalloc", "tcmalloc"])
def test_torch_on_other_allocators(tprof, allocator):
    """Their operators new and delete are seen too: as many events as under libc."""
    _, summary = tprof.summary([PYTHON, PROGRAMS / "torch_train.py"], allocator=allocator, timeout=600)
    nothing_lost(summary)
    assert summary["capture"]["alloc_events"] > 1000000
    assert summary["heap"]["unmatched_frees"] == 0


def test_sklearn_fit(tprof):
    run = tprof.profile([PYTHON, PROGRAMS / "sklearn_fit.py"], timeout=600)
    for summary in summaries(run.traces()).values():
        nothing_lost(summary)
    main = report(run.directory / "trace.bin")
    assert event_count(main["capture"]) > 100000
    # BLAS by function pointers that Cython modules hand to each other: hooked once, and nobody calls himself.
    ops = {op["name"]: op for op in main["ops"]}
    assert ops["cblas_dgemm"]["calls"] >= (300 if installed("scikit-learn") < (1, 6) else 100)
    assert ops["cblas_dgemm"]["flop"] > 10**8
    assert ops["ddot"]["calls"] >= 1000
    assert main["heap"]["unmatched_frees"] == 0


def test_dataloader_with_forked_workers(tprof):
    run = tprof.profile([PYTHON, PROGRAMS / "torch_loader.py"], timeout=600)
    found = summaries(run.traces())
    assert len(found) >= 5  # main, and two workers in each of two epochs
    for summary in found.values():
        nothing_lost(summary)
        assert summary["heap"]["unmatched_frees"] == 0
    workers = [s for s in found.values() if s["heap"]["inherited_frees"]]
    assert len(workers) >= 4


def test_oracle_agrees_on_torch(tprof):
    """Each call that torch makes, single-threaded: the oracle behind tprof counts the same."""
    run, counted = tprof.oracle([PYTHON, "-c", "import torch; torch.set_num_threads(1); print(torch.ones(3).sum())"],
                                with_tprof=True)
    heap = report(run.traces()[0])["heap"]
    assert heap["allocations"] == counted["allocations"]
    assert heap["frees"] == counted["frees"]
    assert heap["end_blocks"] == counted["end_blocks"]
