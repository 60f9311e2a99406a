/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean ...?" for mistyped words. Both halves use this; it calls nothing. */
#ifndef TPROF_NEAREST_H
#define TPROF_NEAREST_H

#include <stdbool.h>
#include <stdint.h>

#define TPROF_WORD_MAX 40u /* longer words have no neighbours */
#define TPROF_FAR UINT32_MAX

static inline char tprof_lower(char letter)
{
	return letter >= 'A' && letter <= 'Z' ? (char)(letter | 0x20) : letter;
}

/*
 * Number of insertions, deletions, changes and swaps of neighbouring letters that turn `a` into `b`, ignoring case;
 * TPROF_FAR: a word is too long.
 */
static inline uint32_t tprof_edits(const char *a, uint32_t a_length, const char *b, uint32_t b_length)
{
	uint8_t rows[3][TPROF_WORD_MAX + 1];
	uint8_t *before = rows[0], *above = rows[1], *row = rows[2];

	if (a_length > TPROF_WORD_MAX || b_length > TPROF_WORD_MAX)
		return TPROF_FAR;
	for (uint32_t j = 0; j <= b_length; j++)
		row[j] = (uint8_t)j;
	for (uint32_t i = 1; i <= a_length; i++) {
		uint8_t *spare = before;

		before = above;
		above = row;
		row = spare;
		row[0] = (uint8_t)i;
		for (uint32_t j = 1; j <= b_length; j++) {
			char x = tprof_lower(a[i - 1]), y = tprof_lower(b[j - 1]);
			uint32_t least = above[j - 1] + (x != y ? 1u : 0u);

			if (least > above[j] + 1u)
				least = above[j] + 1u;
			if (least > row[j - 1] + 1u)
				least = row[j - 1] + 1u;
			if (i > 1 && j > 1 && x == tprof_lower(b[j - 2]) && y == tprof_lower(a[i - 2]) &&
			    least > before[j - 2] + 1u)
				least = before[j - 2] + 1u;
			row[j] = (uint8_t)least;
		}
	}
	return row[b_length];
}

static inline bool tprof_holds(const char *text, uint32_t text_length, const char *part, uint32_t length)
{
	for (uint32_t from = 0; from + length <= text_length; from++) {
		uint32_t i = 0;

		while (i < length && tprof_lower(text[from + i]) == tprof_lower(part[i]))
			i++;
		if (i == length)
			return true;
	}
	return false;
}

/* Distance of `candidate` from the typed `word`; TPROF_FAR: too far to be what was meant. */
static inline uint32_t tprof_word_distance(const char *word, const char *candidate)
{
	uint32_t word_length = 0, length = 0, edits, most;

	while (word[word_length])
		word_length++;
	while (candidate[length])
		length++;
	edits = tprof_edits(word, word_length, candidate, length);
	most = word_length < 6 ? 1 : word_length / 3;
	if (edits <= most && edits < length)
		return edits;
	if (word_length >= 3 && tprof_holds(candidate, length, word, word_length))
		return length;
	if (length >= 4 && tprof_holds(word, word_length, candidate, length))
		return word_length;
	return TPROF_FAR;
}

#endif
