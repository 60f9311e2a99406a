/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotated ops whose calls, nesting and sizes are known. Their times, by the program's own clock, go to the file that
 * TRUTH_FILE names.
 *
 *     ops STEPS       each step: "forward" with two "layer" in it, and "backward", which recurses three deep; on a
 *                     second thread a "load". One end has no begin, and "shutdown" is left open.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tprof.h>

#define LAYER_BYTES 100000
#define KEPT_BYTES 1000
#define LOAD_BYTES 50000

static unsigned long steps;
static long long forward_ns, steps_ns;
static void *volatile sink;

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void pause_us(long us)
{
	struct timespec time = { 0, us * 1000 };

	while (nanosleep(&time, &time) && errno == EINTR)
		;
}

static void *take(size_t bytes)
{
	void *block = malloc(bytes);

	if (!block)
		abort();
	sink = block;
	return block;
}

static void layer(unsigned long step)
{
	void *block;

	tprof_op_begin("layer", "layer");
	tprof_op_detail(step % 2 ? "2x3" : "4x5", 120, 64);
	block = take(LAYER_BYTES);
	pause_us(500);
	free(block);
	tprof_op_end();
}

static void forward(unsigned long step, void **kept)
{
	long long begin = now_ns();

	tprof_op_begin("forward", NULL);
	layer(step);
	*kept = take(KEPT_BYTES);
	layer(step);
	tprof_op_end();
	forward_ns += now_ns() - begin;
}

static void backward(int depth)
{
	void *block;

	tprof_op_begin("backward", "pass");
	block = take(10);
	pause_us(100);
	if (depth > 1)
		backward(depth - 1);
	free(block);
	tprof_op_end();
}

/* Annotations keep errno. */
static void check_errno(void)
{
	errno = 77;
	tprof_op_begin("errno", "");
	tprof_op_detail("", 0, 0);
	tprof_op_end();
	if (errno != 77)
		abort();
}

static void write_truth(void)
{
	const char *name = getenv("TRUTH_FILE");
	FILE *file = name ? fopen(name, "w") : NULL;

	if (!file)
		return;
	fprintf(file, "{\"forward_ns\": %lld, \"steps_ns\": %lld}\n", forward_ns, steps_ns);
	fclose(file);
}

static void *load(void *unused)
{
	unsigned long i;

	(void)unused;
	tprof_thread_name("loader");
	for (i = 0; i < steps; i++) {
		tprof_op_begin("load", "io");
		free(take(LOAD_BYTES));
		tprof_op_end();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	long long begin = now_ns();
	unsigned long i;
	void **kept;

	steps = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	kept = calloc(steps + 1, sizeof(*kept));
	if (!kept || pthread_create(&thread, NULL, load, NULL))
		return 1;
	tprof_op_end(); /* of nothing */
	check_errno();
	for (i = 0; i < steps; i++) {
		forward(i, &kept[i]);
		backward(3);
		tprof_step(32);
	}
	steps_ns = now_ns() - begin;
	tprof_mark("done");
	pthread_join(thread, NULL);
	tprof_op_begin("shutdown", "");
	sink = kept;
	write_truth();
	puts("done");
	return 0;
}
