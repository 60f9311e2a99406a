# SPDX-License-Identifier: Apache-2.0
"""A fleet in one file."""
import contextlib
import os
import pathlib
import sqlite3

from engine import Engine, Result
from errors import Refused
from tables import columns, names


@contextlib.contextmanager
def _explained():
    try:
        yield
    except sqlite3.Error as error:
        raise Refused(f"SQLite: {error}") from error


class SQLite(Engine):
    types = {"key": "TEXT NOT NULL", "integer": "INTEGER", "real": "REAL", "text": "TEXT"}

    def __init__(self, path, writing):
        where = pathlib.Path(path).absolute().as_uri() + ("" if writing else "?mode=ro")
        with _explained():
            self.connection = sqlite3.connect(where, uri=True, isolation_level=None, timeout=600)
            if writing:
                self.execute("PRAGMA journal_mode = WAL")
                self.execute("PRAGMA synchronous = NORMAL")

    def close(self):
        self.connection.close()

    def execute(self, sql):
        with _explained():
            return self.connection.execute(sql)

    def fetch(self, sql):
        with _explained():
            return self.connection.execute(sql).fetchall()

    @contextlib.contextmanager
    def transaction(self):
        """One loader at a time; others wait."""
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:
                self.connection.rollback()
            raise

    def table_names(self):
        return {name for name, in self.fetch("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def columns_of(self, table):
        return {row[1] for row in self.fetch(f'PRAGMA table_info("{table}")')}

    def create_table(self, table):
        self.execute(f'CREATE TABLE "{table}" ({self.column_list(table)})')
        self.execute(f'CREATE {"UNIQUE " if table == "runs" else ""}INDEX "{table}_by_run" ON "{table}" (run)')

    def add_column(self, table, column, kind):
        default = " DEFAULT ''" if kind == "key" else ""
        self.execute(f'ALTER TABLE "{table}" ADD COLUMN "{column}" {self.types[kind]}{default}')

    def insert(self, table, runs):
        statement = f'INSERT INTO "{table}" ({names(table)}) VALUES ({", ".join("?" * len(columns(table)))})'
        with _explained():
            for run in runs:
                self.connection.executemany(statement, run.rows(table))

    def query(self, sql):
        before = _read_so_far()
        with _explained():
            cursor = self.connection.execute(sql)
            rows = cursor.fetchall()
        return Result([column[0] for column in cursor.description or ()], rows, _read_so_far() - before)


def _read_so_far():
    """By this process, from files or their cache."""
    try:
        with open(f"/proc/{os.getpid()}/io", encoding="ascii") as file:
            return int(file.readline().split()[1])
    except OSError:
        return 0
