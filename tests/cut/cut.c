/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked into a tprof-analyze of its own, with the replay's steps wrapped: after every CUT_EVERY events the replay is looked
 * at, saved, freed, and loaded into the same place, after the trace was refreshed. Each command must print what it prints
 * without.
 *
 * CUT_SAVE=FILE: after CUT_EVERY events the replay is saved to the file, all chunks that it was read from are overwritten
 * in the trace, and the process exits. CUT_LOAD=FILE: the replay goes on from the file.
 *
 * CUT_SNAPSHOTS=FOLDER: the folder has the trace as it was at earlier moments, in files 0, 1, 2, ... A replay follows a file
 * that becomes one after the other, is saved at the end, and loaded in place of the command's own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/replay/run.h"
#include "base/archive.h"
#include "model/replay/replay.h"
#include "trace/chunks.h"

void __real_tpa_replay_steps(struct tpa_replay *replay, size_t count);
void __wrap_tpa_replay_steps(struct tpa_replay *replay, size_t count);
void __wrap_tpa_replay_step(struct tpa_replay *replay);

static uint64_t distance(void)
{
	static uint64_t every;
	const char *text = getenv("CUT_EVERY");

	if (!every)
		every = text ? strtoull(text, NULL, 10) : 1000;
	return every ? every : 1;
}

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "tprof-analyze-cut: %s: %s\n", what, why ? why : "failed");
	abort();
}

static void look(const struct tpa_replay *replay)
{
	struct tpa_run *run = calloc(1, sizeof(*run));

	if (run)
		run->processes = calloc(1, sizeof(*run->processes));
	if (!run || !run->processes || !tpa_replay_look(replay, run->processes))
		fail("look", NULL);
	run->process_count = 1;
	tpa_run_free(run);
}

static void cut(struct tpa_replay *replay)
{
	struct tpa_archive saved = { 0 }, loaded = { 0 };
	struct tpa_trace *trace = replay->trace;
	const struct tpa_replay_options *options = replay->options;
	uint64_t start_ns = replay->start_ns;
	char *error = NULL;

	if (!tpa_replay_save(replay, &saved) || !tpa_archive_seal(&saved))
		fail("save", saved.failed);
	tpa_replay_free(replay);
	memset(replay, 0xa5, sizeof(*replay));
	if (!tpa_trace_refresh(trace, &error))
		fail("refresh", error);
	if (!tpa_archive_open(&loaded, saved.bytes, saved.size) ||
	    !tpa_replay_load(replay, trace, options, start_ns, &loaded))
		fail("load", loaded.failed);
	tpa_archive_free(&saved);
}

static void look_and_cut(struct tpa_replay *replay)
{
	look(replay);
	cut(replay);
}

/* ---- chunks that are thrown away ---- */

/* Overwrites in the file what the replay has read to its end. */
static void throw_away(const struct tpa_replay *replay)
{
	const struct tpa_trace *trace = replay->trace;
	uint64_t *offsets = calloc(tpa_trace_chunks(trace)->count + 1, sizeof(*offsets));
	size_t count = tpa_events_read(replay->events, replay->event != NULL, offsets);
	char *zeros = calloc(1, trace->header->chunk_size);
	FILE *file = fopen(trace->file, "r+e");

	for (size_t i = 0; i < count; i++)
		if (!file || fseek(file, (long)offsets[i], SEEK_SET) ||
		    fwrite(zeros, 1, trace->header->chunk_size, file) < trace->header->chunk_size)
			fail("throw away", trace->file);
	if (!file || fclose(file))
		fail("throw away", trace->file);
	fprintf(stderr, "%zu chunks thrown away\n", count);
	free(offsets);
	free(zeros);
}

static void save_and_exit(struct tpa_replay *replay, const char *name)
{
	struct tpa_archive saved = { 0 };
	FILE *file = fopen(name, "we");

	__real_tpa_replay_steps(replay, distance());
	if (!tpa_replay_save(replay, &saved) || !tpa_archive_seal(&saved))
		fail("save", saved.failed);
	if (!file || fwrite(saved.bytes, 1, saved.size, file) < saved.size || fclose(file))
		fail("save", name);
	throw_away(replay);
	_exit(0);
}

