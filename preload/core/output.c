/* SPDX-License-Identifier: Apache-2.0 */
#include "core/output.h"

#include "core/clock.h"
#include "core/config.h"
#include "core/process.h"
#include "core/state.h"
#include "core/sys.h"
#include "core/text.h"

#include <errno.h>

#define HIGH_DESCRIPTOR 1000 /* where programs that count on low numbers are not disturbed */

static char path[4096];
static int descriptor = -1;
static dev_t device;
static ino_t inode;

const char *tp_output_path(void)
{
	return path;
}

/* ---- name ---- */

/* TPROF_OUTPUT with %p and %e filled in, made absolute: the program may change its folder. */
static bool expand(const struct tp_identity *identity, struct tp_text *to, bool *has_pid)
{
	static char cwd[2048]; /* only one thread starts, once; the user's stack may be small */

	*has_pid = false;
	if (tp_config.output[0] != '/') {
		if (tp_sys_getcwd(cwd, sizeof(cwd)) <= 0)
			return false;
		tp_text_add(to, cwd);
		tp_text_add(to, "/");
	}
	for (const char *at = tp_config.output; *at; at++) {
		if (at[0] == '%' && at[1] == 'p') {
			tp_text_add_number(to, identity->pid);
			*has_pid = true;
			at++;
		} else if (at[0] == '%' && at[1] == 'e') {
			tp_text_add(to, tp_text_base(identity->exe));
			at++;
		} else {
			tp_text_add_bytes(to, at, 1);
		}
	}
	return !to->cut;
}

/* trace.bin -> trace.4711.bin; for the n-th image of one process (exec of exec) trace.4711-2.bin. */
static void number_name(const char *name, uint32_t pid, unsigned int image, struct tp_text *to)
{
	const char *base = tp_text_base(name);
	const char *suffix = strrchr(base, '.');

	if (!suffix || suffix == base)
		suffix = base + strlen(base);
	tp_text_add_bytes(to, name, (size_t)(suffix - name));
	tp_text_add(to, ".");
	tp_text_add_number(to, pid);
	if (image > 1) {
		tp_text_add(to, "-");
		tp_text_add_number(to, image);
	}
	tp_text_add(to, suffix);
}

/* ---- what stands under the name already ---- */

enum occupant {
	OCCUPANT_NONE,
	OCCUPANT_OLD,	  /* a trace of a run that is over: may be replaced */
	OCCUPANT_RUN,	  /* a trace of the run that this process belongs to, or of one that still runs */
	OCCUPANT_SELF,	  /* this very process wrote it before an exec */
	OCCUPANT_FOREIGN, /* no trace: never to be touched */
};

/* An exec'd image finds its own process's trace: that one ended here. */
static void mark_exec(int fd, const struct tprof_header *old)
{
	struct tprof_moment now = tp_clock_moment();
	uint32_t end = TPROF_END_EXEC;

	if (old->end != TPROF_END_NONE)
		return;
	tp_sys_pwrite(fd, &now, sizeof(now), offsetof(struct tprof_header, finish));
	tp_sys_pwrite(fd, &end, sizeof(end), offsetof(struct tprof_header, end));
}

/*
 * Does this process belong to the run of that trace? Yes if its writer still lives (then even a stranger must not
 * touch the file), or if this process began before the writer's last sign of life.
 */
static enum occupant judge(int fd, const struct tp_identity *identity, const struct stat *status)
{
	struct tprof_header old;
	uint64_t now = tp_clock_moment().unix_ns, began, last;

	if (status->st_size == 0)
		return OCCUPANT_OLD;
	if (tp_sys_pread(fd, &old, sizeof(old), 0) != sizeof(old) || memcmp(old.magic, TPROF_MAGIC, 8) != 0)
		return OCCUPANT_FOREIGN;
	if (old.pid == identity->pid && old.process_start == identity->start) {
		mark_exec(fd, &old);
		return OCCUPANT_SELF;
	}
	if (old.process_start && tp_process_start(old.pid) == old.process_start)
		return OCCUPANT_RUN;
	/* The start is in ticks of 10 ms since boot; CLOCK_BOOTTIME and the run's clocks differ by less over a run. */
	began = now - tp_clock_slow() + identity->start * 10000000u;
	last = (uint64_t)status->st_mtim.tv_sec * 1000000000u + (uint64_t)status->st_mtim.tv_nsec;
	if (old.finish.unix_ns > last)
		last = old.finish.unix_ns;
	if (old.last_child_start_unix_ns > last)
		last = old.last_child_start_unix_ns;
	return began < last && began + 20000000u >= old.start.unix_ns ? OCCUPANT_RUN : OCCUPANT_OLD;
}

