/* SPDX-License-Identifier: Apache-2.0 */
#include "core/output.h"

#include "core/apart.h"
#include "core/claim.h"
#include "core/process.h"
#include "core/state.h"
#include "core/sys.h"

#include <errno.h>
#include <sys/file.h>

#define HIGH_DESCRIPTOR 1000 /* where programs that count on low numbers are not disturbed */

static int kept = -1; /* holds the lock that says that this process lives; -1: the program's limit left no room */
static dev_t device;
static ino_t inode;

const char *tp_output_path(void)
{
	return tp_claimed_path();
}

/* ---- the descriptor ---- */

static bool is_trace(int fd)
{
	struct stat status;

	return fd >= 0 && tp_sys_fstat(fd, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}

/*
 * A descriptor of the caller's own, to be closed: another thread can't take it away. Programs close descriptors that they
 * do not know, and the number may be another file's by now, so what it is is asked after it was got.
 */
static int reach(void)
{
	int mine = tp_load(&kept), fd;

	if (is_trace(mine)) {
		fd = tp_sys_fcntl(mine, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
		if (is_trace(fd))
			return fd;
		if (fd >= 0)
			tp_sys_close(fd);
	}
	fd = tp_sys_open(tp_output_path(), O_RDWR | O_NOFOLLOW, 0);
	if (fd < 0 || is_trace(fd))
		return fd;
	tp_sys_close(fd);
	return -ENOENT;
}

/* The lock belongs to the open file, so the duplicate has it. */
static void keep(int fd)
{
	kept = tp_sys_fcntl(fd, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
	if (kept < 0)
		kept = -1;
	tp_sys_close(fd);
}

void tp_output_forget(void)
{
	if (is_trace(kept))
		tp_sys_close(kept);
	kept = -1;
}

/* ---- room ---- */

static const char zeros[TP_PAGE];

/*
 * Real blocks on the disk for [offset, offset + length): storing into a hole of a full disk would be a SIGBUS in the
 * user's program. Growing past RLIMIT_FSIZE would be a SIGXFSZ, so the limit is asked first.
 */
static int reserve(int fd, uint64_t offset, uint64_t length)
{
	int result;

	if (offset + length > tp_sys_limit(RLIMIT_FSIZE))
		return -EFBIG;
	do {
		result = tp_sys_fallocate(fd, offset, length);
	} while (result == -EINTR);
	if (result == 0 || result == -ENOSPC || result == -EDQUOT)
		return result;
	/* The file system, or a sandbox, has no such call. */
	for (uint64_t at = offset; at < offset + length; at += TP_PAGE) {
		long wrote = tp_sys_pwrite(fd, zeros, TP_PAGE, at);

		if (wrote != TP_PAGE)
			return wrote < 0 ? (int)wrote : -ENOSPC;
	}
	return 0;
}

/*
 * The pages of a chunk that will be filled, made all at once: a page made by the store that touches it costs a fault, a
 * look at the disk's blocks and their change to written ones; a write of as many makes large ones where the file system
 * has them, and the faults that are left find them there. Half to a third of the time for a chunk on ext4. If it fails
 * the stores make the pages, as the blocks are there.
 */
static void fill(int fd, uint64_t offset)
{
	struct iovec parts[TPROF_CHUNK_SIZE / TP_PAGE];

	for (size_t i = 0; i < TP_LENGTH(parts); i++)
		parts[i] = (struct iovec){ (void *)(uintptr_t)zeros, TP_PAGE };
	tp_sys_pwritev(fd, parts, TP_LENGTH(parts), offset);
}

static void *map(int fd, uint64_t offset, uint64_t length, int *error)
{
	void *p = tp_sys_mmap(length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	if (!tp_sys_failed(p))
		return p;
	*error = (int)(intptr_t)p;
	return NULL;
}

static const char *name_error(int error)
{
	switch (-error) {
	case ENOSPC:
	case EDQUOT:
		return "no space left on its disk";
	case EFBIG:
		return "RLIMIT_FSIZE is reached";
	case ENAMETOOLONG:
		return "its name is too long";
	case EMFILE:
	case ENFILE:
		return "no file descriptor is left (RLIMIT_NOFILE)";
	case EACCES:
	case EPERM:
	case EROFS:
		return "permission denied";
	case ENOMEM:
		return "mmap failed (RLIMIT_AS?)";
	case ENODEV:
		return "its file system can't map files shared (MAP_SHARED)";
	case ENOENT:
		return "no such directory";
	case ENOTDIR:
		return "a part of its path is no directory";
	case EISDIR:
		return "it is a directory";
	}
	return "it can't be created";
}

/* Elsewhere first: a mapping in place that fails can leave a hole behind, and every hook looks there. */
static struct tprof_header *map_header(int fd, int *error)
{
	void *elsewhere = map(fd, 0, TPROF_HEADER_SIZE, error), *p;

	if (!elsewhere)
		return NULL;
	p = tp_sys_mremap_to(elsewhere, TPROF_HEADER_SIZE, &tp_header_area);
	if (!tp_sys_failed(p))
		return p;
	*error = (int)(intptr_t)p;
	tp_sys_munmap(elsewhere, TPROF_HEADER_SIZE);
	return NULL;
}

/* A whole trace without events, under a temporary name. */
static struct tprof_header *make(int fd, const struct tp_identity *identity, const char *parent, int *error)
{
	struct tprof_header *header;
	struct stat status;

	*error = tp_sys_fstat(fd, &status);
	if (*error == 0)
		*error = reserve(fd, 0, TPROF_HEADER_SIZE);
	if (*error)
		return NULL;
	device = status.st_dev;
	inode = status.st_ino;
	header = map_header(fd, error);
	if (!header)
		return NULL;
	tp_syscall(SYS_flock, fd, LOCK_SH | LOCK_NB, 0, 0);
	tp_describe(header, identity, parent);
	return header;
}

/*
 * The file is made whole under another name and then moved: nobody ever sees half a header, an empty file is never ours,
 * and an old trace that another process has mapped stays as it is, without a name.
 */
struct tprof_header *tp_output_create(const struct tp_identity *identity, uint32_t origin, const char *parent,
				      const char **reason)
{
	static char temporary[4096];
	struct tprof_header *header = NULL;
	int fd, error;

	*reason = NULL;
	if (!tp_claim_temporary(identity, temporary, sizeof(temporary)))
		fd = tp_sys_getcwd(temporary, sizeof(temporary)) == -ENOENT ? -ENOENT : -ENAMETOOLONG;
	else
		fd = tp_sys_open(temporary, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644);
	error = fd < 0 ? fd : 0;
	if (!error)
		header = make(fd, identity, parent, &error);
	if (!error)
		error = tp_claim_name(temporary, identity, &origin, reason);
	if (!error) {
		header->origin = origin;
		keep(fd);
		return header;
	}
	if (header)
		tp_header_area_clear();
	if (fd >= 0) {
		tp_sys_unlink(temporary);
		tp_sys_close(fd);
	}
	if (!*reason && error != -ECHILD)
		*reason = name_error(error);
	return NULL;
}

/* ---- a chunk ---- */

struct growth {
	uint64_t offset;
	bool whole;
	int unreached, error, unmapped; /* of the descriptor; of the disk; of the mapping */
	void *chunk;
};

static void grow(struct growth *growth, int fd)
{
	growth->unreached = fd < 0 ? fd : 0;
	if (fd >= 0)
		growth->error = reserve(fd, growth->offset, TPROF_CHUNK_SIZE);
	if (!growth->unreached && !growth->error)
		growth->chunk = map(fd, growth->offset, TPROF_CHUNK_SIZE, &growth->unmapped);
	if (growth->chunk && growth->whole)
		fill(fd, growth->offset);
}

/* Where descriptors are a copy: nobody closes the one that is kept, and another one, any, can make room. */
static void grow_apart(void *context)
{
	int fd = kept;

	if (!is_trace(fd)) {
		tp_sys_close(0);
		fd = tp_sys_open(tp_output_path(), O_RDWR | O_NOFOLLOW, 0);
	}
	grow(context, fd < 0 || is_trace(fd) ? fd : -ENOENT);
}

struct tprof_chunk *tp_output_grow(bool whole, enum tprof_lost *cause, const char **reason)
{
	struct growth growth = { .offset = TPROF_HEADER_SIZE + tp_add(&tp_header->chunks, 1) * TPROF_CHUNK_SIZE,
				 .whole = whole };
	int fd = reach();

	if ((fd == -EMFILE || fd == -ENFILE) && tp_apart(grow_apart, &growth))
		fd = -1; /* done */
	else
		grow(&growth, fd);
	if (fd >= 0)
		tp_sys_close(fd);
	if (growth.unreached || growth.error == -EBADF) {
		bool none_left = growth.unreached == -EMFILE || growth.unreached == -ENFILE;

		*cause = TPROF_LOST_NO_FILE;
		*reason = none_left ? name_error(growth.unreached) : "the trace file can't be reached any more";
	} else if (growth.error) {
		*cause = TPROF_LOST_NO_SPACE;
		*reason = name_error(growth.error);
	} else if (!growth.chunk) {
		*cause = TPROF_LOST_NO_MEMORY;
		*reason = name_error(growth.unmapped);
	}
	return growth.chunk;
}
