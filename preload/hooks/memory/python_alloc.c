/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/memory/python_alloc.h"

#include "core/lookup.h"
#include "hooks/memory/record.h"

#define FRAME __builtin_frame_address(0)
#define SMALL 512u /* bytes; pymalloc gets larger blocks from malloc */

struct allocator { /* PyMemAllocatorEx */
	void *context;
	void *(*malloc)(void *context, size_t size);
	void *(*calloc)(void *context, size_t count, size_t size);
	void *(*realloc)(void *context, void *old, size_t size);
	void (*free)(void *context, void *block);
};

enum { DOMAIN_RAW, DOMAIN_MEM, DOMAIN_OBJECT, DOMAINS }; /* PyMemAllocatorDomain; raw is malloc, which is hooked */

static struct allocator real[DOMAINS]; /* the allocators below our layer; each is the context of its layer */

/* Blocks in pymalloc's pools have the requested size, rounded up. */
static uint64_t usable_size(void *block, uint64_t size)
{
	if (size <= SMALL)
		return size ? tpc_round_up(size, 16) : 16;
	return tpc_real.usable ? tpc_real.usable(block) : size;
}

static void record(struct tpc_thread *thread, const void *frame, void *block, uint64_t size, uint8_t fn)
{
	if (block)
		tpc_record_block(thread, frame, block, (struct tpc_request){ size, fn, 0 }, usable_size(block, size));
}

static void *python_malloc(void *context, size_t size)
{
	const struct allocator *to = context;
	struct tpc_thread *thread = tpc_enter(FRAME);
	void *block = to->malloc(to->context, size);

	if (!thread)
		return block;
	record(thread, FRAME, block, size, TPROF_FN_PYTHON_MALLOC);
	tpc_leave(thread);
	return block;
}

static void *python_calloc(void *context, size_t count, size_t size)
{
	const struct allocator *to = context;
	struct tpc_thread *thread = tpc_enter(FRAME);
	void *block = to->calloc(to->context, count, size);

	if (!thread)
		return block;
	record(thread, FRAME, block, count * size, TPROF_FN_PYTHON_CALLOC);
	tpc_leave(thread);
	return block;
}

static void *python_realloc(void *context, void *old, size_t size)
{
	const struct allocator *to = context;
	struct tpc_thread *thread = old ? tpc_enter_end_of(FRAME, old) : tpc_enter(FRAME);
	bool freed = thread && old && tpc_record_free(thread, old, TPROF_FN_PYTHON_REALLOC);
	void *block = to->realloc(to->context, old, size);

	if (!thread)
		return block;
	if (!block && freed)
		tpc_record_cancel(thread, old); /* size 0 too: Python returns a block then */
	if (freed || tpc_load(&tpc_state.mode) != TPC_MODE_PAUSED)
		record(thread, FRAME, block, size, TPROF_FN_PYTHON_REALLOC);
	tpc_leave(thread);
	return block;
}

static void python_free(void *context, void *block)
{
	const struct allocator *to = context;
	struct tpc_thread *thread = block ? tpc_enter_end_of(FRAME, block) : NULL;

	if (thread)
		tpc_record_free(thread, block, TPROF_FN_PYTHON_FREE);
	to->free(to->context, block);
	if (thread)
		tpc_leave(thread);
}

void tpc_python_record_allocator(const struct dl_phdr_info *object)
{
	struct tpc_lookup_found get, set;

	if (!tpc_lookup_in(object, "PyMem_GetAllocator", &get) || !tpc_lookup_in(object, "PyMem_SetAllocator", &set))
		return;
	for (int domain = DOMAIN_MEM; domain < DOMAINS; domain++) {
		struct allocator ours = { &real[domain], python_malloc, python_calloc, python_realloc, python_free };

		((void (*)(int, struct allocator *))get.address)(domain, &real[domain]);
		((void (*)(int, struct allocator *))set.address)(domain, &ours);
	}
}
