/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++'s operators new and delete, in all forms. Those of libstdc++ call malloc and free. The hooks do that themselves,
 * so that the event is the operator's and its stack begins at the caller. jemalloc, tcmalloc and mimalloc have
 * operators of their own, which are called.
 */
#include "core/lookup.h"
#include "hooks/gate/paused_frees.h"
#include "hooks/memory/reached.h"
#include "hooks/memory/record.h"

#include <dlfcn.h>

#define FRAME __builtin_frame_address(0)

/* The operators, by their mangled names (Itanium C++ ABI 5.1). */
static struct {
	void *(*plain)(size_t);
	void *(*nothrow)(size_t, const void *);
	void *(*aligned)(size_t, size_t);
	void *(*aligned_nothrow)(size_t, size_t, const void *);
} next_new[2]; /* [1]: arrays */

static struct {
	void (*plain)(void *);
	void (*sized)(void *, size_t);
	void (*nothrow)(void *, const void *);
	void (*aligned)(void *, size_t);
	void (*sized_aligned)(void *, size_t, size_t);
	void (*aligned_nothrow)(void *, size_t, const void *);
} next_delete[2];

/* The operators are libstdc++'s or libc++'s: nothing but malloc and free. */
static bool is_standard TPC_LOOKED_AT = true;

/* Another malloc precedes ours, and the C++ library's operators call it: they are called, and nothing is recorded here. */
static bool is_second(void)
{
	return tpc_malloc_is_second() && !is_standard;
}

static const struct {
	const char *name;
	void **to;
} names[] = {
	{ "_Znwm", (void **)&next_new[0].plain },
	{ "_Znam", (void **)&next_new[1].plain },
	{ "_ZnwmRKSt9nothrow_t", (void **)&next_new[0].nothrow },
	{ "_ZnamRKSt9nothrow_t", (void **)&next_new[1].nothrow },
	{ "_ZnwmSt11align_val_t", (void **)&next_new[0].aligned },
	{ "_ZnamSt11align_val_t", (void **)&next_new[1].aligned },
	{ "_ZnwmSt11align_val_tRKSt9nothrow_t", (void **)&next_new[0].aligned_nothrow },
	{ "_ZnamSt11align_val_tRKSt9nothrow_t", (void **)&next_new[1].aligned_nothrow },
	{ "_ZdlPv", (void **)&next_delete[0].plain },
	{ "_ZdaPv", (void **)&next_delete[1].plain },
	{ "_ZdlPvm", (void **)&next_delete[0].sized },
	{ "_ZdaPvm", (void **)&next_delete[1].sized },
	{ "_ZdlPvRKSt9nothrow_t", (void **)&next_delete[0].nothrow },
	{ "_ZdaPvRKSt9nothrow_t", (void **)&next_delete[1].nothrow },
	{ "_ZdlPvSt11align_val_t", (void **)&next_delete[0].aligned },
	{ "_ZdaPvSt11align_val_t", (void **)&next_delete[1].aligned },
	{ "_ZdlPvmSt11align_val_t", (void **)&next_delete[0].sized_aligned },
	{ "_ZdaPvmSt11align_val_t", (void **)&next_delete[1].sized_aligned },
	{ "_ZdlPvSt11align_val_tRKSt9nothrow_t", (void **)&next_delete[0].aligned_nothrow },
	{ "_ZdaPvSt11align_val_tRKSt9nothrow_t", (void **)&next_delete[1].aligned_nothrow },
};

static bool in_standard_library(void *function)
{
	Dl_info info;

	return dladdr(function, &info) && info.dli_fname &&
	       (strstr(info.dli_fname, "libstdc++") || strstr(info.dli_fname, "libc++"));
}

/* A C++ library that is loaded later, outside the global scope, is not found: then it is a standard one. */
void tpc_new_find(void)
{
	for (size_t i = 0; i < TPC_LENGTH(names); i++) {
		*names[i].to = tpc_lookup_next(names[i].name);
		if (*names[i].to && !in_standard_library(*names[i].to))
			is_standard = false;
	}
	if (tpc_real.first_free && next_new[0].plain && next_delete[0].plain)
		is_standard = false;
}

