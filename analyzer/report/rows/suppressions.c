/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/suppressions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/rows/line_file.h"
#include "base/pairs.h"

/*
 * Built-in rules: patterns for memory that libc keeps until the process ends, and two rules that a pattern can't express, because
 * the loader is also in the stack of every static initialiser.
 */
static const char *const builtin_patterns[] = {
	"^_IO_file_doallocate$",
	"^_IO_doallocbuf",
	"^_IO_setb$",
	"^setlocale$",
	"^_nl_",
	"^__gconv_",
	"^__tzset",
	"^tzset_internal$",
	"^__tzfile_",
	"^_dl_allocate_tls",
	"^allocate_dtv",
	"^_dl_new_object$",
	"^_dl_init_paths",
	"^__nss_",
	"^nss_",
	"^__textdomain",
	"^__bindtextdomain",
	"^_dl_check_map_versions",
	"^add_to_global",
	"^__res_context",
	"^init_cacheinfo",
};
#define BUILTIN_LOADER "the loader's own (innermost frame in ld.so)"
#define BUILTIN_RUNTIME "the run-time libraries' own (no frame outside ld.so, libc, libstdc++, libgcc_s)"

enum kind { KIND_PATTERN, KIND_LOADER, KIND_RUNTIME };

struct tpa_suppressions {
	struct tpa_suppression *rules;
	enum kind *kinds;
	size_t count, room, kind_room;
	struct tpa_stack whole; /* scratch: the stack with the frames of all languages */
	struct tpa_pairs first; /* symbol to the first pattern that matches it, or `count` */
};

static void add_rule(struct tpa_suppressions *suppressions, enum kind kind, const char *pattern, const char *source)
{
	tpa_grow(&suppressions->rules, &suppressions->room, suppressions->count + 1, sizeof(*suppressions->rules));
	tpa_grow(&suppressions->kinds, &suppressions->kind_room, suppressions->count + 1, sizeof(*suppressions->kinds));
	suppressions->rules[suppressions->count] =
		(struct tpa_suppression){ .pattern = tpa_strdup(pattern), .source = tpa_strdup(source) };
	suppressions->kinds[suppressions->count++] = kind;
}

struct tpa_suppressions *tpa_suppressions_new(void)
{
	struct tpa_suppressions *suppressions = tpa_zalloc(1, sizeof(*suppressions));

	for (size_t i = 0; i < sizeof(builtin_patterns) / sizeof(builtin_patterns[0]); i++)
		add_rule(suppressions, KIND_PATTERN, builtin_patterns[i], "built-in");
	add_rule(suppressions, KIND_LOADER, BUILTIN_LOADER, "built-in");
	add_rule(suppressions, KIND_RUNTIME, BUILTIN_RUNTIME, "built-in");
	return suppressions;
}

void tpa_suppressions_free(struct tpa_suppressions *suppressions)
{
	if (!suppressions)
		return;
	for (size_t i = 0; i < suppressions->count; i++) {
		free((void *)suppressions->rules[i].pattern);
		free((void *)suppressions->rules[i].source);
	}
	free(suppressions->rules);
	free(suppressions->kinds);
	tpa_stack_free(&suppressions->whole);
	tpa_pairs_free(&suppressions->first);
	free(suppressions);
}

/* Parses one line. NULL: a rule was added, or the line is blank or a comment; else the reason of the error. */
static const char *read_line(struct tpa_suppressions *suppressions, char *line, const char *file)
{
	char *end;

	line += strspn(line, " \t");
	end = line + strcspn(line, "\r\n");
	while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = '\0';
	if (!*line || *line == '#')
		return NULL;
	if (strncmp(line, "leak:", 5) != 0)
		return "a line must be leak:PATTERN, or a comment that begins with #";
	if (!line[5])
		return "the pattern after leak: is empty";
	add_rule(suppressions, KIND_PATTERN, line + 5, file);
	return NULL;
}

bool tpa_suppressions_read(struct tpa_suppressions *suppressions, const char *file, char **error)
{
	FILE *in = fopen(file, "r");
	const char *reason = NULL, *unread = in ? NULL : strerror(errno);
	char line[TPA_LINE_MOST];
	size_t number = 0;

	*error = NULL;
	while (in && !reason && tpa_line_read(in, line, &unread)) {
		number++;
		reason = read_line(suppressions, line, file);
	}
	if (in)
		fclose(in);
	if (!reason && !unread)
		return true;
	*error = reason ? tpa_format("%s:%zu: %s", file, number, reason)
			: tpa_format("%s: can't be read: %s", file, unread);
	return false;
}

/* First occurrence in `text` of the `length` characters at `pattern`; NULL: none. */
static const char *find_piece(const char *text, const char *pattern, size_t length)
{
	for (; strlen(text) >= length; text++)
		if (memcmp(text, pattern, length) == 0)
			return text;
	return NULL;
}

