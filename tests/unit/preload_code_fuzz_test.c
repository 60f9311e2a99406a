/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random instructions, with random prefixes, are moved. What Zydis' decoder makes of the moved code, operand by operand, is
 * what it makes of the code that was there; what is harmless is executed at both places, and does the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <Zydis/Zydis.h>
#include <cmocka.h>

#include "code_execution.h"

#define ROUNDS 400000u
#define LENGTH 48u

static uint64_t seed = 1;

static uint32_t draw(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((seed >> 33) % below);
}

static ZydisDecoder whole;

struct full {
	ZydisDecodedInstruction it;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static bool decode(const uint8_t *at, size_t length, struct full *full)
{
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&whole, at, length, &full->it, full->operands));
}

/* ---- random code ---- */

static size_t put_random(uint8_t *to)
{
	static const uint8_t prefixes[] = { 0x66, 0x67, 0xf2, 0xf3, 0x2e, 0x3e, 0x64, 0x65, 0xf0 };
	size_t length = 0;

	while (draw(4) == 0)
		to[length++] = prefixes[draw(sizeof(prefixes))];
	if (draw(3) == 0)
		to[length++] = (uint8_t)(0x40 + draw(16));
	if (draw(4) == 0) {
		static const uint8_t escapes[] = { 0x0f, 0xc4, 0xc5, 0x62, 0x8f };

		to[length++] = escapes[draw(sizeof(escapes))];
	}
	to[length++] = (uint8_t)draw(256);
	if (draw(3) == 0)
		to[length++] = (uint8_t)(draw(8) << 3 | 5); /* relative to %rip */
	while (length < LENGTH / 2)
		to[length++] = (uint8_t)draw(256);
	return length;
}

/* A function of at least 5 bytes, of valid instructions, and `ret`. False: this time there is none. */
static bool make_function(uint8_t *code, struct tpc_code_function *function)
{
	struct full full;
	size_t length = 0;

	memset(code, 0x90, LENGTH);
	if (draw(4) == 0)
		memcpy(code, "\xf3\x0f\x1e\xfa", length = 4);
	for (size_t least = length + 5; length < least; length += full.it.length) {
		uint8_t bytes[LENGTH];

		put_random(bytes);
		if (!decode(bytes, 15, &full))
			return false;
		memcpy(code + length, bytes, full.it.length);
	}
	code[length++] = 0xc3;
	*function = (struct tpc_code_function){ code, length, LENGTH, (uintptr_t)code };
	return true;
}

/* ---- compared ---- */

static bool is_relative_branch(const struct full *full)
{
	return full->it.raw.imm[0].is_relative;
}

static uint64_t address_of(const struct full *full, const ZydisDecodedOperand *operand, uint64_t at)
{
	ZyanU64 address = 0;

	assert_true(ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&full->it, operand, at, &address)));
	return address;
}

static bool is_by_rip(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.base == ZYDIS_REGISTER_RIP;
}

static void same_operand(const struct full *was, const struct full *is, size_t i, uint64_t was_at, uint64_t is_at)
{
	const ZydisDecodedOperand *a = &was->operands[i], *b = &is->operands[i];

	assert_int_equal(a->type, b->type);
	if (is_by_rip(a) || (a->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && a->imm.is_relative)) {
		assert_int_equal(address_of(was, a, was_at), address_of(is, b, is_at));
		return;
	}
	assert_int_equal(a->size, b->size);
	if (a->type == ZYDIS_OPERAND_TYPE_REGISTER)
		assert_int_equal(a->reg.value, b->reg.value);
	if (a->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		assert_int_equal(a->imm.value.u, b->imm.value.u);
	if (a->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		assert_int_equal(a->mem.segment, b->mem.segment);
		assert_int_equal(a->mem.base, b->mem.base);
		assert_int_equal(a->mem.index, b->mem.index);
		assert_int_equal(a->mem.scale, b->mem.scale);
		assert_int_equal(a->mem.disp.value, b->mem.disp.value);
	}
}

static void same_instruction(const struct full *was, const struct full *is, uint64_t was_at, uint64_t is_at)
{
	assert_int_equal(was->it.mnemonic, is->it.mnemonic);
	assert_int_equal(was->it.operand_count_visible, is->it.operand_count_visible);
	for (size_t i = 0; i < was->it.operand_count_visible; i++)
		same_operand(was, is, i, was_at, is_at);
}

/* push $low; movl $high, 4(%rsp); and a jump where a call was. Returns their length. */
static size_t same_call(const struct full *was, uint64_t was_at, const uint8_t *moved)
{
	uint64_t back = was_at + was->it.length;
	uint32_t low = (uint32_t)back, high = (uint32_t)(back >> 32);
	struct full is;

	assert_int_equal(moved[0], 0x68);
	assert_memory_equal(moved + 1, &low, 4);
	assert_memory_equal(moved + 5, "\xc7\x44\x24\x04", 4);
	assert_memory_equal(moved + 9, &high, 4);
	moved += 13;
	assert_true(decode(moved, 15, &is));
	assert_int_equal(is.it.mnemonic, ZYDIS_MNEMONIC_JMP);
	same_operand(was, &is, 0, was_at, (uintptr_t)moved);
	return 13u + is.it.length;
}

static void same_code(const struct tpc_code_function *function, const struct tpc_code_detour *detour, const uint8_t *to)
{
	size_t at = detour->patch_at, end = at + detour->patch_bytes, moved = TPC_CODE_MOVED_AT + 4u;

	while (at < end) {
		uint64_t was_at = function->at + at, is_at = (uintptr_t)to + moved;
		struct full was, is;

		assert_true(decode(function->bytes + at, LENGTH - at, &was));
		if (was.it.mnemonic == ZYDIS_MNEMONIC_CALL) {
			moved += same_call(&was, was_at, to + moved);
		} else {
			assert_true(decode(to + moved, TPC_CODE_MOVED_MAX - moved, &is));
			same_instruction(&was, &is, was_at, is_at);
			moved += is.it.length;
		}
		at += was.it.length;
	}
	assert_int_equal(at, end);
	assert_int_equal(to[moved], 0xe9); /* back */
}

/* ---- executed ---- */

static bool is_harmless_mnemonic(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_ADC:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_SBB:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_TEST:
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_LEA:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_NEG:
	case ZYDIS_MNEMONIC_NOT:
	case ZYDIS_MNEMONIC_XCHG:
	case ZYDIS_MNEMONIC_XADD:
	case ZYDIS_MNEMONIC_BSWAP:
	case ZYDIS_MNEMONIC_CDQE:
	case ZYDIS_MNEMONIC_CDQ:
	case ZYDIS_MNEMONIC_NOP:
	case ZYDIS_MNEMONIC_SETNZ:
	case ZYDIS_MNEMONIC_CMOVB:
	case ZYDIS_MNEMONIC_CMOVNZ:
		return true;
	default:
		return false;
	}
}

