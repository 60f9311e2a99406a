/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frame rules against libdw: every row of every FDE of real objects. Both are evaluated on made-up registers and
 * memory; where tprof gives a rule, it leads to the same CFA, and to the same rbp. What it gives none for is counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/state.h"
#include "stacks/rule_find.h"

#define RA 16

static struct tprof_header trace_header;

struct tally {
	uint64_t held; /* the rule says how far it holds */
	/* other: the CFA is told by another register, as in the prologues of realigned stacks (r10) */
	uint64_t rows, none, unknown, other, lost, signals, ends;
};

/* Registers: each holds a value of its own. */
static uint64_t value_of(uint64_t reg)
{
	return UINT64_C(0x7ffe12340008) + reg * UINT64_C(0x11110010);
}

/* Memory: each address holds a value of its own. */
static uint64_t load(uint64_t address)
{
	return address * UINT64_C(0x9e3779b97f4a7c15) ^ 0x5555;
}

/* ---- libdw's answer ---- */

struct answer {
	bool known;
	uint64_t value;
};

struct machine {
	uint64_t stack[32];
	unsigned int depth;
	uint64_t pc, cfa;
	bool bad;
};

static void push(struct machine *machine, uint64_t value)
{
	if (machine->depth == TPC_LENGTH(machine->stack))
		machine->bad = true;
	else
		machine->stack[machine->depth++] = value;
}

static uint64_t pop(struct machine *machine)
{
	if (machine->depth == 0) {
		machine->bad = true;
		return 0;
	}
	return machine->stack[--machine->depth];
}

static void push_register(struct machine *machine, uint64_t reg, uint64_t offset)
{
	if (reg > RA)
		machine->bad = true;
	else
		push(machine, (reg == RA ? machine->pc : value_of(reg)) + offset);
}

static void binary(struct machine *machine, uint8_t atom)
{
	uint64_t b = pop(machine), a = pop(machine);

	switch (atom) {
	case DW_OP_plus:
		push(machine, a + b);
		return;
	case DW_OP_minus:
		push(machine, a - b);
		return;
	case DW_OP_and:
		push(machine, a & b);
		return;
	case DW_OP_shl:
		push(machine, a << (b & 63));
		return;
	case DW_OP_ge:
		push(machine, (int64_t)a >= (int64_t)b);
		return;
	}
	machine->bad = true;
}

static void step(struct machine *machine, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		push_register(machine, op->atom - (uint64_t)DW_OP_breg0, op->number);
	else if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		push(machine, op->atom - (uint64_t)DW_OP_lit0);
	else if (op->atom == DW_OP_bregx)
		push_register(machine, op->number, op->number2);
	else if (op->atom == DW_OP_call_frame_cfa)
		push(machine, machine->cfa);
	else if (op->atom == DW_OP_plus_uconst)
		push(machine, pop(machine) + op->number);
	else if (op->atom == DW_OP_deref)
		push(machine, load(pop(machine)));
	else if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts)
		push(machine, op->number);
	else
		binary(machine, op->atom);
}

static struct answer evaluate(const Dwarf_Op *ops, size_t count, uint64_t pc, uint64_t cfa)
{
	struct machine machine = { .pc = pc, .cfa = cfa };

	for (size_t i = 0; i < count && !machine.bad; i++)
		step(&machine, &ops[i]);
	/* A register's expression starts with the CFA on the stack: what counts is on top. */
	if (machine.bad || machine.depth == 0)
		return (struct answer){ false, 0 };
	return (struct answer){ true, machine.stack[machine.depth - 1] };
}

/* The caller's value of a register. */
static struct answer saved(Dwarf_Frame *frame, int reg, uint64_t pc, uint64_t cfa)
{
	uint64_t same = reg == RA ? 0 : value_of((uint64_t)reg);

	Dwarf_Op memory[3], *ops;
	size_t count;
	struct answer address;

	assert_int_equal(dwarf_frame_register(frame, reg, memory, &ops, &count), 0);
	if (count == 0)
		return (struct answer){ ops == NULL, same }; /* not NULL: undefined */
	if (ops[count - 1].atom == DW_OP_stack_value)
		return evaluate(ops, count - 1, pc, cfa);
	address = evaluate(ops, count, pc, cfa);
	return (struct answer){ address.known, load(address.value) };
}

/* ---- tprof's ---- */