/* ---- new ---- */

struct form {
	bool array, aligned, nothrow;
};

static void *call_next(struct form form, size_t size, size_t alignment, const void *nothrow)
{
	if (form.aligned && form.nothrow && next_new[form.array].aligned_nothrow)
		return next_new[form.array].aligned_nothrow(size, alignment, nothrow);
	if (form.aligned && !form.nothrow && next_new[form.array].aligned)
		return next_new[form.array].aligned(size, alignment);
	if (!form.aligned && form.nothrow && next_new[form.array].nothrow)
		return next_new[form.array].nothrow(size, nothrow);
	if (!form.aligned && !form.nothrow && next_new[form.array].plain)
		return next_new[form.array].plain(size);
	return NULL;
}

/*
 * Out of memory: new handlers, and then bad_alloc or NULL, are up to the C++ library. If that is not in the global
 * scope it is found by name, and only now, because dlopen takes the loader's lock.
 */
static TPC_SLOW void *out_of_memory(struct form form, size_t size, size_t alignment, const void *nothrow)
{
	void *library;

	if (!next_new[0].plain && (library = tpc_real.dlopen("libstdc++.so.6", RTLD_NOLOAD | RTLD_LAZY))) {
		for (size_t i = 0; i < 8; i++)
			*names[i].to = tpc_real.dlsym(library, names[i].name);
	}
	return call_next(form, size, alignment, nothrow);
}

/* Like libstdc++: at least one byte, and an aligned size is a multiple of the alignment. */
static inline void *standard_new(struct form form, size_t size, size_t alignment)
{
	if (tpc_unlikely(!size))
		size = 1;
	if (!form.aligned)
		return tpc_real.malloc(size);
	if (alignment < sizeof(void *))
		alignment = sizeof(void *);
	if (size > SIZE_MAX - alignment)
		return NULL;
	return tpc_real.aligned_alloc(alignment, tpc_round_up(size, alignment));
}

/*
 * An allocator's own operator. It may throw through this function, so nothing is held meanwhile: the thread is not
 * busy, and if the operator called malloc, that was the event.
 */
static TPC_SLOW void *foreign_new(const void *frame, struct form form, size_t size, size_t alignment,
				  const void *nothrow, struct tpc_request request)
{
	struct tpc_thread *thread = tpc_enter(frame);
	uint64_t events = thread ? thread->events : 0;
	uint32_t unrecorded = tpc_unrecorded_calls;
	void *block;

	if (thread)
		tpc_leave(thread);
	block = call_next(form, size, alignment, nothrow);
	if (block && !thread)
		tpc_unrecorded_around(unrecorded);
	if (!block || !thread || (thread->events != events && thread->last_block == (uintptr_t)block))
		return block;
	thread = tpc_enter(frame);
	if (thread) {
		tpc_record_alloc(thread, frame, block, request);
		tpc_leave(thread);
	}
	return block;
}

/* Not recorded, or not on the shortest path. */
static TPC_SLOW void *slow_new(const void *frame, struct form form, size_t size, size_t alignment, const void *nothrow,
			       struct tpc_request request)
{
	struct tpc_thread *thread;
	void *block;

	if (is_second())
		return call_next(form, size, alignment, nothrow);
	if (!is_standard)
		return foreign_new(frame, form, size, alignment, nothrow, request);
	thread = tpc_enter_slow(frame);
	if (!tpc_real.malloc)
		return tpc_bootstrap_take(alignment ? alignment : 16, size);
	block = standard_new(form, size, alignment);
	if (!thread)
		tpc_unrecorded(block != NULL);
	if (thread && block)
		tpc_record_alloc(thread, frame, block, request);
	if (thread)
		tpc_leave(thread);
	return block ? block : out_of_memory(form, size, alignment, nothrow);
}

/* In a pause. */
TPC_HOT void *new_in_pause(struct form form, size_t size, size_t alignment, const void *nothrow)
{
	void *block;

	if (tpc_unlikely(!is_standard))
		return call_next(form, size, alignment, nothrow);
	block = standard_new(form, size, alignment);
	return tpc_likely(block) ? block : out_of_memory(form, size, alignment, nothrow);
}

