/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/link/loader.h"

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
 * There is no function that takes the lock, but dlsym has it while it asks an indirect function which one it is (glibc,
 * dlfcn/dlsym.c and elf/dl-sym.c). Nothing refers to this one, so nobody else asks.
 */
TPC_EXPORT void tprof_loader_job(void) __attribute__((ifunc("do_job")));

void tpc_loader_locked(void (*work)(void *context), void *context)
{
	struct job mine = { work, context, false }, *outer = job;

	job = &mine;
	tpc_real.dlsym(RTLD_DEFAULT, "tprof_loader_job");
	if (!mine.done) {
		dlerror(); /* the message is not the program's */
		work(context);
	}
	job = outer;
}

/* ---- forks ---- */

#define WAIT_ROUNDS 2000 /* of 100 us: then somebody hangs there, and a fork must not */

extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *object);

static uint32_t inside;	 /* threads */
static uint32_t forking; /* threads */

/* Who is inside and who forks each say so before they look for the other: one of them at least sees it. */
bool tpc_loader_begin(void)
{
	__atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&forking, __ATOMIC_SEQ_CST))
		return true;
	tpc_loader_end();
	return false;
}

void tpc_loader_end(void)
{
	__atomic_fetch_sub(&inside, 1, __ATOMIC_RELEASE);
}

static void fork_begins(void)
{
	struct timespec pause = { .tv_nsec = 100000 };

	__atomic_fetch_add(&forking, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < WAIT_ROUNDS && __atomic_load_n(&inside, __ATOMIC_SEQ_CST); i++)
		tpc_syscall(SYS_nanosleep, &pause, 0, 0, 0);
}

static void fork_ends(void)
{
	__atomic_fetch_sub(&forking, 1, __ATOMIC_RELEASE);
}

static void forked(void)
{
	inside = 0;
	forking = 0;
	tpc_forked();
	tpc_unshared(tpc_state.by_libc) = 1;
}

void tpc_loader_watch_forks(void)
{
	__register_atfork(fork_begins, fork_ends, forked, NULL);
}
