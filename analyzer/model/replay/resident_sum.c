/* SPDX-License-Identifier: Apache-2.0 */
#include "model/replay/resident_sum.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/pairs.h"
#include "model/replay/copies.h"

#define NONE SIZE_MAX
#define PAGE UINT64_C(4096)
#define MOMENTS 128u /* of a process; if there are more, every second is dropped */
#define LATE_MOST 1000000u
#define ANCESTORS 4 /* whose mappings a forked process is taken to have inherited */

struct amounts {
	uint64_t rss, private, pss;
};

/* What each process has of one file. */
struct shared_file {
	struct amounts sums;
	uint64_t most;	  /* the largest rss */
	uint64_t *shares; /* rss, a place for each process that ever had some */
	size_t count, room;
};

/* A file of one process's trace. */
struct file_use {
	uint32_t file;	/* index in the sum's files + 1; 0: it was not resident yet */
	uint32_t place; /* in its shares */
	struct amounts is, read;
};

/* Page faults of a forked process up to a moment. */
struct moment {
	uint64_t time_ns, faults;
};

/* Memory that a reading showed to have been copied by then, and that was copied between two moments. */
struct late {
	uint64_t time_ns;
	uint64_t bytes; /* that count from then on, modulo 2^64: at the reading they are taken back */
};

struct member {
	const struct tpa_changes *seen; /* up to now */
	struct tpa_copies copies;
	size_t parent; /* that forked it; NONE: it was not forked, or that process has no trace */
	size_t owner;  /* the living process that stands for the parent; NONE: there is none */
	size_t heir;   /* once it has ended: who took its place */
	bool began, ended;
	uint64_t readings;	    /* that are in the sum */
	uint64_t anonymous, shared; /* shared: the part that its owner has, too */
	uint64_t files;		    /* bytes of files and shared memory: by the latest sample or reading */
	struct moment *moments;	    /* since the last reading, while it shares memory */
	size_t moment_count;
	struct file_use *uses; /* by the file's number in the trace */
	size_t use_count;      /* 0: it had nothing of files yet */
};

struct tpa_resident_sum {
	struct member *members;
	size_t count;
	struct shared_file *files;
	size_t file_count, file_room;
	struct tpa_pairs paths;	   /* hash and length of a path: index + 1 */
	uint64_t known, known_pss; /* of files that readings name */
	struct shared_file whole;  /* what each process has of all files: a place for each */
	struct late *late;
	size_t late_count, late_room;
	struct tpa_resident_together now;
};

static void add_up(struct tpa_resident_sum *sum)
{
	/* What a sample shows beyond the last reading may be a file that others have, too. */
	sum->now.files = sum->known > sum->whole.most ? sum->known : sum->whole.most;
	sum->now.rss = sum->now.anonymous + sum->now.files;
	sum->now.pss = sum->now.anonymous + sum->known_pss;
}

/* ---- files ---- */

static uint64_t value_of(const struct shared_file *file)
{
	return file->most > file->sums.private ? file->most : file->sums.private;
}

static uint64_t pss_of(const struct shared_file *file)
{
	uint64_t value = value_of(file);

	return file->sums.pss < value ? file->sums.pss : value;
}

static void set_share(struct shared_file *file, size_t place, uint64_t bytes)
{
	uint64_t before = file->shares[place];

	file->shares[place] = bytes;
	if (bytes >= file->most) {
		file->most = bytes;
		return;
	}
	if (before < file->most)
		return;
	file->most = 0;
	for (size_t i = 0; i < file->count; i++)
		file->most = file->shares[i] > file->most ? file->shares[i] : file->most;
}

/* Replaces what a process has of a file. */
static void set_use(struct tpa_resident_sum *sum, struct file_use *use, struct amounts amounts)
{
	struct shared_file *file = &sum->files[use->file - 1];

	if (memcmp(&use->is, &amounts, sizeof(amounts)) == 0)
		return;
	sum->known -= value_of(file);
	sum->known_pss -= pss_of(file);
	file->sums.rss += amounts.rss - use->is.rss;
	file->sums.private += amounts.private - use->is.private;
	file->sums.pss += amounts.pss - use->is.pss;
	set_share(file, use->place, amounts.rss);
	sum->known += value_of(file);
	sum->known_pss += pss_of(file);
	use->is = amounts;
}

/* NULL: the number is of no file. */
static struct file_use *use_of(struct tpa_resident_sum *sum, struct member *member, uint32_t number)
{
	const struct tpa_trace *trace = member->seen->trace;
	const char *path = number && number < trace->file_count ? trace->files[number] : NULL;
	struct shared_file *file;
	struct file_use *use;
	uint32_t *index;
	bool found;

