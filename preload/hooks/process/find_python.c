/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/process/find_python.h"

#include "core/config.h"
#include "core/lookup.h"
#include "core/state.h"
#include "core/trylock.h"
#include "hooks/gate/enter.h"
#include "hooks/leakcheck/leak_snapshot.h"
#include "hooks/link/loader.h"
#include "hooks/memory/python_alloc.h"
#include "hooks/python/codes.h"
#include "hooks/python/stack.h"
#include "hooks/python/state.h"
#include "stacks/frames.h"
#include "stacks/rule_find.h"

#include <link.h>

/* ---- code objects that die ---- */

typedef void deallocate(void *object);

static deallocate *real_deallocate;

/* Replaces PyCode_Type's: the address of a code object is about to be reused. */
static void deallocate_code(void *code)
{
	tpc_code_died((uintptr_t)code);
	real_deallocate(code);
}

/*
 * Nothing else tells that a code object dies: most are in the interpreter's own arenas. The type is a variable of the
 * interpreter, and every version calls this pointer of it.
 */
static void watch_codes(void)
{
	deallocate **slot = (deallocate **)(tpc_python_code_type + TPC_TYPE_DEALLOC);

	if (*slot == deallocate_code)
		return;
	real_deallocate = *slot;
	tpc_store_release(slot, deallocate_code); /* pairs with any later call through it */
}

/* ---- the interpreter ---- */

static uint64_t loads; /* of the loader, at the last search */
static tpc_shared_u32 searching;
static uint32_t version; /* of Python */

static uint32_t version_of(const struct dl_phdr_info *object)
{
	struct tpc_lookup_found found;

	if (tpc_lookup_in(object, "Py_Version", &found)) /* 3.11 and later: a constant unsigned long */
		return (uint32_t)(*(const unsigned long *)found.address >> 16);
	if (tpc_lookup_in(object, "PyModule_AddObjectRef", &found))
		return 0x030a;
	if (tpc_lookup_in(object, "PyFrame_GetBack", &found))
		return 0x0309;
	return tpc_lookup_in(object, "PyCode_NewWithPosOnlyArgs", &found) ? 0x0308
									  : 0x0307; /* 3.7 began to have _PyRuntime */
}

/* All of the interpreter's loop: GCC may have moved more of it elsewhere than it left under its name. */
static void find_loop(const struct dl_phdr_info *object, const struct tpc_lookup_found *loop)
{
	tpc_frame_loop[0] = (struct tpc_range){ loop->address, loop->address + loop->size };
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];

		if (header->p_type == PT_GNU_EH_FRAME)
			tpc_rule_pieces((const void *)(object->dlpi_addr + header->p_vaddr), loop->address,
					tpc_frame_loop, TPC_LOOP_PIECES);
	}
}

#define KEYS_UNTIL 0x030e /* the last version with a key for the threads' states */

static bool find_states(const struct dl_phdr_info *object, uint32_t is)
{
	struct tpc_lookup_found own;

	if (is <= KEYS_UNTIL)
		return true;
	if (tpc_lookup_in(object, "PyGILState_GetThisThreadState", &own))
		tpc_python_slot = tpc_arch_thread_local_of((const uint8_t *)own.address, own.size);
	return tpc_python_slot != 0;
}

/* To be called before the first search can begin. */
static void tell_search(const struct dl_phdr_info *object, const struct tpc_lookup_found *runtime)
{
	struct tpc_lookup_found type_type;
	struct tprof_python *python = &tpc_leak_snapshot_python;

	if (!tpc_lookup_in(object, "PyType_Type", &type_type))
		return;
	tpc_python_layout_tell(&tpc_python, python);
	python->type_type = type_type.address;
	python->runtime = runtime->address;
}

/* Once: if a process has two kinds of interpreter, the first one's frames are recorded. */
static void use(const struct dl_phdr_info *object, const struct tpc_lookup_found *runtime)
{
	struct tpc_lookup_found loop, code_type;
	uint32_t is = version_of(object);

	if (!tpc_python_layout_find(is, (const void *)runtime->address, runtime->size, &tpc_python) ||
	    !tpc_lookup_in(object, "_PyEval_EvalFrameDefault", &loop) ||
	    !tpc_lookup_in(object, "PyCode_Type", &code_type) || !find_states(object, is)) {
		tpc_header->python_seen = is;
		return;
	}
	find_loop(object, &loop);
	tpc_frames_doubt(); /* remembered stacks don't know the loop */
	tpc_python_code_type = code_type.address;
	tell_search(object, runtime);
	tpc_python_runtime = (struct tpc_range){ runtime->address, runtime->address + runtime->size };
	watch_codes();
	version = is;
	tpc_header->python = is;
	tpc_store_release(&tpc_python_on, true); /* pairs with the hooks' loads: the rest is there */
	if (tpc_config.python == TPC_PYTHON_ALLOC)
		tpc_python_record_allocator(object);
}

static int look(struct dl_phdr_info *object, size_t size, void *context)
{
	struct tpc_lookup_found runtime;

	(void)size;
	(void)context;
	if (object->dlpi_adds == loads)
		return 1; /* nothing was loaded since */
	if (tpc_lookup_in(object, "_PyRuntime", &runtime)) {
		use(object, &runtime);
		return 1;
	}
	return 0;
}

static int count_loads(struct dl_phdr_info *object, size_t size, void *context)
{
	(void)size;
	(void)context;
	loads = object->dlpi_adds;
	return 1;
}

void tpc_python_find(void)
{
	struct tpc_thread *thread;

	if (tpc_load(&tpc_python_on) || tpc_config.python == TPC_PYTHON_OFF || !tpc_header ||
	    !tpc_trylock_take(&searching))
		return;
	thread = tpc_enter(__builtin_frame_address(0)); /* busy: allocations of the loader are no events */
	if (!tpc_load(&tpc_python_on) && !tpc_header->python_seen && tpc_loader_begin()) {
		if (dl_iterate_phdr(look, NULL) == 0)
			dl_iterate_phdr(count_loads, NULL);
		tpc_loader_end();
	}
	if (thread)
		tpc_leave(thread);
	tpc_trylock_end(&searching);
}

void tpc_python_forget(void)
{
	tpc_unshared(searching) = 0;
}

void tpc_python_describe(void)
{
	if (tpc_load(&tpc_python_on))
		tpc_header->python = version;
}
