/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/control.h"

#include "base/memory.h"
#include "base/file_lock.h"
#include "trace/wake.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define POLL_NS 2000000 /* between two checks for the program's answer */
#define WAKE_FIRST 25	/* polls until a thread is woken, */
#define WAKE_EVERY 50	/* and from one to the next */

enum { STAT_PARENT = 4, STAT_START = 22 };

/* A field of /proc/PID/stat; 0: there is no such process. */
static uint64_t stat_field(pid_t pid, int number)
{
	char path[64], text[1024], *at;
	uint64_t value = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	at = strrchr(text, ')'); /* ends field 2, which may hold anything */
	for (int field = 2; at && field < number; field++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, " %" SCNu64, &value) == 1 ? value : 0;
}

static uint64_t start_of(pid_t pid)
{
	return stat_field(pid, STAT_START);
}

static bool check_user(pid_t pid, char **error)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &status) != 0)
		*error = tpa_format("there is no process %d", (int)pid);
	else if (geteuid() != 0 && status.st_uid != geteuid())
		*error = tpa_format("process %d is another user's", (int)pid);
	return !*error;
}

/* ---- finding it ---- */

struct mapping {
	dev_t device;
	ino_t inode;
	char path[4096];
};

/* A shared, writable mapping of a file from its beginning, as long as a header. Others are no header. */
static bool parse_mapping(char *line, struct mapping *mapping)
{
	unsigned long start, end, offset, inode;
	unsigned major_number, minor_number;
	char permissions[5];
	int path_at = 0;

	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &start, &end, permissions, &offset, &major_number,
		   &minor_number, &inode, &path_at) < 7 ||
	    strcmp(permissions, "rw-s") != 0 || offset != 0 || end - start < TPROF_HEADER_SIZE || !path_at)
		return false;
	line[strcspn(line, "\n")] = 0;
	mapping->device = makedev(major_number, minor_number);
	mapping->inode = inode;
	snprintf(mapping->path, sizeof(mapping->path), "%s", line + path_at);
	return line[path_at] == '/';
}

/* Opens a path if it is the very file that is mapped. */
static int open_if(const char *path, const struct mapping *mapping)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;

	if (fd < 0)
		return -1;
	/* The inode alone: some file systems show another device in maps than stat() does. */
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_ino == mapping->inode)
		return fd;
	close(fd);
	return -1;
}

/* By its name, by its name as the process sees it or, once it has no name, by the process's descriptor. */
static int open_mapping(pid_t pid, const struct mapping *mapping)
{
	char path[4200];
	int fd = open_if(mapping->path, mapping);

	if (fd < 0) {
		snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, mapping->path);
		fd = open_if(path, mapping);
	}
	for (int number = 1000; fd < 0 && number < 1064;
	     number++) { /* preload/core/output.c keeps the descriptor in this range */
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, number);
		fd = open_if(path, mapping);
	}
	return fd;
}

/* Maps the header if it is of this process and its file has the process's owner. */
static struct tprof_header *map_header(int fd, pid_t pid)
{
	struct tprof_header *header = mmap(NULL, TPROF_HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (header == MAP_FAILED)
		return NULL;
	if (memcmp(header->magic, TPROF_MAGIC, sizeof(header->magic)) == 0 && header->version == TPROF_VERSION &&
	    header->process_start == start_of(pid) && header->recording != TPROF_RECORDING_UNKNOWN)
		return header;
	munmap(header, TPROF_HEADER_SIZE);
	return NULL;
}

static bool try_mapping(struct tpa_control *control, const struct mapping *mapping)
{
	struct stat status;
	int fd = open_mapping(control->pid, mapping);

	/* a truncated file would cause a SIGBUS */
	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size >= TPROF_HEADER_SIZE)
		control->header = map_header(fd, control->pid);
	if (control->header) {
		control->fd = fd;
		snprintf(control->path, sizeof(control->path), "%s", mapping->path);
		return true;
	}
	if (fd >= 0)
		close(fd);
	return false;
}

bool tpa_control_open(struct tpa_control *control, pid_t pid, char **error)
{
	struct mapping mapping;
	char path[64], *line = NULL;
	size_t room = 0;
	bool found = false;
	FILE *maps;

	*error = NULL;
	memset(control, 0, sizeof(*control));
	control->pid = pid;
	control->fd = -1;
	if (!check_user(pid, error))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (!maps) {
		*error = tpa_format("process %d: %s: %s", (int)pid, path, strerror(errno));
		return false;
	}
	while (!found && getline(&line, &room, maps) > 0)
		found = parse_mapping(line, &mapping) && try_mapping(control, &mapping);
	free(line);
	fclose(maps);
	if (!found)
		*error = tpa_format("process %d has no trace: it was not started with libtprof.so, or does not record",
				    (int)pid);
	return found;
}

void tpa_control_close(struct tpa_control *control)
{
	if (control->header)
		munmap(control->header, TPROF_HEADER_SIZE);
	if (control->fd >= 0)
		close(control->fd);
	control->header = NULL;
	control->fd = -1;
}

bool tpa_control_is_forbidden(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd < 0 && (errno == EACCES || errno == EPERM);
}

const char *tpa_control_reason(const struct tpa_control *control)
{
	if (tpa_wake_is_stopped(control->pid))
		return "it is stopped";
	if (!__atomic_load_n(&control->header->control_signal, __ATOMIC_RELAXED))
		return "it had no event, and there is no signal to wake it by: it uses all signals itself, is in a "
		       "sandbox, or runs under Valgrind";
	return "it had no event, and its threads block the signal that wakes them, or their waits can't be interrupted";
}

