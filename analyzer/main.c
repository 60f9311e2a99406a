/* SPDX-License-Identifier: Apache-2.0 */
/* tprof-analyze: reads traces of libtprof.so and reports. */
#include <locale.h>

#include "commands/command.h"

int main(int argc, char **argv)
{
	struct tp_options options;
	int status = TP_EXIT_OK;

	setlocale(LC_CTYPE, "");
	switch (tp_options_parse(argc, argv, &options)) {
	case TP_PARSE_RUN:
		status = options.command->run(&options);
		break;
	case TP_PARSE_DONE:
		break;
	case TP_PARSE_WRONG:
		status = TP_EXIT_USAGE;
		break;
	}
	tp_options_free(&options);
	return status;
}
