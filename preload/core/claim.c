/* SPDX-License-Identifier: Apache-2.0 */
#include "core/claim.h"

#include "core/clock.h"
#include "core/config.h"
#include "core/directory.h"
#include "core/hash.h"
#include "core/lookup.h"
#include "core/log.h"
#include "core/state.h"
#include "core/sys.h"
#include "core/text.h"

#include <errno.h>
#include <linux/fs.h>
#include <sys/file.h>

static char path[4096];
static bool is_first; /* this process began its run */

const char *tpc_claimed_path(void)
{
	return path;
}

/* ---- names ---- */

/* Expands %p and %e in TPROF_OUTPUT and makes the path absolute, because the program may change its folder. */
static bool expand(const struct tpc_identity *identity, struct tpc_text *to, bool *has_pid)
{
	static char cwd[2048]; /* from the start: a child that changed its folder writes beside its parent */

	*has_pid = false;
	if (tpc_config.output[0] != '/') {
		if (!cwd[0] && tpc_sys_getcwd(cwd, sizeof(cwd)) <= 0)
			return false;
		tpc_text_add(to, cwd);
		tpc_text_add(to, "/");
	}
	for (const char *at = tpc_config.output; *at; at++) {
		if (at[0] == '%' && at[1] == 'p') {
			tpc_text_add_number(to, identity->pid);
			*has_pid = true;
			at++;
		} else if (at[0] == '%' && at[1] == 'e') {
			tpc_text_add(to, tpc_text_base(identity->exe));
			at++;
		} else {
			tpc_text_add_bytes(to, at, 1);
		}
	}
	return !to->cut;
}

/* trace.bin -> trace.4711.bin; the n-th image of a process (exec after exec) gets trace.4711-2.bin. */
static void number_name(const char *name, uint32_t pid, unsigned int image, struct tpc_text *to)
{
	const char *base = tpc_text_base(name);
	const char *suffix = strrchr(base, '.');

	if (!suffix || suffix == base)
		suffix = base + strlen(base);
	tpc_text_add_bytes(to, name, (size_t)(suffix - name));
	tpc_text_add(to, ".");
	tpc_text_add_number(to, pid);
	if (image > 1) {
		tpc_text_add(to, "-");
		tpc_text_add_number(to, image);
	}
	tpc_text_add(to, suffix);
}

bool tpc_claim_temporary(const struct tpc_identity *identity, char *to, size_t size)
{
	struct tpc_text text = tpc_text_in(to, size);
	bool has_pid;

	if (!expand(identity, &text, &has_pid))
		return false;
	tpc_text_add(&text, ".");
	tpc_text_add_number(&text, identity->pid);
	tpc_text_add(&text, ".new");
	return !text.cut;
}

/* ---- what stands under a name already ---- */

enum occupant {
	OCCUPANT_NONE,
	OCCUPANT_OLD,	  /* of a run that is over: may be renamed; locked, and `fd` holds the lock */
	OCCUPANT_RUN,	  /* of this process's run, or of another run that still goes on */
	OCCUPANT_SELF,	  /* written by this process before an exec */
	OCCUPANT_FOREIGN, /* not a trace: must not be touched */
};

struct found {
	enum occupant occupant;
	int fd; /* OCCUPANT_OLD: to be closed; else -1, or the error */
	ino_t inode;
	uint32_t pid; /* of a trace: its process, */
	uint64_t run; /* and its run; 0: unknown */
};

/* After an exec, the new image finds the trace of its own process: marks it as ended by exec. */
static void mark_exec(int fd, const struct tprof_header *old)
{
	struct tprof_moment now = tpc_clock_moment();
	uint32_t end = TPROF_END_EXEC;

	if (old->end != TPROF_END_NONE)
		return;
	tpc_sys_pwrite(fd, &now, sizeof(now), offsetof(struct tprof_header, finish));
	tpc_sys_pwrite(fd, &end, sizeof(end), offsetof(struct tprof_header, end));
}

/*
 * Did this process begin while that run showed signs of life? Its start is known in ticks of 10 ms since boot, rounded
 * down; in doubt it began later.
 */
