/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child has its parent's hooks, but its parent's trace may be elsewhere or gone: the child's own trace describes
 * them. The records are stored one after the other in memory that never moves; each is complete before `used` includes
 * it, so that a child finds complete records whenever it was forked.
 */
#include "hooks/link/covered.h"

#include "core/assert.h"
#include "core/tables.h"
#include "core/text.h"

#define ROOM (512u * 1024u) /* bytes, mostly untouched pages; some thousand objects */

struct record {
	uint64_t pointers, functions;
	uint32_t state, bytes; /* bytes: size of the record */
	char object[];
};

static union {
	struct record first;
	char bytes[ROOM];
} room;
static tpc_shared_u32 used;

static struct record *at_offset(uint32_t at)
{
	return (struct record *)(void *)(room.bytes + at);
}

static struct record *find(enum tprof_hooks state, const char *object)
{
	for (uint32_t at = 0; at < tpc_load(&used); at += at_offset(at)->bytes) {
		if (at_offset(at)->state == state && strcmp(at_offset(at)->object, object) == 0)
			return at_offset(at);
	}
	return NULL;
}

/* A record that does not fit is missing only in the children's reports. */
static void keep(enum tprof_hooks state, uint64_t pointers, uint64_t functions, const char *object)
{
	size_t length = strlen(object), bytes = tpc_round_up(sizeof(struct record) + length + 1, sizeof(uint64_t));
	uint32_t at = tpc_load(&used);
	struct record *made;

	tpc_assert(at <= ROOM && at % _Alignof(struct record) == 0);
	if (bytes > ROOM - at)
		return;
	made = at_offset(at);
	made->pointers = pointers;
	made->functions = functions;
	made->state = state;
	made->bytes = (uint32_t)bytes;
	memcpy(made->object, object, length + 1);
	tpc_store_release(&used, at + (uint32_t)bytes); /* pairs with tpc_covered_tell(), of a child */
}

/* What was refused is tried again when objects were unloaded; refusals without a name are counted. */
static bool replaces(enum tprof_hooks state, const char *object)
{
	return state == TPROF_HOOKS_UNREACHED || (state == TPROF_HOOKS_REFUSED && !tpc_text_glob("*\n\n*", object));
}

void tpc_covered_add(enum tprof_hooks state, uint64_t pointers, uint64_t functions, const char *object)
{
	struct record *known = find(state, object);

	tpc_table_hooks(state, pointers, functions, object);
	if (!known) {
		keep(state, pointers, functions, object);
		return;
	}
	if (replaces(state, object)) {
		known->pointers = pointers;
		known->functions = functions;
		return;
	}
	known->pointers += pointers;
	known->functions += functions;
}

void tpc_covered_forget(void)
{
	tpc_store(&used, 0u);
}

void tpc_covered_tell(void)
{
	/* Acquire: pairs with keep(), maybe of the parent. */
	for (uint32_t at = 0; at < tpc_load_acquire(&used); at += at_offset(at)->bytes) {
		const struct record *record = at_offset(at);

		tpc_table_hooks((enum tprof_hooks)record->state, record->pointers, record->functions, record->object);
	}
}
