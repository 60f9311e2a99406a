/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/line/suggest.h"

#include <stdio.h>
#include <string.h>
#include <tprof/nearest.h>

struct tpa_suggestion tpa_suggest(const char *typed)
{
	return (struct tpa_suggestion){ .typed = typed, .distance = TPROF_FAR };
}

void tpa_suggest_offer(struct tpa_suggestion *suggestion, const char *word)
{
	uint32_t distance = tprof_word_distance(suggestion->typed, word);

	if (distance >= suggestion->distance || strlen(word) >= sizeof(suggestion->nearest))
		return;
	suggestion->distance = distance;
	strcpy(suggestion->nearest, word);
}

void tpa_suggest_offer_list(struct tpa_suggestion *suggestion, const char *list)
{
	while (*list) {
		size_t length = strcspn(list, " ");
		char word[sizeof(suggestion->nearest)];

		snprintf(word, sizeof(word), "%.*s", (int)length, list);
		tpa_suggest_offer(suggestion, word);
		list += length + (list[length] == ' ');
	}
}

const char *tpa_suggest_text(struct tpa_suggestion *suggestion, const char *prefix)
{
	suggestion->text[0] = '\0';
	if (suggestion->nearest[0])
		snprintf(suggestion->text, sizeof(suggestion->text), "did you mean %s%s? ", prefix,
			 suggestion->nearest);
	return suggestion->text;
}