	if (!path)
		return NULL;
	if (!member->uses) {
		member->use_count = trace->file_count;
		member->uses = tpa_zalloc(member->use_count, sizeof(*member->uses));
	}
	if (number >= member->use_count)
		return NULL;
	use = &member->uses[number];
	if (use->file)
		return use;
	index = tpa_pairs_at(&sum->paths, tpa_hash_text(TPA_HASH_BEGIN, path), strlen(path), &found);
	if (!found) {
		*TPA_APPEND(sum->files, sum->file_count, sum->file_room) = (struct shared_file){ .count = 0 };
		*index = (uint32_t)sum->file_count;
	}
	use->file = *index;
	file = &sum->files[use->file - 1];
	use->place = (uint32_t)file->count;
	*TPA_APPEND(file->shares, file->count, file->room) = 0;
	return use;
}

static void set_files(struct tpa_resident_sum *sum, struct member *member, uint64_t bytes)
{
	sum->now.separate += bytes - member->files;
	member->files = bytes;
	set_share(&sum->whole, (size_t)(member - sum->members), bytes);
}

/* ---- anonymous memory ---- */

static uint64_t alone(const struct member *member)
{
	return member->anonymous - member->shared;
}

static void set_anonymous(struct tpa_resident_sum *sum, struct member *member, uint64_t anonymous, uint64_t shared)
{
	uint64_t before = alone(member);

	shared = member->owner == NONE ? 0 : shared < anonymous ? shared : anonymous;
	sum->now.separate += anonymous - member->anonymous;
	member->anonymous = anonymous;
	member->shared = shared;
	sum->now.anonymous += alone(member) - before;
}

static bool is_forked(const struct member *member)
{
	return member->seen->trace->header->origin == TPROF_ORIGIN_FORK;
}

/* Whether both were forked by the same process, whether or not it has a trace. */
static bool are_siblings(const struct member *one, const struct member *other)
{
	const struct tprof_header *a = one->seen->trace->header, *b = other->seen->trace->header;

	if (one == other || !is_forked(one) || !is_forked(other))
		return false;
	return one->parent == other->parent &&
	       (one->parent != NONE || (a->ppid == b->ppid && a->pid_namespace == b->pid_namespace));
}

/* The living process that has most of what this one inherited; NONE: there is none. */
static size_t find_owner(const struct tpa_resident_sum *sum, const struct member *member, uint64_t inherited)
{
	size_t owner = member->parent;
	uint64_t most;

	if (!is_forked(member))
		return NONE;
	while (owner != NONE && sum->members[owner].ended)
		owner = sum->members[owner].heir;
	if (owner != NONE &&
	    (!sum->members[owner].began || sum->members[owner].anonymous >= inherited || owner == member->parent))
		return sum->members[owner].began ? owner : NONE;
	most = owner == NONE ? 0 : sum->members[owner].anonymous;
	for (size_t i = 0; i < sum->count; i++) {
		const struct member *other = &sum->members[i];

		if (other->began && !other->ended && other->anonymous > most && are_siblings(member, other)) {
			most = other->anonymous;
			owner = i;
		}
	}
	return owner;
}

static void begin(struct tpa_resident_sum *sum, struct member *member)
{
	const struct tpa_resident_facts *facts = &member->seen->resident;
	uint64_t known = facts->rss > facts->private ? facts->rss - facts->private : 0, shared = facts->inherited;
	struct member *owner;

	member->began = true;
	member->owner = find_owner(sum, member, shared);
	if (facts->rss && known < shared)
		shared = known; /* a ring's, by its checkpoint */
	owner = member->owner == NONE ? NULL : &sum->members[member->owner];
	if (owner && owner->anonymous < shared && member->owner == member->parent)
		set_anonymous(sum, owner, shared,
			      owner->shared); /* since it was sampled, it got what it then forked with */
	set_anonymous(sum, member, shared, owner && owner->anonymous < shared ? owner->anonymous : shared);
}

/*
 * The process has only `rest` of what it shared with forked ones. These share the remainder with the one of them that has most of
 * it, which is returned; NULL: none has more.
 */
static struct member *hand_over(struct tpa_resident_sum *sum, size_t index, uint64_t rest)
{
	struct member *heir = NULL;

	for (size_t i = 0; i < sum->count; i++)
		if (sum->members[i].owner == index && (!heir || sum->members[i].shared > heir->shared))
			heir = &sum->members[i];
	if (!heir || (heir->shared <= rest && !sum->members[index].ended))
		return NULL;
	for (size_t i = 0; i < sum->count; i++)
		if (sum->members[i].owner == index && &sum->members[i] != heir)
			sum->members[i].owner = (size_t)(heir - sum->members);
	if (sum->members[index].ended)
		heir->owner = sum->members[index].owner;
	set_anonymous(sum, heir, heir->anonymous, heir->shared < rest ? heir->shared : rest);
	return heir;
}

