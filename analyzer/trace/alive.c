/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the process of a trace without an end still runs, and whether it still writes this very file. */
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace/impl.h"

#include "base/now.h"

#define FIRST_NAMESPACE UINT64_C(0xeffffffc) /* inode of the PID namespace that sees all others */

/* ---- processes ---- */

static size_t read_text(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t got = file ? fread(text, 1, size - 1, file) : 0;

	if (file)
		fclose(file);
	text[got] = 0;
	return got;
}

/*
 * Whether `pid`, a number in /proc, is the process that began at `start` and is not dead. A dead process whose parent has not
 * waited for it is still listed; but so is a dead main thread while other threads of its process live.
 */
static bool lives(const char *pid, uint64_t start)
{
	enum { STATE = 3, THREADS = 20, START = 22 };
	char path[64], text[1024], *at, state = 'X';
	uint64_t threads = 0, began = 0;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	read_text(path, text, sizeof(text));
	at = strrchr(text, ')'); /* ends field 2, which may hold anything */
	for (int field = STATE; at && field <= START && (at = strchr(at + 1, ' ')); field++) {
		if (field == STATE)
			state = at[1];
		else if (field == THREADS)
			threads = strtoull(at, NULL, 10);
		else if (field == START)
			began = strtoull(at, NULL, 10);
	}
	return began && began == start && (threads > 1 || !strchr("ZXx", state));
}

/* Inode of the process's PID namespace; 0: it can't be read. */
static uint64_t namespace_of(const char *pid)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/ns/pid", pid);
	return stat(path, &status) == 0 ? status.st_ino : 0;
}

/* Whether the process has that number in the innermost of its PID namespaces. */
static bool is_numbered(const char *pid, uint32_t number)
{
	char path[64], text[4096], *line, *last;

	snprintf(path, sizeof(path), "/proc/%s/status", pid);
	read_text(path, text, sizeof(text));
	line = strstr(text, "\nNSpid:");
	if (!line)
		return false;
	line[1 + strcspn(line + 1, "\n")] = 0;
	last = strrchr(line, '\t');
	return last && strtoull(last, NULL, 10) == number;
}

static bool is_process_of(const char *pid, const struct tprof_header *header)
{
	uint64_t namespace = namespace_of(pid);

	return (!namespace || !header->pid_namespace || namespace == header->pid_namespace) &&
	       lives(pid, header->process_start);
}

/* Searches /proc for the process, and stores its number there in `pid`. */
static bool search_all(const struct tprof_header *header, char *pid, size_t size)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	bool found = false;

	while (processes && !found && (entry = readdir(processes))) {
		found = isdigit((unsigned char)entry->d_name[0]) && is_numbered(entry->d_name, header->pid) &&
			is_process_of(entry->d_name, header);
		if (found)
			snprintf(pid, size, "%.20s", entry->d_name);
	}
	if (processes)
		closedir(processes);
	return found;
}

/* Whether /proc has the numbers of the namespace that this process is in. */
static bool own_numbers(void)
{
	char number[32];
	ssize_t length = readlink("/proc/self", number, sizeof(number) - 1);

	number[length > 0 ? length : 0] = 0;
	return strtoll(number, NULL, 10) == getpid();
}

enum life { LIFE_OVER, LIFE_GOES_ON, LIFE_UNSEEN /* the process is in a namespace that can't be seen from here */ };

static enum life find_process(const struct tprof_header *header, char *pid, size_t size)
{
	uint64_t here = namespace_of("self");
	bool same = !header->pid_namespace || (header->pid_namespace == here && own_numbers());

	if (same) {
		snprintf(pid, size, "%" PRIu32, header->pid);
		return is_process_of(pid, header) ? LIFE_GOES_ON : LIFE_OVER;
	}
	if (search_all(header, pid, size))
		return LIFE_GOES_ON;
	return here == FIRST_NAMESPACE || here == header->pid_namespace ? LIFE_OVER : LIFE_UNSEEN;
}

/* ---- the file ---- */

/*
 * The writer holds a lock on its trace as long as it lives, in whatever namespace (preload/core/output.c); readers hold it for
 * a moment.
 */
static bool is_locked(int fd)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	for (int tries = 3; tries; tries--) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
			flock(fd, LOCK_UN);
			return false;
		}
		nanosleep(&moment, NULL);
	}
	return true;
}

