/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chrome's trace event format, which Perfetto and chrome://tracing show: written event by event, as they come. Times are
 * microseconds since the run's start, to the nanosecond.
 */
#ifndef TPROF_REPORT_EXPORT_CHROME_H
#define TPROF_REPORT_EXPORT_CHROME_H

#include <stdint.h>
#include <stdio.h>

struct tpa_chrome {
	FILE *out;
	uint32_t pid;
	uint64_t events; /* written */
	uint64_t folded; /* calls that tpa_chrome_folded() told of */
};

/* A row of its own for what belongs to the process: its steps. Threads are numbered from 1 on. */
#define TPA_CHROME_STEPS 0u

void tpa_chrome_begin(struct tpa_chrome *chrome, FILE *out);
/* `truncated`: not all that was asked for is there. */
void tpa_chrome_end(struct tpa_chrome *chrome, int truncated);

/* A name as a JSON string with its quotes, for tpa_chrome_op(); to be freed. */
char *tpa_chrome_quote(const char *text, size_t length);

/* How the process, or one of its rows, is called. */
void tpa_chrome_process(struct tpa_chrome *chrome, uint32_t pid, const char *name);
void tpa_chrome_thread(struct tpa_chrome *chrome, uint32_t thread, const char *name);

/* A call that ended: what it worked on; shape NULL and numbers 0: not known. */
struct tpa_chrome_detail {
	const char *name, *category; /* quoted */
	const char *shape;
	uint64_t flop, bytes;
	uint32_t level;	   /* ops around it on its thread */
	int unwound, open; /* it was left by an exception or longjmp; it had not ended */
};

/*
 * One complete event for begin and end, as much of what it says is known at its end: an end with arguments that its begin
 * lacks is a mismatch to some viewers. So inner ops stand before the op around them: the format lets events come in any order.
 */
void tpa_chrome_op(struct tpa_chrome *chrome, uint32_t thread, uint64_t begin_ns, uint64_t end_ns,
		   const struct tpa_chrome_detail *detail);

/* Calls that were recorded together: how many, of how many the time is known, and that time. One event where they began. */
struct tpa_chrome_folded {
	const char *name;  /* quoted */
	const char *shape; /* NULL: not known */
	uint64_t calls, timed, total_ns, min_ns, max_ns;
};
void tpa_chrome_folded(struct tpa_chrome *chrome, uint32_t thread, uint64_t ns, const struct tpa_chrome_folded *folded);

void tpa_chrome_step(struct tpa_chrome *chrome, uint64_t begin_ns, uint64_t end_ns, uint64_t number, uint64_t items);
void tpa_chrome_mark(struct tpa_chrome *chrome, uint32_t thread, uint64_t ns, const char *text, size_t length);
void tpa_chrome_counter(struct tpa_chrome *chrome, uint64_t ns, const char *name, uint64_t bytes);

#endif
