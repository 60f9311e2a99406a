# SPDX-License-Identifier: Apache-2.0
# Unit tests: each tests/unit/NAME_test.c is a cmocka program. Workloads: each tests/workloads/*.c is a program that
# the integration tests profile.

# ---- unit tests and fuzzing ----
# Each tests/unit/NAME_test.c is a cmocka program on libanalyzer.a; tests/tracegen, a second writer of the
# trace format, makes the traces they read.
UNIT_SRC := $(sort $(wildcard tests/unit/*_test.c))
UNIT_BIN := $(patsubst %.c,$(B)/%,$(UNIT_SRC))
UNIT_FLAGS := $(ANALYZER_FLAGS) -Itests/unit -Itests/tracegen -Itests/workloads
TRACEGEN := $(patsubst %.c,$(B)/%.c.o,$(wildcard tests/tracegen/*.c))

define unit_object
@mkdir -p $(@D)
$(call say,CC  ,$<)
$(Q)$(CC) $(DEFS) $(WARN) $(OPT) $(UNIT_FLAGS) $(DEP) -c $< -o $@
endef
$(B)/tests/unit/%.c.o: tests/unit/%.c $(FLAGS) scripts/tests.mk
	$(unit_object)
$(B)/tests/tracegen/%.c.o: tests/tracegen/%.c $(FLAGS) scripts/tests.mk
	$(unit_object)
# Of the allocator that the analyzer has.
$(B)/tests/unit/aside_test: UNIT_MALLOC := $(ANALYZER_MALLOC)
$(B)/tests/unit/%: $(B)/tests/unit/%.c.o $(TRACEGEN) $(B)/libanalyzer.a
	$(call say,LD  ,$@)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ $(ANALYZER_LIBS) $(UNIT_MALLOC) -lcmocka
-include $(UNIT_BIN:=.c.d) $(TRACEGEN:.o=.d)
.SECONDARY: $(UNIT_BIN:=.c.o)

.PHONY: unit
unit: $(UNIT_BIN)
	@set -e; for test in $(UNIT_BIN); do echo "== $${test##*/}"; $$test; done

# A tprof-analyze that saves and loads each replay every few events: tests/integration/test_cut.py.
CUT := $(B)/tests/cut/tprof-analyze-cut
$(B)/tests/cut/cut.c.o: tests/cut/cut.c
	$(unit_object)
$(CUT): $(B)/analyzer/main.c.o $(B)/tests/cut/cut.c.o $(B)/libanalyzer.a
	$(call say,LD  ,$@)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -Wl,--wrap=tpa_replay_steps -Wl,--wrap=tpa_replay_step -o $@ $^ $(ANALYZER_LIBS) $(ANALYZER_MALLOC)
-include $(B)/tests/cut/cut.c.d

# Analysis speed, in events a second.
$(B)/tests/bench/replay_bench: tests/bench/replay_bench.c $(TRACEGEN) $(B)/libanalyzer.a
	@mkdir -p $(@D)
	$(call say,LD  ,$@)
	$(Q)$(CC) $(DEFS) $(WARN) $(OPT) $(UNIT_FLAGS) -o $@ $^ $(ANALYZER_LIBS) $(ANALYZER_MALLOC)
.PHONY: bench-replay
bench-replay: $(B)/tests/bench/replay_bench
	$<

# The reader and the replay under libFuzzer. The seeds in tests/fuzz/corpus are what make_corpus writes, and what earlier
# runs found; new finds go to build/ and, made small, into the tree.
FUZZ_SECONDS ?= 20
FUZZ_DIR := $(BUILD)/fuzz
# A damaged saved state may hold a bool that is neither 0 nor 1: it counts as true.
FUZZ_FLAGS := -std=gnu11 -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=bool -fno-sanitize-recover=undefined \
	-Iinclude -Ianalyzer
# The roofline needs the machine: nothing of a trace goes there.
FUZZ_SRC := $(shell find analyzer/base analyzer/compact analyzer/trace analyzer/model -name '*.c' | sort)
FUZZ_OBJ := $(patsubst %.c,$(FUZZ_DIR)/%.o,$(FUZZ_SRC))

$(FUZZ_DIR)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC  ,$< (fuzz))
	$(Q)clang $(DEFS) $(FUZZ_FLAGS) $(DEP) -c $< -o $@
FUZZ_TARGETS := $(FUZZ_DIR)/trace_fuzz $(FUZZ_DIR)/state_fuzz $(FUZZ_DIR)/jitdump_fuzz
$(FUZZ_TARGETS): $(FUZZ_DIR)/%: $(FUZZ_DIR)/tests/fuzz/%.o $(FUZZ_OBJ)
	$(call say,LD  ,$@)
	$(Q)clang -fsanitize=fuzzer,address,undefined -o $@ $^ -lzstd -lm
$(B)/tests/fuzz/make_corpus: tests/fuzz/make_corpus.c $(TRACEGEN)
	@mkdir -p $(@D)
	$(call say,LD  ,$@)
	$(Q)$(CC) $(DEFS) $(WARN) $(OPT) $(UNIT_FLAGS) -o $@ $^
-include $(FUZZ_OBJ:.o=.d) $(patsubst $(FUZZ_DIR)/%,$(FUZZ_DIR)/tests/fuzz/%.d,$(FUZZ_TARGETS))

.PHONY: fuzz fuzz-corpus
fuzz-corpus: $(B)/tests/fuzz/make_corpus
	$< tests/fuzz/corpus
# Saved replays, in half of the time; jitdumps, in a quarter: tests/workloads/jitdump wrote the seeds.
fuzz: $(FUZZ_TARGETS)
	@mkdir -p $(FUZZ_DIR)/found $(FUZZ_DIR)/found-state $(FUZZ_DIR)/found-jitdump
	$(FUZZ_DIR)/state_fuzz -max_total_time=$$(($(FUZZ_SECONDS) / 2 + 1)) -max_len=32768 -timeout=10 -rss_limit_mb=2048 \
		-artifact_prefix=$(FUZZ_DIR)/state- $(FUZZ_DIR)/found-state tests/fuzz/corpus
	$(FUZZ_DIR)/jitdump_fuzz -max_total_time=$$(($(FUZZ_SECONDS) / 4 + 1)) -max_len=8192 -timeout=5 -rss_limit_mb=1024 \
		-artifact_prefix=$(FUZZ_DIR)/jitdump- $(FUZZ_DIR)/found-jitdump tests/fuzz/corpus-jitdump
	$(FUZZ_DIR)/trace_fuzz -max_total_time=$(FUZZ_SECONDS) -max_len=32768 -timeout=5 -rss_limit_mb=1024 -print_final_stats=1 \
		-artifact_prefix=$(FUZZ_DIR)/ $(FUZZ_DIR)/found tests/fuzz/corpus
