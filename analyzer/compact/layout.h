/* SPDX-License-Identifier: Apache-2.0 */
/* What a compact trace's frames hold, as tprof-trace(5) says. */
#ifndef TPROF_COMPACT_LAYOUT_H
#define TPROF_COMPACT_LAYOUT_H

#include <tprof/format.h>

#define TPA_COMPACT_MAGIC "TPROFZ\r\n" /* 8 bytes, without the terminating NUL */
#define TPA_COMPACT_VERSION 1u

/* Frames: the first one, the header, the list of chunks, the groups, the names. */
enum { TPA_FRAME_FIRST, TPA_FRAME_HEADER, TPA_FRAME_CHUNKS, TPA_FRAME_GROUPS };

struct tpa_compact_first {
	uint8_t magic[8];
	uint32_t version, header_size, chunk_size, groups;
	uint64_t trace_bytes;
	uint32_t names; /* 1: a frame of names follows the groups */
	uint32_t reserved;
};

struct tpa_compact_chunk {
	struct tprof_chunk head; /* as in the trace; behind its end zeros */
	uint32_t length;	 /* bytes of its records that are kept */
	uint32_t group;		 /* from 1 on; 0: none are kept */
};

#define TPA_GROUP_CHUNKS 128u
#define TPA_GROUP_BYTES (8u << 20) /* of records, unless one chunk has more */

/* A trace has no more bytes than these. Larger ones are damage, so that memory and time stay in proportion to the file. */
#define TPA_COMPACT_RATIO 1024u
#define TPA_COMPACT_BASE (UINT64_C(16) << 20)
#define TPA_COMPACT_CHUNKS (UINT32_C(1) << 21)

#endif
