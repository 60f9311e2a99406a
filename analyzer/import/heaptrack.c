/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heaptrack's files: lines of a letter and hexadecimal numbers. As libheaptrack_preload.so writes them, blocks have addresses, frames
 * lie in modules, and names come from the modules' files. As heaptrack_interpret writes them, frames have names, and blocks no
 * address: only the size and stack that a block shares with others are told.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tprof/format.h>

#include "base/memory.h"
#include "base/pairs.h"
#include "import/source.h"
#include "symbols/names.h"

#define SIZED_STRINGS 3u /* since this version of the format a text has its length before it */
#define BLOCK_MOST (UINT64_C(1) << 46)
#define BLOCKS_FROM (UINT64_C(1) << 32) /* addresses of blocks of which no address is told */
#define MAPPED_MOST 4096u		/* modules that are mapped at a time */

/* Of the interpreted form: what is known of a block. */
struct kind {
	uint64_t size;
	uint32_t node;
	uint32_t live; /* the block that was allocated last, + 1; 0: none */
	uint32_t spare;
};

/* A block has its kind's size, so a later one of the same kind may have its address. */
struct block {
	uint64_t address;
	uint32_t next;
};

struct mapped {
	uint64_t start, end;
	uint32_t module;
};

struct place {
	uint32_t frame; /* 0: not known */
};

struct heaptrack {
	struct tpa_source *source;
	uint64_t version, format;
	enum { FORM_UNKNOWN, FORM_RAW, FORM_INTERPRETED } form;
	uint64_t page_size;
	char **texts; /* interpreted: of frames; numbers begin with 1 */
	size_t text_count, text_room;
	uint32_t *text_modules; /* the module whose path it is; 0: none yet */
	size_t text_module_count, text_module_room;
	struct place *places;
	size_t place_count, place_room;
	uint32_t *stacks; /* nodes */
	size_t stack_count, stack_room;
	struct kind *kinds;
	size_t kind_count, kind_room;
	struct block *blocks;
	size_t block_count, block_room;
	uint64_t next_address;
	struct mapped *mapped; /* raw: at this time */
	size_t mapped_count, mapped_room;
	struct tpa_pairs modules; /* raw: number of a path at an address */
	char **paths;
	size_t path_count, path_room;
	bool attached;
};

typedef bool read_line(struct heaptrack *file, char *at);

static bool wants(struct heaptrack *file, const char *what)
{
	return tpa_source_wrong(file->source, "%s, all of them hexadecimal", what);
}

/* Is the number, which counts from 1 on, one that was given out? 0 is none. */
static bool is_known(struct heaptrack *file, const char *what, uint64_t number, size_t count)
{
	return number <= count ||
	       tpa_source_wrong(file->source, "%s %" PRIx64 " is not known: there are %zx so far", what, number, count);
}

/* ---- the process ---- */

static bool read_version(struct heaptrack *file, char *at)
{
	if (!tpa_read_hex(&at, &file->version))
		return wants(file, "'v' wants a version and the version of the format");
	if (!tpa_read_hex(&at, &file->format))
		file->format = 0;
	return true;
}

static bool read_exe(struct heaptrack *file, char *at)
{
	uint64_t length;

	if (file->format >= SIZED_STRINGS && (!tpa_read_hex(&at, &length) || *at++ != ' '))
		return wants(file, "'x' wants the length of a path, and the path");
	free(file->source->exe);
	file->source->exe = tpa_strdup(at);
	return true;
}

static bool read_command(struct heaptrack *file, char *at)
{
	free(file->source->command);
	file->source->command = tpa_strdup(at);
	return true;
}

static bool read_system(struct heaptrack *file, char *at)
{
	uint64_t pages;

	if (!tpa_read_hex(&at, &file->page_size) || !tpa_read_hex(&at, &pages) || file->page_size > UINT32_MAX)
		return wants(file, "'I' wants the size of a page and the number of pages of the machine's memory");
	return true;
}