static enum occupant occupant_of(const char *name, const struct tp_identity *identity)
{
	struct stat status;
	enum occupant occupant;
	int fd;

	if (tp_sys_lstat(name, &status) != 0)
		return OCCUPANT_NONE;
	if (!S_ISREG(status.st_mode))
		return OCCUPANT_FOREIGN;
	fd = tp_sys_open(name, O_RDWR | O_NOFOLLOW, 0);
	if (fd < 0)
		return OCCUPANT_FOREIGN;
	occupant = judge(fd, identity, &status);
	if (occupant == OCCUPANT_RUN) { /* a sign of life of the run, for the processes that come after it */
		uint64_t now = tp_clock_moment().unix_ns;

		tp_sys_pwrite(fd, &now, sizeof(now), offsetof(struct tprof_header, last_child_start_unix_ns));
	}
	tp_sys_close(fd);
	return occupant;
}

/*
 * A new file, never a truncated old one: a process that still has the old one mapped would die of SIGBUS. Returns the
 * descriptor, -EEXIST if the name belongs to another process, or another negative errno.
 */
static int create(const char *name, const struct tp_identity *identity, enum occupant *occupant)
{
	*occupant = occupant_of(name, identity);
	if (*occupant == OCCUPANT_OLD)
		tp_sys_unlink(name);
	else if (*occupant != OCCUPANT_NONE)
		return -EEXIST;
	return tp_sys_open(name, O_RDWR | O_CREAT | O_EXCL, 0644);
}

static int create_numbered(const char *name, const struct tp_identity *identity, uint32_t *origin)
{
	enum occupant occupant;
	int fd = -EEXIST;

	if (*origin != TPROF_ORIGIN_FORK)
		*origin = TPROF_ORIGIN_EXEC;
	if (!tp_config.children)
		return -ECHILD;
	for (unsigned int image = 1; image < 10000 && fd == -EEXIST; image++) {
		struct tp_text numbered = tp_text_in(path, sizeof(path));

		number_name(name, identity->pid, image, &numbered);
		fd = create(path, identity, &occupant);
	}
	return fd;
}

static int create_named(const struct tp_identity *identity, uint32_t *origin, const char **reason)
{
	static char name[4096];
	struct tp_text text = tp_text_in(name, sizeof(name));
	enum occupant occupant = OCCUPANT_NONE;
	bool has_pid;
	int fd;

	if (!expand(identity, &text, &has_pid)) {
		*reason = "its name is too long";
		return -ENAMETOOLONG;
	}
	memcpy(path, name, text.length + 1);
	if (*origin == TPROF_ORIGIN_FORK && !has_pid)
		return create_numbered(name, identity, origin);
	fd = create(name, identity, &occupant);
	if (occupant == OCCUPANT_FOREIGN) {
		*reason = "a file of that name is there that is no trace; it was left alone";
		return fd;
	}
	if (fd == -EEXIST)
		return create_numbered(name, identity, origin);
	if (*origin != TPROF_ORIGIN_FORK)
		*origin = TPROF_ORIGIN_FIRST;
	return fd;
}

/* ---- the descriptor ---- */

