/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/x86_64/code_move.h"

#include <string.h>

_Static_assert(TPC_CODE_MOVED_AT == 5 + 6 + TPC_CODE_DIRECT_BYTES, "tpc_code_move() writes that much in front of them");

#define JUMP_BYTES 5u
#define ENDBR_BYTES 4u

static const uint8_t endbr[ENDBR_BYTES] = { 0xf3, 0x0f, 0x1e, 0xfa };

const char *tpc_code_refusal_text(enum tpc_code_refusal refusal)
{
	static const char *const texts[TPC_CODE_REFUSALS] = {
		[TPC_CODE_GOOD] = "",
		[TPC_CODE_TOO_SHORT] = "it is shorter than a jump",
		[TPC_CODE_UNKNOWN] = "it contains what is no instruction",
		[TPC_CODE_JUMPED_INTO] = "it jumps to its first instructions",
		[TPC_CODE_FIXED] = "it begins with an instruction that can't be moved",
		[TPC_CODE_CALLS] = "it begins with a call",
		[TPC_CODE_FAR] = "no memory is free within 2 GiB of it",
	};

	return refusal < TPC_CODE_REFUSALS ? texts[refusal] : "?";
}

/* ---- what is moved ---- */

static bool is_call(const struct tpc_code_instruction *it)
{
	return it->kind == TPC_CODE_CALL || it->kind == TPC_CODE_CALL_POINTER;
}

static enum tpc_code_refusal check_movable(const struct tpc_code_instruction *it, bool last, bool may_push)
{
	if (it->kind == TPC_CODE_ODD || it->kind == TPC_CODE_JUMP_SHORT)
		return TPC_CODE_FIXED;
	if (it->relative_bytes == 1 && it->relative_at != 1)
		return TPC_CODE_FIXED; /* a short jump with a prefix */
	if (!is_call(it))
		return TPC_CODE_GOOD;
	if (it->kind == TPC_CODE_CALL_POINTER && it->by_stack_pointer)
		return TPC_CODE_FIXED;
	return last && may_push ? TPC_CODE_GOOD : TPC_CODE_CALLS;
}

/* How many bytes are replaced: whole instructions. Behind the function's end there may be filler. */
static enum tpc_code_refusal find_patch(const struct tpc_code_decoder *decoder,
					const struct tpc_code_function *function, bool may_push,
					struct tpc_code_detour *detour)
{
	struct tpc_code_instruction it;
	enum tpc_code_refusal refusal;
	size_t at = 0, end = function->room > function->size ? function->room : function->size;

	if (function->size >= ENDBR_BYTES && memcmp(function->bytes, endbr, ENDBR_BYTES) == 0)
		at = ENDBR_BYTES;
	detour->patch_at = (uint8_t)at;
	while (at < detour->patch_at + JUMP_BYTES) {
		if (at >= end)
			return TPC_CODE_TOO_SHORT;
		if (!tpc_code_decode(decoder, function->bytes + at, end - at, &it))
			return at < function->size ? TPC_CODE_UNKNOWN : TPC_CODE_TOO_SHORT;
		if (at >= function->size && !it.filler)
			return TPC_CODE_TOO_SHORT;
		at += it.length;
		if (at > function->size && at - it.length < function->size)
			return TPC_CODE_UNKNOWN;
		if (at > function->size)
			continue;
		refusal = check_movable(&it, at >= detour->patch_at + JUMP_BYTES, may_push);
		if (refusal)
			return refusal;
	}
	detour->patch_bytes = (uint8_t)(at - detour->patch_at);
	return TPC_CODE_GOOD;
}

/* Offset of the target of a jump or call, from the function's start. */
static int64_t target_of(const struct tpc_code_function *function, size_t at, const struct tpc_code_instruction *it)
{
	const uint8_t *relative = function->bytes + at + it->relative_at;
	int32_t distance = (*relative ^ 0x80) - 0x80;

	if (it->relative_bytes == 4)
		memcpy(&distance, relative, sizeof(distance));
	return (int64_t)at + it->length + distance;
}

static bool is_branch(const struct tpc_code_instruction *it)
{
	return it->kind == TPC_CODE_JUMP || it->kind == TPC_CODE_JUMP_IF || it->kind == TPC_CODE_JUMP_SHORT ||
	       it->kind == TPC_CODE_CALL || (it->kind == TPC_CODE_ODD && it->relative_bytes);
}

/*
 * Does the function jump into what is replaced? To its start it may call itself, but not jump: in a loop each round would be
 * a call.
 */
static enum tpc_code_refusal check_jumps(const struct tpc_code_decoder *decoder,
					 const struct tpc_code_function *function, const struct tpc_code_detour *detour)
{
	int64_t end = detour->patch_at + detour->patch_bytes;
	struct tpc_code_instruction it;

	for (size_t at = 0; at < function->size; at += it.length) {
		int64_t target, start;

		if (!tpc_code_decode(decoder, function->bytes + at, function->size - at, &it))
			return TPC_CODE_UNKNOWN;
		if (!is_branch(&it))
			continue;
		target = target_of(function, at, &it);
		start = it.kind == TPC_CODE_CALL ? detour->patch_at + 1 : 0;
		if (target >= start && target < end)
			return TPC_CODE_JUMPED_INTO;
	}
	return TPC_CODE_GOOD;
}