static uint64_t cfa_of(const struct tpc_rule *rule)
{
	uint64_t offset = (uint64_t)(int64_t)rule->cfa;

	switch (rule->kind) {
	case TPC_RULE_SP:
		return value_of(7) + offset;
	case TPC_RULE_FP:
		return value_of(6) + offset;
	case TPC_RULE_SP_LOAD:
		return load(value_of(7) + offset) + rule->more;
	case TPC_RULE_FP_LOAD:
		return load(value_of(6) + offset) + rule->more;
	}
	assert_int_equal(rule->kind, TPC_RULE_OTHER);
	return value_of(rule->more) + offset;
}

/* What the rule says that the caller had in the register. */
static void compare_kept(const char *path, struct tally *tally, const struct tpc_rule *rule, Dwarf_Frame *frame,
			 uint64_t pc, int reg)
{
	uint64_t cfa = cfa_of(rule);
	struct answer kept = saved(frame, reg, pc, cfa);

	if (rule->fp_kind == TPC_FP_LOST) {
		tally->lost++;
		return;
	}
	if (!kept.known && reg == 3 && rule->fp_kind == TPC_FP_SAME)
		return; /* libdw (0.188) knows no default for rbx, which calls preserve (x86-64 psABI, figure 3.4) */
	if (!kept.known)
		fail_msg("%s: register %d at %#lx can't be known", path, reg, (unsigned long)pc);
	if (rule->fp_kind == TPC_FP_SAME ? kept.value != value_of((uint64_t)reg)
					 : kept.value != load((rule->fp_kind == TPC_FP_AT_CFA ? cfa : value_of(6)) +
							      (uint64_t)(int64_t)rule->fp))
		fail_msg("%s: register %d at %#lx", path, reg, (unsigned long)pc);
}

static void compare(const char *path, struct tally *tally, const struct tpc_rule *rule, Dwarf_Frame *frame, uint64_t pc,
		    bool is_signal)
{
	Dwarf_Op *ops;
	size_t count;
	struct answer cfa, ra;

	tally->rows++;
	assert_int_equal(dwarf_frame_cfa(frame, &ops, &count), 0);
	cfa = evaluate(ops, count, pc, 0);
	if (rule->kind == TPC_RULE_NONE || rule->kind == TPC_RULE_UNKNOWN) {
		tally->none += rule->kind == TPC_RULE_NONE;
		tally->unknown += rule->kind == TPC_RULE_UNKNOWN;
		return;
	}
	if (is_signal || rule->kind == TPC_RULE_SIGNAL) {
		assert_true(is_signal && rule->kind == TPC_RULE_SIGNAL);
		tally->signals++;
		return;
	}
	ra = saved(frame, RA, pc, cfa.value);
	if (rule->kind == TPC_RULE_END) {
		assert_false(ra.known);
		tally->ends++;
		return;
	}
	if (!cfa.known || cfa.value != cfa_of(rule) || !ra.known || ra.value != load(cfa.value - 8))
		fail_msg("%s: CFA or return address at %#lx", path, (unsigned long)pc);
	tally->other += rule->kind == TPC_RULE_OTHER;
	compare_kept(path, tally, rule, frame, pc, 6);
}

/* ---- all rows of an object ---- */

struct object {
	const char *path;
	const uint8_t *hdr;		     /* mapped */
	const struct tpc_debug_frame *debug; /* read instead of hdr; NULL: not */
	uint64_t bias;
	uint64_t start, end; /* of the object, mapped */
};

static struct tpc_rule rule_of(const struct object *object, uint64_t pc, int reg, struct tpc_range *holds)
{
	if (object->debug)
		return tpc_rule_find_debug(object->debug, pc, true, (unsigned int)reg, holds);
	return tpc_rule_find(object->hdr, pc, true, (unsigned int)reg, holds);
}

/* The other registers that a caller may count on. */
static void compare_others(const struct object *object, Dwarf_Frame *frame, uint64_t pc)
{
	static const int registers[] = { 3, 12, 13, 14, 15 };
	struct tally unused = { 0 };
	struct tpc_range holds;

	for (size_t i = 0; i < TPC_LENGTH(registers); i++) {
		struct tpc_rule rule = rule_of(object, pc, registers[i], &holds);

		compare_kept(object->path, &unused, &rule, frame, pc, registers[i]);
	}
}

