/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program may be in a vfork child, which has its parent's memory: nothing here allocates or changes the program's
 * data. A forked child that did nothing yet has no trace and gets none for this: notes go into its parent's.
 */
#include "hooks/process/exec.h"

#include "core/follow.h"
#include "core/inherit.h"
#include "core/state.h"
#include "core/sys.h"
#include "core/text.h"
#include "core/writable.h"
#include "hooks/gate/start.h"
#include "hooks/process/lifecycle.h"
#include "hooks/link/real.h"
#include "hooks/sampling/bequeath.h"

#include <spawn.h>
#include <stdarg.h>
#include <unistd.h>

struct start {
	struct tpc_inherit room;
	char *const *environment; /* environment that the program gets */
	enum tprof_unfollowed why;
	struct tprof_untraced *note;
	bool ended; /* this process's trace was marked as ended */
	struct tprof_moment finish;
	struct tpc_bequest bequest;
};

static void find_real(void *real)
{
	if (!real) /* the process's very first call */
		tpc_start();
}

static void examine(struct start *start, const struct tpc_started *started, char *const *environment)
{
	*start = (struct start){ .environment = environment };
	if (!started->path || !tpc_was_started || tpc_load(&tpc_sealed))
		return;
	start->why = tpc_follow(started);
	if (start->why == TPROF_UNFOLLOWED_LIBC) /* musl's loader ends at a library that it can't link */
		start->environment = tpc_inherit_without(environment, &start->room);
	if (start->why)
		return;
	start->environment = tpc_inherit(environment, &start->room);
	if (tpc_inherit_library() && tpc_writable_never(start->environment, started->moves, started->resets_ids))
		start->why = TPROF_UNFOLLOWED_DIRECTORY;
}

static void end(struct start *start)
{
	tpc_inherit_end(&start->room);
}

static void note(struct start *start, uint32_t pid, const char *name)
{
	struct tprof_header *header = tpc_header;

	if (start->why && header)
		start->note = tpc_follow_note(header, pid, start->why, name && *name ? name : "?");
}

struct tprof_untraced *tpc_exec_shell(const char *command)
{
	const struct tpc_started started = { AT_FDCWD, "/bin/sh", NULL, false, false };
	struct tprof_header *header = tpc_header;
	enum tprof_unfollowed why;
	char name[sizeof(header->untraced[0].name)];
	struct tpc_text text = tpc_text_in(name, sizeof(name));

	if (!command || !header || !tpc_was_started || tpc_load(&tpc_sealed))
		return NULL;
	why = tpc_follow(&started);
	if (!why && !tpc_inherit_is_in(environ))
		why = TPROF_UNFOLLOWED_ENVIRONMENT;
	if (!why && tpc_inherit_library() && tpc_writable_never(environ, false, false))
		why = TPROF_UNFOLLOWED_DIRECTORY;
	if (!why)
		return NULL;
	tpc_text_add(&text, command);
	return tpc_follow_note(header, 0, why, name);
}

/* ---- exec ---- */

static void before_exec(struct start *start, const struct tpc_started *started, char *const *environment)
{
	int saved = errno;
	uint32_t pid;

	examine(start, started, environment);
	pid = tpc_sys_getpid();
	note(start, pid, started->path);
	if (tpc_state_has_trace() && !tpc_load(&tpc_sealed) && pid == tpc_state.pid &&
	    tpc_header->end == TPROF_END_NONE) {
		start->ended = true;
		start->finish = tpc_header->finish;
		tpc_mark_end(TPROF_END_EXEC, 0);
	}
	tpc_cpu_bequeath_all(&start->bequest);
	errno = saved;
}

/* exec returned: the program was not started. */
static int after_exec(struct start *start, int result)
{
	int saved = errno;

	tpc_cpu_take_back(&start->bequest);
	tpc_follow_undo(start->note);
	if (start->ended) {
		tpc_store_release(&tpc_header->end, (uint32_t)TPROF_END_NONE);
		tpc_header->finish = start->finish;
	}
	end(start);
	errno = saved;
	return result;
}

TPC_EXPORT int execve(const char *path, char *const *arguments, char *const *environment)
{
	struct tpc_started started = { AT_FDCWD, path, NULL, false, false };
	struct start start;

	find_real((void *)tpc_real.execve);
	before_exec(&start, &started, environment);
	return after_exec(&start, tpc_real.execve(path, arguments, start.environment));
}

TPC_EXPORT int execveat(int directory, const char *path, char *const *arguments, char *const *environment, int flags)
{
	struct tpc_started started = { directory, path, NULL, false, false };
	struct start start;

	find_real((void *)tpc_real.execveat);
	before_exec(&start, &started, environment);
	return after_exec(&start, tpc_real.execveat(directory, path, arguments, start.environment, flags));
}

