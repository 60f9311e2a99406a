# SPDX-License-Identifier: Apache-2.0
"""tprof-fleet query: one of the queries, or one of the user's own, and its result as a table, CSV or JSON."""
import contextlib
import csv
import datetime
import json
import pathlib
import sys
import time

import engine
from errors import Refused
from tables import HERE

QUERIES = HERE / "queries"


def names():
    """{name: what the line below the licence says}"""
    return {path.stem: path.read_text(encoding="utf-8").split("\n")[1].removeprefix("-- ")
            for path in sorted(QUERIES.glob("*.sql"))}


def why_empty(sql):
    """What the query's text says of that."""
    said = [line.removeprefix("-- No rows: ") for line in sql.split("\n") if line.startswith("-- No rows: ")]
    return f"no rows: {said[0]}" if said else "no rows"


def text_of(name):
    """Of a query by its name, or of the file of that path; - is standard input."""
    try:
        if name == "-":
            text = sys.stdin.read()
        else:
            text = (QUERIES / f"{name}.sql" if name in names() else pathlib.Path(name)).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"'{name}' is neither a file with a query, nor one of: {' '.join(names())}") from error
    return text.rstrip().rstrip(";")


# ---- as people read it ----

def _scaled(value, units, factor):
    size, number = abs(value), 0
    while size >= factor and number < len(units) - 1:
        size, number = size / factor, number + 1
    return f"{value / factor ** number:.{0 if number == 0 else 1}f} {units[number]}"


def cell(column, value):
    """By the unit that the column's name ends with."""
    if value is None:
        return "-"
    if isinstance(value, (int, float)):
        if column.endswith("_unix_ns"):
            return f"{datetime.datetime.fromtimestamp(value / 1e9, datetime.timezone.utc):%Y-%m-%d}"
        if column.endswith("_bytes"):
            return _scaled(value, ("B", "KiB", "MiB", "GiB", "TiB", "PiB"), 1024)
        if column.endswith("_ns"):
            return _scaled(value, ("ns", "us", "ms", "s"), 1000)
        return f"{value:.3f}" if isinstance(value, float) else str(value)
    return "".join(character if character.isprintable() else "?" for character in str(value))


def _alike(value):
    """Whole numbers as such: engines differ in which sums and means are floating-point numbers."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2 ** 53 else value


def _table(result, out):
    lines = [result.columns, *([cell(*pair) for pair in zip(result.columns, row)] for row in result.rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(result.columns))]
    numbers = [any(isinstance(row[i], (int, float)) for row in result.rows) for i in range(len(result.columns))]
    for line in lines:
        out.write("  ".join(text.rjust(width) if number else text.ljust(width)
                            for text, width, number in zip(line, widths, numbers)).rstrip() + "\n")


def _csv(result, out):
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(result.columns)
    writer.writerows(result.rows)


def _json(result, out):
    json.dump([dict(zip(result.columns, row)) for row in result.rows], out, indent=1)
    out.write("\n")


FORMATS = {"table": _table, "csv": _csv, "json": _json}


def query(arguments):
    if arguments.list:
        for name, title in names().items():
            print(f"{name:22} {title}")
        return
    sql = text_of(arguments.name)
    with contextlib.closing(engine.connect(arguments.source, writing=False)) as fleet:
        fleet.check()
        begin = time.monotonic()
        result = fleet.query(sql)
        spent = time.monotonic() - begin
        if arguments.cost:
            count = result.bytes_read or getattr(fleet, "bytes_read", lambda _: 0)(sql)
            print(json.dumps({"seconds": round(spent, 4), "bytes_read": count, "rows": len(result.rows)}), file=sys.stderr)
    result.rows = [tuple(map(_alike, row)) for row in result.rows]
    FORMATS[arguments.format](result, sys.stdout)
    if not result.rows:
        print(f"tprof-fleet: {why_empty(sql)}", file=sys.stderr)
