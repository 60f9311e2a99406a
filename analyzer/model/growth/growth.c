/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the looks: what each site has at some of the steps. */
#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "model/growth/growth_impl.h"
#include "base/memory.h"

#define RANDOM UINT64_C(0x9e3779b97f4a7c15) /* of multiplicative hashing: the same trace gives the same looks */

void tpa_growth_init(struct tpa_growth *growth, uint64_t stride, uint8_t bit)
{
	growth->bit = bit;
	growth->stride = stride ? stride : 1;
	growth->due = growth->stride;
}

static void free_states(struct tpa_growth_states *states)
{
	for (size_t i = 0; i < states->count; i++)
		free(states->list[i].series);
	free(states->list);
	*states = (struct tpa_growth_states){ 0 };
}

void tpa_growth_free(struct tpa_growth *growth)
{
	free_states(&growth->sites);
	free_states(&growth->maps);
}

void tpa_growth_drop(struct tpa_growth *growth)
{
	tpa_growth_free(growth);
	growth->count = 0;
	growth->due = UINT64_MAX;
}

/* Extends a series to `count` looks with the current values, which hold since look `since`. */
static void go_on(struct tpa_growth_state *state, size_t count)
{
	for (size_t i = state->since; i < count; i++) {
		state->series->bytes[i] = state->bytes;
		state->series->blocks[i] = state->blocks < UINT32_MAX ? (uint32_t)state->blocks : UINT32_MAX;
	}
	state->since = (uint32_t)count;
}

/* Drops every second look. */
static void halve_states(struct tpa_growth_states *states)
{
	for (size_t s = 0; s < states->count; s++) {
		struct tpa_growth_state *state = &states->list[s];

		state->since = (state->since + 1) / 2;
		for (size_t i = 0; state->series && i < state->since; i++) {
			state->series->bytes[i] = state->series->bytes[2 * i];
			state->series->blocks[i] = state->series->blocks[2 * i];
		}
	}
}

static void halve(struct tpa_growth *growth)
{
	growth->count /= 2;
	growth->stride *= 2;
	for (size_t i = 0; i < growth->count; i++) {
		growth->at[i] = growth->at[2 * i];
		growth->time[i] = growth->time[2 * i];
		growth->whole[i] = growth->whole[2 * i];
	}
	halve_states(&growth->sites);
	halve_states(&growth->maps);
}

/* Notes what a site has at a look. A site gets a series only when it changes for the second time. */
static void look_at(struct tpa_growth_state *state, size_t look, uint64_t bytes, uint64_t blocks)
{
	if (state->bytes == bytes && state->blocks == blocks)
		return;
	if (!state->series && (state->bytes || state->blocks))
		state->series = tpa_zalloc(1, sizeof(*state->series));
	if (state->series)
		go_on(state, look);
	state->since = (uint32_t)look;
	state->bytes = bytes;
	state->blocks = blocks;
}

/* Makes room for `count` sites. New ones hold nothing. */
static void reserve(struct tpa_growth_states *states, size_t count)
{
	tpa_extend(&states->list, &states->count, &states->room, count, sizeof(*states->list));
}

static void look_at_site(struct tpa_growth *growth, const struct tpa_growth_inputs *in, size_t site)
{
	const struct tpa_amount *live = &in->sites->list[site].live;
	uint64_t bytes = live->bytes, blocks = live->blocks;

	if (in->estimates && site < in->estimates->count) {
		bytes = tpa_round(in->estimates->sites[site].live.bytes.value);
		blocks = tpa_round(in->estimates->sites[site].live.blocks.value);
	}
	look_at(&growth->sites.list[site], growth->count, bytes, blocks);
}

static void look_at_sites(struct tpa_growth *growth, const struct tpa_growth_inputs *in)
{
	size_t count = in->sites->count;

	reserve(&growth->sites, count);
	for (size_t first = 0; first < count; first += TPA_SITES_TOGETHER) {
		uint8_t *changed = &in->sites->changed[first / TPA_SITES_TOGETHER];

		if (!(*changed & growth->bit))
			continue;
		*changed &= (uint8_t)~growth->bit;
		for (size_t i = first; i < count && i < first + TPA_SITES_TOGETHER; i++)
			if (i >= TPA_SITE_FIRST)
				look_at_site(growth, in, i);
	}
}

