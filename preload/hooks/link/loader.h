/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work with the loader's lock. The loader has two: of what is loaded (dlopen, dlsym, dlclose), and of the list of objects
 * (dl_iterate_phdr, and dlopen within the first). Who asks for a symbol from within dl_iterate_phdr takes them the wrong way
 * round, and waits for ever for a thread that is in a dlopen. With the first lock held nobody loads meanwhile, either.
 */
#ifndef TPROF_LINK_LOADER_H
#define TPROF_LINK_LOADER_H

#include "core/base.h"

/*
 * Calls work(context), once, in this thread. Where the lock can't be had (libtprof.so is not in the global scope) without it.
 * Never in a hook of an allocation.
 */
void tpc_loader_locked(void (*work)(void *context), void *context);

/*
 * Around what uses dl_iterate_phdr: a child that is forked meanwhile by another thread would find its lock taken for ever,
 * and hang in its first dlopen; so forks wait for it. False: one is under way, do it another time.
 */
bool tpc_loader_begin(void);
void tpc_loader_end(void);

/* At start: forks are watched from here on. */
void tpc_loader_watch_forks(void);

#endif
