/* SPDX-License-Identifier: Apache-2.0 */
#include "import/given_names.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/pairs.h"
#include "symbols/embedded_bytes.h"
#include "symbols/names.h"

struct given {
	uint32_t module;
	uint64_t address;
	struct tpa_location *locations;
	size_t count;
};

struct tpa_given_names {
	struct tpa_arena *arena;
	struct given *list;
	size_t count, room;
	struct tpa_pairs known; /* by address and module */
};

struct tpa_given_names *tpa_given_names_new(void)
{
	struct tpa_given_names *names = tpa_zalloc(1, sizeof(*names));

	names->arena = tpa_arena_new();
	return names;
}

void tpa_given_names_free(struct tpa_given_names *names)
{
	if (!names)
		return;
	tpa_arena_free(names->arena);
	tpa_pairs_free(&names->known);
	free(names->list);
	free(names);
}

void tpa_given_names_add(struct tpa_given_names *names, uint32_t module, uint64_t pc,
			 const struct tpa_location *locations, size_t count)
{
	struct given given = { module, pc - 1, NULL, count < TPA_INLINED_MAX ? count : TPA_INLINED_MAX };
	bool found;

	*tpa_pairs_at(&names->known, pc, module, &found) = 1;
	if (found)
		return;
	given.locations = tpa_arena_alloc(names->arena, given.count * sizeof(*given.locations));
	for (size_t i = 0; i < given.count; i++) {
		given.locations[i] = locations[i];
		given.locations[i].function = tpa_arena_intern(names->arena, locations[i].function);
		given.locations[i].linkage = tpa_arena_intern(names->arena, locations[i].linkage);
		given.locations[i].file = tpa_arena_intern(names->arena, locations[i].file);
		given.locations[i].inlined = i + 1 < given.count;
	}
	*TPA_APPEND(names->list, names->count, names->room) = given;
}

static int by_place(const void *a, const void *b, void *context)
{
	const struct given *list = context, *x = &list[*(const size_t *)a], *y = &list[*(const size_t *)b];

	return TPA_UP(x->module, y->module) ?: TPA_UP(x->address, y->address);
}

uint8_t *tpa_given_names_bytes(const struct tpa_given_names *names, uint32_t modules, size_t *length)
{
	struct tpa_embedded_bytes *bytes = tpa_embedded_begin(NULL);
	size_t *order = tpa_zalloc(names->count, sizeof(*order));
	uint64_t before = 0;

	for (size_t i = 0; i < names->count; i++)
		order[i] = i;
	qsort_r(order, names->count, sizeof(*order), by_place, names->list);
	tpa_embedded_put(bytes, names->count);
	for (size_t i = 0; i < names->count; i++) {
		const struct given *given = &names->list[order[i]];

		tpa_embedded_put_place(bytes, given->module, given->address, before);
		tpa_embedded_put_locations(bytes, given->locations, given->count);
		tpa_embedded_put_byte(bytes, 0);
		before = given->address;
	}
	free(order);
	tpa_embedded_put(bytes, modules);
	for (uint32_t id = 1; id <= modules; id++) {
		tpa_embedded_put(bytes, id);
		tpa_embedded_put_byte(bytes, TPA_MODULE_OK);
		tpa_embedded_put_byte(bytes, true);
	}
	tpa_embedded_put(bytes, 0); /* ops */
	tpa_embedded_put(bytes, 0); /* other allocators */
	return tpa_embedded_end(bytes, length);
}