static void rows_from(const struct object *object, Dwarf_CFI *cfi, uint64_t pc, struct tally *tally)
{
	Dwarf_Frame *frame;

	while (dwarf_cfi_addrframe(cfi, pc - object->bias, &frame) == 0) {
		Dwarf_Addr start, end;
		bool is_signal;
		struct tpc_range holds;
		struct tpc_rule rule = rule_of(object, pc, TPC_REG_FP, &holds);

		assert_int_equal(dwarf_frame_info(frame, &start, &end, &is_signal), 16);
		if (holds.high) {
			assert_true(holds.low <= pc && pc < holds.high);
			assert_true(holds.low >= start + object->bias && holds.high <= end + object->bias);
			tally->held++;
		}
		compare(object->path, tally, &rule, frame, pc, is_signal);
		if (rule.kind > TPC_RULE_END && rule.kind != TPC_RULE_SIGNAL)
			compare_others(object, frame, pc);
		free(frame);
		/* The last row's end is the function's; the next function has its own entry in the table. */
		if (end + object->bias <= pc || end + object->bias >= object->end)
			return;
		if (dwarf_cfi_addrframe(cfi, end - 1, &frame) != 0)
			return;
		free(frame);
		pc = end + object->bias;
	}
}

/* The table's entries: (start, FDE), relative to the header. Rows that run on into the next function are met once. */
static void every_row(const struct object *object, struct tally *tally)
{
	int fd = open(object->path, O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
	const int32_t *table = (const int32_t *)(const void *)(object->hdr + 12);
	uint32_t count;

	assert_non_null(cfi);
	memcpy(&count, object->hdr + 8, sizeof(count));
	for (uint32_t i = 0; i < count; i++) {
		uint64_t pc = (uint64_t)(uintptr_t)object->hdr + (uint64_t)(int64_t)table[2 * (size_t)i];
		struct object one = *object;

		if (i + 1 < count)
			one.end = (uint64_t)(uintptr_t)object->hdr + (uint64_t)(int64_t)table[2 * (size_t)i + 2];
		rows_from(&one, cfi, pc, tally);
	}
	dwarf_cfi_end(cfi);
	elf_end(elf);
	close(fd);
}

/* `others`: as for check(). */
static void judge(const struct object *object, const struct tally *tally, uint64_t others)
{
	printf("%s: %lu rows, %lu without a rule, %lu not understood, %lu by other registers, %lu without rbp, "
	       "%lu of signals, %lu ends\n",
	       object->path, tally->rows, tally->none, tally->unknown, tally->other, tally->lost, tally->signals,
	       tally->ends);
	assert_true(tally->rows > 10);
	assert_true(tally->held * 100 >= tally->rows * 90); /* all but those by expressions */
	assert_true(tally->none == 0);
	assert_true(tally->unknown <= 8); /* where the return address is in a register: vfork() */
	assert_true(tally->other * 100 <= tally->rows * others);
	assert_true(tally->lost * 100 <= tally->rows * others);
}

/* `others`: the share of rows, in percent, that may go by another register than rsp and rbp, or lose rbp. */
static bool check(const char *path, uint64_t others)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	struct link_map *map;
	struct dl_find_object found;
	struct tally tally = { 0 };
	struct object object;

	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
		return false;
	assert_int_equal(_dl_find_object(map->l_ld, &found), 0);
	object = (struct object){
		.path = map->l_name,
		.hdr = found.dlfo_eh_frame,
		.bias = map->l_addr,
		.start = (uint64_t)(uintptr_t)found.dlfo_map_start,
		.end = (uint64_t)(uintptr_t)found.dlfo_map_end,
	};
	assert_non_null(object.hdr);
	every_row(&object, &tally);
	judge(&object, &tally, others);
	return true;
}

static void libc_and_the_loader(void **state)
{
	(void)state;
	assert_true(check("libc.so.6", 1));
	assert_true(check("ld-linux-x86-64.so.2", 1));
}

static void libraries_that_are_installed(void **state)
{
	static const char *const names[] = { "libstdc++.so.6",	 "libgomp.so.1", "libpython3.11.so.1.0",
					     "libopenblas.so.0", "libdw.so.1",	 "libcrypto.so.3" };
	int checked = 0;

	(void)state;
	for (size_t i = 0; i < TPC_LENGTH(names); i++)
		checked += check(names[i], 1);
	assert_true(checked >= 2);
}

