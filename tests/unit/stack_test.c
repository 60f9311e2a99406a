/* SPDX-License-Identifier: Apache-2.0 */
/* Folding: which lines of a stack a reader sees, and which one its bytes are put down to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/json/json_stack.h"
#include "report/rows/stack.h"

#include "folder.h"

#define LINES 8

/* A stack of these names, innermost first, as code of a JIT compiler: any name may be given to it. */
struct made {
	struct tprof_header header;
	struct tpa_frame frames[LINES + 1];
	struct tpa_node nodes[TPROF_NODE_FIRST + LINES];
	struct tpa_trace trace;
	struct tpa_symbols *symbols;
	struct tpa_stack stack;
};

static void read_stack(struct made *made, const char *const *names, uint32_t end)
{
	struct tpa_symbols_options options = { .debug_dir = folder };
	uint32_t count = 0, parent = end;
	char path[200];
	FILE *out;

	memset(made, 0, sizeof(*made));
	while (names[count])
		count++;
	snprintf(path, sizeof(path), "%s/perf-7.map", folder);
	out = fopen(path, "w");
	for (uint32_t i = 0; i < count; i++) {
		fprintf(out, "%x00 10 %s\n", i + 1, names[i]);
		made->frames[i + 1] = (struct tpa_frame){ .pc = (uint64_t)(i + 1) << 8, .flags = TPROF_FRAME_EXACT };
	}
	fclose(out);
	for (uint32_t i = 0; i < count; i++, parent = TPROF_NODE_FIRST + i - 1)
		made->nodes[TPROF_NODE_FIRST + i] = (struct tpa_node){ parent, count - i };
	made->header.pid = 7;
	made->trace = (struct tpa_trace){ .header = &made->header,
					  .frames = made->frames,
					  .frame_count = count + 1,
					  .nodes = made->nodes,
					  .node_count = TPROF_NODE_FIRST + count };
	made->symbols = tpa_symbols_open(&made->trace, &options);
	tpa_stack_read(&made->stack, &made->trace, made->symbols, TPROF_NODE_FIRST + count - 1);
	assert_int_equal(made->stack.count, count);
	assert_int_equal(made->stack.end, end);
}

static void free_stack(struct made *made)
{
	tpa_stack_free(&made->stack);
	tpa_symbols_close(made->symbols);
}

static const char *name_of(const struct tpa_line *line)
{
	return line->location->function;
}

static void shows(const char *const *names, const char *first, const char *last, const char *own)
{
	struct made made;

	read_stack(&made, names, TPROF_NODE_ROOT);
	assert_true(made.stack.first < made.stack.last);
	assert_string_equal(name_of(&made.stack.lines[made.stack.first]), first);
	assert_string_equal(name_of(&made.stack.lines[made.stack.last - 1]), last);
	assert_string_equal(name_of(tpa_stack_own(&made.stack)), own);
	free_stack(&made);
}

static void allocator_and_start_are_folded(void **state)
{
	static const char *const c[] = { "malloc", "leak", "main", "__libc_start_call_main", "_start", NULL };
	static const char *const cxx[] = { "malloc",
					   "operator new(unsigned long)",
					   "std::__new_allocator<int>::allocate(unsigned long)",
					   "std::vector<int>::resize(unsigned long)",
					   "net::grow()",
					   "main",
					   "_start",
					   NULL };
	static const char *const python[] = {
		"_PyObject_Malloc", "PyObject_Malloc", "PyDict_New", "run", "main", NULL
	};

	(void)state;
	shows(c, "leak", "main", "leak");
	shows(cxx, "std::vector<int>::resize(unsigned long)", "main", "net::grow()");
	shows(python, "PyDict_New", "main", "PyDict_New");
}

static void rust_start_up_is_folded(void **state)
{
	static const char *const names[] = { "alloc::vec::from_elem",
					     "prog::main",
					     "core::ops::function::FnOnce::call_once",
					     "std::sys::backtrace::__rust_begin_short_backtrace",
					     "std::rt::lang_start",
					     "main",
					     "_start",
					     NULL };

	(void)state;
	shows(names, "alloc::vec::from_elem", "prog::main", "prog::main");
}

/* A program's own function of a like name is no allocator's. */
static void like_names_stay(void **state)
{
	static const char *const names[] = { "malloc_table", "my::operator_new", "mainly", NULL };

	(void)state;
	shows(names, "malloc_table", "mainly", "malloc_table");
}

static void nothing_else_is_shown_whole(void **state)
{
	static const char *const names[] = { "_dl_init", "_dl_start_user", NULL };
	static const char *const allocator[] = { "malloc", "calloc", NULL };

	(void)state;
	shows(names, "_dl_init", "_dl_start_user", "_dl_init");
	shows(allocator, "malloc", "calloc", "malloc");
}

static void ends_are_told(void **state)
{
	static const char *const names[] = { "a", "b", NULL };
	struct made made;

	(void)state;
	read_stack(&made, names, TPROF_NODE_CUT);
	assert_string_equal(name_of(&made.stack.lines[0]), "a");
	tpa_stack_read(&made.stack, &made.trace, made.symbols, TPROF_NODE_NONE);
	assert_int_equal(made.stack.count, 0);
	assert_null(tpa_stack_own(&made.stack));
	tpa_stack_read(&made.stack, &made.trace, made.symbols, 999999); /* of no such number */
	assert_int_equal(made.stack.count, 0);
	free_stack(&made);
}

/* Millions of stacks of the same few thousand frames: each frame is made once, and says what one of its own would. */
static void frames_in_json_are_shared(void **state)
{
	static const char *const names[] = { "leak", "work", "main", NULL };
	struct tpa_json_frames frames = { 0 };
	json_t *inner, *outer, *alone;
	struct made made;
	json_int_t own;

	(void)state;
	read_stack(&made, names, TPROF_NODE_ROOT);
	inner = tpa_json_stack(&made.trace, made.symbols, TPROF_NODE_FIRST + 2, &frames, &own);
	outer = tpa_json_stack(&made.trace, made.symbols, TPROF_NODE_FIRST + 1, &frames, &own);
	alone = tpa_json_stack(&made.trace, made.symbols, TPROF_NODE_FIRST + 2, NULL, &own);
	assert_int_equal(json_array_size(inner), 3);
	assert_int_equal(json_array_size(outer), 2);
	assert_ptr_equal(json_array_get(outer, 0), json_array_get(inner, 1));
	assert_ptr_equal(json_array_get(outer, 1), json_array_get(inner, 2));
	assert_ptr_not_equal(json_array_get(alone, 0), json_array_get(inner, 0));
	tpa_json_frames_free(&frames);
	assert_true(json_equal(alone, inner));
	json_decref(inner);
	json_decref(outer);
	json_decref(alone);
	free_stack(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_in_json_are_shared),   cmocka_unit_test(allocator_and_start_are_folded),
		cmocka_unit_test(rust_start_up_is_folded),     cmocka_unit_test(like_names_stay),
		cmocka_unit_test(nothing_else_is_shown_whole), cmocka_unit_test(ends_are_told),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
