/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks by name: what makes two of them the same in two builds of a program, and what does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "report/rows/named_stacks.h"

struct frame {
	const char *function, *path; /* path of the module, or of the Python file */
	int line;
	bool python;
};

/* A process with its own symbols: other pointers for the same names. */
struct process {
	struct tpa_trace trace;
	struct tpa_location locations[64];
	struct tpa_symbol symbols[64];
	struct tpa_line lines[64];
	size_t count;
};

static struct process *new_process(const char *exe)
{
	struct process *process = calloc(1, sizeof(*process));

	assert_non_null(process);
	process->trace.exe = exe;
	return process;
}

static struct tpa_line *line_of(struct process *process, const struct frame *frame)
{
	size_t i = process->count++;
	const char *slash = strrchr(frame->path, '/');

	process->locations[i] = (struct tpa_location){
		.function = frame->function, .file = "source.c", .line = frame->line, .python = frame->python
	};
	process->symbols[i] = (struct tpa_symbol){ .locations = &process->locations[i],
						   .count = 1,
						   .module = slash ? slash + 1 : frame->path,
						   .path = frame->path };
	process->lines[i] = (struct tpa_line){ .location = &process->locations[i],
					       .symbol = &process->symbols[i],
					       .address = 4096u * (unsigned)rand() };
	return &process->lines[i];
}

/* Frames from the innermost one on; the list ends with one without a path. */
static uint32_t put(struct tpa_named_stacks *stacks, const char *exe, const struct frame *frames)
{
	struct process *process = new_process(exe);
	struct tpa_stack stack = { .lines = process->lines };
	uint32_t node;

	for (; frames->path; frames++)
		line_of(process, frames);
	stack.count = stack.last = process->count;
	tpa_named_process(stacks, &process->trace);
	node = tpa_named_stack(stacks, &stack, 0);
	free(process);
	return node;
}

#define PUT(exe, ...) put(&stacks, exe, (const struct frame[]){ __VA_ARGS__, { NULL, NULL, 0, false } })

static size_t depth(const struct tpa_named_stacks *stacks, uint32_t node)
{
	size_t frames = 0;

	for (; node; node = stacks->nodes[node].parent)
		frames++;
	return frames;
}

/* A new version: elsewhere, with other lines, other suffixes, another library's version. */
static void test_versions_match(void **state)
{
	struct tpa_named_stacks stacks;
	uint32_t node;

	(void)state;
	tpa_named_init(&stacks);
	node = PUT("/old/train", { "at::add(int)", "/lib/libtorch.so.1.13", 10, false },
		   { "step", "/old/train", 20, false }, { "main", "/old/train", 30, false });
	assert_int_equal(PUT("/new/train2", { "at::add(int) [clone .constprop.3]", "/opt/libtorch.so.2", 11, false },
			     { "step.isra.0", "/new/train2", 25, false }, { "main", "/new/train2", 99, false }),
			 node);
	assert_int_equal(depth(&stacks, node), 3);
	assert_string_equal(tpa_named_module(&stacks, &stacks.names[stacks.nodes[node].name]), "libtorch.so");
	node = stacks.nodes[node].parent;
	assert_string_equal(tpa_named_module(&stacks, &stacks.names[stacks.nodes[node].name]), "(program)");
	tpa_named_free(&stacks);
}

static void test_others_do_not(void **state)
{
	struct tpa_named_stacks stacks;
	uint32_t node;

	(void)state;
	tpa_named_init(&stacks);
	node = PUT("/bin/x", { "f", "/bin/x", 1, false }, { "main", "/bin/x", 2, false });
	assert_int_not_equal(PUT("/bin/x", { "g", "/bin/x", 1, false }, { "main", "/bin/x", 2, false }), node);
	assert_int_not_equal(PUT("/bin/x", { "f", "/lib/f.so", 1, false }, { "main", "/bin/x", 2, false }), node);
	assert_int_not_equal(PUT("/bin/x", { "f", "/bin/x", 1, true }, { "main", "/bin/x", 2, false }), node);
	assert_int_not_equal(PUT("/bin/x", { "f", "/bin/x", 1, false }), node);
	assert_int_not_equal(PUT("/bin/x", { "main", "/bin/x", 1, false }, { "f", "/bin/x", 2, false }), node);
	assert_int_not_equal(PUT("/bin/x", { "f(int)", "/bin/x", 1, false }, { "main", "/bin/x", 2, false }), node);
	tpa_named_free(&stacks);
}

/* Instances of a template that differ in the last of many parameters; files whose paths begin alike. */
static void test_long_names(void **state)
{
	char one[5000], other[5000];
	struct tpa_named_stacks stacks;
	uint32_t node;

	(void)state;
	memset(one, 'x', sizeof(one));
	memcpy(one + sizeof(one) - 3, "A>", 3);
	memcpy(other, one, sizeof(one));
	other[sizeof(other) - 3] = 'B';
	tpa_named_init(&stacks);
	node = PUT("/bin/x", { one, "/lib/f.so", 1, false });
	assert_int_not_equal(PUT("/bin/x", { other, "/lib/f.so", 1, false }), node);
	assert_int_equal(PUT("/bin/x", { one, "/lib/f.so", 2, false }), node);
	assert_string_equal(stacks.names[stacks.nodes[node].name].function, one);
	node = PUT("/bin/x", { "f", one, 1, true });
	assert_int_not_equal(PUT("/bin/x", { "f", other, 1, true }), node);
	tpa_named_free(&stacks);
}

