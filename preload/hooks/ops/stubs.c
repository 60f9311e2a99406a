/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/stubs.h"

#include "core/assert.h"
#include "core/budget.h"
#include "core/fold.h"
#include "core/objects.h"
#include "core/space.h"
#include "core/sys.h"
#include "hooks/ops/unwound.h"
#include "hooks/sampling/cpu.h"
#include "stacks/leaves.h"

#define FUNCTIONS_MAX 16384u
#define FUNCTIONS_MANY 1024u /* calls use many pages: from this number on, functions get a large page */
#define STUB_BYTES TPC_ARCH_STUB_BYTES
#define STUBS_BYTES (FUNCTIONS_MAX * STUB_BYTES)
#define STUBS_AT (FUNCTIONS_MAX * sizeof(void *)) /* the addresses that they jump to precede them */
#define AREA_BYTES (STUBS_AT + STUBS_BYTES)

static void (*const trampolines[])(void) = {
	[TPC_TRAMPOLINE_ANY] = tpc_op_trampoline,
	[TPC_TRAMPOLINE_VALUE] = tpc_op_trampoline_value,
	[TPC_TRAMPOLINE_REFERENCE] = tpc_op_trampoline_reference,
	[TPC_TRAMPOLINE_KEPT] = tpc_op_trampoline_kept,
};

struct tpc_op_function *tpc_op_functions TPC_LOOKED_AT; /* set before the first stub is made */
static tpc_shared_u32 function_count;
static TPC_SHARED(uint8_t *)
	stubs; /* the addresses and the stubs; a page of stubs is made when the first is needed. NULL: none */
static tpc_shared_bool passed_by; /* calls go to the functions, and are not recorded */

/* Hash chains by address, through next[]: indices + 1, 0 ends a chain. Thousands of functions are looked up often. */
#define HEADS 16384u /* a power of two */
static tpc_shared_u16 heads[HEADS];
static uint16_t next[FUNCTIONS_MAX];
_Static_assert(FUNCTIONS_MAX < UINT16_MAX, "an index + 1 fits");

static tpc_shared_u16 *head_of(const void *address)
{
	return &heads[(uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15) >> 40 & (HEADS - 1)];
}

static bool protect(uint8_t *at, size_t bytes, int protection)
{
	return tpc_syscall(SYS_mprotect, at, bytes, protection, 0) == 0;
}

