/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "import/source.h"

#define FORMATS                                                                                                        \
	"heaptrack's (raw or interpreted), massif's and gperftools' heap profiles can be imported, gzip or zstd "      \
	"compressed or not"

static const struct {
	const char *begins; /* the file's first bytes */
	tpa_import_format *read;
	const char *refusal; /* why it is not read */
} formats[] = {
	{ "v ", tpa_import_heaptrack, NULL },
	{ "desc:", tpa_import_massif, NULL },
	{ "heap profile:", tpa_import_gperftools, NULL },
	{ "memray", NULL,
	  "is memray's, whose format is not documented and changes with memray's versions: record the program "
	  "with tprof run instead; " FORMATS },
	{ "TPROF", NULL, "is a trace of tprof already" },
};

void tpa_source_name(struct tpa_source *source, uint32_t module, uint64_t pc, const struct tpa_location *locations,
		     size_t count)
{
	if (!source->names)
		source->names = tpa_given_names_new();
	tpa_given_names_add(source->names, module, pc, locations, count);
}

void tpa_source_note(struct tpa_source *source, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tpa_need(vasprintf(TPA_APPEND(source->notes, source->note_count, source->note_room), format, args) >= 0);
	va_end(args);
}

bool tpa_source_wrong(struct tpa_source *source, const char *format, ...)
{
	va_list args;
	char *text;

	if (source->error)
		return false;
	va_start(args, format);
	tpa_need(vasprintf(&text, format, args) >= 0);
	va_end(args);
	source->error = tpa_format("%s: line %" PRIu64 ": %s", source->file, tpa_lines_number(source->lines), text);
	free(text);
	return false;
}

/* ---- the parts of a line ---- */

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : 16;
}

static bool read_number(char **at, int base, const char *ends, uint64_t *number)
{
	uint64_t value = 0;
	char *c = *at;
	const char *begin;

	while (*c == ' ' || *c == '\t')
		c++;
	begin = c;
	for (; digit(*c) < base; c++)
		if (__builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, digit(*c), &value))
			return false;
	if (c == begin || (*c && *c != ' ' && !strchr(ends, *c)))
		return false;
	*number = value;
	*at = c;
	return true;
}

bool tpa_read_hex(char **at, uint64_t *number)
{
	return read_number(at, 16, "", number);
}

bool tpa_read_decimal(char **at, const char *ends, uint64_t *number)
{
	return read_number(at, 10, ends, number);
}

bool tpa_read_text(char **at, const char *text)
{
	size_t length = strlen(text);

	if (strncmp(*at, text, length) != 0)
		return false;
	*at += length;
	return true;
}

/* ---- the whole ---- */

/* A NUL behind each word. */
static char *words_of(const char *command, size_t *length)
{
	char *words = tpa_zalloc(1, strlen(command) + 1), *to = words;

	for (const char *c = command; *c; c++) {
		if (*c != ' ')
			*to++ = *c;
		else if (to > words && to[-1])
			*to++ = 0;
	}
	if (to > words && to[-1])
		*to++ = 0;
	*length = (size_t)(to - words);
	return words;
}

/* The notes, a NUL behind each. */
static char *joined_notes(const struct tpa_source *source, size_t *length)
{
	size_t total = 0;
	char *all, *to;

	for (size_t i = 0; i < source->note_count; i++)
		total += strlen(source->notes[i]) + 1;
	to = all = tpa_zalloc(1, total);
	for (size_t i = 0; i < source->note_count; i++)
		to = stpcpy(to, source->notes[i]) + 1;
	*length = total;
	return all;
}

static bool end_trace(struct tpa_source *source)
{
	struct tpa_trace_about about = { .exe = source->exe ? source->exe : "",
					 .pid = source->pid,
					 .depth = source->depth,
					 .sample_bytes = source->sample_bytes };
	char *notes = joined_notes(source, &about.source_length),
	     *words = words_of(source->command ? source->command : about.exe, &about.args_length);
	bool good;

	about.source = notes;
	about.args = words;
	good = tpa_trace_writer_end(source->writer, &about);
	if (!good)
		source->error = tpa_format("a temporary file can't be written: %s", strerror(errno));
	free(notes);
	free(words);
	return good;
}

static tpa_import_format *format_of(struct tpa_source *source)
{
	char begin[16] = "";
	size_t got = tpa_lines_peek(source->lines, begin, sizeof(begin) - 1);

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (strncmp(begin, formats[i].begins, strlen(formats[i].begins)) != 0)
			continue;
		if (!formats[i].read)
			source->error = tpa_format("%s: %s", source->file, formats[i].refusal);
		return formats[i].read;
	}
	if (got)
		source->error =
			tpa_format("%s: line 1: begins as no file that can be imported; " FORMATS, source->file);
	else
		source->error = tpa_format("%s: %s; " FORMATS, source->file,
					   tpa_lines_cut(source->lines) ?: "the file is empty");
	return NULL;
}

/* Reads the file to where it is cut short, and says so. */
static bool read_all(struct tpa_source *source, struct tpa_imported *imported)
{
	tpa_import_format *read = format_of(source);
	const char *cut;

	if (!read || !read(source))
		return false;
	cut = tpa_lines_cut(source->lines);
	if (!cut)
		return true;
	imported->cut = tpa_format("%s: %s: what follows line %" PRIu64 " is left out", source->file, cut,
				   tpa_lines_number(source->lines));
	tpa_source_note(source, "the file that was imported %s: what follows its line %" PRIu64 " is missing", cut,
			tpa_lines_number(source->lines));
	return true;
}

static void free_source(struct tpa_source *source)
{
	tpa_trace_writer_free(source->writer);
	tpa_lines_close(source->lines);
	tpa_given_names_free(source->names);
	for (size_t i = 0; i < source->note_count; i++)
		free(source->notes[i]);
	free((void *)source->notes);
	free(source->exe);
	free(source->command);
}

bool tpa_import(const char *file, FILE *to, struct tpa_imported *imported, char **error)
{
	struct tpa_source source = { .file = file, .lines = tpa_lines_open(file, error) };
	bool good;

	*imported = (struct tpa_imported){ 0 };
	if (!source.lines)
		return false;
	source.writer = tpa_trace_writer_new(to);
	good = read_all(&source, imported) && end_trace(&source);
	if (good && source.names)
		imported->names = tpa_given_names_bytes(source.names, source.modules, &imported->names_length);
	*error = source.error;
	free_source(&source);
	return good;
}

void tpa_imported_free(struct tpa_imported *imported)
{
	free(imported->names);
	free(imported->cut);
}
