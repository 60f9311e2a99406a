/* SPDX-License-Identifier: Apache-2.0 */
/*
 * massif's files: how much was in use at snapshots, and of some of them by which stacks. Each stack is one block in the trace, which is
 * freed and allocated anew where a snapshot says another size. Of a snapshot without a tree only the sum is known: the stacks of the
 * tree before it stay where they are not more, and the rest has a stack of its own.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tprof/format.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/pairs.h"
#include "import/source.h"

#define BLOCKS_FROM (UINT64_C(1) << 32) /* addresses */
#define BLOCK_ROOM 4096u
#define STACKS_AT (UINT64_C(1) << 45) /* the address of the threads' stacks */
#define BYTES_MOST (UINT64_C(1) << 46)
#define DEPTH_MOST 1000u

struct stack {
	uint32_t node;
	uint64_t bytes, next; /* in use now, and at the snapshot that is being read */
};

/* A node of a tree on the way to the line that is being read. */
struct level {
	uint32_t frame;
	uint64_t bytes, told; /* in it, and in its children so far */
	uint64_t children;    /* that have not been read */
};

struct snapshot {
	uint64_t number, time, heap, stacks;
};

struct massif {
	struct tpa_source *source;
	uint64_t unit_ns; /* nanoseconds of a unit of time */
	const char *unit; /* what has no time in it; NULL: a time */
	struct snapshot now;
	bool pages; /* --pages-as-heap=yes */
	struct stack *stacks;
	size_t stack_count, stack_room;
	struct tpa_pairs known;	 /* by node */
	struct tpa_pairs frames; /* by text, whose pointer `texts` keeps */
	struct tpa_pairs places; /* addresses that have a name */
	struct tpa_pairs modules;
	uint32_t
		program; /* massif names no module of functions whose line it knows: they are taken to be in this one */
	uint64_t next_pc; /* of frames whose address has another name already */
	char **texts;
	size_t text_count, text_room;
	struct tpa_pairs hashes;
	struct level *levels;
	size_t depth, level_room;
	uint64_t mapped; /* for the threads' stacks, bytes */
	uint64_t snapshots, trees;
};

/* ---- frames ---- */

/* The number of a text, from 1 on; equal texts have the same. */
static uint32_t number_of(struct massif *file, const char *text)
{
	uint64_t hash = tpa_hash_text(TPA_HASH_BEGIN, text);

	for (uint64_t i = 0;; i++) {
		bool found;
		uint32_t *number = tpa_pairs_at(&file->hashes, hash, i, &found);

		if (found && strcmp(file->texts[*number - 1], text) == 0)
			return *number;
		if (found)
			continue;
		*TPA_APPEND(file->texts, file->text_count, file->text_room) = tpa_strdup(text);
		return *number = (uint32_t)file->text_count;
	}
}

static uint32_t module_of(struct massif *file, const char *path)
{
	bool found;
	uint32_t *number = tpa_pairs_at(&file->modules, number_of(file, path), 0, &found);

	if (!found)
		*number = file->source->modules = tpa_write_module(file->source->writer, path, 0, 0, 0);
	return *number;
}

/* A frame of that name, at that address if no other frame is there; massif writes inlined functions as callers at one address. */
static uint32_t new_frame(struct massif *file, uint64_t pc, uint32_t module, const struct tpa_location *location)
{
	bool found;

	tpa_pairs_at(&file->places, pc, module, &found);
	if (!pc || found)
		pc = file->next_pc++;
	tpa_source_name(file->source, module, pc, location, 1);
	return tpa_write_frame(file->source->writer, module, pc);
}