static void load(struct tpa_replay *replay, const char *name)
{
	static uint8_t bytes[64 << 20];
	struct tpa_archive loaded = { 0 };
	const struct tpa_replay_options *options = replay->options;
	struct tpa_trace *trace = replay->trace;
	uint64_t start_ns = replay->start_ns;
	FILE *file = fopen(name, "re");
	size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;

	tpa_replay_free(replay);
	if (!tpa_archive_open(&loaded, bytes, size) || !tpa_replay_load(replay, trace, options, start_ns, &loaded))
		fail("load", loaded.failed);
	fclose(file);
}

/* ---- a file that grows ---- */

/* Writes the snapshot over the file. False: there is none of that number. */
static bool become(const char *folder, unsigned number, const char *file)
{
	char name[4096], block[65536];
	FILE *from, *to;
	size_t got;

	snprintf(name, sizeof(name), "%s/%u", folder, number);
	from = fopen(name, "re");
	if (!from)
		return false;
	to = fopen(file, number ? "r+e" : "we");
	if (!to)
		fail("snapshot", file);
	while ((got = fread(block, 1, sizeof(block), from)) > 0)
		if (fwrite(block, 1, got, to) < got)
			fail("snapshot", "can't be written");
	fclose(from);
	if (fclose(to))
		fail("snapshot", "can't be written");
	return true;
}

static void follow(struct tpa_replay *replay, const char *folder)
{
	struct tpa_archive saved = { 0 }, loaded = { 0 };
	const struct tpa_replay_options *options = replay->options;
	struct tpa_trace *whole = replay->trace, *trace;
	uint64_t start_ns = replay->start_ns;
	struct tpa_replay live;
	char *error = NULL, file[4096];

	snprintf(file, sizeof(file), "%s/live", folder);
	if (!become(folder, 0, file) || !(trace = tpa_trace_open(file, &error)))
		fail("first snapshot", error);
	tpa_replay_init(&live, trace, options, start_ns);
	__real_tpa_replay_steps(&live, SIZE_MAX);
	for (unsigned i = 1; become(folder, i, file); i++) {
		if (!tpa_replay_refresh(&live, &error))
			fail("refresh", error);
		__real_tpa_replay_steps(&live, SIZE_MAX);
	}
	if (!tpa_replay_save(&live, &saved) || !tpa_archive_seal(&saved))
		fail("save", saved.failed);
	tpa_replay_free(&live);
	tpa_trace_close(trace);
	tpa_replay_free(replay);
	if (!tpa_archive_open(&loaded, saved.bytes, saved.size) ||
	    !tpa_replay_load(replay, whole, options, start_ns, &loaded))
		fail("load", loaded.failed);
	tpa_archive_free(&saved);
	if (replay->event)
		fail("follow", "the last snapshot is not the whole trace");
}

void __wrap_tpa_replay_steps(struct tpa_replay *replay, size_t count)
{
	const char *folder = getenv("CUT_SNAPSHOTS"), *save = getenv("CUT_SAVE"), *from = getenv("CUT_LOAD");

	if (save)
		save_and_exit(replay, save);
	if (from) {
		if (!replay->heap.counts.events)
			load(replay, from);
		return __real_tpa_replay_steps(replay, count);
	}
	if (folder) {
		if (replay->event)
			follow(replay, folder);
		return;
	}
	while (count && replay->event) {
		uint64_t left = distance() - replay->heap.counts.events % distance();
		size_t some = left < count ? (size_t)left : count;

		if (replay->heap.counts.events && left == distance())
			look_and_cut(replay);
		__real_tpa_replay_steps(replay, some);
		count -= some;
	}
	if (count && replay->heap.counts.events)
		look_and_cut(replay);
}

/* What is noted of a step is noted before the replay is saved, here as elsewhere: it is cut before the next step. */
void __wrap_tpa_replay_step(struct tpa_replay *replay)
{
	__wrap_tpa_replay_steps(replay, 1);
}
