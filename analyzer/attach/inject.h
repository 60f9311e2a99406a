/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a library into a process that runs, and calls a function of it. */
#ifndef TPROF_ATTACH_INJECT_H
#define TPROF_ATTACH_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tpa_injected {
	pid_t tid;	     /* the thread that made the calls */
	uint64_t stopped_ns; /* for how long it was kept from its own work */
};

/*
 * Has a thread of the process load `library` (an absolute path), and call its function of that name with `argument`, a
 * text of `bytes` with its NULs, and the address at which the thread goes on. The function returns NULL, or a text that says what is wrong. The other threads run
 * on. Returns NULL, or what went wrong: a sentence without its subject, which is the process. To be freed.
 */
char *tpa_inject(pid_t pid, const char *library, const char *function, const char *argument, size_t bytes,
		 struct tpa_injected *injected);

#endif
