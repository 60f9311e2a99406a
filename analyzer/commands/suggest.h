/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean ...?": the nearest to a mistyped word of the words that are allowed. */
#ifndef TPROF_COMMANDS_SUGGEST_H
#define TPROF_COMMANDS_SUGGEST_H

#include <stdint.h>

struct tpa_suggestion {
	const char *typed;
	char nearest[64]; /* "": none is near */
	uint32_t distance;
	char text[96];
};

struct tpa_suggestion tpa_suggest(const char *typed);
void tpa_suggest_offer(struct tpa_suggestion *suggestion, const char *word);
/* Offers each word of `list`, which blanks separate. */
void tpa_suggest_offer_list(struct tpa_suggestion *suggestion, const char *list);

/* "did you mean PREFIXword? " for a message, with a blank after it; "" if no word is near. Valid as long as *suggestion. */
const char *tpa_suggest_text(struct tpa_suggestion *suggestion, const char *prefix);

#endif
