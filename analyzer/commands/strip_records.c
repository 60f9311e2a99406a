/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/strip_records.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <tprof/format.h>
#include <tprof/header.h>

#include "base/memory.h"

/* ---- texts in place ---- */

/* Replaces a text that fills `length` bytes, or ends before with a NUL; zeros fill what it leaves. */
static void replace(struct tpa_strip *strip, uint8_t *at, size_t length)
{
	char *text = tpa_strndup((const char *)at, length);
	const char *now = tpa_strip_name(strip, text);

	if (now != text) {
		memset(at, 0, length);
		memcpy(at, now, strlen(now));
	}
	free(text);
}

/* The same for each of its lines. */
static void replace_lines(struct tpa_strip *strip, uint8_t *at, size_t length)
{
	char *text = tpa_strndup((const char *)at, length), *rest = text, *line;
	uint8_t *to = at;

	while ((line = strsep(&rest, "\n"))) {
		const char *now = tpa_strip_name(strip, line);

		memcpy(to, now, strlen(now));
		to += strlen(now);
		if (rest)
			*to++ = '\n';
	}
	memset(to, 0, (size_t)(at + length - to));
	free(text);
}

/* ---- records ---- */

/*
 * The fields of a record up to its last text. u: a uvarint, b: a byte, k: a byte length and so many bytes that are no text, s: a byte
 * length and a text, v: a uvarint length and a text, r: a text to the end, l: lines to the end. "": no text.
 */
static const char *const tables[] = {
	[TPROF_TABLE_MODULE] = "uuuuukr", [TPROF_TABLE_UNLOAD] = "",	 [TPROF_TABLE_FRAME] = "",
	[TPROF_TABLE_OP] = "ubsr",	  [TPROF_TABLE_CODE] = "uuvr",	 [TPROF_TABLE_PYTHON] = "",
	[TPROF_TABLE_HOOKS] = "buul",	  [TPROF_TABLE_REACH] = "",	 [TPROF_TABLE_VALUE] = "ur",
	[TPROF_TABLE_COUNTER] = "uubr",	  [TPROF_TABLE_OP_CODE] = "ubs", [TPROF_TABLE_JITDUMP] = "r",
	[TPROF_TABLE_SHAPE] = "",	  [TPROF_TABLE_FILE] = "ur",	 [TPROF_TABLE_HOLDER] = "uuubuuuuuusr",
	[TPROF_TABLE_HELD] = "",	  [TPROF_TABLE_HOLDERS] = "",	 [TPROF_TABLE_COMMUNICATOR] = "ubuuuuuus",
};

static const char *const events[] = {
	[TPROF_EVENT_THREAD] = "",     [TPROF_EVENT_CANCEL] = "",    [TPROF_EVENT_MAP] = "",
	[TPROF_EVENT_UNMAP] = "",      [TPROF_EVENT_MEMORY] = "",    [TPROF_EVENT_NAME] = "ur",
	[TPROF_EVENT_ALLOC] = "",      [TPROF_EVENT_FREE] = "",	     [TPROF_EVENT_SAMPLE] = "",
	[TPROF_EVENT_DETAIL] = "uuur", [TPROF_EVENT_STEP] = "",	     [TPROF_EVENT_MARK] = "ur",
	[TPROF_EVENT_WORK] = "",       [TPROF_EVENT_FOLD] = "",	     [TPROF_EVENT_POOL_ALLOC] = "",
	[TPROF_EVENT_POOL_FREE] = "",  [TPROF_EVENT_PAUSE] = "",     [TPROF_EVENT_RESUME] = "",
	[TPROF_EVENT_COUNTERS] = "",   [TPROF_EVENT_USAGE] = "",     [TPROF_EVENT_ALLOCATOR] = "",
	[TPROF_EVENT_SHAPE] = "",      [TPROF_EVENT_REGION] = "",    [TPROF_EVENT_LEVEL] = "",
	[TPROF_EVENT_COMM] = "",       [TPROF_EVENT_COMM_DONE] = "", [TPROF_EVENT_WAITED] = "",
};

static uint64_t number(const uint8_t **at, const uint8_t *end)
{
	uint64_t value = 0;

	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		uint8_t byte = *(*at)++;

		value |= (uint64_t)(byte & 127u) << shift;
		if (byte < 128)
			break;
	}
	return value;
}

