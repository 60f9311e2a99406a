/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/leakcheck/stubs.h"

#include "core/thread.h"
#include "hooks/link/real.h"

/*
 * Sorted as by strcmp(). Functions that programs call millions of times a second and that rarely wait, such as those of
 * mutexes, are left out.
 */
static const char *const names[] = {
	"__poll_chk",
	"__ppoll_chk",
	"__pread64_chk",
	"__pread_chk",
	"__read_chk",
	"__recv_chk",
	"__recvfrom_chk",
	"__select",
	"accept",
	"accept4",
	"clock_nanosleep",
	"cnd_timedwait",
	"cnd_wait",
	"connect",
	"epoll_pwait",
	"epoll_pwait2",
	"epoll_wait",
	"fcntl",
	"fcntl64",
	"flock",
	"io_getevents",
	"lockf",
	"lockf64",
	"mq_receive",
	"mq_send",
	"mq_timedreceive",
	"mq_timedsend",
	"msgrcv",
	"msgsnd",
	"nanosleep",
	"pause",
	"poll",
	"ppoll",
	"pread",
	"pread64",
	"preadv",
	"preadv2",
	"preadv64",
	"preadv64v2",
	"pselect",
	"pthread_barrier_wait",
	"pthread_clockjoin_np",
	"pthread_cond_clockwait",
	"pthread_cond_timedwait",
	"pthread_cond_wait",
	"pthread_join",
	"pthread_timedjoin_np",
	"read",
	"readv",
	"recv",
	"recvfrom",
	"recvmmsg",
	"recvmsg",
	"select",
	"sem_clockwait",
	"sem_timedwait",
	"sem_wait",
	"semop",
	"semtimedop",
	"send",
	"sendmmsg",
	"sendmsg",
	"sendto",
	"sigsuspend",
	"sigtimedwait",
	"sigwait",
	"sigwaitinfo",
	"sleep",
	"splice",
	"thrd_join",
	"thrd_sleep",
	"usleep",
	"wait",
	"wait3",
	"wait4",
	"waitid",
	"waitpid",
	"write",
	"writev",
};

/* Jump targets of arch/wait_stubs.S. */
extern void *tpc_wait_targets[TPC_WAIT_STUBS] TPC_NEAR;
void *tpc_wait_targets[TPC_WAIT_STUBS];
extern uint8_t tpc_wait_stubs[TPC_WAIT_STUBS][TPC_WAIT_STUB] TPC_NEAR;
static uint32_t count;

bool tpc_wait_is_one(const char *symbol)
{
	size_t low = 0, high = TPC_LENGTH(names);

	if (symbol[0] == '_' && symbol[1] != '_') /* C++ symbols: nearly all symbols of a large program */
		return false;
	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(symbol, names[middle]);

		if (order == 0)
			return true;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return false;
}

void *tpc_wait_stub(void *function)
{
	uint32_t i = 0;

	while (i < count && tpc_wait_targets[i] != function)
		i++;
	if (i == TPC_WAIT_STUBS)
		return NULL;
	if (i == count) {
		tpc_wait_targets[i] = function;
		count++;
	}
	return tpc_wait_stubs[i];
}

tpc_shared_function tpc_wait_syscall;

void tpc_wait_begin(void)
{
	if (!tpc_load(&tpc_wait_syscall))
		tpc_store_release(&tpc_wait_syscall,
				  tpc_wait_stub((void *)tpc_real.syscall)); /* pairs with the jump in sandbox.c */
}

bool tpc_wait_is_stub(const void *address)
{
	return (uintptr_t)address - (uintptr_t)tpc_wait_stubs < sizeof(tpc_wait_stubs);
}

void *tpc_wait_function(const void *stub)
{
	return tpc_wait_targets[((const uint8_t *)stub - tpc_wait_stubs[0]) / TPC_WAIT_STUB];
}
