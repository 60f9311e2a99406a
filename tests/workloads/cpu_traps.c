/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_traps NAME: programs that a CPU sampler would disturb, or that would disturb it. Each says what it saw; that must be
 * the same with and without a sampler.
 */
#include "truth.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>

static volatile unsigned int sum;
static volatile sig_atomic_t ticks, strays;

static uint64_t cpu_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now))
		truth_die("clock_gettime");
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void burn(unsigned int milliseconds)
{
	uint64_t end = cpu_ns() + milliseconds * UINT64_C(1000000);

	do {
		for (unsigned int i = 0; i < 20000; i++)
			sum += i;
	} while (cpu_ns() < end);
}

static void say(const char *what, long number)
{
	char line[100];

	truth_say(line, (size_t)snprintf(line, sizeof(line), "%s %ld\n", what, number));
}

static void on_tick(int number)
{
	(void)number;
	ticks++;
}

static void on_stray(int number)
{
	(void)number;
	strays++;
}

/* A profiler of its own, on SIGPROF. */
static void own_profiler(char **argv)
{
	struct itimerval every = { { 0, 5000 }, { 0, 5000 } }, off = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = on_tick, .sa_flags = SA_RESTART }, old;

	(void)argv;
	if (sigaction(SIGPROF, &action, &old) || setitimer(ITIMER_PROF, &every, NULL))
		truth_die("setitimer");
	for (int i = 0; i < 100 && (!i || ticks <= 10); i++) /* ticks may come together */
		burn(300);
	setitimer(ITIMER_PROF, &off, NULL);
	say("default before:", old.sa_handler == SIG_DFL);
	say("ticked:", ticks > 10);
}

/* A handler for every signal there is: all were unused before, and none comes without having been sent. */
static void all_handlers(char **argv)
{
	struct sigaction action = { .sa_handler = on_stray }, asked, old;
	long unused = 0, taken = 0;
	char text[100];

	(void)argv;
	burn(50);
	for (int number = 1; number <= SIGRTMAX; number++) {
		if (number == SIGKILL || number == SIGSTOP || (number >= 32 && number < SIGRTMIN))
			continue;
		if (sigaction(number, NULL, &asked) || asked.sa_handler != SIG_DFL)
			continue;
		unused++;
		taken += sigaction(number, &action, &old) == 0 && old.sa_handler == SIG_DFL;
	}
	truth_write_text("", text, (size_t)snprintf(text, sizeof(text), "{\"cpu_ns\": %" PRIu64 "}\n", cpu_ns()));
	burn(200);
	say("unused:", unused);
	say("taken:", taken);
	say("came by themselves:", strays);
}

/* Everything blocked, as in a pool's worker. */
static void blocked(char **argv)
{
	sigset_t all, before, pending;

	(void)argv;
	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &before))
		truth_die("pthread_sigmask");
	burn(300);
	if (sigpending(&pending))
		truth_die("sigpending");
	for (int number = 1; number <= SIGRTMAX; number++)
		strays += sigismember(&pending, number) == 1;
	if (pthread_sigmask(SIG_SETMASK, &before, NULL))
		truth_die("pthread_sigmask");
	say("pending:", strays);
}

static void *burner(void *argument)
{
	burn(*(unsigned int *)argument);
	return NULL;
}

/* A thread that waits for whatever signal comes gets those that were sent, and no other. */
static void waits_for_all(char **argv)
{
	struct timespec soon = { .tv_nsec = 5000000 };
	unsigned int milliseconds = 300;
	sigset_t all;
	pthread_t thread;
	long sent = 0, others = 0;

	(void)argv;
	sigfillset(&all);
	if (pthread_sigmask(SIG_BLOCK, &all, NULL) || pthread_create(&thread, NULL, burner, &milliseconds))
		truth_die("pthread_create");
	for (int i = 0; i < 50; i++) {
		int number;

		burn(4);
		if (i % 5 == 0)
			pthread_kill(pthread_self(), SIGUSR1);
		number = sigtimedwait(&all, NULL, &soon);
		sent += number == SIGUSR1;
		others += number > 0 && number != SIGUSR1;
		others += number < 0 && errno != EAGAIN;
	}
	pthread_join(thread, NULL);
	say("sent and received:", sent);
	say("others:", others);
}

static int fds[2];

static void *writer(void *argument)
{
	struct timespec pause = { .tv_nsec = 300000 };

	for (long i = 0; i < *(long *)argument; i++) {
		nanosleep(&pause, NULL);
		if (write(fds[1], "x", 1) != 1)
			truth_die("write");
	}
	return NULL;
}

