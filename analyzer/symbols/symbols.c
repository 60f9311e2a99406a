/* SPDX-License-Identifier: Apache-2.0 */
/* Names of frames: from DWARF, completed from the symbol table. */
#include "symbols/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "symbols/embedded.h"
#include "symbols/names.h"
#include "symbols/perfmap.h"
#include "trace/jitdump.h"

struct tpa_symbols {
	const struct tpa_trace *trace;
	struct tpa_symbols_options options;
	struct tpa_arena *arena;
	struct tpa_names **names;	  /* by index in trace->modules; NULL: not asked for yet */
	const struct tpa_symbol **frames; /* by index in trace->frames, which may grow; NULL: not looked up yet */
	size_t frame_count, frame_room;
	struct tpa_perfmap *perfmap;
	bool perfmap_opened;
	struct tpa_embedded *embedded; /* NULL: the trace has no names */
	bool *used;		       /* by module: names in it were looked up in `embedded` */
	uint32_t location_count;
};

static const struct tpa_location unknown_location;
static const struct tpa_symbol unknown_symbol = { &unknown_location, 1, "", "", false };

struct tpa_symbols *tpa_symbols_open(const struct tpa_trace *trace, const struct tpa_symbols_options *options)
{
	struct tpa_symbols *symbols = tpa_zalloc(1, sizeof(*symbols));

	symbols->trace = trace;
	if (options)
		symbols->options = *options;
	symbols->arena = tpa_arena_new();
	symbols->names = tpa_zalloc(trace->module_count, sizeof(struct tpa_names *));
	symbols->used = tpa_zalloc(trace->module_count, sizeof(bool));
	symbols->embedded = tpa_embedded_open(trace);
	return symbols;
}

void tpa_symbols_close(struct tpa_symbols *symbols)
{
	if (!symbols)
		return;
	free((void *)symbols->names);
	free(symbols->used);
	tpa_embedded_close(symbols->embedded);
	free(symbols->frames);
	tpa_perfmap_close(symbols->perfmap);
	tpa_arena_free(symbols->arena);
	free(symbols);
}

static struct tpa_names *names_of(struct tpa_symbols *symbols, const struct tpa_module *module)
{
	size_t index = (size_t)(module - symbols->trace->modules);

	if (!symbols->names[index])
		symbols->names[index] = tpa_names_of(module, symbols->options.debug_dir);
	return symbols->names[index];
}

/* Uses the JIT compiler's records, which have lines, and the time of each piece of code. */
static void find_in_jitdump(const struct tpa_symbols *symbols, const struct tpa_frame *frame,
			    struct tpa_location *location)
{
	const struct tpa_jit_code *code = tpa_jit_code(symbols->trace->jit, frame->jit);
	const struct tpa_jit_line *line = tpa_jit_line_at(code, tpa_frame_address(frame));

	*location = (struct tpa_location){ .function = code->name, .linkage = code->name };
	if (line) {
		location->file = line->file;
		location->line = (int)line->line;
	}
}

static void find_in_map(struct tpa_symbols *symbols, uint64_t address, struct tpa_location *location)
{
	uint32_t pid = symbols->trace->header->pid;
	const char *name;

	if (!symbols->perfmap_opened) {
		symbols->perfmap_opened = true;
		if (symbols->options.debug_dir)
			symbols->perfmap = tpa_perfmap_open(symbols->options.debug_dir, pid);
		if (!symbols->perfmap)
			symbols->perfmap = tpa_perfmap_open("/tmp", pid);
	}
	memset(location, 0, sizeof(*location));
	name = tpa_perfmap_find(symbols->perfmap, address);
	location->function = location->linkage = tpa_arena_intern(symbols->arena, name);
}

/*
 * Uses the interpreter's records in the trace; needs neither the interpreter nor the source. A function's prologue
 * (cells for shared variables) has no line there: use the first line.
 */
static bool find_in_python(const struct tpa_symbols *symbols, const struct tpa_frame *frame,
			   struct tpa_location *location)
{
	const struct tpa_code *code =
		frame->code < symbols->trace->code_count ? &symbols->trace->codes[frame->code] : NULL;

	if (!code || !code->name)
		return false;
	*location = (struct tpa_location){ .function = code->name[0] ? code->name : "?",
					   .linkage = code->name,
					   .file = code->file[0] ? code->file : NULL,
					   .line = (int)(frame->line ? frame->line : code->first_line),
					   .python = true };
	return true;
}

