/* SPDX-License-Identifier: Apache-2.0 */
#include "model/replay/changes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/varint.h"

/* The first byte of a change: which of its fields follow. Then follows the time since the last change. */
enum {
	LIVE_BYTES = 1,
	ONE_MORE = 2, /* block is live */
	ONE_LESS = 4,
	BLOCKS = ONE_MORE | ONE_LESS, /* their number has changed otherwise, or not by one */
	MAPPED = 8,
	VARIANCE = 16,
	MEMORY = 32, /* a sample, or a reading */
	DETAIL = 128,
};

/* The first bytes of records that belong to the change before them. */
enum { REGION = DETAIL, OWN_RANGE, MAP, UNMAP };

/* ---- numbers ---- */

static uint8_t *put(uint8_t *at, uint64_t number)
{
	for (; number >= 128; number >>= 7)
		*at++ = (uint8_t)(number | 128);
	*at++ = (uint8_t)number;
	return at;
}

/* Puts a difference modulo 2^64: small ones of both signs are short. */
static uint8_t *put_difference(uint8_t *at, uint64_t to, uint64_t from)
{
	uint64_t n = to - from;

	return put(at, n << 1 ^ (UINT64_C(0) - (n >> 63)));
}

static uint8_t *put_double(uint8_t *at, double number)
{
	memcpy(at, &number, sizeof(number));
	return at + sizeof(number);
}

static double get_double(const uint8_t **at)
{
	double number;

	memcpy(&number, *at, sizeof(number));
	*at += sizeof(number);
	return number;
}

/* ---- writing ---- */

void tpa_changes_init(struct tpa_changes *changes, struct tpa_store *store)
{
	tpa_stream_init(&changes->stream, store);
}

void tpa_changes_free(struct tpa_changes *changes)
{
	tpa_stream_free(&changes->stream);
	tpa_maps_free(&changes->maps);
	free(changes->mapped.list);
}

static void write_region(struct tpa_changes *changes, const struct tpa_region *is)
{
	uint8_t *at = tpa_stream_record(&changes->stream);

	*at++ = REGION;
	at = put(at, is->kind);
	at = put(at, is->file);
	at = put(at, is->low);
	at = put(at, is->high);
	at = put(at, is->rss);
	at = put(at, is->private);
	at = put(at, is->pss);
	tpa_stream_wrote(&changes->stream, put(at, is->written));
}

static void write_own(void *context, uint64_t start, uint64_t end, uint32_t site)
{
	struct tpa_changes *changes = context;
	uint8_t *at = tpa_stream_record(&changes->stream);

	(void)site;
	*at++ = OWN_RANGE;
	at = put(at, start);
	tpa_stream_wrote(&changes->stream, put(at, end));
}

static void write_reading(struct tpa_changes *changes, const struct tpa_replay *replay)
{
	const struct tpa_makeup_state *state = &replay->memory.makeup;

	for (size_t i = 0; i < state->plain; i++) {
		const struct tpa_region *is = &state->list[i].is;

		write_region(changes, is);
		if (changes->forked && is->kind == TPROF_REGION_ANONYMOUS && is->high > is->low)
			tpa_maps_each_in(&replay->maps, is->low, is->high, write_own, changes);
	}
}

static void write_maps(struct tpa_changes *changes)
{
	for (size_t i = 0; i < changes->mapped.count; i++) {
		const struct tpa_map_change *change = &changes->mapped.list[i];
		uint8_t *at = tpa_stream_record(&changes->stream);

		*at++ = change->removed ? UNMAP : MAP;
		at = put(at, change->start);
		at = put(at, change->end);
		if (!change->removed)
			at = put(at, (uint64_t)change->node << 1 | change->file);
		tpa_stream_wrote(&changes->stream, at);
	}
	changes->mapped.count = 0;
}

