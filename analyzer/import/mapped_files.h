/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of /proc/PID/maps that files carry along, as modules of a trace. */
#ifndef TPROF_IMPORT_MAPPED_FILES_H
#define TPROF_IMPORT_MAPPED_FILES_H

#include "import/source.h"

struct tpa_mapped_file {
	uint64_t start, end;
	uint32_t module;
};

struct tpa_mapped_files {
	struct tpa_mapped_file *list;
	size_t count, room;
	char *path; /* of the last one */
};

/* Adds the mapping of a line, if it is of a file. False: it is no line of maps. */
bool tpa_mapped_files_add(struct tpa_mapped_files *maps, struct tpa_source *source, char *line);
void tpa_mapped_files_free(struct tpa_mapped_files *maps);

/* The module in which an address lies; 0: none. */
uint32_t tpa_mapped_files_module(const struct tpa_mapped_files *maps, uint64_t address);

#endif
