/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/interrupted.h"

#include <cpuid.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "base/memory.h"

/* The kernel's struct _fpx_sw_bytes, in bytes of the FXSAVE area that the processor leaves alone (asm/sigcontext.h). */
#define LEGACY 512u
#define SOFTWARE 464u
#define MAGIC 0x46505853u /* FP_XSTATE_MAGIC1: more follows */
#define AREA_MAX 65536u

/* Intel's manual, volume 1, 13.4: where the x87 and SSE registers are in the area, and a bit for each of the parts in use. */
#define X87 32u
#define XMM 160u
#define XMM_END 416u
#define FIRST_PART 2u
#define PARTS 63u
#define X87_BIT 1u
#define SSE_BIT 2u

struct area {
	const uint8_t *bytes;
	size_t size;
	uint64_t in_use;
};

static void add(struct tpa_interrupted *to, const struct area *area, size_t from, size_t end)
{
	for (; from + 8 <= end && end <= area->size; from += 8)
		memcpy(&to->words[to->count++], area->bytes + from, 8);
}

/* The places come from this processor, on which the process runs too. */
static void add_part(struct tpa_interrupted *to, const struct area *area, unsigned part)
{
	unsigned size, offset, flags, unused;

	if (area->in_use >> part & 1 && __get_cpuid_count(0xd, part, &size, &offset, &flags, &unused) && !(flags & 1))
		add(to, area, offset, (size_t)offset + size);
}

/* Parts that are not in use are skipped: their bytes are undefined. */
static void add_vectors(struct tpa_interrupted *to, const struct area *area)
{
	if (area->in_use & X87_BIT)
		add(to, area, X87, XMM); /* MMX is in there */
	if (area->in_use & SSE_BIT)
		add(to, area, XMM, XMM_END);
	for (unsigned part = FIRST_PART; part < PARTS; part++)
		add_part(to, area, part);
}

/* How long the area is; 0: it can't be read. */
static size_t area_size(const struct tpa_frozen *frozen, uint64_t at)
{
	uint32_t software[2]; /* magic, bytes of all */

	if (!at || tpa_frozen_copy(frozen, at + SOFTWARE, software, sizeof(software)) != sizeof(software))
		return 0;
	if (software[0] != MAGIC)
		return LEGACY;
	return software[1] > LEGACY + 8 && software[1] <= AREA_MAX ? software[1] : LEGACY;
}

static bool read_vectors(const struct tpa_frozen *frozen, uint64_t at, struct tpa_interrupted *to)
{
	struct area area = { .size = area_size(frozen, at), .in_use = X87_BIT | SSE_BIT };
	uint8_t *bytes = tpa_zalloc(area.size, 1);
	bool good = tpa_frozen_copy(frozen, at, bytes, area.size) == area.size;

	to->words = tpa_resize(to->words, to->count + area.size / 8, sizeof(*to->words));
	area.bytes = bytes;
	if (good && area.size > LEGACY)
		memcpy(&area.in_use, bytes + LEGACY, sizeof(area.in_use));
	if (good)
		add_vectors(to, &area);
	free(bytes);
	return good;
}

bool tpa_interrupted_read(const struct tpa_frozen *frozen, uint64_t context, struct tpa_interrupted *to)
{
	static const int used[] = { REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
				    REG_RDI, REG_RSI, REG_RBP, REG_RBX, REG_RDX, REG_RAX, REG_RCX };
	mcontext_t registers;
	bool good;

	*to = (struct tpa_interrupted){ .words = tpa_zalloc(sizeof(used) / sizeof(used[0]), sizeof(*to->words)) };
	good = tpa_frozen_copy(frozen, context + offsetof(ucontext_t, uc_mcontext), &registers,
			       offsetof(mcontext_t, fpregs) + sizeof(registers.fpregs)) ==
	       offsetof(mcontext_t, fpregs) + sizeof(registers.fpregs);
	for (size_t i = 0; good && i < sizeof(used) / sizeof(used[0]); i++)
		to->words[to->count++] = (uint64_t)registers.gregs[used[i]];
	to->sp = good ? (uint64_t)registers.gregs[REG_RSP] : 0;
	good = good && read_vectors(frozen, (uintptr_t)registers.fpregs, to);
	if (!good) {
		free(to->words);
		*to = (struct tpa_interrupted){ 0 };
	}
	return good;
}
