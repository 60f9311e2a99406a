/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: what is understood, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "commands/line/command.h"
#include "commands/line/parse.h"

/* Words are separated by blanks; the first is the program's name. */
static enum tpa_parse parse(const char *line, struct tpa_options *options)
{
	static char copy[500];
	char *argv[40], *rest = copy, *word;
	int argc = 0;

	snprintf(copy, sizeof(copy), "tprof-analyze %s", line);
	while ((word = strsep(&rest, " ")))
		if (*word)
			argv[argc++] = word;
	argv[argc] = NULL;
	return tpa_options_parse(argc, argv, options);
}

static void refused(const char *line)
{
	struct tpa_options options;

	if (parse(line, &options) != TPA_PARSE_WRONG)
		fail_msg("was not refused: %s", line);
	tpa_options_free(&options);
}

static void summary_is_the_default(void **state)
{
	struct tpa_options options;

	(void)state;
	assert_int_equal(parse("a.bin b.bin", &options), TPA_PARSE_RUN);
	assert_string_equal(options.command->name, "summary");
	assert_int_equal(options.trace_count, 2);
	assert_string_equal(options.traces[1], "b.bin");
	tpa_options_free(&options);
}

static void options_stand_anywhere(void **state)
{
	struct tpa_options options;

	(void)state;
	assert_int_equal(parse("--top 7 --json peak --by function a.bin --sort=blocks --from 1.5s --to 2", &options),
			 TPA_PARSE_RUN);
	assert_string_equal(options.command->name, "peak");
	assert_int_equal(options.top, 7);
	assert_true(options.top_set && options.json);
	assert_int_equal(options.by, TPA_BY_FUNCTION);
	assert_string_equal(options.sort, "blocks");
	assert_int_equal(options.from_ns, 1500000000);
	assert_int_equal(options.to_ns, 2000000000);
	assert_int_equal(options.trace_count, 1);
	tpa_options_free(&options);
}

static void moments_have_names(void **state)
{
	struct tpa_options options;

	(void)state;
	assert_int_equal(parse("--from mark:warm --to step:12 a.bin", &options), TPA_PARSE_RUN);
	assert_string_equal(options.from_at.mark, "warm");
	assert_int_equal(options.to_at.step, 12);
	assert_int_equal(options.from_at.step + options.from_ns + options.to_ns, 0);
	tpa_options_free(&options);
	assert_int_equal(parse("--to mark:warm --to step:12 --to 3ns a.bin", &options), TPA_PARSE_RUN);
	assert_int_equal(options.to_ns, 3);
	assert_true(!options.to_at.mark && !options.to_at.step);
	tpa_options_free(&options);
}

static void the_first_sort_key_is_the_default(void **state)
{
	struct tpa_options options;

	(void)state;
	assert_int_equal(parse("hotspots a.bin", &options), TPA_PARSE_RUN);
	assert_string_equal(options.sort, "allocations");
	tpa_options_free(&options);
	assert_int_equal(parse("peak a.bin", &options), TPA_PARSE_RUN);
	assert_string_equal(options.sort, "bytes");
	tpa_options_free(&options);
}

static void a_command_behind_two_dashes_is_a_file(void **state)
{
	struct tpa_options options;

	(void)state;
	assert_int_equal(parse("summary -- peak", &options), TPA_PARSE_RUN);
	assert_string_equal(options.traces[0], "peak");
	tpa_options_free(&options);
}

static void suppressions_add_up(void **state)
{
	struct tpa_options options;

	(void)state;
	assert_int_equal(parse("leaks --suppressions a --suppressions=b t.bin", &options), TPA_PARSE_RUN);
	assert_int_equal(options.suppression_count, 2);
	assert_string_equal(options.suppressions[0], "a");
	assert_string_equal(options.suppressions[1], "b");
	tpa_options_free(&options);
}

static void wrong_lines(void **state)
{
	static const char *const lines[] = {
		"",
		"peek a.bin",
		"--frob a.bin",
		"-x a.bin",
		"peak",
		"--top a.bin",
		"--top x a.bin",
		"--top -1 a.bin",
		"--top 99999999999 a.bin",
		"ops --by stack a.bin",
		"peak --shapes a.bin",
		"steps --sort total a.bin",
		"peak --by stac a.bin",
		"peak --sort calls a.bin",
		"summary --by stack a.bin",
		"timeline --filter x a.bin",
		"--filter ( a.bin",
		"--thread 0 a.bin",
		"--thread one a.bin",
		"--process 0 a.bin",
		"--from yesterday a.bin",
		"--from 2 --to 1 a.bin",
		"--from step:0 a.bin",
		"--to step:x a.bin",
		"--color blue a.bin",
		"flamegraph --what all a.bin",
		"flamegraph --json a.bin",
		"export --format xml a.bin",
		"--json=yes a.bin",
		"peak -o",
	};
	int saved = dup(STDERR_FILENO);

	(void)state;
	assert_non_null(freopen("/dev/null", "w", stderr));
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		refused(lines[i]);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
}

/* What the table says of a command must be what the code can do. */
static void commands_are_complete(void **state)
{
	(void)state;
	for (const struct tpa_command *command = tpa_commands; command->name; command++) {
		assert_non_null(command->run);
		assert_true(command->help[0] && command->help[strlen(command->help) - 1] != '.');
		assert_ptr_equal(tpa_command_find(command->name), command);
	}
	assert_null(tpa_command_find("nothing"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(summary_is_the_default),
		cmocka_unit_test(options_stand_anywhere),
		cmocka_unit_test(moments_have_names),
		cmocka_unit_test(the_first_sort_key_is_the_default),
		cmocka_unit_test(a_command_behind_two_dashes_is_a_file),
		cmocka_unit_test(suppressions_add_up),
		cmocka_unit_test(wrong_lines),
		cmocka_unit_test(commands_are_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
