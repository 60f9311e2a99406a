/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frame rules that are read from the code alone, against those of .eh_frame: behind every call, and at every instruction,
 * of real libraries. How long instructions are, against Zydis' decoder: there, and of random bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <Zydis/Zydis.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdlib.h>

#include "arch/x86_64/instruction.h"
#include "stacks/code_rule.h"
#include "stacks/rule_find.h"

#define ROUNDS 2000000u

static ZydisDecoder decoder;

struct tally {
	uint64_t places, right, none, wrong;
};

struct object {
	const char *path;
	const uint8_t *hdr; /* of .eh_frame, mapped */
	struct tpc_range code;
	uint64_t instructions, unread;
	struct tally returns, interrupted;
};

static bool decode(const uint8_t *at, size_t length, ZydisDecodedInstruction *instruction)
{
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, at, length, instruction));
}

/* ---- rules ---- */

/* In an epilogue fp was restored; tables do not say so, and the walk knows (stacks/step.c). */
static bool has_same_fp(const struct tpc_rule *code, const struct tpc_rule *table, bool exact)
{
	if (table->fp_kind == TPC_FP_LOST || code->fp_kind == TPC_FP_LOST || (exact && code->fp_kind == TPC_FP_SAME))
		return true;
	return code->fp_kind == table->fp_kind && code->fp == table->fp;
}

/* The same CFA in another way counts as none: what rbp has there is not known here. */
static void compare(const struct object *object, struct tally *tally, uintptr_t pc, bool exact)
{
	struct tpc_range holds;
	struct tpc_rule table = tpc_rule_find(object->hdr, pc, exact, TPC_REG_FP, &holds);
	struct tpc_rule code = tpc_code_rule(object->code, pc, exact);

	if (table.kind <= TPC_RULE_END || table.kind == TPC_RULE_SIGNAL)
		return;
	tally->places++;
	if (code.kind == TPC_RULE_NONE || code.kind != table.kind)
		tally->none++;
	else if (code.cfa == table.cfa && (code.kind < TPC_RULE_FP_LOAD || code.more == table.more) &&
		 has_same_fp(&code, &table, exact))
		tally->right++;
	else
		tally->wrong++;
	assert_true(code.guessed == (code.kind != TPC_RULE_NONE));
}

static bool goes_on(const struct tpc_arch_instruction *instruction)
{
	switch (instruction->effect) {
	case TPC_EFFECT_RETURN:
	case TPC_EFFECT_END:
	case TPC_EFFECT_JUMP:
	case TPC_EFFECT_JUMP_REG:
	case TPC_EFFECT_LEAVES:
	case TPC_EFFECT_CALL: /* maybe not */
		return false;
	}
	return true;
}

/* Up to the first byte that is no instruction. */
static void one_function(struct object *object, struct tpc_range code)
{
	struct tpc_arch_instruction ours;
	ZydisDecodedInstruction its;
	bool reached = true;

	for (uintptr_t at = code.low; at < code.high && decode((const uint8_t *)at, code.high - at, &its);) {
		object->instructions++;
		if (!tpc_arch_instruction_read((const uint8_t *)at, code.high - at, &ours))
			object->unread++;
		else if (ours.length != its.length)
			fail_msg("%s: at %#lx %u bytes are %u", object->path, at, its.length, ours.length);
		if (ours.effect != TPC_EFFECT_FILLER)
			reached = goes_on(&ours);
		if (ours.effect != TPC_EFFECT_FILLER || reached)
			compare(object, &object->interrupted, at, true);
		at += its.length;
		if (its.meta.category == ZYDIS_CATEGORY_CALL)
			compare(object, &object->returns, at, false);
	}
}

static void every_function(struct object *object)
{
	const int32_t *table = (const int32_t *)(const void *)(object->hdr + 12);
	uintptr_t base = (uintptr_t)object->hdr;
	uint32_t count;

	memcpy(&count, object->hdr + 8, sizeof(count));
	for (uint32_t i = 0; i + 1 < count; i++) {
		struct tpc_range code = { base + (uintptr_t)(intptr_t)table[2 * (size_t)i],
					  base + (uintptr_t)(intptr_t)table[2 * (size_t)i + 2] };

		if (tpc_range_holds(object->code, code.low) && code.high <= object->code.high)
			one_function(object, code);
	}
}

