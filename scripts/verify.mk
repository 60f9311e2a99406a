# SPDX-License-Identifier: Apache-2.0
# Programs whose every walk is compared with libunwind's (tests/integration/test_verify.py): each with both compilers, at
# each level, with frame pointers and without. Their names: PROGRAM-COMPILER-LEVEL-fp or -nofp.
VERIFY := $(BUILD)/workloads/verify
VERIFY_VARIANTS := $(foreach c,gcc clang,$(foreach o,O0 O1 O2 O3,$(foreach f,fp nofp,$(c)-$(o)-$(f))))
VERIFY_PROGRAMS := $(foreach p,stack exceptions tree anywhere,$(VERIFY_VARIANTS:%=$(VERIFY)/$(p)-%)) \
	$(addprefix $(VERIFY)/openmp-gcc-,O0 O2 O3) $(addprefix $(VERIFY)/by_register-,gcc-O0-fp gcc-O2-nofp clang-O2-nofp) \
	$(VERIFY)/no_rules-gcc-O2-fp

verify_words = $(subst -, ,$(notdir $(@:.so=)))
verify_cc = $(word 2,$(verify_words))
verify_flags = -$(word 3,$(verify_words)) $(if $(filter %-fp,$(@:.so=)),-fno-omit-frame-pointer,-fomit-frame-pointer) \
	-D_GNU_SOURCE -g1 -fno-builtin-malloc -fno-builtin-free -Wall -Wextra $(if $(WERROR),-Werror) -Wno-vla -Itests/workloads

$(VERIFY)/quiet_note.o: tests/stress/quiet_note.c
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)gcc -std=gnu11 -O1 -Itests/workloads -c $< -o $@
$(VERIFY)/stack-%: tests/workloads/stack.c $(VERIFY)/quiet_note.o $(workload_headers)
	$(call say,CC  ,$@)
	$(Q)$(verify_cc) -std=gnu11 $(verify_flags) -o $@ $(filter %.c %.o,$^)
$(VERIFY)/tree-%: tests/stress/tree.c scripts/verify.mk
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)$(verify_cc) -std=gnu11 $(verify_flags) -o $@ $<
$(VERIFY)/anywhere-%: tests/stress/anywhere.c scripts/verify.mk
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)$(verify_cc) -std=gnu11 $(verify_flags) -o $@ $<
$(VERIFY)/no_rules-%: tests/stress/no_rules.c scripts/verify.mk
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)$(verify_cc) -std=gnu11 $(verify_flags) -o $@ $<
# Bound lazily: that is a part of what it is about.
$(VERIFY)/by_register-%: tests/stress/by_register.c scripts/verify.mk
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)$(verify_cc) -std=gnu11 $(verify_flags) -fno-builtin-labs -Wl,-z,lazy -o $@ $<
$(VERIFY)/openmp-%: tests/stress/openmp.c scripts/verify.mk
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)$(verify_cc) -std=gnu11 $(verify_flags) -fopenmp -o $@ $<
$(VERIFY)/exceptions-%: tests/workloads/exceptions.cc $(VERIFY)/quiet_note.o $(workload_headers)
	$(call say,CC  ,$@)
	$(Q)$(if $(filter gcc,$(verify_cc)),g++,clang++) -std=c++17 $(verify_flags) -o $@ $(filter %.cc %.o,$^)

# The same as libraries, whose frame rules are read row by row (tests/unit/preload_cfi_test.c).
CFI_LIBRARIES := $(foreach p,stack tree anywhere,$(VERIFY_VARIANTS:%=$(VERIFY)/lib$(p)-%.so))
$(VERIFY)/libstack-%.so: tests/workloads/stack.c tests/stress/quiet_note.c $(workload_headers)
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)$(cfi_cc) -o $@ $(filter %.c,$^)
$(VERIFY)/libtree-%.so: tests/stress/tree.c scripts/verify.mk
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)$(cfi_cc) -o $@ $<
$(VERIFY)/libanywhere-%.so: tests/stress/anywhere.c scripts/verify.mk
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)$(cfi_cc) -o $@ $<
cfi_cc = $(verify_cc) -std=gnu11 $(verify_flags) -shared -fPIC

# The same with all unwind tables in .debug_frame.
DEBUG_FRAME_LIBRARIES := $(CFI_LIBRARIES:$(VERIFY)/%=$(BUILD)/workloads/debug_frame/%)
$(DEBUG_FRAME_LIBRARIES): verify_flags += -g -fno-asynchronous-unwind-tables -fno-unwind-tables
$(BUILD)/workloads/debug_frame/libstack-%.so: tests/workloads/stack.c tests/stress/quiet_note.c $(workload_headers)
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)$(cfi_cc) -o $@ $(filter %.c,$^)
$(BUILD)/workloads/debug_frame/lib%.so: tests/stress/*.c scripts/verify.mk
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)$(cfi_cc) -o $@ tests/stress/$(word 1,$(subst -, ,$*)).c

workloads: $(CFI_LIBRARIES) $(DEBUG_FRAME_LIBRARIES)
workloads: $(VERIFY_PROGRAMS) $(B)/lib/libtprof-verify.so
