# SPDX-License-Identifier: Apache-2.0
# libtprof.so. Frame pointers: a hook finds its caller's registers through its own frame.
# Vector registers are never touched on the way through a hook: -mgeneral-regs-only. Without them gcc would clear and copy
# what is larger than 32 bytes by `rep stos` and `rep movs`, which take some 30 cycles to begin: by plain stores up to 256.
# clang: it would set up a frame in functions that need none, such as malloc() in a pause; and replace memcmp() and strchr() by
# libc's bcmp() and memchr(), which use vector registers.
PRELOAD_MOVES := unrolled_loop:256:noalign,rep_8byte:8192:noalign,libcall:-1:noalign
PRELOAD_ARCH := preload/arch/x86_64
PRELOAD_SRC := $(filter-out %/offsets.c,$(shell find preload -name '*.c' -o -name '*.S' | sort))
PRELOAD_OBJ := $(patsubst %,$(B)/%.o,$(PRELOAD_SRC))
PRELOAD_FLAGS = -std=gnu11 -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-omit-frame-pointer \
	$(if $(DEBUG),-DTPC_ASSERTIONS=1) -mgeneral-regs-only -fno-stack-protector -fno-builtin-malloc -fno-builtin-calloc -fno-builtin-realloc \
	-fno-builtin-free -fno-lto -U_FORTIFY_SOURCE -Iinclude -Ipreload \
	$(if $(CLANG),-momit-leaf-frame-pointer -fno-builtin-bcmp -fno-builtin-memchr,-mmemset-strategy=$(PRELOAD_MOVES) -mmemcpy-strategy=$(PRELOAD_MOVES))

$(B)/preload/%.c.o: preload/%.c $(FLAGS) scripts/preload.mk
	@mkdir -p $(@D)
	$(call say,CC  ,$<)
	$(Q)$(CC) $(DEFS) $(WARN) $(OPT) $(PRELOAD_FLAGS) $(DEP) -c $< -o $@
# Numbers that the assembly shares with C: "#@ NAME VALUE" in what offsets.c compiles to. $(1): further flags
PRELOAD_OFFSETS = $(CC) $(DEFS) $(1) $(WARN) $(OPT) $(PRELOAD_FLAGS) -MMD -MP -MF $@.d -MT $@ -S $< -o $@.s && \
	sed -n 's/^.*\#@ \([A-Z_]*\) \([0-9]*\)$$/\#define \1 \2/p' $@.s > $@.new && mv $@.new $@
$(B)/$(PRELOAD_ARCH)/offsets.h: $(PRELOAD_ARCH)/offsets.c $(FLAGS) scripts/preload.mk
	@mkdir -p $(@D)
	$(call say,GEN ,$@)
	$(Q)$(call PRELOAD_OFFSETS,)
$(B)/preload/%.S.o: preload/%.S $(B)/$(PRELOAD_ARCH)/offsets.h $(FLAGS) scripts/preload.mk
	@mkdir -p $(@D)
	$(call say,AS  ,$<)
	$(Q)$(CC) $(G) -Ipreload -I$(B)/$(PRELOAD_ARCH) $(DEP) -c $< -o $@

KNOWN_RULES := preload/rules/known.rules.S.o
$(B)/$(KNOWN_RULES) $(B)/verify/$(KNOWN_RULES): preload/rules/known.rules

$(B)/lib/libtprof.so: $(PRELOAD_OBJ) preload/libtprof.map
	@mkdir -p $(@D)
	$(call say,LD  ,$@)
	$(Q)$(CC) $(LDFLAGS) -shared -o $@ $(PRELOAD_OBJ) -Wl,--version-script=preload/libtprof.map -Wl,-soname,libtprof.so \
		-Wl,-z,relro,-z,now -Wl,--no-undefined -Wl,-Bsymbolic-functions -nostdlib -lc
-include $(PRELOAD_OBJ:.o=.d) $(B)/$(PRELOAD_ARCH)/offsets.h.d

# Test build: every walk compared with libunwind's (preload/stacks/verify.h), and the cheap assertions (preload/core/assert.h).
VERIFY_DEFS := -DTPROF_VERIFY -DTPC_ASSERTIONS=1
VERIFY_OBJ := $(patsubst %,$(B)/verify/%.o,$(PRELOAD_SRC))
$(B)/verify/preload/%.c.o: preload/%.c $(FLAGS) scripts/preload.mk
	@mkdir -p $(@D)
	$(call say,CC  ,$< (verify))
	$(Q)$(CC) $(DEFS) $(VERIFY_DEFS) $(WARN) $(OPT) $(PRELOAD_FLAGS) $(DEP) -c $< -o $@
$(B)/verify/$(PRELOAD_ARCH)/offsets.h: $(PRELOAD_ARCH)/offsets.c $(FLAGS) scripts/preload.mk
	@mkdir -p $(@D)
	$(call say,GEN ,$@)
	$(Q)$(call PRELOAD_OFFSETS,$(VERIFY_DEFS))
$(B)/verify/preload/%.S.o: preload/%.S $(B)/verify/$(PRELOAD_ARCH)/offsets.h $(FLAGS) scripts/preload.mk
	@mkdir -p $(@D)
	$(call say,AS  ,$< (verify))
	$(Q)$(CC) $(G) -DTPROF_VERIFY -Ipreload -I$(B)/verify/$(PRELOAD_ARCH) $(DEP) -c $< -o $@
$(B)/lib/libtprof-verify.so: $(VERIFY_OBJ) preload/libtprof.map
	@mkdir -p $(@D)
	$(call say,LD  ,$@)
	$(Q)$(CC) $(LDFLAGS) -shared -o $@ $(VERIFY_OBJ) -Wl,--version-script=preload/libtprof.map -Wl,-z,now \
		-Wl,-Bsymbolic-functions -lunwind
-include $(VERIFY_OBJ:.o=.d) $(B)/verify/$(PRELOAD_ARCH)/offsets.h.d
