/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack HOW N [DIRECTORY]: what is done to the frames that lie around hooked calls. tiny_call() calls what it is given.
 *   jump       N times a handler leaves a tiny_call for good, however deep it was in others
 *   alternate  N times a handler on a stack of its own makes a tiny_call within a tiny_call
 *   threads    N threads at once, each in a tiny_call of its own; then ten more each
 *   deep       tiny_call within tiny_call, N deep; twice
 *   overflow   N times the same without end: the handler of the fault that the stack's end is jumps back
 *   step       N times a call from one place: every other one is stepped through, and left by the handler of one step, a later one each time
 *   nested     N calls are stepped through: at each instruction, the hook's too, a handler maps a page and unmaps it
 *   coroutines N times each of eight, in turns drawn at random, lets another one run in the middle of its tiny_call in a tiny_call
 *   unload     N times one of DIRECTORY's libraries is loaded, another thread calls its function, and it is unloaded while that thread lives
 * Says what it saw, which is the same with a profiler.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "stepping.h"
#include "tinyblas.h"

enum { DEPTH = 7, STACK = 65536, MORE = 10, BLOCK = 100 };

static long times, left;
static volatile long seen;

static void nothing(void)
{
	seen++;
}

static void check(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "attack: %s\n", what);
	exit(1);
}

static void handle_on(int number, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	check(sigaction(number, &action, NULL) == 0, "sigaction");
}

/* The thread's own handlers run there from now on. */
static void take_alternate_stack(void)
{
	stack_t stack = { .ss_size = STACK };

	stack.ss_sp = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(stack.ss_sp != MAP_FAILED && sigaltstack(&stack, NULL) == 0, "sigaltstack");
}

/* ---- calls that are left ---- */

static sigjmp_buf back;

static void jump_back(int number)
{
	seen++;
	siglongjmp(back, number);
}

static void descend_and_raise(void)
{
	if (--left)
		tiny_call(descend_and_raise);
	else
		raise(SIGUSR1);
}

static void jump(void)
{
	handle_on(SIGUSR1, jump_back, 0);
	for (volatile long i = 0; i < times; i++) {
		left = 1 + i % DEPTH;
		if (sigsetjmp(back, 1) == 0)
			tiny_call(descend_and_raise);
	}
	tiny_call(nothing);
}

static void descend(void)
{
	if (left-- > 0)
		tiny_call(descend);
	else
		free(malloc(BLOCK));
}

static void deep(void)
{
	for (int i = 0; i < 2; i++) {
		left = times - 1;
		tiny_call(descend);
	}
	nothing();
}

static void overflow(void)
{
	take_alternate_stack();
	handle_on(SIGSEGV, jump_back, SA_ONSTACK);
	for (volatile long i = 0; i < times; i++) {
		left = 1L << 60;
		if (sigsetjmp(back, 1) == 0)
			tiny_call(descend);
		tiny_call(nothing);
	}
}

/* ---- calls on other stacks ---- */

static void call_again(int number)
{
	(void)number;
	tiny_call(nothing);
}

static void raise_again(void)
{
	raise(SIGUSR1);
}

static void alternate(void)
{
	take_alternate_stack();
	handle_on(SIGUSR1, call_again, SA_ONSTACK);
	for (long i = 0; i < times; i++)
		tiny_call(raise_again);
}

static pthread_barrier_t all;

static void meet(void)
{
	pthread_barrier_wait(&all);
}

static void give_way(void)
{
	sched_yield();
}

static void *one_of_many(void *sum)
{
	tiny_call(meet);
	for (int i = 0; i < MORE; i++)
		tiny_call(give_way);
	atomic_fetch_add((atomic_long *)sum, 1 + MORE);
	return NULL;
}

static void threads(void)
{
	pthread_t *thread = calloc((size_t)times, sizeof(*thread));
	pthread_attr_t attributes;
	atomic_long sum = 0;

	check(thread && pthread_barrier_init(&all, NULL, (unsigned)times) == 0, "barrier");
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 2 * STACK);
	for (long i = 0; i < times; i++)
		check(pthread_create(&thread[i], &attributes, one_of_many, &sum) == 0, "pthread_create");
	for (long i = 0; i < times; i++)
		pthread_join(thread[i], NULL);
	free(thread);
	seen = sum;
}

/* ---- calls that another coroutine runs in the middle of ---- */

enum { COROUTINES = 8, SMALL_STACK = 16384, RANDOM_A = 1103515245, RANDOM_C = 12345 };

static ucontext_t scheduler, coroutine[COROUTINES];
static int running;
static long over_count;
static bool is_over[COROUTINES];

/* As a raw switch does, wherever it is called. */
static void give_turn(void)
{
	free(malloc(BLOCK));
	seen++;
	swapcontext(&coroutine[running], &scheduler);
}

