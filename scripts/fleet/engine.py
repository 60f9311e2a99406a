# SPDX-License-Identifier: Apache-2.0
"""What an engine does with a fleet. Its own dialect is in sqlite.py, postgresql.py and clickhouse.py."""
import contextlib
import dataclasses
import urllib.parse

from errors import Refused
from tables import EXPORTED, ORDER, VERSION, columns, views

KEYS_AT_ONCE = 1000  # in a statement


@dataclasses.dataclass
class Result:
    columns: list
    rows: list
    bytes_read: int = 0


def quoted(keys):
    """Keys are hexadecimal digits: runs.Source refuses others."""
    return ", ".join(f"'{key}'" for key in keys)


class Engine:
    """Subclasses have: types {kind: type}; execute(sql); table_names(); columns_of(table); create_table(), add_column(),
    put_view(); fetch(sql); insert(table, runs); query(sql), whose Result says what it read."""
    types = {}

    def close(self):
        pass

    # ---- the schema ----

    def version(self):
        """None: there is no fleet, or its creation was interrupted."""
        if "fleet_schema" not in self.table_names():
            return None
        return self.fetch("SELECT max(version) FROM fleet_schema")[0][0] or None

    def check(self):
        """Refuses what this program does not read."""
        version = self.version()
        if version is None:
            raise Refused("no fleet is there: tprof-fleet load creates one")
        if version < VERSION:
            raise Refused(f"the fleet has schema {version}, and this tprof-fleet needs schema {VERSION}: "
                          "tprof-fleet load --upgrade --to URL adds what is missing and keeps all rows")
        if version > VERSION:
            raise Refused(f"the fleet has schema {version}, and this tprof-fleet knows schema {VERSION}: "
                          "install the tprof that the others who load into it have")

    def prepare(self, upgrade):
        """Creates what is not there; brings an older schema up to date if that is wanted."""
        version = self.version()
        if version is None or (upgrade and version < VERSION):
            self.build()
        self.check()

    def build(self):
        with self.transaction():
            there = self.table_names()
            self.create_others(there)
            for table in EXPORTED:
                if table not in there:
                    self.create_table(table)
                else:
                    have = self.columns_of(table)
                    for column, kind in columns(table).items():
                        if column not in have:
                            self.add_column(table, column, kind)
            for name, query in views():
                self.put_view(name, query)
            self.put_version()

    def create_others(self, there):
        if "fleet_schema" not in there:
            self.execute(f"CREATE TABLE fleet_schema (version {self.types['integer']})")

    def put_version(self):
        self.execute(f"INSERT INTO fleet_schema VALUES ({VERSION})")

    def put_view(self, name, query):
        self.execute(f"DROP VIEW IF EXISTS {name}")
        self.execute(f"CREATE VIEW {name} AS {query}")

    def column_list(self, table):
        return ", ".join(f'"{name}" {self.types[kind]}' for name, kind in columns(table).items())

    # ---- rows ----

    def transaction(self):
        return contextlib.nullcontext()

    def known(self, keys):
        """Which of these runs are there, whole."""
        return {key for start in range(0, len(keys), KEYS_AT_ONCE)
                for key, in self.fetch(f"SELECT run FROM runs WHERE run IN ({quoted(keys[start:start + KEYS_AT_ONCE])})")}

    def write(self, runs, replace=False):
        """All of the runs that are not there, or none of them. Returns how many it wrote."""
        with self.transaction():
            there = self.known([run.key for run in runs])
            if not replace:
                runs = [run for run in runs if run.key not in there]
            if runs:
                self.begin([run.key for run in runs], there if replace else ())
                for table in ORDER:
                    self.insert(table, runs)
        return len(runs)

    def begin(self, keys, replaced):
        """Before the first row of these runs, of which some may be there to be replaced."""
        if replaced:
            self.delete(replaced)

    def finish(self):
        """After the last write() of a load."""

    def delete(self, keys):
        for table in reversed(ORDER):
            self.execute(f'DELETE FROM "{table}" WHERE run IN ({quoted(keys)})')


def connect(url, writing):
    """The engine that a URL names."""
    scheme = url.partition(":")[0]
    try:
        if scheme == "sqlite":
            from sqlite import SQLite
            return SQLite(url.removeprefix("sqlite:"), writing)
        if scheme in ("postgresql", "postgres"):
            from postgresql import PostgreSQL
            return PostgreSQL(url, writing)
        if scheme == "clickhouse":
            from clickhouse import ClickHouse
            return ClickHouse(urllib.parse.urlsplit(url), writing)
    except ValueError as error:
        raise Refused(f"{url}: {error}") from error
    raise Refused(f"{url}: a fleet is at clickhouse://HOST:PORT/DATABASE, postgresql://HOST:PORT/DATABASE or sqlite:FILE")
