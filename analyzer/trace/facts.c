/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/facts.h"

#include <stdlib.h>

#include "base/varint.h"

#define FACTS_MAX 4096 /* of a kind; a trace with more is damaged */

static char *text_of(const uint8_t *at, const uint8_t *end)
{
	size_t length = (size_t)(end - at);
	char *text = malloc(length + 1);

	if (text) {
		memcpy(text, at, length);
		text[length] = '\0';
	}
	return text;
}

static struct tpa_value *value_named(const struct tpa_trace *trace, const char *name)
{
	for (size_t i = 0; i < trace->value_count; i++)
		if (strcmp(trace->values[i].name, name) == 0)
			return &trace->values[i];
	return NULL;
}

bool tpa_fact_value(struct tpa_trace *trace, const uint8_t *at, const uint8_t *end, bool *bad)
{
	const uint8_t *body = at;
	struct tpa_value value = { .value = tpa_uvarint(&at) }, *there, *grown;

	*bad = !tpa_read_ok(body, at, end) || trace->value_count == FACTS_MAX;
	if (*bad)
		return true;
	value.name = text_of(at, end);
	if (!value.name)
		return false;
	there = value_named(trace, value.name);
	if (there) {
		there->value = value.value;
		free(value.name);
		return true;
	}
	grown = realloc(trace->values, (trace->value_count + 1) * sizeof(value));
	if (!grown) {
		free(value.name);
		return false;
	}
	trace->values = grown;
	trace->values[trace->value_count++] = value;
	return true;
}

bool tpa_fact_counter(struct tpa_trace *trace, const uint8_t *at, const uint8_t *end, bool *bad)
{
	const uint8_t *body = at;
	uint64_t number = tpa_uvarint(&at), error = tpa_uvarint(&at);
	struct tpa_counter counter = { .error = (int)(error & 0xffff) }, *grown;

	counter.flags = *at++;
	*bad = !tpa_read_ok(body, at, end) || trace->counter_count == FACTS_MAX || number > TPROF_COUNTERS_MAX ||
	       (number == 0) == (error == 0);
	if (*bad)
		return true;
	counter.number = (uint32_t)number;
	counter.name = text_of(at, end);
	grown = counter.name ? realloc(trace->counters, (trace->counter_count + 1) * sizeof(counter)) : NULL;
	if (!grown) {
		free(counter.name);
		return false;
	}
	trace->counters = grown;
	trace->counters[trace->counter_count++] = counter;
	return true;
}

bool tpa_fact_jitdump(struct tpa_trace *trace, const uint8_t *at, const uint8_t *end, bool *bad)
{
	char **grown, *path;

	*bad = trace->jitdump_count == FACTS_MAX;
	if (*bad)
		return true;
	path = text_of(at, end);
	grown = path ? realloc(trace->jitdumps, (trace->jitdump_count + 1) * sizeof(*grown)) : NULL;
	if (!grown) {
		free(path);
		return false;
	}
	trace->jitdumps = grown;
	trace->jitdumps[trace->jitdump_count++] = path;
	return true;
}

bool tpa_fact_file(struct tpa_trace *trace, const uint8_t *at, const uint8_t *end, bool *bad)
{
	const uint8_t *body = at;
	uint64_t file = tpa_uvarint(&at);
	char **grown;

	*bad = !tpa_read_ok(body, at, end) || !file || file >= FACTS_MAX;
	if (*bad)
		return true;
	if (file >= trace->file_count) {
		grown = realloc(trace->files, (file + 1) * sizeof(*grown));
		if (!grown)
			return false;
		memset(grown + trace->file_count, 0, (file + 1 - trace->file_count) * sizeof(*grown));
		trace->files = grown;
		trace->file_count = file + 1;
	}
	free(trace->files[file]);
	trace->files[file] = text_of(at, end);
	return trace->files[file] != NULL;
}