static bool began_within(const struct tprof_header *old, const struct stat *status, const struct tpc_identity *identity)
{
	struct tprof_moment now = tpc_clock_moment();
	uint64_t began = now.unix_ns - now.mono_ns + identity->start * 10000000u;
	uint64_t last = (uint64_t)status->st_mtim.tv_sec * 1000000000u + (uint64_t)status->st_mtim.tv_nsec;

	if (old->finish.unix_ns)
		last = old->finish.unix_ns;
	if (old->last_child_start_unix_ns > last)
		last = old->last_child_start_unix_ns;
	return began + 10000000u < last && began + 20000000u >= old->start.unix_ns;
}

/*
 * A process holds a lock on its trace as long as it lives, in whatever PID namespace. The program may have closed the
 * descriptor that holds the lock, so the process is looked for as well.
 */
static enum occupant judge(struct found *found, const struct tpc_identity *identity, const struct stat *status)
{
	int fd = found->fd;
	struct tprof_header old;

	if (tpc_sys_pread(fd, &old, sizeof(old), 0) != sizeof(old) || memcmp(old.magic, TPROF_MAGIC, 8) != 0)
		return OCCUPANT_FOREIGN;
	found->pid = old.pid;
	found->run = old.run;
	if (old.end == TPROF_END_DETACHED)
		return OCCUPANT_OLD; /* of this process, too: it was attached to again */
	if (old.pid == identity->pid && old.process_start == identity->start) {
		mark_exec(fd, &old);
		return OCCUPANT_SELF;
	}
	if (old.run && old.run == tpc_config.run)
		return OCCUPANT_RUN;
	if (tpc_syscall(SYS_flock, fd, LOCK_EX | LOCK_NB, 0, 0) == -EWOULDBLOCK)
		return OCCUPANT_RUN;
	if (old.process_start && tpc_process_start(old.pid) == old.process_start)
		return OCCUPANT_RUN;
	if (old.run && tpc_config.run)
		return OCCUPANT_OLD;
	return began_within(&old, status, identity) ? OCCUPANT_RUN : OCCUPANT_OLD;
}

static struct found look_at(const char *name, const struct tpc_identity *identity)
{
	struct found found = { OCCUPANT_FOREIGN, -1, 0, 0, 0 };
	struct stat status;

	if (tpc_directory_lstat(name, &status) != 0)
		return (struct found){ OCCUPANT_NONE, -1, 0, 0, 0 };
	if (!S_ISREG(status.st_mode))
		return found;
	found.fd = tpc_directory_open(name, O_RDWR | O_NOFOLLOW, 0);
	if (found.fd == -EACCES) /* of a user whose identity this process gave up: may be readable */
		found.fd = tpc_directory_open(name, O_RDONLY | O_NOFOLLOW, 0);
	if (found.fd == -ENOENT) /* a process that began at the same time has just renamed it */
		found.occupant = OCCUPANT_NONE;
	if (found.fd < 0)
		return found;
	found.inode = tpc_sys_fstat(found.fd, &status) == 0 ? status.st_ino : 0;
	found.occupant = judge(&found, identity, &status);
	if (found.occupant == OCCUPANT_RUN) { /* a sign of life of the run, for later processes */
		uint64_t now = tpc_clock_moment().unix_ns;

		tpc_sys_pwrite(found.fd, &now, sizeof(now), offsetof(struct tprof_header, last_child_start_unix_ns));
	}
	if (found.occupant != OCCUPANT_OLD) {
		tpc_sys_close(found.fd);
		found.fd = -1;
	}
	return found;
}

/* ---- taking a name ---- */

/* A process that creates an empty file owns the name: others see that it is no trace, and take another name. */
static int take_by_making(const char *temporary, const char *name)
{
	int fd = tpc_directory_open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);

	if (fd < 0)
		return fd;
	tpc_sys_close(fd);
	return tpc_directory_rename(temporary, name, 0);
}

