/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/patch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tprof/patches.h>
#include <unistd.h>

#include "attach/target.h"
#include "base/memory.h"
#include "base/now.h"

#define PATCHES_MAX 65536u
#define TRIES 40	   /* of 5 ms, before a patch is left out */
#define STEPS 20	   /* single instructions that lead out of a patch */
#define STACK_BYTES 65536u /* that are searched for what a signal interrupted */
#define PAGE 4096u

struct work {
	struct tpa_tracee *caller;
	struct tprof_patch *list; /* those that change something, by address */
	size_t count;
	struct tpa_tracee *threads; /* stopped */
	size_t thread_count, thread_room;
	int memory;	   /* /proc/PID/mem */
	uint64_t occupied; /* the last patch in which a thread was */
};

/* ---- what is to be written ---- */

static int by_address(const void *a, const void *b)
{
	const struct tprof_patch *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* Leaves out what is so already, and code that is no longer what it was: its object was unloaded. */
static void keep_changes(struct work *work)
{
	size_t kept = 0;

	for (size_t i = 0; i < work->count; i++) {
		struct tprof_patch patch = work->list[i];
		const uint8_t *before = patch.wanted ? patch.was : patch.bytes;
		uint8_t now[TPROF_PATCH_BYTES];

		if (patch.count && patch.count <= sizeof(now) &&
		    tpa_tracee_read(work->caller, patch.at, now, patch.count) &&
		    memcmp(now, before, patch.count) == 0 && memcmp(patch.was, patch.bytes, patch.count) != 0)
			work->list[kept++] = patch;
	}
	work->count = kept;
	if (kept)
		qsort(work->list, kept, sizeof(*work->list), by_address);
}

static void read_patches(struct work *work, uint64_t address)
{
	uint64_t count;

	if (!address || !tpa_tracee_read(work->caller, address, &count, sizeof(count)) || !count || count > PATCHES_MAX)
		return;
	work->list = tpa_zalloc(count, sizeof(*work->list));
	if (tpa_tracee_read(work->caller, address + sizeof(count), work->list, count * sizeof(*work->list)))
		work->count = count;
	keep_changes(work);
}

/* Is the address behind the first byte of a patch, and before its end? */
static bool is_within(struct work *work, uint64_t address)
{
	size_t low = 0, high = work->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (work->list[middle].at < address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= work->list[low - 1].at + work->list[low - 1].count)
		return false;
	work->occupied = work->list[low - 1].at;
	return true;
}

/* ---- the threads ---- */

static bool is_known(const struct work *work, pid_t tid)
{
	for (size_t i = 0; i < work->thread_count; i++)
		if (work->threads[i].tid == tid)
			return true;
	return tid == work->caller->tid;
}

static void release_all(struct work *work)
{
	for (size_t i = 0; i < work->thread_count; i++)
		tpa_tracee_release(&work->threads[i]);
	work->thread_count = 0;
}

/* Stops the threads that are not known yet. Returns how many there were; -1: one can't be stopped. */
static int stop_new(struct work *work)
{
	pid_t *threads = tpa_target_threads(work->caller->pid);
	size_t before = work->thread_count, kept = before;
	int failed = !threads;

	for (size_t i = 0; threads && threads[i] && !failed; i++) {
		struct tpa_tracee thread;
		int error = is_known(work, threads[i]) ? ESRCH
						       : tpa_tracee_begin_stop(&thread, work->caller->pid, threads[i]);

		if (!error)
			*TPA_APPEND(work->threads, work->thread_count, work->thread_room) = thread;
		failed = error && error != ESRCH;
	}
	for (size_t i = before; i < work->thread_count; i++) {
		int error = tpa_tracee_end_stop(&work->threads[i]);

		if (!error)
			work->threads[kept++] = work->threads[i];
		failed |= error && error != ESRCH;
	}
	work->thread_count = kept;
	free(threads);
	return failed ? -1 : (int)(kept - before);
}

/* A thread that runs may start others meanwhile. */
static bool stop_all(struct work *work)
{
	int added;

	do
		added = stop_new(work);
	while (added > 0);
	return added == 0;
}

/* Words on the stack may be what a signal interrupted, where its handler will return to. */
static bool is_on_stack(struct work *work, const struct tpa_tracee *thread)
{
	uint64_t at = thread->registers.rsp & ~UINT64_C(7), words[PAGE / sizeof(uint64_t)];

	for (uint64_t end = at + STACK_BYTES; at < end;) {
		size_t bytes = PAGE - at % PAGE;

		if (!tpa_tracee_read(thread, at, words, bytes))
			return false; /* the end of the stack */
		for (size_t i = 0; i < bytes / sizeof(*words); i++)
			if (is_within(work, words[i]))
				return true;
		at += bytes;
	}
	return false;
}

static bool is_clear(struct work *work, struct tpa_tracee *thread)
{
	for (int i = 0; is_within(work, thread->registers.rip); i++)
		if (i == STEPS || !tpa_tracee_step(thread))
			return false;
	return !is_on_stack(work, thread);
}

static bool are_clear(struct work *work)
{
	for (size_t i = 0; i < work->thread_count; i++)
		if (!is_clear(work, &work->threads[i]))
			return false;
	return true;
}

/* ---- writing ---- */

static bool write_one(const struct work *work, const struct tprof_patch *patch, bool back)
{
	const uint8_t *bytes = (patch->wanted != 0) != back ? patch->bytes : patch->was;

	return pwrite(work->memory, bytes, patch->count, (off_t)patch->at) == patch->count;
}

static bool write_all(struct work *work)
{
	for (size_t i = 0; i < work->count; i++) {
		if (write_one(work, &work->list[i], false))
			continue;
		while (i--)
			write_one(work, &work->list[i], true);
		return false;
	}
	return true;
}

/* Returns NULL, or why not; *again: another time it may be possible. */
static char *try_to_write(struct work *work, struct tpa_patched *patched, bool *again)
{
	uint64_t began = tpa_now_ns(CLOCK_MONOTONIC);
	char *error = NULL;

	*again = false;
	if (!stop_all(work)) {
		error = tpa_strdup("has a thread that does not stop, as it waits in the kernel");
	} else if (!are_clear(work)) {
		error = tpa_strdup("always had threads in the first instructions of functions that are to be hooked");
		*again = true;
	} else if (!write_all(work)) {
		error = tpa_format("does not let its code be written to: %s", strerror(errno));
	}
	release_all(work);
	patched->stopped_ns = tpa_now_ns(CLOCK_MONOTONIC) - began;
	return error;
}

static void leave_out(struct work *work, struct tpa_patched *patched)
{
	size_t kept = 0;

	for (size_t i = 0; i < work->count; i++)
		if (work->list[i].at != work->occupied)
			work->list[kept++] = work->list[i];
	work->count = kept;
	patched->left[patched->left_count++] = work->occupied;
}

static char *write_at_a_moment(struct work *work, struct tpa_patched *patched)
{
	bool again = true;
	char *error = NULL;

	/* The caller stands still. */
	while (!is_clear(work, work->caller) && patched->left_count < TPA_PATCHES_LEFT)
		leave_out(work, patched);
	for (int i = 1; again && work->count; i++) {
		free(error);
		error = try_to_write(work, patched, &again);
		if (!again || (i % TRIES == 0 && patched->left_count == TPA_PATCHES_LEFT))
			break;
		if (i % TRIES == 0)
			leave_out(work, patched);
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	}
	if (!work->count) {
		free(error);
		error = NULL;
	}
	if (!error)
		patched->functions = work->count;
	return error;
}

char *tpa_patch(struct tpa_tracee *caller, uint64_t patches, struct tpa_patched *patched)
{
	struct work work = { .caller = caller };
	char *path = tpa_format("/proc/%d/mem", (int)caller->pid), *error = NULL;

	*patched = (struct tpa_patched){ .functions = 0 };
	read_patches(&work, patches);
	if (work.count) {
		work.memory = open(path, O_RDWR | O_CLOEXEC);
		error = work.memory < 0 ? tpa_format("does not let its memory be written to: %s", strerror(errno))
					: write_at_a_moment(&work, patched);
		if (work.memory >= 0)
			close(work.memory);
	}
	free(work.list);
	free(work.threads);
	free(path);
	return error;
}
