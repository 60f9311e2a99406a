/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree CALLS: a random walk up and down the stack through functions of every kind of frame, with allocations on the
 * way: the stacks share outer parts of every length with those before. The same walk in each run.
 */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
#define KINDS 10
#define DEPTH_MAX 60

struct walk {
	uint64_t random;
	long calls; /* to go */
	jmp_buf top;
	uint64_t sum;
};

static __thread struct walk *current; /* a handler's */

static uint32_t draw(struct walk *walk, uint32_t below)
{
	walk->random = walk->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(walk->random >> 33) % below;
}

static void go(struct walk *walk, int depth);

static NOINLINE void use(struct walk *walk, volatile const char *p)
{
	walk->sum += (uint64_t)*p;
}

static NOINLINE void allocate(struct walk *walk)
{
	volatile char *p = malloc(1 + draw(walk, 200));

	p[0] = 1;
	use(walk, p);
	free((void *)p);
}

static NOINLINE void plain(struct walk *walk, int depth)
{
	go(walk, depth);
	walk->sum++;
}

static NOINLINE void twice(struct walk *walk, int depth)
{
	go(walk, depth);
	go(walk, depth + 20); /* another return address in the same frame */
	walk->sum++;
}

static NOINLINE void with_alloca(struct walk *walk, int depth)
{
	for (uint32_t i = draw(walk, 3); i-- > 0;) {
		char *p = alloca(16 + draw(walk, 500));

		p[0] = 1;
		allocate(walk); /* at another rsp each time */
		use(walk, p);
	}
	go(walk, depth);
	walk->sum++;
}

static NOINLINE void with_vla(struct walk *walk, int depth)
{
	volatile char array[1 + draw(walk, 1000)];

	array[0] = 1;
	go(walk, depth);
	use(walk, array);
}

static NOINLINE void with_realigned(struct walk *walk, int depth)
{
	volatile char array[64] __attribute__((aligned(128)));

	array[0] = 1;
	go(walk, depth);
	use(walk, array);
}

static NOINLINE void with_realigned_vla(struct walk *walk, int depth)
{
	volatile char aligned[64] __attribute__((aligned(64)));
	volatile char array[1 + draw(walk, 300)];

	aligned[0] = array[0] = 1;
	go(walk, depth);
	use(walk, aligned);
	use(walk, array);
}

static NOINLINE void with_big(struct walk *walk, int depth)
{
	volatile char array[9000];

	array[0] = 1;
	go(walk, depth);
	use(walk, array);
}

/* Values that live across the call take all callee-saved registers, rbp too where it is no frame pointer. */
static NOINLINE uint64_t with_registers(struct walk *walk, int depth)
{
	uint64_t a = walk->sum, b = a * 3, c = a ^ 5, d = a + 7, e = a - 9, f = a | 11;

	go(walk, depth);
	walk->sum += a ^ b ^ c;
	allocate(walk);
	return a + b * c + d * e + f;
}

/* At -O2 a jump: the frame is gone. */
static NOINLINE void tail(struct walk *walk, int depth)
{
	if (depth & 1)
		plain(walk, depth);
	else
		with_big(walk, depth);
}

static int compare(const void *a, const void *b)
{
	if (current && draw(current, 4) == 0)
		allocate(current);
	return *(const int *)a - *(const int *)b;
}

static NOINLINE void in_qsort(struct walk *walk, int depth)
{
	int numbers[5] = { 3, 1, 4, 1, 5 };

	qsort(numbers, 5, sizeof(*numbers), compare);
	go(walk, depth);
	walk->sum += (uint64_t)numbers[0];
}

static void go(struct walk *walk, int depth)
{
	if (walk->calls-- <= 0 || depth >= DEPTH_MAX)
		return;
	for (uint32_t i = draw(walk, 3); i-- > 0;)
		allocate(walk);
	if (draw(walk, 200) == 0)
		longjmp(walk->top, 1);
	if (draw(walk, 100) == 0)
		raise(draw(walk, 2) ? SIGUSR1 : SIGUSR2);
	for (uint32_t i = draw(walk, 3); i-- > 0;) {
		switch (draw(walk, KINDS)) {
		case 0:
			plain(walk, depth + 1);
			break;
		case 1:
			twice(walk, depth + 1);
			break;
		case 2:
			with_alloca(walk, depth + 1);
			break;
		case 3:
			with_vla(walk, depth + 1);
			break;
		case 4:
			with_realigned(walk, depth + 1);
			break;
		case 5:
			with_realigned_vla(walk, depth + 1);
			break;
		case 6:
			with_big(walk, depth + 1);
			break;
		case 7:
			walk->sum += with_registers(walk, depth + 1);
			break;
		case 8:
			tail(walk, depth + 1);
			break;
		case 9:
			in_qsort(walk, depth + 1);
			break;
		}
	}
	allocate(walk);
}

static void handler(int signal)
{
	allocate(current);
	if (signal == SIGUSR1)
		plain(current, DEPTH_MAX - 3);
	allocate(current);
}

static NOINLINE void start_over(struct walk *walk)
{
	setjmp(walk->top);
	while (walk->calls > 0)
		go(walk, 0);
}

static void *thread(void *argument)
{
	struct walk *walk = argument;
	stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };

	current = walk;
	sigaltstack(&stack, NULL);
	start_over(walk);
	current = NULL;
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction same = { .sa_handler = handler, .sa_flags = SA_NODEFER };
	struct sigaction other = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	static struct walk walks[2];
	pthread_t second;

	for (int i = 0; i < 2; i++)
		walks[i] = (struct walk){ .random = (uint64_t)i + 1, .calls = argc > 1 ? atol(argv[1]) : 5000 };
	sigaction(SIGUSR1, &same, NULL);
	sigaction(SIGUSR2, &other, NULL);
	pthread_create(&second, NULL, thread, &walks[1]);
	thread(&walks[0]);
	pthread_join(second, NULL);
	printf("tree: %lu\n", walks[0].sum + walks[1].sum);
	return 0;
}
