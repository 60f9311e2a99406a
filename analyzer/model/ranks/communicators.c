/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A communicator is known by the one that it was made of, the call that made it, and its colour; the first ones by their names. One of
 * a single process is that process's own.
 */
#include "model/ranks/communicators.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pairs.h"

struct join {
	struct tpa_ranks *ranks;
	size_t room;
	struct tpa_pairs made;	    /* (parent's index, sequence) to a number from 1 on */
	struct tpa_pairs parts;	    /* (that number, colour) to an index + 1 */
	const char **jobs, **names; /* of the first ones, with their indexes */
	uint32_t *firsts;
	size_t first_count, first_room, name_room, index_room;
};

static uint32_t add(struct join *join, char *name, uint32_t size)
{
	struct tpa_ranks *ranks = join->ranks;
	struct tpa_rank_communicator *added = TPA_APPEND(ranks->communicators, ranks->communicator_count, join->room);

	*added = (struct tpa_rank_communicator){ .name = name, .size = size };
	return (uint32_t)(ranks->communicator_count - 1);
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static uint32_t first_of(struct join *join, const char *job, const struct tpa_communicator *one)
{
	const char *name = or_empty(one->name);
	size_t room;

	for (size_t i = 0; i < join->first_count; i++)
		if (strcmp(join->jobs[i], job) == 0 && strcmp(join->names[i], name) == 0)
			return join->firsts[i];
	room = join->first_room;
	tpa_grow(&join->jobs, &room, join->first_count + 1, sizeof(*join->jobs));
	room = join->first_room;
	tpa_grow(&join->names, &room, join->first_count + 1, sizeof(*join->names));
	tpa_grow(&join->firsts, &join->first_room, join->first_count + 1, sizeof(*join->firsts));
	join->jobs[join->first_count] = job;
	join->names[join->first_count] = name;
	join->firsts[join->first_count] = add(join, tpa_strdup(*name ? name : "a communicator"), one->size);
	return join->firsts[join->first_count++];
}

static char *name_of(const struct join *join, uint32_t parent, const struct tpa_communicator *one)
{
	const char *whole = join->ranks->communicators[parent].name;

	/* Parts of parts of parts: names that only grow say nothing. */
	if (one->name && *one->name)
		return tpa_strdup(one->name);
	if (strlen(whole) > 200)
		return tpa_strdup(whole);
	return tpa_format("part %" PRId64 " of %s, made by its call %" PRIu64, one->color, whole, one->parent_sequence);
}

static uint32_t part_of(struct join *join, uint32_t parent, const struct tpa_communicator *one)
{
	bool found;
	uint32_t *number = tpa_pairs_at(&join->made, parent, one->parent_sequence, &found), made;

	if (!found)
		*number = (uint32_t)join->made.count;
	made = *number;
	number = tpa_pairs_at(&join->parts, made, (uint64_t)one->color, &found);
	if (!found)
		*number = add(join, name_of(join, parent, one), one->size) + 1;
	return *number - 1;
}

static uint32_t *join_process(struct join *join, const struct tpa_rank_process *said)
{
	uint32_t *list = tpa_zalloc(said->communicator_count + 1, sizeof(*list));

	for (size_t i = 0; i < said->communicator_count; i++) {
		const struct tpa_communicator *one = &said->communicators[i];

		if (one->size <= 1)
			list[i] = add(join, tpa_strdup(one->name ? one->name : "one rank alone"), 1);
		else if (one->parent < i)
			list[i] = part_of(join, list[one->parent], one);
		else
			list[i] = first_of(join, or_empty(said->job), one);
		join->ranks->communicators[list[i]].seen++;
	}
	return list;
}

uint32_t **tpa_communicators_join(struct tpa_ranks *ranks)
{
	struct join join = { .ranks = ranks };
	uint32_t **lists = tpa_zalloc(ranks->count + 1, sizeof(*lists));

	for (size_t i = 0; i < ranks->count; i++)
		lists[i] = join_process(&join, ranks->list[i].said);
	tpa_pairs_free(&join.made);
	tpa_pairs_free(&join.parts);
	free(join.jobs);
	free(join.names);
	free(join.firsts);
	return lists;
}
