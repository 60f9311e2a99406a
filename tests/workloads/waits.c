/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits FUNCTION REGISTER [lost | stale | again]: a thread waits in a call of the function; the only pointer to a block is in that
 * register, or nowhere (lost). stale: the call has returned, the pointer is gone, and the thread waits in a system call of its
 * own. again: the same instruction, at the same stack pointer, has called nanosleep() before.
 * Among the functions are some whose waiting nobody is told of: GNU's OpenMP's barrier, a mutex, code made at run time.
 * waits cancel: a thread that waits in pause() is cancelled; its cleanup handler runs.
 * 100 other blocks are lost. What comes out is the test's.
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "asleep.h"
#include "truth.h"

#define NOINLINE __attribute__((noinline))

static void *volatile slot;	    /* nobody reads it again but the search */
static volatile int waits, cleaned; /* waits: how often the thread has begun to */
static const struct timespec minute = { 60, 0 }, moment = { 0, 1000000 };

NOINLINE static void held_by_waiting(void)
{
	slot = truth_block(2843);
}

NOINLINE static void forgotten_often(void)
{
	for (int i = 0; i < 100; i++)
		truth_block(2741);
}

/* What calls leave behind on the stack are addresses, too. */
NOINLINE static void wipe_stack(void)
{
	volatile char used[16384];

	memset((void *)used, 0, sizeof(used));
}

/* ---- what is waited in ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static sigset_t none;
static int word, ends[2], epoll_fd;
static char buffer[64];
static struct epoll_event event;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

/* Of libgomp. */
void GOMP_barrier(void);
void GOMP_parallel(void (*function)(void *), void *data, unsigned int threads, unsigned int flags);
int omp_get_thread_num(void);

/* As the linker made it. The arguments are those that wait. */
static struct call {
	const char *name;
	void *function;
	long arguments[6];
} calls[] = {
	{ "pause", (void *)pause, { 0 } },
	{ "sleep", (void *)sleep, { 60 } },
	{ "usleep", (void *)usleep, { 60000000 } },
	{ "nanosleep", (void *)nanosleep, { (long)&minute, 0 } },
	{ "clock_nanosleep", (void *)clock_nanosleep, { CLOCK_MONOTONIC, 0, (long)&minute, 0 } },
	{ "poll", (void *)poll, { 0, 0, -1 } },
	{ "ppoll", (void *)ppoll, { 0, 0, 0, 0 } },
	{ "select", (void *)select, { 0 } },
	{ "pselect", (void *)pselect, { 0 } },
	{ "epoll_wait", (void *)epoll_wait, { -1, (long)&event, 1, -1 } },
	{ "epoll_pwait", (void *)epoll_pwait, { -1, (long)&event, 1, -1, 0 } },
	{ "read", (void *)read, { -1, (long)buffer, 1 } },
	{ "recv", (void *)recv, { -1, (long)buffer, 1, 0 } },
	{ "recvfrom", (void *)recvfrom, { -1, (long)buffer, 1, 0, 0, 0 } },
	{ "sigsuspend", (void *)sigsuspend, { (long)&none } },
	{ "sem_wait", (void *)sem_wait, { (long)&semaphore } },
	{ "pthread_cond_wait", (void *)pthread_cond_wait, { (long)&condition, (long)&mutex } },
	{ "pthread_barrier_wait", (void *)pthread_barrier_wait, { (long)&barrier } },
	{ "pthread_join", (void *)pthread_join, { -1, 0 } },
	{ "pthread_mutex_lock", (void *)pthread_mutex_lock, { (long)&held } },
	{ "GOMP_barrier", (void *)GOMP_barrier, { 0 } },
	{ "made", NULL, { (long)&minute, 0 } },
	{ "syscall", (void *)syscall, { SYS_futex, (long)&word, 0 /* FUTEX_WAIT */, 0, 0, 0 } },
};

static struct call *find(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (strcmp(calls[i].name, name) == 0)
			return &calls[i];
	truth_die("no such function");
	return NULL;
}

