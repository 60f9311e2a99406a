# SPDX-License-Identifier: Apache-2.0
"""A fleet in ClickHouse, by its HTTP interface: on one server, or on several as the shards of a cluster."""
import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request

from engine import Engine, Result, quoted
from errors import Refused
from tables import ORDER, names

JOURNAL = "loading"  # runs of which rows may be there
BLOCK = 1 << 20
# Standard SQL: a JOIN without a word before it, and NULL where it finds nothing. An INSERT has reached its shards when it ends.
SETTINGS = {"join_default_strictness": "ALL", "join_use_nulls": 1, "insert_distributed_sync": 1, "wait_end_of_query": 1,
            "output_format_json_quote_64bit_integers": 0}
# The loader's connection is meant for these hosts, not for a proxy.
_OPEN = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


def _blocks(lines):
    """Lines of text as blocks of bytes."""
    parts, size = [], 0
    for line in lines:
        parts.append(line)
        size += len(line)
        if size >= BLOCK:
            yield "".join(parts).encode()
            parts, size = [], 0
    if parts:
        yield "".join(parts).encode()


class ClickHouse(Engine):
    types = {"key": "String", "integer": "Nullable(Int64)", "real": "Nullable(Float64)", "text": "Nullable(String)"}

    def __init__(self, url, writing):
        options = dict(urllib.parse.parse_qsl(url.query))
        user, _, where = url.netloc.rpartition("@")
        name, _, password = user.partition(":")
        self.hosts = [host if ":" in host else f"{host}:8123" for host in where.split(",") if host]
        self.database, self.cluster = url.path.strip("/") or "default", options.pop("cluster", None)
        self.scheme = "https" if options.pop("secure", "0") == "1" else "http"
        if options or not self.hosts or (len(self.hosts) > 1 and not self.cluster):
            raise Refused("ClickHouse: the form is clickhouse://[USER:PASSWORD@]HOST:PORT[,HOST:PORT...]/DATABASE"
                          "[?cluster=NAME][&secure=1]; several hosts are the shards of a cluster, which has a name")
        self.headers = {"X-ClickHouse-User": urllib.parse.unquote(name) or "default",
                        "X-ClickHouse-Key": urllib.parse.unquote(password)}
        self.settings = {**SETTINGS, **({} if writing else {"readonly": 2})}
        if writing:
            for host in self.hosts:
                self._ask(f'CREATE DATABASE IF NOT EXISTS "{self.database}"', host, database="default")

    def _ask(self, sql, host=None, body=None, **settings):
        parameters = {"database": self.database, **self.settings, **settings}
        if body is not None:
            parameters["query"] = sql
        request = urllib.request.Request(f"{self.scheme}://{host or self.hosts[0]}/?{urllib.parse.urlencode(parameters)}",
                                         data=sql.encode() if body is None else body, headers=self.headers, method="POST")
        try:
            with _OPEN(request, timeout=3600) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            raise Refused(f"ClickHouse: {error.read().decode('utf-8', 'replace').strip()}") from error
        except (OSError, http.client.HTTPException) as error:
            raise Refused(f"ClickHouse at {host or self.hosts[0]}: {getattr(error, 'reason', error)}") from error

    # ---- the schema: tables NAME_rows on each server, and over them NAME ----

    def execute(self, sql):
        for host in self.hosts:
            self._ask(sql, host)

    def fetch(self, sql):
        return [tuple(row) for row in self._answer(sql)["data"]]

    def _answer(self, sql):
        return json.loads(self._ask(f"{sql} FORMAT JSONCompact"))

    def table_names(self):
        return {name for name, in self.fetch("SELECT name FROM system.tables WHERE database = currentDatabase()")}

    def columns_of(self, table):
        return {name for name, in self.fetch(f"SELECT name FROM system.columns WHERE database = currentDatabase() AND table = '{table}'")}

    def _rows_of(self, table):
        return f"{table}_rows" if self.cluster else table

    def _create(self, table, column_list):
        self.execute(f'CREATE TABLE IF NOT EXISTS "{self._rows_of(table)}" ({column_list}) ENGINE = MergeTree PARTITION BY tuple() ORDER BY run')
        if self.cluster:
            self.execute(f'CREATE TABLE IF NOT EXISTS "{table}" ({column_list}) ENGINE = '
                         f'Distributed("{self.cluster}", "{self.database}", "{table}_rows", cityHash64(run))')

    def create_table(self, table):
        self._create(table, self.column_list(table))

    def create_others(self, there):
        self.execute("CREATE TABLE IF NOT EXISTS fleet_schema (version Int64) ENGINE = MergeTree PARTITION BY tuple() ORDER BY version")
        self._create(JOURNAL, "run String")

    def add_column(self, table, column, kind):
        for name in dict.fromkeys((self._rows_of(table), table)):
            self.execute(f'ALTER TABLE "{name}" ADD COLUMN "{column}" {self.types[kind]}')

    def put_view(self, name, query):
        self.execute(f"DROP TABLE IF EXISTS {name}")
        self.execute(f"CREATE VIEW {name} AS {query}")

    # ---- rows: there are no transactions ----

    def insert(self, table, runs):
        self._put(table, names(table), (line for run in runs for line in run.lines(table)))

    def _put(self, table, into, lines):
        lines = iter(lines)
        first = next(lines, None)
        if first is not None:
            self._ask(f'INSERT INTO "{table}" ({into}) FORMAT TabSeparated', body=_blocks(_chain(first, lines)))

    def begin(self, keys, replaced):
        """The journal says of which runs there may be rows: of those to be replaced, and of those whose load was interrupted."""
        begun = {key for key, in self.fetch(f"SELECT DISTINCT run FROM {JOURNAL} WHERE run IN ({quoted(keys)})")}
        if begun:
            self.delete(begun)
        self._put(JOURNAL, "run", (f"{key}\n" for key in keys if key not in begun))

    def delete(self, keys):
        """runs first, as an interrupted deletion is to leave no run that looks whole."""
        for table in reversed(ORDER):
            self.execute(f'ALTER TABLE "{self._rows_of(table)}" DELETE WHERE run IN ({quoted(keys)})')
            for host in self.hosts:
                self._wait_for_deletion(host)

    def _wait_for_deletion(self, host):
        asked = "SELECT count() FROM system.mutations WHERE database = currentDatabase() AND NOT is_done FORMAT TabSeparated"
        while int(self._ask(asked, host)):
            time.sleep(0.02)

    def query(self, sql):
        answer = self._answer(sql)
        return Result([column["name"] for column in answer["meta"]], [tuple(row) for row in answer["data"]],
                      answer["statistics"]["bytes_read"])


def _chain(first, rest):
    yield first
    yield from rest