/* If the file system can't rename without replacing, uses a hard link; if it has no hard links, take_by_making(). */
static int take_free_name(const char *temporary, const char *name)
{
	int result = tpc_directory_rename(temporary, name, RENAME_NOREPLACE);

	if (result == 0 || result == -EEXIST)
		return result;
	result = tpc_directory_link(temporary, name);
	if (result == -EEXIST)
		return -EEXIST;
	if (result != 0)
		return take_by_making(temporary, name);
	tpc_directory_unlink(temporary);
	return 0;
}

/* Renames an old trace to trace.bin.old, which no glob for *.bin finds. One is kept for each name, as perf does. */
static bool put_aside(const char *name)
{
	static char aside[4096];
	struct tpc_text text = tpc_text_in(aside, sizeof(aside));

	tpc_text_add(&text, name);
	tpc_text_add(&text, ".old");
	if (text.cut || tpc_directory_rename(name, aside, 0) != 0)
		return false;
	if (tpc_config.verbose)
		tpc_log("the trace of an earlier run is kept: ", aside);
	return true;
}

/*
 * Takes the name of an old trace, which is locked: only one of several processes gets it, and only if the name still
 * refers to it.
 */
static int take_old_name(const char *temporary, const char *name, const struct found *old)
{
	struct stat status;
	int result;

	if (tpc_directory_lstat(name, &status) != 0 || status.st_ino != old->inode)
		return -EEXIST;
	if (put_aside(name))
		return take_free_name(temporary, name);
	result = tpc_directory_rename(temporary, name, 0);
	if (result == 0)
		tpc_log("the trace of an earlier run could not be renamed and is replaced: ", name);
	return result;
}

static int take(const char *temporary, const char *name, const struct tpc_identity *identity, enum occupant *occupant)
{
	struct found found = look_at(name, identity);
	int result = -EEXIST;

	*occupant = found.occupant;
	if (found.occupant == OCCUPANT_NONE)
		result = take_free_name(temporary, name);
	else if (found.occupant == OCCUPANT_OLD)
		result = take_old_name(temporary, name, &found);
	else if (found.fd == -EMFILE || found.fd == -ENFILE || found.fd == -EACCES)
		result = found.fd;
	if (found.fd >= 0)
		tpc_sys_close(found.fd);
	return result;
}

/* The pid of the process that wrote this trace, if it is of this run; else 0. */
static uint32_t whose(const char *name, const struct tpc_identity *identity)
{
	struct found found = look_at(name, identity);

	if (found.fd >= 0)
		tpc_sys_close(found.fd);
	return found.occupant == OCCUPANT_RUN || found.occupant == OCCUPANT_SELF ? found.pid : 0;
}

static bool is_numbered(const char *name, uint32_t pid, const struct tpc_identity *identity)
{
	struct tpc_text numbered = tpc_text_in(path, sizeof(path));

	number_name(name, pid, 1, &numbered);
	return whose(path, identity);
}

/* The name of another process's trace; with %e each program has its own, which may be unknown. */
static bool name_of(uint32_t pid, const struct tpc_identity *identity, struct tpc_text *name)
{
	static struct tpc_identity other;
	struct tpc_text link = *name;
	bool has_pid;

	other = *identity;
	other.pid = pid;
	tpc_text_add(&link, "/proc/");
	tpc_text_add_number(&link, pid);
	tpc_text_add(&link, "/exe");
	if (pid != identity->pid && strstr(tpc_config.output, "%e")) {
		memset(other.exe, 0, sizeof(other.exe));
		if (tpc_sys_readlink(name->bytes, other.exe, sizeof(other.exe) - 1) <= 0)
			return false;
	}
	*name = tpc_text_in(name->bytes, name->size);
	return expand(&other, name, &has_pid);
}

static bool has_parents_trace(const struct tpc_identity *identity)
{
	static char name[4096];
	struct tpc_text text = tpc_text_in(name, sizeof(name));
	uint32_t parent = identity->ppid;

	return strstr(tpc_config.output, "%e") && name_of(parent, identity, &text) &&
	       (whose(name, identity) == parent || is_numbered(name, parent, identity));
}