TPC_EXPORT int fexecve(int fd, char *const *arguments, char *const *environment)
{
	struct tpc_started started = { fd, "", NULL, false, false };
	struct start start;

	find_real((void *)tpc_real.fexecve);
	before_exec(&start, &started, environment);
	return after_exec(&start, tpc_real.fexecve(fd, arguments, start.environment));
}

/* Searches the PATH of the caller's own environment, and passes a text that is not a program to the shell. */
TPC_EXPORT int execvpe(const char *file, char *const *arguments, char *const *environment)
{
	struct tpc_started started = { AT_FDCWD, file, environ, false, false };
	struct start start;

	find_real((void *)tpc_real.execvpe);
	before_exec(&start, &started, environment);
	return after_exec(&start, tpc_real.execvpe(file, arguments, start.environment));
}

TPC_EXPORT int execv(const char *path, char *const *arguments)
{
	return execve(path, arguments, environ);
}

TPC_EXPORT int execvp(const char *file, char *const *arguments)
{
	return execvpe(file, arguments, environ);
}

/* ---- exec with its arguments one by one ---- */

static size_t count_arguments(va_list *list)
{
	size_t count = 1;

	while (va_arg(*list, char *))
		count++;
	return count;
}

/* In this function's frame, as in libc. */
#define EXECL(function, path, first, list, environment)                                                                \
	do {                                                                                                           \
		size_t count_;                                                                                         \
		va_list counted_;                                                                                      \
		char **arguments_;                                                                                     \
                                                                                                                       \
		va_start(counted_, first);                                                                             \
		count_ = count_arguments(&counted_);                                                                   \
		va_end(counted_);                                                                                      \
		arguments_ = __builtin_alloca((count_ + 1) * sizeof(char *));                                          \
		arguments_[0] = (char *)(uintptr_t)(first);                                                            \
		for (size_t i_ = 1; i_ <= count_; i_++)                                                                \
			arguments_[i_] = va_arg(list, char *);                                                         \
		result = function(path, arguments_, environment);                                                      \
	} while (0)

TPC_EXPORT int execl(const char *path, const char *argument, ...)
{
	va_list list;
	int result;

	va_start(list, argument);
	EXECL(execve, path, argument, list, environ);
	va_end(list);
	return result;
}

TPC_EXPORT int execlp(const char *file, const char *argument, ...)
{
	va_list list;
	int result;

	va_start(list, argument);
	EXECL(execvpe, file, argument, list, environ);
	va_end(list);
	return result;
}

/* The environment follows the arguments' NULL. */
TPC_EXPORT int execle(const char *path, const char *argument, ...)
{
	va_list list;
	int result;

	va_start(list, argument);
	EXECL(execve, path, argument, list, va_arg(list, char **));
	va_end(list);
	return result;
}

long tpc_exec_by_syscall(long number, long first, long second, long third, long fourth, long fifth)
{
	bool at = number == SYS_execveat;
	struct tpc_started started = { at ? (int)first : AT_FDCWD, (const char *)(at ? second : first), NULL, false,
				       false };
	struct start start;
	long result;

	before_exec(&start, &started, (char *const *)(at ? fourth : third));
	if (at)
		result = tpc_real.syscall(number, first, second, third, (long)start.environment, fifth);
	else
		result = tpc_real.syscall(number, first, second, (long)start.environment);
	return after_exec(&start, (int)result);
}

/* ---- posix_spawn ---- */

typedef int spawner(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const *,
		    char *const *);

static int spawn(spawner *real, pid_t *pid, const struct tpc_started *started,
		 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, char *const *arguments,
		 char *const *environment)
{
	int saved = errno, error;
	struct start start;
	pid_t own = 0;

	examine(&start, started, environment);
	tpc_cpu_bequeath_all(&start.bequest);
	errno = saved;
	error = real(&own, started->path, actions, attributes, arguments, start.environment);
	saved = errno;
	tpc_cpu_take_back(&start.bequest);
	if (!error)
		note(&start, (uint32_t)own, started->path);
	if (!error && pid)
		*pid = own;
	end(&start);
	errno = saved;
	return error;
}

/* posix_spawnattr_getflags() would be one more import: hooks take from libc as little as possible. */
static bool resets_ids(const posix_spawnattr_t *attributes)
{
	return attributes && attributes->__flags & POSIX_SPAWN_RESETIDS;
}

TPC_EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			   const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment)
{
	struct tpc_started started = { AT_FDCWD, path, NULL, resets_ids(attributes), actions != NULL };

	find_real((void *)tpc_real.posix_spawn);
	return spawn(tpc_real.posix_spawn, pid, &started, actions, attributes, arguments, environment);
}

TPC_EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			    const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment)
{
	struct tpc_started started = { AT_FDCWD, file, environ, resets_ids(attributes), actions != NULL };

	find_real((void *)tpc_real.posix_spawnp);
	return spawn(tpc_real.posix_spawnp, pid, &started, actions, attributes, arguments, environment);
}
