/* SPDX-License-Identifier: Apache-2.0 */
/* zstd's skippable frames and seek table, as they stand in the file; numbers are little endian. */
#ifndef TPROF_COMPACT_SEEK_TABLE_H
#define TPROF_COMPACT_SEEK_TABLE_H

#include <stdint.h>

#define TPA_SKIPPABLE_FIRST 0x184d2a50u
#define TPA_SKIPPABLE_SEEK 0x184d2a5eu
#define TPA_SKIPPABLE_HEAD 8u /* magic and length */
#define TPA_SEEK_MAGIC 0x8f92eab1u
#define TPA_SEEK_ENTRY 8u /* without the checksum that the format allows */

struct tpa_seek_footer {
	uint32_t count;
	uint8_t flags;
	uint32_t magic;
} __attribute__((packed));

#endif
