/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/compare_label.h"

#include <stdio.h>
#include <string.h>

#include "report/rows/name.h"

static const struct tp_trace *trace_of(const struct tp_variants *variants, size_t number)
{
	return variants->list[number].runs[0]->processes[0].trace;
}

/* Without ".PID" and ".PID-N" at the end, if it is this process's; where there is nothing else, 0. */
static size_t without_pid(const struct tp_trace *trace, const char *file, size_t length)
{
	size_t end = length, digits;
	char pid[24];

	while (end > 0 && file[end - 1] >= '0' && file[end - 1] <= '9')
		end--;
	if (end == 0 || end == length || file[end - 1] != '-')
		end = length;
	else
		end--;
	digits = (size_t)snprintf(pid, sizeof(pid), ".%ju", (uintmax_t)trace->header->pid);
	if (end == digits - 1 && memcmp(file, pid + 1, end) == 0)
		return 0;
	return end > digits && memcmp(file + end - digits, pid, digits) == 0 ? end - digits : length;
}

static size_t stem_of(const struct tp_trace *trace, const char **file)
{
	size_t length;

	*file = tp_file_name(trace->file);
	length = strlen(*file);
	if (length > 4 && strcmp(*file + length - 4, ".bin") == 0)
		length -= 4;
	return without_pid(trace, *file, length);
}

static bool same_stem(const struct tp_trace *a, const struct tp_trace *b)
{
	const char *of_a, *of_b;
	size_t length = stem_of(a, &of_a);

	return stem_of(b, &of_b) == length && memcmp(of_a, of_b, length) == 0;
}

/* What stands behind an option is its value: it is the same only behind the same one. */
static bool has_argument(const struct tp_trace *trace, const char *argument, const char *before)
{
	bool is_value = before[0] == '-' && argument[0] != '-';

	for (size_t i = 1; i < trace->arg_count; i++)
		if (strcmp(trace->args[i], argument) == 0 && (!is_value || strcmp(trace->args[i - 1], before) == 0))
			return true;
	return false;
}

/* Does each variant with the same stem have this argument, too? */
static bool is_common(const struct tp_variants *variants, size_t number, size_t argument)
{
	const struct tp_trace *trace = trace_of(variants, number);

	for (size_t i = 0; i < variants->count; i++)
		if (same_stem(trace, trace_of(variants, i)) &&
		    !has_argument(trace_of(variants, i), trace->args[argument], trace->args[argument - 1]))
			return false;
	return true;
}

static bool is_alone(const struct tp_variants *variants, size_t number)
{
	for (size_t i = 0; i < variants->count; i++)
		if (i != number && same_stem(trace_of(variants, number), trace_of(variants, i)))
			return false;
	return true;
}

void tp_compare_label(const struct tp_variants *variants, size_t number, char *label)
{
	const struct tp_trace *trace = trace_of(variants, number);
	const char *file;
	size_t length = stem_of(trace, &file), room = TP_LABEL_MAX;

	if ((length && is_alone(variants, number)) || !trace->arg_count) {
		snprintf(label, room, "%.*s", (int)length, file);
	} else {
		snprintf(label, room, "%s", tp_file_name(trace->args[0]));
		for (size_t i = 1; i < trace->arg_count && !is_alone(variants, number); i++) {
			size_t used = strlen(label);

			if (!is_common(variants, number, i))
				snprintf(label + used, room - used, " %s", tp_file_name(trace->args[i]));
		}
	}
	for (char *c = label; *c; c++)
		if (*c == '|' || (unsigned char)*c < ' ')
			*c = '?';
}
