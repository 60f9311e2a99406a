# SPDX-License-Identifier: Apache-2.0
# Unit tests: each tests/unit/NAME_test.c is a cmocka program. Workloads: each tests/workloads/*.c is a program that
# the integration tests profile.
