/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/cache_folder.h"
#include "base/memory.h"
#include "symbols/demangle.h"
#include "symbols/image.h"
#include "symbols/name_cache.h"

struct tpa_names {
	struct tpa_names *next;
	struct tpa_image *image;
	struct tpa_place_list list;
	size_t kept; /* places that the file has */
	char *file;  /* NULL: nothing is kept */
	bool found;
};

static struct tpa_names *all; /* live until the program ends */
static struct tpa_arena *texts;
static char *folder; /* NULL: nothing is kept */

void tpa_names_use_cache(void)
{
	const char *wanted = getenv("TPROF_CACHE");

	if (!wanted || strcmp(wanted, "off") != 0)
		folder = tpa_cache_path("symbols");
}

static struct tpa_arena *arena(void)
{
	if (!texts)
		texts = tpa_arena_new();
	return texts;
}

/* Opens the module's file. */
static void open_image(struct tpa_names *names, const struct tpa_module *module, const char *debug_dir)
{
	bool known = names->list.witnesses.count;

	tpa_image_of(module, debug_dir);
	if (known) {
		/* the file has gone this moment, or the trace has a wrong load address */
		if (!names->image->module) {
			free(names->file);
			names->file = NULL;
		}
		return;
	}
	names->list.state = names->image->state;
	names->found = names->image->module != NULL;
	if (names->file && !tpa_witnesses_find(&names->list.witnesses, names->image, module, debug_dir)) {
		free(names->file);
		names->file = NULL;
	}
}

struct tpa_names *tpa_names_of(const struct tpa_module *module, const char *debug_dir)
{
	struct tpa_image *image = tpa_image_known(module, debug_dir);
	struct tpa_names *names = image->names;

	if (names)
		return names;
	names = image->names = tpa_zalloc(1, sizeof(*names));
	names->image = image;
	names->file = folder ? tpa_name_cache_file(folder, module, debug_dir) : NULL;
	names->found = names->file && tpa_name_cache_read(names->file, arena(), &names->list);
	names->kept = names->list.count;
	if (!names->found)
		open_image(names, module, debug_dir);
	names->next = all;
	all = names;
	return names;
}

enum tpa_module_state tpa_names_state(const struct tpa_names *names)
{
	return names->list.state;
}

bool tpa_names_are_found(const struct tpa_names *names)
{
	return names->found;
}

/* ---- looking up ---- */

static void set_name(struct tpa_location *location, const char *linkage)
{
	char *demangled = tpa_demangle(linkage);

	location->linkage = tpa_arena_intern(arena(), linkage);
	location->function = tpa_arena_intern(arena(), demangled ? demangled : linkage);
	free(demangled);
}

/* Uses the symbol table's name if DWARF has none, or only the short name of a C++ function. */
static void add_symtab_name(const struct tpa_image *image, uint64_t address, struct tpa_location *location)
{
	const char *name = location->linkage ? NULL : tpa_symtab_find(&image->symtab, address);

	if (!name)
		return;
	if (!location->function || (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R')))
		set_name(location, name);
	else
		location->linkage = tpa_arena_intern(arena(), name);
}

static size_t look_up(const struct tpa_image *image, const struct tpa_module *module, uint64_t address,
		      struct tpa_location *locations)
{
	size_t count = 0;

	address = tpa_image_address(image, module, address);
	if (image->scopes)
		count = tpa_scopes_find(image->scopes, address, locations, TPA_INLINED_MAX);
	if (!count) {
		memset(&locations[0], 0, sizeof(locations[0]));
		count = 1;
	}
	if (image->module)
		add_symtab_name(image, address, &locations[count - 1]);
	return count;
}

const struct tpa_location *tpa_names_find(struct tpa_names *names, const struct tpa_module *module,
					  const char *debug_dir, uint64_t address, size_t *count)
{
	struct tpa_location locations[TPA_INLINED_MAX];
	uint64_t place = address - module->bias;
	uint32_t number = tpa_pairs_find(&names->list.index, place, 0);

	if (!number) {
		if (!names->image->opened)
			open_image(names, module, debug_dir);
		tpa_place_add(&names->list, place, locations, look_up(names->image, module, address, locations));
		number = (uint32_t)names->list.count;
	}
	*count = names->list.places[number - 1].count;
	return &names->list.locations[names->list.places[number - 1].first];
}

/* ---- keeping ---- */

/* Adds what another analyzer has kept meanwhile. */
static void merge(struct tpa_names *names)
{
	struct tpa_place_list there = { .count = 0 };

	tpa_name_cache_read(names->file, arena(), &there);
	for (size_t i = 0; i < there.count; i++)
		if (!tpa_pairs_find(&names->list.index, there.places[i].address, 0))
			tpa_place_add(&names->list, there.places[i].address, &there.locations[there.places[i].first],
				      there.places[i].count);
	tpa_place_list_free(&there);
}

void tpa_names_keep(void)
{
	bool written = false;

	for (struct tpa_names *names = all; names; names = names->next) {
		if (!names->file || names->list.count == names->kept)
			continue;
		merge(names);
		written = tpa_name_cache_write(names->file, &names->list) || written;
		names->kept = names->list.count;
	}
	if (written)
		tpa_name_cache_shrink(folder, TPA_NAME_CACHE_MOST);
}
