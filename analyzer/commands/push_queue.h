/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles on their way to a server that takes what Pyroscope's POST /ingest takes. One is sent at a time, by the program curl, while
 * the caller goes on; what the server does not take now is tried again later. Not thread-safe.
 */
#ifndef TPROF_COMMANDS_PUSH_QUEUE_H
#define TPROF_COMMANDS_PUSH_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tpa_push_queue;

struct tpa_push_counts {
	uint64_t pushed, dropped, refused; /* refused: by the server, for good */
	char reason[200];		   /* of the last failure; "": none */
};

/* `url`: of the server; without a path it is /ingest. It must outlive the queue. */
struct tpa_push_queue *tpa_push_open(const char *url);

/*
 * Adds a profile, in pprof's format and compressed, of [from, until) in unix seconds. Takes `bytes`. Drops the oldest if there are too
 * many. `name`: the application's, with labels; not used if the URL has a name.
 */
void tpa_push_add(struct tpa_push_queue *queue, const char *name, void *bytes, size_t size, uint64_t from,
		  uint64_t until);

/* Does what there is to do now, without waiting. False: nothing is left to be sent. */
bool tpa_push_step(struct tpa_push_queue *queue);

/* Drops what is left. Returns what became of all. */
struct tpa_push_counts tpa_push_close(struct tpa_push_queue *queue);

#endif
