/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/line/completion.h"

#include <stdio.h>
#include <string.h>

#include "commands/line/command.h"
#include "commands/line/help.h"
#include "commands/line/option_list.h"
#include "commands/line/parse.h"

static const char *const ctl_words[] = {
	"start", "stop", "mark", "snapshot", "leakcheck", "holders", "status", "cancel"
};

static void print(const char *prefix, const char *word, int length, const char *description)
{
	printf("%s%.*s\t%s\n", prefix, length, word, description);
}

static const struct option *option_named(const char *name, size_t length)
{
	for (const struct option *option = tpa_option_list; option->name; option++)
		if (strlen(option->name) == length && strncmp(option->name, name, length) == 0)
			return option;
	return NULL;
}

/* The option whose value the word after `word` is; NULL: none's. */
static const struct option *awaits_value(const char *word)
{
	const struct option *option = NULL;

	if (strcmp(word, "-o") == 0)
		option = option_named("output", strlen("output"));
	else if (strncmp(word, "--", 2) == 0)
		option = option_named(word + 2, strlen(word + 2));
	return option && option->has_arg == required_argument ? option : NULL;
}

static bool is_file(int option)
{
	static const int files[] = { 'o',	   OPT_SUPPRESSIONS, OPT_DEBUG_DIR, OPT_MACHINE,
				     OPT_BASELINE, OPT_RULES,	     OPT_JUNIT,	    OPT_OPENMETRICS };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i] == option)
			return true;
	return false;
}

/* `command` NULL: none is named yet. `prefix`: what stands before the value in the same word. */
static void print_values(const struct tpa_command *command, const struct option *option, const char *prefix)
{
	const struct tpa_command *of = command ? command : tpa_command_find("summary");
	const char *const *words = tpa_option_words(of, option->val);
	const char *keys = option->val == OPT_BY ? of->by_keys : option->val == OPT_SORT ? of->sort_keys : NULL;

	for (size_t i = 0; words && words[i]; i++)
		print(prefix, words[i], (int)strlen(words[i]), "");
	for (; keys && *keys; keys += strspn(keys, " ")) {
		print(prefix, keys, (int)strcspn(keys, " "), "");
		keys += strcspn(keys, " ");
	}
	if (is_file(option->val))
		puts(":files");
}

static void print_options(const struct tpa_command *command)
{
	const struct tpa_command *of = command ? command : tpa_command_find("summary");

	for (const struct option *option = tpa_option_list; option->name; option++) {
		char text[200];

		if (!tpa_option_is_taken(of, option->val))
			continue;
		tpa_help_of_option(option->name, text, sizeof(text));
		print("--", option->name, (int)strlen(option->name), text);
	}
}

static void print_commands(void)
{
	for (const struct tpa_command *command = tpa_commands; command->name; command++)
		print("", command->name, (int)strlen(command->name), command->help);
	print("", "help", 4, "what a command does and takes");
}

/* What is not an option: a command if none is named yet, or traces. `first`: the first such word before it. */
static void print_words(const struct tpa_command *command, const char *first)
{
	if (first && strcmp(first, "help") == 0) {
		print_commands();
		return;
	}
	if (first && strcmp(first, "ctl") == 0)
		for (size_t i = 0; i < sizeof(ctl_words) / sizeof(ctl_words[0]); i++)
			print("", ctl_words[i], (int)strlen(ctl_words[i]), "");
	if (!command && !first)
		print_commands();
	puts(":files");
}

void tpa_complete(char *const *words, size_t count)
{
	const char *last = count ? words[count - 1] : "", *equals = strchr(last, '=');
	const struct tpa_command *command = NULL;
	const struct option *value_of = NULL, *option;
	const char *first = NULL;

	for (size_t i = 0; i + 1 < count; i++) {
		if (!value_of && !first && words[i][0] != '-') {
			first = words[i];
			command = tpa_command_find(first);
		}
		value_of = value_of ? NULL : awaits_value(words[i]);
	}
	option = strncmp(last, "--", 2) == 0 && equals ? option_named(last + 2, (size_t)(equals - last) - 2) : NULL;
	if (value_of) {
		print_values(command, value_of, "");
	} else if (option) {
		char prefix[64];

		snprintf(prefix, sizeof(prefix), "--%s=", option->name);
		print_values(command, option, prefix);
	} else if (last[0] == '-') {
		print_options(command);
	} else {
		print_words(command, first);
	}
}
