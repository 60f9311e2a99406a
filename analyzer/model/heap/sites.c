/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "trace/number_archive.h"
#include "model/heap/sites.h"
#include "base/memory.h"

void tpa_sites_init(struct tpa_sites *sites, const struct tpa_trace *trace)
{
	sites->trace = trace;
	tpa_grow(&sites->list, &sites->room, TPA_SITE_FIRST, sizeof(*sites->list));
	tpa_grow(&sites->changed, &sites->changed_room, 1, sizeof(*sites->changed));
	memset(sites->list, 0, TPA_SITE_FIRST * sizeof(*sites->list));
	sites->changed[0] = 0;
	sites->count = TPA_SITE_FIRST;
	sites->bits = 10;
	sites->table = tpa_zalloc((size_t)1 << sites->bits, sizeof(*sites->table));
}

void tpa_sites_free(struct tpa_sites *sites)
{
	free(sites->list);
	free(sites->changed);
	free(sites->of_number);
	free(sites->of_node);
	free(sites->table);
	free(sites->passing.verdicts);
}

static uint32_t append(struct tpa_sites *sites, uint32_t node, uint64_t key, uint32_t op)
{
	size_t together = sites->count / TPA_SITES_TOGETHER;

	if (sites->count == UINT32_MAX)
		tpa_no_memory();
	tpa_grow(&sites->list, &sites->room, sites->count + 1, sizeof(*sites->list));
	tpa_grow(&sites->changed, &sites->changed_room, together + 1, sizeof(*sites->changed));
	if (sites->count % TPA_SITES_TOGETHER == 0)
		sites->changed[together] = 0;
	sites->list[sites->count] = (struct tpa_site_state){ .node = node, .key = key, .op = op };
	return (uint32_t)sites->count++;
}

/* In the table. */
static uint32_t *find(const struct tpa_sites *sites, uint32_t node, uint64_t key, uint32_t op)
{
	uint64_t hash =
		(((uint64_t)op << 32 ^ key) * UINT64_C(0x9e3779b97f4a7c15) ^ node) * UINT64_C(0xbf58476d1ce4e5b9);
	size_t mask = ((size_t)1 << sites->bits) - 1,
	       i = (size_t)((hash ^ hash >> 29) * UINT64_C(0x94d049bb133111eb) >> (64 - sites->bits));

	while (sites->table[i] != TPA_SITE_NONE &&
	       (sites->list[sites->table[i]].node != node || sites->list[sites->table[i]].key != key ||
		sites->list[sites->table[i]].op != op))
		i = (i + 1) & mask;
	return &sites->table[i];
}

static bool is_in_table(const struct tpa_site_state *site)
{
	return site->key || site->op;
}

/* Makes room for all sites at once: they may have been loaded. */
static void grow(struct tpa_sites *sites)
{
	sites->table_count = 0;
	for (size_t i = TPA_SITE_FIRST; i < sites->count; i++)
		sites->table_count += is_in_table(&sites->list[i]);
	do
		sites->bits++;
	while (sites->table_count >= (size_t)1 << (sites->bits - 1));
	free(sites->table);
	sites->table = tpa_zalloc((size_t)1 << sites->bits, sizeof(*sites->table));
	for (size_t i = TPA_SITE_FIRST; i < sites->count; i++) {
		const struct tpa_site_state *site = &sites->list[i];

		if (is_in_table(site))
			*find(sites, site->node, site->key, site->op) = (uint32_t)i;
	}
}

/* Where the number of the site belongs; TPA_SITE_NONE stands there if it is new. */
static uint32_t *place_of(struct tpa_sites *sites, uint32_t node, uint64_t key, uint32_t op)
{
	uint32_t *slot;

	if (!key && !op) {
		tpa_extend(&sites->of_node, &sites->node_count, &sites->node_room, (size_t)node + 1,
			   sizeof(*sites->of_node));
		return &sites->of_node[node];
	}
	if (sites->table_count >= (size_t)1 << (sites->bits - 1))
		grow(sites);
	slot = find(sites, node, key, op);
	sites->table_count += *slot == TPA_SITE_NONE;
	return slot;
}

