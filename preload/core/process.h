/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies this process, from /proc and the start of the stack. */
#ifndef TPROF_CORE_PROCESS_H
#define TPROF_CORE_PROCESS_H

#include <tprof/format.h>

#include "core/base.h"

struct tpc_identity {
	uint32_t pid, ppid;
	uint64_t start;	    /* field 22 of /proc/PID/stat, clock ticks since boot */
	char exe[1024];	    /* "" if unknown */
	char started[1024]; /* as passed to exec: a link to the program, or a script; "" if unknown */
	char argument[256]; /* the last part of argv[0], which a shell or `exec -a` chooses freely */
};

void tpc_identify(struct tpc_identity *identity);

/* Does a glob match one of the process's names? */
bool tpc_is_named(const struct tpc_identity *identity, const char *glob);

/*
 * The program's path; not the loader's, if that was told to run the program (ld.so PROGRAM). Returns its length; 0:
 * unknown.
 */
size_t tpc_process_exe(char *to, size_t size);

/* The start time of a process, as in struct tpc_identity; 0: there is no such process. */
uint64_t tpc_process_start(uint32_t pid);

/* Memory of this process, in bytes: resident, virtual, and the resident part that belongs to files and shared memory. */
struct tpc_memory {
	uint64_t rss, vms, shared;
};

/* Called when a trace begins. Without it, or after tpc_memory_forget(), tpc_memory() opens what it needs each time. */
void tpc_memory_open(void);

/* In a forked child: the open file tells of the parent. */
void tpc_memory_forget(void);

/* False if /proc can't be read now. */
bool tpc_memory(struct tpc_memory *memory);

/* The largest resident size so far (VmHWM), bytes; 0 if it can't be read. */
uint64_t tpc_memory_peak(void);

/* Fills the identity, clocks and texts of a new header. `parent` is the path of the forking process's trace or NULL. */
void tpc_describe(struct tprof_header *header, const struct tpc_identity *identity, const char *parent);

/* Adds a text to a header that is already in use (its areas for texts are handed out in order). */
void tpc_describe_text(struct tprof_header *header, enum tprof_text which, const char *bytes, size_t length);

#endif
