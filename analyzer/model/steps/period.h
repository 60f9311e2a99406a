/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The period of a sequence of ops: which of them comes once in each step of a program that says nothing of its steps. For
 * each op that might, the calls between two of its own are held against the calls between the next two: how many pairs of
 * neighbouring calls have they in common? Of the ops under which that is (about) most, the one that comes most often cuts
 * the sequence into the shortest steps that are alike. A few calls more or less in a step do not disturb it, as they would
 * an autocorrelation at a fixed lag. What is not found is not guessed at: fewer than TPA_PERIOD_REPEATS repetitions, or less
 * than TPA_PERIOD_ALIKE in common, is no period, nor is one call over and over.
 */
#ifndef TPROF_MODEL_STEPS_PERIOD_H
#define TPROF_MODEL_STEPS_PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tpa_archive;

#define TPA_PERIOD_REPEATS 5u
#define TPA_PERIOD_ALIKE 0.8
#define TPA_PERIOD_CALLS 65536u /* the last so many of a thread are looked at */

struct tpa_period {
	bool found;
	uint32_t symbol;   /* it ends a step */
	double calls;	   /* a step, on average */
	uint64_t repeats;  /* steps that were looked at */
	double confidence; /* the share of a step's calls that the next one has too */
};

/* Each symbol stands for a call. */
struct tpa_period tpa_period_find(const uint32_t *symbols, size_t count);

/* A symbol is made of an op and a shape; of many shapes the last ones are one. */
#define TPA_SYMBOL_SHAPE_BITS 7
#define TPA_SYMBOL_SHAPES ((UINT32_C(1) << TPA_SYMBOL_SHAPE_BITS) - 1)

/* The last TPA_PERIOD_CALLS symbols. */
struct tpa_sequence {
	uint32_t *ring;
	size_t room;
	uint64_t count; /* in all */
};
void tpa_sequence_add(struct tpa_sequence *sequence, uint32_t symbol);

/* Saves, or loads into a sequence that is all zero. */
void tpa_sequence_archive(struct tpa_archive *archive, struct tpa_sequence *sequence);

/* In order; to be freed by the caller. */
uint32_t *tpa_sequence_list(const struct tpa_sequence *sequence, size_t *count);

#endif