static void torch(void **state)
{
	(void)state;
	if (access("/usr/lib/x86_64-linux-gnu/libtorch_cpu.so", R_OK) != 0 ||
	    !check("/usr/lib/x86_64-linux-gnu/libtorch_cpu.so", 1))
		skip();
}

/* Frames of every kind, by both compilers, at each level, with frame pointers and without: make workloads builds them. */
static void own_programs(void **state)
{
	glob_t found;

	(void)state;
	if (glob("build/workloads/verify/lib*.so", 0, NULL, &found) != 0)
		skip();
	assert_true(found.gl_pathc >= 3 * 16);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char *path = realpath(found.gl_pathv[i], NULL); /* dlopen looks for a name without a slash elsewhere */

		assert_non_null(path);
		assert_true(check(path, 12)); /* small files: a few realigned frames are a large share */
		free(path);
	}
	globfree(&found);
}

/* ---- .debug_frame ---- */

/* Each FDE's rows, in the order of the section. */
static void every_debug_row(const struct object *object, struct tally *tally)
{
	int fd = open(object->path, O_RDONLY | O_CLOEXEC);
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	Dwarf_CFI *cfi = dwarf_getcfi(dwarf);
	Elf_Scn *section = NULL;
	Elf64_Shdr *header = NULL;
	size_t names;
	Dwarf_Off at = 0, next;
	Dwarf_CFI_Entry entry;
	Elf *elf = dwarf_getelf(dwarf);

	assert_non_null(cfi);
	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	do {
		section = elf_nextscn(elf, section);
		assert_non_null(section);
		header = elf64_getshdr(section);
	} while (strcmp(elf_strptr(elf, names, header->sh_name), ".debug_frame") != 0);
	for (; dwarf_next_cfi((const unsigned char *)elf_getident(elf, NULL), elf_getdata(section, NULL), false, at,
			      &next, &entry) == 0;
	     at = next) {
		struct object one = *object;
		uint64_t code[2];

		if (dwarf_cfi_cie_p(&entry))
			continue;
		memcpy(code, entry.fde.start, sizeof(code));
		one.end = code[0] + code[1] + object->bias;
		rows_from(&one, cfi, code[0] + object->bias, tally);
	}
	dwarf_end(dwarf);
	close(fd);
}

/* Loads an object, and reads its tables. */
static const struct tpc_debug_frame *load_debug(const char *path, struct tpc_debug_module *module)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	const struct tpc_debug_frame *read;
	struct dl_find_object found;
	struct link_map *map;

	tpc_header = &trace_header;
	assert_non_null(handle);
	assert_int_equal(dlinfo(handle, RTLD_DI_LINKMAP, &map), 0);
	assert_int_equal(_dl_find_object(map->l_ld, &found), 0);
	*module = (struct tpc_debug_module){ map->l_name, (uintptr_t)found.dlfo_map_start,
					     (uintptr_t)found.dlfo_map_end, map->l_addr };
	read = tpc_debug_frame_read(module);
	assert_ptr_not_equal(read, &tpc_debug_frame_none);
	return read;
}

static void check_debug(const char *path)
{
	struct tpc_debug_module module;
	struct tally tally = { 0 };
	struct object object = { .debug = load_debug(path, &module) };

	object.path = module.path;
	object.bias = module.bias;
	every_debug_row(&object, &tally);
	judge(&object, &tally, 12);
	tpc_debug_frame_give_back(object.debug);
}

/* The same programs without .eh_frame. */
static void own_programs_with_debug_frame(void **state)
{
	glob_t found;

	(void)state;
	if (glob("build/workloads/debug_frame/lib*.so", 0, NULL, &found) != 0)
		skip();
	assert_true(found.gl_pathc >= 3 * 16);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char *path = realpath(found.gl_pathv[i], NULL);

		assert_non_null(path);
		check_debug(path);
		free(path);
	}
	globfree(&found);
}

/* A rule for each address; a sanitizer sees what is read outside of the section. */
static void look_everywhere(const struct tpc_debug_frame *frame, const struct tpc_debug_module *module)
{
	for (uintptr_t pc = module->start; pc < module->end; pc += 3) {
		struct tpc_range holds;

		tpc_rule_find_debug(frame, pc, true, TPC_REG_FP, &holds);
		assert_true(!holds.high || (holds.low <= pc && pc < holds.high));
	}
}

