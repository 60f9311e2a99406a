/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handlers HOW: signal handlers that come while an allocation is being recorded, and do what they may.
 *   fork     fork: the child goes back into what was interrupted, and on from there
 *   step     fork at one in so many instructions of mappings that are recorded, each from where nothing was called before;
 *            the child goes back and ends
 *   longjmp  leave the interrupted call for good
 */
#include "stepping.h"
#include "truth.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

enum {
	FORKS = 60,
	JUMPS = 300,
	BLOCKS = 64,
	CHILD_CALLS = 200,
	DEEP_CALLS = 100,
	DEEP_SIZE = 777,
	WAYS = 8,
	WAY_LENGTH = 6,
	APART = 64
};

static struct truth truth;
static volatile sig_atomic_t in_child, forks, bad;

static void every(long microseconds, long first)
{
	struct itimerval timer = { { 0, microseconds }, { 0, first } };

	if (setitimer(ITIMER_REAL, &timer, NULL))
		truth_die("setitimer");
}

static void on_alarm_fork(int number)
{
	int saved = errno, status = -1;
	sigset_t none;
	pid_t pid;

	(void)number;
	if (in_child || forks == FORKS)
		return;
	pid = fork();
	if (pid == 0) { /* sigprocmask is a hook of its own, and one that a handler may call */
		in_child = 1;
		sigemptyset(&none);
		sigprocmask(SIG_BLOCK, &none, NULL);
		return;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	forks++;
	bad += status != 0;
	errno = saved;
}

static void fork_in_handler(void)
{
	struct sigaction action = { .sa_handler = on_alarm_fork, .sa_flags = SA_RESTART };
	void *blocks[BLOCKS] = { NULL };
	size_t sizes[BLOCKS] = { 0 };
	int left = CHILD_CALLS;
	char line[64];

	if (sigaction(SIGALRM, &action, NULL))
		truth_die("sigaction");
	every(700, 700);
	for (size_t i = 0; forks < FORKS; i++) {
		size_t k = i % BLOCKS;

		if (blocks[k]) {
			free(blocks[k]);
			truth_free(&truth, sizes[k]);
		}
		sizes[k] = 16 + i * 37 % 800;
		blocks[k] = malloc(sizes[k]);
		truth_alloc(&truth, sizes[k]);
		if (in_child && !left--)
			_exit(0);
	}
	every(0, 0);
	truth_say(line, (size_t)snprintf(line, sizeof(line), "forks %d bad %d\n", (int)forks, (int)bad));
}

/* ---- at each instruction ---- */

static volatile sig_atomic_t stepping, way, steps;

/* Where the clock is read again if the kernel set it meanwhile, as it does during each fork. */
static int is_vdso(greg_t pc)
{
	return (unsigned long)pc - getauxval(AT_SYSINFO_EHDR) < 0x2000;
}

static void on_step_fork(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs, *flags = &registers[REG_EFL];
	int status = -1;
	pid_t pid;

	(void)number, (void)info;
	if (!stepping || in_child) {
		*flags &= ~(greg_t)TRAP_FLAG;
		return;
	}
	if (is_vdso(registers[REG_RIP]) || steps++ % APART != way * (APART / WAYS))
		return;
	pid = fork();
	if (pid == 0) {
		in_child = 1;
		*flags &= ~(greg_t)TRAP_FLAG;
		return;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	forks++;
	bad += status != 0;
}

static void map_and_step(void)
{
	steps = 0;
	stepping = 1;
	step_from_here();
	munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
	stepping = 0;
	if (in_child)
		_exit(0);
}

/* As many frames on each way, and no two ways with the same. */
static __attribute__((noinline)) void walk(int length)
{
	volatile int bit = (way >> (length % 3)) & 1;

	if (length == 0)
		map_and_step();
	else if (bit)
		walk(length - 1); /* NOLINT(bugprone-branch-clone): two calls have two return addresses */
	else
		walk(length - 1);
	bit = 0;
}

static void fork_at_each_step(void)
{
	struct sigaction action = { .sa_sigaction = on_step_fork, .sa_flags = SA_SIGINFO };
	char line[64];

	if (sigaction(SIGTRAP, &action, NULL))
		truth_die("sigaction");
	for (way = 0; way < WAYS; way++)
		walk(WAY_LENGTH);
	truth_say(line, (size_t)snprintf(line, sizeof(line), "maps %d bad %d\n", WAYS, (int)bad));
	fprintf(stderr, "%d forks\n", (int)forks);
}

/* ---- leaving ---- */

static sigjmp_buf before;

static void on_alarm_jump(int number)
{
	(void)number;
	siglongjmp(before, 1);
}

/* Below the call that was left: its frame is lain over. */
static __attribute__((noinline)) void deep(int depth)
{
	volatile char frame[256];

	frame[0] = (char)depth;
	if (depth) {
		deep(depth - 1);
	} else {
		for (int i = 0; i < DEEP_CALLS; i++) {
			truth_alloc(&truth, DEEP_SIZE);
			free(malloc(DEEP_SIZE));
			truth_free(&truth, DEEP_SIZE);
		}
	}
	frame[1] = frame[0];
}

/* mmap and munmap hold no lock of libc's: a program that leaves them is a good program. */
static void jump_out_of_calls(void)
{
	signal(SIGALRM, on_alarm_jump);
	for (volatile int i = 0; i < JUMPS; i++) {
		if (sigsetjmp(before, 1) == 0) {
			every(0, 300 + i);
			for (;;)
				munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
		}
		deep(5);
	}
	TRUTH_SAY("handlers: jumped\n");
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (!strcmp(how, "fork"))
		fork_in_handler();
	else if (!strcmp(how, "step"))
		fork_at_each_step();
	else if (!strcmp(how, "longjmp"))
		jump_out_of_calls();
	else
		truth_die("usage: handlers HOW");
	truth_write(&truth);
	return 0;
}
