# SPDX-License-Identifier: Apache-2.0
# tprof: `make demo` shows it, `make check` tests it; both install what is missing (scripts/install-deps).
# Switches: DEBUG=1 ASAN=1 UBSAN=1 TSAN=1 COVERAGE=1, CC=, PREFIX=, DESTDIR=. Each set of switches has its own folder
# under build/, so they do not disturb each other. WERROR=1: a warning is an error, as in .ci/run; a newer compiler than ours
# warns of more.

VERSION := 0.1.0
PREFIX ?= /usr/local
CC = gcc
CXX = g++
PYTHON ?= /usr/bin/python3

variant := $(if $(DEBUG),-debug)$(if $(ASAN),-asan)$(if $(UBSAN),-ubsan)$(if $(TSAN),-tsan)$(if $(COVERAGE),-coverage)$(if $(FUZZ),-fuzz)
B := build/release$(variant)
ifneq ($(variant),)
B := build/$(patsubst -%,%,$(variant))
endif

WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla \
        $(if $(WERROR),-Werror)
OPT := $(if $(DEBUG),-O0,-O2) -g
SAN := $(if $(ASAN),-fsanitize=address) $(if $(UBSAN),-fsanitize=undefined -fno-sanitize-recover=undefined) \
       $(if $(TSAN),-fsanitize=thread) $(if $(COVERAGE),--coverage)
DEFS := -D_GNU_SOURCE -DTPROF_VERSION_STRING='"$(VERSION)"'
DEP = -MMD -MP -MF $(@:.o=.d)

include scripts/preload.mk
include scripts/analyzer.mk
include scripts/workloads.mk
include scripts/verify.mk
include scripts/tests.mk
include scripts/stress.mk
include scripts/bench.mk
include scripts/check.mk
include scripts/lint.mk

.DEFAULT_GOAL := all
.PHONY: all clean install
all: $(B)/lib/libtprof.so $(B)/bin/tprof-analyze $(B)/bin/tprof $(B)/share/tprof/tprof.py

$(B)/bin/tprof: scripts/tprof
	@mkdir -p $(@D)
	install -m 755 $< $@

$(B)/share/tprof/tprof.py: scripts/tprof.py
	@mkdir -p $(@D)
	install -m 644 $< $@

install: all
	install -d $(DESTDIR)$(PREFIX)/lib $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/include \
		$(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man5 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/tprof
	install -m 755 $(B)/lib/libtprof.so $(DESTDIR)$(PREFIX)/lib/
	install -m 755 $(B)/bin/tprof-analyze $(B)/bin/tprof $(DESTDIR)$(PREFIX)/bin/
	install -m 644 include/tprof.h $(DESTDIR)$(PREFIX)/include/
	install -m 644 scripts/tprof.py $(DESTDIR)$(PREFIX)/share/tprof/
	install -m 644 scripts/tprof.1 analyzer/tprof-analyze.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 644 include/tprof/tprof-trace.5 analyzer/tprof-json.5 $(DESTDIR)$(PREFIX)/share/man/man5/
	install -m 644 scripts/completion.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/tprof
	ln -sf tprof $(DESTDIR)$(PREFIX)/share/bash-completion/completions/tprof-analyze

clean:
	rm -rf build
