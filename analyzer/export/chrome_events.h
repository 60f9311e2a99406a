/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chrome's trace event format, for Perfetto and chrome://tracing, written event by event. Times are microseconds since
 * the run's start, with nanosecond precision.
 */
#ifndef TPROF_EXPORT_CHROME_EVENTS_H
#define TPROF_EXPORT_CHROME_EVENTS_H

#include <stdint.h>
#include <stdio.h>

struct tpa_chrome {
	FILE *out;
	uint32_t pid;
	uint64_t events; /* events written */
	uint64_t folded; /* calls reported to tpa_chrome_folded() */
};

/* The row for the process's own events: its steps. Threads are numbered from 1. */
#define TPA_CHROME_STEPS 0u

void tpa_chrome_begin(struct tpa_chrome *chrome, FILE *out);
/* `truncated`: part of the requested data is missing. */
void tpa_chrome_end(struct tpa_chrome *chrome, int truncated);

/* Name the process and its rows. */
void tpa_chrome_process(struct tpa_chrome *chrome, uint32_t pid, const char *name);
void tpa_chrome_thread(struct tpa_chrome *chrome, uint32_t thread, const char *name);

/* Details of a call that ended; shape NULL and numbers 0: unknown. */
struct tpa_chrome_detail {
	const char *name, *category; /* quoted: tpa_export_quote() */
	const char *shape;
	uint64_t flop, bytes;
	uint32_t level;	   /* ops around it on its thread */
	int unwound, open; /* left by an exception or longjmp; not ended yet */
};

/*
 * Writes one complete event instead of begin and end, as most details are known only at the end, and some viewers
 * reject an end with arguments that its begin lacks. So inner ops come before the op around them; the format allows
 * any order.
 */
void tpa_chrome_op(struct tpa_chrome *chrome, uint32_t thread, uint64_t begin_ns, uint64_t end_ns,
		   const struct tpa_chrome_detail *detail);

/*
 * Calls that were recorded together: their number, the number of timed ones, and the time of these. One event where
 * they began.
 */
struct tpa_chrome_folded {
	const char *name;  /* quoted */
	const char *shape; /* NULL: unknown */
	uint64_t calls, timed, total_ns, min_ns, max_ns;
};
void tpa_chrome_folded(struct tpa_chrome *chrome, uint32_t thread, uint64_t ns, const struct tpa_chrome_folded *folded);

void tpa_chrome_step(struct tpa_chrome *chrome, uint64_t begin_ns, uint64_t end_ns, uint64_t number, uint64_t items);
void tpa_chrome_mark(struct tpa_chrome *chrome, uint32_t thread, uint64_t ns, const char *text, size_t length);
void tpa_chrome_counter(struct tpa_chrome *chrome, uint64_t ns, const char *name, uint64_t bytes);

/* One end of a flow between calls of two processes: it binds to the op around it. */
struct tpa_rank_flow;
void tpa_chrome_flow(struct tpa_chrome *chrome, const struct tpa_rank_flow *flow);

#endif
