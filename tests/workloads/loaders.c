/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loaders HOW DIRECTORY LAPS: the loader used by several threads at once; DIRECTORY has copies of liblazyblas.so, lazy0.so to
 * lazy7.so.
 *   race   four threads load a library, call it, and unload it, each LAPS times
 *   fork   a thread asks for symbols all the time, while LAPS children are forked, each of which loads one and calls it
 * Says how many calls came out right, and how many children ended well. A child that hangs ends itself after ten seconds.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIBRARIES = 8, RACERS = 4 };

static const char *directory;
static long laps;
static unsigned long right;
static int stop;

static int load_and_call(long which)
{
	static const float x[2] = { 1, 2 }, y[2] = { 3, 4 };
	float (*dot)(int, const float *, const float *);
	char path[4096];
	void *handle;
	int good;

	snprintf(path, sizeof(path), "%s/lazy%ld.so", directory, which % LIBRARIES);
	handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	if (!handle)
		return 0;
	*(void **)&dot = dlsym(handle, "lazy_dot");
	good = dot && dot(2, x, y) == 11;
	return dlclose(handle) == 0 && good;
}

static void *race(void *first)
{
	for (long i = 0; i < laps; i++)
		__atomic_fetch_add(&right, (unsigned long)load_and_call((long)first + i), __ATOMIC_RELAXED);
	return NULL;
}

static void race_all(void)
{
	pthread_t threads[RACERS];

	for (long i = 0; i < RACERS; i++)
		pthread_create(&threads[i], NULL, race, (void *)(i * 3));
	for (int i = 0; i < RACERS; i++)
		pthread_join(threads[i], NULL);
	printf("right %lu\n", right);
}

static void *ask(void *unused)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		(void)dlsym(RTLD_DEFAULT, "strlen");
	return unused;
}

static void fork_all(void)
{
	pthread_t thread;
	long good = 0;

	pthread_create(&thread, NULL, ask, NULL);
	for (long i = 0; i < laps; i++) {
		pid_t pid = fork();
		int status = -1;

		if (pid == 0) {
			alarm(10);
			_exit(!load_and_call(i));
		}
		waitpid(pid, &status, 0);
		good += status == 0;
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	printf("children %ld\n", good);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	directory = argv[2];
	laps = atol(argv[3]);
	if (strcmp(argv[1], "race") == 0)
		race_all();
	else
		fork_all();
	return 0;
}