/* A copy in which some bytes are others; the section ends where the copy does. */
static struct tpc_debug_frame *spoil(const struct tpc_debug_frame *whole, int round)
{
	size_t head = sizeof(*whole) + whole->count * sizeof(whole->index[0]);
	struct tpc_debug_frame *copy = malloc(head + whole->section.size);
	uint8_t *section = (uint8_t *)copy + head;

	memcpy(copy, whole, head);
	memcpy(section, whole->section.start, whole->section.size);
	copy->section.start = section;
	for (int i = 0; i < 1 + round / 20; i++)
		section[(size_t)rand() % copy->section.size] = (uint8_t)(round % 2 ? rand() : -(rand() & 1));
	return copy;
}

static void sections_of_garbage(void **state)
{
	char *path = realpath("build/workloads/debug_frame/libstack-gcc-O2-nofp.so", NULL);
	struct tpc_debug_module module;
	const struct tpc_debug_frame *whole;

	(void)state;
	if (!path)
		skip();
	whole = load_debug(path, &module);
	for (int round = 0; round < 500; round++) {
		struct tpc_debug_frame *spoiled = spoil(whole, round);

		look_everywhere(spoiled, &module);
		free(spoiled);
	}
	tpc_debug_frame_give_back(whole);
	free(path);
}

/* ---- functions in pieces ---- */

static __attribute__((noinline, cold)) int rarely(volatile int *n)
{
	return *n = *n * 3 + 1;
}

static __attribute__((noinline)) int often(volatile int *n)
{
	return *n += 1;
}

/* The call of what is rarely run, and all behind it, is put apart: in_pieces.cold, with a name of this file's alone. */
static __attribute__((noinline)) int in_pieces(volatile int *n)
{
	volatile int kept = *n;
	int sum = often(&kept);

	if (*n < 0)
		sum += rarely(&kept) * 5;
	return sum + often(&kept);
}

static struct tpc_range symbol_of(Elf *elf, const char *name)
{
	for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
		Elf64_Shdr *header = elf64_getshdr(section);
		Elf64_Sym *symbols = header->sh_type == SHT_SYMTAB ? elf_getdata(section, NULL)->d_buf : NULL;

		for (size_t i = 0; symbols && i < header->sh_size / sizeof(*symbols); i++)
			if (strcmp(elf_strptr(elf, header->sh_link, symbols[i].st_name), name) == 0)
				return (struct tpc_range){ symbols[i].st_value,
							   symbols[i].st_value + symbols[i].st_size };
	}
	return (struct tpc_range){ 0, 0 };
}

static void functions_in_pieces(void **state)
{
	volatile int n = 2;
	uintptr_t start = (uintptr_t)in_pieces;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	struct tpc_range whole = symbol_of(elf, "in_pieces"), cold = symbol_of(elf, "in_pieces.cold"), found[4];
	uintptr_t bias = start - whole.low;
	struct dl_find_object object;

	(void)state;
	elf_end(elf);
	close(fd);
	assert_int_equal(in_pieces(&n), 7);
	assert_int_equal(_dl_find_object((void *)start, &object), 0);
	assert_int_equal(tpc_rule_pieces(object.dlfo_eh_frame, start, found, 4), cold.low ? 2 : 1);
	assert_true(found[0].low == start && found[0].high == whole.high + bias);
	assert_int_equal(tpc_rule_pieces(object.dlfo_eh_frame, start + 1, found, 4), 0);
	assert_int_equal(tpc_rule_pieces(object.dlfo_eh_frame, (uintptr_t)rarely, found, 4), 1);
	if (!cold.low)
		skip(); /* this compiler leaves functions whole */
	assert_int_equal(tpc_rule_pieces(object.dlfo_eh_frame, start, found, 4), 2);
	assert_true(found[1].low == cold.low + bias && found[1].high == cold.high + bias);
	assert_int_equal(tpc_rule_pieces(object.dlfo_eh_frame, start, found, 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_in_pieces),		 cmocka_unit_test(libc_and_the_loader),
		cmocka_unit_test(libraries_that_are_installed),	 cmocka_unit_test(own_programs),
		cmocka_unit_test(own_programs_with_debug_frame), cmocka_unit_test(torch),
		cmocka_unit_test(sections_of_garbage),
	};

	elf_version(EV_CURRENT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
