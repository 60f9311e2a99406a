/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that may wait in a system call, hooked where they are called: notes the registers of the waiting thread,
 * for the search for blocks that nothing points to. (Reading them from outside would mean stopping the thread, which
 * ends some system calls.) Costs 15 instructions and leaves no frame; no event is recorded.
 */
#ifndef TPROF_LEAKCHECK_STUBS_H
#define TPROF_LEAKCHECK_STUBS_H

#include "core/base.h"

#define TPC_WAIT_STUBS 128 /* functions; libc has some 80 of the names */
#define TPC_WAIT_STUB 128  /* bytes of each */

/* Is the function of that name one of them? */
bool tpc_wait_is_one(const char *symbol);

/* The stub to be called in its place. NULL: there is no more room. One thread at a time. */
void *tpc_wait_stub(void *function);

/*
 * Programs call libtprof.so's syscall() (the assembly of preload/arch), which continues here; NULL: at libc's. Made by
 * tpc_wait_begin(); one thread at a time.
 */
extern tpc_shared_function tpc_wait_syscall TPC_NEAR;
void tpc_wait_begin(void);

/* Is it a stub of tpc_wait_stub()? */
bool tpc_wait_is_stub(const void *address);

/* The function that the stub calls. */
void *tpc_wait_function(const void *stub);

#endif
