/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lost [wait | stale | spin]: blocks that can be reached, and blocks that can't, in each of the ways that matter; sizes tell them apart. The
 * answers stand in the test. wait: until the file `end` is there, allocating now and then. stale: the same, with the addresses
 * of all blocks in every word of the stack that a call's frames are made on. Both make the file `ready` when all is done.
 * lost spin: a thread that runs has the only pointer to a block in a register; 100 others of one size are lost.
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "asleep.h"
#include "truth.h"

#define BLOCKS 4
#define NOINLINE __attribute__((noinline))

/* Volatile: nobody reads them again but the search. */
static void *volatile global[BLOCKS];
static char *volatile inside[BLOCKS];
static __thread void *volatile local[BLOCKS];
static volatile uintptr_t tagged[BLOCKS], hidden[BLOCKS];
static pthread_barrier_t ready, done;
/* In no memory, but where a call saves it. */
#ifdef __clang__ /* knows no such variables; it only reads this file */
static void *held;
#else
register void *held __asm__("r15");
#endif

/* Every block of get()'s, as no pointer. */
#define MASK ((uintptr_t)0x5a5a << 48 | 0x5a5a5a)
static volatile uintptr_t all[64];
static volatile size_t all_count;

static void *get(size_t size)
{
	void *block = truth_block(size);

	if (all_count < sizeof(all) / sizeof(all[0]))
		all[all_count++] = (uintptr_t)block ^ MASK;
	return block;
}

NOINLINE static void reached_by_global(void)
{
	for (int i = 0; i < BLOCKS; i++)
		global[i] = get(1001);
}

NOINLINE static void reached_by_tls(void)
{
	for (int i = 0; i < BLOCKS; i++)
		local[i] = get(1103);
}

NOINLINE static void reached_by_chain(void)
{
	for (int i = 0; i < BLOCKS; i++)
		*(void **)global[i] = get(1205);
}

NOINLINE static void pointed_into(void)
{
	for (int i = 0; i < BLOCKS; i++)
		inside[i] = (char *)get(1307) + 40;
}

NOINLINE static void tagged_low(void)
{
	for (int i = 0; i < BLOCKS; i++)
		tagged[i] = (uintptr_t)get(1409) | 1;
}

NOINLINE static void tagged_high(void)
{
	for (int i = 0; i < BLOCKS; i++)
		hidden[i] = (uintptr_t)get(1511) ^ (uintptr_t)1 << 62;
}

NOINLINE static void held_by_register(void)
{
	held = get(2429);
}

NOINLINE static void forgotten(void)
{
	for (int i = 0; i < BLOCKS; i++)
		get(1613);
}

/* The first of each is definitely lost, the second by it. */
NOINLINE static void forgotten_with_child(void)
{
	for (int i = 0; i < BLOCKS; i++)
		*(void *volatile *)get(1715) = get(1817);
}

NOINLINE static void forgotten_ring(void)
{
	for (int i = 0; i < BLOCKS; i++) {
		void *volatile *a = get(1919), *volatile *b = get(1919);

		a[0] = (void *)b;
		b[0] = (void *)a;
	}
}

/* Their addresses lie in memory that was freed, and that is no reason. */
NOINLINE static void named_by_freed(void)
{
	void *volatile *list = get(2021);

	for (int i = 0; i < BLOCKS; i++)
		list[10 + i] = get(2123);
	free((void *)list);
}

/* Of a thread that waits: on its stack, and in its own TLS. */
static void *thread(void *unused)
{
	void *volatile on_stack[BLOCKS];

	(void)unused;
	for (int i = 0; i < BLOCKS; i++) {
		on_stack[i] = get(2225);
		local[i] = get(2327);
	}
	pthread_barrier_wait(&ready);
	pthread_barrier_wait(&done);
	return on_stack[0];
}

/* What calls leave behind on the stack are addresses, too. */
NOINLINE static void wipe_stack(void)
{
	volatile char used[16384];

	memset((void *)used, 0, sizeof(used));
}