/*
 * Uses the names that the trace brings along, unless the user names a folder and the module's file is found. NULL: there are none.
 */
static const struct tpa_location *find_embedded(struct tpa_symbols *symbols, const struct tpa_frame *frame,
						size_t *count)
{
	const struct tpa_module *module = frame->module;
	const char *folder = symbols->options.debug_dir;
	const struct tpa_location *found;

	if (!symbols->embedded || frame->jit || (module && folder && tpa_names_are_found(names_of(symbols, module))))
		return NULL;
	found = tpa_embedded_frame(symbols->embedded, frame, count);
	if (found && module)
		symbols->used[module - symbols->trace->modules] = true;
	return found;
}

/* `single`: for a place that has one location. */
static const struct tpa_location *find_native(struct tpa_symbols *symbols, const struct tpa_frame *at,
					      struct tpa_location *single, size_t *count)
{
	const struct tpa_location *embedded = find_embedded(symbols, at, count);

	if (embedded)
		return embedded;
	*count = 1;
	if (at->module)
		return tpa_names_find(names_of(symbols, at->module), at->module, symbols->options.debug_dir,
				      tpa_frame_address(at), count);
	if (at->jit)
		find_in_jitdump(symbols, at, single);
	else
		find_in_map(symbols, tpa_frame_address(at), single);
	return single;
}

static const struct tpa_symbol *keep(struct tpa_symbols *symbols, const struct tpa_location *locations, size_t count,
				     const char *path)
{
	struct tpa_location *copy = tpa_arena_alloc(symbols->arena, count * sizeof(*copy));
	struct tpa_symbol *symbol = tpa_arena_alloc(symbols->arena, sizeof(*symbol));
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	for (size_t i = 0; i < count; i++) {
		copy[i] = locations[i];
		copy[i].known = tpa_known_name(copy[i].function, copy[i].file, name, copy[i].python);
		copy[i].number = ++symbols->location_count;
	}
	symbol->locations = copy;
	symbol->count = count;
	symbol->path = path; /* belongs to the trace, which outlives the symbols */
	symbol->module = name;
	symbol->system = tpa_path_is_system(path);
	return symbol;
}

const struct tpa_symbol *tpa_symbols_frame(struct tpa_symbols *symbols, uint32_t frame)
{
	struct tpa_location single = { .function = NULL };
	const struct tpa_location *locations;
	const struct tpa_frame *at;
	size_t count;

	if (frame < symbols->frame_count && symbols->frames[frame])
		return symbols->frames[frame];
	if (frame == 0 || frame >= symbols->trace->frame_count)
		return &unknown_symbol;
	tpa_extend(&symbols->frames, &symbols->frame_count, &symbols->frame_room, symbols->trace->frame_count,
		   sizeof(*symbols->frames));
	at = &symbols->trace->frames[frame];
	if (at->code) {
		if (!find_in_python(symbols, at, &single))
			return &unknown_symbol;
		symbols->frames[frame] = keep(symbols, &single, 1, single.file ? single.file : "");
		return symbols->frames[frame];
	}
	locations = find_native(symbols, at, &single, &count);
	symbols->frames[frame] = keep(symbols, locations, count, at->module ? at->module->path : "");
	return symbols->frames[frame];
}

enum tpa_module_state tpa_symbols_module_state(const struct tpa_symbols *symbols, const struct tpa_module *module)
{
	size_t index = (size_t)(module - symbols->trace->modules);
	enum tpa_module_state state = TPA_MODULE_OK;
	bool named;

	if (symbols->used[index])
		tpa_embedded_module(symbols->embedded, module->id, &state, &named);
	else if (symbols->names[index])
		state = tpa_names_state(symbols->names[index]);
	return state;
}

bool tpa_symbols_module_is_named(const struct tpa_symbols *symbols, const struct tpa_module *module)
{
	size_t index = (size_t)(module - symbols->trace->modules);
	enum tpa_module_state state;
	bool named = false;

	if (symbols->used[index])
		tpa_embedded_module(symbols->embedded, module->id, &state, &named);
	else
		named = symbols->names[index] && tpa_names_are_found(symbols->names[index]);
	return named;
}

const struct tpa_symbols_options *tpa_symbols_options(const struct tpa_symbols *symbols)
{
	return &symbols->options;
}

uint32_t tpa_symbols_locations(const struct tpa_symbols *symbols)
{
	return symbols->location_count + 1;
}
