/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private side of an open trace. The file is read with pread and never mapped, so that a file that is truncated while it is
 * read causes no SIGBUS.
 */
#ifndef TPROF_TRACE_IMPL_H
#define TPROF_TRACE_IMPL_H

#include "base/memory.h"
#include "compact/compact.h"
#include "trace/chunks.h"
#include "trace/made.h"

struct tpa_jit_times;
struct tpa_tables;

#define TPA_NUMBERS_MAX 0x7fffffffu /* frames, nodes and modules have numbers below it at most */

/* nanoseconds = (ticks - origin) * mult >> 32; never negative. */
struct tpa_clock {
	uint64_t origin;
	uint64_t mult;
};

struct tpa_trace_impl {
	struct tpa_trace trace;
	struct tprof_header header;
	int file, fd;			  /* the file; what is read of it: the same, or a copy */
	struct tpa_compact *compact;	  /* reads the trace out of a compact one; NULL: the file is the trace */
	bool in_place;			  /* a ring that is being written is not to be copied */
	uint64_t header_size, chunk_size; /* checked */
	uint64_t number_limit;		  /* frames, nodes and modules have numbers below it */
	uint64_t thread_limit;		  /* threads */
	struct tpa_chunks events, tables; /* events in order of begin */
	struct tpa_tables *records;	  /* of the table chunks, see trace/records.h */
	struct tpa_made made;		  /* of these, the trace's frames and nodes */
	struct tpa_chunks states;	  /* parts of checkpoints, of a ring */
	struct tprof_moment first;	  /* when the file's first chunk began; ticks 0: it is damaged or gone */
	struct tprof_moment now;	  /* when the file was opened, if its process still writes it; else 0 */
	struct tpa_clock clock;
	char *text;   /* the strings of the header */
	char **lists; /* pointers of args and env */
	size_t damage_room;
	size_t opening_damage; /* entries of the damage list that were found before any event was read */
	char **reasons;	       /* of damage from saved states: owned */
	size_t reason_count, reason_room;
	struct tpa_merge *readers; /* that are open, see trace/merge.c */
	bool has_jit;		   /* a frame is in no module */
	bool jit_asked;		   /* tpa_jit_load() was called, with */
	char *jit_folder;	   /* this; may be NULL */
	uint8_t *
		whole; /* trace/lost_records.h: of each node number of the file, whether its records are all there; NULL: none is missing */
	size_t whole_count;
	struct tpa_jit_times *jit_times; /* NULL: each node's stack is the same at all times */
};

static inline struct tpa_trace_impl *tpa_impl(const struct tpa_trace *trace)
{
	return trace->impl;
}

/* The time by a writer's clock (enum tprof_clock), on the same machine. */
struct tprof_moment tpa_moment_now(uint32_t clock);

/* Whether a process writes the file with that header now. */
bool tpa_alive_writes(int fd, const struct tprof_header *header);

/* Around a refresh, the readers of events save how far they are and continue from there in the later trace. */
void tpa_readers_save(struct tpa_trace_impl *impl);
void tpa_readers_resume(struct tpa_trace_impl *impl);

/* Reads `size` bytes of the trace, wherever they are in the file; less at its end or on an error. Returns the bytes read. */
size_t tpa_trace_bytes_at(const struct tpa_trace_impl *impl, void *buffer, size_t size, uint64_t offset);

/* How many bytes the trace has now; 0: that can't be said. */
uint64_t tpa_trace_size(const struct tpa_trace_impl *impl);

/* Notes what could not be read. The same place and reason are noted once; the list is bounded. */
void tpa_damage_add(struct tpa_trace *trace, uint64_t offset, uint64_t lost_bytes, const char *reason);

/* Opens the file unless it is open, and sets trace.file_bytes. False: *error says why it can't be (a heap string). */
bool tpa_file_open(struct tpa_trace_impl *impl, char **error);

/* Reads what the file has gained; of a trace that was just made, everything. False: as tpa_trace_refresh() has it. */
bool tpa_trace_update(struct tpa_trace_impl *impl, char **error);

/* False: *error says why the file can't be read at all (a heap string, the caller frees). */
bool tpa_header_read(struct tpa_trace_impl *impl, char **error);

/* Finds the chunks; the event chunks' committed lengths are taken before the tables are read. */
void tpa_chunks_scan(struct tpa_trace_impl *impl);

/* Computes what follows from the list of event chunks. */
void tpa_chunks_settle(struct tpa_trace_impl *impl);

/* Adds the event chunks that were there before and no longer are. */
void tpa_chunks_keep(struct tpa_trace_impl *impl, const struct tpa_chunks *before);

/* Chunks in order of begin, for qsort(). */
int tpa_chunks_by_begin(const void *a, const void *b);

/* Sets the costs of the chunks, which are in order of begin. */
void tpa_chunks_find_costs(struct tpa_chunks *chunks);

/* What recording one event took in all chunks, and what all events of one chunk took, in ticks. */
double tpa_chunks_usual(const struct tpa_chunks *chunks);
double tpa_chunk_recording(const struct tpa_chunk *chunk, double usual);

/* For each chunk, whether the cost of its own events or of later chunks of its thread depends on it. The caller frees it. */
bool *tpa_chunks_needed(const struct tpa_chunks *chunks);

/* Reads what the tables have gained: modules, frames, nodes, ops and facts about the run. */
void tpa_tables_read(struct tpa_trace_impl *impl);
void tpa_tables_free(struct tpa_tables *tables);

/* Takes back tpa_trace_split_regions(), so that ops may be added. */
void tpa_regions_drop(struct tpa_trace *trace);

/* For a trace without an end, sets trace.running, trace.written and `now`; or reads the end, if it was written just now. */
void tpa_alive_find(struct tpa_trace_impl *impl);

void tpa_clock_fit(struct tpa_trace_impl *impl);

/*
 * The begins of chunks from which the clock is fitted: the time since the start is divided into at most TPA_MOMENTS parts of 2^n
 * ticks, and each part's first begin is taken (ticks 0: it has none). Those of a longer trace are among those of its begin.
 */
void tpa_clock_moments(const struct tpa_trace_impl *impl, struct tprof_moment *few);

#endif
