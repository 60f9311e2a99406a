/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program about which test_questions.py asks. Steps of a model with two layers, forward and backward; each step keeps a note that
 * nothing reads. Between the marks "before" and "after" a batch is loaded and stays. A second thread waits nearly all the time.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <tprof.h>
#include <unistd.h>

#define STEPS 200
#define BATCH (3 << 20)
#define SCRATCH (8 << 20)

struct note {
	struct note *next;
	char text[1000];
} * notes;
char *volatile batch, *volatile cache, *volatile scratch, *volatile order;
volatile double sink;
static sem_t work;

static void burn(int rounds)
{
	for (int i = 0; i < rounds * 1000; i++)
		sink += i * 0.5;
}

/* An op that says how much it computes and how much it moves: by these a roof bounds it. */
static void kernel(const char *name, int rounds, unsigned long flop, unsigned long bytes)
{
	tprof_op_begin(name, "kernel");
	burn(rounds);
	tprof_op_detail(NULL, flop, bytes);
	tprof_op_end();
}

static void layer(const char *name, const char *op, int rounds, unsigned long flop, unsigned long bytes)
{
	tprof_op_begin(name, "layer");
	kernel(op, rounds, flop, bytes);
	tprof_op_end();
}

__attribute__((noinline)) static void remember(int step)
{
	struct note *note = malloc(sizeof(*note));

	memset(note->text, step, sizeof(note->text));
	note->next = notes;
	notes = note;
}

__attribute__((noinline)) static void load_batch(void)
{
	batch = malloc(BATCH);
	memset(batch, 1, BATCH);
}

/* The peak: an op's scratch memory. */
__attribute__((noinline)) static void sort_all(void)
{
	tprof_op_begin("sort", "kernel");
	scratch = malloc(SCRATCH);
	memset(scratch, 1, SCRATCH);
	burn(300);
	free(scratch);
	tprof_op_end();
}

static void step(int number)
{
	layer("encoder", "matmul", 4, 4000000, 1000);
	layer("decoder", "matmul", 4, 4000000, 1000);
	layer("decoder (backward)", "scatter", 40, 10, 40000000);
	layer("encoder (backward)", "matmul", 8, 8000000, 1000);
	remember(number);
	tprof_step(1);
}

/* Is woken in each step, and has next to nothing to do. */
static void *wait_for_work(void *unused)
{
	for (int i = 0; i < STEPS; i++) {
		while (sem_wait(&work))
			;
		order = malloc(100);
		free(order);
	}
	return unused;
}

static void between_the_marks(void)
{
	tprof_mark("before");
	usleep(20000);
	load_batch();
	usleep(20000);
	tprof_mark("after");
}

int main(void)
{
	pthread_t waiter;

	sem_init(&work, 0, 0);
	pthread_create(&waiter, NULL, wait_for_work, NULL);
	cache = malloc(4 << 20);
	memset(cache, 1, 4 << 20);
	for (int i = 0; i < STEPS; i++) {
		if (i == STEPS / 2)
			between_the_marks();
		step(i);
		sem_post(&work);
	}
	sort_all();
	pthread_join(waiter, NULL);
	return 0;
}