/* A general register that call_with() sets, or %rip or none. */
static bool is_set(ZydisRegister reg)
{
	if (reg == ZYDIS_REGISTER_NONE || reg == ZYDIS_REGISTER_RIP)
		return true;
	reg = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
	if (reg == ZYDIS_REGISTER_RFLAGS)
		return true;
	return reg >= ZYDIS_REGISTER_RAX && reg <= ZYDIS_REGISTER_R11 && reg != ZYDIS_REGISTER_RSP &&
	       reg != ZYDIS_REGISTER_RBP && reg != ZYDIS_REGISTER_RBX;
}

static bool is_harmless_operand(const ZydisDecodedOperand *operand)
{
	switch (operand->type) {
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		return true;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		return operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN && is_set(operand->mem.base) &&
		       is_set(operand->mem.index);
	case ZYDIS_OPERAND_TYPE_REGISTER:
		return ZydisRegisterGetClass(operand->reg.value) != ZYDIS_REGCLASS_SEGMENT &&
		       is_set(operand->reg.value);
	default:
		return false;
	}
}

static bool is_harmless(const struct tpc_code_function *function, const struct tpc_code_detour *detour)
{
	size_t at = detour->patch_at, end = at + detour->patch_bytes;
	struct full full;

	for (; at < end; at += full.it.length) {
		if (!decode(function->bytes + at, LENGTH - at, &full) || !is_harmless_mnemonic(full.it.mnemonic) ||
		    full.it.attributes & ZYDIS_ATTRIB_HAS_LOCK)
			return false;
		for (size_t i = 0; i < full.it.operand_count; i++) {
			if (!is_harmless_operand(&full.operands[i]))
				return false;
		}
	}
	return true;
}

static void same_result(const struct tpc_code_function *function, const uint8_t *moved)
{
	uint64_t was[REGISTERS], is[REGISTERS];

	for (size_t i = 0; i < REGISTERS; i++)
		was[i] = is[i] = (uint64_t)draw(UINT32_MAX) << 32 | draw(UINT32_MAX);
	was[9] = is[9] = 0x202 | draw(2) | draw(2) << 6; /* carry and zero */
	call_with(function->bytes, was);
	call_with(moved, is);
	for (size_t i = 0; memcmp(was, is, sizeof(was)) != 0 && i < function->size; i++)
		print_message("%02x ", function->bytes[i]);
	assert_memory_equal(was, is, sizeof(was));
}

static void test_random_instructions(void **state)
{
	uint32_t moved = 0, branches = 0, by_rip = 0, executed = 0, refused[TPC_CODE_REFUSALS] = { 0 };
	uint8_t *code = executable(), *to = executable();

	(void)state;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct tpc_code_function function;
		struct tpc_code_detour detour;
		enum tpc_code_refusal refusal;
		struct full first;

		if (!make_function(code, &function))
			continue;
		refusal = tpc_code_move(&decoder, &function, (uintptr_t)to, (uintptr_t)to, true, &detour);
		refused[refusal]++;
		if (refusal)
			continue;
		assert_in_range(detour.patch_bytes, 5, 19);
		memcpy(to, detour.code, detour.bytes);
		same_code(&function, &detour, to);
		moved++;
		assert_true(decode(code + detour.patch_at, 15, &first));
		branches += is_relative_branch(&first);
		by_rip += is_by_rip(&first.operands[0]) || is_by_rip(&first.operands[1]);
		if (is_harmless(&function, &detour)) {
			same_result(&function, to + TPC_CODE_MOVED_AT);
			executed++;
		}
	}
	print_message("%u moved: %u begin with a branch, %u with an operand relative to %%rip; %u executed\n", moved,
		      branches, by_rip, executed);
	for (enum tpc_code_refusal i = TPC_CODE_TOO_SHORT; i < TPC_CODE_REFUSALS; i++)
		print_message("%u refused: %s\n", refused[i], tpc_code_refusal_text(i));
	assert_true(moved > ROUNDS / 10 && branches > 100 && by_rip > 1000 && executed > 300);
}

static int start(void **state)
{
	ZydisDecoderInit(&whole, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return load_decoder(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_random_instructions) };

	return cmocka_run_group_tests_name("code_fuzz", tests, start, NULL);
}
