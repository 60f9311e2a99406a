# SPDX-License-Identifier: Apache-2.0
"""Arrays of numpy in known lines."""
import numpy

rows = numpy.random.rand(2000, 500)
gram = rows.T @ rows
kept = [numpy.zeros(20000) for _ in range(50)]