static struct tpc_range code_of(const struct link_map *map, const uint8_t *start)
{
	const ElfW(Ehdr) *image = (const ElfW(Ehdr) *)(const void *)start;
	const ElfW(Phdr) *headers = (const ElfW(Phdr) *)(const void *)(start + image->e_phoff);

	for (int i = 0; i < image->e_phnum; i++)
		if (headers[i].p_type == PT_LOAD && headers[i].p_flags & PF_X)
			return (struct tpc_range){ map->l_addr + headers[i].p_vaddr,
						   map->l_addr + headers[i].p_vaddr + headers[i].p_filesz };
	return (struct tpc_range){ 0, 0 };
}

static double percent(uint64_t part, uint64_t all)
{
	return 100 * (double)part / (double)all;
}

static void print(const char *what, const struct tally *tally)
{
	printf("  %s: %lu, right %.2f%%, none %.2f%%, wrong %.2f%%\n", what, tally->places,
	       percent(tally->right, tally->places), percent(tally->none, tally->places),
	       percent(tally->wrong, tally->places));
}

/* False: it is not installed. */
static bool read_object(const char *path, struct object *object)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	struct dl_find_object found;
	struct link_map *map;

	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
		return false;
	assert_int_equal(_dl_find_object(map->l_ld, &found), 0);
	*object = (struct object){ .path = path, .hdr = found.dlfo_eh_frame };
	object->code = code_of(map, found.dlfo_map_start);
	every_function(object);
	printf("%s: %lu instructions, %lu not read\n", path, object->instructions, object->unread);
	print("return addresses", &object->returns);
	print("instructions", &object->interrupted);
	assert_true(object->unread * 1000 <= object->instructions);
	return true;
}

/* Libraries of C. Return addresses behind calls that never return, as of assert(), count as wrong. */
static void libraries_of_c(void **state)
{
	static const char *const names[] = { "libpython3.11.so.1.0", "libcrypto.so.3", "libc.so.6" };
	static const double right[] = { 98.5, 96, 87 };
	struct object object;

	(void)state;
	for (size_t i = 0; i < TPC_LENGTH(names); i++) {
		if (!read_object(names[i], &object))
			continue;
		assert_true(percent(object.returns.right, object.returns.places) > right[i]);
		assert_true(percent(object.interrupted.wrong, object.interrupted.places) < 1.5);
	}
}

/* Every kind of frame, by both compilers, at each level: make workloads builds them. They return from each call. */
static void own_programs(void **state)
{
	struct tally all = { 0 };
	glob_t found;

	(void)state;
	if (glob("build/workloads/verify/lib*-nofp.so", 0, NULL, &found) != 0)
		skip();
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char *path = realpath(found.gl_pathv[i], NULL);
		struct object object;

		assert_true(path && read_object(path, &object));
		all.places += object.returns.places;
		all.right += object.returns.right;
		all.none += object.returns.none;
		all.wrong += object.returns.wrong;
		free(path);
	}
	globfree(&found);
	print("all return addresses", &all);
	assert_true(all.places > 500 && percent(all.right, all.places) > 95);
}

/* ---- instructions ---- */

/* Only one forgotten kind of machine had it (Knights Corner). */
static bool is_forgotten(const ZydisDecodedInstruction *instruction)
{
	return strncmp(ZydisISASetGetString(instruction->meta.isa_set), "KNC", 3) == 0;
}

/* Zydis counts the ends of transactions as branches. */
static bool is_branch(const ZydisDecodedInstruction *instruction)
{
	return instruction->meta.category == ZYDIS_CATEGORY_COND_BR && instruction->meta.isa_set != ZYDIS_ISA_SET_RTM &&
	       !is_forgotten(instruction);
}

static uint64_t seed = 1;

static uint32_t draw(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((seed >> 33) % below);
}

