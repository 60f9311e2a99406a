/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the makeup of the process's resident memory at one moment. */
#ifndef TPROF_REPORT_TEXT_RESIDENT_LISTING_H
#define TPROF_REPORT_TEXT_RESIDENT_LISTING_H

#include "model/samples/resident.h"
#include "report/text/listing.h"

/*
 * Prints a table for the moment, the largest first: who mapped memory, the heap's free memory, modules' data, files.
 * Prints nothing if nearly all is live blocks and files. With listing->by function or line, stacks that share it form
 * one row.
 */
void tpa_makeup_print(const struct tpa_listing *listing, size_t process, const struct tpa_makeup_moment *moment,
		      const char *title);

/*
 * Of a forked process: the memory of its parent that it copied by writing to it. Returns false if it is not worth
 * mentioning. `text` is an unfinished phrase: "84.9 MiB of its parent's memory ..."
 */
bool tpa_makeup_copied(const struct tpa_page *page, const struct tpa_process *process, char *text, size_t size);

#endif
