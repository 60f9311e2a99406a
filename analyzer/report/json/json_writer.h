/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes an object of JSON member by member, so that of a report of many processes no more is in memory than what is written just now.
 * A writer is for one thread.
 */
#ifndef TPROF_REPORT_JSON_JSON_WRITER_H
#define TPROF_REPORT_JSON_JSON_WRITER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct tpa_json_writer {
	FILE *out;   /* errors set ferror() */
	int depth;   /* how many objects and lists are open */
	bool filled; /* the innermost of them has a member */
};

/* A report, whose first member is the schema. What is put then are its members, until tpa_json_end(), which ends the line, too. */
void tpa_json_begin(struct tpa_json_writer *writer, FILE *out);
void tpa_json_end(struct tpa_json_writer *writer);

/* Writes a member, or all members of an object; drops the reference. NULL is no member. */
void tpa_json_put(struct tpa_json_writer *writer, const char *key, json_t *value);
void tpa_json_put_all(struct tpa_json_writer *writer, json_t *object);

/*
 * Makes and writes `count` objects, one after the other: the members of a single one; several, or none, as a list that is the member
 * `key`. make() returns a new reference.
 */
void tpa_json_put_each(struct tpa_json_writer *writer, const char *key, size_t count,
		       json_t *(*make)(void *context, size_t index), void *context);

/* Writes a whole object that has its schema, and drops the reference. */
void tpa_json_write(json_t *object, FILE *out);

#endif
