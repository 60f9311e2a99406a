# SPDX-License-Identifier: Apache-2.0
# Unit tests: each tests/unit/NAME_test.c is a cmocka program. Workloads: each tests/workloads/*.c is a program that
# the integration tests profile.

# ---- unit tests and fuzzing ----
# Each tests/unit/NAME_test.c is a cmocka program on libanalyzer.a; tracegen.c, a second writer of the trace format,
# makes the traces they read.
UNIT_SRC := $(sort $(wildcard tests/unit/*_test.c))
UNIT_BIN := $(patsubst %.c,$(B)/%,$(UNIT_SRC))
UNIT_FLAGS := $(ANALYZER_FLAGS) -Itests/unit

$(B)/tests/unit/%.c.o: tests/unit/%.c
	@mkdir -p $(@D)
	$(CC) $(DEFS) $(WARN) $(OPT) $(UNIT_FLAGS) $(DEP) -c $< -o $@
$(B)/tests/unit/%: $(B)/tests/unit/%.c.o $(B)/tests/unit/tracegen.c.o $(B)/libanalyzer.a
	$(CC) $(SAN) -o $@ $^ $(ANALYZER_LIBS) -lcmocka
-include $(UNIT_BIN:=.c.d) $(B)/tests/unit/tracegen.c.d
.SECONDARY: $(UNIT_BIN:=.c.o)

.PHONY: unit
unit: $(UNIT_BIN)
	@set -e; for test in $(UNIT_BIN); do echo "== $${test##*/}"; $$test; done

# Analysis speed, in events a second.
$(B)/tests/bench/replay_bench: tests/bench/replay_bench.c $(B)/tests/unit/tracegen.c.o $(B)/libanalyzer.a
	@mkdir -p $(@D)
	$(CC) $(DEFS) $(WARN) $(OPT) $(UNIT_FLAGS) -o $@ $^ $(ANALYZER_LIBS) $(ANALYZER_MALLOC)
.PHONY: bench-replay
bench-replay: $(B)/tests/bench/replay_bench
	$<
