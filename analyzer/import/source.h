/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the import: a file of a known format on its way into a trace. */
#ifndef TPROF_IMPORT_SOURCE_H
#define TPROF_IMPORT_SOURCE_H

#include "import/given_names.h"
#include "import/lines.h"
#include "import/trace_writer.h"

struct tpa_source {
	const char *file;
	struct tpa_lines *lines;
	struct tpa_trace_writer *writer;
	struct tpa_given_names *names; /* NULL: until the file names a frame */
	uint32_t modules;	       /* that were written */
	char *exe;		       /* heap strings; NULL: unknown */
	char *command;		       /* the words of the command line, with blanks between them */
	char **notes;		       /* what the trace says of itself: the first one is what it was imported from */
	size_t note_count, note_room;
	uint64_t sample_bytes;
	uint32_t pid, depth;
	char *error; /* the first error */
};

/* Reads a format to the file's end. False: source->error is set. */
typedef bool tpa_import_format(struct tpa_source *source);

tpa_import_format tpa_import_heaptrack, tpa_import_massif, tpa_import_gperftools;

/* The frame's names; see tpa_given_names_add(). */
void tpa_source_name(struct tpa_source *source, uint32_t module, uint64_t pc, const struct tpa_location *locations,
		     size_t count);

/* Adds a sentence that reports print as a note. */
void tpa_source_note(struct tpa_source *source, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Keeps "FILE: line N: " and the text as the error, unless there is one; false, always. */
bool tpa_source_wrong(struct tpa_source *source, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- the parts of a line ---- */

/* Skips blanks and reads a number without a sign that ends at a blank, at one of `ends`, or with the line. False: there is none. */
bool tpa_read_hex(char **at, uint64_t *number);
bool tpa_read_decimal(char **at, const char *ends, uint64_t *number);

/* If the line goes on with `text`, moves behind it. */
bool tpa_read_text(char **at, const char *text);

#endif
