/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that may wait in a system call, hooked where they are called: what the registers of a thread that waits hold is
 * written down, for the search for blocks that nothing points to. (To read them from outside would take stopping the thread,
 * by which some system calls end.) It costs 15 instructions and leaves no frame; no event says that it was called.
 */
#ifndef TPROF_LEAKCHECK_STUBS_H
#define TPROF_LEAKCHECK_STUBS_H

#include "core/base.h"

#define TPC_WAIT_STUBS 128 /* functions; libc has some 80 of the names */
#define TPC_WAIT_STUB 128  /* bytes of each */

/* Is the function of that name one? */
bool tpc_wait_is_one(const char *symbol);

/* What shall be called in its place. NULL: there is no room for more. One thread at a time. */
void *tpc_wait_stub(void *function);

/*
 * syscall() is libtprof.so's own before it is libc's (the assembly of preload/arch): it goes on there. NULL: as libc's. Made by
 * tpc_wait_begin(); one thread at a time.
 */
extern tpc_shared_function tpc_wait_syscall TPC_NEAR;
void tpc_wait_begin(void);

/* Is it what tpc_wait_stub() gave? */
bool tpc_wait_is_stub(const void *address);

/* The function that is called by way of it. */
void *tpc_wait_function(const void *stub);

#endif