static bool read_attached(struct heaptrack *file, char *at)
{
	(void)at;
	file->attached = true;
	return true;
}

static bool read_time(struct heaptrack *file, char *at)
{
	uint64_t ms;

	if (!tpa_read_hex(&at, &ms))
		return wants(file, "'c' wants milliseconds");
	tpa_write_time(file->source->writer, ms < UINT64_MAX / 1000000 ? ms * 1000000 : UINT64_MAX);
	return true;
}

static bool read_resident(struct heaptrack *file, char *at)
{
	uint64_t pages, bytes;

	if (!tpa_read_hex(&at, &pages))
		return wants(file, "'R' wants a number of pages");
	if (!__builtin_mul_overflow(pages, file->page_size ? file->page_size : 4096, &bytes))
		tpa_write_memory(file->source->writer, bytes, 0);
	return true;
}

/* ---- stacks ---- */

static bool add_stack(struct heaptrack *file, uint32_t frame, uint64_t parent)
{
	if (!is_known(file, "stack", parent, file->stack_count))
		return false;
	*TPA_APPEND(file->stacks, file->stack_count, file->stack_room) =
		tpa_write_node(file->source->writer, parent ? file->stacks[parent - 1] : TPROF_NODE_ROOT, frame);
	return true;
}

static uint32_t node_of(const struct heaptrack *file, uint64_t stack)
{
	return stack ? file->stacks[stack - 1] : TPROF_NODE_NONE;
}

static uint32_t new_module(struct heaptrack *file, const char *path, uint64_t bias, uint64_t start, uint64_t end)
{
	return file->source->modules = tpa_write_module(file->source->writer, path, bias, start, end);
}

/* ---- raw ---- */

static const struct mapped *module_at(const struct heaptrack *file, uint64_t pc)
{
	for (size_t i = 0; i < file->mapped_count; i++)
		if (pc >= file->mapped[i].start && pc < file->mapped[i].end)
			return &file->mapped[i];
	return NULL;
}

static bool raw_stack(struct heaptrack *file, char *at)
{
	const struct mapped *in;
	uint64_t pc, parent;

	if (!tpa_read_hex(&at, &pc) || !tpa_read_hex(&at, &parent))
		return wants(file, "'t' wants an address and the number of the stack that called");
	in = module_at(file, pc);
	return add_stack(file, pc ? tpa_write_frame(file->source->writer, in ? in->module : 0, pc) : 0, parent);
}

/* The path of a line, NUL-terminated; *at moves behind it. NULL: there is none. */
static char *raw_path(const struct heaptrack *file, char **at)
{
	uint64_t length = strlen(*at);
	char *path = *at;

	while (*path == ' ')
		path++;
	if (file->format >= SIZED_STRINGS) {
		if (!tpa_read_hex(&path, &length) || *path++ != ' ' || length > strlen(path))
			return NULL;
	} else {
		length = strcspn(path, " ");
	}
	*at = path + length;
	if (**at)
		*(*at)++ = 0;
	return path;
}

/* The number of a path; equal ones have the same. */
static uint64_t path_number(struct heaptrack *file, const char *path)
{
	for (size_t i = file->path_count; i > 0; i--)
		if (strcmp(file->paths[i - 1], path) == 0)
			return i;
	*TPA_APPEND(file->paths, file->path_count, file->path_room) = tpa_strdup(path);
	return file->path_count;
}

/* Maps the module of a path at an address; the same again is the same module. */
static void map_module(struct heaptrack *file, const char *path, uint64_t bias, uint64_t start, uint64_t end)
{
	bool found;
	uint32_t *number = tpa_pairs_at(&file->modules, bias, path_number(file, path), &found);

	if (!found)
		*number = new_module(file, path, bias, start, end);
	*TPA_APPEND(file->mapped, file->mapped_count, file->mapped_room) = (struct mapped){ start, end, *number };
}