/* Many short calls that block, between bursts of CPU time: none may end early. */
static void short_calls(char **argv)
{
	struct timespec pause = { .tv_nsec = 100000 };
	long rounds = 300, early = 0;
	pthread_t thread;
	char byte;

	(void)argv;
	if (pipe(fds) || pthread_create(&thread, NULL, writer, &rounds))
		truth_die("pthread_create");
	for (long i = 0; i < rounds; i++) {
		struct pollfd none = { .fd = -1 };

		burn(1);
		early += read(fds[0], &byte, 1) != 1;
		burn(1);
		early += nanosleep(&pause, NULL) != 0;
		early += poll(&none, 1, 1) != 0;
		early += clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL) != 0;
	}
	pthread_join(thread, NULL);
	say("ended early:", early);
}

static void forks(char **argv)
{
	long good = 0;

	(void)argv;
	for (int i = 0; i < 30; i++) {
		int status = -1;
		pid_t pid = fork();

		if (pid == 0) {
			free(malloc(100));
			burn(30);
			_exit(i);
		}
		burn(2);
		if (waitpid(pid, &status, 0) == pid)
			good += WIFEXITED(status) && WEXITSTATUS(status) == i;
	}
	say("children:", good);
}

static void short_threads(char **argv)
{
	enum { BATCH = 7, BATCHES = 100 };
	unsigned int milliseconds = 1;
	pthread_t threads[BATCH];
	long joined = 0;

	(void)argv;
	for (int batch = 0; batch < BATCHES; batch++) {
		for (int i = 0; i < BATCH; i++)
			if (pthread_create(&threads[i], NULL, burner, &milliseconds))
				truth_die("pthread_create");
		for (int i = 0; i < BATCH; i++)
			joined += pthread_join(threads[i], NULL) == 0;
	}
	say("threads:", joined);
}

static int c11_burner(void *milliseconds)
{
	burner(milliseconds);
	return 7;
}

/* C11's threads, which call nothing that is hooked. */
static void c11_threads(char **argv)
{
	unsigned int milliseconds = 150;
	thrd_t threads[2];
	long results = 0;

	(void)argv;
	for (size_t i = 0; i < 2; i++)
		if (thrd_create(&threads[i], c11_burner, &milliseconds) != thrd_success)
			truth_die("thrd_create");
	for (size_t i = 0; i < 2; i++) {
		int result = 0;

		thrd_join(threads[i], &result);
		results += result;
	}
	say("results:", results);
}

/* exec under way while a timer fires: the new image has no handler, and the signal would kill it. */
static void execs(char **argv)
{
	long left = argv[0] ? atol(argv[0]) : 100;
	char number[24];
	char *next[] = { (char *)"cpu_traps", (char *)"exec", number, NULL };

	burn(1);
	if (left) {
		snprintf(number, sizeof(number), "%ld", left - 1);
		execv("/proc/self/exe", next);
		truth_die("execv");
	}
	say("the last image", left);
}

/* Blocked by the kernel itself, whatever a preloaded library makes of sigprocmask(). */
static __attribute__((noinline)) void computes_while_signals_wait(void)
{
	uint64_t all = ~UINT64_C(0), none = 0;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
	burn(3);
	syscall(SYS_tgkill, getpid(), gettid(), SIGURG);
	syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none)); /* now they come, and a sampler's on top */
}

static void together(char **argv)
{
	struct sigaction urgent = { .sa_handler = on_tick, .sa_flags = SA_RESTART },
			 user = { .sa_handler = on_stray, .sa_flags = SA_RESTART };

	(void)argv;
	if (sigaction(SIGURG, &urgent, NULL) || sigaction(SIGUSR1, &user, NULL))
		truth_die("sigaction");
	for (int i = 0; i < 200; i++)
		computes_while_signals_wait();
	say("ticks:", ticks);
	say("strays:", strays);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(char **argv);
	} traps[] = {
		{ "profiler", own_profiler }, { "handlers", all_handlers },
		{ "blocked", blocked },	      { "sigwait", waits_for_all },
		{ "calls", short_calls },     { "fork", forks },
		{ "threads", short_threads }, { "exec", execs },
		{ "together", together },     { "c11", c11_threads },
	};

	for (size_t i = 0; argc > 1 && i < sizeof(traps) / sizeof(traps[0]); i++) {
		if (strcmp(argv[1], traps[i].name) == 0) {
			traps[i].run(argv + 2);
			return 0;
		}
	}
	return 2;
}