/* nanosleep, as a compiler at run time would make it; without tables for those who unwind. */
static void *make_code(void)
{
	static const unsigned char code[] = { 0xb8, SYS_nanosleep, 0, 0, 0, /* mov $SYS_nanosleep, %eax */
					      0x0f, 0x05,		    /* syscall */
					      0xc3 };			    /* ret */
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		truth_die("mmap");
	memcpy(at, code, sizeof(code));
	if (mprotect(at, 4096, PROT_READ | PROT_EXEC) != 0)
		truth_die("mprotect");
	return at;
}

static void make_ready(struct call *call)
{
	if (!call->function)
		call->function = make_code();
	pthread_mutex_lock(&held);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		truth_die("socketpair");
	epoll_fd = epoll_create1(0);
	sem_init(&semaphore, 0, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	if (strcmp(call->name, "pthread_join") == 0)
		call->arguments[0] = (long)pthread_self();
	else if (call->arguments[0] == -1)
		call->arguments[0] = call->name[0] == 'e' ? epoll_fd : ends[0];
}

/*
 * Moves what is in `slot` to the register, and calls: by `how`, with the function's address in %r10. %r14 keeps the stack
 * pointer meanwhile.
 */
#define CALL(name, which, how)                                                                                         \
	NOINLINE static void name##_with_##which(const struct call *call)                                              \
	{                                                                                                              \
		const void *at = call->arguments;                                                                      \
                                                                                                                       \
		__asm__ volatile("movq %[slot], %%" #which "\n\tmovq $0, %[slot]\n\tincl %[waits]\n\t"                 \
				 "movq %%rsp, %%r14\n\tsubq $256, %%rsp\n\tandq $-16, %%rsp\n\t"                       \
				 "movq (%%rax), %%rdi\n\tmovq 8(%%rax), %%rsi\n\tmovq 16(%%rax), %%rdx\n\t"            \
				 "movq 24(%%rax), %%rcx\n\tmovq 32(%%rax), %%r8\n\tmovq 40(%%rax), %%r9\n\t"           \
				 "movq -8(%%rax), %%r10\n\txorl %%eax, %%eax\n\t" how "\n\t"                           \
				 "movq %%r14, %%rsp\n\txorq %%" #which ", %%" #which                                   \
				 : [slot] "+m"(slot), [waits] "+m"(waits), "+a"(at)                                    \
				 :                                                                                     \
				 : "rbx", "r12", "r13", "r14", "r15", "rdi", "rsi", "rdx", "rcx", "r8", "r9", "r10",   \
				   "r11", "memory", "cc");                                                             \
	}

/* Once with a call of the function alone, through the PLT or the GOT; and, for all of them, by a pointer. */
#define CALLS(X)                                                                                                       \
	X(pause, "call pause@PLT")                                                                                     \
	X(sleep, "call sleep@PLT")                                                                                     \
	X(usleep, "call usleep@PLT")                                                                                   \
	X(nanosleep, "call nanosleep@PLT")                                                                             \
	X(clock_nanosleep, "call clock_nanosleep@PLT")                                                                 \
	X(poll, "call *poll@GOTPCREL(%%rip)")                                                                          \
	X(ppoll, "call *ppoll@GOTPCREL(%%rip)")                                                                        \
	X(select, "call select@PLT")                                                                                   \
	X(pselect, "call pselect@PLT")                                                                                 \
	X(epoll_wait, "call *epoll_wait@GOTPCREL(%%rip)")                                                              \
	X(epoll_pwait, "call epoll_pwait@PLT")                                                                         \
	X(read, "call read@PLT")                                                                                       \
	X(recv, "call recv@PLT")                                                                                       \
	X(recvfrom, "call recvfrom@PLT")                                                                               \
	X(sigsuspend, "call sigsuspend@PLT")                                                                           \
	X(sem_wait, "call sem_wait@PLT")                                                                               \
	X(pthread_cond_wait, "call pthread_cond_wait@PLT")                                                             \
	X(pthread_barrier_wait, "call pthread_barrier_wait@PLT")                                                       \
	X(pthread_join, "call pthread_join@PLT")                                                                       \
	X(pthread_mutex_lock, "call pthread_mutex_lock@PLT")                                                           \
	X(GOMP_barrier, "call GOMP_barrier@PLT")                                                                       \
	X(syscall, "call syscall@PLT")                                                                                 \
	X(pointer, "call *%%r10")

#define EACH(name, how) CALL(name, rbx, how) CALL(name, r12, how) CALL(name, r13, how) CALL(name, r15, how)
CALLS(EACH)

#define ROW(name, how) { #name, { name##_with_rbx, name##_with_r12, name##_with_r13, name##_with_r15 } },
static const struct {
	const char *name;
	void (*call[4])(const struct call *call);
} ways[] = { CALLS(ROW) };
static const char *const registers[] = { "rbx", "r12", "r13", "r15" };

static char **arguments; /* of the program's */

static void call_with(const struct call *call, const char *way)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		for (size_t k = 0; k < sizeof(registers) / sizeof(*registers); k++)
			if (strcmp(ways[i].name, way) == 0 && strcmp(registers[k], arguments[2]) == 0)
				ways[i].call[k](call);
}