/* On the shortest path: without alignment and with a size, it is recorded like a malloc. */
TPC_HOT void *recorded_new(struct tpc_thread *thread, const void *frame, struct form form, size_t size,
			   size_t alignment, uint8_t fn)
{
	if (!form.aligned && tpc_likely(size))
		return tpc_record_malloc(thread, frame, size, fn);
	return tpc_allocated(thread, frame, standard_new(form, size, alignment), size,
			     fn | (uint32_t)tpc_log2(alignment) << 8);
}

TPC_HOT void *operator_new(const void *frame, struct form form, size_t size, size_t alignment, const void *nothrow)
{
	uint8_t fn = form.array ? TPROF_FN_NEW_ARRAY : TPROF_FN_NEW, log2 = tpc_log2(alignment);
	struct tpc_thread *thread = tpc_self;
	void *block;

	if (tpc_likely(is_standard) && tpc_is_open(thread)) {
		if (tpc_likely(tpc_enters(thread, frame))) {
			block = recorded_new(thread, frame, form, size, alignment, fn);
			return tpc_likely(block) ? block : out_of_memory(form, size, alignment, nothrow);
		}
		if (tpc_sample_passes(thread, frame, size)) {
			block = standard_new(form, size, alignment);
			return tpc_likely(block) ? block : out_of_memory(form, size, alignment, nothrow);
		}
	}
	return slow_new(frame, form, size, alignment, nothrow, (struct tpc_request){ size, fn, log2 });
}

/* ---- delete ---- */

struct deletion {
	bool array, aligned, sized, nothrow;
	size_t size, alignment;
	const void *tag;
};

static void call_next_delete(void *block, const struct deletion *d)
{
	if (d->sized && d->aligned && next_delete[d->array].sized_aligned)
		next_delete[d->array].sized_aligned(block, d->size, d->alignment);
	else if (d->aligned && d->nothrow && next_delete[d->array].aligned_nothrow)
		next_delete[d->array].aligned_nothrow(block, d->alignment, d->tag);
	else if (d->aligned && next_delete[d->array].aligned)
		next_delete[d->array].aligned(block, d->alignment);
	else if (d->sized && next_delete[d->array].sized)
		next_delete[d->array].sized(block, d->size);
	else if (d->nothrow && next_delete[d->array].nothrow)
		next_delete[d->array].nothrow(block, d->tag);
	else if (next_delete[d->array].plain)
		next_delete[d->array].plain(block);
	else
		tpc_real.free(block);
}

/* In a pause, and the block was not recorded. */
TPC_HOT bool delete_passes(const void *block)
{
	uint32_t gate = tpc_gate();

	return tpc_unlikely(gate) && tpc_paused_free_passes(gate, block) && !tpc_bootstrap_holds(block);
}

static TPC_SLOW void slow_delete(const void *frame, void *block, const struct deletion *deletion)
{
	struct tpc_thread *thread = is_second() ? NULL : tpc_enter_end_of(frame, block);
	uint32_t unrecorded = tpc_unrecorded_calls;

	if (thread) {
		tpc_record_free(thread, block, deletion->array ? TPROF_FN_DELETE_ARRAY : TPROF_FN_DELETE);
		if (tpc_load(&tpc_state.mode) == TPC_MODE_PAUSED)
			tpc_paused_free_note(block);
	}
	if (is_standard)
		tpc_real.free(block);
	else
		call_next_delete(block, deletion);
	if (thread)
		tpc_leave(thread);
	else
		tpc_unrecorded_around(unrecorded);
}

TPC_HOT void operator_delete(const void *frame, void *block, struct deletion deletion)
{
	struct tpc_thread *thread = tpc_self;

	if (!block || tpc_bootstrap_holds(block))
		return;
	if (tpc_likely(is_standard) && tpc_is_open(thread)) {
		if (tpc_likely(tpc_enters(thread, frame))) {
			tpc_record_release(thread, block, deletion.array ? TPROF_FN_DELETE_ARRAY : TPROF_FN_DELETE);
			return;
		}
		if (tpc_sample_passes_free(thread, frame, block)) {
			tpc_real.free(block);
			return;
		}
	}
	slow_delete(frame, block, &deletion);
}

