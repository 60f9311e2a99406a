/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/attach.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attach/inject.h"
#include "attach/target.h"
#include "base/memory.h"
#include "report/text/text.h"
#include "commands/line/values.h"

enum { DONE = 0, REFUSED = 1, USAGE = 2 };

#define OUTPUT "TPROF_OUTPUT="

extern char **environ;

struct request {
	const char *name; /* attach or detach */
	const char *library;
	uint64_t duration_ns; /* 0: until tprof detach */
	pid_t pid;
};

static const char usage[] = "usage: tprof attach [OPTIONS] PID, or tprof detach PID\n";

/* ---- arguments ---- */

static int wrong(const char *what, const char *value)
{
	fprintf(stderr, "tprof: %s%s\n%s", what, value, usage);
	return USAGE;
}

static int parse(int argc, char **argv, struct request *request)
{
	*request = (struct request){ .name = argv[0] };
	for (int i = 1; i < argc; i++) {
		char *end;
		long pid;

		if (strcmp(argv[i], "--library") == 0 && i + 1 < argc) {
			request->library = argv[++i];
		} else if (strcmp(argv[i], "--duration") == 0 && i + 1 < argc) {
			if (!tpa_parse_time(argv[++i], &request->duration_ns) || !request->duration_ns)
				return wrong("--duration is a time above 0, as in 30s, 10m or 2h, not ", argv[i]);
		} else {
			errno = 0;
			pid = strtol(argv[i], &end, 10);
			if (request->pid || *end || errno || pid <= 0 || pid > INT_MAX)
				return wrong("a process ID is wanted, not ", argv[i]);
			request->pid = (pid_t)pid;
		}
	}
	if (!request->pid)
		return wrong("no process ID", "");
	if (!request->library)
		return wrong("no --library: start it as tprof ", request->name);
	return DONE;
}

/* ---- settings ---- */

struct settings {
	char *bytes;
	size_t length, room;
};

static void add(struct settings *settings, const char *variable)
{
	size_t bytes = strlen(variable) + 1;

	tpa_grow(&settings->bytes, &settings->room, settings->length + bytes, 1);
	memcpy(settings->bytes + settings->length, variable, bytes);
	settings->length += bytes;
}

/* Relative to our directory, not to that of the process. To be freed. */
static char *absolute(const char *path)
{
	char folder[PATH_MAX];

	if (path[0] == '/' || !getcwd(folder, sizeof(folder)))
		return tpa_strdup(path);
	return tpa_format("%s/%s", folder, path);
}

static const char *wanted_output(void)
{
	for (char **at = environ; *at; at++)
		if (strncmp(*at, OUTPUT, strlen(OUTPUT)) == 0 && (*at)[strlen(OUTPUT)])
			return *at + strlen(OUTPUT);
	return "trace.bin";
}

static struct settings settings_of(const char *output)
{
	struct settings settings = { NULL, 0, 0 };
	char *variable = tpa_format(OUTPUT "%s", output);

	for (char **at = environ; *at; at++)
		if (strncmp(*at, "TPROF_", 6) == 0 && strncmp(*at, OUTPUT, strlen(OUTPUT)) != 0)
			add(&settings, *at);
	add(&settings, variable);
	add(&settings, "");
	free(variable);
	return settings;
}

/* ---- attach and detach ---- */

static int refused(const struct request *request, char *reason)
{
	fprintf(stderr, "tprof: %d (%s) %s\n", (int)request->pid, tpa_target_name(request->pid), reason);
	free(reason);
	return REFUSED;
}

static void print_patched(const struct tpa_patched *patched, const char *how)
{
	if (patched->functions)
		printf("hooks were %s the code of %s function%s; all threads stood for %s meanwhile\n", how,
		       tpa_count(patched->functions).text, tpa_plural(patched->functions),
		       tpa_time(patched->stopped_ns).text);
}

static int detach(const struct request *request)
{
	struct tpa_injected injected;
	char *error = tpa_target_obstacle(request->pid);

	if (!error && !tpa_target_has_library(request->pid))
		error = tpa_strdup("is not attached to");
	if (!error)
		error = tpa_inject(
			request->pid,
			&(struct tpa_injection){ request->library, "tprof_detach", "", 1, "tprof_patches", NULL, NULL },
			&injected);
	if (error)
		return refused(request, error);
	printf("detached from %d (%s); its thread %d was stopped for %s\n", (int)request->pid,
	       tpa_target_name(request->pid), (int)injected.tid, tpa_time(injected.stopped_ns).text);
	print_patched(&injected.patched, "written back into");
	return DONE;
}

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

/* False: the process ended before. */
static bool wait_for_end(const struct request *request)
{
	struct timespec left = { (time_t)(request->duration_ns / 1000000000u),
				 (long)(request->duration_ns % 1000000000u) };

	while (!interrupted && (left.tv_sec || left.tv_nsec)) {
		struct timespec nap = { left.tv_sec ? 1 : 0, left.tv_sec ? 0 : left.tv_nsec };

		if (kill(request->pid, 0) != 0 && errno == ESRCH)
			return false;
		nanosleep(&nap, NULL);
		left.tv_sec -= nap.tv_sec;
		left.tv_nsec -= nap.tv_nsec;
	}
	return true;
}

static int attach(const struct request *request)
{
	char *output = absolute(wanted_output()), *error;
	struct settings settings = settings_of(output);
	struct tpa_injected injected;

	error = tpa_inject(request->pid,
			   &(struct tpa_injection){ request->library, "tprof_attach", settings.bytes, settings.length,
						    "tprof_patches", "tprof_unpatched", "tprof_detach" },
			   &injected);
	free(settings.bytes);
	if (error) {
		free(output);
		return refused(request, error);
	}
	printf("attached to %d (%s); its thread %d was stopped for %s%s\n", (int)request->pid,
	       tpa_target_name(request->pid), (int)injected.tid, tpa_time(injected.stopped_ns).text,
	       injected.patched.functions ? "" : ", and no other");
	print_patched(&injected.patched, "written into");
	printf("records into %s\n", output);
	free(output);
	if (!request->duration_ns) {
		printf("next: tprof live %d   (tprof detach %d ends it)\n", (int)request->pid, (int)request->pid);
		return DONE;
	}
	fflush(stdout);
	sigaction(SIGINT, &(struct sigaction){ .sa_handler = interrupt }, NULL);
	sigaction(SIGTERM, &(struct sigaction){ .sa_handler = interrupt }, NULL);
	return wait_for_end(request) ? detach(request) : DONE;
}

int tpa_attach(int argc, char **argv)
{
	struct request request;
	int status = parse(argc, argv, &request);

	if (status != DONE)
		return status;
	return strcmp(request.name, "attach") == 0 ? attach(&request) : detach(&request);
}
