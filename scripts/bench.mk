# SPDX-License-Identifier: Apache-2.0
# make bench: what tprof costs, beside its peers where they are installed; a table, and $(BUILD)/bench.json. BENCH_QUICK=1 for
# a short run. The programs that it times are also those whose instructions make check counts.
BENCH_BIN := $(BUILD)/bench/pairs $(BUILD)/bench/clocks $(BUILD)/bench/calls $(BUILD)/bench/gaps $(BUILD)/bench/own_pairs

$(BUILD)/bench/%: tests/bench/%.c
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)gcc -std=gnu11 -D_GNU_SOURCE -O2 -g -fno-builtin $(WARN) $< -o $@

$(BUILD)/bench/libcalled.so: tests/bench/called.c
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)gcc -std=gnu11 -D_GNU_SOURCE -O2 -g -shared -fPIC $(WARN) $< -o $@
$(BUILD)/bench/libthrough.so: tests/bench/through.c
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)gcc -std=gnu11 -O2 -g -fno-builtin -shared -fPIC $(WARN) $< -o $@
$(BUILD)/bench/calls: tests/bench/calls.c $(BUILD)/bench/libcalled.so
	$(call say,CC  ,$@)
	$(Q)gcc -std=gnu11 -D_GNU_SOURCE -O2 -g $(WARN) -Iinclude $< -o $@ -L$(BUILD)/bench -lcalled -Wl,-rpath,'$$ORIGIN'

# Where Open MPI is not installed, its rows are left out.
BENCH_MPI := $(if $(shell command -v mpicc.openmpi),$(BUILD)/bench/mpi_turns)
$(BUILD)/bench/mpi_turns: tests/bench/mpi_turns.c
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)mpicc.openmpi -std=gnu11 -D_GNU_SOURCE -O2 -g $(WARN) $< -o $@

# pairs with an allocator of the program's own, which rules name.
$(BUILD)/bench/own_pairs: tests/bench/pairs.c tests/bench/own_allocator.c
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)gcc -std=gnu11 -D_GNU_SOURCE -DOWN_ALLOCATOR -O2 -g -fno-builtin $(WARN) $^ -o $@

workloads: $(BUILD)/bench/pairs $(BUILD)/bench/calls $(BUILD)/bench/own_pairs

.PHONY: bench bench-deps
bench-deps:
	scripts/install-deps build bench
bench: all $(BENCH_BIN) $(BENCH_MPI) $(BUILD)/bench/libthrough.so $(B)/tests/bench/replay_bench
	PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tests/bench/run.py --build $(abspath $(B)) --json $(BUILD)/bench.json

# The roofs beside what likwid-bench, OpenBLAS and STREAM's triad reach. BENCH_ROUNDS=N: 5 if unset.
$(B)/tests/bench/reached: tests/bench/reached.c $(B)/libanalyzer.a
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARN) $(OPT) -O3 -march=native -Iinclude -Ianalyzer -o $@ $^ $(ANALYZER_LIBS) -lopenblas
.PHONY: bench-machine
bench-machine: all $(B)/tests/bench/reached
	PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tests/bench/machine.py --build $(abspath $(B)) --json $(BUILD)/bench-machine.json \
		--rounds $(or $(BENCH_ROUNDS),5)