static bool is_trace(int fd)
{
	struct stat status;

	return fd >= 0 && tp_sys_fstat(fd, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}

/* Ends a use of the descriptor: it is kept under a high number, or not at all where the limit is below that. */
static void put_away(void)
{
	int high;

	if (descriptor < 0 || descriptor >= HIGH_DESCRIPTOR)
		return;
	high = tp_sys_fcntl(descriptor, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
	tp_sys_close(descriptor);
	descriptor = high < 0 ? -1 : high;
}

/* Programs close descriptors that they do not know, and the number may be another file's by now. */
static bool reach(void)
{
	int fd;

	if (is_trace(descriptor))
		return true;
	descriptor = -1;
	fd = tp_sys_open(path, O_RDWR | O_NOFOLLOW, 0);
	if (!is_trace(fd)) {
		if (fd >= 0)
			tp_sys_close(fd);
		return false;
	}
	descriptor = fd;
	return true;
}

void tp_output_forget(void)
{
	if (is_trace(descriptor))
		tp_sys_close(descriptor);
	descriptor = -1;
}

/* ---- room ---- */

static const char zeros[TP_PAGE];

/*
 * Real blocks on the disk for [offset, offset + length): storing into a hole of a full disk would be a SIGBUS in the
 * user's program. Growing past RLIMIT_FSIZE would be a SIGXFSZ, so the limit is asked first.
 */
static int reserve(uint64_t offset, uint64_t length)
{
	int result;

	if (offset + length > tp_sys_limit(RLIMIT_FSIZE))
		return -EFBIG;
	do {
		result = tp_sys_fallocate(descriptor, offset, length);
	} while (result == -EINTR);
	if (result != -EOPNOTSUPP && result != -ENOSYS)
		return result;
	for (uint64_t at = offset; at < offset + length; at += TP_PAGE) {
		long wrote = tp_sys_pwrite(descriptor, zeros, TP_PAGE, at);

		if (wrote != TP_PAGE)
			return wrote < 0 ? (int)wrote : -ENOSPC;
	}
	return 0;
}

static void *map(uint64_t offset, uint64_t length)
{
	void *p = tp_sys_mmap(length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, offset);

	return tp_sys_failed(p) ? NULL : p;
}

static const char *name_error(int error)
{
	switch (-error) {
	case ENOSPC:
	case EDQUOT:
		return "no space left on its disk";
	case EFBIG:
		return "RLIMIT_FSIZE is reached";
	case EMFILE:
	case ENFILE:
		return "no file descriptor is left (RLIMIT_NOFILE)";
	case EACCES:
	case EPERM:
	case EROFS:
		return "permission denied";
	case ENOENT:
		return "no such directory";
	case ENOTDIR:
		return "a part of its path is no directory";
	case EISDIR:
		return "it is a directory";
	}
	return "it can't be created";
}

struct tprof_header *tp_output_create(const struct tp_identity *identity, uint32_t *origin, const char **reason)
{
	struct tprof_header *header;
	struct stat status;
	int fd, error;

	*reason = NULL;
	fd = create_named(identity, origin, reason);
	if (fd < 0) {
		if (!*reason && fd != -ECHILD)
			*reason = name_error(fd);
		return NULL;
	}
	if (tp_sys_fstat(fd, &status) == 0) {
		device = status.st_dev;
		inode = status.st_ino;
	}
	descriptor = fd;
	error = reserve(0, TPROF_HEADER_SIZE);
	header = error ? NULL : map(0, TPROF_HEADER_SIZE);
	if (header) {
		put_away();
		return header;
	}
	*reason = error ? name_error(error) : "mmap failed (RLIMIT_AS?)";
	tp_output_forget();
	tp_sys_unlink(path);
	return NULL;
}

struct tprof_chunk *tp_output_grow(enum tprof_lost *cause, const char **reason)
{
	uint64_t index, offset;
	void *chunk;
	int error;

	if (!reach()) {
		*cause = TPROF_LOST_NO_FILE;
		*reason = "the trace file can't be reached any more";
		return NULL;
	}
	index = tp_add(&tp_header->chunks, 1);
	offset = TPROF_HEADER_SIZE + index * TPROF_CHUNK_SIZE;
	error = reserve(offset, TPROF_CHUNK_SIZE);
	chunk = error ? NULL : map(offset, TPROF_CHUNK_SIZE);
	put_away();
	if (error) {
		*cause = TPROF_LOST_NO_SPACE;
		*reason = name_error(error);
	} else if (!chunk) {
		*cause = TPROF_LOST_NO_MEMORY;
		*reason = "mmap failed (RLIMIT_AS?)";
	}
	return chunk;
}
