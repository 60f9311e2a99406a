/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the period of a sequence of ops: the op that comes once in each step of a program that does not mark its steps.
 * For each candidate op, the calls between two of its calls are compared with the calls up to its next one: how many
 * pairs of neighbouring calls do they have in common? Of the ops for which that share is (about) largest, the one
 * called most often wins: it cuts the sequence into the shortest steps that are alike. A few calls more or less in a
 * step do not disturb this, as they would an autocorrelation at a fixed lag. The search does not guess: fewer than
 * TPA_PERIOD_REPEATS repetitions, or less than TPA_PERIOD_ALIKE in common, are no period, nor is one call repeated over
 * and over.
 */
#ifndef TPROF_MODEL_STEPS_PERIOD_H
#define TPROF_MODEL_STEPS_PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tpa_archive;

#define TPA_PERIOD_REPEATS 5u
#define TPA_PERIOD_ALIKE 0.8
#define TPA_PERIOD_CALLS 65536u /* last calls of a thread that are searched, at most */

struct tpa_period {
	bool found;
	uint32_t symbol;   /* each of its calls ends a step */
	double calls;	   /* calls per step, on average */
	uint64_t repeats;  /* number of steps found */
	double confidence; /* share of the calls of a step that the next step has too */
};

/* Searches `count` calls, each given as a symbol, for a period. */
struct tpa_period tpa_period_find(const uint32_t *symbols, size_t count);

/*
 * A symbol is an op with the number of a shape in the low bits. The shapes from TPA_SYMBOL_SHAPES on share that number.
 */
#define TPA_SYMBOL_SHAPE_BITS 7
#define TPA_SYMBOL_SHAPES ((UINT32_C(1) << TPA_SYMBOL_SHAPE_BITS) - 1)

/* A ring of the last TPA_PERIOD_CALLS symbols. */
struct tpa_sequence {
	uint32_t *ring;
	size_t room;
	uint64_t count; /* symbols added so far */
};
void tpa_sequence_add(struct tpa_sequence *sequence, uint32_t symbol);

/* Saves the sequence, or loads it into one that is all zero. */
void tpa_sequence_archive(struct tpa_archive *archive, struct tpa_sequence *sequence);

/* Returns the kept symbols in order; the caller frees the list. */
uint32_t *tpa_sequence_list(const struct tpa_sequence *sequence, size_t *count);

#endif