static void *thread(void *call)
{
	const char *then = arguments[3] ? arguments[3] : "", *name = ((struct call *)call)->name;
	bool again = strcmp(then, "again") == 0;
	struct call before = { "nanosleep", (void *)nanosleep, { (long)&moment, 0 } };

	pthread_mutex_lock(&mutex);
	if (again)
		call_with(&before, "pointer");
	wipe_stack();
	held_by_waiting();
	wipe_stack();
	if (strcmp(then, "lost") == 0)
		slot = NULL;
	call_with(call, again || strcmp(name, "made") == 0 ? "pointer" : name);
	if (strcmp(then, "stale") == 0) {
		long result;

		waits++;
		__asm__ volatile("syscall"
				 : "=a"(result)
				 : "a"(SYS_nanosleep), "D"(&minute), "S"(0)
				 : "rcx", "r11", "memory");
	}
	return NULL;
}

/* One of the team waits in the barrier; the other sleeps. */
static void team(void *call)
{
	if (omp_get_thread_num() == 0)
		thread(call);
	else
		nanosleep(&minute, NULL);
}

static void *lead(void *call)
{
	GOMP_parallel(team, call, 2, 0);
	return NULL;
}

/* ---- cancellation ---- */

static void clean_up(void *unused)
{
	(void)unused;
	cleaned = 1;
}

static void *be_cancelled(void *unused)
{
	pthread_cleanup_push(clean_up, NULL);
	waits = 1;
	for (;;)
		pause();
	pthread_cleanup_pop(0);
	return unused;
}

static int cancel(void)
{
	void *result;
	pthread_t id;

	if (pthread_create(&id, NULL, be_cancelled, NULL) != 0)
		truth_die("pthread_create");
	while (!waits)
		usleep(1000);
	usleep(20000);
	pthread_cancel(id);
	pthread_join(id, &result);
	printf("%d %d\n", cleaned, result == PTHREAD_CANCELED);
	return 0;
}

int main(int argc, char **argv)
{
	struct call *call;
	pthread_t id;

	if (argc > 1 && strcmp(argv[1], "cancel") == 0)
		return cancel();
	if (argc < 3)
		truth_die("usage: waits FUNCTION REGISTER [lost | stale | again]");
	arguments = argv;
	call = find(argv[1]);
	if (argc > 3 && strcmp(argv[3], "stale") == 0)
		call->arguments[0] = (long)&moment; /* nanosleep's */
	make_ready(call);
	forgotten_often();
	if (pthread_create(&id, NULL, call->function == (void *)GOMP_barrier ? lead : thread, call) != 0)
		truth_die("pthread_create");
	while (waits < (argc > 3 && strcmp(argv[3], "lost") != 0 ? 2 : 1))
		usleep(1000);
	wait_until_others_sleep();
	wipe_stack();
	exit(0); /* with the thread waiting */
}
