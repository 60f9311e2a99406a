# SPDX-License-Identifier: Apache-2.0
# tprof: `make demo` shows it, `make check` tests it; both install what is missing (scripts/install-deps).
# Yours to set: CC CXX AR CPPFLAGS CFLAGS LDFLAGS; BUILD= (the folder that is built in); PREFIX= or prefix, bindir, libdir,
# includedir, mandir, datadir, and DESTDIR=. V=1 shows the commands, WERROR=1 makes warnings errors.
# Switches: DEBUG=1 ASAN=1 UBSAN=1 TSAN=1 COVERAGE=1, each set of them with a folder of its own below BUILD.

VERSION := 0.1.0
COMMIT := $(shell git describe --always --dirty --exclude '*' 2>/dev/null)

# Make has values of its own for these, and so `?=` would leave them.
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := g++
endif
PYTHON ?= /usr/bin/python3
BUILD ?= build
PREFIX ?= /usr/local
prefix ?= $(PREFIX)
bindir ?= $(prefix)/bin
libdir ?= $(prefix)/lib
includedir ?= $(prefix)/include
datadir ?= $(prefix)/share
mandir ?= $(datadir)/man

ifneq ($(words $(BUILD)),1)
$(error BUILD=$(BUILD): make takes a space for the end of a name; give a folder without one)
endif
MAKEFLAGS += --no-print-directory

variant := $(if $(DEBUG),-debug)$(if $(ASAN),-asan)$(if $(UBSAN),-ubsan)$(if $(TSAN),-tsan)$(if $(COVERAGE),-coverage)$(if $(FUZZ),-fuzz)
B := $(BUILD)/$(if $(variant),$(patsubst -%,%,$(variant)),release)

CLANG := $(findstring clang,$(shell $(CC) --version))
# clang also warns of { NULL } and of rows of tables whose last fields are 0.
WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla \
        $(if $(CLANG),-Wno-missing-field-initializers) $(if $(WERROR),-Werror)
# valgrind 3.19 reads the DWARF 5 of gcc, but ends at that of clang.
G := $(if $(CLANG),-gdwarf-4,-g)
CFLAGS ?= $(if $(DEBUG),-O0,-O2) $(G)
OPT = $(CPPFLAGS) $(CFLAGS)
SAN := $(if $(ASAN),-fsanitize=address) $(if $(UBSAN),-fsanitize=undefined -fno-sanitize-recover=undefined) \
       $(if $(TSAN),-fsanitize=thread) $(if $(COVERAGE),--coverage)
DEFS := -D_GNU_SOURCE -DTPROF_VERSION_STRING='"$(VERSION)"'
DEP = -MMD -MP -MF $(@:.o=.d)

# A line a file; with V=1 the commands.
Q := $(if $(V),,@)
say = $(if $(V),,@echo '  $(1)$(2)')
quoted = '$(subst ','\'',$(1))'

# Holds what everything is built with, and is new when that is another: objects depend on it. As does the commit that
# --version names.
FLAGS := $(B)/flags
renew = @mkdir -p $(@D); echo $(call quoted,$(1)) | cmp -s - $@ || echo $(call quoted,$(1)) >$@
$(FLAGS): FORCE
	$(call renew,$(CC) $(CXX) $(OPT) $(LDFLAGS) $(SAN) $(DEFS) $(WARN))
$(B)/commit: FORCE
	$(call renew,$(VERSION)$(if $(COMMIT), ($(COMMIT))))
FORCE:
.PHONY: FORCE

include scripts/preload.mk
include scripts/web.mk
include scripts/analyzer.mk
include scripts/workloads.mk
include scripts/verify.mk
include scripts/tests.mk
include scripts/stress.mk
include scripts/bench.mk
include scripts/check.mk
include scripts/lint.mk
include scripts/install.mk

# The parts of tprof-fleet, from scripts/ on.
FLEET := $(patsubst scripts/%,%,$(wildcard scripts/fleet/*.py scripts/fleet/*/*.sql))

.DEFAULT_GOAL := all
.PHONY: all clean
all: $(B)/lib/libtprof.so $(B)/bin/tprof-analyze $(B)/bin/tprof $(B)/bin/tprof-fleet $(B)/share/tprof/tprof.py $(B)/share/tprof/pools.rules \
	$(addprefix $(B)/share/tprof/,$(FLEET))

$(B)/bin/tprof: scripts/tprof $(B)/commit
	@mkdir -p $(@D)
	$(call say,SH  ,$@)
	$(Q)sed "s|^version=.*|version='$$(cat $(B)/commit)'|" $< >$@ && chmod 755 $@

$(B)/bin/tprof-fleet: scripts/tprof-fleet $(B)/commit
	@mkdir -p $(@D)
	$(call say,PY  ,$@)
	$(Q)sed "s|^RELEASE = .*|RELEASE = \"$$(cat $(B)/commit)\"|" $< >$@ && chmod 755 $@
$(B)/share/tprof/fleet/%: scripts/fleet/%
	@mkdir -p $(@D)
	$(Q)install -m 644 $< $@

$(B)/share/tprof/tprof.py: scripts/tprof.py
	@mkdir -p $(@D)
	$(Q)install -m 644 $< $@

$(B)/share/tprof/pools.rules: preload/rules/pools.rules
	@mkdir -p $(@D)
	$(Q)install -m 644 $< $@

clean:
	rm -rf $(BUILD)
