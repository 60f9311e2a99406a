/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/scopes.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "symbols/demangle.h"

#define DEPTH_MAX 128 /* nested DIEs; deeper nesting means a damaged file */

struct range {
	Dwarf_Addr start, end; /* link-time addresses */
	uint32_t owner;	       /* number of a unit or function */
	Dwarf_Addr limit;      /* largest end of this and all earlier entries of the sorted list */
};

struct ranges {
	struct range *items;
	size_t count, capacity;
	bool sorted;
};

/* A function or an inlined function; in a function's list each is followed by the scopes inlined into it. */
struct scope {
	Dwarf_Die die;
	int depth; /* 0: the function itself */
	size_t first_range, range_count;
	bool named;
	const char *function, *linkage;
};

struct function {
	Dwarf_Die die;
	bool read;
	struct scope *scopes;
	size_t count, capacity;
	struct ranges ranges; /* scopes' ranges, grouped by scope */
};

struct unit {
	Dwarf_Die die, split; /* split: the DIE in the .dwo file, else the same */
	bool read;
	struct function *functions;
	size_t count, capacity;
	struct ranges ranges; /* functions' ranges */
};

struct tpa_scopes {
	struct tpa_arena *arena;
	Dwarf_Addr bias;
	struct unit *units;
	size_t count, capacity;
	struct ranges ranges; /* units' ranges */
	bool split;
};

/* Adds all address ranges of a DIE; returns their number. */
static size_t add_ranges(struct ranges *ranges, Dwarf_Die *die, uint32_t owner)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t offset = 0;
	size_t before = ranges->count;

	while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
		if (start >= end || start == 0) /* 0: the linker dropped the function */
			continue;
		*TPA_APPEND(ranges->items, ranges->count, ranges->capacity) =
			(struct range){ .start = start, .end = end, .owner = owner };
	}
	return ranges->count - before;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	return TPA_UP(a->start, b->start) ?: TPA_DOWN(a->end, b->end);
}

static void sort_ranges(struct ranges *ranges)
{
	Dwarf_Addr limit = 0;

	if (ranges->count)
		qsort(ranges->items, ranges->count, sizeof(*ranges->items), compare_ranges);
	for (size_t i = 0; i < ranges->count; i++) {
		if (ranges->items[i].end > limit)
			limit = ranges->items[i].end;
		ranges->items[i].limit = limit;
	}
}

/* Finds the innermost range around the address: the last one to begin. NULL if there is none. */
static const struct range *find_range(const struct ranges *ranges, Dwarf_Addr address)
{
	size_t i = TPA_UP_TO(ranges->items, ranges->count, start, address);

	while (i-- > 0 && address < ranges->items[i].limit)
		if (address < ranges->items[i].end)
			return &ranges->items[i];
	return NULL;
}

static void add_unit(struct tpa_scopes *scopes, const Dwarf_Die *die)
{
	struct unit *unit;
	uint8_t type = 0;

	tpa_grow(&scopes->units, &scopes->capacity, scopes->count + 1, sizeof(*scopes->units));
	unit = &scopes->units[scopes->count];
	memset(unit, 0, sizeof(*unit));
	unit->die = unit->split = *die;
	if (dwarf_cu_info(unit->die.cu, NULL, &type, NULL, &unit->split, NULL, NULL, NULL) != 0 || !unit->split.addr)
		unit->split = *die;
	scopes->split = scopes->split || type == DW_UT_skeleton;
	if (add_ranges(&scopes->ranges, &unit->die, (uint32_t)scopes->count))
		scopes->count++;
}

struct tpa_scopes *tpa_scopes_new(Dwfl_Module *module, struct tpa_arena *arena)
{
	struct tpa_scopes *scopes;
	Dwarf_Addr bias = 0;
	Dwarf_Die *die = NULL;

	if (!dwfl_module_getdwarf(module, &bias))
		return NULL;
	scopes = tpa_zalloc(1, sizeof(*scopes));
	scopes->arena = arena;
	scopes->bias = bias;
	/* read the units' own ranges: clang writes no .debug_aranges */
	while ((die = dwfl_module_nextcu(module, die, &bias)))
		add_unit(scopes, die);
	sort_ranges(&scopes->ranges);
	return scopes;
}

bool tpa_scopes_are_split(const struct tpa_scopes *scopes)
{
	return scopes->split;
}

static void free_unit(struct unit *unit)
{
	for (size_t i = 0; i < unit->count; i++) {
		free(unit->functions[i].scopes);
		free(unit->functions[i].ranges.items);
	}
	free(unit->functions);
	free(unit->ranges.items);
}

void tpa_scopes_free(struct tpa_scopes *scopes)
{
	if (!scopes)
		return;
	for (size_t i = 0; i < scopes->count; i++)
		free_unit(&scopes->units[i]);
	free(scopes->units);
	free(scopes->ranges.items);
	free(scopes);
}

static void add_function(struct unit *unit, Dwarf_Die *die)
{
	tpa_grow(&unit->functions, &unit->capacity, unit->count + 1, sizeof(*unit->functions));
	if (!add_ranges(&unit->ranges, die, (uint32_t)unit->count))
		return;
	memset(&unit->functions[unit->count], 0, sizeof(*unit->functions));
	unit->functions[unit->count++].die = *die;
}

