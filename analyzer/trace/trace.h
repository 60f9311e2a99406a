/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace file, opened: header, tables (modules, frames, stack nodes, ops) and the list of what is damaged. Events are read
 * with trace/events.h. Every number from the file is checked before it is used; nothing here crashes on any input.
 */
#ifndef TPROF_TRACE_TRACE_H
#define TPROF_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tprof/format.h>

struct tpa_module {
	uint32_t id;
	uint64_t bias, start, end;	       /* run-time addresses; bias = run-time minus link-time */
	uint64_t loaded_ticks, unloaded_ticks; /* unloaded_ticks 0: it stayed */
	const uint8_t *build_id;
	uint8_t build_id_length;
	bool collector;	  /* libtprof.so itself */
	const char *path; /* NUL-terminated, owned by the trace; "" if unknown */
};

struct tpa_frame {
	uint64_t pc;			 /* run-time address; a return address unless TPROF_FRAME_EXACT */
	const struct tpa_module *module; /* NULL: in no known module (JIT code) */
	uint32_t code, line; /* a Python frame: index of the trace's codes, and the line (0: none). Else 0 */
	uint8_t flags;	     /* enum tprof_frame_flags; of a Python frame enum tprof_python_flags */
	uint32_t jit;	     /* code of the trace's jitdump: its order, + 1; 0: none */
	bool timed;	     /* made for a time: it was that code then. Else it is the last one at the address */
};

struct tpa_code {		 /* a Python code object */
	const char *name, *file; /* NUL-terminated, owned by the trace; NULL: its record is not in the file */
	uint32_t first_line;
	bool imports; /* it is Python's own code between an import statement and the imported module */
};

struct tpa_node {
	uint32_t parent, frame;
};

#define TPA_UNNAMED "(unnamed)" /* an op without a name, or without a record of it */

/* Of an op: is it a parallel region of OpenMP, or what one of its threads does of it? */
enum tpa_parallel { TPA_PARALLEL_NONE, TPA_PARALLEL_REGION, TPA_PARALLEL_PART };

#define TPA_REGION_PART ", a thread's part" /* ends the names of parts */

struct tpa_op {
	const char *name, *category; /* NUL-terminated, owned by the trace; name NULL: its record is not in the file */
	const char *shape;	     /* what calls of this number worked on; NULL: not said. Owned by the trace */
	const uint8_t *tensors;	     /* the record's bytes, for trace/shapes.h, with padding behind them */
	size_t tensors_length;
	uint8_t origin; /* enum tprof_op_origin */
	uint32_t frame; /* named by the function that begins there; 0: by its record. Its own record may be missing */
	/* Set by tpa_trace_split_regions(). */
	uint8_t parallel; /* enum tpa_parallel */
	bool library;	  /* an operator of a library */
	bool has_symbol;  /* its function has one */
	uint32_t
		region; /* of a part: its region. Of other ops: the op of all regions in it; the next number is that of its threads' parts */
	uint32_t runs_in; /* of an op that has no record: the op in which it runs. 0: it has one */
};

/* An allocator that the hooks do not see, or a pool in whose blocks others lie. Texts live as long as the session. */
struct tpa_unseen_allocator {
	const char *name, *symbol, *module;
	const char *setting; /* setting that makes it use plain blocks; NULL: none is known */
	bool pool;
};

/* A value that the program reported. */
struct tpa_value {
	char *name;
	uint64_t value;
};

struct tpa_counter {
	char *name;
	uint32_t number; /* 1, 2, ...; 0: it could not be counted */
	int error;	 /* errno; 0: it was counted */
	uint8_t flags;	 /* enum tprof_counter_flags */
};

/* What a search for pointers found of one stack. */
struct tpa_reach_sum {
	uint64_t ticks; /* of the search */
	uint8_t reach;	/* enum tprof_reach */
	uint32_t node, op;
	uint64_t blocks, bytes;
};

/* A link of a path from a root to a block: consecutive blocks of one type. */
struct tpa_holder_link {
	uint64_t ticks; /* of the search */
	uint32_t number, parent;
	uint32_t node;		/* that allocated the first of them; 0: none */
	uint8_t kind;		/* enum tprof_holder */
	uint64_t count, items;	/* blocks; items of the container, 0: none, or unknown */
	uint64_t size;		/* of the first */
	uint64_t blocks, bytes; /* retained */
	char *name, *type;	/* owned by the trace; may be "" */
};

