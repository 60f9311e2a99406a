/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/stubs.h"

#include "core/space.h"
#include "core/sys.h"

#define FUNCTIONS_MAX 16384u
#define STUB_BYTES 16u
#define STUBS_AT 64u /* the trampoline's address stands before them */

extern void tp_op_trampoline(void);

struct tp_op_function *tp_op_functions;
static uint32_t function_count;
static uint8_t *stubs;

/* By address, chained through next[]: indices + 1, 0 is the end. Thousands of functions are looked for as often. */
#define HEADS 4096u /* a power of two */
static uint16_t heads[HEADS], next[FUNCTIONS_MAX];
_Static_assert(FUNCTIONS_MAX < UINT16_MAX, "an index + 1 fits");

static uint16_t *head_of(const void *address)
{
	return &heads[(uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15) >> 40 & (HEADS - 1)];
}

static bool make_room(void)
{
	size_t stub_bytes = STUBS_AT + FUNCTIONS_MAX * STUB_BYTES;

	if (tp_op_functions)
		return true;
	tp_op_functions = tp_sys_mmap(FUNCTIONS_MAX * sizeof(*tp_op_functions), PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	tp_space_note(tp_op_functions, FUNCTIONS_MAX * sizeof(*tp_op_functions));
	stubs = tp_sys_mmap(stub_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (tp_sys_failed(tp_op_functions) || tp_sys_failed(stubs)) {
		tp_op_functions = NULL;
		return false;
	}
	*(void **)stubs = (void *)tp_op_trampoline;
	for (uint32_t i = 0; i < FUNCTIONS_MAX; i++) {
		uint8_t *stub = stubs + STUBS_AT + i * STUB_BYTES;
		int32_t back = (int32_t)(stubs - (stub + STUB_BYTES));

		memcpy(stub, "\xf3\x0f\x1e\xfa\x41\xbb", 6); /* endbr64; mov $i, %r11d */
		memcpy(stub + 6, &i, 4);
		memcpy(stub + 10, "\xff\x25", 2); /* jmp *back(%rip) */
		memcpy(stub + 12, &back, 4);
	}
	if (tp_syscall(SYS_mprotect, stubs, tp_round_up(stub_bytes, TP_PAGE), PROT_READ | PROT_EXEC, 0) == 0)
		return true;
	tp_op_functions = NULL; /* the system forbids code that was written */
	return false;
}

bool tp_op_is_stub(const void *address)
{
	return stubs && (uintptr_t)address - (uintptr_t)stubs < STUBS_AT + FUNCTIONS_MAX * STUB_BYTES;
}

/* The function's index; if it is none yet, the next one's. */
static uint32_t find(const void *address, const char *name)
{
	for (uint32_t i = *head_of(address); i; i = next[i - 1]) {
		if (tp_op_functions[i - 1].address == address && strcmp(tp_op_functions[i - 1].name, name) == 0)
			return i - 1;
	}
	return function_count;
}

void *tp_op_stub(void *address, const struct tp_op_choice *choice)
{
	struct tp_op_function *function;
	uint32_t i;

	if (!make_room())
		return NULL;
	i = find(address, choice->name);
	if (i == FUNCTIONS_MAX)
		return NULL;
	if (i == function_count) {
		uint16_t *head = head_of(address);

		function = &tp_op_functions[i];
		function->address = address;
		function->category = choice->category;
		function->ends_step = choice->ends_step;
		function->signature = choice->signature;
		function->signature.tells_usage |= choice->ends_step;
		function->ending = function->signature.tells_usage || function->signature.after ? function : NULL;
		memcpy(function->name, choice->name, sizeof(function->name));
		next[i] = *head;
		tp_store_release(head, (uint16_t)(i + 1)); /* pairs with tp_op_is_hooked(): the function is there */
		tp_store_release(&function_count, i + 1);
	}
	return stubs + STUBS_AT + i * STUB_BYTES;
}

bool tp_op_is_hooked(const void *address)
{
	for (uint32_t i = tp_load_acquire(head_of(address)); i; i = next[i - 1]) {
		if (tp_op_functions[i - 1].address == address)
			return true;
	}
	return false;
}

struct tp_op_function *tp_op_of_stub(const void *stub)
{
	return &tp_op_functions[((const uint8_t *)stub - stubs - STUBS_AT) / STUB_BYTES];
}

uint32_t tp_op_function_count(void)
{
	return tp_load(&function_count);
}

void tp_op_calls_forget(void)
{
	for (uint32_t i = 0; i < function_count; i++)
		tp_op_functions[i].op = 0;
}
