/* SPDX-License-Identifier: Apache-2.0 */
/* For libraries that count calls by their functions' own prototypes; see countblas.c. One source file a library. */
#ifndef TPROF_TESTS_COUNTBLAS_H
#define TPROF_TESTS_COUNTBLAS_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 4096 };

static struct entry {
	char text[96];
	unsigned long calls;
} entries[ENTRIES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void count(const char *text)
{
	int i = 0;

	pthread_mutex_lock(&lock);
	while (i < ENTRIES && entries[i].calls && strcmp(entries[i].text, text) != 0)
		i++;
	if (i == ENTRIES)
		abort();
	snprintf(entries[i].text, sizeof(entries[i].text), "%s", text);
	entries[i].calls++;
	pthread_mutex_unlock(&lock);
}

__attribute__((destructor)) static void write_counts(void)
{
	const char *name = getenv("COUNTS_FILE");
	FILE *file = name ? fopen(name, "w") : NULL;

	for (int i = 0; file && i < ENTRIES && entries[i].calls; i++)
		fprintf(file, "%s %lu\n", entries[i].text, entries[i].calls);
	if (file)
		fclose(file);
}

static void *next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		abort();
	return found;
}

#define STRING(x) #x

/* A function: its type, name, parameters, arguments, and what is counted of them. */
#define COUNT(type, name, parameters, arguments, ...)                                                                  \
	type name parameters;                                                                                          \
	type name parameters                                                                                           \
	{                                                                                                              \
		static type(*real) parameters;                                                                         \
		char text[96];                                                                                         \
                                                                                                                       \
		if (!real)                                                                                             \
			*(void **)&real = next(STRING(name));                                                          \
		snprintf(text, sizeof(text), STRING(name) " " __VA_ARGS__);                                            \
		count(text);                                                                                           \
		return real arguments;                                                                                 \
	}

#endif
