/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a thread in a profile of the Firefox Profiler: strings, functions, frames, stacks. Each thread has its own, and refers to
 * the profile's libraries.
 */
#ifndef TPROF_EXPORT_FIREFOX_THREAD_H
#define TPROF_EXPORT_FIREFOX_THREAD_H

#include <stdio.h>

#include "export/memory_tree.h"

/* Indices of the profile's list of categories. */
enum tpa_firefox_category { TPA_FIREFOX_OTHER, TPA_FIREFOX_NATIVE, TPA_FIREFOX_PYTHON, TPA_FIREFOX_OP };

/* The modules of the whole profile. */
struct tpa_firefox_libraries {
	const struct tpa_module **list;
	size_t count, room;
	struct tpa_pairs index;
};

void tpa_firefox_libraries_free(struct tpa_firefox_libraries *libraries);

/* Writes the value of "libs". */
void tpa_firefox_put_libraries(FILE *out, const struct tpa_firefox_libraries *libraries);

/* The texts of a thread. */
struct tpa_firefox_strings {
	struct tpa_arena *arena;
	const char **list;
	size_t count, room;
	struct tpa_pairs index;
};

void tpa_firefox_strings_init(struct tpa_firefox_strings *strings);
uint32_t tpa_firefox_string(struct tpa_firefox_strings *strings, const char *text);
void tpa_firefox_strings_free(struct tpa_firefox_strings *strings);

/* Writes the members stackTable, frameTable, funcTable, resourceTable, nativeSymbols and, last, stringArray. */
void tpa_firefox_put_tables(FILE *out, const struct tpa_stack_tree *stacks, const struct tpa_frame_table *frames,
			    struct tpa_firefox_strings *strings, struct tpa_firefox_libraries *libraries);

/* Writes the index of a node of the tree of stacks; the root is null, no stack. */
void tpa_firefox_put_stack(FILE *out, size_t node);

/* Writes nanoseconds as milliseconds. */
void tpa_firefox_put_ms(FILE *out, uint64_t ns);

#endif
