/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does work under the loader's lock. The loader has two locks: one for loading (dlopen, dlsym, dlclose), and one for
 * the list of objects (dl_iterate_phdr, and dlopen while it holds the first). Looking up a symbol within
 * dl_iterate_phdr takes them in the wrong order, and deadlocks with a thread in dlopen. With the first lock held,
 * nothing is loaded meanwhile, either.
 */
#ifndef TPROF_LINK_LOADER_H
#define TPROF_LINK_LOADER_H

#include "core/base.h"

/*
 * Calls work(context) once, in this thread. Without the lock if it can't be had (libtprof.so is not in the global
 * scope). Never in a hook of an allocation.
 */
void tpc_loader_locked(void (*work)(void *context), void *context);

/* Loads a library for ourselves: only its handle leads to its symbols. NULL: there is none. Without the lock; allocates. */
void *tpc_loader_open(const char *library);

/*
 * To be called before and after dl_iterate_phdr. If another thread forked meanwhile, the child would find that lock
 * taken forever and hang in its first dlopen; so forks wait. False: a fork is in progress; try another time.
 */
bool tpc_loader_begin(void);
void tpc_loader_end(void);

/* At start: watches forks from now on. */
void tpc_loader_watch_forks(void);

/* To be called later than that: `before` is then called before the loader is kept from changing, `after` in the parent. */
void tpc_loader_around_forks(void (*before)(void), void (*after)(void));

#endif
