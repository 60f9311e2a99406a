/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/search/leakcheck.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "commands/search/holders_search.h"
#include "commands/search/roots.h"
#include "model/holders/paths.h"
#include "report/text/text.h"
#include "trace/append.h"
#include "trace/snapshot.h"
#include "base/memory.h"
#include "base/order.h"

enum { DONE = 0, NOT_YET = 1, FAILED = 3 };

#define WAIT_MS 5000
#define REGISTERS 15	     /* general-purpose ones, without the stack pointer */
#define BETWEEN_NS 200000000 /* between the two searches, so that registers change */
#define LIFE_SECONDS 110     /* the fork lives for two minutes */

struct search {
	struct tpa_reach_held held;
	uint64_t ticks;
	uint32_t running, waiting; /* other threads: on a processor; in a system call */
	uint32_t unknown;	   /* waiting threads whose registers are not searched */
	pid_t frozen;		   /* the fork that is searched */
	int handle;		   /* its pidfd, or -1 */
	bool last;		   /* no other search follows: also find what holds the blocks */
	bool holders_only;	   /* find only that */
	struct tpa_holders_result holders;
};

/* ---- one search ---- */

static bool search_frozen(struct tpa_control *control, const struct tpa_trace *trace, struct tpa_frozen *frozen,
			  struct search *search, char **error)
{
	struct tpa_roots roots;
	bool good;

	tpa_roots_find(&roots, frozen, &search->held, control->header->snapshot_still, trace->malloc_path);
	if (!search->holders_only)
		tpa_reach_search(search->held.blocks, search->held.count, &roots.all, tpa_frozen_read, frozen);
	if (search->last)
		tpa_holders_search(trace, frozen, &search->held, search->holders_only, &roots, search->ticks,
				   &search->holders);
	good = tpa_frozen_whole(frozen, error);
	tpa_roots_free(&roots);
	return good;
}

static bool search_trace(struct tpa_control *control, struct tpa_frozen *frozen, struct search *search, char **error)
{
	struct tpa_trace *trace = tpa_trace_open(control->path, error);
	bool good;

	if (!trace)
		return false;
	tpa_reach_held(trace, search->ticks, &search->held);
	good = search_frozen(control, trace, frozen, search, error);
	tpa_trace_close(trace);
	return good;
}

/* Reads the mappings first: the program runs on, and may end while its trace is read. */
static bool search_once(struct tpa_control *control, struct search *search, char **error)
{
	const struct tprof_header *header = control->header;
	struct tpa_frozen frozen;
	bool good;

	search->ticks = header->snapshot_ticks;
	search->running = header->snapshot_running;
	search->waiting = header->snapshot_waiting;
	search->unknown = search->waiting - header->snapshot_known;
	search->frozen = tpa_control_snapshot(control);
	search->handle = search->frozen ? (int)syscall(SYS_pidfd_open, search->frozen, 0) : -1;
	if (!tpa_frozen_open(&frozen, search->frozen, control->pid, header->snapshot_at, header->snapshot_bytes, error))
		return false;
	good = search_trace(control, &frozen, search, error);
	tpa_frozen_close(&frozen);
	return good;
}

/* Returns false after it has reported the error. */
static bool searches(struct tpa_control *control, struct search *search)
{
	char *error = NULL;
	bool good = search_once(control, search, &error);

	if (!good)
		fprintf(stderr, "tprof: leak check: %s\n", error);
	free(error);
	return good;
}

/* Ends the fork that was searched, not one that someone else requested since. The program may have ended. */
static void end_frozen(const struct tpa_control *control, const struct search *search)
{
	if (search->handle >= 0) {
		syscall(SYS_pidfd_send_signal, search->handle, SIGKILL, NULL, 0);
		close(search->handle);
	} else if (search->frozen && tpa_control_is_child(control, search->frozen)) {
		kill(search->frozen, SIGKILL);
	}
}