static struct tpa_hooks *hooks_of(const struct tpa_trace *trace, const char *object, uint8_t state)
{
	for (size_t i = 0; i < trace->hooks_count; i++)
		if (trace->hooks[i].state == state && strcmp(trace->hooks[i].object, object) == 0)
			return &trace->hooks[i];
	return NULL;
}

/* Of what is not reached the latest word counts: other objects may have been loaded that do. */
static void add_hooks(struct tpa_hooks *to, const struct tpa_hooks *hooks)
{
	if (hooks->state == TPROF_HOOKS_UNREACHED)
		to->pointers = to->functions = 0;
	to->pointers += hooks->pointers;
	to->functions += hooks->functions;
}

bool tpa_fact_hooks(struct tpa_trace *trace, const uint8_t *at, const uint8_t *end, bool *bad)
{
	const uint8_t *body = at;
	struct tpa_hooks hooks = { .state = *at++ }, *there, *grown;

	hooks.pointers = tpa_uvarint(&at);
	hooks.functions = tpa_uvarint(&at);
	*bad = !tpa_read_ok(body, at, end) || trace->hooks_count == FACTS_MAX;
	if (*bad)
		return true;
	hooks.object = text_of(at, end);
	if (!hooks.object)
		return false;
	there = hooks_of(trace, hooks.object, hooks.state);
	if (there) {
		add_hooks(there, &hooks);
		free(hooks.object);
		return true;
	}
	grown = realloc(trace->hooks, (trace->hooks_count + 1) * sizeof(hooks));
	if (!grown) {
		free(hooks.object);
		return false;
	}
	trace->hooks = grown;
	trace->hooks[trace->hooks_count++] = hooks;
	return true;
}

bool tpa_fact_reach(struct tpa_trace *trace, const uint8_t *at, const uint8_t *end, bool *bad)
{
	const uint8_t *body = at;
	struct tpa_reach_sum sum = { .ticks = tpa_uvarint(&at) }, *grown;
	uint64_t node, op;

	sum.reach = *at++;
	node = tpa_uvarint(&at);
	op = tpa_uvarint(&at);
	sum.blocks = tpa_uvarint(&at);
	sum.bytes = tpa_uvarint(&at);
	*bad = !tpa_read_ok(body, at, end) || !sum.reach || sum.reach > TPROF_REACH_STILL || node > UINT32_MAX ||
	       op > UINT32_MAX;
	if (*bad)
		return true;
	sum.node = (uint32_t)node;
	sum.op = (uint32_t)op;
	if ((trace->reach_count & (trace->reach_count - 1)) == 0) { /* doubled when it is full */
		grown = realloc(trace->reach, (trace->reach_count ? 2 * trace->reach_count : 1) * sizeof(sum));
		if (!grown)
			return false;
		trace->reach = grown;
	}
	trace->reach[trace->reach_count++] = sum;
	return true;
}

void tpa_facts_free(struct tpa_trace *trace)
{
	for (size_t i = 0; i < trace->hooks_count; i++)
		free(trace->hooks[i].object);
	free(trace->hooks);
	free(trace->reach);
	for (size_t i = 0; i < trace->value_count; i++)
		free(trace->values[i].name);
	for (size_t i = 0; i < trace->counter_count; i++)
		free(trace->counters[i].name);
	free(trace->values);
	free(trace->counters);
	for (size_t i = 0; i < trace->jitdump_count; i++)
		free(trace->jitdumps[i]);
	free(trace->jitdumps);
	for (size_t i = 0; i < trace->file_count; i++)
		free(trace->files[i]);
	free(trace->files);
}

bool tpa_trace_value(const struct tpa_trace *trace, const char *name, uint64_t *value)
{
	const struct tpa_value *there = value_named(trace, name);

	if (there)
		*value = there->value;
	return there != NULL;
}

int tpa_trace_counter(const struct tpa_trace *trace, const char *name)
{
	for (size_t i = 0; i < trace->counter_count; i++)
		if (trace->counters[i].number && strcmp(trace->counters[i].name, name) == 0)
			return (int)trace->counters[i].number - 1;
	return -1;
}