static void strip_fields(struct tpa_strip *strip, const char *fields, uint8_t *body, size_t length)
{
	const uint8_t *at = body, *end = body + length;

	for (; *fields && at < end; fields++) {
		uint64_t size = *fields == 'b' ? 1 : (uint64_t)(end - at);
		uint8_t *text;

		if (*fields == 'u' || *fields == 'v')
			size = number(&at, end);
		else if (*fields == 's' || *fields == 'k')
			size = *at++;
		if (*fields == 'u')
			continue;
		size = size < (uint64_t)(end - at) ? size : (uint64_t)(end - at);
		text = body + (at - body);
		if (*fields == 'l')
			replace_lines(strip, text, size);
		else if (*fields != 'b' && *fields != 'k')
			replace(strip, text, size);
		at += size;
	}
}

/* Of a type that this version does not know, the texts are not known either. */
static void strip_record(void *context, bool event, unsigned type, uint8_t *body, size_t length)
{
	size_t known = event ? sizeof(events) / sizeof(*events) : sizeof(tables) / sizeof(*tables);
	const char *fields = type < known ? (event ? events : tables)[type] : NULL;

	if (fields)
		strip_fields(context, fields, body, length);
	else
		tpa_strip_runs(context, body, length);
}

/* ---- the header ---- */

/* NAME=value: the value alone if the name does not match. */
static const char *strip_word(struct tpa_strip *strip, const char *word)
{
	const char *equal = strchr(word, '=');
	size_t name = equal ? (size_t)(equal - word) + 1 : 0;

	for (size_t i = 0; i + 1 < name; i++)
		if (!isupper((unsigned char)word[i]) && !isdigit((unsigned char)word[i]) && word[i] != '_')
			name = 0;
	if (name) {
		char *head = tpa_strndup(word, name), *all;
		const char *result;

		all = tpa_format("%s%s", head, tpa_strip_whole(strip, word + name));
		free(head);
		result = tpa_strip_whole(strip, all);
		result = result == all ? tpa_strip_keep(strip, all) : result;
		free(all);
		return result;
	}
	return tpa_strip_whole(strip, word);
}

/* Words with a NUL each. Returns their new length. */
static size_t strip_words(struct tpa_strip *strip, char *list, size_t length)
{
	char *copy = tpa_copy(list, length), *to = list;
	size_t at = 0;

	while (at < length) {
		char *word = tpa_strndup(copy + at, length - at);
		const char *now = strip_word(strip, word);

		at += strlen(word) + 1;
		memcpy(to, now, strlen(now));
		to += strlen(now);
		if (at <= length)
			*to++ = '\0';
		free(word);
	}
	free(copy);
	return (size_t)(to - list);
}

struct texts {
	struct tpa_strip *strip;
	uint8_t *from, *to; /* the header as it was, and a copy that has its texts alone */
	size_t length;
};

static void strip_span(const struct texts *texts, struct tprof_span *span, bool list)
{
	uint8_t *at = texts->from + span->offset;

	if (span->offset < sizeof(struct tprof_header) || span->offset > texts->length ||
	    span->length > texts->length - span->offset) {
		*span = (struct tprof_span){ 0 };
		return;
	}
	if (list) {
		span->length = (uint32_t)strip_words(texts->strip, (char *)at, span->length);
	} else {
		replace(texts->strip, at, span->length);
		span->length = (uint32_t)strnlen((const char *)at, span->length);
	}
	memcpy(texts->to + span->offset, at, span->length);
}

/* Copies the texts one by one, so that nothing else behind the header stays. */
static void strip_texts(struct tpa_strip *strip, struct tprof_header *header, uint8_t *bytes, size_t length)
{
	struct texts texts = { strip, bytes, tpa_zalloc(1, length), length };

	for (unsigned i = 0; i < TPROF_TEXT_COUNT; i++)
		strip_span(&texts, &header->text[i],
			   i == TPROF_TEXT_ARGS || i == TPROF_TEXT_ENV || i == TPROF_TEXT_SOURCE);
	strip_span(&texts, &header->job, true);
	memcpy(bytes + sizeof(*header), texts.to + sizeof(*header), length - sizeof(*header));
	free(texts.to);
}

static void strip_header(void *context, uint8_t *bytes, size_t length)
{
	struct tpa_strip *strip = context;
	struct tprof_header header;

	if (length < sizeof(header)) {
		tpa_strip_runs(strip, bytes, length);
		return;
	}
	memcpy(&header, bytes, sizeof(header));
	strip_texts(strip, &header, bytes, length);
	for (unsigned i = 0; i < TPROF_UNTRACED_MAX; i++)
		replace(strip, (uint8_t *)header.untraced[i].name, sizeof(header.untraced[i].name));
	memset(header.control_text, 0, sizeof(header.control_text));
	header.control_text_length = 0;
	memcpy(bytes, &header, sizeof(header));
}

struct tpa_compact_edit tpa_strip_edit(struct tpa_strip *strip)
{
	return (struct tpa_compact_edit){ strip, strip_header, strip_record };
}
