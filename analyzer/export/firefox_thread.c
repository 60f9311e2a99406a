/* SPDX-License-Identifier: Apache-2.0 */
#include "export/firefox_thread.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { RESOURCE_UNKNOWN, RESOURCE_LIBRARY };

void tpa_firefox_put_ms(FILE *out, uint64_t ns)
{
	fprintf(out, "%" PRIu64 ".%06" PRIu64, ns / 1000000, ns % 1000000);
}

void tpa_firefox_put_stack(FILE *out, size_t node)
{
	if (node)
		fprintf(out, "%zu", node - 1);
	else
		fputs("null", out);
}

/* ---- strings and libraries ---- */

void tpa_firefox_strings_init(struct tpa_firefox_strings *strings)
{
	*strings = (struct tpa_firefox_strings){ .arena = tpa_arena_new() };
}

uint32_t tpa_firefox_string(struct tpa_firefox_strings *strings, const char *text)
{
	const char *key = tpa_arena_intern(strings->arena, text);
	bool found;
	uint32_t *number = tpa_pairs_at(&strings->index, (uintptr_t)key, 0, &found);

	if (!found) {
		*number = (uint32_t)strings->count;
		*TPA_APPEND(strings->list, strings->count, strings->room) = key;
	}
	return *number;
}

void tpa_firefox_strings_free(struct tpa_firefox_strings *strings)
{
	free(strings->list);
	tpa_pairs_free(&strings->index);
	tpa_arena_free(strings->arena);
}

static uint32_t library_of(struct tpa_firefox_libraries *libraries, const struct tpa_module *module)
{
	bool found;
	uint32_t *number = tpa_pairs_at(&libraries->index, (uintptr_t)module, 0, &found);

	if (!found) {
		*number = (uint32_t)libraries->count;
		*TPA_APPEND(libraries->list, libraries->count, libraries->room) = module;
	}
	return *number;
}

void tpa_firefox_libraries_free(struct tpa_firefox_libraries *libraries)
{
	free(libraries->list);
	tpa_pairs_free(&libraries->index);
}

/* A build-id as Breakpad has it: of its first 16 bytes, the first three numbers have their bytes swapped; then an age of 0. */
static void put_breakpad_id(FILE *out, const struct tpa_module *module)
{
	static const unsigned char order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };

	fputc('"', out);
	for (int i = 0; i < 16; i++)
		fprintf(out, "%02X", order[i] < module->build_id_length ? module->build_id[order[i]] : 0);
	fputs("0\"", out);
}

static void put_library(FILE *out, const struct tpa_module *module)
{
	const char *name = tpa_file_name(module->path);

	fputs("{\"arch\":\"x86_64\",\"name\":", out);
	tpa_export_put(out, name);
	fputs(",\"path\":", out);
	tpa_export_put(out, module->path);
	fputs(",\"debugName\":", out);
	tpa_export_put(out, name);
	fputs(",\"debugPath\":", out);
	tpa_export_put(out, module->path);
	fputs(",\"breakpadId\":", out);
	put_breakpad_id(out, module);
	fputs(",\"codeId\":", out);
	if (module->build_id_length) {
		fputc('"', out);
		for (unsigned i = 0; i < module->build_id_length; i++)
			fprintf(out, "%02x", module->build_id[i]);
		fputc('"', out);
	} else {
		fputs("null", out);
	}
	fputc('}', out);
}

void tpa_firefox_put_libraries(FILE *out, const struct tpa_firefox_libraries *libraries)
{
	fputc('[', out);
	for (size_t i = 0; i < libraries->count; i++) {
		fputs(i ? ",\n" : "\n", out);
		put_library(out, libraries->list[i]);
	}
	fputc(']', out);
}

/* ---- functions ---- */

struct function {
	const struct tpa_frame_text *frame; /* the first of its frames */
	int32_t resource;		    /* -1: none */
};

