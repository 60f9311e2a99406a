/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/strip.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/pairs.h"
#include "commands/strip_records.h"
#include "symbols/demangle.h"
#include "trace/checkpoint.h"

#define LENGTH 12 /* of a pseudonym, unless its name is shorter */
#define TRIES 100 /* to find one that is free, and does not match itself */
#define RUN_LEAST 3

struct tpa_strip {
	regex_t regex;
	struct tpa_arena *arena;
	struct tpa_pairs numbers; /* of a name, its pseudonym's index + 1 */
	struct tpa_pairs taken;	  /* pseudonyms */
	const char **list;
	size_t count, room;
};

struct tpa_strip *tpa_strip_new(const char *regex)
{
	struct tpa_strip *strip = tpa_zalloc(1, sizeof(*strip));

	tpa_need(regcomp(&strip->regex, regex, REG_EXTENDED) == 0);
	strip->arena = tpa_arena_new();
	return strip;
}

void tpa_strip_free(struct tpa_strip *strip)
{
	if (!strip)
		return;
	regfree(&strip->regex);
	tpa_pairs_free(&strip->numbers);
	tpa_pairs_free(&strip->taken);
	tpa_arena_free(strip->arena);
	free((void *)strip->list);
	free(strip);
}

static bool matches(const struct tpa_strip *strip, const char *text)
{
	return regexec(&strip->regex, text, 0, NULL, 0) == 0;
}

/* ---- pseudonyms ---- */

static void draw(char *text, size_t length)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	uint32_t random[LENGTH];

	tpa_need(getrandom(random, sizeof(random), 0) == (ssize_t)sizeof(random));
	for (size_t i = 0; i < length; i++)
		text[i] = letters[random[i] % (i ? 36 : 26)];
	text[length] = '\0';
}

/* Short names may use up all that are free. */
static const char *new_pseudonym(struct tpa_strip *strip, size_t length)
{
	char text[LENGTH + 1];
	const char *own = NULL;
	bool used = true;

	for (int i = 0; i < TRIES && used; i++) {
		draw(text, length < LENGTH ? length : LENGTH);
		own = tpa_arena_intern(strip->arena, text);
		used = tpa_pairs_find(&strip->taken, (uintptr_t)own, 0) || (i < TRIES / 2 && matches(strip, text));
	}
	tpa_pairs_set(&strip->taken, (uintptr_t)own, 0, 1);
	return own;
}

static const char *pseudonym(struct tpa_strip *strip, const char *name)
{
	const char *own = tpa_arena_intern(strip->arena, name);
	uint32_t *number;
	bool found;

	if (!*name)
		return name;
	number = tpa_pairs_at(&strip->numbers, (uintptr_t)own, 0, &found);
	if (!found) {
		*number = (uint32_t)strip->count + 1;
		*TPA_APPEND(strip->list, strip->count, strip->room) = new_pseudonym(strip, strlen(name));
	}
	return strip->list[*number - 1];
}

/* ---- names ---- */

/* Does the symbol of a function stand for a name that matches? */
static bool is_mangled(const struct tpa_strip *strip, const char *text)
{
	char *name = text[0] == '_' ? tpa_demangle(text) : NULL;
	bool is = name && matches(strip, name);

	free(name);
	return is;
}

static const char *strip_path(struct tpa_strip *strip, const char *path)
{
	char *out = tpa_zalloc(strlen(path) + 1, 1), *to = out;
	const char *result;
	bool changed = false;

	for (const char *at = path; *at;) {
		size_t length = strcspn(at, "/");
		char *part = tpa_strndup(at, length);
		const char *now = matches(strip, part) ? pseudonym(strip, part) : part;

		changed |= now != part;
		to = stpcpy(to, now);
		free(part);
		at += length;
		if (*at)
			*to++ = *at++;
	}
	*to = '\0';
	result = changed ? tpa_arena_intern(strip->arena, out) : path;
	if (matches(strip, out))
		result = pseudonym(strip, path);
	free(out);
	return result;
}

const char *tpa_strip_name(struct tpa_strip *strip, const char *text)
{
	if (strchr(text, '/'))
		return strip_path(strip, text);
	return matches(strip, text) || is_mangled(strip, text) ? pseudonym(strip, text) : text;
}

const char *tpa_strip_whole(struct tpa_strip *strip, const char *text)
{
	return matches(strip, text) ? pseudonym(strip, text) : text;
}

const char *tpa_strip_keep(struct tpa_strip *strip, const char *text)
{
	return tpa_arena_intern(strip->arena, text);
}

void tpa_strip_runs(struct tpa_strip *strip, uint8_t *bytes, size_t length)
{
	for (size_t at = 0, end; at < length; at = end + 1) {
		regmatch_t match;
		size_t from = 0;
		char *run;

		for (end = at; end < length && bytes[end] >= ' ' && bytes[end] != 127;)
			end++;
		run = tpa_strndup((const char *)bytes + at, end - at);
		while (run[from] && regexec(&strip->regex, run + from, 1, &match, from ? REG_NOTBOL : 0) == 0 &&
		       match.rm_eo > match.rm_so) {
			size_t begin = from + (size_t)match.rm_so, size = (size_t)(match.rm_eo - match.rm_so);
			char *name = tpa_strndup(run + begin, size);
			const char *other = pseudonym(strip, name);

			memset(bytes + at + begin, '_', size);
			memcpy(bytes + at + begin, other, strlen(other));
			free(name);
			from += (size_t)match.rm_eo;
		}
		free(run);
	}
}

/* ---- embedded names ---- */

static const char *rename_text(void *context, const char *text)
{
	return tpa_strip_name(context, text);
}

struct tpa_rename tpa_strip_rename(struct tpa_strip *strip)
{
	return (struct tpa_rename){ rename_text, strip };
}

/* ---- rings ---- */

/* Texts in a saved state end with a NUL, and zeros stand before them. */
bool tpa_strip_can(struct tpa_strip *strip, struct tpa_trace *trace, char **reason)
{
	size_t size = 0;
	uint8_t *state = tpa_checkpoint_read(trace, &size);
	bool can = true;

	for (size_t at = 0, end; state && can && at < size; at = end + 1) {
		char *run;

		for (end = at; end < size && state[end] >= ' ' && state[end] != 127;)
			end++;
		if (end - at < RUN_LEAST)
			continue;
		run = tpa_strndup((const char *)state + at, end - at);
		can = !matches(strip, run);
		if (!can)
			*reason = tpa_format(
				"%s: the ring's summary of its old events holds '%s', which can't be replaced",
				trace->file, run);
		free(run);
	}
	free(state);
	return can;
}
