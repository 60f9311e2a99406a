/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits_in WAY: loses three blocks, and waits in one call for ever, or until SIGUSR1 comes, whose handler ends the process if the file
 * `end` is there. If the call returns, the file `went_on` is made: something has ended it. The file `ready` is made before.
 * waits_in sleeps MS: sleeps for so long, and writes to the file `slept` how long that took.
 * waits_in all_signals: with a handler of its own for every signal, then as poll.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static int semaphores = -1, queue = -1;

static void make(const char *name)
{
	close(open(name, O_CREAT | O_WRONLY, 0600));
}

static void on_end(int number)
{
	(void)number;
	if (access("end", F_OK) != 0)
		return;
	/* Both are mere system calls. */
	if (semaphores >= 0)
		semctl(semaphores, 0, IPC_RMID); /* NOLINT(bugprone-signal-handler) */
	if (queue >= 0)
		msgctl(queue, IPC_RMID, NULL); /* NOLINT(bugprone-signal-handler) */
	_exit(0);
}

__attribute__((noinline)) static void lose(void)
{
	for (int i = 0; i < 3; i++)
		memset(malloc(1000), 3, 1000);
}

__attribute__((noinline)) static void scrub(void)
{
	volatile char words[16384];

	memset((char *)words, 0, sizeof(words));
}

static void wait_in_epoll(void)
{
	struct epoll_event event;
	int file = epoll_create1(0);

	make("ready");
	epoll_wait(file, &event, 1, -1);
}

static void wait_in_accept(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timeval limit = { .tv_sec = 600 }; /* with one it ends with EINTR */
	int file = socket(AF_UNIX, SOCK_STREAM, 0);

	if (bind(file, (struct sockaddr *)&address, sizeof(sa_family_t)) != 0)
		_exit(1);
	listen(file, 1);
	setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	make("ready");
	accept(file, NULL, NULL);
}

static void wait_in_read(void)
{
	int ends[2];
	char byte;

	if (pipe(ends) != 0)
		exit(2);
	make("ready");
	if (read(ends[0], &byte, 1) < 0)
		perror("read");
}

static void wait_in_sigwait(void)
{
	sigset_t set;
	int number;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	make("ready");
	sigwait(&set, &number);
}

static void wait_for_semaphore(void)
{
	struct sembuf down = { .sem_op = -1 };

	semaphores = semget(IPC_PRIVATE, 1, 0600);
	make("ready");
	semop(semaphores, &down, 1);
}

static void wait_for_message(void)
{
	struct {
		long type;
		char text[8];
	} message;

	queue = msgget(IPC_PRIVATE, 0600);
	make("ready");
	msgrcv(queue, &message, sizeof(message.text), 0, 0);
}

static void *wait_for_ever(void *unused)
{
	pthread_mutex_lock(&mutex);
	make("ready");
	pthread_cond_wait(&condition, &mutex);
	return unused;
}

static void wait_in_join(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, wait_for_ever, NULL);
	pthread_join(thread, NULL);
}

static void wait_as(const char *way)
{
	struct timespec hour = { .tv_sec = 3600 };

	if (strcmp(way, "epoll") == 0)
		wait_in_epoll();
	else if (strcmp(way, "accept") == 0)
		wait_in_accept();
	else if (strcmp(way, "read") == 0)
		wait_in_read();
	else if (strcmp(way, "sigwait") == 0)
		wait_in_sigwait();
	else if (strcmp(way, "semaphore") == 0)
		wait_for_semaphore();
	else if (strcmp(way, "message") == 0)
		wait_for_message();
	else if (strcmp(way, "cond") == 0)
		wait_for_ever(NULL);
	else if (strcmp(way, "join") == 0)
		wait_in_join();
	make("ready");
	if (strcmp(way, "poll") == 0)
		poll(NULL, 0, -1);
	else if (strcmp(way, "select") == 0)
		select(0, NULL, NULL, NULL, NULL);
	else if (strcmp(way, "pselect") == 0)
		pselect(0, NULL, NULL, NULL, &hour, NULL);
	else if (strcmp(way, "pause") == 0)
		pause();
	else if (strcmp(way, "nanosleep") == 0)
		nanosleep(&hour, NULL);
}

static long milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int sleeps(long duration)
{
	struct timespec left = { duration / 1000, duration % 1000 * 1000000 };
	long before = milliseconds();
	FILE *file;

	make("ready");
	if (nanosleep(&left, &left) != 0)
		return 1;
	file = fopen("slept", "w");
	fprintf(file, "%ld", milliseconds() - before);
	fclose(file);
	return 0;
}

static void take_all_signals(void)
{
	struct sigaction action = { .sa_handler = on_end }; /* it restarts nothing */

	for (int number = 1; number <= SIGRTMAX; number++)
		sigaction(number, &action, NULL);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	if (argc > 2)
		return sleeps(atol(argv[2]));
	if (strcmp(way, "all_signals") == 0)
		take_all_signals();
	else
		signal(SIGUSR1, on_end);
	lose();
	scrub();
	wait_as(strcmp(way, "all_signals") == 0 ? "poll" : way);
	make("went_on");
	return 1;
}
