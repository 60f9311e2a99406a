# SPDX-License-Identifier: Apache-2.0
# tprof-analyze. Everything but main() is in libanalyzer.a, which the unit tests link too.
ANALYZER_SRC := $(shell find analyzer -name '*.c' | sort)
ANALYZER_OBJ := $(patsubst %,$(B)/%.o,$(filter-out analyzer/main.c,$(ANALYZER_SRC)))
# Counters that are added one by one and then read in pairs stall in the store buffer: no vectors made of scalars.
ANALYZER_FLAGS := -std=gnu11 -Iinclude -Ianalyzer -fno-tree-slp-vectorize $(SAN)
ANALYZER_LIBS := -ldw -lelf -ljansson -liberty -lm
# jemalloc serves the analyzer's many small blocks; the sanitizers bring an allocator of their own.
ANALYZER_MALLOC := $(if $(ASAN)$(TSAN)$(FUZZ),,-ljemalloc)

$(B)/analyzer/%.c.o: analyzer/%.c
	@mkdir -p $(@D)
	$(CC) $(DEFS) $(WARN) $(OPT) $(ANALYZER_FLAGS) $(DEP) -c $< -o $@
# Included by the assembler, so the compiler's list of dependencies does not name it.
$(B)/analyzer/report/flame.c.o: analyzer/report/flame.js
$(B)/libanalyzer.a: $(ANALYZER_OBJ)
	rm -f $@ && ar rcs $@ $^
$(B)/bin/tprof-analyze: $(B)/analyzer/main.c.o $(B)/libanalyzer.a
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ $(ANALYZER_LIBS) $(ANALYZER_MALLOC)
-include $(ANALYZER_OBJ:.o=.d) $(B)/analyzer/main.c.d
