/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the resident memory of a process consists of. Each reading of smaps (TPROF_EVENT_REGION) is combined with what
 * the trace knows of the addresses at that moment: mappings by the stack that made them, live blocks, modules. The
 * collector takes a reading now and then; the one with the largest RSS and the last one are kept in full.
 */
#ifndef TPROF_MODEL_SAMPLES_RESIDENT_H
#define TPROF_MODEL_SAMPLES_RESIDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/payload.h"
#include "trace/trace.h"

enum tpa_makeup_part {
	TPA_MAKEUP_HEAP,      /* the allocator's memory: live blocks, and what it keeps besides them */
	TPA_MAKEUP_MAPPED,    /* private anonymous memory that the program mapped, by mmap, mremap or sbrk */
	TPA_MAKEUP_UNSEEN,    /* the same, but mapped by a system call of the program's own, which no hook saw */
	TPA_MAKEUP_STATIC,    /* .data and .bss of modules */
	TPA_MAKEUP_FILES,     /* code and other pages of files */
	TPA_MAKEUP_SHARED,    /* shared memory */
	TPA_MAKEUP_STACKS,    /* stacks of threads */
	TPA_MAKEUP_COLLECTOR, /* tprof's tables, its data, and the trace's pages */
	TPA_MAKEUP_OTHER,     /* the kernel's own mappings, and those for which there was no room */
	TPA_MAKEUP_PARTS,
};

/* Bytes at one reading; the parts add up to rss. */
struct tpa_makeup_sample {
	uint64_t time;		    /* event time; in results: in ns */
	uint64_t rss, pss, private; /* private: part of rss that no other process has */
	uint64_t anonymous;	    /* part of rss that is of no file */
	uint64_t swap;
	uint64_t live;	 /* requested bytes of live blocks */
	uint64_t copied; /* in a forked process: pages of its parent that it copied by writing to them */
	uint64_t parts[TPA_MAKEUP_PARTS];
};

/* The owner of a part of the memory, as far as known. */
struct tpa_makeup_owner {
	enum tpa_makeup_part part;
	uint32_t node;	 /* the stack that mapped it; TPROF_NODE_NONE: see file and module */
	uint32_t file;	 /* number of a file of the trace; 0: none */
	uint32_t module; /* index of a module of the trace + 1; 0: none */
	uint64_t bytes;
};

struct tpa_makeup_moment {
	struct tpa_makeup_sample sample; /* rss 0: there was no reading */
	struct tpa_makeup_owner *owners; /* each owner once, the largest first */
	size_t count, room;
};

struct tpa_makeup {
	/* The reading with the largest RSS. A later one after blocks were freed must have clearly more. */
	struct tpa_makeup_moment peak;
	struct tpa_makeup_moment end; /* the last reading */
	/* Readings in time order. If there are too many, only every second, fourth, ... one is kept. */
	struct tpa_makeup_sample *list;
	size_t count;
	uint64_t readings, mask;
	uint64_t pss_peak;
	/* Unowned memory was told apart from the allocator's; if not, TPA_MAKEUP_HEAP includes TPA_MAKEUP_UNSEEN. */
	bool judged;
	uint64_t inherited; /* in a forked process: anonymous memory that it began with */
};

/* What a forked process copied of the memory that an ancestor of it had mapped. */
struct tpa_copied {
	size_t process; /* index of the ancestor in the run */
	uint32_t node;	/* the stack that mapped it, of the ancestor's trace */
	uint64_t bytes;
};

/* At its last reading. */
struct tpa_copies {
	struct tpa_copied *list;
	size_t count, room;
};

#define TPA_COPIES_MOST 256u

/* What all processes of a run have resident at a moment. Bytes. */
struct tpa_resident_together {
	uint64_t rss;		   /* each page once: anonymous + files */
	uint64_t anonymous, files; /* files: and shared memory */
	uint64_t separate;	   /* the sum of each process's RSS, which counts shared pages again */
	uint64_t pss;		   /* like rss, but of files only the share of these processes */
	uint64_t time_ns;	   /* since the run's start */
};

#define TPA_MAKEUP_SAMPLES 1024u

/*
 * Sets *bytes to the size of a part at that time, interpolated linearly between two readings. False: there is no
 * reading.
 */
bool tpa_makeup_at(const struct tpa_makeup *makeup, uint64_t time, enum tpa_makeup_part part, double *bytes);

/* The number of kept readings up to `time`. Two times without a reading between them get the same number. */
size_t tpa_makeup_reading(const struct tpa_makeup *makeup, uint64_t time);

/* The path of the owner's file or module; NULL: it has none. */
const char *tpa_makeup_path(const struct tpa_trace *trace, const struct tpa_makeup_owner *owner);

/* The key of a part in JSON: "heap", "mapped", ... */
const char *tpa_makeup_key(enum tpa_makeup_part part);

void tpa_makeup_free(struct tpa_makeup *makeup);

/* ---- for the replay ---- */

/* A region of the reading that is in progress. */
struct tpa_makeup_region {
	struct tpa_region is;
	uint64_t rest, space;	   /* not yet assigned to an owner: bytes of RSS, and of address space */
	uint64_t blocks;	   /* bytes of live blocks in the region */
	uint64_t own;		   /* part of `blocks`: bytes in blocks with their own mapping */
	uint64_t arena;		   /* start of the first of glibc's arenas in the region; 0: there is none */
	uint64_t heap, heap_space; /* malloc's part of an anonymous region: bytes of RSS, and of address space */
};

struct tpa_makeup_state {
	struct tpa_makeup result;
	struct tpa_makeup_region *list; /* list[0..plain) by address, then thread stacks and the like */
	size_t count, room, plain;
	uint32_t thread;
	uint64_t looked; /* number of blocks looked at so far */
	bool began;	 /* `inherited` is known */
};

/* Saves the state, or loads it into one that is all zero. */
struct tpa_archive;
void tpa_makeup_archive(struct tpa_archive *archive, struct tpa_makeup_state *state);
void tpa_makeup_state_free(struct tpa_makeup_state *state);

#endif
