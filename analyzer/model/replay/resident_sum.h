/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What several processes have resident together, each page counted once: adding up their RSS counts a page as often as there are
 * processes that have it.
 *
 * - Anonymous memory is shared by fork only. What a process has counts whole; a forked one counts without what it still shares
 *   with the process that forked it, which is all at first, and later what a reading of smaps shows as not private. When a
 *   process ends, the forked one that shares most of its memory takes its place.
 * - Of each file (shared memory is one, too) counts what the process with most of it has, or what all have privately, if that is
 *   more. So a page counts once, also if the readings of the processes are of different moments.
 *
 * The sum is a lower bound. It is too small where forked processes share pages that the process that forked them has given
 * back or written to, and where they have different parts of a file and not alone.
 */
#ifndef TPROF_MODEL_REPLAY_RESIDENT_SUM_H
#define TPROF_MODEL_REPLAY_RESIDENT_SUM_H

#include "model/replay/changes.h"

struct tpa_resident_sum;

/*
 * For the processes changes[0..count), which stay owned by the caller and must outlive it, as far as they are read; none is in the
 * sum yet. `parents` has an index for each: the process that forked or started it; `count`: the run has no trace of it.
 */
struct tpa_resident_sum *tpa_resident_sum_new(const struct tpa_changes *changes, const size_t *parents, size_t count);
void tpa_resident_sum_free(struct tpa_resident_sum *sum);

/* Whether the process's share has to be updated after an event: `before` is its state before that. */
bool tpa_resident_sum_changed(const struct tpa_resident_sum *sum, size_t index, const struct tpa_point *before);

/*
 * Updates the process's share after a change of it, at that time; its first update begins it. `reading`: the change's, if it has
 * one.
 */
void tpa_resident_sum_update(struct tpa_resident_sum *sum, size_t index, const struct tpa_reading *reading,
			     uint64_t time_ns);

/* The process has ended, and has nothing any more. */
void tpa_resident_sum_end(struct tpa_resident_sum *sum, size_t index);

/* Moves into *process, the result of that index, which process forked it, and what it copied of its ancestors' memory. */
void tpa_resident_sum_result(struct tpa_resident_sum *sum, size_t index, struct tpa_process *process);

/*
 * What is copied at a fork is seen at the next reading only. Adds to the run's timeline, and to its peaks, what had been copied
 * before; as far as page faults prove it, and to the timeline's resolution.
 */
void tpa_resident_sum_correct(struct tpa_resident_sum *sum, struct tpa_run *run);

/* What is resident now; its time is not set. */
const struct tpa_resident_together *tpa_resident_sum_now(const struct tpa_resident_sum *sum);

#endif