/* "m -" is followed by all modules that are mapped then. */
static bool raw_module(struct heaptrack *file, char *at)
{
	char *path = raw_path(file, &at);
	uint64_t bias, address, size, low = UINT64_MAX, high = 0;

	if (path && strcmp(path, "-") == 0) {
		file->mapped_count = 0;
		return true;
	}
	if (!path || !tpa_read_hex(&at, &bias))
		return wants(file,
			     "'m' wants '-', or the length of a path, the path, an address, and pairs of an address "
			     "and a size");
	while (tpa_read_hex(&at, &address)) {
		if (!tpa_read_hex(&at, &size))
			return wants(file, "an address of 'm' has no size");
		low = bias + address < low ? bias + address : low;
		high = bias + address + size > high ? bias + address + size : high;
	}
	if (low >= high || file->mapped_count >= MAPPED_MOST)
		return true;
	if (strcmp(path, "x") == 0 && file->source->exe)
		path = file->source->exe;
	map_module(file, path, bias, low, high);
	return true;
}

static bool is_size(struct heaptrack *file, uint64_t size)
{
	return size <= BLOCK_MOST ||
	       tpa_source_wrong(file->source, "a block of %" PRIx64 " bytes; at most %" PRIx64 " are possible", size,
				BLOCK_MOST);
}

static bool raw_alloc(struct heaptrack *file, char *at)
{
	uint64_t size, stack, address;

	if (!tpa_read_hex(&at, &size) || !tpa_read_hex(&at, &stack) || !tpa_read_hex(&at, &address))
		return wants(file, "'+' wants a size, the number of a stack, and an address");
	if (!is_known(file, "stack", stack, file->stack_count) || !is_size(file, size))
		return false;
	tpa_write_alloc(file->source->writer, address, size, node_of(file, stack));
	return true;
}

static bool raw_free(struct heaptrack *file, char *at)
{
	uint64_t address;

	if (!tpa_read_hex(&at, &address))
		return wants(file, "'-' wants an address");
	tpa_write_free(file->source->writer, address);
	return true;
}

/* ---- interpreted ---- */

static bool read_string(struct heaptrack *file, char *at)
{
	uint64_t length;

	if (file->format >= SIZED_STRINGS && (!tpa_read_hex(&at, &length) || *at++ != ' '))
		return wants(file, "'s' wants the length of a text, and the text");
	*TPA_APPEND(file->texts, file->text_count, file->text_room) = tpa_strdup(at);
	return true;
}

static bool text_of(struct heaptrack *file, uint64_t number, const char **text)
{
	if (!is_known(file, "text", number, file->text_count))
		return false;
	*text = number ? file->texts[number - 1] : NULL;
	return true;
}

/* The number of a text's module; the text itself is known. */
static uint32_t module_of(struct heaptrack *file, uint64_t text)
{
	uint32_t *module;

	if (!text)
		return 0;
	tpa_extend(&file->text_modules, &file->text_module_count, &file->text_module_room, text,
		   sizeof(*file->text_modules));
	module = &file->text_modules[text - 1];
	if (!*module)
		*module = new_module(file, file->texts[text - 1], 0, 0, 0);
	return *module;
}

/* The next function of an 'i' line, with its file and line. *more: there is one. */
static bool read_location(struct heaptrack *file, char **at, struct tpa_location *location, bool *more)
{
	uint64_t function, path, line;

	*more = tpa_read_hex(at, &function);
	if (!*more)
		return true;
	if (!text_of(file, function, &location->function))
		return false;
	location->linkage = location->function;
	if (!tpa_read_hex(at, &path))
		return true;
	if (!text_of(file, path, &location->file) || !tpa_read_hex(at, &line))
		return wants(file, "a file of 'i' is no number of a text, or has no line");
	location->line = line < INT32_MAX ? (int)line : 0;
	return true;
}