static uint8_t *put_memory(struct tpa_changes *changes, const struct tpa_replay *replay, uint8_t *at)
{
	const struct tpa_makeup *makeup = &replay->memory.makeup.result;
	struct tpa_resident_facts *known = &changes->resident;
	const struct tpa_resident_facts is = {
		replay->memory.parts.said, replay->memory.parts.shared, replay->usage.last.minor_faults,
		makeup->readings,	   makeup->inherited,		makeup->end.sample.rss,
		makeup->end.sample.private
	};

	at = put_difference(at, replay->now.rss, changes->now.rss);
	at = put_difference(at, replay->now.vms, changes->now.vms);
	*at++ = is.said;
	at = put_difference(at, is.shared, known->shared);
	at = put_difference(at, is.faults, known->faults);
	at = put_difference(at, is.readings, known->readings);
	at = put_difference(at, is.inherited, known->inherited);
	at = put_difference(at, is.rss, known->rss);
	at = put_difference(at, is.private, known->private);
	*known = is;
	return at;
}

static unsigned flags_of(const struct tpa_changes *changes, const struct tpa_replay *replay)
{
	const struct tpa_point *is = &replay->now, *was = &changes->now;
	unsigned flags = is->live_bytes != was->live_bytes ? LIVE_BYTES : 0;

	if (is->live_blocks == was->live_blocks + 1)
		flags |= ONE_MORE;
	else if (is->live_blocks == was->live_blocks - 1)
		flags |= ONE_LESS;
	else if (is->live_blocks != was->live_blocks)
		flags |= BLOCKS;
	flags |= is->mapped_bytes != was->mapped_bytes ? MAPPED : 0;
	if (is->bytes_variance != was->bytes_variance || is->blocks_variance != was->blocks_variance)
		flags |= VARIANCE;
	if (is->rss != was->rss || is->vms != was->vms ||
	    replay->memory.makeup.result.readings != changes->resident.readings)
		flags |= MEMORY;
	return flags;
}

void tpa_changes_note(struct tpa_changes *changes, struct tpa_replay *replay, uint64_t time_ns)
{
	unsigned flags = flags_of(changes, replay);
	uint64_t readings = changes->resident.readings;
	uint8_t *at = tpa_stream_record(&changes->stream);

	*at++ = (uint8_t)flags;
	at = put_difference(at, time_ns, changes->time_ns);
	if (flags & LIVE_BYTES)
		at = put_difference(at, replay->now.live_bytes, changes->now.live_bytes);
	if ((flags & BLOCKS) == BLOCKS)
		at = put_difference(at, replay->now.live_blocks, changes->now.live_blocks);
	if (flags & MAPPED)
		at = put_difference(at, replay->now.mapped_bytes, changes->now.mapped_bytes);
	if (flags & VARIANCE) {
		at = put_double(at, replay->now.bytes_variance);
		at = put_double(at, replay->now.blocks_variance);
	}
	if (flags & MEMORY)
		at = put_memory(changes, replay, at);
	tpa_stream_wrote(&changes->stream, at);
	changes->now = replay->now;
	changes->time_ns = time_ns;
	if (changes->resident.readings != readings)
		write_reading(changes, replay);
	if (changes->mapped.count)
		write_maps(changes);
	if (changes->forks)
		replay->maps.told = &changes->mapped; /* also where the replay was saved and loaded again meanwhile */
}

/* What a replay that was loaded has mapped already. */
static void tell_maps(struct tpa_changes *changes, const struct tpa_maps *maps)
{
	size_t count;
	struct tpa_range *list = tpa_maps_ranges(maps, &count);

	for (size_t i = 0; i < count; i++)
		*TPA_APPEND(changes->mapped.list, changes->mapped.count, changes->mapped.room) =
			(struct tpa_map_change){ .start = list[i].start,
						 .end = list[i].end,
						 .node = maps->sites[list[i].site].node,
						 .file = maps->sites[list[i].site].file };
	free(list);
}

void tpa_changes_begin(struct tpa_changes *changes, struct tpa_replay *replay, bool loaded)
{
	tpa_stream_free(&changes->stream);
	changes->now = (struct tpa_point){ 0 };
	changes->resident = (struct tpa_resident_facts){ .readings = replay->memory.makeup.result.readings };
	changes->readings = changes->resident.readings;
	changes->start_ns = replay->start_ns;
	changes->time_ns = 0;
	changes->mapped.count = 0;
	if (changes->forks)
		replay->maps.told = &changes->mapped;
	if (loaded && changes->forks)
		tell_maps(changes, &replay->maps);
	if (loaded)
		tpa_changes_note(changes, replay, replay->start_ns);
}

