/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_BASE_READ_AT_H
#define TPROF_BASE_READ_AT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* pread of exactly `size` bytes; less at the file's end or on an error. Returns the bytes read. */
size_t tpa_read_at(int fd, void *buffer, size_t size, uint64_t offset);

/* pwrite of exactly `size` bytes; false on an error, with some of them written. */
bool tpa_write_at(int fd, const void *buffer, size_t size, uint64_t offset);

#endif
