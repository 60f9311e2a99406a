# SPDX-License-Identifier: Apache-2.0
"""What python_through.py draws from: the list of ways, each of which puts itself there, and what goes on whatever it is asked."""
import functools

from python_notes import note

WAYS = []


def way(function):
    WAYS.append(function)
    return function


class Thing:
    """Whatever is asked of it, it goes on."""

    def __init__(self, go, value=1):
        self.go, self.value = go, value

    def __call__(self, *_, **__):
        return self.go()

    def __lt__(self, other):
        self.go()
        return self.value < getattr(other, "value", 0)

    def __eq__(self, other):
        self.go()
        return self is other

    def __hash__(self):
        self.go()
        return 7

    def __bool__(self):
        self.go()
        return True

    def __len__(self):
        self.go()
        return 3

    def __index__(self):
        self.go()
        return 2

    def __add__(self, other):
        self.go()
        return self

    __radd__ = __iadd__ = __matmul__ = __add__

    def __contains__(self, item):
        self.go()
        return True

    def __getitem__(self, item):
        self.go()
        if item == 3:
            raise IndexError
        return item

    def __setitem__(self, item, value):
        self.go()

    def __delitem__(self, item):
        self.go()

    def __format__(self, spec):
        self.go()
        return spec

    def __repr__(self):
        self.go()
        return "Thing"

    def __reversed__(self):
        self.go()
        return iter((1,))

    def __reduce__(self):
        self.go()
        return int, ()

    def __copy__(self):
        self.go()
        return self

    def __instancecheck__(self, other):
        self.go()
        return True

    def __getattr__(self, name):
        if name in ("go", "value") or name.startswith("__"):
            raise AttributeError(name)
        self.go()
        return name

    def __setattr__(self, name, value):
        if name == "other":
            self.go()
        object.__setattr__(self, name, value)

    def __enter__(self):
        self.go()

    def __exit__(self, *_):
        note()
        return True

    @property
    def seen(self):
        return self.go()

    @functools.cached_property
    def once(self):
        return self.go()