/* Makes the process fork. */
static int freeze(struct tpa_control *control)
{
	const struct tprof_header *header = control->header;

	switch (tpa_control_ask(control, TPROF_CONTROL_LEAKCHECK, NULL, WAIT_MS)) {
	case TPA_CONTROL_DONE:
		if (header->snapshot_pid && !header->snapshot_error)
			return DONE;
		if (header->snapshot_error == EBUSY) {
			fprintf(stderr, "tprof: process %d is ending, and is being searched\n", (int)control->pid);
			return NOT_YET;
		}
		fprintf(stderr, "tprof: process %d could not be forked: %s\n", (int)control->pid,
			strerror((int)header->snapshot_error));
		return FAILED;
	case TPA_CONTROL_ENDED:
		fprintf(stderr, "tprof: process %d has ended\n", (int)control->pid);
		return FAILED;
	case TPA_CONTROL_CANCELLED:
		fprintf(stderr, "tprof: process %d: the request was taken back\n", (int)control->pid);
		return NOT_YET;
	case TPA_CONTROL_BUSY:
		fprintf(stderr, "tprof: process %d: another request is being made\n", (int)control->pid);
		return NOT_YET;
	default:
		tpa_control_cancel(control);
		fprintf(stderr, "tprof: process %d did not answer in %d s: %s; try again later\n", (int)control->pid,
			WAIT_MS / 1000, tpa_control_reason(control));
		return NOT_YET;
	}
}

/* ---- results ---- */

static int by_kind(const void *a, const void *b)
{
	const struct tpa_reach_block *x = a, *y = b;

	return TPA_UP(x->reach, y->reach) ?: TPA_UP(x->node, y->node) ?: TPA_UP(x->op, y->op);
}

/*
 * Registers of a running thread can't be read without stopping it. Nor can those of a thread that waits in a call
 * without a hook, except for the registers that its callees had to save on its stack. A stack with so few blocks that
 * such registers could hold them all may still be reachable: its blocks are possibly lost, not definitely. (Two
 * searches show that they were there all the time, which is unlikely but not impossible: a loop may wait for another
 * thread.)
 */
static void doubt_few(const struct search *search, struct tpa_reach_sum *sums, size_t count)
{
	uint64_t few = (uint64_t)REGISTERS * search->running + (uint64_t)TPROF_KEPT * search->unknown;

	for (size_t i = 0; i < count; i++)
		if (sums[i].reach == TPROF_REACH_DEFINITE && sums[i].blocks <= few)
			sums[i].reach = TPROF_REACH_POSSIBLE;
}

/* Sums by stack; reorders the blocks. */
static struct tpa_reach_sum *sum_up(struct search *search, size_t *count)
{
	struct tpa_reach_sum *sums = tpa_zalloc(search->held.count, sizeof(*sums));

	*count = 0;
	if (search->held.count)
		qsort(search->held.blocks, search->held.count, sizeof(*search->held.blocks), by_kind);
	for (size_t i = 0; i < search->held.count; i++) {
		const struct tpa_reach_block *block = &search->held.blocks[i];
		struct tpa_reach_sum *last = *count ? &sums[*count - 1] : NULL;

		if (!last || last->reach != block->reach || last->node != block->node || last->op != block->op)
			sums[(*count)++] =
				(struct tpa_reach_sum){ search->ticks, block->reach, block->node, block->op, 1,
							block->size };
		else
			last->blocks++, last->bytes += block->size;
	}
	return sums;
}

static void print(const struct tpa_control *control, const struct search *search, const struct tpa_reach_sum *sums,
		  size_t count)
{
	static const char *const words[] = { "", "definitely lost", "indirectly lost", "possibly lost",
					     "still reachable" };
	uint64_t bytes[5] = { 0 }, blocks[5] = { 0 };

	for (size_t i = 0; i < count; i++) {
		bytes[sums[i].reach] += sums[i].bytes;
		blocks[sums[i].reach] += sums[i].blocks;
	}
	for (int reach = 1; reach <= TPROF_REACH_STILL; reach++)
		printf("  %-16s %s in %s block%s\n", words[reach], tpa_bytes(bytes[reach], false).text,
		       tpa_count(blocks[reach]).text, tpa_plural(blocks[reach]));
	if (search->running || search->waiting)
		printf("  %u other thread%s in %s, %u ran%s\n", search->waiting,
		       search->waiting == 1 ? " was" : "s were",
		       search->waiting == 1 ? "a system call" : "system calls", search->running,
		       search->running || search->unknown ? "" : "; all their registers were searched");
	if (search->running || search->unknown)
		printf("  the registers of %u of them are not searched: blocks that these could hold are possibly "
		       "lost\n",
		       search->running + search->unknown);
	if (!search->held.seamless)
		puts("  the trace does not have all blocks: some of these may be reached from others");
	printf("tprof-analyze leaks %s   says which\n", control->path);
}

