# SPDX-License-Identifier: Apache-2.0
# make lint: the format, the floors, clang-tidy, cppcheck and shellcheck over the whole tree.
LINT_C = $(shell git ls-files '*.c')
LINT_CXX = $(shell git ls-files '*.cc')
LINT_H = $(shell git ls-files '*.h')
LINT_SH = scripts/tprof scripts/install-deps scripts/unpack-package scripts/pythons scripts/npm-package scripts/onnxruntime $(shell git ls-files '*.sh')
# Where mpi.h is, which mpi_calls.c wants.
LINT_MPI = $(patsubst -I%,-isystem %,$(shell mpicc.openmpi --showme:compile))
TIDY := clang-tidy --quiet
TIDY_FLAGS := -D_GNU_SOURCE -DTPROF_VERSION_STRING='"$(VERSION)"' -DTPROF_COMMIT='""' $(foreach part,STYLE SCRIPT,-DTPROF_HASH_$(part)='""') \
	-Iinclude
# Not built with clang here: what clang says of gcc's options is nobody's concern.
TIDY_WARN := -Wall -Wextra -Wno-unknown-warning-option -Wno-unused-command-line-argument

.PHONY: lint lint-run lint-format lint-floors lint-tidy lint-cppcheck lint-shell
lint:
	scripts/install-deps build check lint
	$(MAKE) lint-run
lint-run: lint-format lint-floors lint-shell lint-cppcheck lint-tidy

lint-format:
	clang-format --dry-run -Werror $(LINT_C) $(LINT_CXX) $(LINT_H)
lint-floors:
	scripts/floors.sh
lint-shell:
	shellcheck $(LINT_SH)
	shellcheck -s bash .ci/run scripts/completion/tprof.bash
lint-cppcheck:
	cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr --enable=warning,portability,performance \
		--suppressions-list=scripts/cppcheck.suppressions -D__cppcheck__ -D_GNU_SOURCE -D__x86_64__ -Iinclude -Ipreload -Ianalyzer \
		$(filter-out tests/%,$(LINT_C))
# All files are looked at before it fails.
tidy = @failed=0; for f in $(1); do $(TIDY) $$f -- $(2) $(TIDY_FLAGS) $(TIDY_WARN) || failed=1; done; exit $$failed
.PHONY: lint-tidy-preload lint-tidy-analyzer lint-tidy-workloads lint-tidy-cxx
lint-tidy: lint-tidy-preload lint-tidy-analyzer lint-tidy-workloads lint-tidy-cxx
lint-tidy-preload:
	$(call tidy,$(filter preload/%,$(LINT_C)),-std=gnu11 -Ipreload -mgeneral-regs-only)
lint-tidy-analyzer: $(PROTO_H)
	$(call tidy,$(filter-out preload/% tests/workloads/%,$(LINT_C)),-std=gnu11 -Ianalyzer -isystem $(B)/analyzer -Ipreload -Itests/unit -Itests/tracegen \
		-Itests/workloads -Wno-unknown-pragmas)
lint-tidy-workloads:
	$(call tidy,$(filter tests/workloads/%,$(LINT_C)),-std=gnu11 -DPLUGIN_NAME=plugin_x -fno-builtin $(LINT_MPI))
lint-tidy-cxx:
	$(call tidy,$(filter-out tests/workloads/libtorch_train.cc,$(LINT_CXX)),-std=c++17 -fsized-deallocation -fno-builtin)