/* "FUNCTION (FILE:LINE)", "FUNCTION (in PATH)" or "FUNCTION", which may have brackets of its own. */
static uint32_t frame_of_function(struct massif *file, uint64_t pc, char *text)
{
	struct tpa_location location = { .function = text };
	size_t length = strlen(text);
	char *open = NULL, *colon;
	uint32_t module = 0;

	for (char *at = text; length && text[length - 1] == ')' && (at = strstr(at, " (")); at++)
		open = at;
	if (open && open > text) {
		text[length - 1] = 0;
		*open = 0;
		open += 2;
		colon = strrchr(open, ':');
		if (strncmp(open, "in ", 3) == 0) {
			module = module_of(file, open + 3);
		} else if (colon) {
			*colon = 0;
			location.file = open;
			location.line = atoi(colon + 1);
			module = file->program;
		}
	}
	if (strcmp(text, "???") == 0)
		location.function = NULL;
	location.linkage = location.function;
	return new_frame(file, pc, module, &location);
}

/* The frame that a line of a tree tells of; 0: memory of several places that massif found too small to tell apart. */
static uint32_t frame_of(struct massif *file, char *text)
{
	bool found;
	uint32_t *number, frame;
	uint64_t pc = 0, key;
	char *at;

	if (strncmp(text, "in ", 3) == 0 && strstr(text, "massif's threshold"))
		text = (char *)(uintptr_t) "(places below massif's threshold)";
	key = number_of(file, text);
	number = tpa_pairs_at(&file->frames, key, 0, &found);
	if (found)
		return *number;
	at = text;
	if (tpa_read_text(&at, "0x")) {
		for (; strchr("0123456789abcdefABCDEF", *at) && *at; at++)
			pc = pc << 4 | (uint64_t)(*at <= '9' ? *at - '0' : (*at | 0x20) - 'a' + 10);
		if (!tpa_read_text(&at, ": "))
			at = text;
	}
	if (at == text) {
		struct tpa_location location = { .function = text, .linkage = text };

		frame = new_frame(file, 0, 0, &location);
	} else {
		frame = frame_of_function(file, pc, at);
	}
	tpa_pairs_set(&file->frames, key, 0, frame);
	return frame;
}

/* ---- blocks ---- */

static void add_bytes(struct massif *file, uint32_t node, uint64_t bytes)
{
	bool found;
	uint32_t *number = tpa_pairs_at(&file->known, node, 0, &found);

	if (!found) {
		*TPA_APPEND(file->stacks, file->stack_count, file->stack_room) = (struct stack){ .node = node };
		*number = (uint32_t)file->stack_count;
	}
	file->stacks[*number - 1].next += bytes;
}

static uint32_t own_node(struct massif *file, const char *name)
{
	char text[64];

	strcpy(text, name);
	return tpa_write_node(file->source->writer, TPROF_NODE_ROOT, frame_of(file, text));
}

/* A snapshot without a tree. */
static void keep_stacks(struct massif *file)
{
	uint64_t sum = 0, kept = 0;
	uint32_t rest = own_node(file, "(not in massif's last tree)");

	for (size_t i = 0; i < file->stack_count; i++)
		sum += file->stacks[i].node != rest ? file->stacks[i].bytes : 0;
	for (size_t i = 0; i < file->stack_count && sum <= file->now.heap; i++)
		if (file->stacks[i].node != rest)
			kept += file->stacks[i].next = file->stacks[i].bytes;
	if (file->now.heap > kept)
		add_bytes(file, rest, file->now.heap - kept);
}

/* Frees come first, so that in between there is never more than at one of the two snapshots. */
static void change_blocks(struct massif *file)
{
	for (size_t i = 0; i < file->stack_count; i++)
		if (file->stacks[i].bytes && file->stacks[i].bytes != file->stacks[i].next)
			tpa_write_free(file->source->writer, BLOCKS_FROM + i * BLOCK_ROOM);
	for (size_t i = 0; i < file->stack_count; i++) {
		struct stack *stack = &file->stacks[i];

		if (stack->next && stack->next != stack->bytes)
			tpa_write_alloc(file->source->writer, BLOCKS_FROM + i * BLOCK_ROOM, stack->next, stack->node);
		stack->bytes = stack->next;
		stack->next = 0;
	}
}

