/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean ...?": finds the allowed word nearest to a mistyped one. */
#ifndef TPROF_COMMANDS_LINE_SUGGEST_H
#define TPROF_COMMANDS_LINE_SUGGEST_H

#include <stdint.h>

struct tpa_suggestion {
	const char *typed;
	char nearest[64]; /* "": no word is near */
	uint32_t distance;
	char text[96];
};

struct tpa_suggestion tpa_suggest(const char *typed);
void tpa_suggest_offer(struct tpa_suggestion *suggestion, const char *word);
/* Offers each word of `list`; blanks separate words. */
void tpa_suggest_offer_list(struct tpa_suggestion *suggestion, const char *list);

/* "did you mean PREFIXword? " with a trailing blank, or "" if no word is near. Valid as long as *suggestion. */
const char *tpa_suggest_text(struct tpa_suggestion *suggestion, const char *prefix);

#endif