bool tpa_pattern_match(const char *pattern, const char *text)
{
	bool anchored = *pattern == '^'; /* the next piece must match at `text` */

	pattern += anchored;
	for (;;) {
		size_t length = strcspn(pattern, "*$");

		if (pattern[length] == '$' && pattern[length + 1] == '\0') { /* this piece must match at the end */
			size_t have = strlen(text);

			if (have < length || (anchored && have != length))
				return false;
			return memcmp(text + have - length, pattern, length) == 0;
		}
		if (pattern[length] == '$') /* in the middle, $ is an ordinary character */
			length += 1 + strcspn(pattern + length + 1, "*$");
		if (anchored && strncmp(text, pattern, length) != 0)
			return false;
		text = anchored ? text : find_piece(text, pattern, length);
		if (!text)
			return false;
		text += length;
		pattern += length;
		if (!*pattern)
			return true;
		anchored = *pattern != '*';
		pattern += !anchored;
	}
}

static bool match_symbol(const char *pattern, const struct tpa_symbol *symbol)
{
	for (size_t i = 0; i < symbol->count; i++) {
		const struct tpa_location *location = &symbol->locations[i];

		if ((location->function && tpa_pattern_match(pattern, location->function)) ||
		    (location->file && tpa_pattern_match(pattern, location->file)))
			return true;
	}
	return (symbol->path[0] && tpa_pattern_match(pattern, symbol->path)) ||
	       (symbol->module[0] && tpa_pattern_match(pattern, symbol->module));
}

/* Many stacks share a symbol: match each symbol against the patterns once. */
static size_t first_pattern(struct tpa_suppressions *suppressions, const struct tpa_symbol *symbol)
{
	bool found;
	uint32_t *rule = tpa_pairs_at(&suppressions->first, (uintptr_t)symbol, 0, &found);

	while (!found && *rule < suppressions->count &&
	       (suppressions->kinds[*rule] != KIND_PATTERN ||
		!match_symbol(suppressions->rules[*rule].pattern, symbol)))
		++*rule;
	return *rule;
}

static bool in_loader(const struct tpa_line *line)
{
	return strncmp(line->symbol->module, "ld-linux", 8) == 0 || strcmp(line->symbol->module, "ld.so") == 0;
}

static bool in_runtime(const struct tpa_line *line)
{
	const char *module = line->symbol->module;

	return in_loader(line) || strncmp(module, "libc.so", 7) == 0 || strncmp(module, "libstdc++.so", 12) == 0 ||
	       strncmp(module, "libgcc_s.so", 11) == 0 || strncmp(module, "libpthread.so", 13) == 0 ||
	       line->location->known.allocator;
}

/* The built-in rules that are not patterns. */
static bool match_builtin(enum kind kind, const struct tpa_stack *stack)
{
	if (kind == KIND_LOADER)
		return stack->first < stack->last && in_loader(&stack->lines[stack->first]);
	if (kind != KIND_RUNTIME)
		return false;
	for (size_t i = 0; i < stack->count; i++)
		if (!in_runtime(&stack->lines[i]))
			return false;
	/* An incomplete stack may lack frames of other modules. */
	return stack->count && stack->end == TPROF_NODE_ROOT;
}

/* Index of the first rule that matches; the number of rules if none does. */
static size_t find_rule(struct tpa_suppressions *suppressions, const struct tpa_stack *stack)
{
	size_t best = suppressions->count;

	for (size_t i = 0; i < stack->count; i++) {
		size_t rule = first_pattern(suppressions, stack->lines[i].symbol);

		best = rule < best ? rule : best;
	}
	for (size_t i = 0; i < best; i++)
		if (match_builtin(suppressions->kinds[i], stack))
			best = i;
	return best;
}

/* The stack with the frames of all languages: rules match frames that are not shown too. */
static const struct tpa_stack *whole_of(struct tpa_suppressions *suppressions, const struct tpa_stack *stack)
{
	if (!stack->symbols || tpa_symbols_options(stack->symbols)->language == TPA_LANGUAGE_MIXED)
		return stack;
	tpa_stack_read_mixed(&suppressions->whole, stack);
	return &suppressions->whole;
}

bool tpa_suppressions_match(struct tpa_suppressions *suppressions, const struct tpa_stack *stack, uint64_t blocks,
			    uint64_t bytes)
{
	size_t index = find_rule(suppressions, whole_of(suppressions, stack));
	struct tpa_suppression *rule = &suppressions->rules[index];

	if (index == suppressions->count)
		return false;
	rule->sites++;
	rule->blocks += blocks;
	rule->bytes += bytes;
	return true;
}

const struct tpa_suppression *tpa_suppressions_list(const struct tpa_suppressions *suppressions, size_t *count)
{
	*count = suppressions->count;
	return suppressions->rules;
}
