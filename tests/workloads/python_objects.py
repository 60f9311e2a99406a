# SPDX-License-Identifier: Apache-2.0
"""Objects of known sizes that live to the end: of Python's own allocator, and beyond what it keeps in arenas."""
import os

small = [bytes(67) for _ in range(1000)]
large = [bytes(5967) for _ in range(100)]
gone = [bytes(167) for _ in range(1000)]
del gone
grown = bytearray()
for _ in range(300):
    grown += b"x"
print(len(small), len(large), len(grown), flush=True)
os._exit(0)  # nothing is taken down
