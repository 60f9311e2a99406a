/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that decide which names a module has: its own, its debug file, and those that would be its debug file if they
 * existed. Names that were kept hold as long as none of these changed, appeared or vanished.
 */
#ifndef TPROF_SYMBOLS_WITNESS_H
#define TPROF_SYMBOLS_WITNESS_H

#include "symbols/image.h"

struct tpa_witness {
	char *path; /* owned */
	struct tpa_file_identity {
		uint64_t device, inode, size, changed_ns; /* all 0: there is no such file */
	} file;
};

struct tpa_witnesses {
	struct tpa_witness *list;
	size_t count, room;
};

/* What is at a path now. */
struct tpa_file_identity tpa_file_identity(const char *path);

/*
 * Lists the witnesses of an open image. Returns false if its names depend on more than these: DWARF in files of its own, or
 * servers that may know later what they do not know now.
 */
bool tpa_witnesses_find(struct tpa_witnesses *witnesses, const struct tpa_image *image, const struct tpa_module *module,
			const char *debug_dir);

/* Is each file as it was? */
bool tpa_witnesses_hold(const struct tpa_witnesses *witnesses);

void tpa_witnesses_free(struct tpa_witnesses *witnesses);

#endif
