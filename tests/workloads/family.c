/* SPDX-License-Identifier: Apache-2.0 */
/*
 * family HOW: forked processes that share pages, and what they have resident together, as the kernel says: in TRUTH_FILE, as JSON.
 * In bytes: "pss_anon", "pss", "rss" are sums over all processes that live then; "files" is what is mapped of FILE.
 *   workers  the parent has 40 MB; each of three workers writes to 10 MB of them, and takes 5 MB of its own
 *   orphans  the same, but the parent ends before they write, and a process that has unmapped its memory leads
 *   files    two workers map all of the program's second argument, FILE, and read it
 *   chunks   each worker maps another third of FILE
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MB 1000000
#define WORKERS 3

static int ready[2], leave[2];
static pid_t workers[WORKERS];
static size_t mapped;
static pid_t parent;

static char *pages(size_t bytes)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		_exit(3);
	memset(memory, 1, bytes);
	return memory;
}

/* Reads what is mapped of the file from `from` on. */
static void read_file(const char *path, size_t from, size_t bytes)
{
	int file = open(path, O_RDONLY);
	const char *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, (off_t)from);
	unsigned int sum = 0;

	if (memory == MAP_FAILED)
		_exit(3);
	for (size_t i = 0; i < bytes; i += 4096)
		sum += (unsigned char)memory[i];
	close(file);
	if (sum == 1)
		_exit(3);
}

/* Gives the collector reasons to look at the memory: half a second of allocations. */
static void be_seen(void)
{
	for (int i = 0; i < 50; i++) {
		void *volatile block = malloc(100);

		free(block);
		usleep(10000);
	}
}

static void say(int to)
{
	if (write(to, "x", 1) != 1)
		_exit(3);
}

static void listen(int from)
{
	char byte;

	if (read(from, &byte, 1) != 1)
		_exit(3);
}

static void work(int number, const char *how, char *inherited, const char *file)
{
	size_t third = mapped / WORKERS / 4096 * 4096;

	while (strcmp(how, "orphans") == 0 && getppid() == parent)
		usleep(1000);

	if (strcmp(how, "chunks") == 0)
		read_file(file, (size_t)number * third, third);
	else if (strcmp(how, "files") == 0)
		read_file(file, 0, mapped);
	else {
		memset(inherited, number, 10 * MB);
		pages(5 * MB);
	}
	be_seen();
	say(ready[1]);
	listen(leave[0]);
	be_seen(); /* all are there until the last has been seen */
	say(ready[1]);
	listen(leave[0]);
	_exit(0);
}

/* Adds up a line of the process's smaps_rollup, in bytes. */
static size_t rolled(pid_t pid, const char *name)
{
	char path[64], line[256];
	size_t kib = 0, sum = 0;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	in = fopen(path, "r");
	while (in && fgets(line, sizeof(line), in))
		if (strncmp(line, name, strlen(name)) == 0 && sscanf(line + strlen(name), ": %zu", &kib) == 1)
			sum += kib * 1024;
	if (in)
		fclose(in);
	return sum;
}

static size_t together(const char *name, bool leads)
{
	size_t sum = leads ? rolled(getpid(), name) : 0;

	for (int i = 0; i < WORKERS; i++)
		sum += rolled(workers[i], name);
	return sum;
}

static void tell(bool leads)
{
	FILE *out = fopen(getenv("TRUTH_FILE"), "w");

	if (!out)
		_exit(3);
	fprintf(out, "{\"pss_anon\": %zu, \"pss\": %zu, \"rss\": %zu, \"files\": %zu}\n", together("Pss_Anon", leads),
		together("Pss", leads), together("Rss", leads), mapped);
	fclose(out);
}

/* Tells once all are there, and lets them end. `leads`: this process counts, too. */
static void lead(bool leads)
{
	for (int turn = 0; turn < 2; turn++) {
		for (int i = 0; i < WORKERS; i++)
			listen(ready[0]);
		if (turn == 1)
			tell(leads);
		for (int i = 0; i < WORKERS; i++)
			say(leave[1]);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "", *file = argc > 2 ? argv[2] : NULL;
	bool orphans = strcmp(how, "orphans") == 0;
	char *inherited = NULL;
	struct stat status;

	if (pipe(ready) || pipe(leave) || (file && stat(file, &status)))
		return 3;
	parent = getpid();
	mapped = file ? (size_t)status.st_size : 0;
	if (!file)
		inherited = pages(40 * MB);
	for (int i = 0; i < WORKERS; i++) {
		workers[i] = fork();
		if (!workers[i])
			work(i, how, inherited, file);
	}
	if (orphans && fork() == 0) {
		munmap(inherited, 40 * MB);
		be_seen();
		say(leave[1]);
		lead(false);
		close(ready[1]);
		while (read(ready[0], (char[1]){ 0 }, 1) > 0)
			;
		close(open("done", O_CREAT | O_WRONLY, 0600));
		_exit(0);
	}
	if (orphans)
		listen(leave[0]);
	else
		lead(true);
	while (!orphans && wait(NULL) > 0)
		;
	return 0;
}
