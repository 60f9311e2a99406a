# SPDX-License-Identifier: Apache-2.0
class Refused(Exception):
    """What the user asked for can't be done; the text says why, and what can."""
