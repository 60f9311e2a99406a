/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of libc that wait, at least 20 ms each: a nanosleep, one that a signal ends, a read, a recvfrom with all its arguments, a sleep
 * that is cancelled, a pause that a siglongjmp leaves, and again a nanosleep from there; and a thousand polls that do not wait. Fails if a
 * call does anything else than it should. Prints how many of the polls seemed to take a millisecond.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define CHECK(what)                                                                                                    \
	do {                                                                                                           \
		if (!(what)) {                                                                                         \
			fprintf(stderr, "line %d: %s\n", __LINE__, #what);                                             \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

static const struct timespec moment = { 0, 20000000 };
static int ends[2];
static volatile int cleaned;
static sigjmp_buf place;

static void ignore(int number)
{
	(void)number;
}

static void leave(int number)
{
	(void)number;
	siglongjmp(place, 1);
}

static void alarm_in(int microseconds, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };
	struct itimerval timer = { .it_value = { 0, microseconds } };

	CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

NOINLINE static void sleep_on(void)
{
	CHECK(nanosleep(&moment, NULL) == 0); /* slept */
}

NOINLINE static void be_woken(void)
{
	struct timespec minute = { 60, 0 }, left = { 0, 0 };

	alarm_in(20000, ignore);
	errno = 0;
	CHECK(nanosleep(&minute, &left) == -1 && errno == EINTR && left.tv_sec >= 50);
}

static void *send_later(void *unused)
{
	(void)unused;
	nanosleep(&moment, NULL); /* sender */
	CHECK(write(ends[1], "x", 1) == 1);
	return NULL;
}

NOINLINE static void be_sent(int by_read)
{
	struct sockaddr_un from = { .sun_family = AF_UNIX };
	socklen_t length = sizeof(from);
	pthread_t sender;
	char byte = 0;

	CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
	CHECK(pthread_create(&sender, NULL, send_later, NULL) == 0);
	if (by_read)
		CHECK(read(ends[0], &byte, 1) == 1);
	else
		CHECK(recvfrom(ends[0], &byte, 1, 0, (struct sockaddr *)&from, &length) == 1 && length < sizeof(from));
	CHECK(byte == 'x' && pthread_join(sender, NULL) == 0);
	close(ends[0]);
	close(ends[1]);
}

static void clean(void *unused)
{
	(void)unused;
	cleaned++;
}

static void *sleep_long(void *unused)
{
	(void)unused;
	pthread_cleanup_push(clean, NULL);
	sleep(60);
	pthread_cleanup_pop(0);
	return NULL;
}

NOINLINE static void cancel(void)
{
	pthread_t sleeper;
	void *result;

	CHECK(pthread_create(&sleeper, NULL, sleep_long, NULL) == 0);
	nanosleep(&moment, NULL); /* canceller */
	CHECK(pthread_cancel(sleeper) == 0 && pthread_join(sleeper, &result) == 0);
	CHECK(result == PTHREAD_CANCELED && cleaned == 1);
}

NOINLINE static void jump(void)
{
	if (sigsetjmp(place, 1) == 0) {
		alarm_in(20000, leave);
		pause();
		CHECK(0);
	}
	nanosleep(&moment, NULL); /* after the jump */
}

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

int main(void)
{
	int slow = 0;

	sleep_on();
	be_woken();
	be_sent(1);
	be_sent(0);
	cancel();
	jump();
	for (int i = 0; i < 1000; i++) {
		long long before = now();

		CHECK(poll(NULL, 0, 0) == 0);
		slow += now() - before >= 1000000;
	}
	printf("%d\n", slow);
	return 0;
}
