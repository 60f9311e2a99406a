/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: a trace is replayed up to some event, saved, the saved state is damaged behind its checksum, and a replay
 * goes on from what is left of it. The last bytes of the input say where to cut and what to damage. Undamaged, the result
 * must be that of a replay without a cut.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/replay/run.h"
#include "base/archive.h"
#include "model/replay/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PATCHES 7u

struct damage {
	uint8_t patches, cut;
	struct {
		uint8_t where[3], what;
	} patch[PATCHES];
};

static const struct tpa_replay_options options = { .batches = true, .find_steps = true, .keep_growth = true };

/* False: no memory, or the saved state was refused. */
static bool finish(struct tpa_replay *replay, struct tpa_run **run)
{
	*run = calloc(1, sizeof(**run));
	if (*run)
		(*run)->processes = calloc(1, sizeof(*(*run)->processes));
	if (!*run || !(*run)->processes)
		abort();
	(*run)->process_count = 1;
	tpa_replay_steps(replay, SIZE_MAX);
	tpa_replay_result(replay, (*run)->processes);
	return true;
}

static void apply(const struct damage *damage, struct tpa_archive *saved)
{
	for (unsigned i = 0; i < damage->patches % (PATCHES + 1); i++) {
		size_t where = damage->patch[i].where[0] | (size_t)damage->patch[i].where[1] << 8 |
			       (size_t)damage->patch[i].where[2] << 16;

		if (saved->size)
			saved->bytes[where % saved->size] ^= damage->patch[i].what;
	}
}

static void go_on(struct tpa_trace *trace, const struct damage *damage, struct tpa_archive *saved,
		  const struct tpa_run *whole)
{
	struct tpa_archive loaded = { 0 };
	struct tpa_replay replay = { 0 };
	struct tpa_run *run = NULL;
	bool good;

	apply(damage, saved);
	if (!tpa_archive_seal(saved) || !tpa_archive_open(&loaded, saved->bytes, saved->size))
		abort();
	good = tpa_replay_load(&replay, trace, &options, 0, &loaded);
	if (!good && (!loaded.failed || damage->patches % (PATCHES + 1) == 0))
		abort();
	if (good)
		good = finish(&replay, &run);
	if (damage->patches % (PATCHES + 1) == 0 &&
	    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): made by the same steps, in zeroed memory */
	    (!good || memcmp(&run->processes->heap, &whole->processes->heap, sizeof(whole->processes->heap)) != 0))
		abort();
	tpa_replay_free(&replay);
	tpa_run_free(run);
}

static void cut(struct tpa_trace *trace, const struct damage *damage)
{
	struct tpa_archive saved = { 0 };
	struct tpa_replay replay = { 0 };
	struct tpa_run *whole = NULL;

	tpa_replay_init(&replay, trace, &options, 0);
	tpa_replay_steps(&replay, damage->cut);
	if (!tpa_replay_save(&replay, &saved) || !finish(&replay, &whole))
		abort();
	tpa_replay_free(&replay);
	go_on(trace, damage, &saved, whole);
	tpa_archive_free(&saved);
	tpa_run_free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("trace", 0);
	struct damage damage = { 0 };
	struct tpa_trace *trace;
	char name[32], *error = NULL;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (size >= sizeof(damage))
		memcpy(&damage, data + size - sizeof(damage), sizeof(damage));
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	trace = tpa_trace_open(name, &error);
	close(fd);
	if (trace)
		cut(trace, &damage);
	free(error);
	tpa_trace_close(trace);
	return 0;
}
