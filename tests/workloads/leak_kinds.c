/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leak_kinds KIND STEPS: a loop with one planted leak, at the lines marked "LEAK kind", or with none. Each step also does what
 * training does: it allocates and frees blocks, also through get(), by which some kinds leak.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tprof.h"

#define KEEP __attribute__((noinline, noclone))

static const char *kind;
static size_t step;

static int is(const char *name)
{
	return strcmp(kind, name) == 0;
}

/* What every larger C program has: malloc() with a check. */
static KEEP void *get(size_t size)
{
	void *block = malloc(size);

	if (!block)
		exit(1);
	memset(block, 1, size);
	return block;
}

/* ---- leaks ---- */

struct node {
	struct node *next, *child;
	char *name;
};

static struct node *kept;

static KEEP void wrapped(void)
{
	struct node *node = get(sizeof(*node)); /* LEAK wrapped */

	node->next = kept;
	kept = node;
}

static KEEP struct node *make_node(void)
{
	return calloc(1, sizeof(struct node));
}

static KEEP char *make_name(void)
{
	return strdup("a name of a node");
}

/* As an autograd graph: many blocks, from many lines, by one line of the loop. */
static KEEP void graph(void)
{
	struct node *node = make_node();

	node->name = make_name();
	node->child = malloc(40);
	node->next = kept;
	kept = node;
}

static KEEP void sixteen(void)
{
	static void **list;
	void **item = malloc(16); /* LEAK sixteen */

	*item = list;
	list = item;
}

static KEEP void fiftieth(void)
{
	static void **list;
	void **item;

	if (step % 50)
		return;
	item = malloc(4000); /* LEAK fiftieth */
	*item = list;
	list = item;
}

static KEEP void mapped(void)
{
	char *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* LEAK mapped */

	memory[0] = 1;
}

/* Two leaks that have nothing to do with each other, but for the wrapper. */
static KEEP void two(void)
{
	static void **list;
	void **item = get(100);

	*item = list;
	list = item;
}

static KEEP void doubling(void)
{
	static double(*records)[12];
	static size_t count, room;

	for (int i = 0; i < 4; i++) {
		if (count == room) {
			room = room ? 2 * room : 16;
			records = realloc(records, room * sizeof(*records)); /* LEAK doubling */
			if (!records)
				exit(1);
		}
		records[count++][0] = 1;
	}
}

/* What is appended to a list by copying it: one block, another one in each step. */
static KEEP void copied(void)
{
	static char *list;
	char *copy = malloc(100 * (step + 1)); /* LEAK copied */

	memset(copy, 1, 100 * (step + 1));
	if (list)
		memcpy(copy, list, 100 * step);
	free(list);
	list = copy;
}

/* A step leaks more than the one before. */
static KEEP void accelerates(void)
{
	for (size_t i = 0; i < step / 20; i++)
		sixteen();
}

/* ---- none ---- */

/* What a step holds grows with its input; the next step frees it. */
static KEEP void curriculum(void)
{
	static void *batch, *output;

	free(batch);
	free(output);
	batch = get(1000 + 20 * step);
	output = malloc(500 + 10 * step);
}

/* The same of many blocks, which a table lists. */
static KEEP void sequence(void)
{
	static void **list;
	static size_t count, room;

	while (count)
		free(list[--count]);
	for (size_t i = 0; i < 16 + step / 4; i++) {
		if (count == room) {
			room = room ? 2 * room : 4;
			list = realloc(list, room * sizeof(*list));
			if (!list)
				exit(1);
		}
		list[count++] = malloc(200);
	}
}

/* Strings that are kept once each, from a third of the run on: of 100 there are ever fewer new ones. */
static KEEP void interned(size_t steps)
{
	static void *known[100];
	static unsigned random = 1;

	for (int i = 0; step > steps / 3 && i < 2; i++) {
		random = random * 1664525 + 1013904223;
		if (!known[(random >> 16) % 100])
			known[(random >> 16) % 100] = malloc(60);
	}
}

/* Fills for half of the run, one block at a time, and stops. */
static KEEP void pool(size_t steps)
{
	static void **list;
	void **item;

	if (step >= steps / 2)
		return;
	item = malloc(300);
	*item = list;
	list = item;
}

/* An array that realloc doubles while a program reads its input, and not later. */
static KEEP void filled(size_t steps)
{
	static char *table;
	static size_t count, room;

	if (step > steps / 4)
		return;
	for (int i = 0; i < 4; i++)
		if (count++ == room) {
			room = room ? 2 * room : 16;
			table = realloc(table, room * 96);
		}
}

static KEEP void ring(void)
{
	static void *list[64];

	free(list[step % 64]);
	list[step % 64] = malloc(100 + step * 7919 % 400);
}

static KEEP void work(size_t steps)
{
	void *buffer = get(4096), *other = malloc(100 + step % 7);

	if (is("wrapped"))
		wrapped();
	if (is("graph"))
		graph(); /* LEAK graph */
	if (is("sixteen"))
		sixteen();
	if (is("fiftieth"))
		fiftieth();
	if (is("mapped"))
		mapped();
	if (is("two")) {
		wrapped();
		if (step % 3 == 0)
			two();
	}
	if (is("doubling"))
		doubling();
	if (is("copied"))
		copied();
	if (is("sequence"))
		sequence();
	if (is("interned"))
		interned(steps);
	if (is("accelerates"))
		accelerates();
	if (is("curriculum"))
		curriculum();
	if (is("pool"))
		pool(steps);
	if (is("filled"))
		filled(steps);
	if (is("ring"))
		ring();
	free(other);
	free(buffer);
}

int main(int argc, char **argv)
{
	size_t steps = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

	if (!steps || steps > 1 << 15)
		return 2;
	kind = argv[1];
	for (step = 0; step < steps; step++) {
		work(steps);
		tprof_step(1);
	}
	return 0;
}
