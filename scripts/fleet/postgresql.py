# SPDX-License-Identifier: Apache-2.0
"""A fleet in PostgreSQL, by psycopg2."""
import contextlib
import decimal
import io

from engine import Engine, Result
from errors import Refused
from tables import EXPORTED, names

try:
    import psycopg2
except ImportError as missing:
    raise Refused("PostgreSQL needs Python's psycopg2: apt-get install python3-psycopg2") from missing

PAGE = 8192


@contextlib.contextmanager
def _explained():
    try:
        yield
    except psycopg2.Error as error:
        raise Refused(f"PostgreSQL: {str(error).strip()}") from error


class _Lines(io.RawIOBase):
    """Lines as a file, which COPY reads."""

    def __init__(self, lines):
        super().__init__()
        self.lines, self.left = lines, b""

    def readable(self):
        return True

    def read(self, size=-1):
        parts, count = [self.left], len(self.left)
        for line in self.lines:
            parts.append(line.encode())
            count += len(parts[-1])
            if 0 <= size <= count:
                break
        whole = b"".join(parts)
        self.left = whole[size:] if size >= 0 else b""
        return whole[:size] if size >= 0 else whole


class PostgreSQL(Engine):
    # Texts sort by their bytes, as in the other engines.
    types = {"key": "text COLLATE \"C\" NOT NULL DEFAULT ''", "integer": "bigint", "real": "double precision", "text": 'text COLLATE "C"'}

    def __init__(self, url, writing):
        with _explained():
            self.connection = psycopg2.connect(url, application_name="tprof-fleet")
            self.connection.set_session(readonly=not writing, autocommit=True)
            self.cursor = self.connection.cursor()
            self.cursor.execute("SET jit = off")  # to compile a query of many expressions took a minute, to run it half a second

    def close(self):
        self.connection.close()

    def execute(self, sql):
        with _explained():
            self.cursor.execute(sql)

    def fetch(self, sql):
        with _explained():
            self.cursor.execute(sql)
            return self.cursor.fetchall()

    @contextlib.contextmanager
    def transaction(self):
        """One loader at a time; others wait."""
        self.execute("BEGIN")
        try:
            if "runs" in self.table_names():
                self.execute("LOCK TABLE runs IN SHARE ROW EXCLUSIVE MODE")
            yield
            self.execute("COMMIT")
        except BaseException:
            if not self.connection.closed:
                self.connection.rollback()
                self.execute("ROLLBACK")
            raise

    def table_names(self):
        return {name for name, in self.fetch("SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()")}

    def columns_of(self, table):
        return {name for name, in self.fetch("SELECT column_name FROM information_schema.columns WHERE table_schema = "
                                             f"current_schema() AND table_name = '{table}'")}

    def create_others(self, there):
        super().create_others(there)
        # So that the queries' CAST(... AS Float64) is what it is in the others.
        if not self.fetch("SELECT 1 FROM pg_type WHERE typname = 'float64' AND typnamespace = current_schema()::regnamespace"):
            self.execute("CREATE DOMAIN Float64 AS double precision")

    def create_table(self, table):
        self.execute(f'CREATE TABLE "{table}" ({self.column_list(table)})')
        self.execute(f'CREATE {"UNIQUE " if table == "runs" else ""}INDEX ON "{table}" (run)')

    def add_column(self, table, column, kind):
        self.execute(f'ALTER TABLE "{table}" ADD COLUMN "{column}" {self.types[kind]}')

    def insert(self, table, runs):
        with _explained():
            self.cursor.copy_expert(f'COPY "{table}" ({names(table)}) FROM STDIN',
                                    _Lines(line for run in runs for line in run.lines(table)))

    def finish(self):
        """Without it the server would plan the next queries for tables that are nearly empty."""
        self.execute("ANALYZE " + ", ".join(f'"{table}"' for table in EXPORTED))

    def query(self, sql):
        rows = [tuple(map(_plain, row)) for row in self.fetch(sql)]
        return Result([column.name for column in self.cursor.description], rows)

    def bytes_read(self, sql):
        """From the table's files or their cache; it runs the query once more."""
        plan = self.fetch(f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {sql}")[0][0][0]["Plan"]
        return PAGE * (plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def _plain(value):
    """Sums of integers are numeric here."""
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value
