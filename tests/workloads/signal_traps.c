/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal_traps NAME: programs that use every signal there is, the sampler's among them, and the stacks of handlers. Each
 * says what it saw; that must be the same with and without a sampler.
 */
#include "truth.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* System V's functions, which programs still call */

#define OTHER_MAX 64 /* signals that this can be said of */

static volatile unsigned int sum;

static void burn(unsigned int milliseconds)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		for (unsigned int i = 0; i < 20000; i++)
			sum += i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < milliseconds);
}

static void say(const char *what, long number)
{
	char line[100];

	truth_say(line, (size_t)snprintf(line, sizeof(line), "%s %ld\n", what, number));
}

/* libc keeps two for itself. */
static int is_usable(int number)
{
	return number != SIGKILL && number != SIGSTOP && (number < 32 || number >= SIGRTMIN);
}

static sigset_t only(int number)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	return set;
}

/* Each signal blocked, sent to itself, and taken in one of three ways. */
static void takes_each(void)
{
	struct timespec soon = { .tv_nsec = 100000000 };
	long wrong = 0, unblocked = 0;
	sigset_t all, now;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (int number = 1; number <= OTHER_MAX; number++) {
		sigset_t one = only(number);
		struct signalfd_siginfo info;
		int got = 0, fd;

		if (!is_usable(number))
			continue;
		kill(getpid(), number);
		wrong += sigtimedwait(&one, NULL, &soon) != number;
		kill(getpid(), number);
		wrong += sigwait(&one, &got) != 0 || got != number;
		fd = signalfd(-1, &one, SFD_NONBLOCK | SFD_CLOEXEC);
		kill(getpid(), number);
		wrong += read(fd, &info, sizeof(info)) != sizeof(info) || info.ssi_signo != (unsigned int)number;
		close(fd);
	}
	sigprocmask(SIG_BLOCK, NULL, &now);
	for (int number = 1; number <= OTHER_MAX; number++)
		unblocked += is_usable(number) && sigismember(&now, number) != 1;
	say("not taken as sent:", wrong);
	say("not blocked:", unblocked);
}

/* All signals are blocked, as they were where this thread or process was made: what is sent is taken when it is asked for. */
static long wrong_as_inherited(void)
{
	struct timespec soon = { .tv_nsec = 100000000 };
	long wrong = 0;
	sigset_t now;

	free(malloc(10));
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
		sigset_t one = only(number);

		wrong += sigismember(&now, number) != 1;
		raise(number);
		wrong += sigtimedwait(&one, NULL, &soon) != number;
	}
	return wrong;
}

static void *takes_in_thread(void *wrong)
{
	*(long *)wrong = wrong_as_inherited();
	return NULL;
}

/* As servers do that have one thread wait for all signals. */
static void takes_each_elsewhere(int in_child)
{
	int status = 0;
	long wrong = 0;
	pthread_t thread;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	if (!in_child) {
		pthread_create(&thread, NULL, takes_in_thread, &wrong);
		pthread_join(thread, NULL);
	} else {
		pid_t pid = fork();

		if (pid == 0)
			_exit(wrong_as_inherited() != 0);
		if (waitpid(pid, &status, 0) != pid)
			truth_die("waitpid");
	}
	say("wrong as inherited:", wrong + status);
}

static void takes_each_in_thread(void)
{
	takes_each_elsewhere(0);
}

static void takes_each_in_child(void)
{
	takes_each_elsewhere(1);
}

static void *takes_all(void *missing)
{
	struct timespec soon = { .tv_sec = 1 };
	long *left = missing;
	sigset_t all;

	sigfillset(&all);
	while (*left && sigtimedwait(&all, NULL, &soon) >= SIGRTMIN)
		--*left;
	return NULL;
}

/* Servers have all signals blocked in all threads, and one of these waits for what is sent to the process. */
static void takes_for_process(void)
{
	long missing = 2 * (SIGRTMAX - SIGRTMIN + 1);
	pthread_t thread;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		kill(getpid(), number);
	pthread_create(&thread, NULL, takes_all, &missing);
	usleep(50000);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		kill(getpid(), number);
	pthread_join(thread, NULL);
	say("not taken:", missing);
}

/* A child that has other signals blocked than its parent, on its parent's memory. */
static void vfork_unblocks(void)
{
	sigset_t all, none;
	static long pending;
	pid_t pid;

	sigfillset(&all);
	sigemptyset(&none);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	pid = vfork();
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, &none, NULL); /* NOLINT(clang-analyzer-unix.Vfork): as shells do */
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	if (waitpid(pid, NULL, 0) != pid)
		truth_die("waitpid");
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		raise(number);
	sigpending(&all);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		pending += sigismember(&all, number);
	say("pending:", pending);
}

static volatile long handled;

static void on_any(int number)
{
	(void)number;
	handled++;
}

extern __sighandler_t __sysv_signal(int number, __sighandler_t handler);