static void *reserve(size_t bytes)
{
	return tpc_sys_mmap(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void pass_ops(bool pass);

static bool make_room(void)
{
	struct tpc_op_function *functions;
	uint8_t *area;

	if (tpc_op_functions)
		return true;
	functions = tpc_space_at_border(FUNCTIONS_MAX * sizeof(*functions));
	if (!functions)
		return false;
	tpc_space_note(functions, FUNCTIONS_MAX * sizeof(*functions));
	area = reserve(AREA_BYTES);
	if (tpc_sys_failed(area))
		return false;
	tpc_leaf_hold((uintptr_t)tpc_op_trampoline, (uintptr_t)tpc_op_trampoline_end - (uintptr_t)tpc_op_trampoline);
	tpc_fold_left = tpc_ops_end_thrown;
	tpc_cpu_own_code(area, AREA_BYTES);
	tpc_budget_pass_ops = pass_ops;
	tpc_op_functions = functions;
	tpc_store(&stubs, area);
	return true;
}

static uint8_t *stub_of(uint32_t i)
{
	return tpc_load(&stubs) + STUBS_AT + i * STUB_BYTES;
}

static void **target_of(uint32_t i)
{
	return (void **)tpc_load(&stubs) + i;
}

/* Makes the page of a stub. False: no memory, or the system forbids executing written code. */
static bool make_page(uint32_t i)
{
	static bool made[STUBS_BYTES / TPC_PAGE];
	uint32_t each = TPC_PAGE / STUB_BYTES, first = i / each * each;

	if (made[i / each])
		return true;
	for (uint32_t k = first; k < first + each; k++)
		tpc_arch_write_stub(stub_of(k), k, target_of(k));
	made[i / each] = protect(stub_of(first), TPC_PAGE, PROT_READ | PROT_EXEC);
	return made[i / each];
}

bool tpc_op_is_stub(const void *address)
{
	uint8_t *area = tpc_load(&stubs);

	return area && (uintptr_t)address - (uintptr_t)area < AREA_BYTES;
}

/* The function's index; if it has none, the next free one. */
static uint32_t find(const void *address, const char *name)
{
	for (uint32_t i = tpc_load(head_of(address)); i; i = next[i - 1]) {
		if (tpc_op_functions[i - 1].entry == address && strcmp(tpc_op_functions[i - 1].name, name) == 0)
			return i - 1;
	}
	return tpc_load(&function_count);
}

/* The function without its trampoline: the detour has stored %r11, and gives it back. */
static void *directly(const struct tpc_op_function *function)
{
	if (function->trampoline != TPC_TRAMPOLINE_KEPT)
		return function->address;
	return (uint8_t *)function->address - TPC_CODE_DIRECT_BYTES;
}

/*
 * Calls of most functions can be passed by. Not of those whose end takes more than an event, which are called rarely: they end
 * steps.
 */
static void set_target(uint32_t i)
{
	const struct tpc_op_function *function = &tpc_op_functions[i];
	bool passes = tpc_load(&passed_by) && !tpc_load(&function->ending);

	tpc_store(target_of(i), passes ? directly(function) : (void *)trampolines[function->trampoline]);
}

static void pass_ops(bool pass)
{
	tpc_store(&passed_by, pass);
	for (uint32_t i = 0; i < tpc_op_function_count(); i++)
		set_target(i);
}

/* Where to call a function: if it is hooked in its code under another name, not there. */
static void *moved_of(void *entry)
{
	for (uint32_t i = tpc_load(head_of(entry)); i; i = next[i - 1]) {
		if (tpc_op_functions[i - 1].entry == entry)
			return tpc_op_functions[i - 1].address;
	}
	return entry;
}

static uint32_t trampoline_for(const struct tpc_op_function *function)
{
	if (tpc_unshared(function->ending) || !tpc_op_is_short(&function->signature))
		return TPC_TRAMPOLINE_ANY;
	return function->signature.by_reference ? TPC_TRAMPOLINE_REFERENCE : TPC_TRAMPOLINE_VALUE;
}

static void add(void *entry, const struct tpc_op_choice *choice, uint32_t i)
{
	struct tpc_op_function *function = &tpc_op_functions[i];
	tpc_shared_u16 *head = head_of(entry);

	tpc_assert(i < FUNCTIONS_MAX && strnlen(choice->name, sizeof(choice->name)) < sizeof(choice->name));
	function->address = moved_of(entry);
	function->entry = entry;
	function->category = choice->category;
	function->ends_step = choice->ends_step;
	function->signature = choice->signature;
	function->signature.tells_usage |= choice->ends_step;
	tpc_unshared(function->ending) = function->signature.tells_usage || function->signature.after ||
							 function->signature.ended ||
							 tpc_unshared(function->signature.learns)
						 ? function
						 : NULL;
	function->trampoline = (uint8_t)trampoline_for(function);
	memcpy(function->name, choice->name, sizeof(function->name));
	set_target(i);
	next[i] = tpc_load(head);
	tpc_store_release(head, (uint16_t)(i + 1)); /* pairs with tpc_op_is_hooked(): the function is there */
	tpc_store(&function_count, i + 1);
	if (i + 1 == FUNCTIONS_MANY)
		tpc_space_gather(tpc_op_functions);
}

void *tpc_op_stub(void *address, const struct tpc_op_choice *choice)
{
	uint32_t i;

	if (!make_room())
		return NULL;
	i = find(address, choice->name);
	if (i == FUNCTIONS_MAX)
		return NULL;
	if (i == tpc_load(&function_count))
		add(address, choice, i);
	return make_page(i) ? stub_of(i) : NULL;
}

void *tpc_op_code_stub(void *function, const struct tpc_op_choice *choice)
{
	return tpc_op_is_hooked(function) ? NULL : tpc_op_stub(function, choice);
}

void tpc_op_moved(void *stub, void *moved)
{
	struct tpc_op_function *function = tpc_op_of_stub(stub);

	function->address = moved;
	function->trampoline = TPC_TRAMPOLINE_KEPT;
	set_target((uint32_t)(function - tpc_op_functions));
}

static bool is_there(const struct tpc_op_function *function)
{
	struct dl_find_object object;

	return tpc_object_find((uintptr_t)function->entry, &object) &&
	       tpc_code_is_patched(function->entry, (uintptr_t)function->address - TPC_CODE_MOVED_AT);
}

void tpc_op_code_forget(void)
{
	for (uint32_t i = 0; i < tpc_op_function_count(); i++) {
		struct tpc_op_function *function = &tpc_op_functions[i];

		if (function->trampoline == TPC_TRAMPOLINE_KEPT && function->entry && !is_there(function))
			function->entry = NULL;
	}
}

static const struct tpc_op_function *hooked_at(const void *address)
{
	/* Acquire: pairs with add(). */
	for (uint32_t i = tpc_load_acquire(head_of(address)); i; i = next[i - 1]) {
		if (tpc_op_functions[i - 1].entry == address)
			return &tpc_op_functions[i - 1];
	}
	return NULL;
}

struct tpc_op_function *tpc_op_at(const void *function)
{
	const struct tpc_op_function *found = hooked_at(function);

	return found ? &tpc_op_functions[found - tpc_op_functions] : NULL;
}

bool tpc_op_is_hooked(const void *address)
{
	return hooked_at(address) != NULL;
}

const char *tpc_op_name_at(const void *address)
{
	const struct tpc_op_function *function = hooked_at(address);

	return function ? function->name : "";
}

struct tpc_op_function *tpc_op_of_stub(const void *stub)
{
	tpc_assert(tpc_op_is_stub(stub) &&
		   ((uintptr_t)stub - (uintptr_t)tpc_load(&stubs) - STUBS_AT) % STUB_BYTES == 0);
	return &tpc_op_functions[((uintptr_t)stub - (uintptr_t)tpc_load(&stubs) - STUBS_AT) / STUB_BYTES];
}

uint32_t tpc_op_function_count(void)
{
	return tpc_load(&function_count);
}

void tpc_op_calls_forget(void)
{
	if (tpc_unshared(passed_by))
		pass_ops(false);
	for (uint32_t i = 0; i < tpc_unshared(function_count); i++)
		tpc_unshared(tpc_op_functions[i].op) = 0;
}
