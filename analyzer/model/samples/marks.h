/* SPDX-License-Identifier: Apache-2.0 */
/* Marks in the trace, set by the program or from outside. */
#ifndef TPROF_MODEL_SAMPLES_MARKS_H
#define TPROF_MODEL_SAMPLES_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tpa_archive;

/* Only the first marks are kept, but all are counted: a program that marks each of a million batches marks nothing. */
#define TPA_MARKS_MAX 1000u

struct tpa_mark {
	uint64_t time_ns; /* in reports since the run's start; before that, as tpa_marks_add() got it */
	uint32_t thread;
	char *text;
};

/* All zero at first. */
struct tpa_marks {
	struct tpa_mark *list; /* in time order */
	size_t count, room;
	uint64_t all; /* number of all marks, kept or not */
};

/* Copies `text`, which need not end with NUL. */
void tpa_marks_add(struct tpa_marks *marks, uint64_t time_ns, uint32_t thread, const char *text, size_t length);
void tpa_marks_free(struct tpa_marks *marks);

/* Saves the marks, or loads them into a struct that is all zero. */
void tpa_marks_archive(struct tpa_archive *archive, struct tpa_marks *marks);

#endif
