/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow. */
#ifndef TPROF_BASE_RESERVE_H
#define TPROF_BASE_RESERVE_H

#include <stdbool.h>
#include <stddef.h>

/* As tpa_grow(), which new code calls. Always true. */
bool tpa_reserve(void *list, size_t *room, size_t need, size_t size);

#endif