static int report(struct tpa_control *control, struct search *search, bool quiet)
{
	size_t count;
	struct tpa_reach_sum *sums = sum_up(search, &count);
	bool good;

	doubt_few(search, sums, count);
	good = tpa_append_reach(control, sums, count) && tpa_append_holders(control, &search->holders);
	if (good)
		control->header->search_ticks = search->ticks;
	else
		perror("tprof: the trace could not be written to");
	if (good && !quiet)
		print(control, search, sums, count);
	free(sums);
	return good ? DONE : FAILED;
}

/* The program runs between the two searches. */
static int search_twice(struct tpa_control *control, struct search *now, struct search *earlier)
{
	const struct timespec pause = { .tv_nsec = BETWEEN_NS };
	int status = freeze(control);
	bool good;

	if (status != DONE)
		return status;
	good = searches(control, earlier);
	end_frozen(control, earlier);
	if (!good)
		return FAILED;
	nanosleep(&pause, NULL);
	status = freeze(control);
	if (status != DONE)
		return status;
	good = searches(control, now);
	end_frozen(control, now);
	if (!good)
		return FAILED;
	now->running = now->running < earlier->running ? now->running : earlier->running;
	now->unknown = now->unknown < earlier->unknown ? now->unknown : earlier->unknown;
	tpa_reach_confirm(now->held.blocks, now->held.count, earlier->held.blocks, earlier->held.count);
	return DONE;
}

static int report_holders(struct tpa_control *control, const struct search *search, bool quiet)
{
	const struct tpa_holders_search *found = &search->holders.search;

	if (!tpa_append_holders(control, &search->holders)) {
		perror("tprof: the trace could not be written to");
		return FAILED;
	}
	if (!quiet)
		printf("  %s of %s blocks are held; the search took %s and %s\ntprof-analyze holders %s   says by "
		       "what\n",
		       tpa_count(found->reached).text, tpa_count(found->blocks).text, tpa_time(found->ns).text,
		       tpa_bytes(found->memory, false).text, control->path);
	return DONE;
}

int tpa_holders_check(struct tpa_control *control, bool taken)
{
	struct search search = { .last = true, .holders_only = true, .handle = -1 };
	int status;

	alarm(LIFE_SECONDS);
	if (!tpa_control_lock(control, TPA_CONTROL_SEARCH)) {
		fprintf(stderr, "tprof: process %d: another search of it is under way; try again when that is over\n",
			(int)control->pid);
		return NOT_YET;
	}
	status = taken ? DONE : freeze(control);
	if (status != DONE)
		return status;
	status = searches(control, &search) ? report_holders(control, &search, taken) : FAILED;
	end_frozen(control, &search);
	tpa_holders_result_free(&search.holders);
	tpa_reach_held_free(&search.held);
	return status;
}

int tpa_leakcheck(struct tpa_control *control, bool taken)
{
	struct search now = { .last = true, .handle = -1 }, earlier = { .handle = -1 };
	int status;

	alarm(LIFE_SECONDS);
	if (!tpa_control_lock(control, TPA_CONTROL_SEARCH) && !taken) {
		fprintf(stderr,
			"tprof: process %d: another leak check of it is under way; try again when that is over\n",
			(int)control->pid);
		return NOT_YET;
	}
	if (taken && !searches(control, &now))
		status = tpa_control_is_forbidden(now.frozen) ? TPROF_STATUS_FORBIDDEN : FAILED;
	else if (taken)
		status = DONE;
	else
		status = search_twice(control, &now, &earlier);
	if (status == DONE)
		status = report(control, &now, taken);
	tpa_holders_result_free(&now.holders);
	tpa_reach_held_free(&now.held);
	tpa_reach_held_free(&earlier.held);
	return status;
}