/* ---- the detour ---- */

struct writer {
	struct tpc_code_detour *detour;
	uintptr_t to; /* the detour's address */
	bool far;     /* something was out of reach */
};

static void put(struct writer *writer, const void *bytes, size_t count)
{
	memcpy(writer->detour->code + writer->detour->bytes, bytes, count);
	writer->detour->bytes = (uint8_t)(writer->detour->bytes + count);
}

/* Offset in memory from the address `from`. */
static void put_distance(struct writer *writer, uint8_t *where, uintptr_t from, uintptr_t target)
{
	int64_t distance = (int64_t)(target - from);
	int32_t stored = (int32_t)distance;

	writer->far |= stored != distance;
	memcpy(where, &stored, sizeof(stored));
}

/* An instruction that ends with an offset. */
static void put_to(struct writer *writer, const void *opcode, size_t count, uintptr_t target)
{
	uint8_t distance[4];

	put(writer, opcode, count);
	put_distance(writer, distance, writer->to + writer->detour->bytes + sizeof(distance), target);
	put(writer, distance, sizeof(distance));
}

/* From here on, the state is that of the function's instruction there. */
static void note_place(struct writer *writer, size_t function)
{
	struct tpc_code_detour *detour = writer->detour;

	detour->places[detour->place_count++] = (struct tpc_code_place){ detour->bytes, (uint8_t)function };
}

/*
 * The return address is the original one, so that unwinders, and the function itself, find all as it would be:
 * pushq $low; movl $high, 4(%rsp).
 */
static void push_return(struct writer *writer, uintptr_t address)
{
	uint32_t low = (uint32_t)address, high = (uint32_t)((uint64_t)address >> 32);

	put(writer, "\x68", 1);
	put(writer, &low, sizeof(low));
	note_place(writer, TPC_CODE_NOWHERE);
	put(writer, "\xc7\x44\x24\x04", 4);
	put(writer, &high, sizeof(high));
}

/* The same instruction at another place. */
static void put_moved(struct writer *writer, const struct tpc_code_function *function, size_t at,
		      const struct tpc_code_instruction *it)
{
	uint8_t *start = writer->detour->code + writer->detour->bytes;

	put(writer, function->bytes + at, it->length);
	if (it->relative_at)
		put_distance(writer, start + it->relative_at, writer->to + writer->detour->bytes,
			     function->at + (uintptr_t)target_of(function, at, it));
}

static void put_call(struct writer *writer, const struct tpc_code_function *function, size_t at,
		     const struct tpc_code_instruction *it)
{
	uint8_t *modrm;

	push_return(writer, function->at + at + it->length);
	if (it->kind == TPC_CODE_CALL) {
		put_to(writer, "\xe9", 1, function->at + (uintptr_t)target_of(function, at, it));
		return;
	}
	modrm = writer->detour->code + writer->detour->bytes + it->modrm_at;
	put_moved(writer, function, at, it);
	*modrm = (uint8_t)((*modrm & ~0x38u) | 4u << 3); /* jmp instead of call */
}

static void put_short_jump(struct writer *writer, const struct tpc_code_function *function, size_t at,
			   const struct tpc_code_instruction *it)
{
	uintptr_t target = function->at + (uintptr_t)target_of(function, at, it);
	uint8_t if_near[2] = { 0x0f, (uint8_t)(function->bytes[at] + 0x10) };

	if (it->kind == TPC_CODE_JUMP)
		put_to(writer, "\xe9", 1, target);
	else
		put_to(writer, if_near, sizeof(if_near), target);
}

/* Moves the instructions, and returns to what follows them. */
static void put_function(struct writer *writer, const struct tpc_code_decoder *decoder,
			 const struct tpc_code_function *function)
{
	size_t at = writer->detour->patch_at, end = at + writer->detour->patch_bytes;
	struct tpc_code_instruction it;

	for (; at < end && at < function->size; at += it.length) {
		if (!tpc_code_decode(decoder, function->bytes + at, function->size - at, &it))
			return; /* not so: find_patch() decoded it */
		note_place(writer, at);
		if (is_call(&it))
			put_call(writer, function, at, &it);
		else if (it.relative_bytes == 1)
			put_short_jump(writer, function, at, &it);
		else
			put_moved(writer, function, at, &it);
	}
	if (end > function->size)
		return; /* there is nothing to return to */
	note_place(writer, end);
	put_to(writer, "\xe9", 1, function->at + end);
}

static void put_stub(struct writer *writer, uintptr_t stub)
{
	struct tpc_code_detour *detour = writer->detour;
	uint8_t *jump = detour->code + 5;
	uint64_t pointer = stub;

	while (detour->bytes % sizeof(pointer))
		put(writer, "\xcc", 1);
	put_distance(writer, jump + 2, (uintptr_t)11, detour->bytes);
	put(writer, &pointer, sizeof(pointer));
}