/* A handler for each signal by older functions: it runs once when it is sent, and not before. */
static void handles_each_by(__sighandler_t (*set)(int, __sighandler_t))
{
	long before, count = SIGRTMAX - SIGRTMIN + 1, wrong = 0;

	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		wrong += set(number, on_any) != SIG_DFL;
	burn(100);
	before = handled;
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		raise(number);
	say("not unused before:", wrong);
	say("came by themselves:", before);
	say("did not come:", count - (handled - before));
}

/* What signal() is in strict C: the handler is gone when it ran. */
static void handles_each_once(void)
{
	handles_each_by(__sysv_signal);
}

static void handles_each_by_sigset(void)
{
	handles_each_by(sigset);
}

/* By System V's functions. */
static void holds_each(void)
{
	long pending = 0, wrong = 0;
	sigset_t set;

	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		wrong += sighold(number) != 0;
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		raise(number);
	sigpending(&set);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
		pending += sigismember(&set, number);
		wrong += sigignore(number) != 0; /* and what is pending is gone */
		wrong += sigrelse(number) != 0;
		raise(number);
	}
	say("pending:", pending);
	say("wrong:", wrong);
}

/* What a child knows that is not recorded. */
static void child_asks(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		long defaults = 0;

		free(malloc(10));
		for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
			struct sigaction action;

			defaults += sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_DFL;
		}
		_exit((int)defaults);
	}
	if (waitpid(pid, &status, 0) != pid)
		truth_die("waitpid");
	say("real-time signals unused:", WEXITSTATUS(status));
}

/* As daemons do: ignored, as said and when it comes. */
static void ignores_each(void)
{
	struct sigaction ignored = { .sa_handler = SIG_IGN }, found;
	long wrong = 0;

	for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
		if (number % 2)
			signal(number, SIG_IGN);
		else
			sigaction(number, &ignored, NULL);
	}
	burn(100);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
		wrong += sigaction(number, NULL, &found) != 0 || found.sa_handler != SIG_IGN;
		raise(number);
		wrong += signal(number, SIG_IGN) != SIG_IGN;
	}
	say("not ignored:", wrong);
}

/* One child for each signal, which dies of it as it does by default. */
static void dies_of_each(void)
{
	long deaths = 0, others = 0;

	for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
		int status = 0;
		pid_t pid = fork();

		if (pid == 0) {
			free(malloc(10)); /* known to a profiler, and with a sampler of its own */
			kill(getpid(), number);
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid)
			truth_die("waitpid");
		if (WIFSIGNALED(status) && WTERMSIG(status) == number)
			deaths++;
		else
			others++;
	}
	say("died of it:", deaths);
	say("did not:", others);
}

/* Between vfork and exec the memory is the parent's, the handlers are not. */
static void vfork_resets(void)
{
	struct sigaction action;
	static long defaults;
	int status = -1, number = 1;
	pid_t pid = vfork();

	if (pid == 0) {
		for (; number <= OTHER_MAX; number++)
			signal(number, SIG_DFL); /* NOLINT(clang-analyzer-unix.Vfork): as shells do */
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid)
		truth_die("waitpid");
	for (number = SIGRTMIN; number <= SIGRTMAX; number++)
		defaults += sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_DFL;
	burn(150);
	say("status:", status);
	say("real-time signals unused:", defaults);
}

/* As shells and daemons begin: whatever was inherited, back to the default. */
static void resets(void)
{
	for (int number = 1; number <= OTHER_MAX; number++)
		signal(number, SIG_DFL);
	burn(150);
	say("reset:", 1);
}

/* The same past libc's functions: what was there before is the default, and what is sent then does what that says. */
static void resets_by_syscall(void)
{
	struct {
		void (*handler)(int);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask;
	} standard = { 0 }, ignored = { .handler = SIG_IGN }, old;
	long wrong = 0;

	for (int number = 1; number <= OTHER_MAX; number++) {
		if (number == SIGKILL || number == SIGSTOP)
			continue;
		wrong += syscall(SYS_rt_sigaction, number, &standard, &old, sizeof(old.mask)) != 0;
		wrong += number >= SIGRTMIN && old.handler != SIG_DFL; /* nohup and shells leave others ignored */
	}
	burn(150);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
		wrong += syscall(SYS_rt_sigaction, number, &ignored, NULL, sizeof(old.mask)) != 0;
		raise(number);
	}
	say("not as reset:", wrong);
}

static volatile long pending_in_handler;

static void long_handler(int number)
{
	sigset_t pending;

	(void)number;
	burn(30);
	sigpending(&pending);
	for (int other = 1; other <= OTHER_MAX; other++)
		pending_in_handler += sigismember(&pending, other) == 1;
}

/* A handler that blocks everything while it runs, and runs for long. */
static void masks_in_handler(void)
{
	struct sigaction action = { .sa_handler = long_handler };

	sigfillset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 5; i++)
		raise(SIGUSR1);
	say("pending in the handler:", pending_in_handler);
}

/* Began with everything blocked: what it waits for is nothing, as nobody sends anything. */
static void waits_as_inherited(void)
{
	struct timespec soon = { .tv_nsec = 20000000 };
	long came = 0;
	sigset_t all;

	sigfillset(&all);
	for (int i = 0; i < 5; i++) {
		burn(30);
		came += sigtimedwait(&all, NULL, &soon) > 0;
	}
	say("came:", came);
}