void tpa_resident_sum_end(struct tpa_resident_sum *sum, size_t index)
{
	struct member *member = &sum->members[index], *heir;

	if (!member->began || member->ended)
		return;
	for (size_t i = 0; i < member->use_count; i++)
		if (member->uses[i].file)
			set_use(sum, &member->uses[i], (struct amounts){ 0, 0, 0 });
	member->ended = true;
	heir = hand_over(sum, index, member->shared);
	member->heir = heir ? (size_t)(heir - sum->members) : member->owner;
	set_anonymous(sum, member, 0, 0);
	set_files(sum, member, 0);
	member->owner = NONE;
	free(member->uses);
	free(member->moments);
	member->uses = NULL;
	member->moments = NULL;
	member->use_count = member->moment_count = 0;
	add_up(sum);
}

/* ---- readings ---- */

/* Of what is a file's; the rest of a region is anonymous. */
static struct amounts file_part(const struct tpa_region *is)
{
	bool all = is->kind == TPROF_REGION_SHARED || is->kind == TPROF_REGION_TRACE;
	uint64_t written = all ? 0 : is->written;

	return (struct amounts){ is->rss > written ? is->rss - written : 0,
				 is->private > written ? is->private - written : 0,
				 is->pss > written ? is->pss - written : 0 };
}

static void gather(struct tpa_resident_sum *sum, struct member *member, const struct tpa_reading *reading)
{
	uint64_t anonymous = 0, private = 0, files = 0;

	for (size_t i = 0; i < reading->region_count; i++) {
		const struct tpa_region *is = &reading->regions[i].is;
		struct amounts part = file_part(is);
		struct file_use *use;

		files += part.rss;
		use = part.rss ? use_of(sum, member, is->file) : NULL;
		if (use) {
			use->read.rss += part.rss;
			use->read.private += part.private;
			use->read.pss += part.pss;
		}
		if (is->kind == TPROF_REGION_SHARED || is->kind == TPROF_REGION_TRACE)
			continue;
		anonymous += is->written;
		private += is->private < is->written ? is->private : is->written;
	}
	set_files(sum, member, files);
	/* What is private now can be shared only with children of its own later. */
	set_anonymous(sum, member, anonymous,
		      anonymous - private < member->shared ? anonymous - private : member->shared);
}

/* Mappings of an ancestor are not in the trace of the process that it forked. */
static void find_copies(struct tpa_resident_sum *sum, struct member *member, const struct tpa_reading *reading)
{
	const struct member *child = member;

	tpa_copies_clear(&member->copies);
	for (int level = 0; level < ANCESTORS && is_forked(child) && child->parent != NONE; level++) {
		size_t parent = child->parent;

		child = &sum->members[parent];
		tpa_copies_find(reading, &child->seen->maps, parent, &member->copies);
	}
}

static void take_reading(struct tpa_resident_sum *sum, struct member *member, const struct tpa_reading *reading)
{
	gather(sum, member, reading);
	find_copies(sum, member, reading);
	for (size_t i = 0; i < member->use_count; i++) {
		struct file_use *use = &member->uses[i];

		if (use->file)
			set_use(sum, use, use->read);
		use->read = (struct amounts){ 0, 0, 0 };
	}
}

/* ---- what was copied before it was read ---- */

static void note_moment(struct member *member, uint64_t time_ns)
{
	if (!member->shared)
		return;
	if (!member->moments)
		member->moments = tpa_zalloc(MOMENTS, sizeof(*member->moments));
	if (member->moment_count == MOMENTS) {
		member->moment_count /= 2;
		for (size_t i = 0; i < member->moment_count; i++)
			member->moments[i] = member->moments[2 * i];
	}
	member->moments[member->moment_count++] = (struct moment){ time_ns, member->seen->resident.faults };
}

static void add_late(struct tpa_resident_sum *sum, uint64_t time_ns, uint64_t bytes)
{
	if (bytes && sum->late_count < LATE_MOST)
		*TPA_APPEND(sum->late, sum->late_count, sum->late_room) = (struct late){ time_ns, bytes };
}

/*
 * A reading shows that less is shared than at the one before. Each page that was copied took a page fault. So at a moment between
 * the two, no more was shared than now and one page for each fault since then.
 */
static void find_late(struct tpa_resident_sum *sum, struct member *member, uint64_t before, uint64_t time_ns)
{
	uint64_t faults = member->seen->resident.faults, counted = 0;

	for (size_t i = 0; i < member->moment_count && sum->late_count + MOMENTS < LATE_MOST; i++) {
		uint64_t since = faults - member->moments[i].faults, now;

		since = since < before / PAGE ? since * PAGE : before;
		now = before - member->shared > since ? before - member->shared - since : 0;
		add_late(sum, member->moments[i].time_ns, now - counted);
		counted = now;
	}
	add_late(sum, time_ns, UINT64_C(0) - counted);
	member->moment_count = 0;
}