/* Functions may be nested in namespaces, in classes, and in some languages in functions. */
static void collect_functions(struct unit *unit, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			add_function(unit, &die);
			collect_functions(unit, &die, depth + 1);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_lexical_block:
			collect_functions(unit, &die, depth + 1);
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

static void add_scope(struct function *function, Dwarf_Die *die, int depth)
{
	struct scope *scope;

	tpa_grow(&function->scopes, &function->capacity, function->count + 1, sizeof(*function->scopes));
	scope = &function->scopes[function->count];
	memset(scope, 0, sizeof(*scope));
	scope->die = *die;
	scope->depth = depth;
	scope->first_range = function->ranges.count;
	scope->range_count = add_ranges(&function->ranges, die, (uint32_t)function->count);
	function->count++;
}

static void collect_inlined(struct function *function, Dwarf_Die *parent, int scope_depth, int depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_inlined_subroutine) {
			add_scope(function, &die, scope_depth);
			collect_inlined(function, &die, scope_depth + 1, depth + 1);
		} else if (tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block) {
			collect_inlined(function, &die, scope_depth, depth + 1);
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

static struct function *find_function(struct unit *unit, Dwarf_Addr address)
{
	const struct range *range;
	struct function *function;

	if (!unit->read) {
		unit->read = true;
		collect_functions(unit, &unit->split, 0);
		sort_ranges(&unit->ranges);
	}
	range = find_range(&unit->ranges, address);
	if (!range)
		return NULL;
	function = &unit->functions[range->owner];
	if (!function->read) {
		function->read = true;
		add_scope(function, &function->die, 0);
		collect_inlined(function, &function->die, 1, 0);
	}
	return function;
}

static bool scope_covers(const struct function *function, const struct scope *scope, Dwarf_Addr address)
{
	const struct range *range = &function->ranges.items[scope->first_range];

	for (size_t i = 0; i < scope->range_count; i++)
		if (address >= range[i].start && address < range[i].end)
			return true;
	return false;
}

static const char *string_attribute(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

static void name_scope(struct tpa_scopes *scopes, struct scope *scope)
{
	const char *linkage = string_attribute(&scope->die, DW_AT_linkage_name);
	const char *name = string_attribute(&scope->die, DW_AT_name);
	char *demangled;

	if (scope->named)
		return;
	scope->named = true;
	if (!linkage)
		linkage = string_attribute(&scope->die, DW_AT_MIPS_linkage_name);
	demangled = linkage ? tpa_demangle(linkage) : NULL;
	scope->linkage = tpa_arena_intern(scopes->arena, linkage);
	scope->function = tpa_arena_intern(scopes->arena, demangled ? demangled : name ? name : linkage);
	free(demangled);
}

static const char *full_path(struct tpa_scopes *scopes, Dwarf_Die *unit, const char *file)
{
	const char *folder = string_attribute(unit, DW_AT_comp_dir);
	char path[4096];

	if (!file || file[0] == '/' || !folder)
		return tpa_arena_intern(scopes->arena, file);
	while (file[0] == '.' && file[1] == '/')
		file += 2;
	while (folder[0] == '.' && folder[1] == '/')
		folder += 2;
	snprintf(path, sizeof(path), "%s/%s", folder, file);
	return tpa_arena_intern(scopes->arena, path);
}

static int number_attribute(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0 || value > INT32_MAX)
		return 0;
	return (int)value;
}

/* Sets where an inlined scope's function was called. */
static void call_site(struct tpa_scopes *scopes, struct unit *unit, struct scope *scope, struct tpa_location *location)
{
	int file = number_attribute(&scope->die, DW_AT_call_file);
	Dwarf_Files *files;
	size_t count;

	location->line = number_attribute(&scope->die, DW_AT_call_line);
	if (dwarf_getsrcfiles(&unit->split, &files, &count) == 0 && (size_t)file < count)
		location->file = full_path(scopes, &unit->die, dwarf_filesrc(files, (size_t)file, NULL, NULL));
}

static void line_of(struct tpa_scopes *scopes, struct unit *unit, Dwarf_Addr address, struct tpa_location *location)
{
	Dwarf_Line *line = dwarf_getsrc_die(&unit->die, address);

	if (!line)
		return;
	location->file = full_path(scopes, &unit->die, dwarf_linesrc(line, NULL, NULL));
	if (dwarf_lineno(line, &location->line) != 0)
		location->line = 0;
}

/* Finds the scopes around the address, outermost first; returns their number. */
static size_t scope_chain(struct function *function, Dwarf_Addr address, struct scope **chain, size_t max)
{
	size_t count = 0;

	for (size_t i = 0; i < function->count && count < max; i++) {
		struct scope *scope = &function->scopes[i];

		if ((size_t)scope->depth < count)
			break; /* past the scopes inlined into the innermost one */
		if ((size_t)scope->depth == count && (count == 0 || scope_covers(function, scope, address)))
			chain[count++] = scope;
	}
	return count;
}

size_t tpa_scopes_find(struct tpa_scopes *scopes, Dwarf_Addr address, struct tpa_location *locations, size_t max)
{
	struct scope *chain[DEPTH_MAX];
	struct tpa_location here = { .function = NULL };
	const struct range *range;
	struct function *function;
	struct unit *unit;
	size_t count;

	address -= scopes->bias;
	range = find_range(&scopes->ranges, address);
	if (!range || !max)
		return 0;
	unit = &scopes->units[range->owner];
	line_of(scopes, unit, address, &here);
	function = find_function(unit, address);
	count = function ? scope_chain(function, address, chain, max < DEPTH_MAX ? max : DEPTH_MAX) : 0;
	if (!count) {
		locations[0] = here;
		return here.file != NULL;
	}
	for (size_t i = 0; i < count; i++) {
		struct scope *scope = chain[count - 1 - i];

		name_scope(scopes, scope);
		here.function = scope->function;
		here.linkage = scope->linkage;
		here.inlined = i + 1 < count;
		locations[i] = here;
		memset(&here, 0, sizeof(here));
		if (locations[i].inlined)
			call_site(scopes, unit, scope, &here);
	}
	return count;
}