static void put_random(uint8_t to[16])
{
	static const uint8_t prefixes[] = { 0x66, 0x67, 0xf2, 0xf3, 0x2e, 0x3e, 0x64, 0x65, 0xf0 };
	static const uint8_t escapes[] = { 0x0f, 0xc4, 0xc5, 0x62 };
	size_t length = 0;

	while (draw(4) == 0 && length < 4)
		to[length++] = prefixes[draw(sizeof(prefixes))];
	if (draw(3) == 0)
		to[length++] = (uint8_t)(0x40 + draw(16));
	if (draw(2) == 0)
		to[length++] = escapes[draw(sizeof(escapes))];
	while (length < 16)
		to[length++] = (uint8_t)draw(256);
}

/* What Zydis takes for an instruction is as long, or not read. With less than its bytes, it is none. */
static void random_bytes(void **state)
{
	uint64_t valid = 0, unread = 0;

	(void)state;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct tpc_arch_instruction ours;
		ZydisDecodedInstruction its;
		uint8_t code[16];

		put_random(code);
		if (!decode(code, sizeof(code), &its) || is_forgotten(&its))
			continue;
		valid++;
		if (!tpc_arch_instruction_read(code, sizeof(code), &ours)) {
			unread++;
			continue;
		}
		if (ours.length != its.length)
			fail_msg("%02x %02x %02x %02x %02x %02x: %u bytes, not %u", code[0], code[1], code[2], code[3],
				 code[4], code[5], its.length, ours.length);
		assert_false(tpc_arch_instruction_read(code, ours.length - 1u, &ours));
	}
	printf("%lu instructions, %lu not read\n", valid, unread);
	assert_true(valid > ROUNDS / 3 && unread * 20 < valid);
}

/* Where Zydis' operands say that the stack pointer or the frame pointer is written, we see an effect on it. */
static void registers_that_are_written(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
		struct tpc_arch_instruction ours;
		ZydisDecodedInstruction its;
		uint8_t code[16];

		put_random(code);
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, sizeof(code), &its, operands)) ||
		    !tpc_arch_instruction_read(code, sizeof(code), &ours) || ours.effect != TPC_EFFECT_NONE ||
		    is_forgotten(&its))
			continue;
		for (uint8_t i = 0; i < its.operand_count; i++) {
			ZydisRegister reg =
				ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operands[i].reg.value);

			if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
			    operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
			    (reg == ZYDIS_REGISTER_RSP || reg == ZYDIS_REGISTER_RBP))
				fail_msg("%02x %02x %02x %02x %02x %02x: writes %s", code[0], code[1], code[2], code[3],
					 code[4], code[5], ZydisRegisterGetString(reg));
		}
	}
}

static void jumps(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
		struct tpc_arch_instruction ours;
		ZydisDecodedInstruction its;
		uint64_t target;
		uint8_t code[16];

		put_random(code);
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, sizeof(code), &its, operands)) ||
		    !tpc_arch_instruction_read(code, sizeof(code), &ours))
			continue;
		if (is_branch(&its) && ours.effect != TPC_EFFECT_JUMP_IF)
			fail_msg("%02x %02x %02x %02x %02x %02x: no jump", code[0], code[1], code[2], code[3], code[4],
				 code[5]);
		if (its.meta.category == ZYDIS_CATEGORY_RET)
			assert_true(ours.effect == TPC_EFFECT_RETURN || ours.effect == TPC_EFFECT_END);
		if (its.meta.category == ZYDIS_CATEGORY_CALL)
			assert_int_equal(ours.effect, TPC_EFFECT_CALL);
		if (ours.effect != TPC_EFFECT_JUMP && ours.effect != TPC_EFFECT_JUMP_IF)
			continue;
		assert_true(ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&its, &operands[0], 0x10000000000, &target)));
		assert_int_equal(target, 0x10000000000 + ours.length + (int64_t)ours.n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_bytes), cmocka_unit_test(registers_that_are_written),
		cmocka_unit_test(jumps),	cmocka_unit_test(libraries_of_c),
		cmocka_unit_test(own_programs),
	};

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
