/* SPDX-License-Identifier: Apache-2.0 */
/* What the process's resident memory was made of, at one moment. */
#ifndef TPROF_REPORT_TEXT_RESIDENT_LISTING_H
#define TPROF_REPORT_TEXT_RESIDENT_LISTING_H

#include "model/samples/resident.h"
#include "report/text/listing.h"

/*
 * A table of the moment, the largest first: who mapped memory, what the heap has free, which modules' data, which files. Nothing
 * where all but a little is live blocks and files. listing->by: by function and by line, stacks that have it in common are one row.
 */
void tpa_makeup_print(const struct tpa_listing *listing, size_t process, const struct tpa_makeup_moment *moment,
		      const char *title);

/*
 * Of a forked process: what it copied of its parent's memory by writing to it. False: nothing worth a word. `text` is a phrase
 * without an end: "84.9 MiB of its parent's memory ..."
 */
bool tpa_makeup_copied(const struct tpa_page *page, const struct tpa_process *process, char *text, size_t size);

#endif
