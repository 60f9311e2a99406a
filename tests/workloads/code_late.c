// SPDX-License-Identifier: Apache-2.0
/*
 * code_late FILE TIMES HOW: loads libcode_kernels.so, calls it TIMES times, unloads it, and does so again. HOW: "alone", or
 * "threads" to start a thread before. Prints the sum.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *wait_for_end(void *unused)
{
	pause();
	return unused;
}

int main(int count, char **arguments)
{
	int times = count > 2 ? atoi(arguments[2]) : 10;
	long sum = 0;
	pthread_t thread;

	if (count < 2)
		return 2;
	if (count > 3 && strcmp(arguments[3], "threads") == 0)
		pthread_create(&thread, NULL, wait_for_end, NULL);
	for (int round = 0; round < 2; round++) {
		void *library = dlopen(arguments[1], RTLD_NOW);
		int (*run)(int) = library ? (int (*)(int))dlsym(library, "late_run") : NULL;

		if (!run)
			return 1;
		for (int i = 0; i < times; i++)
			sum += run(i);
		dlclose(library);
	}
	printf("sum %ld\n", sum);
	return 0;
}