/* The header stays mapped when a program closes descriptors that it does not know, which releases the lock. */
static bool is_mapped(const char *pid, int fd)
{
	char path[64], *line = NULL;
	struct stat status;
	size_t room = 0;
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	maps = fstat(fd, &status) == 0 ? fopen(path, "re") : NULL;
	while (maps && !found && getline(&line, &room, maps) > 0) {
		uint64_t inode;

		/* The inode alone: some file systems show another device here than stat() does. */
		found = sscanf(line, "%*s rw-s 00000000 %*s %" SCNu64, &inode) == 1 && inode == status.st_ino;
	}
	free(line);
	if (maps)
		fclose(maps);
	return found;
}

/* ---- now ---- */

/* Other machines, and this one before it was started again, have other clocks and other processes. */
static bool is_this_boot(const struct tprof_header *header)
{
	static const uint8_t unknown[sizeof(header->boot_id)];
	uint8_t here[sizeof(header->boot_id)] = { 0 };
	char text[64];
	size_t digits = 0;

	read_text("/proc/sys/kernel/random/boot_id", text, sizeof(text));
	for (const char *at = text; *at && digits < 2 * sizeof(here); at++) {
		int low = tolower((unsigned char)*at);

		if (!isxdigit((unsigned char)low))
			continue;
		here[digits / 2] = (uint8_t)(here[digits / 2] << 4 | (low <= '9' ? low - '0' : low - 'a' + 10));
		digits++;
	}
	return memcmp(header->boot_id, unknown, sizeof(here)) == 0 || memcmp(here, unknown, sizeof(here)) == 0 ||
	       memcmp(header->boot_id, here, sizeof(here)) == 0;
}

/* The time by the writer's clock, on the same machine; of several readings the one that was interrupted least. */
struct tprof_moment tpa_moment_now(uint32_t clock)
{
	struct tprof_moment now = { 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		uint64_t before = __builtin_ia32_rdtsc(), mono = tpa_now_ns(CLOCK_MONOTONIC);
		uint64_t took = __builtin_ia32_rdtsc() - before;

		if (took >= least)
			continue;
		least = took;
		now.mono_ns = mono;
		now.ticks = clock == TPROF_CLOCK_TSC ? before + took / 2 : mono;
	}
	now.unix_ns = tpa_now_ns(CLOCK_REALTIME);
	return now;
}

/* Reads the end that the process wrote after its header was read. */
static void read_end(struct tpa_trace_impl *impl)
{
	struct tprof_header later;

	if (tpa_trace_bytes_at(impl, &later, sizeof(later), 0) < sizeof(later) || later.end == TPROF_END_NONE)
		return;
	impl->header.finish = later.finish;
	impl->header.end_status = later.end_status;
	impl->header.rss_peak = later.rss_peak;
	impl->header.end = later.end;
}

bool tpa_alive_writes(int fd, const struct tprof_header *header)
{
	char pid[32] = "";

	return header->end == TPROF_END_NONE && is_this_boot(header) &&
	       find_process(header, pid, sizeof(pid)) != LIFE_OVER && (is_locked(fd) || is_mapped(pid, fd));
}

bool tpa_trace_lives(const struct tpa_trace *trace)
{
	enum life life;
	char pid[32];

	if (!is_this_boot(trace->header))
		return false;
	life = find_process(trace->header, pid, sizeof(pid));
	return life == LIFE_GOES_ON || (life == LIFE_UNSEEN && is_locked(tpa_impl(trace)->file));
}

void tpa_alive_find(struct tpa_trace_impl *impl)
{
	const struct tprof_header *header = &impl->header;
	bool here = is_this_boot(header), locked, written;
	char pid[32];
	enum life life;

	if (header->end != TPROF_END_NONE || !header->process_start)
		return;
	life = here ? find_process(header, pid, sizeof(pid)) : LIFE_UNSEEN;
	locked = life != LIFE_OVER && is_locked(impl->file);
	impl->trace.running = life == LIFE_GOES_ON || (life == LIFE_UNSEEN && locked);
	written = here && impl->trace.running && (locked || is_mapped(pid, impl->file));
	if (written)
		impl->now = tpa_moment_now(header->clock);
	/* earlier than the trace's begin or its latest moment: this is not the writer's clock */
	if (impl->now.mono_ns < header->start.mono_ns || impl->now.mono_ns < header->latest.mono_ns ||
	    impl->now.ticks < header->start.ticks || impl->now.ticks < header->latest.ticks)
		impl->now = (struct tprof_moment){ 0 };
	impl->trace.written = impl->now.ticks != 0;
	if (!impl->trace.running)
		read_end(impl);
}
