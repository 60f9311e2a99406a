/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/link/patch.h"

#include "core/space.h"
#include "core/sys.h"
#include "hooks/link/near.h"
#include "hooks/link/pending.h"
#include "stacks/moved.h"

#define GET_SHADOW_STACK 0x5005 /* arch_prctl(ARCH_SHSTK_STATUS), Linux 6.6 */

static const char forbidden[] = "the system forbids code that is written at run time, or writing to code";
static const char many[] = "more than 8,192 functions are to be hooked in their code";
static const char others[] = "other functions jump to its first instructions";

struct patch {
	uintptr_t at;
	uint8_t count, bytes[sizeof(((struct tpc_code_detour *)0)->patch)];
};

struct work {
	const struct tpc_patcher *patcher;
	struct tpc_target *targets;
	uint32_t count;
	bool may_push;
	uint8_t *area;		 /* of detours, one for each target */
	struct tpc_moved *moved; /* for each detour */
	struct patch *patches;	 /* for each target; count 0: none */
	struct tpc_code_span *spans;
	struct tpc_code_detour detour; /* the one at work */
};

/* With shadow stacks a return address that was not pushed by a call is an attack. */
static bool may_push(void)
{
	uint64_t features = 0;

	return tpc_syscall(SYS_arch_prctl, GET_SHADOW_STACK, &features, 0, 0) != 0 || !(features & 1);
}

static uint8_t *detour_of(const struct work *work, uint32_t i)
{
	return work->area + i * TPC_CODE_MOVED_MAX;
}

static const char *move(struct work *work, uint32_t i, const void *stub)
{
	enum tpc_code_refusal refusal =
		tpc_code_move(work->patcher->decoder, &work->targets[i].function, (uintptr_t)detour_of(work, i),
			      (uintptr_t)stub, work->may_push, &work->detour);

	return refusal ? tpc_code_refusal_text(refusal) : NULL;
}

/* Refuses those that can't be moved, and those that others jump into. */
static void examine(struct work *work, struct tpc_range code)
{
	uint32_t count = 0, i, k = 0;

	for (i = 0; i < work->count; i++) {
		struct tpc_target *target = &work->targets[i];
		uintptr_t at;

		target->reason = move(work, i, work->area);
		at = target->function.at + work->detour.patch_at;
		if (!target->reason)
			work->spans[count++] = (struct tpc_code_span){ at, at + work->detour.patch_bytes, false };
	}
	tpc_code_find_jumps(work->patcher->decoder, (const uint8_t *)code.low, code.high - code.low, code.low,
			    work->spans, count);
	for (i = 0; i < work->count; i++) {
		if (!work->targets[i].reason && work->spans[k++].jumped_into)
			work->targets[i].reason = others;
	}
}

static void prepare(struct work *work, uint32_t i)
{
	struct tpc_target *target = &work->targets[i];
	void *stub = work->patcher->stub(target, &target->reason, work->patcher->context);
	struct tpc_code_detour *detour = &work->detour;

	if (!stub)
		return;
	target->reason = move(work, i, stub); /* NULL, as before */
	memcpy(detour_of(work, i), detour->code, detour->bytes);
	work->patcher->moved(stub, detour_of(work, i) + TPC_CODE_MOVED_AT);
	work->moved[i].function = target->function.at;
	work->moved[i].count = detour->place_count;
	memcpy(work->moved[i].places, detour->places, sizeof(detour->places));
	work->patches[i].at = target->function.at + detour->patch_at;
	work->patches[i].count = detour->patch_bytes;
	memcpy(work->patches[i].bytes, detour->patch, sizeof(detour->patch));
}

static const char *write_patch(const struct work *work, uint32_t i)
{
	const struct patch *patch = &work->patches[i];

	if (tpc_pending_is_on())
		return tpc_pending_add(patch->at, patch->bytes, patch->count, (void *)work->targets[i].function.at,
				       work->patcher->refused)
			       ? NULL
			       : many;
	return tpc_near_write(patch->at, patch->bytes, patch->count) ? NULL : forbidden;
}

static void patch_all(struct work *work, bool sealed)
{
	for (uint32_t i = 0; i < work->count; i++) {
		const struct patch *patch = &work->patches[i];

		if (patch->count)
			work->targets[i].reason = sealed ? write_patch(work, i) : forbidden;
	}
}

static void refuse_all(const struct work *work, const char *reason)
{
	for (uint32_t i = 0; i < work->count; i++)
		work->targets[i].reason = reason;
}

static void patch_in(struct work *work, struct tpc_range code, size_t bytes)
{
	examine(work, code);
	for (uint32_t i = 0; i < work->count; i++) {
		if (!work->targets[i].reason)
			prepare(work, i);
	}
	patch_all(work,
		  tpc_near_seal(work->area, bytes) && tpc_moved_add((uintptr_t)work->area, work->count, work->moved));
}

void tpc_patch(const struct tpc_patcher *patcher, struct tpc_range code, struct tpc_target *targets, uint32_t count)
{
	/* A thread that is in such a call would return into the patch, and can't be seen to. */
	struct work work = {
		.patcher = patcher, .targets = targets, .count = count, .may_push = may_push() && !tpc_pending_is_on()
	};
	size_t bytes = tpc_round_up((uint64_t)count * TPC_CODE_MOVED_MAX, TPC_PAGE);
	size_t scratch = count * (sizeof(*work.patches) + sizeof(*work.spans));
	void *passing = tpc_sys_mmap(scratch, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	work.area = tpc_near_take(code, bytes);
	work.moved = work.area ? tpc_space_take(count * sizeof(*work.moved)) : NULL;
	if (!work.moved || tpc_sys_failed(passing)) {
		refuse_all(&work, tpc_code_refusal_text(TPC_CODE_FAR));
		return;
	}
	tpc_space_note(work.area, bytes);
	work.spans = passing;
	work.patches = (struct patch *)(work.spans + count);
	patch_in(&work, code, bytes);
	tpc_sys_munmap(passing, scratch);
}
