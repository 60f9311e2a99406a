/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The places of a ring's chunks (TPROF_RING, tprof-trace(5)), shared with the program that writes it and with other processes,
 * which may write anything there. Nothing else but trace/control.h and trace/append.h writes to another program's trace.
 */
#ifndef TPROF_TRACE_RING_H
#define TPROF_TRACE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tprof/format.h>

struct tpa_ring {
	struct tprof_header *header; /* mapped shared */
	uint8_t *states;	     /* enum tprof_place of each place, mapped shared */
	void *index;		     /* where chunk 0 is mapped */
	int fd;			     /* the caller's */
	uint32_t places;
};

/* Maps the ring of a trace that is open for reading and writing. False: it is not a ring. */
bool tpa_ring_open(struct tpa_ring *ring, int fd);
void tpa_ring_close(struct tpa_ring *ring);

/* Whether a process folds the ring of that file, perhaps after the program has ended. */
bool tpa_ring_has_folder(int fd);

/* Makes this process the folder, as long as the file is open here. False: the ring has one. */
bool tpa_ring_become_folder(int fd);

/* Places that may be used: fewer than there were at first if the disk was full. */
uint32_t tpa_ring_usable(const struct tpa_ring *ring);

/* Whether threads wait for room, or nearly. */
bool tpa_ring_is_waited_for(const struct tpa_ring *ring);

/* Places that were never used, and free ones. */
uint64_t tpa_ring_left(const struct tpa_ring *ring);

/* Takes a place for a chunk that the caller writes. 0: none is left. */
uint32_t tpa_ring_take(struct tpa_ring *ring);

/* Empties the place's chunk, so that the program or tpa_ring_take() may take it. */
void tpa_ring_free(struct tpa_ring *ring, uint32_t place);

/* The number of a chunk's place, and the place of a chunk's header in the file. */
uint32_t tpa_ring_place(uint64_t offset);
uint64_t tpa_ring_offset(uint32_t place);

/*
 * Compresses the bytes of a checkpoint and sets checkpoint->bytes; the caller frees them. NULL: they can't be compressed.
 */
uint8_t *tpa_ring_compress(const uint8_t *bytes, size_t size, struct tprof_checkpoint *checkpoint);

/*
 * Writes a checkpoint with the next number, makes it the valid one, and frees the chunks of the one before it. False: there is no
 * room for it (noted in the header), or it can't be written; the one before it stays valid.
 */
bool tpa_ring_write(struct tpa_ring *ring, const struct tprof_checkpoint *checkpoint, const uint8_t *bytes);

/*
 * Around the copying of a ring that is being written (trace/ring_copy.h) and around the writing of a checkpoint with the freeing
 * of chunks, so that neither disturbs the other. A writer waits for readers, but not for long; a reader looks afterwards whether
 * the checkpoint is still the same one. The lock belongs to the open file.
 */
void tpa_ring_lock_to_read(int fd);
void tpa_ring_lock_to_write(int fd);
void tpa_ring_unlock(int fd);

/* Frees the chunks of checkpoints that are not valid: of a folder that was killed. */
void tpa_ring_clean(struct tpa_ring *ring);

#endif