static bool read_place(struct heaptrack *file, char *at)
{
	struct tpa_location locations[TPA_INLINED_MAX] = { 0 };
	uint64_t pc, module;
	uint32_t number;
	size_t count = 0;
	bool more = true;

	if (!tpa_read_hex(&at, &pc) || !tpa_read_hex(&at, &module))
		return wants(file, "'i' wants an address and the number of a module");
	if (!is_known(file, "text", module, file->text_count))
		return false;
	while (more && count < TPA_INLINED_MAX) {
		if (!read_location(file, &at, &locations[count], &more))
			return false;
		count += more;
	}
	number = module_of(file, module);
	if (count)
		tpa_source_name(file->source, number, pc, locations, count);
	*TPA_APPEND(file->places, file->place_count, file->place_room) =
		(struct place){ pc ? tpa_write_frame(file->source->writer, number, pc) : 0 };
	return true;
}

static bool read_stack(struct heaptrack *file, char *at)
{
	uint64_t place, parent;

	if (!tpa_read_hex(&at, &place) || !tpa_read_hex(&at, &parent))
		return wants(file, "'t' wants the number of an address and that of the stack that called");
	if (!is_known(file, "address", place, file->place_count))
		return false;
	return add_stack(file, place ? file->places[place - 1].frame : 0, parent);
}

static bool read_kind(struct heaptrack *file, char *at)
{
	uint64_t size, stack;

	if (!tpa_read_hex(&at, &size) || !tpa_read_hex(&at, &stack))
		return wants(file, "'a' wants a size and the number of a stack");
	if (!is_known(file, "stack", stack, file->stack_count) || !is_size(file, size))
		return false;
	*TPA_APPEND(file->kinds, file->kind_count, file->kind_room) = (struct kind){ size, node_of(file, stack), 0, 0 };
	return true;
}

/* The kind that a line names; these count from 0 on. NULL: there is none. */
static struct kind *kind_of(struct heaptrack *file, char *at, const char *what)
{
	uint64_t number;

	if (!tpa_read_hex(&at, &number)) {
		wants(file, what);
		return NULL;
	}
	if (number < file->kind_count)
		return &file->kinds[number];
	tpa_source_wrong(file->source, "allocation %" PRIx64 " is not known: there are %zx so far", number,
			 file->kind_count);
	return NULL;
}

/* Takes a block from one list of the kind to the other one. */
static struct block *move_block(const struct heaptrack *file, uint32_t *from, uint32_t *to)
{
	uint32_t number = *from;
	struct block *block = &file->blocks[number - 1];

	*from = block->next;
	block->next = *to;
	*to = number;
	return block;
}

static bool alloc_kind(struct heaptrack *file, char *at)
{
	struct kind *kind = kind_of(file, at, "'+' wants the number of an 'a'");

	if (!kind)
		return false;
	if (!kind->spare && file->block_count >= UINT32_MAX - 1)
		return tpa_source_wrong(file->source, "more than 4 billion blocks live at a time");
	if (!kind->spare) {
		*TPA_APPEND(file->blocks, file->block_count, file->block_room) =
			(struct block){ file->next_address, 0 };
		file->next_address += (kind->size + 31) & ~UINT64_C(15);
		kind->spare = (uint32_t)file->block_count;
	}
	tpa_write_alloc(file->source->writer, move_block(file, &kind->spare, &kind->live)->address, kind->size,
			kind->node);
	return true;
}

/* Of the blocks of a kind, it is the one that was allocated last: which one it was is not told. */
static bool free_kind(struct heaptrack *file, char *at)
{
	struct kind *kind = kind_of(file, at, "'-' wants the number of an 'a'");

	if (kind && kind->live)
		tpa_write_free(file->source->writer, move_block(file, &kind->live, &kind->spare)->address);
	return kind != NULL;
}

/* ---- the whole ---- */

static bool ignore(struct heaptrack *file, char *at)
{
	(void)file;
	(void)at;
	return true;
}

