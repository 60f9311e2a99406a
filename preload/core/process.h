/* SPDX-License-Identifier: Apache-2.0 */
/* Who this process is, as /proc and the start of the stack tell. */
#ifndef TPROF_CORE_PROCESS_H
#define TPROF_CORE_PROCESS_H

#include <tprof/format.h>

#include "core/base.h"

struct tpc_identity {
	uint32_t pid, ppid;
	uint64_t start;	    /* field 22 of /proc/PID/stat, clock ticks since boot */
	char exe[1024];	    /* "" if unknown */
	char started[1024]; /* what exec was told: a link to it, or a script; "" if unknown */
	char argument[256]; /* the last part of argv[0], which a shell or `exec -a` makes what it likes */
};

void tpc_identify(struct tpc_identity *identity);

/* Does a glob match one of the names that it goes by? */
bool tpc_is_named(const struct tpc_identity *identity, const char *glob);

/* The program's path: not the loader's, where that was told to run it (ld.so PROGRAM). Its length; 0: it can't be had. */
size_t tpc_process_exe(char *to, size_t size);

/* Start time of a process, as above; 0 if there is none of that number. */
uint64_t tpc_process_start(uint32_t pid);

/* Bytes of this process: resident, virtual, and of the resident ones those of files and of shared memory. */
struct tpc_memory {
	uint64_t rss, vms, shared;
};

/* When a trace begins. Before it, or once it was forgotten, tpc_memory() does with what is to be had. */
void tpc_memory_open(void);

/* In a forked child: what is open tells of its parent. */
void tpc_memory_forget(void);

/* False if /proc can't be read now. */
bool tpc_memory(struct tpc_memory *memory);

/* The largest resident size so far (VmHWM), bytes; 0 if it can't be read. */
uint64_t tpc_memory_peak(void);

/* Fills the identity, clocks and texts of a new header. `parent` is the path of the forking process's trace or NULL. */
void tpc_describe(struct tprof_header *header, const struct tpc_identity *identity, const char *parent);

/* Puts a text into a header that is in use already (text areas are handed out in order). */
void tpc_describe_text(struct tprof_header *header, enum tprof_text which, const char *bytes, size_t length);

#endif
