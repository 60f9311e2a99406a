/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json/json_writer.h"

#include <string.h>

#define INDENT 2 /* columns for each level */

/* A line ends, and the next one begins where members of the innermost object or list do. */
static void end_line(const struct tpa_json_writer *writer)
{
	fprintf(writer->out, "\n%*s", writer->depth * INDENT, "");
}

static void begin(struct tpa_json_writer *writer, char bracket)
{
	fputc(bracket, writer->out);
	writer->depth++;
	writer->filled = false;
}

static void end(struct tpa_json_writer *writer, char bracket)
{
	writer->depth--;
	if (writer->filled)
		end_line(writer);
	fputc(bracket, writer->out);
	writer->filled = true;
}

/* Newlines stand between lines alone: those of strings are escaped. */
static int put_text(const char *text, size_t size, void *context)
{
	const struct tpa_json_writer *writer = context;
	const char *end = text + size, *newline;

	while ((newline = memchr(text, '\n', (size_t)(end - text))) != NULL) {
		fwrite_unlocked(text, 1, (size_t)(newline - text), writer->out);
		end_line(writer);
		text = newline + 1;
	}
	fwrite_unlocked(text, 1, (size_t)(end - text), writer->out);
	return ferror_unlocked(writer->out) ? -1 : 0;
}

static void put_value(struct tpa_json_writer *writer, json_t *value)
{
	json_dump_callback(value, put_text, writer, JSON_INDENT(INDENT) | JSON_ENCODE_ANY);
}

/* The place of the next member, and its key; `key` NULL: an element of a list. */
static void next(struct tpa_json_writer *writer, const char *key)
{
	json_t *name = key ? json_string(key) : NULL;

	if (writer->filled)
		fputc(',', writer->out);
	end_line(writer);
	writer->filled = true;
	if (!name)
		return;
	put_value(writer, name);
	json_decref(name);
	fputs(": ", writer->out);
}

static void begin_object(struct tpa_json_writer *writer, FILE *out)
{
	*writer = (struct tpa_json_writer){ .out = out };
	begin(writer, '{');
}

void tpa_json_begin(struct tpa_json_writer *writer, FILE *out)
{
	begin_object(writer, out);
	tpa_json_put(writer, "schema", json_string("tprof/1"));
}

void tpa_json_end(struct tpa_json_writer *writer)
{
	end(writer, '}');
	fputc('\n', writer->out);
}

void tpa_json_put(struct tpa_json_writer *writer, const char *key, json_t *value)
{
	if (!value)
		return;
	next(writer, key);
	put_value(writer, value);
	json_decref(value);
}

void tpa_json_put_all(struct tpa_json_writer *writer, json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value) {
		tpa_json_put(writer, key, json_incref(value));
	}
	json_decref(object);
}

void tpa_json_put_each(struct tpa_json_writer *writer, const char *key, size_t count,
		       json_t *(*make)(void *context, size_t index), void *context)
{
	if (count == 1) {
		tpa_json_put_all(writer, make(context, 0));
		return;
	}
	next(writer, key);
	begin(writer, '[');
	for (size_t i = 0; i < count; i++)
		tpa_json_put(writer, NULL, make(context, i));
	end(writer, ']');
}

void tpa_json_write(json_t *object, FILE *out)
{
	struct tpa_json_writer writer;

	begin_object(&writer, out);
	tpa_json_put_all(&writer, object);
	tpa_json_end(&writer);
}
