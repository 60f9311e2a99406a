/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean ...?": the nearest to a mistyped word of the words that are allowed. */
#ifndef TPROF_COMMANDS_SUGGEST_H
#define TPROF_COMMANDS_SUGGEST_H

#include <stdint.h>

struct tp_suggestion {
	const char *typed;
	char nearest[64]; /* "": none is near */
	uint32_t distance;
	char text[96];
};

struct tp_suggestion tp_suggest(const char *typed);
void tp_suggest_offer(struct tp_suggestion *suggestion, const char *word);
/* Offers each word of `list`, which blanks separate. */
void tp_suggest_offer_list(struct tp_suggestion *suggestion, const char *list);

/* "did you mean PREFIXword? " for a message, with a blank after it; "" if no word is near. Valid as long as *suggestion. */
const char *tp_suggest_text(struct tp_suggestion *suggestion, const char *prefix);

#endif
