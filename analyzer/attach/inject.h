/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a library into a process that runs, and calls a function of it. */
#ifndef TPROF_ATTACH_INJECT_H
#define TPROF_ATTACH_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/patch.h"

struct tpa_injected {
	pid_t tid;		    /* the thread that made the calls */
	uint64_t stopped_ns;	    /* for how long it was kept from its own work */
	struct tpa_patched patched; /* what was written into code, or written back */
};

struct tpa_injection {
	const char *library;  /* an absolute path */
	const char *function; /* of it: returns NULL, or a text that says what is wrong */
	const char *argument; /* of it: `bytes`, with its NULs */
	size_t bytes;
	const char *patches;   /* another one, called then: what it wants to be written into code; see tpa_patch() */
	const char *unpatched; /* of each address that was left out; NULL: none */
	const char *undo;      /* one that takes back what `function` did, if that can't be written; NULL: none */
};

/*
 * Has a thread of the process load the library and call its functions. The other threads run on, unless code is to be written.
 * Returns NULL, or what went wrong: a sentence without its subject, which is the process. To be freed.
 */
char *tpa_inject(pid_t pid, const struct tpa_injection *injection, struct tpa_injected *injected);

#endif