static void map_stacks(struct massif *file)
{
	uint64_t bytes = (file->now.stacks + 4095) & ~UINT64_C(4095);

	if (bytes == file->mapped)
		return;
	if (file->mapped)
		tpa_write_unmap(file->source->writer, STACKS_AT, file->mapped);
	if (bytes)
		tpa_write_map(file->source->writer, STACKS_AT, bytes, own_node(file, "(stacks of threads)"));
	file->mapped = bytes;
}

static void end_snapshot(struct massif *file, const char *mark)
{
	uint64_t ns;

	if (__builtin_mul_overflow(file->now.time, file->unit_ns, &ns))
		ns = UINT64_MAX;
	tpa_write_time(file->source->writer, ns);
	change_blocks(file);
	map_stacks(file);
	if (mark)
		tpa_write_mark(file->source->writer, mark);
	file->snapshots++;
}

/* ---- trees ---- */

/* The stack of the node that was read last: its caller is the outermost one. */
static uint32_t node_of(struct massif *file)
{
	uint32_t node = TPROF_NODE_ROOT;

	for (size_t i = file->depth; i > 1; i--)
		node = tpa_write_node(file->source->writer, node, file->levels[i - 1].frame);
	return node;
}

/* Leaves those nodes whose children were read. Bytes that no child has are the node's own. */
static void leave(struct massif *file)
{
	while (file->depth && !file->levels[file->depth - 1].children) {
		struct level *level = &file->levels[file->depth - 1];

		if (level->bytes > level->told)
			add_bytes(file, node_of(file), level->bytes - level->told);
		file->depth--;
	}
}

/* "nCHILDREN: BYTES TEXT", with a blank before it for each node around it. */
static bool read_node(struct massif *file, char *line)
{
	struct level level = { 0 };
	char *at = line + strspn(line, " ");

	if ((size_t)(at - line) != file->depth || !tpa_read_text(&at, "n") ||
	    !tpa_read_decimal(&at, ":", &level.children) || !tpa_read_text(&at, ": ") ||
	    !tpa_read_decimal(&at, "", &level.bytes) || level.bytes > BYTES_MOST)
		return tpa_source_wrong(file->source, "'nCHILDREN: BYTES TEXT' is wanted, with %zu blanks before it",
					file->depth);
	if (file->depth >= DEPTH_MOST)
		return tpa_source_wrong(file->source, "a tree that is deeper than %u", DEPTH_MOST);
	at += *at == ' ';
	if (file->depth) {
		file->levels[file->depth - 1].children--;
		file->levels[file->depth - 1].told += level.bytes;
		level.frame = frame_of(file, at);
	}
	*TPA_APPEND(file->levels, file->depth, file->level_room) = level;
	leave(file);
	return true;
}

static bool read_tree(struct massif *file)
{
	char *line;

	file->depth = 0;
	do {
		line = tpa_lines_next(file->source->lines);
		if (!line)
			return false;
		if (!read_node(file, line))
			return false;
	} while (file->depth);
	file->trees++;
	return true;
}

/* ---- snapshots ---- */

/* The next line, which is not a comment, behind its `name`. NULL: the file has ended, or it is another line, which is an error. */
static char *line_of(struct massif *file, const char *name)
{
	char *line;

	do
		line = tpa_lines_next(file->source->lines);
	while (line && *line == '#');
	if (!line || tpa_read_text(&line, name))
		return line;
	tpa_source_wrong(file->source, "'%s' is wanted here", name);
	return NULL;
}

static bool read_field(struct massif *file, const char *name, uint64_t most, uint64_t *value)
{
	char *at = line_of(file, name);

	if (!at)
		return false;
	return (tpa_read_decimal(&at, "", value) && *value <= most) ||
	       tpa_source_wrong(file->source, "'%s' wants a number up to %" PRIu64, name, most);
}