/* ---- the exported operators ---- */

#define NEW(name, is_array, is_aligned, is_nothrow, parameters, names, size, alignment, tag)                           \
	static TPC_APART void *open_##name parameters                                                                  \
	{                                                                                                              \
		return operator_new(FRAME, (struct form){ is_array, is_aligned, is_nothrow }, size, alignment, tag);   \
	}                                                                                                              \
	TPC_EXPORT void *name parameters __asm__(#name);                                                               \
	TPC_EXPORT void *name parameters                                                                               \
	{                                                                                                              \
		if (tpc_unlikely(tpc_gate()))                                                                          \
			return new_in_pause((struct form){ is_array, is_aligned, is_nothrow }, size, alignment, tag);  \
		return open_##name names;                                                                              \
	}

NEW(_Znwm, false, false, false, (size_t n), (n), n, 0, NULL)
NEW(_Znam, true, false, false, (size_t n), (n), n, 0, NULL)
NEW(_ZnwmRKSt9nothrow_t, false, false, true, (size_t n, const void *t), (n, t), n, 0, t)
NEW(_ZnamRKSt9nothrow_t, true, false, true, (size_t n, const void *t), (n, t), n, 0, t)
NEW(_ZnwmSt11align_val_t, false, true, false, (size_t n, size_t a), (n, a), n, a, NULL)
NEW(_ZnamSt11align_val_t, true, true, false, (size_t n, size_t a), (n, a), n, a, NULL)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, false, true, true, (size_t n, size_t a, const void *t), (n, a, t), n, a, t)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, true, true, true, (size_t n, size_t a, const void *t), (n, a, t), n, a, t)

#define DELETE(name, parameters, names, ...)                                                                           \
	static TPC_APART void open_##name parameters                                                                   \
	{                                                                                                              \
		operator_delete(FRAME, p, (struct deletion){ __VA_ARGS__ });                                           \
	}                                                                                                              \
	TPC_EXPORT void name parameters __asm__(#name);                                                                \
	TPC_EXPORT void name parameters                                                                                \
	{                                                                                                              \
		if (!delete_passes(p))                                                                                 \
			open_##name names;                                                                             \
		else if (tpc_likely(is_standard))                                                                      \
			tpc_real.free(p);                                                                              \
		else                                                                                                   \
			call_next_delete(p, &(struct deletion){ __VA_ARGS__ });                                        \
	}

DELETE(_ZdlPv, (void *p), (p), .array = false)
DELETE(_ZdaPv, (void *p), (p), .array = true)
DELETE(_ZdlPvm, (void *p, size_t n), (p, n), .array = false, .sized = true, .size = n)
DELETE(_ZdaPvm, (void *p, size_t n), (p, n), .array = true, .sized = true, .size = n)
DELETE(_ZdlPvRKSt9nothrow_t, (void *p, const void *t), (p, t), .array = false, .nothrow = true, .tag = t)
DELETE(_ZdaPvRKSt9nothrow_t, (void *p, const void *t), (p, t), .array = true, .nothrow = true, .tag = t)
DELETE(_ZdlPvSt11align_val_t, (void *p, size_t a), (p, a), .array = false, .aligned = true, .alignment = a)
DELETE(_ZdaPvSt11align_val_t, (void *p, size_t a), (p, a), .array = true, .aligned = true, .alignment = a)
DELETE(_ZdlPvmSt11align_val_t, (void *p, size_t n, size_t a), (p, n, a), .array = false, .aligned = true, .sized = true,
       .size = n, .alignment = a)
DELETE(_ZdaPvmSt11align_val_t, (void *p, size_t n, size_t a), (p, n, a), .array = true, .aligned = true, .sized = true,
       .size = n, .alignment = a)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t a, const void *t), (p, a, t), .array = false,
       .aligned = true, .nothrow = true, .alignment = a, .tag = t)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t a, const void *t), (p, a, t), .array = true,
       .aligned = true, .nothrow = true, .alignment = a, .tag = t)
