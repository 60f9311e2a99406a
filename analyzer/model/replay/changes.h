/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each event of a process changed of that which the sums over all processes are made of. A replay tells it while it runs, by
 * itself, so that processes can be replayed side by side and one after the other; together.c reads it again, merged by time.
 * It takes 5 to 6 bytes an allocation or free, 2 to 4 bytes an event that changes nothing.
 */
#ifndef TPROF_MODEL_REPLAY_CHANGES_H
#define TPROF_MODEL_REPLAY_CHANGES_H

#include "base/stream.h"
#include "model/replay/replay.h"

/* Samples and readings of the memory, as the sum of what is resident needs them. */
struct tpa_resident_facts {
	bool said;	 /* a sample has said what RSS consists of: `shared` is known */
	uint64_t shared; /* of files and shared memory, by that sample */
	uint64_t faults; /* page faults so far that needed no disk */
	uint64_t readings;
	uint64_t inherited, rss, private; /* of struct tpa_makeup: `inherited`, and of `end` */
};

/* A region of a reading of smaps. */
struct tpa_read_region {
	struct tpa_region is;
	size_t first,
		count; /* of a forked process's private memory: what it mapped there itself, in the reading's ranges */
};

struct tpa_reading {
	struct tpa_read_region *regions;
	size_t region_count, region_room;
	struct tpa_range *ranges; /* their `site` is unused */
	size_t range_count, range_room;
};

/* The changes of one process, and how far they were written or read. */
struct tpa_changes {
	const struct tpa_trace *trace;
	bool forked; /* the run has a trace of the process that forked it */
	bool forks;  /* it forked others: its mappings are told */
	uint64_t start_ns, end_ns;
	bool cut;	   /* it has events after `to` */
	uint64_t readings; /* before the first change */
	struct tpa_stream stream;
	struct tpa_map_changes mapped; /* by the event that is written */

	struct tpa_point now;
	struct tpa_resident_facts resident;
	uint64_t time_ns; /* written: of the last change; read: of the next one */
	bool more;	  /* read: there is a next one */
	uint8_t next;	  /* its flags */
	struct tpa_maps maps;
};

/* trace, forked and forks are set; the rest is zero. */
void tpa_changes_init(struct tpa_changes *changes, struct tpa_store *store);
void tpa_changes_free(struct tpa_changes *changes);

/* ---- writing ---- */

/*
 * The replay was just opened, and is to be written from here on. `loaded`: from a checkpoint; what it has then is a change of its
 * own, at the process's start. Forgets what was written before.
 */
void tpa_changes_begin(struct tpa_changes *changes, struct tpa_replay *replay, bool loaded);

/* The event at that time was replayed. */
void tpa_changes_note(struct tpa_changes *changes, struct tpa_replay *replay, uint64_t time_ns);

/* The replay has no more events. It may be freed afterwards. */
void tpa_changes_end(struct tpa_changes *changes, const struct tpa_replay *replay);

/* ---- reading ---- */

/* Goes to the first change: changes->more says whether there is one, changes->time_ns when it happened. */
void tpa_changes_open(struct tpa_changes *changes);

/* Makes the next change, and finds the one behind it. A reading of smaps is put into *reading. */
void tpa_changes_step(struct tpa_changes *changes, struct tpa_reading *reading);

#endif