static void call_and_give_turn(void)
{
	tiny_call(give_turn);
}

static void run_coroutine(void)
{
	for (long i = 0; i < times; i++) {
		tiny_call(give_turn);
		tiny_call(call_and_give_turn);
	}
	is_over[running] = true;
	over_count++;
}

static void coroutines_of(size_t size)
{
	char *stacks = mmap(NULL, COROUTINES * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static unsigned int random = 1;

	check(stacks != MAP_FAILED, "mmap");
	for (int i = 0; i < COROUTINES; i++) {
		is_over[i] = false;
		getcontext(&coroutine[i]);
		coroutine[i].uc_stack.ss_sp = stacks + (size_t)i * size;
		coroutine[i].uc_stack.ss_size = size;
		coroutine[i].uc_link = &scheduler;
		makecontext(&coroutine[i], run_coroutine, 0);
	}
	for (over_count = 0; over_count < COROUTINES;) {
		random = random * RANDOM_A + RANDOM_C;
		running = (int)(random >> 16) % COROUTINES;
		if (!is_over[running])
			swapcontext(&scheduler, &coroutine[running]);
	}
	munmap(stacks, COROUTINES * size);
}

static void coroutines(void)
{
	coroutines_of(SMALL_STACK);
	coroutines_of(4 * STACK);
}

/* ---- every instruction of a call, its hook's too ---- */

static volatile bool stepping, leaves;
static volatile long steps, leave_at, maps;

static void begin_steps(void)
{
	stepping = true;
	step_from_here();
}

static void map_once(void)
{
	void *page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(page != MAP_FAILED && munmap(page, 1) == 0, "mmap");
	maps++;
}

static void step_on(int number, siginfo_t *info, void *context)
{
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];

	(void)info;
	steps++;
	if (!stepping)
		*flags &= ~(greg_t)TRAP_FLAG;
	else if (!leaves)
		map_once();
	else if (steps == leave_at)
		siglongjmp(back, number);
}

static void take_steps(void)
{
	struct sigaction action = { .sa_sigaction = step_on, .sa_flags = SA_SIGINFO };

	check(sigaction(SIGTRAP, &action, NULL) == 0, "sigaction");
}

static void step(void)
{
	leaves = true;
	take_steps();
	for (volatile long i = 0; i < times; i++) {
		steps = 0;
		leave_at = 1 + i / 2;
		if (sigsetjmp(back, 1) == 0) {
			if (i % 2)
				begin_steps();
			tiny_call(nothing);
		}
		stepping = false;
	}
	seen = 0; /* it is told how far each got by where the code lies */
}

static void nested(void)
{
	take_steps();
	for (long i = 0; i < times; i++) {
		begin_steps();
		tiny_call(nothing);
		stepping = false;
	}
	fprintf(stderr, "%ld\n", maps);
}

/* ---- libraries that go ---- */

typedef void *allocate_fn(size_t size);

static _Atomic(allocate_fn *) to_call;
static atomic_bool over;

static void *calls_what_comes(void *unused)
{
	while (!atomic_load(&over)) {
		allocate_fn *function = atomic_load(&to_call);

		if (!function)
			continue;
		free(function(BLOCK));
		seen++;
		atomic_store(&to_call, NULL); /* and nothing of this thread's is in the library any more */
	}
	return unused;
}

static void call_beside(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	allocate_fn *function = NULL;

	check(library != NULL, path);
	*(void **)&function = dlsym(library, "plugin_allocate");
	atomic_store(&to_call, function);
	while (atomic_load(&to_call))
		;
	check(dlclose(library) == 0, "dlclose");
}

static void unload(const char *directory)
{
	char path[2][4096];
	pthread_t thread;

	for (int i = 0; i < 2; i++)
		snprintf(path[i], sizeof(path[i]), "%s/libplugin_%c.so", directory, 'a' + i);
	check(pthread_create(&thread, NULL, calls_what_comes, NULL) == 0, "pthread_create");
	for (long i = 0; i < times; i++)
		call_beside(path[i % 2]);
	atomic_store(&over, true);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} attacks[] = {
		{ "jump", jump },
		{ "alternate", alternate },
		{ "threads", threads },
		{ "deep", deep },
		{ "overflow", overflow },
		{ "step", step },
		{ "coroutines", coroutines },
		{ "nested", nested },
	};

	times = argc > 2 ? atol(argv[2]) : 0;
	if (argc > 3 && !strcmp(argv[1], "unload"))
		unload(argv[3]);
	for (size_t i = 0; times && i < sizeof(attacks) / sizeof(attacks[0]); i++)
		if (!strcmp(argv[1], attacks[i].name))
			attacks[i].run();
	printf("attack: %ld\n", seen);
	return 0;
}
