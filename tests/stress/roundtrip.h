/* SPDX-License-Identifier: Apache-2.0 */
/* What events_stress wrote, for the reader that is to find the same (tests/unit/roundtrip_test.c). */
#ifndef STRESS_ROUNDTRIP_H
#define STRESS_ROUNDTRIP_H

#include <stdint.h>

enum roundtrip_kind {
	ROUNDTRIP_ALLOC,
	ROUNDTRIP_FREE,
	ROUNDTRIP_CANCEL,
	ROUNDTRIP_MAP,
	ROUNDTRIP_UNMAP,
	ROUNDTRIP_MEMORY,
	ROUNDTRIP_SAMPLE,
	ROUNDTRIP_OP,
	ROUNDTRIP_OP_END,
	ROUNDTRIP_STEP,
	ROUNDTRIP_DETAIL,
	ROUNDTRIP_MARK,
	ROUNDTRIP_KINDS
};

/* Fields mean what they mean in the call that wrote the event; those of other kinds are 0. */
struct roundtrip_event {
	uint32_t thread, kind; /* enum roundtrip_kind */
	uint64_t time;	       /* shifted ticks */
	uint64_t address, size, usable, protection;
	uint32_t node;
	uint8_t fn, alignment, flag; /* flag: of a remap; unwound */
	char text[49];
};

#endif
