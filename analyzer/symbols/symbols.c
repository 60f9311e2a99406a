/* SPDX-License-Identifier: Apache-2.0 */
/* Names of frames: from DWARF, completed from the symbol table. */
#include "symbols/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "symbols/demangle.h"
#include "symbols/image.h"
#include "symbols/perfmap.h"
#include "trace/jitdump.h"

#define INLINED_MAX 64

struct tpa_symbols {
	const struct tpa_trace *trace;
	struct tpa_symbols_options options;
	struct tpa_arena *arena;
	const struct tpa_image **images;  /* by index in trace->modules; NULL: not opened yet */
	const struct tpa_symbol **frames; /* by index in trace->frames, which may grow; NULL: not looked up yet */
	size_t frame_count, frame_room;
	struct tpa_perfmap *perfmap;
	bool perfmap_opened;
	uint32_t location_count;
};

static const struct tpa_location unknown_location;
static const struct tpa_symbol unknown_symbol = { &unknown_location, 1, "", "" };

struct tpa_symbols *tpa_symbols_open(const struct tpa_trace *trace, const struct tpa_symbols_options *options)
{
	struct tpa_symbols *symbols = tpa_zalloc(1, sizeof(*symbols));

	symbols->trace = trace;
	if (options)
		symbols->options = *options;
	symbols->arena = tpa_arena_new();
	symbols->images = tpa_zalloc(trace->module_count, sizeof(struct tpa_image *));
	return symbols;
}

void tpa_symbols_close(struct tpa_symbols *symbols)
{
	if (!symbols)
		return;
	free((void *)symbols->images);
	free(symbols->frames);
	tpa_perfmap_close(symbols->perfmap);
	tpa_arena_free(symbols->arena);
	free(symbols);
}

static const struct tpa_image *image_of(struct tpa_symbols *symbols, const struct tpa_module *module)
{
	size_t index = (size_t)(module - symbols->trace->modules);

	if (!symbols->images[index])
		symbols->images[index] = tpa_image_of(module, symbols->options.debug_dir);
	return symbols->images[index];
}

static void set_name(struct tpa_symbols *symbols, struct tpa_location *location, const char *linkage)
{
	char *demangled = tpa_demangle(linkage);

	location->linkage = tpa_arena_intern(symbols->arena, linkage);
	location->function = tpa_arena_intern(symbols->arena, demangled ? demangled : linkage);
	free(demangled);
}

/* Uses the symbol table's name if DWARF has none, or only the short name of a C++ function. */
static void add_symtab_name(struct tpa_symbols *symbols, const struct tpa_image *image, uint64_t address,
			    struct tpa_location *location)
{
	const char *name = location->linkage ? NULL : tpa_symtab_find(&image->symtab, address);

	if (!name)
		return;
	if (!location->function || (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R')))
		set_name(symbols, location, name);
	else
		location->linkage = tpa_arena_intern(symbols->arena, name);
}

static size_t find_in_module(struct tpa_symbols *symbols, const struct tpa_module *module, uint64_t address,
			     struct tpa_location *locations)
{
	const struct tpa_image *image = image_of(symbols, module);
	size_t count = 0;

	address = tpa_image_address(image, module, address);
	if (image->scopes)
		count = tpa_scopes_find(image->scopes, address, locations, INLINED_MAX);
	if (!count) {
		memset(&locations[0], 0, sizeof(locations[0]));
		count = 1;
	}
	if (image->module)
		add_symtab_name(symbols, image, address, &locations[count - 1]);
	return count;
}

/* Uses the JIT compiler's records, which have lines, and the time of each piece of code. */
static void find_in_jitdump(const struct tpa_symbols *symbols, const struct tpa_frame *frame,
			    struct tpa_location *location)
{
	const struct tpa_jit_code *code = &symbols->trace->jit->codes[frame->jit - 1];
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
	return symbol;
}

const struct tpa_symbol *tpa_symbols_frame(struct tpa_symbols *symbols, uint32_t frame)
{
	struct tpa_location locations[INLINED_MAX];
	const struct tpa_frame *at;
	size_t count = 1;

	if (frame == 0 || frame >= symbols->trace->frame_count)
		return &unknown_symbol;
	tpa_extend(&symbols->frames, &symbols->frame_count, &symbols->frame_room, symbols->trace->frame_count,
		   sizeof(*symbols->frames));
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
		count = find_in_module(symbols, at->module, tpa_frame_address(at), locations);
	else if (at->jit)
		find_in_jitdump(symbols, at, &locations[0]);
	else
		find_in_map(symbols, tpa_frame_address(at), &locations[0]);
	symbols->frames[frame] = keep(symbols, locations, count, at->module ? at->module->path : "");
	return symbols->frames[frame];
}

enum tpa_module_state tpa_symbols_module_state(const struct tpa_symbols *symbols, const struct tpa_module *module)
{
	size_t index = (size_t)(module - symbols->trace->modules);

	return symbols->images[index] ? symbols->images[index]->state : TPA_MODULE_OK;
}

bool tpa_symbols_module_is_named(const struct tpa_symbols *symbols, const struct tpa_module *module)
{
	size_t index = (size_t)(module - symbols->trace->modules);

	return symbols->images[index] && symbols->images[index]->module != NULL;
}

const struct tpa_symbols_options *tpa_symbols_options(const struct tpa_symbols *symbols)
{
	return &symbols->options;
}

uint32_t tpa_symbols_locations(const struct tpa_symbols *symbols)
{
	return symbols->location_count + 1;
}
