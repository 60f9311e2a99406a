/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow. */
#ifndef TPROF_BASE_RESERVE_H
#define TPROF_BASE_RESERVE_H

#include <stdbool.h>
#include <stddef.h>

/* Room for `need` elements of `size` bytes in *list (grows by doubling). False: no memory; *list is as it was. */
bool tp_reserve(void *list, size_t *room, size_t need, size_t size);

#endif