static volatile long strays, values_wrong, masks_wrong;

/* Who sent it, with what value, and what is blocked meanwhile: as it was asked for. */
static void on_value(int number, siginfo_t *info, void *context)
{
	sigset_t now;

	(void)context;
	strays += info->si_code != SI_QUEUE;
	values_wrong += info->si_value.sival_int != number * 7;
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	masks_wrong += sigismember(&now, SIGUSR2) != 1 || sigismember(&now, SIGUSR1) != 0;
}

/* As a runtime does that handles all signals (Go's): a handler for each, which restarts what it interrupts. */
static struct sigaction handles_all(void)
{
	struct sigaction action = { .sa_sigaction = on_value, .sa_flags = SA_SIGINFO | SA_RESTART };

	sigaddset(&action.sa_mask, SIGUSR2);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		sigaction(number, &action, NULL);
	return action;
}

static long differing(const struct sigaction *expected)
{
	struct sigaction found;
	long differ = 0;

	for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
		if (sigaction(number, NULL, &found))
			differ++;
		differ += found.sa_sigaction != expected->sa_sigaction ||
			  (found.sa_flags & (SA_SIGINFO | SA_RESTART)) != expected->sa_flags ||
			  sigismember(&found.sa_mask, SIGUSR2) != sigismember(&expected->sa_mask, SIGUSR2);
	}
	return differ;
}

static void handles_all_unused(void)
{
	static const struct sigaction standard = { .sa_handler = SIG_DFL };
	struct sigaction action = handles_all();

	say("not as set:", differing(&action));
	handles_all(); /* the same again */
	burn(100);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		sigaction(number, &standard, NULL);
	say("not as reset:", differing(&standard));
	action = handles_all();
	say("not as set again:", differing(&action));
	burn(100);
	say("came by themselves:", strays);
}

static void send_all(void)
{
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		sigqueue(getpid(), number, (union sigval){ .sival_int = number * 7 });
	say("strays:", strays);
	say("other values:", values_wrong);
	say("other masks:", masks_wrong);
}

/* Used at last, in a child too. */
static void handles_all_used(void)
{
	struct sigaction action = handles_all();
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		say("not as set:", differing(&action));
		send_all();
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid)
		truth_die("waitpid");
	say("child:", status);
	burn(100);
	send_all();
	say("not as set:", differing(&action));
}

/* ---- stacks for handlers ---- */

enum { REGION = 65536, PAINT = 0x5a };

struct room {
	size_t size; /* of the alternate stack */
	long below;  /* bytes that somebody wrote below it */
};

/* A stack that is there for a fault that never comes; nobody has any business below it. */
static void *computes_with_small_stack(void *argument)
{
	struct room *room = argument;
	unsigned char *region = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_sp = region + REGION / 2, .ss_size = room->size };

	memset(region, PAINT, REGION);
	if (sigaltstack(&stack, NULL))
		room->below = -1; /* too small for this kernel */
	burn(150);
	for (size_t i = 0; i < REGION / 2; i++)
		room->below += region[i] != PAINT;
	return argument;
}

static void small_stacks(void)
{
	struct room rooms[] = { { 2048, 0 }, { 4096, 0 }, { 8192, 0 } };

	for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, computes_with_small_stack, &rooms[i]);
		pthread_join(thread, NULL);
		say("written below the stack:", rooms[i].below > 0);
	}
}

static void *computes_with_stack_gone(void *argument)
{
	stack_t stack = { .ss_size = REGION };

	stack.ss_sp = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sigaltstack(&stack, NULL) || munmap(stack.ss_sp, REGION))
		truth_die("sigaltstack");
	burn(150);
	return argument;
}

static void stack_gone(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, computes_with_stack_gone, NULL);
	pthread_join(thread, NULL);
	say("alive:", 1);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} traps[] = {
		{ "take", takes_each },
		{ "die", dies_of_each },
		{ "thread", takes_each_in_thread },
		{ "child", takes_each_in_child },
		{ "ignore", ignores_each },
		{ "process", takes_for_process },
		{ "vfork_mask", vfork_unblocks },
		{ "once", handles_each_once },
		{ "sigset", handles_each_by_sigset },
		{ "hold", holds_each },
		{ "child_asks", child_asks },
		{ "vfork", vfork_resets },
		{ "reset", resets },
		{ "resets_by_syscall", resets_by_syscall },
		{ "mask", masks_in_handler },
		{ "inherited", waits_as_inherited },
		{ "small_stacks", small_stacks },
		{ "stack_gone", stack_gone },
		{ "unused", handles_all_unused },
		{ "used", handles_all_used },
	};

	for (size_t i = 0; argc > 1 && i < sizeof(traps) / sizeof(traps[0]); i++) {
		if (strcmp(argv[1], traps[i].name) == 0) {
			traps[i].run();
			return 0;
		}
	}
	return 2;
}
