/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/call.h"

#include "core/sys.h"
#include "hooks/control.h"
#include "hooks/enter.h"
#include "hooks/ops/names.h"
#include "stacks/frames.h"

#define FUNCTIONS_MAX 16384u
#define STUB_BYTES 16u
#define STUBS_AT 64u	 /* the trampoline's address stands before them */
#define WINDOW_MAX 1024u /* bytes of stack arguments that are passed on at most */

struct function {
	void *address;
	uint32_t op; /* number in the trace; 0: to be asked for */
	const char *category;
	char name[160];
};

struct called { /* what trampoline.S gets in rax and rdx */
	void *function;
	uint64_t window;
};

extern void tp_op_trampoline(void);
struct called tp_op_enter(uint32_t index, const uintptr_t *frame) __attribute__((visibility("hidden")));
void tp_op_leave(const uintptr_t *frame) __attribute__((visibility("hidden")));

static struct function *functions;
static uint32_t function_count;
static uint8_t *stubs;

/* ---- stubs ---- */

static bool make_room(void)
{
	size_t stub_bytes = STUBS_AT + FUNCTIONS_MAX * STUB_BYTES;

	if (functions)
		return true;
	functions = tp_sys_mmap(FUNCTIONS_MAX * sizeof(*functions), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	stubs = tp_sys_mmap(stub_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (tp_sys_failed(functions) || tp_sys_failed(stubs)) {
		functions = NULL;
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
	return tp_syscall(SYS_mprotect, stubs, tp_round_up(stub_bytes, TP_PAGE), PROT_READ | PROT_EXEC, 0) == 0;
}

bool tp_op_is_stub(const void *address)
{
	return stubs && (uintptr_t)address - (uintptr_t)stubs < STUBS_AT + FUNCTIONS_MAX * STUB_BYTES;
}

void *tp_op_stub(void *address, const struct tp_op_choice *choice)
{
	struct function *function;
	uint32_t i;

	if (!make_room())
		return NULL;
	for (i = 0; i < function_count; i++) {
		if (functions[i].address == address && strcmp(functions[i].name, choice->name) == 0)
			break;
	}
	if (i == FUNCTIONS_MAX)
		return NULL;
	if (i == function_count) {
		function = &functions[i];
		function->address = address;
		function->category = choice->category;
		memcpy(function->name, choice->name, sizeof(function->name));
		tp_store_release(&function_count, i + 1);
	}
	return stubs + STUBS_AT + i * STUB_BYTES;
}

void tp_op_calls_forget(void)
{
	for (uint32_t i = 0; i < function_count; i++)
		functions[i].op = 0;
}

/* ---- a call ---- */

/*
 * Runs what may touch vector registers (libc's memset, the vDSO) between two calls that must not. Components 0xe7: x87,
 * SSE, AVX, AVX-512, all that carry arguments and results (Intel SDM 13.1); 2,688 bytes at most.
 */
static TP_SLOW void with_vectors_kept(void (*run)(void *), void *context)
{
	uint8_t area[2752] __attribute__((aligned(64)));
	uint32_t low = 0xe7, high = 0;

	for (size_t i = 512; i < 576; i += 8)
		*(volatile uint64_t *)(area + i) = 0; /* the header must be defined */
	__asm__ volatile("xsave64 %0" : "+m"(area) : "a"(low), "d"(high) : "memory");
	run(context);
	__asm__ volatile("xrstor64 %0" : : "m"(area), "a"(low), "d"(high) : "memory");
}

struct slow_enter {
	const uintptr_t *frame;
	struct function *function;
	struct tp_thread *thread;
};

static void enter_slowly(void *context)
{
	struct slow_enter *slow = context;
	struct tp_thread *thread = slow->thread;

	if (!thread)
		thread = tp_enter_slow(slow->frame);
	if (!thread)
		return;
	thread->busy = TP_BUSY_RECORD;
	if (!tp_load(&slow->function->op))
		tp_store(&slow->function->op,
			 tp_op_number(slow->function->name, slow->function->category, TPROF_OP_FUNCTION));
	if (tp_emit_room(thread))
		slow->thread = thread;
	else
		tp_leave(thread);
}

/* Ops whose frames are below this one's are over: an exception or a longjmp went past them. */
static void end_unwound(struct tp_thread *thread, uintptr_t frame, uint64_t ticks)
{
	while (thread->op_depth > 0 && thread->op_frames[thread->op_depth - 1] < frame &&
	       tp_thread_on_stack(thread, thread->op_frames[thread->op_depth - 1])) {
		thread->op_depth--;
		if (tp_emit_room(thread))
			tp_emit_op_end(thread, ticks, true);
	}
}

struct slow_caller {
	uintptr_t pc;
	struct tp_frame frame;
};

static void find_caller(void *context)
{
	struct slow_caller *slow = context;

	slow->frame = tp_frame_find(slow->pc, false);
}

/* Bytes above the return address that can be the callee's stack arguments: the rest of the caller's frame. */
static uint64_t window_of(const struct tp_thread *thread, const uintptr_t *frame)
{
	uintptr_t arguments = (uintptr_t)(frame + 2), end = thread->bounds.high;
	struct tp_frame caller;
	uint64_t window;

	if (!tp_frame_known(frame[1], &caller)) {
		struct slow_caller slow = { frame[1], { { 0 }, 0 } };

		with_vectors_kept(find_caller, &slow);
		caller = slow.frame;
	}
	if (caller.rule.kind == TP_RULE_RSP)
		end = arguments + (uintptr_t)(intptr_t)caller.rule.cfa;
	else if (caller.rule.kind == TP_RULE_RBP)
		end = frame[0] + (uintptr_t)(intptr_t)caller.rule.cfa;
	window = end > arguments ? (end - arguments) & ~UINT64_C(15) : 0;
	return window < WINDOW_MAX ? window : WINDOW_MAX;
}

/* No thread to ask: as much as there surely is, up to the end of the page's mapping that holds the frame. */
static uint64_t unknown_window(const uintptr_t *frame)
{
	uintptr_t arguments = (uintptr_t)(frame + 2);
	uint64_t page = TP_PAGE - (arguments & (TP_PAGE - 1));

	return (page < WINDOW_MAX ? page : WINDOW_MAX) & ~UINT64_C(15);
}

struct called tp_op_enter(uint32_t index, const uintptr_t *frame)
{
	struct function *function = &functions[index];
	struct called called = { .function = function->address };
	struct tp_thread *thread = tp_self;
	bool ready = thread && tp_load(&tp_state.mode) == TP_MODE_ON && !thread->busy &&
		     tp_thread_on_stack(thread, (uintptr_t)frame);
	uint64_t ticks;

	if (tp_unlikely(!ready && thread && tp_load(&tp_state.mode) == TP_MODE_PAUSED && !tp_control_waits())) {
		called.window = window_of(thread, frame);
		return called;
	}
	if (ready) {
		thread->busy = TP_BUSY_RECORD;
		thread->busy_frame = (uintptr_t)frame;
		thread->busy_return = frame[1];
	}
	if (tp_unlikely(!ready || !function->op || thread->at >= thread->limit)) {
		struct slow_enter slow = { frame, function, ready ? thread : NULL };

		with_vectors_kept(enter_slowly, &slow);
		thread = slow.thread;
	}
	if (tp_unlikely(!thread || thread->op_depth == TP_OPS_MAX)) {
		called.window = thread ? window_of(thread, frame) : unknown_window(frame);
		if (thread)
			tp_leave(thread);
		return called;
	}
	ticks = tp_clock_before();
	end_unwound(thread, (uintptr_t)frame, ticks);
	thread->op_frames[thread->op_depth++] = (uintptr_t)frame;
	tp_emit_op(thread, ticks, function->op);
	called.window = window_of(thread, frame);
	tp_leave(thread);
	return called;
}

static void new_chunk(void *thread)
{
	tp_emit_room(thread);
}

/* An op that was recorded has its end recorded, though recording has been paused meanwhile. */
static bool ends_in_pause(const struct tp_thread *thread, uintptr_t frame)
{
	return tp_load(&tp_state.mode) == TP_MODE_PAUSED && thread->op_depth > 0 &&
	       thread->op_frames[thread->op_depth - 1] == frame;
}

void tp_op_leave(const uintptr_t *frame)
{
	struct tp_thread *thread = tp_self;
	uint64_t ticks;

	if (!thread || thread->busy)
		return;
	if (tp_load(&tp_state.mode) != TP_MODE_ON && !ends_in_pause(thread, (uintptr_t)frame))
		return;
	thread->busy = TP_BUSY_RECORD;
	thread->busy_frame = (uintptr_t)frame;
	thread->busy_return = frame[1];
	if (tp_unlikely(thread->at >= thread->limit))
		with_vectors_kept(new_chunk, thread);
	ticks = tp_clock_before();
	end_unwound(thread, (uintptr_t)frame, ticks);
	if (thread->op_depth > 0 && thread->op_frames[thread->op_depth - 1] == (uintptr_t)frame) {
		thread->op_depth--;
		tp_emit_op_end(thread, ticks, false);
	}
	tp_leave(thread);
}
