# SPDX-License-Identifier: Apache-2.0
# What a user types: demo, check, check-real. Each installs what it needs and is missing, which it names first, then builds.
# The second make reads the tools' state afresh, after the installation.
PYTEST = PYTHONDONTWRITEBYTECODE=1 CHECK_BUILD="$(abspath $(B))" CHECK_SANITIZED="$(abspath $(SANITIZED))" \
	$(PYTHON) -m pytest -q -p no:cacheprovider --durations=10
# Files beside one another, and the tests of a file one after the other: what they share is made once. None of them is decided
# by time, so that they may share the processors.
ABREAST = -n $(JOBS) --dist loadfile
SANITIZED := $(BUILD)/asan-ubsan/bin/tprof-analyze
JOBS := $(shell nproc)

.PHONY: bench-fleet deps demo demo-run check check-run check-real check-real-run check-attach check-browser check-pythons \
	check-onnxruntime check-code check-fleet check-mpi check-clang integration sanitized refused

deps:
	scripts/install-deps build check

# Shows what a user sees, so that the build is silent.
demo:
	scripts/install-deps build
	@$(if $(V),,echo 'building tprof and a program that trains a network')
	@$(MAKE) -j$(JOBS) all $(W)/digits $(if $(V),,>/dev/null)
	@$(MAKE) demo-run
demo-run: all $(W)/digits
	@mkdir -p $(BUILD)/demo && rm -f $(BUILD)/demo/trace*.bin
	OPENBLAS_NUM_THREADS=2 TPROF_LEAKCHECK=exit $(B)/bin/tprof run -o $(BUILD)/demo/trace.bin -- $(W)/digits tests/workloads/data/digits.csv
	$(B)/bin/tprof-analyze $(BUILD)/demo/trace.bin

# LD_PRELOAD takes a space for the end of a path.
ifneq ($(words $(abspath $(B))),1)
check check-real check-attach check-browser check-pythons check-onnxruntime check-code check-fleet check-mpi: refused
refused:
	@echo 'The tests preload $(abspath $(B))/lib/libtprof.so, and LD_PRELOAD takes a space for the end of a path: make BUILD=/another/path check' >&2
	@exit 1
endif

check: deps
	$(MAKE) -j$(JOBS) all workloads sanitized $(CUT) $(UNIT_BIN) $(FUZZ_TARGETS)
	$(MAKE) check-run
# pytest last: its closing line is the run's.
check-run: check-clang unit
	$(MAKE) tsan
	$(MAKE) fuzz
	$(MAKE) integration
integration: all workloads $(CUT)
	$(PYTEST) $(ABREAST) tests/integration -m "not real"
# The compiler that these tests are not built by: nothing that it warns of, and its libtprof.so takes no more from libc.
check-clang:
	$(MAKE) -j$(JOBS) CC='clang -fsyntax-only' BUILD=$(BUILD)/clang-syntax WERROR=1 objects
	$(MAKE) -j$(JOBS) CC=clang BUILD=$(BUILD)/clang WERROR=1 check-imports
.PHONY: objects check-imports
objects: $(TRACEGEN) $(UNIT_BIN:=.c.o) $(HARNESS_OBJ)
check-imports: all $(W)/liboracle.so
	$(PYTEST) tests/integration/test_install.py -k libc

# The analyzer that meets damaged traces runs under AddressSanitizer and UndefinedBehaviorSanitizer.
sanitized:
	$(MAKE) ASAN=1 UBSAN=1 $(SANITIZED)

check-real:
	scripts/install-deps build check real
	$(MAKE) -j$(JOBS) all workloads
	-scripts/onnxruntime $(BUILD)/onnxruntime
	-scripts/unpack-package $(BUILD)/prometheus prometheus
	-scripts/unpack-package $(BUILD)/nginx nginx
	$(MAKE) check-real-run
check-real-run: all workloads
	$(PYTEST) $(ABREAST) tests/integration -m real

# A thousand times tprof attach, on five programs. PostgreSQL takes part if it is installed.
check-attach:
	scripts/install-deps build check real
	$(MAKE) -j$(JOBS) all workloads
	-scripts/unpack-package $(BUILD)/nginx nginx
	ATTACHES=200 $(PYTEST) tests/integration/test_attach_programs.py

# The pictures, in a browser; and an exported trace in Speedscope, if npm can fetch it.
check-browser:
	scripts/install-deps build check browser
	$(MAKE) -j$(JOBS) all workloads
	-scripts/npm-package $(BUILD)/speedscope speedscope 1.25.0 dist/release/index.html
	-$(MAKE) check-web
	$(PYTEST) tests/browser

# Python's frames in the CPythons of Debian's unstable suite too; once they are there, make check has them.
check-pythons:
	scripts/install-deps build check pythons
	$(MAKE) -j$(JOBS) all workloads
	scripts/pythons $(BUILD)/pythons
	$(PYTEST) tests/integration/test_python*.py -m "not real"

# Ten thousand functions of PyTorch and its libraries, hooked in their code: CODE_SEED=1 chooses them.
check-code:
	scripts/install-deps build check real code
	$(MAKE) -j$(JOBS) all workloads
	CODE_FUNCTIONS=10000 $(PYTEST) -s tests/integration/test_code_many.py

# Ten thousand runs in SQLite, PostgreSQL and ClickHouse (two shards); and what the queries cost, as docs/fleet.md has it.
check-fleet:
	scripts/install-deps build check fleet
	$(MAKE) -j$(JOBS) all workloads
	FLEET_RUNS=10000 $(PYTEST) tests/integration/test_fleet.py
bench-fleet:
	scripts/install-deps build check fleet
	$(MAKE) -j$(JOBS) all workloads
	CHECK_BUILD="$(abspath $(B))" PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tests/bench/fleet.py

# A real ONNX Runtime, as its package for Node.js ships it. Where npm can't fetch it, check-real goes on without.
check-onnxruntime:
	scripts/install-deps build check
	$(MAKE) -j$(JOBS) all workloads
	scripts/onnxruntime $(BUILD)/onnxruntime
	$(PYTEST) tests/integration/test_onnxruntime.py

# Ranks of Open MPI jobs, 64 of them on this machine too. The short forms are in make check.
check-mpi:
	scripts/install-deps build check
	$(MAKE) -j$(JOBS) all workloads
	CHECK_MPI=1 $(PYTEST) tests/integration/test_ranks.py tests/integration/test_mpi.py \
		tests/integration/test_neighbours.py tests/integration/test_hosts.py