void tpa_changes_end(struct tpa_changes *changes, const struct tpa_replay *replay)
{
	changes->end_ns = tpa_replay_end_ns(replay);
	changes->cut = replay->cut;
	tpa_stream_close(&changes->stream);
	free(changes->mapped.list);
	changes->mapped = (struct tpa_map_changes){ NULL, 0, 0 };
}

/* ---- reading ---- */

static void find_next(struct tpa_changes *changes)
{
	changes->more = tpa_stream_more(&changes->stream);
	if (!changes->more)
		return;
	changes->next = *changes->stream.at++;
	changes->time_ns += tpa_svarint(&changes->stream.at);
}

void tpa_changes_open(struct tpa_changes *changes)
{
	changes->now = (struct tpa_point){ 0 };
	changes->resident = (struct tpa_resident_facts){ .readings = changes->readings };
	changes->time_ns = 0;
	if (changes->forks)
		tpa_maps_init(&changes->maps);
	find_next(changes);
}

static const uint8_t *get_memory(struct tpa_changes *changes, const uint8_t *at)
{
	struct tpa_resident_facts *facts = &changes->resident;

	changes->now.rss += tpa_svarint(&at);
	changes->now.vms += tpa_svarint(&at);
	facts->said = *at++;
	facts->shared += tpa_svarint(&at);
	facts->faults += tpa_svarint(&at);
	facts->readings += tpa_svarint(&at);
	facts->inherited += tpa_svarint(&at);
	facts->rss += tpa_svarint(&at);
	facts->private += tpa_svarint(&at);
	return at;
}

static const uint8_t *get_region(struct tpa_reading *reading, const uint8_t *at)
{
	struct tpa_read_region *region = TPA_APPEND(reading->regions, reading->region_count, reading->region_room);

	*region = (struct tpa_read_region){ .first = reading->range_count };
	region->is.kind = (uint32_t)tpa_uvarint(&at);
	region->is.file = (uint32_t)tpa_uvarint(&at);
	region->is.low = tpa_uvarint(&at);
	region->is.high = tpa_uvarint(&at);
	region->is.rss = tpa_uvarint(&at);
	region->is.private = tpa_uvarint(&at);
	region->is.pss = tpa_uvarint(&at);
	region->is.written = tpa_uvarint(&at);
	return at;
}

static const uint8_t *get_detail(struct tpa_changes *changes, struct tpa_reading *reading, const uint8_t *at)
{
	uint8_t what = *at++;
	uint64_t start, end, node;

	if (what == REGION)
		return get_region(reading, at);
	start = tpa_uvarint(&at);
	end = tpa_uvarint(&at);
	if (what == OWN_RANGE) {
		*TPA_APPEND(reading->ranges, reading->range_count, reading->range_room) =
			(struct tpa_range){ start, end, 0 };
		reading->regions[reading->region_count - 1].count++;
	} else if (what == UNMAP) {
		tpa_maps_remove(&changes->maps, start, end);
	} else {
		node = tpa_uvarint(&at);
		tpa_maps_add(&changes->maps, start, end, (uint32_t)(node >> 1), node & 1);
	}
	return at;
}

void tpa_changes_step(struct tpa_changes *changes, struct tpa_reading *reading)
{
	unsigned flags = changes->next;
	struct tpa_point *now = &changes->now;
	const uint8_t *at = changes->stream.at;

	if (flags & LIVE_BYTES)
		now->live_bytes += tpa_svarint(&at);
	if ((flags & BLOCKS) == BLOCKS)
		now->live_blocks += tpa_svarint(&at);
	else if (flags & BLOCKS)
		now->live_blocks += flags & ONE_MORE ? 1 : UINT64_MAX;
	if (flags & MAPPED)
		now->mapped_bytes += tpa_svarint(&at);
	if (flags & VARIANCE) {
		now->bytes_variance = get_double(&at);
		now->blocks_variance = get_double(&at);
	}
	if (flags & MEMORY) {
		at = get_memory(changes, at);
		reading->region_count = reading->range_count = 0;
	}
	changes->stream.at = at;
	while (tpa_stream_more(&changes->stream) && *changes->stream.at & DETAIL)
		changes->stream.at = get_detail(changes, reading, changes->stream.at);
	find_next(changes);
}
