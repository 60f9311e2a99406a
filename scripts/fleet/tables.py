# SPDX-License-Identifier: Apache-2.0
"""The tables of a fleet: those of tprof-sql(5), each with the run that a row belongs to. All engines have these."""
import pathlib

HERE = pathlib.Path(__file__).resolve().parent

# Raised when a table or a column is added. None is ever removed, renamed or given another meaning.
VERSION = 2

RUN = "run"
LABELS = ("host", "job", "commit_id", "model", "model_version")  # of a run, by its user; empty: unknown

# As export has them. A name stands for an integer; real and text say so.
_EXPORTED = """
runs start_unix_ns duration_ns peak_bytes peak_time_ns tprof_version:text identity:text
processes process parent name:text command:text end:text start_ns duration_ns threads allocations frees allocated_bytes peak_bytes
    peak_blocks peak_time_ns unfreed_bytes unfreed_blocks rss_peak_bytes cpu_ns steps estimated trace:text host:text job:text rank
frames frame function:text file:text line module:text language:text
stacks stack parent frame depth
sites process stack allocations allocated_bytes peak_bytes peak_blocks unfreed_bytes unfreed_blocks temporary short_lived
    largest_bytes growth:real op:text function:text file:text line user_function:text user_file:text user_line
ops process op:text category:text calls total_ns self_ns mean_ns:real min_ns p50_ns p90_ns p99_ns max_ns flop self_flop bytes
    self_bytes allocated_bytes self_allocated_bytes self_allocations net_bytes peak_bytes cpu_ns
steps process step steps begin_ns end_ns time_ns high_bytes net_bytes items flop
samples process thread time_ns cpu_ns stack op:text
timeline process time_ns live_bytes live_blocks mapped_bytes rss_bytes vms_bytes
findings process verdict:text memory:text rate:real low:real high:real per:text since bytes blocks stacks stack function:text
    file:text line
ranks rank process host:text begin_ns end_ns wait_ns transfer_ns caused_wait_ns caused_wait_error_ns gain_ns critical_path_ns late_calls
    unmatched
rank_waits rank host:text late_rank late_host:text waits wait_ns
"""


def _parsed(text):
    tables = {}
    for line in text.replace("\n    ", " ").split("\n"):
        name, *columns = line.split() or [None]
        if name:
            tables[name] = {column.partition(":")[0]: column.partition(":")[2] or "integer" for column in columns}
    return tables


EXPORTED = _parsed(_EXPORTED)  # {table: {column: kind}}

# {view: (its text in views/, what stands there for {column} and {firsts})}; each reads those before it.
VIEWS = {
    "units": ("units", {}),
    "commits": ("firsts", {"column": "commit_id"}),
    "commit_sides": ("sides", {"column": "commit_id", "firsts": "commits"}),
    "versions": ("firsts", {"column": "model_version"}),
    "version_sides": ("sides", {"column": "model_version", "firsts": "versions"}),
    "process_work": ("process_work", {}),
    "host_work": ("host_work", {}),
}

# runs last: a run's row there says that all of its other rows are there.
ORDER = [*(name for name in EXPORTED if name != "runs"), "runs"]


def keys(table):
    """The columns that a fleet adds to a table: never NULL."""
    return (RUN, *LABELS) if table == "runs" else (RUN,)


def columns(table):
    """{column: kind} of a table in a fleet."""
    return {**dict.fromkeys(keys(table), "key"), **EXPORTED[table]}


def names(table):
    """The columns as an INSERT lists them: an upgrade puts new ones last."""
    return ", ".join(f'"{name}"' for name in columns(table))


def views():
    """[(name, query)]"""
    return [(name, (HERE / "views" / f"{text}.sql").read_text(encoding="utf-8").rstrip().format(**words))
            for name, (text, words) in VIEWS.items()]
