/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Built with -finstrument-functions: functions that longjmp leaves, from any depth and to any, with frames of all sizes, and on
 * a signal's stack; calls that the compiler puts inline; a recursion. Counts for itself. `instrumented_left TIMES DEPTH`
 */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HIDDEN __attribute__((noinline, no_instrument_function))
#define APART __attribute__((noinline))

enum { EARLY, SMALL, LARGE, INLINE, DOWN, STEP, ON_STACK, GUARD, COUNTS };
static long calls[COUNTS], left[COUNTS];
static sigjmp_buf back;
static volatile int sink;
static unsigned long state = 1;

HIDDEN static unsigned int drawn(unsigned int below)
{
	state = state * 6364136223846793005 + 1442695040888963407;
	return (unsigned int)(state >> 33) % below;
}

static inline __attribute__((always_inline)) void inlined(void)
{
	calls[INLINE]++;
	sink++;
}

APART static void small(int leave)
{
	calls[SMALL]++;
	left[SMALL] += leave;
	inlined();
	if (leave)
		siglongjmp(back, 1);
	inlined();
}

APART static void large(int leave)
{
	char text[3000];

	calls[LARGE]++;
	left[LARGE] += leave;
	memset(text, 1, sizeof(text));
	sink += text[drawn(3000)];
	if (leave)
		siglongjmp(back, 1);
}

APART static void down(int levels, int leave)
{
	char *text = alloca(drawn(200) + 1);

	calls[DOWN]++;
	left[DOWN] += leave;
	text[0] = 1;
	sink += text[0];
	inlined();
	if (levels > 0)
		down(levels - 1, leave);
	else if (leave)
		(drawn(2) ? small : large)(1);
	else
		small(0);
	sink++;
}

APART static void handler(int signal)
{
	calls[ON_STACK]++;
	sink += signal;
	if (drawn(2)) {
		left[ON_STACK]++;
		large(1);
	}
	small(0);
}

HIDDEN static void act(int what)
{
	switch (what) {
	case 0:
		small((int)drawn(2));
		break;
	case 1:
		large((int)drawn(2));
		break;
	case 2:
		down((int)drawn(9), (int)drawn(2));
		break;
	case 3:
		raise(SIGUSR1);
		break;
	default:
		small(0);
		large(0);
	}
}

APART static void guard(void)
{
	calls[GUARD]++;
	if (sigsetjmp(back, 1) == 0)
		act((int)drawn(5));
	small(0);
	large(0);
}

APART static int step(int n)
{
	calls[STEP]++;
	return n > 0 ? 1 + step(n - 1) : 0;
}

APART static void early(void)
{
	calls[EARLY]++;
}

__attribute__((no_instrument_function)) static void before(int argc, char **argv, char **environment)
{
	(void)argc;
	(void)argv;
	(void)environment;
	early();
}

__attribute__((section(".preinit_array"), used)) static void (*preinit)(int, char **, char **) = before;

int main(int argc, char **argv)
{
	static char stack[65536];
	stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	sigaltstack(&other, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < atoi(argv[1]); i++)
		guard();
	sink += step(argc > 2 ? atoi(argv[2]) : 1);
	printf("%ld %ld %ld %ld %ld %ld %ld %ld\n", calls[EARLY], calls[SMALL], calls[LARGE], calls[INLINE],
	       calls[DOWN], calls[STEP], calls[ON_STACK], calls[GUARD]);
	printf("%ld %ld %ld 0 %ld 0 %ld 0\n", left[EARLY], left[SMALL], left[LARGE], left[DOWN], left[ON_STACK]);
	return 0;
}