static const struct {
	char letter;
	read_line *raw, *interpreted; /* NULL: such a line is not in that form */
} line_kinds[] = {
	{ 'v', read_version, read_version },
	{ 'x', read_exe, NULL },
	{ 'X', read_command, read_command },
	{ 'I', read_system, read_system },
	{ 'A', read_attached, read_attached },
	{ 'S', ignore, ignore }, /* a suppression of leaks, for heaptrack_print */
	{ 'c', read_time, read_time },
	{ 'R', read_resident, read_resident },
	{ 'm', raw_module, NULL },
	{ 's', NULL, read_string },
	{ 'i', NULL, read_place },
	{ 'a', NULL, read_kind },
	{ 't', raw_stack, read_stack },
	{ '+', raw_alloc, alloc_kind },
	{ '-', raw_free, free_kind },
	{ '#', ignore, ignore },
};

static bool read_one(struct heaptrack *file, char *line)
{
	char letter = *line, allowed[2 * sizeof(line_kinds) / sizeof(line_kinds[0]) + 1] = "";
	size_t used = 0;

	if (!letter)
		return true;
	for (size_t i = 0; i < sizeof(line_kinds) / sizeof(line_kinds[0]); i++) {
		read_line *raw = line_kinds[i].raw, *interpreted = line_kinds[i].interpreted;
		bool here = line_kinds[i].letter == letter && (line[1] == ' ' || !line[1] || letter == '#');

		if (here && file->form == FORM_UNKNOWN && !raw != !interpreted)
			file->form = raw ? FORM_RAW : FORM_INTERPRETED;
		if (here && (file->form == FORM_RAW ? raw : interpreted))
			return (file->form == FORM_RAW ? raw : interpreted)(file, line[1] ? line + 2 : line + 1);
		if (file->form == FORM_RAW ? raw : interpreted) {
			allowed[used++] = ' ';
			allowed[used++] = line_kinds[i].letter;
		}
	}
	return tpa_source_wrong(file->source, "begins with '%.1s', which heaptrack's %s files do not have; they have%s",
				line, file->form == FORM_RAW ? "raw" : "interpreted", allowed);
}

static void free_all(struct heaptrack *file)
{
	for (size_t i = 0; i < file->text_count; i++)
		free(file->texts[i]);
	for (size_t i = 0; i < file->path_count; i++)
		free(file->paths[i]);
	free((void *)file->texts);
	free((void *)file->paths);
	free(file->text_modules);
	free(file->places);
	free(file->stacks);
	free(file->kinds);
	free(file->blocks);
	free(file->mapped);
	tpa_pairs_free(&file->modules);
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The interpreted form does not say which module is the program: it is the one that has the name of the command. */
static void find_program(struct heaptrack *file)
{
	struct tpa_source *source = file->source;
	size_t length = source->command ? strcspn(source->command, " ") : 0;
	char *command = source->command ? tpa_strndup(source->command, length) : NULL;

	for (size_t i = 0; i < file->text_module_count && command && !source->exe; i++)
		if (file->text_modules[i] && strcmp(file_name(file->texts[i]), file_name(command)) == 0)
			source->exe = tpa_strdup(file->texts[i]);
	free(command);
}

static void add_notes(const struct heaptrack *file)
{
	bool raw = file->form == FORM_RAW;

	tpa_source_note(file->source,
			"imported from %s, which heaptrack %" PRIu64 ".%" PRIu64 ".%" PRIu64 " wrote (%s): it has "
			"times to the millisecond, and no threads, ops or CPU samples",
			file->source->file, file->version >> 16 & 255, file->version >> 8 & 255, file->version & 255,
			raw ? "raw" : "interpreted");
	if (!raw)
		tpa_source_note(file->source,
				"heaptrack's interpreted files do not say which of several blocks of one size and "
				"stack was freed: the newest is taken");
	if (file->attached)
		tpa_source_note(file->source, "heaptrack was attached: what was allocated before is not recorded");
}

bool tpa_import_heaptrack(struct tpa_source *source)
{
	struct heaptrack file = { .source = source, .next_address = BLOCKS_FROM };
	bool good = true;
	char *line;

	while (good && (line = tpa_lines_next(source->lines)))
		good = read_one(&file, line);
	if (good) {
		find_program(&file);
		add_notes(&file);
	}
	free_all(&file);
	return good;
}