static void write_patch(struct writer *writer, const struct tpc_code_function *function)
{
	struct tpc_code_detour *detour = writer->detour;

	memset(detour->patch, 0xcc, sizeof(detour->patch));
	detour->patch[0] = 0xe9;
	put_distance(writer, detour->patch + 1, function->at + detour->patch_at + JUMP_BYTES, writer->to);
}

enum tpc_code_refusal tpc_code_move(const struct tpc_code_decoder *decoder, const struct tpc_code_function *function,
				    uintptr_t to, uintptr_t stub, bool may_push, struct tpc_code_detour *detour)
{
	struct writer writer = { detour, to, false };
	enum tpc_code_refusal refusal;

	detour->bytes = detour->place_count = 0;
	refusal = find_patch(decoder, function, may_push, detour);
	if (!refusal && function->room < (size_t)detour->patch_at + detour->patch_bytes)
		refusal = TPC_CODE_JUMPED_INTO; /* another symbol stands there */
	if (!refusal)
		refusal = check_jumps(decoder, function, detour);
	if (refusal)
		return refusal;
	note_place(&writer, 0);
	put(&writer, "\x4c\x89\x5c\x24\xf0", 5); /* mov %r11, -16(%rsp) */
	put(&writer, "\xff\x25\0\0\0\0", 6);	 /* jmp *stub(%rip) */
	put(&writer, endbr, ENDBR_BYTES);
	put(&writer, "\x4c\x8b\x5c\x24\xf0", 5); /* mov -16(%rsp), %r11 */
	put(&writer, endbr, ENDBR_BYTES);
	put_function(&writer, decoder, function);
	put_stub(&writer, stub);
	write_patch(&writer, function);
	return writer.far ? TPC_CODE_FAR : TPC_CODE_GOOD;
}

bool tpc_code_is_patched(const uint8_t *function, uintptr_t detour)
{
	int32_t distance;

	if (memcmp(function, endbr, ENDBR_BYTES) == 0)
		function += ENDBR_BYTES;
	memcpy(&distance, function + 1, sizeof(distance));
	return function[0] == 0xe9 && (uintptr_t)function + JUMP_BYTES + (uintptr_t)(intptr_t)distance == detour;
}

/* ---- jumps of others ---- */

/* How many spans begin below the address. */
static size_t begin_below(const struct tpc_code_span *spans, size_t count, uintptr_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (spans[middle].low < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The span that the address lies in, behind its first byte; NULL: none. */
static struct tpc_code_span *span_at(struct tpc_code_span *spans, size_t count, uintptr_t address)
{
	size_t below;

	if (address <= spans[0].low || address >= spans[count - 1].high)
		return NULL;
	below = begin_below(spans, count, address);
	return below && address < spans[below - 1].high ? &spans[below - 1] : NULL;
}

/*
 * Does a jump or call end at `end`? Decoding begins at each byte from BEFORE to NEAR bytes before it: wherever it begins, it
 * soon finds the instructions that run. So a jump is hardly missed, and what is inside of others hardly taken for one.
 */
#define BEFORE 96u
#define NEAR 24u
static bool is_jump(const struct tpc_code_decoder *decoder, const uint8_t *code, size_t bytes, size_t end)
{
	size_t from = end > BEFORE ? end - BEFORE : 0, to = end > NEAR ? end - NEAR : 0;
	bool seen[BEFORE] = { false };

	for (size_t start = from; start <= to; start++) {
		for (size_t at = start; at < end && !seen[at - from];) {
			struct tpc_code_instruction instruction;

			seen[at - from] = true;
			if (!tpc_code_decode(decoder, code + at, bytes - at, &instruction)) {
				at++;
				continue;
			}
			at += instruction.length;
			if (at == end && (instruction.kind == TPC_CODE_JUMP || instruction.kind == TPC_CODE_JUMP_IF ||
					  instruction.kind == TPC_CODE_CALL))
				return true;
		}
	}
	return false;
}

void tpc_code_find_jumps(const struct tpc_code_decoder *decoder, const uint8_t *code, size_t bytes, uintptr_t at,
			 struct tpc_code_span *spans, size_t count)
{
	for (size_t i = 0; count && i + JUMP_BYTES <= bytes; i++) {
		bool is_if = i > 0 && code[i - 1] == 0x0f && (code[i] & 0xf0) == 0x80;
		struct tpc_code_span *span;
		int32_t distance;

		if (!is_if && (code[i] & 0xfe) != 0xe8)
			continue;
		memcpy(&distance, code + i + 1, sizeof(distance));
		span = span_at(spans, count, at + i + JUMP_BYTES + (uintptr_t)(intptr_t)distance);
		if (span && !span->jumped_into)
			span->jumped_into = is_jump(decoder, code, bytes, i + JUMP_BYTES);
	}
}
