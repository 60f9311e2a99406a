/* SPDX-License-Identifier: Apache-2.0 */
/* tprof-analyze: reads traces of libtprof.so and reports. */
#include <jansson.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "commands/attach.h"
#include "commands/line/command.h"
#include "commands/ctl.h"
#include "commands/fold.h"
#include "commands/line/parse.h"
#include "commands/input/run_choice.h"
#include "report/text/pager.h"
#include "symbols/names.h"

static void *json_memory(size_t size)
{
	return tpa_resize(NULL, 1, size);
}

/* A report that is read on a terminal; of check, the exit status counts. */
static bool is_paged(const struct tpa_options *options)
{
	unsigned int takes = options->command->options;

	return !options->no_pager && !options->html && !options->output && takes & TPA_OPT_REPORT &&
	       !(takes & TPA_OPT_CHECK);
}

int main(int argc, char **argv)
{
	struct tpa_options options;
	int status = TPA_EXIT_OK;

	json_set_alloc_funcs(json_memory, free);
	setlocale(LC_CTYPE, "");
	signal(SIGXFSZ, SIG_IGN); /* past RLIMIT_FSIZE a write fails as on a full disk: the file is named */
	if (argc > 1 && strcmp(argv[1], "ctl") == 0)
		return tpa_ctl(argc - 1, argv + 1);
	if (argc > 2 && strcmp(argv[1], "help") == 0 && strcmp(argv[2], "ctl") == 0)
		return tpa_ctl(2, (char *[]){ argv[2], "--help", NULL });
	if (argc > 1 && strcmp(argv[1], "fold") == 0)
		return tpa_fold(argc - 1, argv + 1);
	if (argc > 1 && (strcmp(argv[1], "attach") == 0 || strcmp(argv[1], "detach") == 0))
		return tpa_attach(argc - 1, argv + 1);
	switch (tpa_options_parse(argc, argv, &options)) {
	case TPA_PARSE_RUN:
		tpa_names_use_cache();
		if (is_paged(&options))
			tpa_pager_start();
		status = tpa_run_choice(&options);
		tpa_names_keep();
		if (!tpa_pager_end())
			status = TPA_EXIT_USAGE;
		break;
	case TPA_PARSE_DONE:
		break;
	case TPA_PARSE_WRONG:
		status = TPA_EXIT_USAGE;
		break;
	}
	tpa_options_free(&options);
	return status;
}
