# SPDX-License-Identifier: Apache-2.0
"""Holds memory in known places: a helper that several lines call, a list of many blocks, a function of many small lines."""
import json  # import: no row of interest

KEPT = {}


def block(size):
    return bytearray(size)


def load():
    KEPT["table"] = block(4 << 20)  # table
    KEPT["index"] = block(2 << 20)  # index


class Layer:
    def __init__(self, size):
        self.weights = block(size)
        self.gradients = block(size)


def small():
    KEPT["a"] = bytearray(110000)
    KEPT["b"] = bytearray(110000)
    KEPT["c"] = bytearray(110000)
    KEPT["d"] = bytearray(110000)
    KEPT["e"] = bytearray(110000)


load()
KEPT["many"] = [bytearray(1000) for _ in range(3000)]  # many
KEPT["layers"] = [Layer(300000), Layer(300000)]  # layers
small()
json.dumps([])
