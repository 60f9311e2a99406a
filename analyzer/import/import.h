/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a trace of what another profiler has recorded. */
#ifndef TPROF_IMPORT_IMPORT_H
#define TPROF_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct tpa_imported {
	/* Names of the trace's frames as a compact trace holds them, a heap block; NULL: they come from the program's files. */
	uint8_t *names;
	size_t names_length;
	char *cut; /* why the file is not whole, and from which line on it is left out, a heap string; NULL: it is whole */
};

/*
 * Reads `file`, of which the first bytes tell the format, and writes a trace to `to`, which is empty and can be sought in. False:
 * *error (a heap string) says what was wrong in which line, and what is allowed; or why `to` could not be written.
 */
bool tpa_import(const char *file, FILE *to, struct tpa_imported *imported, char **error);
void tpa_imported_free(struct tpa_imported *imported);

#endif
