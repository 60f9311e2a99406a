/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/line/rules.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tprof/size.h>

#include "base/memory.h"
#include "commands/line/values.h"
#include "report/rows/line_file.h"

static const struct {
	const char *name;
	enum tpa_metric metric;
} limits[] = {
	{ "max-peak", TPA_METRIC_PEAK },     { "max-unfreed", TPA_METRIC_UNFREED },
	{ "max-rss", TPA_METRIC_RSS },	     { "max-allocations", TPA_METRIC_ALLOCATIONS },
	{ "max-growth", TPA_METRIC_GROWTH },
};

static const struct {
	const char *name;
	enum tpa_metric metric;
} regressions[] = {
	{ "peak", TPA_METRIC_PEAK },	 { "unfreed", TPA_METRIC_UNFREED },
	{ "rss", TPA_METRIC_RSS },	 { "allocations", TPA_METRIC_ALLOCATIONS },
	{ "step", TPA_METRIC_STEP },	 { "steps", TPA_METRIC_STEP },
	{ "growth", TPA_METRIC_GROWTH },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void add(struct tpa_rules *rules, const struct tpa_rule *rule, const char *name, const char *value)
{
	tpa_grow(&rules->list, &rules->room, rules->count + 1, sizeof(*rules->list));
	rules->list[rules->count] = *rule;
	rules->list[rules->count++].text = tpa_format("%s %s", name, value);
}

/* Parses "1KiB/step", "1KiB" (the same) or "1KiB/s". */
static bool parse_rate(const char *value, struct tpa_rule *rule)
{
	const char *slash = strchr(value, '/');
	char size[64];
	uint64_t bytes;
	size_t length = slash ? (size_t)(slash - value) : strlen(value);

	if (length >= sizeof(size) || (slash && strcmp(slash, "/step") != 0 && strcmp(slash, "/s") != 0))
		return false;
	memcpy(size, value, length);
	size[length] = '\0';
	rule->seconds = slash && strcmp(slash, "/s") == 0;
	rule->limit = tprof_parse_size(size, &bytes) ? (double)bytes : NAN;
	return !isnan(rule->limit);
}

static bool add_limit(struct tpa_rules *rules, const char *where, enum tpa_metric metric, const char *name,
		      const char *value)
{
	struct tpa_rule rule = { .metric = metric };
	uint64_t bytes;

	if (metric == TPA_METRIC_GROWTH) {
		if (!parse_rate(value, &rule)) {
			fprintf(stderr,
				"tprof-analyze: %s%s %s: a size a step or a second is wanted, as in 1KiB/step, "
				"64KiB/s\n",
				where, name, value);
			return false;
		}
	} else if (tprof_parse_size(value, &bytes)) {
		rule.limit = (double)bytes;
	} else {
		fprintf(stderr, "tprof-analyze: %s%s %s: %s is wanted\n", where, name, value,
			metric == TPA_METRIC_ALLOCATIONS ? "a number" : "a size, as in 512MiB, 2GiB or 1000000,");
		return false;
	}
	add(rules, &rule, name, value);
	return true;
}

/* The end of METRIC in METRIC=N%: the last equals sign, as op names may contain some. NULL: not of that form. */
static const char *parse_share(const char *item, double *share)
{
	const char *equals = strrchr(item, '=');
	char *end;

	if (!equals || equals == item || !(isdigit((unsigned char)equals[1]) || equals[1] == '.'))
		return NULL;
	*share = strtod(equals + 1, &end) / 100;
	return strcmp(end, "%") == 0 && isfinite(*share) ? equals : NULL;
}

static bool add_regression(struct tpa_rules *rules, const char *where, const char *item)
{
	struct tpa_rule rule = { .regress = true };
	const char *equals = parse_share(item, &rule.limit);
	size_t length = equals ? (size_t)(equals - item) : 0;

	for (size_t i = 0; equals && i < COUNT(regressions); i++) {
		if (strlen(regressions[i].name) != length || strncmp(item, regressions[i].name, length) != 0)
			continue;
		rule.metric = regressions[i].metric;
		add(rules, &rule, "max-regress", item);
		return true;
	}
	if (equals && length > 3 && strncmp(item, "op:", 3) == 0) {
		rule.metric = TPA_METRIC_OP;
		rule.op = tpa_strndup(item + 3, length - 3);
		add(rules, &rule, "max-regress", item);
		return true;
	}
	fprintf(stderr,
		"tprof-analyze: %smax-regress %s: WHAT=N%% is wanted, WHAT one of: peak unfreed rss allocations "
		"growth steps op:NAME\n",
		where, item);
	return false;
}

/* Items are separated by a comma after a percent sign, as op names may contain commas. */
static bool add_regressions(struct tpa_rules *rules, const char *where, const char *value)
{
	char *items = tpa_strdup(value), *item = items;
	bool good = true;

	while (good && item) {
		char *end = strstr(item, "%,");

		if (end)
			end[1] = '\0';
		good = add_regression(rules, where, item);
		item = end ? end + 2 : NULL;
	}
	free(items);
	return good;
}

bool tpa_rules_add(struct tpa_rules *rules, const char *where, const char *name, const char *value)
{
	for (size_t i = 0; i < COUNT(limits); i++) {
		if (strcmp(name, limits[i].name) == 0)
			return add_limit(rules, where, limits[i].metric, name, value);
	}
	if (strcmp(name, "max-regress") == 0)
		return add_regressions(rules, where, value);
	fprintf(stderr,
		"tprof-analyze: %s%s: a rule is one of: max-peak max-unfreed max-rss max-allocations max-growth "
		"max-regress\n",
		where, name);
	return false;
}

static bool read_line(struct tpa_rules *rules, const char *where, char *line)
{
	char *name = line + strspn(line, " \t"), *value = name + strcspn(name, " \t\r\n"), *end;

	if (!*name || *name == '#' || *name == '\n' || *name == '\r')
		return true;
	if (*value)
		*value++ = '\0';
	value += strspn(value, " \t");
	for (end = value + strlen(value); end > value && isspace((unsigned char)end[-1]); end--)
		;
	*end = '\0';
	return tpa_rules_add(rules, where, name, value);
}

bool tpa_rules_read(struct tpa_rules *rules, const char *path)
{
	FILE *file = fopen(path, "re");
	const char *unread = file ? NULL : strerror(errno);
	char line[TPA_LINE_MOST], where[4200];
	bool good = true;

	for (unsigned number = 1; file && good && tpa_line_read(file, line, &unread); number++) {
		snprintf(where, sizeof(where), "%s:%u: ", path, number);
		good = read_line(rules, where, line);
	}
	if (unread)
		fprintf(stderr, "tprof-analyze: --rules %s: can't be read: %s\n", path, unread);
	if (file)
		fclose(file);
	return good && !unread;
}

void tpa_rules_free(struct tpa_rules *rules)
{
	for (size_t i = 0; i < rules->count; i++) {
		free(rules->list[i].text);
		free(rules->list[i].op);
	}
	free(rules->list);
	*rules = (struct tpa_rules){ 0 };
}
