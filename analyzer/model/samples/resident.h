/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the process's resident memory is made of: each reading of smaps (TPROF_EVENT_REGION), with what the trace knows of the
 * addresses at that moment: mappings by the stack that made them, live blocks, modules. The collector reads now and then; the
 * reading with the largest RSS and the last one are kept in full.
 */
#ifndef TPROF_MODEL_SAMPLES_RESIDENT_H
#define TPROF_MODEL_SAMPLES_RESIDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/payload.h"
#include "trace/trace.h"

enum tpa_makeup_part {
	TPA_MAKEUP_HEAP,      /* the allocator's: live blocks, and what it keeps beside them */
	TPA_MAKEUP_MAPPED,    /* private anonymous memory that the program mapped, by mmap, mremap or sbrk */
	TPA_MAKEUP_UNSEEN,    /* ... by a system call of its own, which no hook saw */
	TPA_MAKEUP_STATIC,    /* .data and .bss of modules */
	TPA_MAKEUP_FILES,     /* code, and other pages of files */
	TPA_MAKEUP_SHARED,    /* shared memory */
	TPA_MAKEUP_STACKS,    /* of threads */
	TPA_MAKEUP_COLLECTOR, /* tprof's tables, its data, and the trace's pages */
	TPA_MAKEUP_OTHER,     /* the kernel's own; and mappings for which there was no place */
	TPA_MAKEUP_PARTS,
};

/* Bytes at one reading; the parts add up to rss. */
struct tpa_makeup_sample {
	uint64_t time;		    /* event time; in results: time_ns */
	uint64_t rss, pss, private; /* private: of rss, in no other process */
	uint64_t anonymous;	    /* of rss: no file's */
	uint64_t swap;
	uint64_t live;	 /* of live blocks, requested */
	uint64_t copied; /* of a forked process: of its parent's pages, those that became its own as it wrote to them */
	uint64_t parts[TPA_MAKEUP_PARTS];
};

/* Whose the memory of a part is, as far as there is anybody. */
struct tpa_makeup_owner {
	enum tpa_makeup_part part;
	uint32_t node;	 /* the stack that mapped it; TPROF_NODE_NONE: see file and module */
	uint32_t file;	 /* number of a file of the trace; 0: none */
	uint32_t module; /* index of a module of the trace, + 1; 0: none */
	uint64_t bytes;
};

struct tpa_makeup_moment {
	struct tpa_makeup_sample sample; /* rss 0: there was no reading */
	struct tpa_makeup_owner *owners; /* the largest first, each once */
	size_t count, room;
};

struct tpa_makeup {
	struct tpa_makeup_moment
		peak; /* the reading with the largest RSS; not one that is larger by little, with blocks freed */
	struct tpa_makeup_moment end;	/* the last reading */
	struct tpa_makeup_sample *list; /* readings in order of time; of many every second, fourth, ... one */
	size_t count;
	uint64_t readings, mask;
	uint64_t pss_peak;
	bool judged; /* what is nobody's can be told from the allocator's: else TPA_MAKEUP_UNSEEN is among TPA_MAKEUP_HEAP */
	uint64_t inherited; /* of a forked process: anonymous memory that it began with */
};

#define TPA_MAKEUP_SAMPLES 1024u

/* A part at a time, between two readings as if it had changed steadily. False: there is no reading. */
bool tpa_makeup_at(const struct tpa_makeup *makeup, uint64_t time, enum tpa_makeup_part part, double *bytes);

/* How many of the kept readings are not later than that: the same for two times between which there is none. */
size_t tpa_makeup_reading(const struct tpa_makeup *makeup, uint64_t time);

/* The path of its file or module; NULL: it has none. */
const char *tpa_makeup_path(const struct tpa_trace *trace, const struct tpa_makeup_owner *owner);

/* "heap", "mapped", ...: as JSON has it. */
const char *tpa_makeup_key(enum tpa_makeup_part part);

void tpa_makeup_free(struct tpa_makeup *makeup);

/* ---- for the replay ---- */

/* One region of the reading that is under way. */
struct tpa_makeup_region {
	struct tpa_region is;
	uint64_t rest, space;	   /* of what is not put down to anybody yet: bytes of RSS, and of addresses */
	uint64_t blocks;	   /* bytes of live blocks in it */
	uint64_t own;		   /* of these, of such as have a mapping of their own */
	uint64_t arena;		   /* where the first of glibc's arenas in it begins; 0: there is none */
	uint64_t heap, heap_space; /* of an anonymous one, of what malloc took: bytes of RSS, and of addresses */
};

struct tpa_makeup_state {
	struct tpa_makeup result;
	struct tpa_makeup_region *list; /* in order of address; thread stacks and the like stand behind `plain` */
	size_t count, room, plain;
	uint32_t thread;
	uint64_t looked; /* blocks that were looked at so far */
	bool began;	 /* `inherited` is known */
};

/* Saves, or loads into a state that is all zero. */
struct tpa_archive;
void tpa_makeup_archive(struct tpa_archive *archive, struct tpa_makeup_state *state);
void tpa_makeup_state_free(struct tpa_makeup_state *state);

#endif
