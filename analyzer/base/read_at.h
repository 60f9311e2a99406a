/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_BASE_READ_AT_H
#define TPROF_BASE_READ_AT_H

#include <stddef.h>
#include <stdint.h>

/* pread of exactly `size` bytes; less at the file's end or on an error. Returns the bytes read. */
size_t tpa_read_at(int fd, void *buffer, size_t size, uint64_t offset);

#endif