struct tables {
	FILE *out;
	const struct tpa_frame_table *frames;
	struct tpa_firefox_strings *strings;
	struct tpa_firefox_libraries *libraries;
	uint32_t *function_of; /* by frame */
	struct function *functions;
	size_t function_count, function_room;
	const struct tpa_frame_text **resources; /* a frame of each module */
	size_t resource_count, resource_room;
	struct tpa_pairs function_index, resource_index;
};

static int32_t resource_of(struct tables *tables, const struct tpa_frame_text *frame)
{
	uint32_t *number;
	bool found;

	if (!frame->module || !*frame->module)
		return -1;
	number = tpa_pairs_at(&tables->resource_index, (uintptr_t)frame->module, 0, &found);
	if (!found) {
		*number = (uint32_t)tables->resource_count;
		*TPA_APPEND(tables->resources, tables->resource_count, tables->resource_room) = frame;
	}
	return (int32_t)*number;
}

static void find_functions(struct tables *tables)
{
	tables->function_of = tpa_zalloc(tables->frames->count + 1, sizeof(*tables->function_of));
	for (size_t i = 0; i < tables->frames->count; i++) {
		const struct tpa_frame_text *frame = &tables->frames->list[i];
		int32_t resource = resource_of(tables, frame);
		bool found;
		/* Of a function whose file is not known, the module tells which it is. */
		uint32_t *number = tpa_pairs_at(&tables->function_index, (uintptr_t)frame->name,
						(uintptr_t)(frame->file ? frame->file : frame->module), &found);

		if (!found) {
			*number = (uint32_t)tables->function_count;
			*TPA_APPEND(tables->functions, tables->function_count, tables->function_room) =
				(struct function){ frame, resource };
		}
		tables->function_of[i] = *number;
	}
}

/* ---- columns ---- */

/* Writes a column: NAME:[value of each row]. `value` is a format and its arguments, in terms of i. */
#define COLUMN(out, name, rows, ...)                                                                                   \
	do {                                                                                                           \
		fputs("\"" name "\":[", out);                                                                          \
		for (size_t i = 0; i < (rows); i++) {                                                                  \
			if (i)                                                                                         \
				fputc(',', out);                                                                       \
			fprintf(out, __VA_ARGS__);                                                                     \
		}                                                                                                      \
		fputs("],", out);                                                                                      \
	} while (0)

#define END_TABLE(out, rows) fprintf(out, "\"length\":%zu},\n", rows)

/* A column that is the same in all rows. */
static void put_same(FILE *out, const char *name, size_t rows, const char *value)
{
	fprintf(out, "\"%s\":[", name);
	for (size_t i = 0; i < rows; i++)
		fprintf(out, "%s%s", i ? "," : "", value);
	fputs("],", out);
}

static void put_or_null(FILE *out, const char *name, size_t rows, int64_t (*value)(const void *of, size_t row),
			const void *of)
{
	fprintf(out, "\"%s\":[", name);
	for (size_t i = 0; i < rows; i++) {
		int64_t number = value(of, i);

		fputs(i ? "," : "", out);
		if (number < 0)
			fputs("null", out);
		else
			fprintf(out, "%" PRId64, number);
	}
	fputs("],", out);
}

static int64_t prefix_of(const void *of, size_t row)
{
	uint32_t parent = ((const struct tpa_stack_tree *)of)->nodes[row + 1].parent;

	return parent ? (int64_t)parent - 1 : -1;
}

/* The root is no row: row i is node i + 1. */
static void put_stacks(const struct tables *tables, const struct tpa_stack_tree *stacks)
{
	const struct tpa_frame_text *frames = tables->frames->list;
	size_t rows = stacks->count ? stacks->count - 1 : 0;

	fputs("\"stackTable\":{", tables->out);
	COLUMN(tables->out, "frame", rows, "%" PRIu32, stacks->nodes[i + 1].frame);
	COLUMN(tables->out, "category", rows, "%d",
	       frames[stacks->nodes[i + 1].frame].python ? TPA_FIREFOX_PYTHON : TPA_FIREFOX_NATIVE);
	put_same(tables->out, "subcategory", rows, "0");
	put_or_null(tables->out, "prefix", rows, prefix_of, stacks);
	END_TABLE(tables->out, rows);
}

