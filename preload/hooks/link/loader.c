/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/link/loader.h"

#include "core/assert.h"
#include "core/forked.h"
#include "core/state.h"
#include "core/sys.h"
#include "hooks/link/real.h"

#include <dlfcn.h>
#include <time.h>

struct job {
	void (*work)(void *context);
	void *context;
	bool done;
};

static TPC_TLS struct job *job; /* of this thread */

__attribute__((used)) static void (*do_job(void))(void)
{
	if (job && !job->done) {
		job->done = true;
		job->work(job->context);
	}
	return (void (*)(void))do_job;
}

/*
 * No function takes the lock, but dlsym holds it while it calls the resolver of an indirect function (glibc,
 * dlfcn/dlsym.c and elf/dl-sym.c). Nothing else refers to this function, so nobody else resolves it.
 */
TPC_EXPORT void tprof_loader_job(void) __attribute__((ifunc("do_job")));

void tpc_loader_locked(void (*work)(void *context), void *context)
{
	struct job mine = { work, context, false }, *outer = job;

	job = &mine;
	tpc_real.dlsym(RTLD_DEFAULT, "tprof_loader_job");
	if (!mine.done) {
		dlerror(); /* discards the message */
		work(context);
	}
	job = outer;
}

void *tpc_loader_open(const char *library)
{
	void *handle = tpc_real.dlopen(library, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		dlerror(); /* discards the message */
	return handle;
}

/* ---- forks ---- */

#define WAIT_ROUNDS 2000 /* of 100 us: after that a thread hangs there, and the fork must not */

extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *object);

static tpc_shared_u32 inside;  /* threads */
static tpc_shared_u32 forking; /* threads */

/*
 * A thread that is inside and one that forks announce themselves before they look for the other: at least one sees the
 * other.
 */
bool tpc_loader_begin(void)
{
	tpc_add_seq(&inside, 1);
	if (!tpc_load_seq(&forking))
		return true;
	tpc_loader_end();
	return false;
}

void tpc_loader_end(void)
{
	tpc_assert(tpc_load(&inside) > 0);
	tpc_sub_release(&inside, 1); /* pairs with fork_begins(): its work is done */
}

static void fork_begins(void)
{
	struct timespec pause = { .tv_nsec = 100000 };

	tpc_add_seq(&forking, 1);
	for (int i = 0; i < WAIT_ROUNDS && tpc_load_seq(&inside); i++)
		tpc_syscall(SYS_nanosleep, &pause, 0, 0, 0);
}

static void fork_ends(void)
{
	tpc_assert(tpc_load(&forking) > 0);
	tpc_sub_release(&forking, 1); /* pairs with tpc_loader_begin() */
}

static void forked(void)
{
	tpc_unshared(inside) = 0;
	tpc_unshared(forking) = 0;
	tpc_forked();
	tpc_unshared(tpc_state.by_libc) = 1;
}

void tpc_loader_watch_forks(void)
{
	__register_atfork(fork_begins, fork_ends, forked, NULL);
}

void tpc_loader_around_forks(void (*before)(void), void (*after)(void))
{
	__register_atfork(before, after, NULL, NULL);
}