static void look_at_maps(struct tpa_growth *growth, const struct tpa_growth_inputs *in)
{
	struct tpa_growth_whole *whole = &growth->whole[growth->count];

	reserve(&growth->maps, in->maps->site_count);
	for (size_t i = 0; i < in->maps->site_count; i++) {
		const struct tpa_map_state *site = &in->maps->sites[i];

		*(site->file ? &whole->file : &whole->anonymous) += site->live;
		look_at(&growth->maps.list[i], growth->count, site->live, 0);
	}
}

/* Completes each series up to `count` looks. */
static void finish_states(struct tpa_growth_states *states, size_t count)
{
	for (size_t i = 0; i < states->count; i++)
		if (states->list[i].series)
			go_on(&states->list[i], count);
}

void tpa_growth_finish(struct tpa_growth *growth)
{
	finish_states(&growth->sites, growth->count);
	finish_states(&growth->maps, growth->count);
}

void tpa_growth_look(struct tpa_growth *growth, const struct tpa_growth_inputs *in, uint64_t now)
{
	uint64_t interval;

	growth->at[growth->count] = now;
	growth->time[growth->count] = in->last;
	growth->whole[growth->count] = (struct tpa_growth_whole){ .live = in->now->live_bytes,
								  .blocks = in->now->live_blocks,
								  .rss = in->now->rss,
								  .parts = *in->parts,
								  .allocator = *in->allocator,
								  .allocator_live = in->allocator_live };
	look_at_sites(growth, in);
	look_at_maps(growth, in);
	if (++growth->count == TPA_TREND_MAX)
		halve(growth);
	interval = now / growth->stride + 1;
	growth->due = interval * growth->stride;
	growth->due += (uint64_t)((unsigned __int128)(interval * RANDOM) * growth->stride >> 64);
}

void tpa_growth_look_back(struct tpa_growth *growth, const struct tpa_growth_inputs *in, uint64_t now)
{
	if (growth->count < TPA_TREND_LEAST)
		return; /* with too few looks, quiet time gives no verdict */
	while (growth->due < now && now - growth->due >= growth->stride)
		tpa_growth_look(growth, in, growth->due);
}

/* ---- saving and loading ---- */

static void archive_series(struct tpa_archive *archive, struct tpa_growth_state *state)
{
	bool any = state->series != NULL;

	TPA_ARCHIVE(archive, any);
	if (!any)
		return;
	if (archive->loading)
		state->series = tpa_zalloc(1, sizeof(*state->series));
	TPA_ARCHIVE(archive, *state->series);
}

static void archive_states(struct tpa_archive *archive, struct tpa_growth_states *states)
{
	tpa_archive_array(archive, &states->list, &states->count, &states->room, sizeof(*states->list));
	for (size_t i = 0; archive->loading && i < states->count; i++)
		states->list[i].series = NULL;
	for (size_t i = 0; i < states->count && !archive->failed; i++) {
		tpa_archive_check(archive, states->list[i].since <= TPA_TREND_MAX, "a look is out of range");
		archive_series(archive, &states->list[i]);
	}
}

void tpa_growth_archive(struct tpa_archive *archive, struct tpa_growth *growth)
{
	TPA_ARCHIVE(archive, growth->count);
	if (!tpa_archive_check(archive, growth->count < TPA_TREND_MAX, "too many looks"))
		growth->count = 0;
	TPA_ARCHIVE(archive, growth->bit); /* 0: it has not been initialized */
	TPA_ARCHIVE(archive, growth->at);
	TPA_ARCHIVE(archive, growth->time);
	TPA_ARCHIVE(archive, growth->whole);
	TPA_ARCHIVE(archive, growth->stride);
	if (!tpa_archive_check(archive, growth->stride || !growth->bit, "looks have no distance"))
		growth->stride = 1;
	TPA_ARCHIVE(archive, growth->due);
	TPA_ARCHIVE(archive, growth->survivors);
	archive_states(archive, &growth->sites);
	archive_states(archive, &growth->maps);
}
