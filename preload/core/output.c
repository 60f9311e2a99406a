/* SPDX-License-Identifier: Apache-2.0 */
#include "core/output.h"

#include "core/private_fds.h"
#include "core/claim.h"
#include "core/config.h"
#include "core/directory.h"
#include "core/process.h"
#include "core/reserve.h"
#include "core/state.h"
#include "core/sys.h"
#include "core/text.h"
#include "core/thread.h"

#include <errno.h>
#include <sys/file.h>

static TPC_SHARED(int) kept = {
	-1
}; /* holds the lock that says that this process lives; -1: the program's limit left no room */
static dev_t device;
static ino_t inode;

const char *tpc_output_path(void)
{
	return tpc_claimed_path();
}

/* ---- the descriptor ---- */

static bool is_trace(int fd)
{
	return tpc_sys_is_file(fd, device, inode);
}

static int if_trace(int fd)
{
	if (fd < 0 || is_trace(fd))
		return fd;
	tpc_sys_close(fd);
	return -ENOENT;
}

/*
 * Programs close descriptors that they do not know, and the number may be another file's: checks the duplicate that it
 * returns.
 */
static int reach_kept(void)
{
	int mine = tpc_load(&kept);

	return is_trace(mine) ? if_trace(tpc_sys_fcntl(mine, F_DUPFD_CLOEXEC, TPC_HIGH_DESCRIPTOR)) : -ENOENT;
}

static int reach_by_name(void)
{
	return if_trace(tpc_directory_open(tpc_output_path(), O_RDWR | O_NOFOLLOW, 0));
}

int tpc_output_reach(void)
{
	int fd = reach_kept();

	return fd >= 0 ? fd : reach_by_name();
}

/* The lock belongs to the open file description, so the duplicate has it too. */
static void keep(int fd)
{
	tpc_unshared(kept) = tpc_sys_fcntl(fd, F_DUPFD_CLOEXEC, TPC_HIGH_DESCRIPTOR);
	if (tpc_unshared(kept) < 0)
		tpc_unshared(kept) = -1;
	tpc_sys_close(fd);
}

void tpc_output_forget(void)
{
	if (is_trace(tpc_unshared(kept)))
		tpc_sys_close(tpc_unshared(kept));
	tpc_unshared(kept) = -1;
}

/* ---- the header ---- */

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
		return "permission denied";
	case EROFS:
		return "its file system is read-only";
	case ENOMEM:
		return "mmap failed (RLIMIT_AS?)";
	case ENODEV:
		return "its file system can't map files shared (MAP_SHARED)";
	case ENOENT:
		return "no such directory";
	case ENOTDIR:
		return "a part of its path is not a directory";
	case EISDIR:
		return "it is a directory";
	}
	return "it can't be created";
}

/* Of a fork, whose parent could: what has changed since. */
static const char *name_forks_error(int error)
{
	static char denied[48]; /* as struct tprof_untraced has room for */
	struct tpc_text text = tpc_text_in(denied, sizeof(denied));

	if (error == -ENOENT && tpc_directory_root_changed())
		return "no such directory after chroot";
	if (error != -EACCES && error != -EPERM)
		return name_error(error);
	tpc_text_add(&text, "permission denied to user ");
	tpc_text_add_number(&text, (uint32_t)tpc_syscall(SYS_geteuid, 0, 0, 0, 0));
	return denied;
}

/* Maps it elsewhere first: a failing mapping in place can leave a hole, and every hook looks there. */
static struct tprof_header *map_header(int fd, int *error)
{
	void *elsewhere = tpc_reserve_map(fd, 0, TPROF_HEADER_SIZE, error), *p;

	if (!elsewhere)
		return NULL;
	p = tpc_sys_mremap_to(elsewhere, TPROF_HEADER_SIZE, &tpc_header_area);
	if (!tpc_sys_failed(p))
		return p;
	*error = (int)(intptr_t)p;
	tpc_sys_munmap(elsewhere, TPROF_HEADER_SIZE);
	return NULL;
}

/* Makes a complete trace without events, under a temporary name. */
static struct tprof_header *make(int fd, const struct tpc_identity *identity, const char *parent, int *error)
{
	struct tprof_header *header;
	struct stat status;

	*error = tpc_sys_fstat(fd, &status);
	if (*error == 0)
		*error = tpc_reserve_space(fd, 0, TPROF_HEADER_SIZE);
	if (*error)
		return NULL;
	device = status.st_dev;
	inode = status.st_ino;
	header = map_header(fd, error);
	if (!header)
		return NULL;
	tpc_syscall(SYS_flock, fd, LOCK_SH | LOCK_NB, 0, 0);
	tpc_describe(header, identity, parent);
	return header;
}