uint32_t tpa_sites_enter(struct tpa_sites *sites, uint32_t node, uint64_t key, uint32_t op)
{
	uint32_t *place = place_of(sites, node, key, op);

	if (*place == TPA_SITE_NONE)
		*place = append(sites, node, key, op);
	return *place;
}

uint32_t tpa_sites_enter_stack(struct tpa_sites *sites, const struct tpa_event *event)
{
	bool counts = !sites->totals || tpa_trace_passes_untabled(sites->trace, event->node, &sites->passing);
	uint32_t node = counts ? tpa_event_node(sites->trace, event) : TPROF_NODE_NONE;
	uint32_t site = tpa_sites_enter(sites, node, 0, 0);

	if (!counts || node == tpa_trace_node(sites->trace, event->node)) { /* it is the same at all times */
		tpa_extend(&sites->of_number, &sites->number_count, &sites->number_room,
			   TPROF_NODE_FIRST + sites->trace->recorded_nodes, sizeof(*sites->of_number));
		if (event->node < sites->number_count)
			sites->of_number[event->node] = site;
	}
	return site;
}

struct tpa_site tpa_site_shown(const struct tpa_site_state *state)
{
	return (struct tpa_site){
		.node = state->node,
		.key = state->key,
		.op = state->op,
		.allocations = state->allocations,
		.frees = state->frees,
		.bytes = state->bytes,
		.peak_bytes = state->peak.bytes,
		.peak_blocks = state->peak.blocks,
		.peak_usable = state->peak.usable,
		.live_bytes = state->live.bytes - state->before.bytes,
		.live_blocks = state->live.blocks - state->before.blocks,
		.live_usable = state->live.usable - state->before.usable,
		.peak_born = state->peak_born,
		.live_born = state->born,
		.temporary = state->temporary,
		.short_lived = state->short_lived,
		.largest = state->largest,
		.before_largest = state->before_largest,
	};
}

_Static_assert(sizeof(struct tpa_site) <= sizeof(struct tpa_site_state),
	       "a site as shown takes the place of its state");

struct tpa_site *tpa_sites_take(struct tpa_sites *sites, uint64_t peak_number, struct tpa_estimates *estimates,
				struct tpa_variance *variances, size_t *count)
{
	struct tpa_site *result = (void *)sites->list; /* made in place: there may be millions */
	size_t found = 0;

	for (size_t i = TPA_SITE_FIRST; i < sites->count; i++) {
		struct tpa_site_state state;
		struct tpa_site site;

		memcpy(&state, &sites->list[i], sizeof(state));
		tpa_site_touch(&state, peak_number);
		if (!state.allocations && !state.frees && !state.peak.blocks)
			continue;
		site = tpa_site_shown(&state);
		if (estimates)
			tpa_estimates_site(estimates, i, peak_number, &site, &variances[found]);
		memcpy(&result[found++], &site, sizeof(site));
	}
	sites->list = NULL;
	sites->count = sites->room = 0;
	*count = found;
	return tpa_resize(result, found, sizeof(*result));
}

void tpa_sites_archive(struct tpa_archive *archive, struct tpa_sites *sites)
{
	size_t together = (sites->count + TPA_SITES_TOGETHER - 1) / TPA_SITES_TOGETHER;
	bool asked = sites->totals;

	TPA_ARCHIVE(archive, sites->totals);
	tpa_archive_check(archive, asked || !sites->totals, "the saved state has totals alone");
	tpa_archive_array(archive, &sites->list, &sites->count, &sites->room, sizeof(*sites->list));
	tpa_archive_array(archive, &sites->changed, &together, &sites->changed_room, sizeof(*sites->changed));
	for (size_t i = TPA_SITE_FIRST; i < sites->count; i++) {
		tpa_archive_node(archive, &sites->list[i].node);
		tpa_archive_op(archive, &sites->list[i].op);
	}
	if (!archive->loading)
		return;
	tpa_archive_check(archive,
			  sites->count >= TPA_SITE_FIRST && sites->count <= UINT32_MAX &&
				  together == (sites->count + TPA_SITES_TOGETHER - 1) / TPA_SITES_TOGETHER,
			  "the number of sites is out of range");
	for (size_t i = TPA_SITE_FIRST; !archive->failed && i < sites->count; i++)
		*place_of(sites, sites->list[i].node, sites->list[i].key, sites->list[i].op) = (uint32_t)i;
}
