/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_RUN 126 /* the shell's exit status for a command that it can't run, and any above */
#define USAGE 2

static pid_t pager; /* 0: there is none */
static int terminal = -1;

/* Is a program of this name in PATH? */
static bool is_there(const char *name)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	while (path && *path) {
		int length = (int)strcspn(path, ":");

		snprintf(file, sizeof(file), "%.*s/%s", length, path, name);
		if (length && access(file, X_OK) == 0)
			return true;
		path += length;
		path += *path == ':';
	}
	return false;
}

/* NULL: none is wanted. */
static const char *command(void)
{
	const char *said = getenv("TPROF_PAGER") ?: getenv("PAGER");

	if (!said)
		return is_there("less") ? "less -FRX" : NULL;
	return *said && strcmp(said, "cat") != 0 ? said : NULL;
}

/* Returns the pager's exit status. */
static int wait_for_pager(void)
{
	int status = 0;

	while (waitpid(pager, &status, 0) < 0)
		if (errno != EINTR)
			return 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

/* The pager has the terminal, and is left before this process ends. */
static void ended_by(int number)
{
	int status;

	close(STDOUT_FILENO);
	status = wait_for_pager();
	if (number == SIGPIPE)
		_exit(status >= NOT_RUN ? USAGE : 0);
	signal(number, SIG_DFL);
	raise(number);
}

/* Begins when there is something to show: until then the terminal shows how far the reading of the traces is. */
static _Noreturn void be_pager(const char *wanted, const int *joined)
{
	struct pollfd ready = { .fd = joined[0], .events = POLLIN };

	close(joined[1]);
	poll(&ready, 1, -1);
	dup2(joined[0], STDIN_FILENO);
	signal(SIGXFSZ, SIG_DFL);
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	execl("/bin/sh", "sh", "-c", wanted, (char *)NULL);
	_exit(NOT_RUN);
}

void tpa_pager_start(void)
{
	static const int ends[] = { SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	const char *wanted = command();
	struct sigaction action = { .sa_handler = ended_by, .sa_flags = (int)SA_RESETHAND | SA_NODEFER };
	int joined[2];

	if (!wanted || !isatty(STDOUT_FILENO) || pipe2(joined, O_CLOEXEC) != 0)
		return;
	terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	pager = fork();
	if (pager == 0)
		be_pager(wanted, joined);
	if (pager > 0) {
		dup2(joined[1], STDOUT_FILENO);
		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
			sigaction(ends[i], &action, NULL);
	} else {
		pager = 0;
	}
	close(joined[0]);
	close(joined[1]);
}

bool tpa_pager_end(void)
{
	if (!pager)
		return true;
	fflush(stdout);
	close(STDOUT_FILENO);
	return wait_for_pager() < NOT_RUN;
}

int tpa_terminal_of(FILE *out)
{
	int descriptor = pager && out == stdout ? terminal : fileno(out);

	return isatty(descriptor) ? descriptor : -1;
}
