/* SPDX-License-Identifier: Apache-2.0 */
#include "export/pprof_tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "export/export.h"

#define INLINED_MOST 64u /* functions at one place that are told */

void tpa_pprof_begin(struct tpa_pprof *pprof, FILE *out)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	char *empty[] = { "" };

	*pprof = (struct tpa_pprof){ .gzip = tpa_gzip_begin(out), .arena = tpa_arena_new(), .string_count = 1 };
	part.n_string_table = 1;
	part.string_table = empty;
	tpa_pprof_write(pprof, &part);
}

bool tpa_pprof_end(struct tpa_pprof *pprof)
{
	bool good = tpa_gzip_end(pprof->gzip);

	tpa_pairs_free(&pprof->strings);
	tpa_pairs_free(&pprof->functions);
	tpa_pairs_free(&pprof->locations);
	tpa_pairs_free(&pprof->mappings);
	tpa_arena_free(pprof->arena);
	free(pprof->packer.bytes);
	return good;
}

void tpa_pprof_write(struct tpa_pprof *pprof, const Pprof__Profile *part)
{
	size_t size = tpa_pack(&pprof->packer, &part->base);

	tpa_gzip_write(pprof->gzip, pprof->packer.bytes, size);
}

int64_t tpa_pprof_string(struct tpa_pprof *pprof, const char *text)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	const char *key;
	char *shown;
	uint32_t *number;
	bool found;

	if (!text || !*text)
		return 0;
	shown = tpa_export_text(text, strlen(text));
	key = tpa_arena_intern(pprof->arena, shown);
	number = tpa_pairs_at(&pprof->strings, (uintptr_t)key, 0, &found);
	if (!found) {
		*number = (uint32_t)pprof->string_count++;
		part.n_string_table = 1;
		part.string_table = &shown;
		tpa_pprof_write(pprof, &part);
	}
	free(shown);
	return *number;
}

/* A build id as the hexadecimal digits by which tools know it. */
static int64_t build_id(struct tpa_pprof *pprof, const struct tpa_module *module)
{
	char text[2 * UINT8_MAX + 1] = "";

	for (unsigned i = 0; module->build_id && i < module->build_id_length; i++)
		snprintf(text + (size_t)2 * i, 3, "%02x", module->build_id[i]);
	return tpa_pprof_string(pprof, text);
}

uint64_t tpa_pprof_mapping(struct tpa_pprof *pprof, size_t which, const struct tpa_module *module)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *list = &mapping;
	uint32_t *number;
	bool found;

	if (!module)
		return 0;
	number = tpa_pairs_at(&pprof->mappings, which, (uintptr_t)module, &found);
	if (found)
		return *number;
	*number = ++pprof->mapping_count;
	mapping.id = *number;
	mapping.memory_start = module->start;
	mapping.memory_limit = module->end;
	mapping.filename = tpa_pprof_string(pprof, module->path);
	mapping.build_id = build_id(pprof, module);
	/* What names could be found stands in the profile: readers need not look for more. */
	mapping.has_functions = mapping.has_filenames = mapping.has_line_numbers = mapping.has_inline_frames = true;
	part.n_mapping = 1;
	part.mapping = &list;
	tpa_pprof_write(pprof, &part);
	return mapping.id;
}

/* Functions without a name are one for each module. */
static uint64_t function_of(struct tpa_pprof *pprof, const struct tpa_line *line)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Function function = PPROF__FUNCTION__INIT, *list = &function;
	char unnamed[300];
	uint32_t *number;
	bool found;

	snprintf(unnamed, sizeof(unnamed), "[%.290s]", *line->symbol->module ? line->symbol->module : "unknown");
	function.name = tpa_pprof_string(pprof, line->location->function ? line->location->function : unnamed);
	/* Readers shorten a name as if it were one of C++ where both are equal: <module> would be gone. */
	if (line->location->function && line->location->linkage &&
	    strcmp(line->location->function, line->location->linkage) != 0)
		function.system_name = tpa_pprof_string(pprof, line->location->linkage);
	function.filename = tpa_pprof_string(pprof, line->location->file);
	number = tpa_pairs_at(&pprof->functions, (uint64_t)function.name << 32 | (uint64_t)function.system_name,
			      (uint64_t)function.filename, &found);
	if (found)
		return *number;
	*number = ++pprof->function_count;
	function.id = *number;
	part.n_function = 1;
	part.function = &list;
	tpa_pprof_write(pprof, &part);
	return function.id;
}

static void write_location(struct tpa_pprof *pprof, uint64_t id, size_t which, const struct tpa_line *lines,
			   size_t count)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Location location = PPROF__LOCATION__INIT, *list = &location;
	Pprof__Line told[INLINED_MOST], *pointers[INLINED_MOST];

	location.id = id;
	location.mapping_id = tpa_pprof_mapping(pprof, which, lines->module);
	location.address = lines->address;
	for (size_t i = 0; i < count; i++) {
		told[i] = (Pprof__Line)PPROF__LINE__INIT;
		told[i].function_id = function_of(pprof, &lines[i]);
		told[i].line = lines[i].location->line;
		pointers[i] = &told[i];
	}
	location.n_line = count;
	location.line = pointers;
	part.n_location = 1;
	part.location = &list;
	tpa_pprof_write(pprof, &part);
}

/* A stack may begin within a frame: a place is known by its frame and by which of the frame's functions are shown. */
static uint64_t location_of(struct tpa_pprof *pprof, size_t which, const struct tpa_line *lines, size_t count)
{
	size_t inner = (size_t)(lines->location - lines->symbol->locations);
	bool found;
	uint32_t *number = tpa_pairs_at(&pprof->locations, (uint64_t)which << 32 | lines->frame,
					(uint64_t)inner << 32 | count, &found);
	uint32_t id;

	if (found)
		return *number;
	id = *number = ++pprof->location_count;
	write_location(pprof, id, which, lines, count);
	return id;
}

size_t tpa_pprof_locations(struct tpa_pprof *pprof, size_t which, const struct tpa_stack *stack, size_t first,
			   size_t last, uint64_t *ids)
{
	size_t count = 0;

	for (size_t i = first; i < last;) {
		size_t same = 1;

		while (i + same < last && same < INLINED_MOST &&
		       stack->lines[i + same].frame == stack->lines[i].frame &&
		       stack->lines[i + same - 1].location->inlined)
			same++;
		ids[count++] = location_of(pprof, which, &stack->lines[i], same);
		i += same;
	}
	return count;
}