pid_t tpa_control_snapshot(const struct tpa_control *control)
{
	uint32_t pid = __atomic_load_n(&control->header->snapshot_pid, __ATOMIC_ACQUIRE);

	return pid && pid <= INT32_MAX && tpa_control_is_child(control, (pid_t)pid) ? (pid_t)pid : 0;
}

bool tpa_control_is_child(const struct tpa_control *control, pid_t pid)
{
	return stat_field(pid, STAT_PARENT) == (uint64_t)control->pid;
}

/* ---- asking ---- */

static bool lock(const struct tpa_control *control, enum tpa_control_what what, short type)
{
	bool search = what == TPA_CONTROL_SEARCH;
	off_t offset =
		search ? offsetof(struct tprof_header, snapshot_pid) : offsetof(struct tprof_header, control_asked);

	return tpa_file_lock_if_any(control->fd, type, offset,
				    search ? sizeof(control->header->snapshot_pid)
					   : sizeof(control->header->control_asked));
}

bool tpa_control_lock(const struct tpa_control *control, enum tpa_control_what what)
{
	return lock(control, what, F_WRLCK);
}

void tpa_control_unlock(const struct tpa_control *control, enum tpa_control_what what)
{
	lock(control, what, F_UNLCK);
}

static bool ended(const struct tpa_control *control)
{
	return __atomic_load_n(&control->header->end, __ATOMIC_ACQUIRE) != TPROF_END_NONE ||
	       control->header->process_start != start_of(control->pid);
}

/* The program gets a chance to answer first: one that records looks for requests every 10 ms. */
static bool is_time_to_wake(uint64_t poll)
{
	return poll >= WAKE_FIRST && (poll - WAKE_FIRST) % WAKE_EVERY == 0;
}

static enum tpa_control_answer wait_for(const struct tpa_control *control, uint32_t number, uint64_t wait_ms)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };
	struct tpa_wake wake = { .pid = control->pid };

	for (uint64_t poll = 0; poll <= wait_ms * 1000000 / POLL_NS; poll++) {
		if (__atomic_load_n(&control->header->control_done, __ATOMIC_ACQUIRE) == number)
			return TPA_CONTROL_DONE;
		if (ended(control))
			return TPA_CONTROL_ENDED;
		if (is_time_to_wake(poll))
			tpa_wake_next(&wake, __atomic_load_n(&control->header->control_signal, __ATOMIC_RELAXED));
		nanosleep(&pause, NULL);
	}
	return TPA_CONTROL_WAITING;
}

bool tpa_control_stands(const struct tpa_control *control)
{
	return __atomic_load_n(&control->header->control_taken, __ATOMIC_ACQUIRE) !=
	       __atomic_load_n(&control->header->control_asked, __ATOMIC_ACQUIRE);
}

/* Takes the request as a thread of the program would, so that no thread carries it out. */
bool tpa_control_cancel(const struct tpa_control *control)
{
	uint32_t asked = __atomic_load_n(&control->header->control_asked, __ATOMIC_ACQUIRE);
	uint32_t taken = __atomic_load_n(&control->header->control_taken, __ATOMIC_ACQUIRE);

	if (asked == taken || !__atomic_compare_exchange_n(&control->header->control_taken, &taken, asked, false,
							   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return false;
	control->header->control_what = 0; /* tells whoever waits that this is no answer */
	__atomic_store_n(&control->header->control_done, asked, __ATOMIC_RELEASE);
	return true;
}

static bool lock_within(const struct tpa_control *control, uint64_t wait_ms)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };

	for (uint64_t poll = 0; poll <= wait_ms * 1000000 / POLL_NS; poll++) {
		if (tpa_control_lock(control, TPA_CONTROL_REQUEST))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static uint32_t write_request(struct tprof_header *header, enum tprof_control what, const char *text)
{
	size_t length = text ? strnlen(text, TPROF_CONTROL_TEXT) : 0;
	uint32_t number = __atomic_load_n(&header->control_asked, __ATOMIC_ACQUIRE) + 1;

	header->control_what = what;
	header->control_text_length = (uint32_t)length;
	if (length)
		memcpy(header->control_text, text, length);
	/* Release: pairs with tpc_control_answer(), which sees the whole request with its number. */
	__atomic_store_n(&header->control_asked, number, __ATOMIC_RELEASE);
	/* after the request; pairs with tpc_gate_set() */
	__atomic_store_n(&header->gate, TPROF_GATE_OPEN, __ATOMIC_SEQ_CST);
	return number;
}

enum tpa_control_answer tpa_control_ask(struct tpa_control *control, enum tprof_control what, const char *text,
					uint64_t wait_ms)
{
	struct tprof_header *header = control->header;
	enum tpa_control_answer answer;

	if (!lock_within(control, wait_ms))
		return TPA_CONTROL_BUSY;
	tpa_control_cancel(control);
	answer = wait_for(control, __atomic_load_n(&header->control_asked, __ATOMIC_ACQUIRE), wait_ms);
	if (answer == TPA_CONTROL_WAITING)
		answer = TPA_CONTROL_BUSY; /* an earlier request is being carried out */
	if (answer == TPA_CONTROL_DONE)
		answer = wait_for(control, write_request(header, what, text), wait_ms);
	if (answer == TPA_CONTROL_DONE && header->control_what != what)
		answer = TPA_CONTROL_CANCELLED;
	tpa_control_unlock(control, TPA_CONTROL_REQUEST);
	return answer;
}