/* False: the file has ended, or there is an error. What was read of a snapshot then is left out. */
static bool read_snapshot(struct massif *file)
{
	struct snapshot *now = &file->now;
	uint64_t extra;
	char *tree, mark[64] = "";

	if (!read_field(file, "snapshot=", UINT64_MAX, &now->number) ||
	    !read_field(file, "time=", INT64_MAX, &now->time) ||
	    !read_field(file, "mem_heap_B=", BYTES_MOST, &now->heap) ||
	    !read_field(file, "mem_heap_extra_B=", BYTES_MOST, &extra) ||
	    !read_field(file, "mem_stacks_B=", BYTES_MOST, &now->stacks) || !(tree = line_of(file, "heap_tree=")))
		return false;
	if (strcmp(tree, "peak") == 0)
		snprintf(mark, sizeof(mark), "massif's peak, snapshot %" PRIu64, now->number);
	if (strcmp(tree, "empty") == 0) {
		keep_stacks(file);
	} else if (strcmp(tree, "peak") != 0 && strcmp(tree, "detailed") != 0) {
		return tpa_source_wrong(file->source, "'heap_tree=' wants empty, detailed or peak");
	} else if (!read_tree(file)) {
		return false;
	}
	end_snapshot(file, mark[0] ? mark : NULL);
	return true;
}

static bool read_unit(struct massif *file)
{
	static const struct {
		const char *name, *what;
		uint64_t ns;
	} units[] = { { "i", "an instruction", 1 }, { "ms", NULL, 1000000 }, { "B", "a byte that was allocated", 1 } };
	char *name = line_of(file, "time_unit: ");

	for (size_t i = 0; name && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(name, units[i].name) == 0) {
			file->unit = units[i].what;
			file->unit_ns = units[i].ns;
			return true;
		}
	return name && tpa_source_wrong(file->source, "'time_unit: ' wants i, ms or B");
}

static bool read_head(struct massif *file)
{
	char *line = line_of(file, "desc: ");

	if (!line)
		return false;
	file->pages = strstr(line, "--pages-as-heap=yes") != NULL;
	line = line_of(file, "cmd: ");
	if (!line)
		return false;
	file->source->command = tpa_strdup(line);
	line[strcspn(line, " ")] = 0;
	file->source->exe = tpa_strdup(line);
	file->program = module_of(file, line);
	return read_unit(file);
}

static void add_notes(const struct massif *file)
{
	struct tpa_source *source = file->source;

	tpa_source_note(source,
			"imported from %s, which massif wrote: what was in use at %" PRIu64
			" snapshots, by stack in %" PRIu64
			" of them. A stack's memory is one block here; calls and bytes allocated are changes between "
			"snapshots, not what the program allocated",
			source->file, file->snapshots, file->trees);
	if (file->unit)
		tpa_source_note(source, "massif's time is not in seconds here: a nanosecond stands for %s", file->unit);
	if (file->pages)
		tpa_source_note(source,
				"massif was run with --pages-as-heap=yes: pages that were mapped count as heap");
}

static void free_all(struct massif *file)
{
	for (size_t i = 0; i < file->text_count; i++)
		free(file->texts[i]);
	free((void *)file->texts);
	free(file->stacks);
	free(file->levels);
	tpa_pairs_free(&file->known);
	tpa_pairs_free(&file->frames);
	tpa_pairs_free(&file->places);
	tpa_pairs_free(&file->modules);
	tpa_pairs_free(&file->hashes);
}

bool tpa_import_massif(struct tpa_source *source)
{
	struct massif file = { .source = source, .next_pc = UINT64_C(1) << 62 };

	if (read_head(&file))
		while (read_snapshot(&file))
			;
	if (!source->error)
		add_notes(&file);
	free_all(&file);
	return !source->error;
}