/* Or what is below the stack is full of them: who makes a frame there, and leaves a word as it is, has one. */
NOINLINE static void fill_stack(size_t from)
{
	volatile uintptr_t used[2048];

	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
		used[i] = all[(from + i) % all_count] ^ MASK;
}

/* ---- a thread that runs ---- */

static void *volatile slot;
static volatile int never, spins;

NOINLINE static void held_by_running(void)
{
	slot = get(2639);
}

NOINLINE static void forgotten_often(void)
{
	for (int i = 0; i < 100; i++)
		get(2741);
}

static void *spin(void *unused)
{
	wipe_stack(); /* binding memset() saves registers on the stack */
	held_by_running();
	wipe_stack();
	/* From here on it is in no memory. */
	__asm__ volatile("movq %0, %%r12\n\tmovq $0, %0\n\tmovl $1, %2\n"
			 "1:\tcmpl $0, %1\n\tje 1b"
			 : "+m"(slot)
			 : "m"(never), "m"(spins)
			 : "r12", "memory", "cc");
	return unused;
}

static void run_spin(void)
{
	pthread_t id;

	forgotten_often();
	if (pthread_create(&id, NULL, spin, NULL) != 0)
		truth_die("pthread_create");
	while (!spins)
		usleep(1000);
	wipe_stack();
	exit(0); /* with the thread running */
}

/* ---- a thread that waits, with what it holds in registers that calls keep ---- */

NOINLINE static void held_by_waiting(void)
{
	slot = get(2843);
}

static void *wait_with_register(void *unused)
{
	static long end[2] = { 60, 0 };
	long result;

	wipe_stack();
	held_by_waiting();
	wipe_stack();
	__asm__ volatile("movq %0, %%r12\n\tmovq $0, %0\n\tmovl $1, %1\n\tsyscall"
			 : "+m"(slot), "+m"(spins), "=a"(result)
			 : "a"(35 /* nanosleep */), "D"(end), "S"(0)
			 : "rcx", "r11", "r12", "memory", "cc");
	return result ? unused : NULL;
}

static void run_wait(void)
{
	pthread_t id;

	forgotten_often();
	if (pthread_create(&id, NULL, wait_with_register, NULL) != 0)
		truth_die("pthread_create");
	while (!spins)
		usleep(1000);
	wait_until_others_sleep();
	wipe_stack();
	exit(0); /* with the thread waiting */
}

int main(int argc, char **argv)
{
	pthread_t id;

	if (argc > 1 && strcmp(argv[1], "spin") == 0)
		run_spin();
	if (argc > 1 && strcmp(argv[1], "register") == 0)
		run_wait();

	pthread_barrier_init(&ready, NULL, 2);
	pthread_barrier_init(&done, NULL, 2);
	reached_by_global();
	reached_by_tls();
	reached_by_chain();
	pointed_into();
	tagged_low();
	tagged_high();
	forgotten();
	forgotten_with_child();
	forgotten_ring();
	named_by_freed();
	if (pthread_create(&id, NULL, thread, NULL) != 0)
		truth_die("pthread_create");
	pthread_barrier_wait(&ready);
	wait_until_others_sleep();
	held_by_register();
	wipe_stack();
	if (argc > 1 && close(open("ready", O_CREAT | O_WRONLY, 0666)) != 0)
		truth_die("ready");
	while (argc > 1 && strcmp(argv[1], "wait") == 0 && access("end", F_OK) != 0) {
		free(calloc(1, 64));
		usleep(1000);
	}
	for (size_t i = 0; argc > 1 && strcmp(argv[1], "stale") == 0 && access("end", F_OK) != 0; i++) {
		void *block;

		fill_stack(i);
		block = malloc(64);
		fill_stack(i);
		free(block);
		usleep(1000);
	}
	exit(0); /* with the thread alive */
}