/*
 * The file is completed under another name and then renamed: nobody ever sees half a header, an empty file is never
 * ours, and an old trace that another process has mapped stays intact, without a name.
 */
struct tprof_header *tpc_output_create(const struct tpc_identity *identity, uint32_t origin, const char *parent,
				       const char **reason)
{
	static char temporary[4096];
	struct tprof_header *header = NULL;
	int fd, error;

	*reason = NULL;
	if (!tpc_claim_temporary(identity, temporary, sizeof(temporary)))
		fd = tpc_sys_getcwd(temporary, sizeof(temporary)) == -ENOENT ? -ENOENT : -ENAMETOOLONG;
	else
		fd = tpc_directory_open(temporary, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644);
	error = fd < 0 ? fd : 0;
	if (!error)
		header = make(fd, identity, parent, &error);
	if (!error)
		error = tpc_claim_name(temporary, identity, &origin, reason);
	if (!error) {
		header->origin = origin;
		keep(fd);
		if (tpc_config.children)
			tpc_directory_keep(tpc_output_path());
		return header;
	}
	if (header)
		tpc_header_area_clear();
	if (fd >= 0) {
		tpc_directory_unlink(temporary);
		tpc_sys_close(fd);
	}
	if (!*reason && error != -ECHILD)
		*reason = origin == TPROF_ORIGIN_FORK ? name_forks_error(error) : name_error(error);
	return NULL;
}

/* ---- chunks ---- */

struct growth {
	uint64_t offset, length;
	bool whole, done;
	int unreached, error, unmapped; /* of the descriptor; of the disk; of the mapping */
	void *chunk;
};

static void grow(struct growth *growth, int fd)
{
	growth->unreached = fd < 0 ? fd : 0;
	if (fd >= 0)
		growth->error = tpc_reserve_space(fd, growth->offset, growth->length);
	if (!growth->unreached && !growth->error)
		growth->chunk = tpc_reserve_map(fd, growth->offset, growth->length, &growth->unmapped);
	if (growth->chunk && growth->whole)
		tpc_reserve_fill(fd, growth->offset, growth->length);
	growth->done = true;
}

/*
 * In a task with a copy of the descriptors: nobody closes `kept`, any other can be closed to make room, and the program
 * misses no number.
 */
static void grow_apart(void *context)
{
	int fd = tpc_load(&kept);

	if (!is_trace(fd)) {
		tpc_sys_close(0);
		fd = tpc_directory_open(tpc_output_path(), O_RDWR | O_NOFOLLOW, 0);
	}
	grow(context, fd < 0 || is_trace(fd) ? fd : -ENOENT);
}

static struct tpc_obstacle obstacle_of(const struct growth *growth)
{
	struct tpc_obstacle obstacle = { .offset = growth->offset };

	if (growth->unreached || growth->error == -EBADF) {
		bool none_left = growth->unreached == -EMFILE || growth->unreached == -ENFILE;

		obstacle.cause = TPROF_LOST_NO_FILE;
		obstacle.reason = none_left ? name_error(growth->unreached) : "the trace file can no longer be reached";
	} else if (growth->error) {
		obstacle.cause = TPROF_LOST_NO_SPACE;
		obstacle.reason = name_error(growth->error);
		obstacle.passes = growth->error == -ENOSPC || growth->error == -EDQUOT;
		obstacle.full = obstacle.passes || growth->error == -EFBIG;
	} else if (!growth->chunk) {
		obstacle.cause = TPROF_LOST_NO_MEMORY;
		obstacle.reason = name_error(growth->unmapped);
	}
	return obstacle;
}

struct tprof_chunk *tpc_output_grow(uint64_t number, uint32_t count, bool whole, struct tpc_obstacle *obstacle)
{
	struct growth growth = { .offset = TPROF_HEADER_SIZE + number * TPROF_CHUNK_SIZE,
				 .length = (uint64_t)count * TPROF_CHUNK_SIZE,
				 .whole = whole };
	int fd = reach_kept();

	if (fd < 0 && !tpc_load(&tpc_thread_several)) /* core/private_fds.h */
		fd = reach_by_name();
	if (fd < 0)
		tpc_private_fds(grow_apart, &growth);
	if (fd < 0 && !growth.done)
		fd = reach_by_name();
	if (!growth.done)
		grow(&growth, fd);
	if (fd >= 0)
		tpc_sys_close(fd);
	*obstacle = obstacle_of(&growth);
	return growth.chunk;
}
