/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack: allocations below every kind of frame that C makes, each with the stack that libunwind sees there. Built at
 * -O0, -O2 and -O3.
 */
#include "stacknote.h"
#include "truth.h"

#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline))

static void *volatile sink; /* no call below is a tail call: each is followed by a use */

static NOINLINE void plain(void)
{
	sink = NOTED_MALLOC();
}

static NOINLINE void recurse(int depth)
{
	if (depth)
		recurse(depth - 1);
	else
		plain();
	sink = NULL;
}

static NOINLINE void with_alloca(size_t size)
{
	char *volatile p = alloca(size);

	p[0] = 1;
	sink = NOTED_MALLOC();
	plain();
	sink = p;
}

static NOINLINE void with_vla(size_t size)
{
	volatile char array[size];

	array[size - 1] = 1;
	sink = NOTED_MALLOC();
	plain();
	array[0] = array[size - 1];
}

static NOINLINE void with_big_frame(void)
{
	volatile char array[200000];

	array[0] = 1;
	sink = NOTED_MALLOC();
	plain();
	array[1] = array[0];
}

/* The stack pointer is rounded down here: the frame is found by another register, or by an expression. */
static NOINLINE void with_realigned_frame(void)
{
	volatile char array[64] __attribute__((aligned(64)));

	array[0] = 1;
	sink = NOTED_MALLOC();
	plain();
	array[1] = array[0];
}

static NOINLINE void with_realigned_vla(size_t size)
{
	volatile char aligned[128] __attribute__((aligned(128)));
	volatile char array[size];

	array[0] = aligned[0] = 1;
	sink = NOTED_MALLOC();
	plain();
	aligned[1] = array[0];
}

typedef float avx_vector __attribute__((vector_size(32)));

static NOINLINE __attribute__((target("avx"))) void with_avx(void)
{
	volatile avx_vector v = { 1, 2, 3, 4, 5, 6, 7, 8 };

	sink = NOTED_MALLOC();
	plain();
	v = v + v;
}

static NOINLINE void with_many_arguments(int a, int b, int c, int d, int e, int f, int g, int h, int i)
{
	sink = NOTED_MALLOC();
	if (a + b + c + d + e + f + g + h + i)
		plain();
	sink = NULL;
}

static NOINLINE void variadic(int count, ...)
{
	va_list arguments;
	double sum = 0;

	va_start(arguments, count);
	for (int i = 0; i < count; i++)
		sum += va_arg(arguments, double);
	va_end(arguments);
	if (sum > 0)
		plain();
	sink = NOTED_MALLOC();
}

static inline __attribute__((always_inline)) void inlined(void)
{
	sink = NOTED_MALLOC();
}

static NOINLINE void with_inlined(void)
{
	inlined();
	plain();
	sink = NULL;
}

/* ---- called back by libc ---- */

static int compare_and_allocate(const void *a, const void *b)
{
	static int done;

	if (!done++)
		recurse(2);
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static NOINLINE void in_qsort(void)
{
	int numbers[6] = { 5, 3, 1, 4, 2, 0 };

	qsort(numbers, 6, sizeof(int), compare_and_allocate);
	sink = NULL;
}

static void once(void)
{
	plain();
	sink = NULL;
}

static NOINLINE void in_pthread_once(void)
{
	static pthread_once_t control = PTHREAD_ONCE_INIT;

	pthread_once(&control, once);
	sink = NULL;
}

static void *in_thread(void *argument)
{
	recurse(3);
	sink = NULL;
	return argument;
}

static NOINLINE void thread(void)
{
	pthread_t id;

	pthread_create(&id, NULL, in_thread, NULL);
	pthread_join(id, NULL);
}

/* ---- signals: the handler's frame is above the interrupted one, on another stack ---- */

static void handler(int signal)
{
	recurse(2);
	sink = signal ? NULL : sink;
}

static NOINLINE void interrupted(int signal)
{
	raise(signal);
	sink = NULL;
}

static NOINLINE void on_alternate_stack(void)
{
	static char memory[65536];
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	interrupted(SIGUSR1);
	sink = NULL;
}

static NOINLINE void on_same_stack(void)
{
	struct sigaction action = { .sa_handler = handler };

	sigaction(SIGUSR2, &action, NULL);
	interrupted(SIGUSR2);
	sink = NULL;
}

/* A fault between two instructions, not behind a call: its frame's address is exact, no return address. */
static void fault_handler(int signal, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)info;
	recurse(1);
	u->uc_mcontext.gregs[REG_RIP] += 2; /* over ud2 */
	sink = signal ? NULL : sink;
}

static NOINLINE void faulting(void)
{
	struct sigaction action = { .sa_sigaction = fault_handler, .sa_flags = SA_SIGINFO };

	sigaction(SIGILL, &action, NULL);
	__asm__ volatile("ud2");
	sink = NULL;
}

/* ---- a stack of one's own ---- */

static ucontext_t main_context, coroutine_context;

static void coroutine(void)
{
	recurse(2);
	sink = NULL;
	swapcontext(&coroutine_context, &main_context);
}

static NOINLINE void in_coroutine(void)
{
	static char memory[262144];

	getcontext(&coroutine_context);
	coroutine_context.uc_stack.ss_sp = memory;
	coroutine_context.uc_stack.ss_size = sizeof(memory);
	coroutine_context.uc_link = &main_context;
	makecontext(&coroutine_context, coroutine, 0);
	swapcontext(&main_context, &coroutine_context);
	sink = NULL;
}

__attribute__((constructor)) static void in_constructor(void)
{
	plain();
	sink = NULL;
}

static void at_exit(void)
{
	recurse(1);
	stack_notes_write();
}

int main(void)
{
	atexit(at_exit);
	plain();
	recurse(10);
	for (size_t size = 16; size < 5000; size *= 3) {
		with_alloca(size);
		with_vla(size);
		with_realigned_vla(size);
	}
	with_big_frame();
	with_realigned_frame();
	if (__builtin_cpu_supports("avx"))
		with_avx();
	with_many_arguments(1, 2, 3, 4, 5, 6, 7, 8, 9);
	variadic(3, 1.0, 2.0, 3.0);
	with_inlined();
	in_qsort();
	in_pthread_once();
	thread();
	on_alternate_stack();
	on_same_stack();
	faulting();
	in_coroutine();
	TRUTH_SAY("stack: done\n");
	return 0;
}