/*
 * The run's first process is over, but the run goes on: this one's parent, or this process itself before an exec, has a
 * numbered trace beside it, or the parent's trace has another name.
 */
static bool run_goes_on(const char *name, const struct tpc_identity *identity)
{
	return is_numbered(name, identity->ppid, identity) || is_numbered(name, identity->pid, identity) ||
	       has_parents_trace(identity);
}

/* ---- the run ---- */

static bool adopt(const char *name, const struct tpc_identity *identity)
{
	struct found found = look_at(name, identity);

	if (found.fd >= 0)
		tpc_sys_close(found.fd);
	if ((found.occupant == OCCUPANT_RUN && found.pid == identity->ppid) || found.occupant == OCCUPANT_SELF)
		tpc_config.run = found.run;
	return tpc_config.run != 0;
}

static bool adopt_numbered(const char *name, uint32_t pid, const struct tpc_identity *identity)
{
	struct tpc_text numbered = tpc_text_in(path, sizeof(path));

	number_name(name, pid, 1, &numbered);
	return adopt(path, identity);
}

static bool adopt_from(uint32_t pid, const struct tpc_identity *identity)
{
	static char name[4096];
	struct tpc_text text = tpc_text_in(name, sizeof(name));

	return name_of(pid, identity, &text) && (adopt(name, identity) || adopt_numbered(name, pid, identity));
}

static uint64_t draw(const struct tpc_identity *identity)
{
	struct tprof_moment now = tpc_clock_moment();
	uint64_t number = 0;

	if (tpc_syscall(SYS_getrandom, &number, sizeof(number), 1 /* GRND_NONBLOCK */, 0) == sizeof(number) && number)
		return number;
	return tpc_hash_word(tpc_hash_word(now.unix_ns, now.ticks), identity->pid) | 1;
}

void tpc_claim_run(const struct tpc_identity *identity)
{
	/* One that was attached to begins a run of its own. */
	bool adopted = tpc_config.run || (!tpc_lookup_is_last() && (adopt_from(identity->pid, identity) ||
								    adopt_from(identity->ppid, identity)));

	path[0] = '\0'; /* the names that were looked at are not this trace's */
	if (adopted)
		return;
	tpc_config.run = draw(identity);
	is_first = true;
}

static int take_numbered(const char *temporary, const char *name, const struct tpc_identity *identity, uint32_t *origin)
{
	enum occupant occupant;
	int result = -EEXIST;

	if (*origin != TPROF_ORIGIN_FORK)
		*origin = is_first ? TPROF_ORIGIN_FIRST : TPROF_ORIGIN_EXEC;
	if (!tpc_config.children && *origin != TPROF_ORIGIN_FIRST)
		return -ECHILD;
	for (unsigned int image = 1; image < 10000 && result == -EEXIST; image++) {
		struct tpc_text numbered = tpc_text_in(path, sizeof(path));

		number_name(name, identity->pid, image, &numbered);
		result = take(temporary, path, identity, &occupant);
	}
	return result;
}

int tpc_claim_name(const char *temporary, const struct tpc_identity *identity, uint32_t *origin, const char **reason)
{
	static char name[4096];
	struct tpc_text text = tpc_text_in(name, sizeof(name));
	enum occupant occupant;
	bool has_pid;
	int result;

	if (!expand(identity, &text, &has_pid))
		return -ENAMETOOLONG;
	if (!has_pid && (*origin == TPROF_ORIGIN_FORK || (!is_first && run_goes_on(name, identity))))
		return take_numbered(temporary, name, identity, origin);
	memcpy(path, name, text.length + 1);
	result = take(temporary, path, identity, &occupant);
	if (occupant == OCCUPANT_FOREIGN && result == -EEXIST) {
		*reason = "a file of that name exists and is no trace; it was left alone";
		return result;
	}
	if (result == -EEXIST)
		return take_numbered(temporary, name, identity, origin);
	if (*origin != TPROF_ORIGIN_FORK)
		*origin = TPROF_ORIGIN_FIRST;
	return result;
}