static const char *name_in(const char *function, const char *path, bool python)
{
	static char text[400];
	struct tpa_named_stacks stacks;
	uint32_t node;
	char *whole;

	tpa_named_init(&stacks);
	node = PUT("/bin/x", { function, path, 1, python });
	whole = tpa_named_whole(&stacks, stacks.nodes[node].name);
	assert_non_null(whole);
	snprintf(text, sizeof(text), "%s", whole);
	free(whole);
	tpa_named_free(&stacks);
	return text;
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(name_in("main", "/bin/x", false), "main in x");
	assert_string_equal(name_in(NULL, "/lib/libm.so.6", false), "? in libm.so");
	assert_string_equal(name_in("f.part.12", "/lib/libm.so.6", false), "f in libm.so");
	assert_string_equal(name_in("f.cold", "/lib/libm.so.6", false), "f in libm.so");
	assert_string_equal(name_in("main.coldStart", "/lib/libm.so", false), "main.coldStart in libm.so");
	assert_string_equal(name_in("f@@GLIBC_2.34", "libc.so.6", false), "f in libc.so");
	assert_string_equal(name_in("a::b::h0123456789abcdef", "/lib/r.so", false), "a::b in r.so");
	assert_string_equal(name_in("a::b::h0123456789abcdeg", "/lib/r.so", false), "a::b::h0123456789abcdeg in r.so");
	assert_string_equal(name_in("g", "/x/_c.cpython-311-x86_64-linux-gnu.so", false), "g in _c.so");
	assert_string_equal(name_in("<module>", "/usr/lib/torch/__init__.py", true), "<module> in torch/__init__.py");
	assert_string_equal(name_in("<module>", "__init__.py", true), "<module> in __init__.py");
	assert_string_equal(name_in("f.cold", "/home/me/train.py", true), "f.cold in train.py");
	assert_string_equal(name_in("f", "", false), "f");
}

/* However deep: itself, two functions that call each other, three. */
static void test_recursion(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i" };

	(void)state;
	for (size_t cycle = 1; cycle <= TPA_NAMED_CYCLE + 1; cycle++) {
		struct tpa_named_stacks stacks;
		struct frame frames[64] = { { "leaf", "/bin/x", 1, false } };
		uint32_t once, often;
		size_t count = 1;

		tpa_named_init(&stacks);
		for (; count <= cycle; count++)
			frames[count] = (struct frame){ names[(count - 1) % cycle], "/bin/x", 1, false };
		frames[count] = (struct frame){ "main", "/bin/x", 1, false };
		once = put(&stacks, "/bin/x", frames);
		assert_int_equal(depth(&stacks, once), cycle + 2);
		for (count = 1; count <= 4 * cycle; count++)
			frames[count] = (struct frame){ names[(count - 1) % cycle], "/bin/x", 1, false };
		frames[count] = (struct frame){ "main", "/bin/x", 1, false };
		often = put(&stacks, "/bin/x", frames);
		if (cycle <= TPA_NAMED_CYCLE)
			assert_int_equal(often, once);
		else
			assert_int_not_equal(often, once);
		tpa_named_free(&stacks);
	}
}

/* Modules alone, texts: numbers of the same kind. */
static void test_modules_and_texts(void **state)
{
	struct tpa_named_stacks stacks;
	uint32_t f, g;

	(void)state;
	tpa_named_init(&stacks);
	f = stacks.nodes[PUT("/bin/x", { "f", "/lib/a.so.1", 1, false })].name;
	g = stacks.nodes[PUT("/bin/x", { "g", "/lib/a.so.2", 1, false })].name;
	assert_int_not_equal(f, g);
	assert_int_equal(tpa_named_module_of(&stacks, f), tpa_named_module_of(&stacks, g));
	assert_int_equal(tpa_named_text(&stacks, "aten::add"), tpa_named_text(&stacks, "aten::add"));
	assert_int_not_equal(tpa_named_text(&stacks, "aten::add"), tpa_named_text(&stacks, "aten::mul"));
	tpa_named_free(&stacks);
}

/* A quarter of a million stacks: nodes are shared, and what is kept is 8 bytes a node and its place in a table. */
static void test_many(void **state)
{
	struct tpa_named_stacks stacks;
	uint32_t names[64], last = 0;

	(void)state;
	tpa_named_init(&stacks);
	for (int i = 0; i < 64; i++) {
		char text[16];

		snprintf(text, sizeof(text), "f%d", i);
		names[i] = tpa_named_text(&stacks, text);
	}
	for (int round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 262144; i++) {
			uint32_t node = 0;

			for (unsigned k = 0; k < 9; k++) /* its digits, and which of them it is: no chain repeats */
				node = tpa_named_call(&stacks, node, names[6 * k + (i / (1u << 2 * k)) % 4]);
			last = node;
		}
		if (!round)
			assert_in_range(stacks.node_count, 262144, 400000);
		else
			assert_int_equal(depth(&stacks, last), 9);
	}
	assert_in_range(stacks.node_count, 262144, 400000);
	tpa_named_free(&stacks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions_match), cmocka_unit_test(test_others_do_not),
		cmocka_unit_test(test_long_names),     cmocka_unit_test(test_names),
		cmocka_unit_test(test_recursion),      cmocka_unit_test(test_modules_and_texts),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