static int64_t line_of(const void *of, size_t row)
{
	int line = ((const struct tables *)of)->frames->list[row].line;

	return line > 0 ? line : -1;
}

static void put_frames(const struct tables *tables)
{
	const struct tpa_frame_text *frames = tables->frames->list;
	size_t rows = tables->frames->count;

	fputs("\"frameTable\":{", tables->out);
	COLUMN(tables->out, "address", rows, "%" PRId64, frames[i].loaded ? (int64_t)frames[i].address : -1);
	put_same(tables->out, "inlineDepth", rows, "0");
	COLUMN(tables->out, "category", rows, "%d", frames[i].python ? TPA_FIREFOX_PYTHON : TPA_FIREFOX_NATIVE);
	put_same(tables->out, "subcategory", rows, "0");
	COLUMN(tables->out, "func", rows, "%" PRIu32, tables->function_of[i]);
	put_same(tables->out, "nativeSymbol", rows, "null");
	put_same(tables->out, "innerWindowID", rows, "null");
	put_same(tables->out, "implementation", rows, "null");
	put_or_null(tables->out, "line", rows, line_of, tables);
	put_same(tables->out, "column", rows, "null");
	END_TABLE(tables->out, rows);
}

static int64_t file_of(const void *of, size_t row)
{
	const struct tables *tables = of;
	const char *file = tables->functions[row].frame->file;

	return file ? (int64_t)tpa_firefox_string(tables->strings, file) : -1;
}

static void put_functions(const struct tables *tables)
{
	size_t rows = tables->function_count;

	fputs("\"funcTable\":{", tables->out);
	COLUMN(tables->out, "name", rows, "%" PRIu32,
	       tpa_firefox_string(tables->strings, tables->functions[i].frame->name));
	put_same(tables->out, "isJS", rows, "false");
	put_same(tables->out, "relevantForJS", rows, "false");
	COLUMN(tables->out, "resource", rows, "%" PRId32, tables->functions[i].resource);
	put_or_null(tables->out, "fileName", rows, file_of, tables);
	put_same(tables->out, "lineNumber", rows, "null");
	put_same(tables->out, "columnNumber", rows, "null");
	END_TABLE(tables->out, rows);
}

static int64_t library_at(const void *of, size_t row)
{
	const struct tables *tables = of;
	const struct tpa_module *module = tables->resources[row]->loaded;

	return module ? (int64_t)library_of(tables->libraries, module) : -1;
}

static void put_resources(const struct tables *tables)
{
	size_t rows = tables->resource_count;

	fputs("\"resourceTable\":{", tables->out);
	put_or_null(tables->out, "lib", rows, library_at, tables);
	COLUMN(tables->out, "name", rows, "%" PRIu32,
	       tpa_firefox_string(tables->strings, tables->resources[i]->module));
	put_same(tables->out, "host", rows, "null");
	COLUMN(tables->out, "type", rows, "%d", tables->resources[i]->loaded ? RESOURCE_LIBRARY : RESOURCE_UNKNOWN);
	END_TABLE(tables->out, rows);
	fputs("\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0},\n",
	      tables->out);
}

void tpa_firefox_put_tables(FILE *out, const struct tpa_stack_tree *stacks, const struct tpa_frame_table *frames,
			    struct tpa_firefox_strings *strings, struct tpa_firefox_libraries *libraries)
{
	struct tables tables = { .out = out, .frames = frames, .strings = strings, .libraries = libraries };

	find_functions(&tables);
	put_stacks(&tables, stacks);
	put_frames(&tables);
	put_functions(&tables);
	put_resources(&tables);
	fputs("\"stringArray\":[", out);
	for (size_t i = 0; i < strings->count; i++) {
		fputs(i ? ",\n" : "", out);
		tpa_export_put(out, strings->list[i]);
	}
	fputs("]", out);
	free(tables.function_of);
	free(tables.functions);
	free(tables.resources);
	tpa_pairs_free(&tables.function_index);
	tpa_pairs_free(&tables.resource_index);
}
