/* SPDX-License-Identifier: Apache-2.0 */
/* Table records about the whole run: what was hooked, values that the program reported, counters, files, searches for leaks. */
#include <stdlib.h>

#include "trace/records.h"
#include "base/memory.h"
#include "base/varint.h"

#define FACTS_MAX 4096 /* of a kind; a trace with more is damaged */

static char *text_of(const uint8_t *at, const uint8_t *end)
{
	return tpa_strndup((const char *)at, (size_t)(end - at));
}

/* Adds an element to a list, whose room is the power of two at or above *count. */
static void add(void *list, size_t *count, const void *element, size_t size)
{
	char *bytes;

	memcpy(&bytes, list, sizeof(bytes));
	if ((*count & (*count - 1)) == 0)
		bytes = tpa_resize(bytes, *count ? 2 * *count : 1, size);
	memcpy(bytes + (*count)++ * size, element, size);
	memcpy(list, &bytes, sizeof(bytes));
}

static struct tpa_value *value_named(const struct tpa_trace *trace, const char *name)
{
	for (size_t i = 0; i < trace->value_count; i++)
		if (strcmp(trace->values[i].name, name) == 0)
			return &trace->values[i];
	return NULL;
}

const char *tpa_fact_value(struct tpa_tables *tables, const uint8_t *at, const uint8_t *end)
{
	struct tpa_trace *trace = &tables->impl->trace;
	const uint8_t *body = at;
	struct tpa_value value = { .value = tpa_uvarint(&at) }, *there;

	if (!tpa_read_ok(body, at, end) || trace->value_count == FACTS_MAX)
		return TPA_CUT_RECORD;
	value.name = text_of(at, end);
	there = value_named(trace, value.name);
	if (!there) {
		add(&trace->values, &trace->value_count, &value, sizeof(value));
		return NULL;
	}
	there->value = value.value;
	free(value.name);
	return NULL;
}

const char *tpa_fact_counter(struct tpa_tables *tables, const uint8_t *at, const uint8_t *end)
{
	struct tpa_trace *trace = &tables->impl->trace;
	const uint8_t *body = at;
	uint64_t number = tpa_uvarint(&at), error = tpa_uvarint(&at);
	struct tpa_counter counter = { .number = (uint32_t)number, .error = (int)(error & 0xffff), .flags = *at++ };

	if (!tpa_read_ok(body, at, end) || trace->counter_count == FACTS_MAX || number > TPROF_COUNTERS_MAX ||
	    (number == 0) == (error == 0))
		return TPA_CUT_RECORD;
	counter.name = text_of(at, end);
	add(&trace->counters, &trace->counter_count, &counter, sizeof(counter));
	return NULL;
}

const char *tpa_fact_jitdump(struct tpa_tables *tables, const uint8_t *at, const uint8_t *end)
{
	struct tpa_trace *trace = &tables->impl->trace;
	char *path;

	if (trace->jitdump_count == FACTS_MAX)
		return TPA_CUT_RECORD;
	path = text_of(at, end);
	add(&trace->jitdumps, &trace->jitdump_count, &path, sizeof(path));
	return NULL;
}

const char *tpa_fact_file(struct tpa_tables *tables, const uint8_t *at, const uint8_t *end)
{
	struct tpa_trace *trace = &tables->impl->trace;
	const uint8_t *body = at;
	uint64_t file = tpa_uvarint(&at);
	char *none = NULL;

	if (!tpa_read_ok(body, at, end) || !file || file >= FACTS_MAX)
		return TPA_CUT_RECORD;
	while (file >= trace->file_count)
		add(&trace->files, &trace->file_count, &none, sizeof(none));
	free(trace->files[file]);
	trace->files[file] = text_of(at, end);
	return NULL;
}

static struct tpa_hooks *hooks_of(const struct tpa_trace *trace, const struct tpa_hooks *like)
{
	for (size_t i = 0; i < trace->hooks_count; i++) {
		struct tpa_hooks *hooks = &trace->hooks[i];

		if (hooks->state == like->state && strcmp(hooks->object, like->object) == 0 &&
		    strcmp(hooks->function, like->function) == 0 && strcmp(hooks->allocator, like->allocator) == 0)
			return hooks;
	}
	return NULL;
}

