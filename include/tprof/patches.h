/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libtprof.so wants to be written into the code of a program that it was attached to. Its other threads run, so
 * `tprof attach` writes it, while they stand elsewhere; `tprof detach` writes back what was there.
 */
#ifndef TPROF_PATCHES_H
#define TPROF_PATCHES_H

#include <stdint.h>

#define TPROF_PATCH_BYTES 15

struct tprof_patch {
	uint64_t at;
	uint8_t count;	/* bytes */
	uint8_t wanted; /* 0: `was` is to be there */
	uint8_t bytes[TPROF_PATCH_BYTES], was[TPROF_PATCH_BYTES];
};

struct tprof_patches {
	uint64_t count;
	struct tprof_patch list[];
};

#endif