/* What holds the blocks of a stack. */
struct tpa_held {
	uint64_t ticks;
	uint8_t what; /* enum tprof_held */
	uint32_t node, op;
	uint32_t end, holder; /* links */
	uint64_t blocks, bytes, all_blocks, all_bytes;
};

struct tpa_holders_search {
	uint64_t ticks, blocks, bytes, reached, pointers, interior, unreadable, ns, memory, left_out;
};

/* A communicator, a window or another group of processes, as this process knows it. */
struct tpa_known_group {
	char *name;   /* owned by the trace; NULL: its record is not in the file */
	uint8_t kind; /* enum tprof_group; may be one that is not known here */
	uint32_t size, rank;
	uint32_t parent; /* a lower number; 0: none */
	uint64_t parent_sequence;
	int32_t leader;			/* rank in the world of its rank 0; -1: not known */
	int64_t color;			/* -1: none */
	uint32_t sources, destinations; /* neighbours in its topology; 0: it has none */
	uint32_t *source_ranks; /* owned by the trace; `size` and more: nobody. NULL: there are none, or not known */
};

struct tpa_damage {
	uint64_t offset;     /* in the file */
	uint64_t lost_bytes; /* how much of the chunk could not be read */
	const char *reason;  /* static */
};

/* What was hooked in an object, and what was not. */
struct tpa_hooks {
	uint8_t state;	    /* enum tprof_hooks; may be one that is not known here */
	uint64_t pointers;  /* through which it calls */
	uint64_t functions; /* that these lead to, or that it exports */
	char *object;	    /* path, owned by the trace; "" for the program */
	/* Of TPROF_HOOKS_REFUSED, within `object`'s memory; else "". function "": those that are not named. */
	const char *function, *reason;
	const char *allocator; /* of TPROF_HOOKS_RULED and the two behind it, likewise, with `reason` */
};

struct tpa_trace {
	const char *file;		   /* as named by the user */
	const struct tprof_header *header; /* a checked copy */
	uint64_t file_bytes, used_bytes;   /* used: header and committed bytes of all chunks with their headers */
	uint64_t compact_bytes; /* of the file that holds the trace compressed; 0: it is not. Offsets are the trace's */
	const char *exe, *cwd, *malloc_path, *parent_path, *started; /* NUL-terminated; "" if absent */
	const char *const *args;
	size_t arg_count;
	const char *const *env;
	size_t env_count;
	const char *const *source; /* of an imported trace: what it was made from, then what limits its figures */
	size_t source_count;
	const char *const *job; /* NAME=value: which part of a parallel job it may be */
	size_t job_count;
	struct tpa_module *modules;
	size_t module_count; /* in order of id; ids may have gaps */
	/*
	 * Frames and nodes are made when they are first asked for, above all by those who read events. Each is there once. The
	 * file has other numbers for them: see tpa_trace_node().
	 */
	struct tpa_frame *frames;
	size_t frame_count; /* [0] unused; pc and code 0: its record is not in the file */
	struct tpa_node *nodes;
	size_t node_count;			/* below TPROF_NODE_FIRST unused. Parents come before their children */
	size_t recorded_frames, recorded_nodes; /* numbers that the file has given out */
	struct tpa_code *codes;
	size_t code_count; /* index = code number; [0] unused */
	struct tpa_op *ops;
	size_t op_count;	 /* index = op number; [0] unused */
	size_t regions;		 /* the first op that has no record, see tpa_trace_split_regions(). 0: all have */
	struct tpa_hooks *hooks; /* one for each object and state that the trace tells of */
	size_t hooks_count;
	struct tpa_reach_sum *reach; /* what searches for pointers found */
	size_t reach_count;
	struct tpa_holder_link *links; /* of searches for what holds blocks: in order of number within each */
	size_t link_count;
	struct tpa_held *held;
	size_t held_count;
	struct tpa_holders_search holders; /* the latest; ticks 0: there was none */
	struct tpa_known_group *groups;	   /* index = number; [0] unused */
	size_t group_count;
	struct tpa_value *values; /* one for each name */
	size_t value_count;
	struct tpa_counter *counters; /* in the order of TPROF_COUNTERS */
	size_t counter_count;
	char **jitdumps; /* paths of those that were mapped */
	size_t jitdump_count;
	const struct tpa_jitdump *jit;	     /* see trace/jit.h; NULL: none was found, or needed */
	struct tpa_unseen_allocator *unseen; /* see symbols/allocators.h */
	size_t unseen_count;
	char **files; /* index = number of a file in REGION events; [0] unused; NULL: its record is not in the file */
	size_t file_count;
	struct tpa_damage *damage;
	size_t damage_count; /* also filled while events are read */
	bool running;	     /* the process is still alive (same pid and start time, this machine) */
	bool written;	     /* and it writes this file, not an original of which this is a copy: the trace ends now */
	void *impl;	     /* of trace/ */
};

