/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/input/machine_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/line/command.h"

static void say(const char *what)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[Ktprof-analyze: measuring this machine: %s", what);
}

static int measure(struct tpa_machine *machine, const char *path)
{
	bool good = tpa_machine_measure(machine, say);

	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	if (!good) {
		fputs("tprof-analyze: this machine can't be measured: too little memory\n", stderr);
		return TPA_EXIT_USAGE;
	}
	if (path && tpa_machine_write(machine, path))
		fprintf(stderr, "tprof-analyze: measured this machine; kept in %s\n", path);
	else
		fprintf(stderr, "tprof-analyze: measured this machine; not kept: %s\n",
			path ? strerror(errno) : "neither XDG_CACHE_HOME nor HOME is set");
	return TPA_EXIT_OK;
}

int tpa_machine_get(const struct tpa_options *options, struct tpa_machine *machine)
{
	struct tpa_machine this_one;
	const char *error = NULL;
	int status = TPA_EXIT_OK;
	char *path;

	if (options->machine) {
		if (tpa_machine_read(machine, options->machine, &error))
			return TPA_EXIT_OK;
		fprintf(stderr, "tprof-analyze: --machine %s: %s\n", options->machine, error);
		return TPA_EXIT_USAGE;
	}
	tpa_machine_identify(&this_one);
	path = tpa_machine_path(&this_one);
	if (options->measure || !path || !tpa_machine_read(machine, path, &error)) {
		*machine = this_one;
		status = measure(machine, path);
	}
	free(path);
	return status;
}

int tpa_machine_find(const struct tpa_options *options, struct tpa_machine *machine, bool *known)
{
	const char *error;
	char *path;

	*known = options->machine || options->measure;
	if (*known)
		return tpa_machine_get(options, machine);
	tpa_machine_identify(machine);
	path = tpa_machine_path(machine);
	*known = path && tpa_machine_read(machine, path, &error);
	free(path);
	return TPA_EXIT_OK;
}
