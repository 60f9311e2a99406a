/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four threads make code objects, ask for their numbers, take them down and make others at their addresses, so that the table
 * of those that live is begun anew time and again. Each remembers what it was told, as hooks/python/stack.c does: as long
 * as no death was counted. No number is ever told of two code objects that differ.
 */
#include "harness.h"

#include "hooks/python/codes.h"
#include "stacks/nodes.h"

#include <pthread.h>
#include <stdlib.h>

#define THREADS 4
#define LIVES 50      /* of the table, which is hardly ever changed once it is large */
#define CODES 100000u /* addresses of a thread's */
#define ROUNDS 2000u
#define RENEWED 32u	 /* at once */
#define RENEWED_EACH 64u /* rounds */
#define NUMBERS (8 * THREADS * ROUNDS * LIVES)

/* As CPython has them, where what is looked at matters: a layout of our own. */
struct object {
	uint64_t references;
	uintptr_t type;
	uint64_t length;
};

struct text {
	struct object object;
	uint64_t hash;
	uint32_t state;
	char text[12];
};

struct code {
	struct object object;
	int first_line;
	const struct text *name, *file;
	const struct text *lines;
};

static const struct object type;
static const struct text name = { .object.length = 4, .state = 1 << 2 | 1 << 5 | 1 << 6, .text = "name" };
static const struct text no_lines;

static struct worker {
	pthread_t thread;
	struct code codes[CODES];
	struct {
		uint32_t number;
		uint64_t deaths;
	} told[CODES];
	uint32_t lines, remembered;
	uint64_t drawn;
} workers[THREADS];

static uint32_t line_of[NUMBERS]; /* by number */

static uint32_t draw(struct worker *worker)
{
	worker->drawn = worker->drawn * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(worker->drawn >> 33);
}

/* Another one than any before. */
static void make(struct worker *worker, struct code *code)
{
	uint32_t line = worker->lines++ * THREADS + (uint32_t)(worker - workers) + 1;

	*code = (struct code){ { 1, (uintptr_t)&type, 0 }, (int)line, &name, &name, &no_lines };
}

static void take_down(struct code *code)
{
	tpc_code_died((uintptr_t)code);
	memset(code, 0, sizeof(*code));
}

static void ask(struct worker *worker, uint32_t which)
{
	const struct code *code = &worker->codes[which];
	struct tpc_python_place place = { .code = (uintptr_t)code };
	struct tpc_reader reader = { 0 };
	uint64_t deaths = tpc_load_acquire(&tpc_code_deaths);
	uint32_t line = (uint32_t)code->first_line;

	if (worker->told[which].number && worker->told[which].deaths == deaths) {
		worker->remembered++;
	} else {
		worker->told[which].deaths = deaths;
		worker->told[which].number = tpc_python_frame(&reader, &place);
	}
	HARNESS_CHECK(worker->told[which].number && worker->told[which].number < NUMBERS);
	if (!tpc_swap_if(&line_of[worker->told[which].number], UINT32_C(0), line))
		HARNESS_CHECK(tpc_load(&line_of[worker->told[which].number]) == line);
}

/* Those asked for last, from the oldest on: the table may have been changed meanwhile, and no death was counted since. */
static void renew(struct worker *worker, const uint32_t *asked)
{
	for (uint32_t i = 1; i <= RENEWED; i++) {
		struct code *code = &worker->codes[asked[i % RENEWED]];

		if (code->first_line)
			take_down(code);
		make(worker, code);
		ask(worker, asked[i % RENEWED]);
		if (i % 2)
			take_down(code);
	}
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	uint32_t asked[RENEWED];

	for (uint32_t i = 1; i <= ROUNDS; i++) {
		uint32_t which = asked[i % RENEWED] = draw(worker) % CODES;

		if (!worker->codes[which].first_line)
			make(worker, &worker->codes[which]);
		ask(worker, which);
		ask(worker, which);
		if (i % RENEWED_EACH == 0)
			renew(worker, asked);
	}
	return NULL;
}

static void start(void)
{
	harness_start();
	tpc_python_code_type = (uintptr_t)&type;
	tpc_python = (struct tpc_python_layout){
		.lines = TPC_LINES_LNOTAB,
		.code_first_line = offsetof(struct code, first_line),
		.code_file = offsetof(struct code, file),
		.code_name = offsetof(struct code, name),
		.code_lines = offsetof(struct code, lines),
		.code_start = sizeof(struct code),
		.str_ascii = offsetof(struct text, text),
		.at_is_index = true,
	};
}

static void live(void)
{
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	tpc_codes_forget();
	tpc_nodes_forget();
}

int main(void)
{
	uint32_t made = 0, remembered = 0;

	start();
	for (uint32_t i = 0; i < THREADS; i++)
		workers[i].drawn = i;
	for (uint32_t i = 0; i < LIVES; i++)
		live();
	for (uint32_t i = 0; i < THREADS; i++) {
		made += workers[i].lines;
		remembered += workers[i].remembered;
	}
	printf("codes: %u code objects, %u remembered\n", made, remembered);
	HARNESS_CHECK(made > THREADS * ROUNDS * LIVES / 4 && remembered > THREADS * ROUNDS * LIVES / 10);
	return 0;
}
