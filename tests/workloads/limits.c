/* SPDX-License-Identifier: Apache-2.0 */
/* limits as=BYTES|fsize=BYTES|nofile=COUNT COMMAND...: runs COMMAND under that limit. Not recorded itself. */
#include "truth.h"

#include <string.h>
#include <sys/resource.h>

static int limit_of(const char *name, size_t length)
{
	static const struct {
		const char *name;
		int resource;
	} known[] = {
		{ "as", RLIMIT_AS }, { "fsize", RLIMIT_FSIZE }, { "nofile", RLIMIT_NOFILE }, { "data", RLIMIT_DATA }
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].name) == length && !strncmp(known[i].name, name, length))
			return known[i].resource;
	truth_die("usage: limits as=BYTES|fsize=BYTES|nofile=COUNT COMMAND...");
	return -1;
}

int main(int argc, char **argv)
{
	const char *value = argc > 2 ? strchr(argv[1], '=') : NULL;
	const char *preload = getenv("LIMITS_PRELOAD"); /* becomes LD_PRELOAD of COMMAND alone */
	struct rlimit limit;

	if (!value)
		truth_die("usage: limits as=BYTES|fsize=BYTES|nofile=COUNT COMMAND...");
	limit.rlim_cur = limit.rlim_max = (rlim_t)atoll(value + 1);
	if (preload)
		setenv("LD_PRELOAD", preload, 1);
	if (setrlimit(limit_of(argv[1], (size_t)(value - argv[1])), &limit))
		truth_die("setrlimit");
	execv(argv[2], argv + 2);
	truth_die("execv");
	return 1;
}
