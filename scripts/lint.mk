# SPDX-License-Identifier: Apache-2.0
# make lint: the format, clang-tidy, cppcheck and shellcheck over the whole tree.
LINT_C := $(shell git ls-files '*.c')
LINT_CXX := $(shell git ls-files '*.cc')
LINT_H := $(shell git ls-files '*.h')
LINT_SH := scripts/tprof scripts/install-deps $(shell git ls-files '*.sh')
TIDY := clang-tidy --quiet
TIDY_FLAGS := -D_GNU_SOURCE -DTPROF_VERSION_STRING='"$(VERSION)"' -Iinclude
# Not built with clang here: what clang says of gcc's options is nobody's concern.
TIDY_WARN := -Wall -Wextra -Wno-unknown-warning-option -Wno-unused-command-line-argument

.PHONY: lint lint-run lint-format lint-tidy lint-cppcheck lint-shell
lint:
	scripts/install-deps build check lint
	$(MAKE) lint-run
lint-run: lint-format lint-shell lint-cppcheck lint-tidy

lint-format:
	clang-format --dry-run -Werror $(LINT_C) $(LINT_CXX) $(LINT_H)
lint-shell:
	shellcheck $(LINT_SH)
	shellcheck -s bash .ci/run scripts/completion.bash
lint-cppcheck:
	cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr --enable=warning,portability,performance \
		--suppressions-list=scripts/cppcheck.suppressions -D_GNU_SOURCE -D__x86_64__ -Iinclude -Ipreload -Ianalyzer \
		$(filter-out tests/%,$(LINT_C))
# One at a time: each file takes seconds, and a build may run beside it.
lint-tidy:
	@for f in $(filter preload/%,$(LINT_C)); do \
		$(TIDY) $$f -- -std=gnu11 $(TIDY_FLAGS) -Ipreload -mgeneral-regs-only $(TIDY_WARN) || exit 1; done
	@for f in $(filter-out preload/% tests/workloads/%,$(LINT_C)); do \
		$(TIDY) $$f -- -std=gnu11 $(TIDY_FLAGS) -Ianalyzer -Itests/unit $(TIDY_WARN) || exit 1; done
	@for f in $(filter tests/workloads/%,$(LINT_C)); do \
		$(TIDY) $$f -- -std=gnu11 $(TIDY_FLAGS) -DPLUGIN_NAME=plugin -fno-builtin $(TIDY_WARN) || exit 1; done
	@for f in $(LINT_CXX); do \
		$(TIDY) $$f -- -std=c++17 $(TIDY_FLAGS) -fno-builtin $(TIDY_WARN) || exit 1; done
