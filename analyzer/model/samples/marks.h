/* SPDX-License-Identifier: Apache-2.0 */
/* Marks that the program, or somebody from outside, set in the trace. */
#ifndef TPROF_MODEL_SAMPLES_MARKS_H
#define TPROF_MODEL_SAMPLES_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tpa_archive;

/* A program that marks each of a million batches marks nothing: the first ones are kept, and all are counted. */
#define TPA_MARKS_MAX 1000u

struct tpa_mark {
	uint64_t time_ns; /* in the report since the run's start; before in the unit of who adds it */
	uint32_t thread;
	char *text;
};

/* Begins all zero. */
struct tpa_marks {
	struct tpa_mark *list; /* in the order of time */
	size_t count, room;
	uint64_t all; /* with those that were not kept */
};

/* `text` need not end with NUL. */
void tpa_marks_add(struct tpa_marks *marks, uint64_t time_ns, uint32_t thread, const char *text, size_t length);
void tpa_marks_free(struct tpa_marks *marks);

/* Saves, or loads into marks that are all zero. */
void tpa_marks_archive(struct tpa_archive *archive, struct tpa_marks *marks);

#endif
