# SPDX-License-Identifier: Apache-2.0
# The collector's pieces outside the preloaded library: unit tests (tests/unit/preload_*_test.c), and threads that hammer
# its tables under ThreadSanitizer (tests/stress). Built as any program is: sanitizers use vector registers.
HARNESS_SRC := $(filter-out preload/hooks/% preload/stacks/verify.c preload/core/memory.c,$(filter %.c,$(PRELOAD_SRC))) \
	preload/hooks/python/lines.c preload/hooks/ops/parameters.c preload/hooks/ops/qualify.c
HARNESS_OBJ := $(HARNESS_SRC:%=$(B)/harness/%.o)
# ThreadSanitizer does not know fences: what they order beyond acquire and release is not checked.
HARNESS_FLAGS := -std=gnu11 -DTPC_ASSERTIONS=2 -fno-builtin-malloc -Iinclude -Ipreload $(SAN) $(if $(TSAN),-Wno-tsan)

$(B)/harness/preload/%.c.o: preload/%.c $(FLAGS) scripts/stress.mk
	@mkdir -p $(@D)
	$(call say,CC  ,$< (harness))
	$(Q)$(CC) $(DEFS) $(WARN) $(OPT) $(HARNESS_FLAGS) $(DEP) -c $< -o $@
$(B)/libharness.a: $(HARNESS_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(B)/tests/unit/preload_%.c.o: tests/unit/preload_%.c $(FLAGS)
	@mkdir -p $(@D)
	$(call say,CC  ,$<)
	$(Q)$(CC) $(DEFS) $(WARN) $(OPT) $(HARNESS_FLAGS) $(DEP) -c $< -o $@
$(B)/tests/unit/preload_%: $(B)/tests/unit/preload_%.c.o $(B)/libharness.a
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ -ldw -lelf -liberty -lZydis -lcmocka
-include $(HARNESS_OBJ:.o=.d)

# make tsan: each tests/stress/NAME_stress.c under ThreadSanitizer. harness.c stands in for the trace file.
STRESS_SRC := $(wildcard tests/stress/*_stress.c)
STRESS_BIN := $(STRESS_SRC:%.c=$(B)/%)
STRESS_OBJ := $(filter-out %/core/output.c.o %/core/chunk.c.o %/core/batch.c.o %/core/ring.c.o,$(HARNESS_OBJ)) $(B)/harness/preload/hooks/memory/sample.c.o
$(B)/tests/stress/%: tests/stress/%.c tests/stress/harness.c tests/stress/harness.h $(STRESS_OBJ)
	@mkdir -p $(@D)
	$(call say,LD  ,$@)
	$(Q)$(CC) $(DEFS) $(WARN) $(OPT) $(HARNESS_FLAGS) $(LDFLAGS) -o $@ $(filter %.c %.o,$^) -lpthread
$(B)/tests/stress/shapes_stress: $(patsubst %,$(B)/harness/preload/hooks/ops/%.c.o,names shapes tensors)
$(B)/tests/stress/codes_stress: $(patsubst %,$(B)/harness/preload/hooks/python/%.c.o,codes strings)
# This one has a real trace file, and says itself when the disk is full.
$(B)/tests/stress/spill_stress: tests/stress/spill_stress.c tests/stress/harness.h $(HARNESS_OBJ)
	@mkdir -p $(@D)
	$(call say,LD  ,$@)
	$(Q)$(CC) $(DEFS) $(WARN) $(OPT) $(HARNESS_FLAGS) $(LDFLAGS) -Wl,--wrap=tpc_reserve_space,--wrap=tpc_reserve_map -o $@ $(filter %.c %.o,$^) -lpthread

.PHONY: tsan stress
unit: stress
$(B)/tests/unit/roundtrip_test: | $(B)/tests/stress/events_stress
stress: $(STRESS_BIN)
	@set -e; for test in $(STRESS_BIN); do echo "== $${test##*/}"; $$test; done
tsan:
	$(MAKE) TSAN=1 stress