static int by_time(const void *a, const void *b)
{
	const struct late *x = a, *y = b;

	return TPA_UP(x->time_ns, y->time_ns);
}

void tpa_resident_sum_correct(struct tpa_resident_sum *sum, struct tpa_run *run)
{
	uint64_t added = 0, before = run->resident.rss;
	size_t next = 0;

	if (sum->late_count)
		qsort(sum->late, sum->late_count, sizeof(*sum->late), by_time);
	for (size_t i = 0; i < run->point_count; i++) {
		struct tpa_point *point = &run->timeline[i];

		for (; next < sum->late_count && sum->late[next].time_ns <= point->time_ns; next++)
			added += sum->late[next].bytes;
		point->rss += added;
		if (point->rss <= run->resident.rss)
			continue;
		run->resident.rss = point->rss;
		run->resident.time_ns = point->time_ns;
	}
	run->resident.anonymous += run->resident.rss - before;
	run->pss_peak += run->pss_peak ? run->resident.rss - before : 0;
	run->resident.separate =
		run->resident.separate > run->resident.rss ? run->resident.separate : run->resident.rss;
}

/* ---- the sum ---- */

static void take_sample(struct tpa_resident_sum *sum, struct member *member)
{
	const struct tpa_resident_facts *facts = &member->seen->resident;
	uint64_t rss = member->seen->now.rss, files = facts->said ? facts->shared : member->files;

	files = files < rss ? files : rss;
	set_files(sum, member, files);
	set_anonymous(sum, member, rss - files, member->shared);
}

bool tpa_resident_sum_changed(const struct tpa_resident_sum *sum, size_t index, const struct tpa_point *before)
{
	const struct member *member = &sum->members[index];

	return member->seen->now.rss != before->rss || member->seen->resident.readings != member->readings;
}

void tpa_resident_sum_update(struct tpa_resident_sum *sum, size_t index, const struct tpa_reading *reading,
			     uint64_t time_ns)
{
	struct member *member = &sum->members[index];
	uint64_t readings = member->seen->resident.readings, before, shared;

	if (member->ended)
		return;
	if (!member->began)
		begin(sum, member);
	before = member->anonymous;
	shared = member->shared;
	if (readings != member->readings) {
		member->readings = readings;
		take_reading(sum, member, reading);
		if (member->shared < shared)
			find_late(sum, member, shared, time_ns);
		member->moment_count = 0;
	}
	note_moment(member, time_ns);
	take_sample(sum, member);
	if (member->anonymous < before)
		hand_over(sum, index, member->anonymous);
	add_up(sum);
}

const struct tpa_resident_together *tpa_resident_sum_now(const struct tpa_resident_sum *sum)
{
	return &sum->now;
}

struct tpa_resident_sum *tpa_resident_sum_new(const struct tpa_changes *changes, const size_t *parents, size_t count)
{
	struct tpa_resident_sum *sum = tpa_zalloc(1, sizeof(*sum));

	sum->members = tpa_zalloc(count, sizeof(*sum->members));
	sum->count = count;
	sum->whole.shares = tpa_zalloc(count, sizeof(*sum->whole.shares));
	sum->whole.count = count;
	for (size_t i = 0; i < count; i++)
		sum->members[i] = (struct member){ .seen = &changes[i],
						   .parent = parents[i] < count ? parents[i] : NONE,
						   .owner = NONE,
						   .heir = NONE,
						   .readings = changes[i].readings };
	return sum;
}

void tpa_resident_sum_result(struct tpa_resident_sum *sum, size_t index, struct tpa_process *process)
{
	struct member *member = &sum->members[index];

	process->copies = member->copies;
	process->parent = is_forked(member) && member->parent != NONE ? member->parent : sum->count;
	if (process->parent < sum->count)
		process->fork_node = tpa_trace_node(sum->members[process->parent].seen->trace,
						    member->seen->trace->header->fork_node);
	member->copies = (struct tpa_copies){ NULL, 0, 0 };
}

void tpa_resident_sum_free(struct tpa_resident_sum *sum)
{
	if (!sum)
		return;
	for (size_t i = 0; i < sum->count; i++) {
		free(sum->members[i].copies.list);
		free(sum->members[i].uses);
		free(sum->members[i].moments);
	}
	free(sum->late);
	for (size_t i = 0; i < sum->file_count; i++)
		free(sum->files[i].shares);
	free(sum->members);
	free(sum->whole.shares);
	free(sum->files);
	tpa_pairs_free(&sum->paths);
	free(sum);
}