/*
 * Opens and checks a trace. NULL: *error says file, offset and reason (heap string). Of a file that is still being written this
 * is a snapshot: events that are committed later are not read.
 */
struct tpa_trace *tpa_trace_open(const char *file, char **error);

/* The same for the folder of a ring, which alone frees the ring's chunks. Others read a copy of a ring that is being written. */
struct tpa_trace *tpa_trace_open_in_place(const char *file, char **error);
void tpa_trace_close(struct tpa_trace *trace);

/*
 * Reads on in a file that has grown since it was opened or refreshed: its header, tables and chunks as they are now.
 *
 * It costs by what is new, and by the number of chunks. Numbers of frames, nodes and threads stay valid, and so do those of ops
 * that have a record; an op keeps the name that it was given. Pointers into the tables are no longer valid, but for texts: names
 * of such ops, codes and modules. Open readers of events go on into what came since; the last event that they gave out is no longer
 * valid.
 *
 * False: *error as tpa_trace_open() has it, and the trace is as it was.
 */
bool tpa_trace_refresh(struct tpa_trace *trace, char **error);

/* Adds a place to the trace's damage. `reason`: static text. */
void tpa_damage_note(struct tpa_trace *trace, uint64_t offset, const char *reason);

/* Whether the process of a trace without an end lives now. */
bool tpa_trace_lives(const struct tpa_trace *trace);

/*
 * Lays the trace's large lists aside (base/aside.h): it is as before, and takes memory only for what is read of it. No other thread
 * may use it meanwhile.
 */
void tpa_trace_lay_aside(struct tpa_trace *trace);

/* Saves the damage that was found while events were read, or adds it to the trace's list. */
struct tpa_archive;
void tpa_damage_archive(struct tpa_archive *archive, struct tpa_trace *trace);

/* A file that begins like a trace is one, whatever its name; so is one that begins like a compact trace, and a bundle. */
bool tpa_trace_is(const char *file);

/*
 * The first `size` bytes of a trace, unchecked, from a compact one too. Returns how many were read; *bytes: how many the trace
 * has, uncompressed.
 */
size_t tpa_trace_begin(const char *file, void *buffer, size_t size, uint64_t *bytes);

/* A file's header alone, as it is there, unchecked but for its magic. False: it is no trace, or can't be read. */
bool tpa_trace_peek(const char *file, struct tprof_header *header);

/* False: the program said no value of that name. */
bool tpa_trace_value(const struct tpa_trace *trace, const char *name, uint64_t *value);

/* The name of a state of enum tprof_hooks; "?" if it is not known. */
const char *tpa_hooks_name(unsigned state);

/* Are these functions hooked, by pointers or in their code? */
static inline bool tpa_hooks_hold(const struct tpa_hooks *hooks)
{
	return hooks->state == TPROF_HOOKS_DONE || hooks->state == TPROF_HOOKS_CODE;
}

/* The program or library that these functions are in, or are called from. */
static inline const char *tpa_hooks_path(const struct tpa_trace *trace, const struct tpa_hooks *hooks)
{
	return hooks->object[0] ? hooks->object : trace->exe;
}

/* Are these functions an allocator's, which a rule describes? */
static inline bool tpa_hooks_ruled(const struct tpa_hooks *hooks)
{
	return hooks->state == TPROF_HOOKS_RULED || hooks->state == TPROF_HOOKS_PART_RULED ||
	       hooks->state == TPROF_HOOKS_UNRULED;
}

