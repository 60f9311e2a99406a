/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second writer of the trace format, made from tprof-trace(5) alone: traces for tests, written in memory. Threads have
 * chunks of their own; the chunk of a thread that ended is taken over by the next that needs one, as in a real trace.
 */
#ifndef TPROF_TESTS_TRACEGEN_H
#define TPROF_TESTS_TRACEGEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tprof/format.h>

struct gen_options {
	uint32_t chunk_size;  /* 0: 4096 */
	uint32_t header_size; /* 0: 4096 */
	uint32_t tick_shift;
	uint32_t origin;      /* 0: first */
	uint32_t pid;	      /* 0: 4711 */
	uint32_t clock;	      /* 0: monotonic */
	uint64_t start_ticks; /* also the start's nanoseconds on the monotonic clock */
	uint64_t start_unix_ns;
};

struct gen *gen_new(const struct gen_options *options);
void gen_free(struct gen *gen);

/* The header, to be changed at will; its text. */
struct tprof_header *gen_header(struct gen *gen);
void gen_text(struct gen *gen, enum tprof_text which, const void *text, size_t length);

/* Tables. */
void gen_module(struct gen *gen, uint32_t module, uint64_t bias, uint64_t start, uint64_t end, const char *path);
void gen_unload(struct gen *gen, uint32_t module, uint64_t ticks);
void gen_frame(struct gen *gen, uint32_t frame, uint32_t module, uint64_t offset, uint8_t flags);
void gen_nodes(struct gen *gen, uint32_t first, uint32_t parent, const uint32_t *frames, size_t count);
void gen_code(struct gen *gen, uint32_t code, uint32_t first_line, const char *name, const char *file);
void gen_python(struct gen *gen, uint32_t frame, uint32_t code, uint32_t line, uint8_t flags);
void gen_join(struct gen *gen, uint32_t node, uint32_t native, uint32_t python);
void gen_op(struct gen *gen, uint32_t op, uint8_t origin, const char *category, const char *name);
void gen_op_code(struct gen *gen, uint32_t op, uint8_t origin, const char *category, uint32_t frame);
/* What stands behind the op in a SHAPE record: uvarints. */
void gen_shape(struct gen *gen, uint32_t op, const uint64_t *numbers, size_t count);
void gen_value(struct gen *gen, const char *name, uint64_t value);
void gen_counter(struct gen *gen, uint32_t number, uint32_t error, uint8_t flags, const char *name);
void gen_hooks(struct gen *gen, uint8_t state, uint64_t pointers, uint64_t functions, const char *object);
void gen_reach(struct gen *gen, uint64_t ticks, uint8_t reach, uint32_t node, uint32_t op, uint64_t blocks,
	       uint64_t bytes);

/* Events of thread 1, 2, ...: ticks may not decrease within a thread. */
struct gen_alloc {
	uint64_t address, size, usable; /* usable 0: as the guess */
	uint32_t node;
	uint8_t fn, alignment_log2;
	bool has_mean; /* the record ends with MEAN */
	uint8_t mean;
};
void gen_alloc(struct gen *gen, uint32_t thread, uint64_t ticks, const struct gen_alloc *alloc);
void gen_release(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t address, uint8_t fn);
void gen_cancel(struct gen *gen, uint32_t thread, uint64_t ticks);
void gen_map(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t address, uint64_t length, uint64_t flags,
	     uint32_t node);
void gen_unmap(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t address, uint64_t length, bool remap);
void gen_memory(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t rss, uint64_t vms);
void gen_name(struct gen *gen, uint32_t thread, uint64_t ticks, const char *name);
void gen_op_begin(struct gen *gen, uint32_t thread, uint64_t ticks, uint32_t op);
void gen_op_end(struct gen *gen, uint32_t thread, uint64_t ticks, bool unwound);
/* Of the op that has so many open ones in it. */
void gen_op_end_outer(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t within);
void gen_op_shape(struct gen *gen, uint32_t thread, uint64_t ticks, uint32_t op);
void gen_detail(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t flop, uint64_t bytes, const char *shape);
struct gen_work {
	uint32_t kind;
	uint8_t dtype, flags;
	uint64_t dims[TPROF_WORK_DIMS];
	size_t count;
};
void gen_work(struct gen *gen, uint32_t thread, uint64_t ticks, const struct gen_work *work);
/* `work` may be NULL. */
void gen_fold(struct gen *gen, uint32_t thread, uint64_t ticks, uint32_t op, const struct gen_work *work,
	      const struct tprof_fold *counts);
/* The same with TPROF_FOLD_LASTED: the first `of` took so many ticks. */
void gen_fold_lasted(struct gen *gen, uint32_t thread, uint64_t ticks, uint32_t op, const struct tprof_fold *counts,
		     uint32_t lasted, uint32_t of);
/* `counts`: the six of a USAGE record. */
void gen_usage(struct gen *gen, uint32_t thread, uint64_t ticks, const uint64_t *counts);
void gen_step(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t items);
/* CANCEL, PAUSE, RESUME: nothing but a time. */
void gen_plain(struct gen *gen, uint32_t thread, uint64_t ticks, unsigned type);
void gen_mark(struct gen *gen, uint32_t thread, uint64_t ticks, const char *text);
/* `increases`: of counters 1, 2, ... */
void gen_counters(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t idle_ns, const uint64_t *increases,
		  size_t count);
void gen_sample(struct gen *gen, uint32_t thread, uint64_t ticks, uint32_t node, uint64_t periods);
void gen_pool_alloc(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t pool, const struct gen_alloc *alloc);
/* What is recorded from here on: MEAN, and calls of hooked functions. */
void gen_level(struct gen *gen, uint32_t thread, uint64_t ticks, uint8_t mean, bool ops);
void gen_pool_free(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t address, bool whole_pool);
/* Any other record of the class LONG. */
void gen_long(struct gen *gen, uint32_t thread, uint64_t ticks, unsigned type, const void *body, size_t length);
/* Any bytes in the place of a record. */
void gen_raw(struct gen *gen, uint32_t thread, uint64_t ticks, const void *bytes, size_t length);
/* What the recording of the events of the thread's current chunk cost: so many ticks for each, by so many timed ones. */
void gen_overhead(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t samples);
/* How many of those were frees, and what each of these took; bit i of `timed`: gen_timed()'s i-th is one. */
void gen_free_overhead(struct gen *gen, uint32_t thread, uint64_t ticks, uint32_t samples, uint32_t timed);
/* What some of those took: at most TPROF_CHUNK_TIMED. */
void gen_timed(struct gen *gen, uint32_t thread, const uint32_t *ticks, size_t count);
/* The thread has ended: its chunk is free to be taken over. */
void gen_end_thread(struct gen *gen, uint32_t thread);
/* The process ended in order. */
void gen_finish(struct gen *gen, uint64_t ticks, int status);

/* The whole file as bytes, owned by `gen`, valid until the next call of any function. */
const uint8_t *gen_bytes(struct gen *gen, size_t *size);

/* Writes bytes to a new file under $TMPDIR; the name is static, until the next call. */
const char *gen_save_bytes(const void *bytes, size_t size);
const char *gen_save(struct gen *gen);

#endif