/* Ends the text at the next line, which is returned; "": there is none. */
static const char *next_line(char *text)
{
	char *end = strchr(text, '\n');

	if (!end)
		return "";
	*end = '\0';
	return end + 1;
}

/* The object's path; of a function that was refused, also its name, and why; of an allocator the same. */
static void split_object(struct tpa_hooks *hooks)
{
	const char *name;

	hooks->function = hooks->allocator = hooks->reason = "";
	if (hooks->state != TPROF_HOOKS_REFUSED && !tpa_hooks_ruled(hooks))
		return;
	name = next_line(hooks->object);
	if (name[0])
		hooks->reason = next_line(hooks->object + (name - hooks->object));
	*(tpa_hooks_ruled(hooks) ? &hooks->allocator : &hooks->function) = name;
}

/*
 * The latest record of unreached functions replaces earlier ones: an object that reaches them may have been loaded since. What
 * was refused is tried again when objects were unloaded.
 */
static void add_hooks(struct tpa_hooks *to, const struct tpa_hooks *hooks)
{
	if (hooks->state == TPROF_HOOKS_UNREACHED || (hooks->state == TPROF_HOOKS_REFUSED && hooks->function[0]))
		to->pointers = to->functions = 0;
	to->pointers += hooks->pointers;
	to->functions += hooks->functions;
}

const char *tpa_fact_hooks(struct tpa_tables *tables, const uint8_t *at, const uint8_t *end)
{
	struct tpa_trace *trace = &tables->impl->trace;
	const uint8_t *body = at;
	struct tpa_hooks hooks = { .state = *at++ }, *there;

	hooks.pointers = tpa_uvarint(&at);
	hooks.functions = tpa_uvarint(&at);
	if (!tpa_read_ok(body, at, end) || trace->hooks_count == FACTS_MAX)
		return TPA_CUT_RECORD;
	hooks.object = text_of(at, end);
	split_object(&hooks);
	there = hooks_of(trace, &hooks);
	if (!there) {
		add(&trace->hooks, &trace->hooks_count, &hooks, sizeof(hooks));
		return NULL;
	}
	add_hooks(there, &hooks);
	free(hooks.object);
	return NULL;
}

const char *tpa_hooks_name(unsigned state)
{
	static const char *const names[TPROF_HOOKS_STATES] = {
		[TPROF_HOOKS_DONE] = "hooked",
		[TPROF_HOOKS_PROTECTED] = "its pointers could not be made writable",
		[TPROF_HOOKS_UNTOUCHABLE] = "functions that return twice, unwind or load",
		[TPROF_HOOKS_UNBOUND] = "functions that were not found",
		[TPROF_HOOKS_FULL] = "no room for stubs",
		[TPROF_HOOKS_UNREACHED] = "exported, but reached through no pointer",
		[TPROF_HOOKS_ELSEWHERE] =
			"loaded by dlmopen, in a namespace of its own: its allocations bypass the hooks",
		[TPROF_HOOKS_CODE] = "hooked in their code",
		[TPROF_HOOKS_REFUSED] = "not hooked in their code",
		[TPROF_HOOKS_RULED] = "functions of an allocator, hooked in their code",
		[TPROF_HOOKS_PART_RULED] = "some of its blocks are not recorded",
		[TPROF_HOOKS_UNRULED] = "its blocks are not recorded",
	};

	return state < TPROF_HOOKS_STATES ? names[state] : "?";
}

const char *tpa_fact_reach(struct tpa_tables *tables, const uint8_t *at, const uint8_t *end)
{
	struct tpa_trace *trace = &tables->impl->trace;
	const uint8_t *body = at;
	struct tpa_reach_sum sum = { .ticks = tpa_uvarint(&at) };
	uint64_t node, op;

	sum.reach = *at++;
	node = tpa_uvarint(&at);
	op = tpa_uvarint(&at);
	sum.blocks = tpa_uvarint(&at);
	sum.bytes = tpa_uvarint(&at);
	if (!tpa_read_ok(body, at, end) || !sum.reach || sum.reach > TPROF_REACH_STILL || node > UINT32_MAX ||
	    op > UINT32_MAX)
		return TPA_CUT_RECORD;
	sum.node = (uint32_t)node;
	sum.op = (uint32_t)op;
	add(&trace->reach, &trace->reach_count, &sum, sizeof(sum));
	return NULL;
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
