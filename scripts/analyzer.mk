# SPDX-License-Identifier: Apache-2.0
# tprof-analyze. Everything but main() is in libanalyzer.a, which the unit tests link too.
ANALYZER_SRC := $(shell find analyzer -name '*.c' | sort)
# Messages of other tools' formats: code that protoc-c makes of our descriptions of them.
ANALYZER_PROTO := $(shell find analyzer -name '*.proto' | sort)
PROTO_OBJ := $(patsubst %.proto,$(B)/%.pb-c.c.o,$(ANALYZER_PROTO))
PROTO_H := $(patsubst %.proto,$(B)/%.pb-c.h,$(ANALYZER_PROTO))
ANALYZER_OBJ := $(patsubst %,$(B)/%.o,$(filter-out analyzer/main.c,$(ANALYZER_SRC))) $(PROTO_OBJ)
# Counters that are added one by one and then read in pairs stall in the store buffer: no vectors made of scalars.
ANALYZER_FLAGS := -std=gnu11 -Iinclude -Ianalyzer -isystem $(B)/analyzer -fno-tree-slp-vectorize $(SAN)
# What an HTML report's content security policy lets run: its style and its scripts, by their hashes.
page_hash = sha256-$(shell sha256sum analyzer/report/$(1) | cut -c1-64 | tr a-f A-F | basenc -d --base16 | base64)
$(B)/analyzer/report/html/html.c.o: DEFS += -DTPROF_HASH_STYLE='"$(call page_hash,html/page.css)"' \
	-DTPROF_HASH_SCRIPT='"$(call page_hash,html/page.js)"'
ANALYZER_LIBS := -ldw -lelf -ljansson -lzstd -lz -lsqlite3 -liberty -lncursesw -ltinfo -lmicrohttpd -lprotobuf-c -lm
# jemalloc serves the analyzer's many small blocks; the sanitizers bring an allocator of their own.
ANALYZER_MALLOC := $(if $(ASAN)$(TSAN)$(FUZZ),,-ljemalloc)

$(B)/analyzer/%.pb-c.c $(B)/analyzer/%.pb-c.h: analyzer/%.proto scripts/analyzer.mk
	@mkdir -p $(@D)
	$(call say,PB  ,$<)
	$(Q)protoc-c --proto_path=analyzer --c_out=$(B)/analyzer $<
$(B)/analyzer/%.pb-c.c.o: $(B)/analyzer/%.pb-c.c $(FLAGS)
	$(call say,CC  ,$<)
	$(Q)$(CC) $(DEFS) -w $(OPT) $(ANALYZER_FLAGS) -c $< -o $@
# The first build must have them before it compiles the exports; later ones know by the lists of dependencies who includes them.
$(filter $(B)/analyzer/export/%,$(ANALYZER_OBJ)): | $(PROTO_H)
$(B)/analyzer/%.c.o: analyzer/%.c $(FLAGS) scripts/analyzer.mk
	@mkdir -p $(@D)
	$(call say,CC  ,$<)
	$(Q)$(CC) $(DEFS) $(WARN) $(OPT) $(ANALYZER_FLAGS) $(DEP) -c $< -o $@
# Included by the assembler, so the compiler's list of dependencies does not name it.
$(B)/analyzer/report/export/flame.c.o: analyzer/report/export/flame.js
$(B)/analyzer/report/html/html.c.o: analyzer/report/html/page.css analyzer/report/html/page.js
# The commit is in one file alone: the others need not be compiled anew for each.
$(B)/analyzer/commands/line/help.c.o: DEFS += -DTPROF_COMMIT='"$(if $(COMMIT), ($(COMMIT)))"'
$(B)/analyzer/commands/line/help.c.o: $(B)/commit
$(B)/libanalyzer.a: $(ANALYZER_OBJ)
	$(call say,AR  ,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(B)/bin/tprof-analyze: $(B)/analyzer/main.c.o $(B)/libanalyzer.a
	@mkdir -p $(@D)
	$(call say,LD  ,$@)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ $(ANALYZER_LIBS) $(ANALYZER_MALLOC)
-include $(ANALYZER_OBJ:.o=.d) $(B)/analyzer/main.c.d
