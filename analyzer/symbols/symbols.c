/* SPDX-License-Identifier: Apache-2.0 */
/* Frames to names. The DWARF answer first, the symbol table for what it leaves open. */
#include "symbols/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "symbols/demangle.h"
#include "symbols/image.h"
#include "symbols/perfmap.h"
#include "trace/jitdump.h"

#define INLINED_MAX 64

struct tp_symbols {
	const struct tp_trace *trace;
	struct tp_symbols_options options;
	struct tp_arena *arena;
	const struct tp_image **images;	 /* as trace->modules; NULL: not asked for yet */
	const struct tp_symbol **frames; /* as trace->frames; NULL: not asked for yet */
	struct tp_perfmap *perfmap;
	bool perfmap_opened;
	uint32_t location_count;
};

static const struct tp_location unknown_location;
static const struct tp_symbol unknown_symbol = { &unknown_location, 1, "", "" };

struct tp_symbols *tp_symbols_open(const struct tp_trace *trace, const struct tp_symbols_options *options)
{
	struct tp_symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return NULL;
	symbols->trace = trace;
	if (options)
		symbols->options = *options;
	symbols->arena = tp_arena_new();
	symbols->images = (const struct tp_image **)calloc(trace->module_count + 1, sizeof(struct tp_image *));
	symbols->frames = calloc(trace->frame_count + 1, sizeof(*symbols->frames));
	if (symbols->arena && symbols->images && symbols->frames)
		return symbols;
	tp_symbols_close(symbols);
	return NULL;
}

void tp_symbols_close(struct tp_symbols *symbols)
{
	if (!symbols)
		return;
	free((void *)symbols->images);
	free(symbols->frames);
	tp_perfmap_close(symbols->perfmap);
	tp_arena_free(symbols->arena);
	free(symbols);
}

/* NULL: memory is out. */
static const struct tp_image *image_of(struct tp_symbols *symbols, const struct tp_module *module)
{
	size_t index = (size_t)(module - symbols->trace->modules);

	if (!symbols->images[index])
		symbols->images[index] = tp_image_of(module, symbols->options.debug_dir);
	return symbols->images[index];
}

static void set_name(struct tp_symbols *symbols, struct tp_location *location, const char *linkage)
{
	char *demangled = tp_demangle(linkage);

	location->linkage = tp_arena_intern(symbols->arena, linkage);
	location->function = tp_arena_intern(symbols->arena, demangled ? demangled : linkage);
	free(demangled);
}

/* The symbol table's name where DWARF has none, or only a C++ function's short one. */
static void add_symtab_name(struct tp_symbols *symbols, const struct tp_image *image, uint64_t address,
			    struct tp_location *location)
{
	const char *name = location->linkage ? NULL : tp_symtab_find(&image->symtab, address);

