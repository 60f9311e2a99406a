/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/inject.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attach/moment.h"
#include "attach/target.h"
#include "attach/tracee.h"
#include "base/memory.h"
#include "base/now.h"

#define PATIENCE_NS UINT64_C(10000000000) /* for a safe moment */
#define TEXT_MAX 1024

struct functions {
	uint64_t dlopen, dlsym, dlerror;
};

static const char gone[] = "ended meanwhile";

/* ---- the calls ---- */

static char *call(struct tpa_tracee *tracee, uint64_t function, const uint64_t arguments[3], const char *text,
		  size_t bytes, uint64_t *result)
{
	return tpa_tracee_call(tracee, function, arguments, text, bytes, result) ? NULL : tpa_strdup(gone);
}

static char *loader_error(struct tpa_tracee *tracee, const struct functions *functions)
{
	static const uint64_t none[3];
	char text[TEXT_MAX];
	uint64_t message;

	if (!tpa_tracee_call(tracee, functions->dlerror, none, NULL, 0, &message))
		return tpa_strdup(gone);
	tpa_tracee_text(tracee, message, text, sizeof(text));
	return tpa_format("could not load libtprof.so: %s", text);
}

/* A function of the loaded library. */
static char *find(struct tpa_tracee *tracee, const struct functions *functions, uint64_t handle, const char *name,
		  uint64_t *function)
{
	char *error = call(tracee, functions->dlsym, (uint64_t[3]){ handle, TPA_TRACEE_TEXT }, name, strlen(name) + 1,
			   function);

	return error || *function ? error : loader_error(tracee, functions);
}

/* Calls one of them, which returns NULL, or what is wrong. */
static char *call_named(struct tpa_tracee *tracee, const struct functions *functions, uint64_t handle, const char *name,
			const char *argument, size_t bytes)
{
	uint64_t function, wrong = 0;
	char text[TEXT_MAX], *error;

	error = find(tracee, functions, handle, name, &function);
	if (!error)
		error = call(tracee, function, (uint64_t[3]){ TPA_TRACEE_TEXT }, argument, bytes, &wrong);
	if (error || !wrong)
		return error;
	tpa_tracee_text(tracee, wrong, text, sizeof(text));
	return tpa_strdup(text);
}

static char *patch(struct tpa_tracee *tracee, const struct functions *functions, uint64_t handle, const char *name,
		   struct tpa_patched *patched)
{
	uint64_t function, patches = 0;
	char *error = find(tracee, functions, handle, name, &function);

	if (!error)
		error = call(tracee, function, (uint64_t[3]){ 0 }, NULL, 0, &patches);
	return error ? error : tpa_patch(tracee, patches, patched);
}

static char *tell_left(struct tpa_tracee *tracee, const struct functions *functions, uint64_t handle, const char *name,
		       const struct tpa_patched *patched)
{
	uint64_t function, none;
	char *error = name && patched->left_count ? find(tracee, functions, handle, name, &function) : NULL;

	for (size_t i = 0; name && i < patched->left_count && !error; i++)
		error = call(tracee, function, (uint64_t[3]){ patched->left[i] }, NULL, 0, &none);
	return error;
}

static char *call_all(struct tpa_tracee *tracee, const struct functions *functions,
		      const struct tpa_injection *injection, struct tpa_patched *patched)
{
	uint64_t handle;
	char *error;

	error = call(tracee, functions->dlopen, (uint64_t[3]){ TPA_TRACEE_TEXT, RTLD_NOW | RTLD_GLOBAL },
		     injection->library, strlen(injection->library) + 1, &handle);
	if (error)
		return error;
	if (!handle)
		return loader_error(tracee, functions);
	error = call_named(tracee, functions, handle, injection->function, injection->argument, injection->bytes);
	if (error)
		return error;
	error = patch(tracee, functions, handle, injection->patches, patched);
	if (!error)
		error = tell_left(tracee, functions, handle, injection->unpatched, patched);
	if (error && injection->undo)
		free(call_named(tracee, functions, handle, injection->undo, "", 1));
	return error;
}

/* A tool that is ended now would leave the thread in the middle of a call. */
static char *call_undisturbed(struct tpa_tracee *tracee, const struct functions *functions,
			      const struct tpa_injection *injection, struct tpa_patched *patched)
{
	sigset_t all, before;
	char *error;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	tpa_tracee_block_signals(tracee);
	error = call_all(tracee, functions, injection, patched);
	tpa_tracee_release(tracee);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return error;
}

/* ---- the moment ---- */

static const char stuck[] = "it waits in the kernel, as for a disk or a child of vfork";

struct search {
	pid_t pid;
	const struct tpa_moment *moment;
	struct tpa_tracee *tracee;
	const char *why; /* the last thread was at no safe moment */
	bool found;	 /* `tracee` is stopped at one */
};

/* Returns NULL, or why it is of no use to try again. */
static char *try_thread(struct search *search, pid_t tid)
{
	int error;

	if (tpa_target_is_stuck(search->pid, tid)) {
		search->why = stuck;
		return NULL;
	}
	error = tpa_tracee_stop(search->tracee, search->pid, tid);
	if (error == EPERM)
		return tpa_target_refusal(search->pid, error);
	if (error == EAGAIN)
		return tpa_format("has a thread that does not stop: %s", stuck);
	if (error)
		return NULL; /* it has ended */
	search->found = tpa_moment_is_safe(search->moment, search->tracee, &search->why);
	if (!search->found)
		tpa_tracee_release(search->tracee);
	return NULL;
}

/* Stops one thread after the other until one is at a safe moment. */
static char *find_moment(struct search *search)
{
	uint64_t end = tpa_now_ns(CLOCK_MONOTONIC) + PATIENCE_NS;

	do {
		pid_t *threads = tpa_target_threads(search->pid);
		char *error = threads ? NULL : tpa_strdup(gone);

		for (size_t i = 0; threads && threads[i] && !search->found && !error; i++)
			error = try_thread(search, threads[i]);
		free(threads);
		if (error || search->found)
			return error;
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	} while (tpa_now_ns(CLOCK_MONOTONIC) < end);
	return tpa_format("was at no safe moment for %d s: %s", (int)(PATIENCE_NS / 1000000000), search->why);
}

char *tpa_inject(pid_t pid, const struct tpa_injection *injection, struct tpa_injected *injected)
{
	char *error = tpa_target_obstacle(pid);
	struct tpa_moment *moment = error ? NULL : tpa_moment_new(pid);
	struct functions functions = { 0 };
	struct tpa_tracee tracee;

	*injected = (struct tpa_injected){ 0 };
	if (!error && !moment)
		return tpa_target_refusal(pid, EPERM);
	if (!error) {
		functions =
			(struct functions){ tpa_moment_function(moment, "dlopen"), tpa_moment_function(moment, "dlsym"),
					    tpa_moment_function(moment, "dlerror") };
		if (!functions.dlopen || !functions.dlsym || !functions.dlerror)
			error = tpa_strdup(
				"is linked statically, or has another C library than glibc: nothing can be loaded into "
				"it");
	}
	if (!error)
		error = find_moment(&(struct search){ pid, moment, &tracee, stuck, false });
	if (!error) {
		error = call_undisturbed(&tracee, &functions, injection, &injected->patched);
		injected->tid = tracee.tid;
		injected->stopped_ns = tpa_now_ns(CLOCK_MONOTONIC) - tracee.stopped_ns;
	}
	tpa_moment_free(moment);
	return error;
}
