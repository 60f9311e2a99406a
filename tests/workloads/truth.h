/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a workload did with memory, counted by itself: the truth that a report is compared with. Counted as tprof
 * counts: requested bytes, a realloc is one free and then one allocation, the peak is the first moment of most bytes.
 * Nothing here allocates.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct truth {
	uint64_t allocations, frees, bytes;
	uint64_t live_bytes, live_blocks;
	uint64_t peak_bytes, peak_blocks;
	uint64_t inherited_frees; /* of blocks that the parent process allocated; not in `frees` */
};

static inline void truth_alloc(struct truth *t, size_t size)
{
	t->allocations++;
	t->bytes += size;
	t->live_bytes += size;
	t->live_blocks++;
	if (t->live_bytes > t->peak_bytes) {
		t->peak_bytes = t->live_bytes;
		t->peak_blocks = t->live_blocks;
	}
}

static inline void truth_free(struct truth *t, size_t size)
{
	t->frees++;
	t->live_bytes -= size;
	t->live_blocks--;
}

/* Adds what another thread did. Its peak is no part of a sum: see truth_peak_sum(). Live counts may wrap below zero
 * in a thread that frees other threads' blocks; their sum is right again. */
static inline void truth_add(struct truth *sum, const struct truth *t)
{
	sum->allocations += t->allocations;
	sum->frees += t->frees;
	sum->bytes += t->bytes;
	sum->live_bytes += t->live_bytes;
	sum->live_blocks += t->live_blocks;
	sum->inherited_frees += t->inherited_frees;
}

/* The peak of all threads is a moment at which all of them stand still: the sum of what each has live then. */
static inline void truth_peak_sum(struct truth *sum, uint64_t live_bytes, uint64_t live_blocks)
{
	sum->peak_bytes += live_bytes;
	sum->peak_blocks += live_blocks;
}

static inline void truth_die(const char *what)
{
	const char *parts[] = { "workload: ", what, " failed\n" };

	for (int i = 0; i < 3; i++) {
		if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0)
			_exit(98);
	}
	_exit(99);
}

/* A block of zeros, which no truth counts: of programs whose answer is what can be reached. */
static inline void *truth_block(size_t size)
{
	void *block = calloc(1, size);

	if (!block)
		truth_die("calloc");
	return block;
}

/* Writes `text` to the file that TRUTH_FILE names, with `suffix` behind the name; without the variable, nothing. */
static inline void truth_write_text(const char *suffix, const char *text, size_t length)
{
	const char *name = getenv("TRUTH_FILE");
	char path[4096];
	int fd;

	if (!name)
		return;
	snprintf(path, sizeof(path), "%s%s", name, suffix);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, text, length) != (ssize_t)length)
		truth_die("writing the truth");
	close(fd);
}

static inline void truth_write_as(const struct truth *t, const char *suffix)
{
	char text[512];
	int n = snprintf(text, sizeof(text),
			 "{\"allocations\": %" PRIu64 ", \"frees\": %" PRIu64 ", \"allocated_bytes\": %" PRIu64
			 ", \"peak_bytes\": %" PRIu64 ", \"peak_blocks\": %" PRIu64 ", \"end_bytes\": %" PRIu64
			 ", \"end_blocks\": %" PRIu64 ", \"inherited_frees\": %" PRIu64 ", \"pid\": %d}\n",
			 t->allocations, t->frees, t->bytes, t->peak_bytes, t->peak_blocks, t->live_bytes,
			 t->live_blocks, t->inherited_frees, (int)getpid());

	truth_write_text(suffix, text, (size_t)n);
}

static inline void truth_write(const struct truth *t)
{
	truth_write_as(t, "");
}

/* Of forked processes: TRUTH_FILE.PID. */
static inline void truth_write_pid(const struct truth *t)
{
	char suffix[24];

	snprintf(suffix, sizeof(suffix), ".%d", (int)getpid());
	truth_write_as(t, suffix);
}

/* A line on stdout without stdio, whose buffer is an allocation. */
static inline void truth_say(const char *line, size_t length)
{
	if (write(STDOUT_FILENO, line, length) != (ssize_t)length)
		truth_die("write");
}
#define TRUTH_SAY(literal) truth_say(literal, sizeof(literal) - 1)

/* splitmix64: the same numbers in each run. */
static inline uint64_t truth_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static inline size_t truth_between(uint64_t *state, size_t low, size_t high)
{
	return low + (size_t)(truth_random(state) % (high - low + 1));
}

#endif
