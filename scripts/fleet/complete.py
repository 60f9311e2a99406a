# SPDX-License-Identifier: Apache-2.0
"""tprof-fleet help --complete WORD...: what may come in place of the last word, a line each; :files stands for files."""
import argparse

from query import names
from tables import LABELS

URLS = ["sqlite:", "postgresql://", "clickhouse://"]


def _subparsers(whole):
    return next(action for action in whole._actions if isinstance(action, argparse._SubParsersAction)).choices


def _values(option):
    if option.choices:
        return list(option.choices)
    if option.dest in ("to", "source"):
        return URLS
    return [f"{label}=" for label in LABELS] if option.dest == "label" else [":files"]


def complete(whole, words):
    commands = _subparsers(whole)
    *before, last = words or [""]
    if not before:
        return [*commands, "help", "--help", "--version"]
    if before[0] == "help":
        return list(commands) if len(before) == 1 else []
    if before[0] not in commands:
        return []
    options = {name: action for action in commands[before[0]]._actions for name in action.option_strings}
    if before[-1] in options and options[before[-1]].nargs != 0:
        return _values(options[before[-1]])
    if last.startswith("-"):
        name = last.partition("=")[0]
        if "=" in last and name in options and options[name].nargs != 0:
            return [value if value == ":files" else f"{name}={value}" for value in _values(options[name])]
        return [f"{name}\t{action.help}" for name, action in options.items() if name.startswith("--")]
    return [*(f"{name}\t{title}" for name, title in names().items()), ":files"] if before[0] == "query" else [":files"]