/* Index of a counter in struct tpa_counters; -1: it was not counted. */
int tpa_trace_counter(const struct tpa_trace *trace, const char *name);

/* Whether that is the path of libtprof.so itself. */
bool tpa_path_is_collector(const char *path);

/* Ticks (not shifted) to nanoseconds since header->start, fitted through all clock moments of the file. */
uint64_t tpa_trace_ns(const struct tpa_trace *trace, uint64_t ticks);

/* Nanoseconds of a tick, by the same fit. */
double tpa_trace_tick_ns(const struct tpa_trace *trace);

/*
 * Nanoseconds to event time (ticks >> header->tick_shift), to about a percent: by what the trace says at its begin, so that the
 * answer stays the same while the trace grows.
 */
uint64_t tpa_trace_about(const struct tpa_trace *trace, uint64_t ns);

/* Ticks (not shifted) when the run ended, as far as that is known before its events are read. */
uint64_t tpa_trace_last(const struct tpa_trace *trace);

/* The other way: the smallest event time (ticks >> header->tick_shift) that is at or after that nanosecond. */
uint64_t tpa_trace_time(const struct tpa_trace *trace, uint64_t ns);

/*
 * If the trace has parallel regions, adds ops for those that run in other ops, and marks in struct tpa_op which ops are
 * regions. Their names are made of the names of ops, which must be final.
 */
void tpa_trace_split_regions(struct tpa_trace *trace);

/* Gives an op another name, which is copied. */
void tpa_trace_rename_op(struct tpa_trace *trace, size_t op, const char *name);

/*
 * The address to look a native frame up by: a return address is behind its call, which may be the last of its line or function.
 */
static inline uint64_t tpa_frame_address(const struct tpa_frame *frame)
{
	return frame->flags & TPROF_FRAME_EXACT || frame->pc == 0 ? frame->pc : frame->pc - 1;
}

/* Is it a frame of code for which the process had no unwind table, so that the walk went on by rbp? */
static inline bool tpa_frame_is_untabled(const struct tpa_frame *frame)
{
	return !frame->code && frame->module && !frame->module->collector && frame->flags & TPROF_FRAME_UNTABLED;
}

/* Has the trace such a frame? */
bool tpa_trace_has_untabled(const struct tpa_trace *trace);

/* Threads' numbers are below it. */
uint64_t tpa_trace_thread_limit(const struct tpa_trace *trace);

/*
 * The node of a number that the file has for it. Of all that is read, only events have those: see tpa_event_node().
 * TPROF_NODE_NONE: the file has no record of that number. May add nodes to the trace.
 */
uint32_t tpa_trace_node(const struct tpa_trace *trace, uint32_t number);

/* The other way: a number that the file has for a node, to be saved or written into the file. */
uint32_t tpa_trace_file_node(const struct tpa_trace *trace, uint32_t node);

/* A frame in recorded stacks. */
struct tpa_call {
	uint32_t frame, caller; /* frame numbers; 0: none */
};

/*
 * The frame of a recorded node, and who called it; numbers of nodes begin with TPROF_NODE_FIRST. Adds these frames to the trace, but no
 * node. False: there is no further number.
 */
bool tpa_trace_call(const struct tpa_trace *trace, size_t number, struct tpa_call *call);

/* The frame of a number that the file has for frames; *frame 0: its record is missing. False: the number is behind the last one. */
bool tpa_trace_recorded_frame(const struct tpa_trace *trace, size_t number, uint32_t *frame);

/* What tpa_trace_passes_untabled() has found so far; initialize with zeros, free `verdicts`. */
struct tpa_passing {
	uint8_t *verdicts; /* by number */
	size_t count, room;
};

/* Does the native stack of a number that the file has pass such a frame? May add frames to the trace, but no nodes. */
bool tpa_trace_passes_untabled(const struct tpa_trace *trace, uint32_t number, struct tpa_passing *known);

/*
 * The frames of a stack, innermost first: fills at most `max` frame numbers, returns how many there are. *end is
 * TPROF_NODE_ROOT, _CUT or _SHORT (or _NONE: an unknown node, the stack's record was lost).
 */
size_t tpa_trace_stack(const struct tpa_trace *trace, uint32_t node, uint32_t *frames, size_t max, uint32_t *end);

#endif
