/* SPDX-License-Identifier: Apache-2.0 */
/* Frames whose functions, files and lines the imported file itself names. */
#ifndef TPROF_IMPORT_GIVEN_NAMES_H
#define TPROF_IMPORT_GIVEN_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "symbols/location.h"

struct tpa_given_names;

struct tpa_given_names *tpa_given_names_new(void);
void tpa_given_names_free(struct tpa_given_names *names); /* NULL: does nothing */

/*
 * The places in the source of a frame that returns to `pc` in a module, or 0, innermost first. What is said of a place a second time is
 * ignored. The texts are copied.
 */
void tpa_given_names_add(struct tpa_given_names *names, uint32_t module, uint64_t pc,
			 const struct tpa_location *locations, size_t count);

/* As a compact trace holds them, with modules 1 to `modules`, all of which have names. A heap block of *length bytes. */
uint8_t *tpa_given_names_bytes(const struct tpa_given_names *names, uint32_t modules, size_t *length);

#endif