	if (!name)
		return;
	if (!location->function || (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R')))
		set_name(symbols, location, name);
	else
		location->linkage = tp_arena_intern(symbols->arena, name);
}

static size_t find_in_module(struct tp_symbols *symbols, const struct tp_module *module, uint64_t address,
			     struct tp_location *locations)
{
	const struct tp_image *image = image_of(symbols, module);
	size_t count = 0;

	if (image)
		address = tp_image_address(image, module, address);
	if (image && image->scopes)
		count = tp_scopes_find(image->scopes, address, locations, INLINED_MAX);
	if (!count) {
		memset(&locations[0], 0, sizeof(locations[0]));
		count = 1;
	}
	if (image && image->module)
		add_symtab_name(symbols, image, address, &locations[count - 1]);
	return count;
}

/* What the compiler wrote down while it ran: with lines, and each code in its time. */
static void find_in_jitdump(const struct tp_symbols *symbols, const struct tp_frame *frame,
			    struct tp_location *location)
{
	const struct tp_jit_code *code = &symbols->trace->jit->codes[frame->jit - 1];
	const struct tp_jit_line *line = tp_jit_line_at(code, tp_frame_address(frame));

	*location = (struct tp_location){ .function = code->name, .linkage = code->name };
	if (line) {
		location->file = line->file;
		location->line = (int)line->line;
	}
}

static void find_in_map(struct tp_symbols *symbols, uint64_t address, struct tp_location *location)
{
	uint32_t pid = symbols->trace->header->pid;
	const char *name;

	if (!symbols->perfmap_opened) {
		symbols->perfmap_opened = true;
		if (symbols->options.debug_dir)
			symbols->perfmap = tp_perfmap_open(symbols->options.debug_dir, pid);
		if (!symbols->perfmap)
			symbols->perfmap = tp_perfmap_open("/tmp", pid);
	}
	memset(location, 0, sizeof(*location));
	name = tp_perfmap_find(symbols->perfmap, address);
	location->function = location->linkage = tp_arena_intern(symbols->arena, name);
}

/*
 * What the interpreter knew is in the trace: neither it nor the source is needed. What a function begins with (cells for
 * variables that are shared) has no line there: it belongs to the first.
 */
static bool find_in_python(const struct tp_symbols *symbols, const struct tp_frame *frame, struct tp_location *location)
{
	const struct tp_code *code =
		frame->code < symbols->trace->code_count ? &symbols->trace->codes[frame->code] : NULL;

	if (!code || !code->name)
		return false;
	*location = (struct tp_location){ .function = code->name[0] ? code->name : "?",
					  .linkage = code->name,
					  .file = code->file[0] ? code->file : NULL,
					  .line = (int)(frame->line ? frame->line : code->first_line),
					  .python = true };
	return true;
}

static const struct tp_symbol *keep(struct tp_symbols *symbols, const struct tp_location *locations, size_t count,
				    const char *path)
{
	struct tp_location *copy = tp_arena_alloc(symbols->arena, count * sizeof(*copy));
	struct tp_symbol *symbol = tp_arena_alloc(symbols->arena, sizeof(*symbol));
	const char *name = strrchr(path, '/');

	if (!copy || !symbol)
		return &unknown_symbol;
	name = name ? name + 1 : path;
	for (size_t i = 0; i < count; i++) {
		copy[i] = locations[i];
		copy[i].known = tp_known_name(copy[i].function, copy[i].file, name, copy[i].python);
		copy[i].number = ++symbols->location_count;
	}
	symbol->locations = copy;
	symbol->count = count;
	symbol->path = path; /* the trace's, which outlives the symbols */
	symbol->module = name;
	return symbol;
}

const struct tp_symbol *tp_symbols_frame(struct tp_symbols *symbols, uint32_t frame)
{
	struct tp_location locations[INLINED_MAX];
	const struct tp_frame *at;
	size_t count = 1;

	if (frame == 0 || frame >= symbols->trace->frame_count)
		return &unknown_symbol;
	if (symbols->frames[frame])
		return symbols->frames[frame];
	at = &symbols->trace->frames[frame];
	if (at->code) {
		if (!find_in_python(symbols, at, &locations[0]))
			return &unknown_symbol;
		symbols->frames[frame] = keep(symbols, locations, 1, locations[0].file ? locations[0].file : "");
		return symbols->frames[frame];
	}
	if (at->module)
		count = find_in_module(symbols, at->module, tp_frame_address(at), locations);
	else if (at->jit)
		find_in_jitdump(symbols, at, &locations[0]);
	else
		find_in_map(symbols, tp_frame_address(at), &locations[0]);
	symbols->frames[frame] = keep(symbols, locations, count, at->module ? at->module->path : "");
	return symbols->frames[frame];
}

enum tp_module_state tp_symbols_module_state(const struct tp_symbols *symbols, const struct tp_module *module)
{
	size_t index = (size_t)(module - symbols->trace->modules);

	return symbols->images[index] ? symbols->images[index]->state : TP_MODULE_OK;
}

bool tp_symbols_module_is_named(const struct tp_symbols *symbols, const struct tp_module *module)
{
	size_t index = (size_t)(module - symbols->trace->modules);

	return symbols->images[index] && symbols->images[index]->module != NULL;
}

const struct tp_symbols_options *tp_symbols_options(const struct tp_symbols *symbols)
{
	return &symbols->options;
}

uint32_t tp_symbols_locations(const struct tp_symbols *symbols)
{
	return symbols->location_count + 1;
}
