/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/related.h"

#include <inttypes.h>
#include <string.h>

#include "report/json/json.h"
#include "trace/related.h"

#define SHOWN 5 /* of each kind */

enum relation { REPLACED, STARTED, FORKED, ELSE };

static enum relation relation_of(const struct tprof_header *own, const struct tprof_header *other)
{
	if (other->start.ticks < own->start.ticks)
		return ELSE;
	if (other->pid == own->pid && other->process_start == own->process_start)
		return REPLACED;
	if (other->ppid != own->pid)
		return ELSE;
	if (other->origin != TPROF_ORIGIN_FORK)
		return STARTED;
	return other->end == TPROF_END_EXEC ? ELSE : FORKED; /* what replaced it was started */
}

/* The next program of the same process; the ones behind it replaced that one. */
static const struct tp_other *next_program(const struct tp_trace *trace, const struct tp_others *others)
{
	const struct tp_other *next = NULL;

	for (size_t i = 0; i < others->count; i++) {
		const struct tp_other *other = &others->list[i];

		if (relation_of(trace->header, &other->header) == REPLACED &&
		    (!next || other->header.start.ticks < next->header.start.ticks))
			next = other;
	}
	return next;
}

static const char *const reasons[] = {
	[TPROF_UNFOLLOWED_STATIC] = "it is linked statically",
	[TPROF_UNFOLLOWED_MACHINE] = "it is not of x86-64",
	[TPROF_UNFOLLOWED_LIBC] = "it is of another C library than glibc",
	[TPROF_UNFOLLOWED_PRIVILEGED] = "it is set-user-ID, set-group-ID or has capabilities",
	[TPROF_UNFOLLOWED_LIBRARY] = "libtprof.so can't be read there (chroot?)",
	[TPROF_UNFOLLOWED_CHILDREN] = "TPROF_CHILDREN=0",
	[TPROF_UNFOLLOWED_OUTPUT] = "its trace could not be written",
};

static const char *reason_of(const struct tprof_untraced *note)
{
	return note->why && note->why < sizeof(reasons) / sizeof(*reasons) ? reasons[note->why] : "?";
}

/* The notes of a header, one after the other; others can write there. */
static const struct tprof_untraced *next_note(const struct tp_trace *trace, size_t *at, char name[48])
{
	while (*at < TPROF_UNTRACED_MAX) {
		const struct tprof_untraced *note = &trace->header->untraced[(*at)++];

		if (note->state != 2 || !note->count)
			continue;
		memcpy(name, note->name, sizeof(note->name));
		name[sizeof(note->name) - 1] = '\0';
		return note;
	}
	return NULL;
}

static bool replaced_it(const struct tp_trace *trace, const struct tprof_untraced *note)
{
	return note->pid == trace->header->pid && note->why != TPROF_UNFOLLOWED_OUTPUT;
}

/* ---- text ---- */

static void print_replaced(const struct tp_trace *trace, const struct tp_others *others, const struct tp_page *page)
{
	const struct tp_other *next = next_program(trace, others);

	if (next)
		tp_print(page, TP_STYLE_TITLE, "replaced by %s: see %s\n", next->name, next->file);
}

static void print_children(const struct tp_trace *trace, const struct tp_others *others, const struct tp_page *page,
			   enum relation wanted)
{
	size_t count = 0;

	for (size_t i = 0; i < others->count; i++) {
		const struct tp_other *other = &others->list[i];

		if (relation_of(trace->header, &other->header) != wanted || ++count > SHOWN)
			continue;
		if (wanted == FORKED)
			fprintf(page->out, "forked pid %" PRIu32 ": see %s\n", other->header.pid, other->file);
		else
			fprintf(page->out, "started %s (pid %" PRIu32 "): see %s\n", other->name, other->header.pid,
				other->file);
	}
	if (count > SHOWN)
		fprintf(page->out, "%s %zu more\n", wanted == FORKED ? "forked" : "started", count - SHOWN);
}

static void print_untraced(const struct tp_trace *trace, const struct tp_page *page)
{
	const struct tprof_untraced *note;
	char name[sizeof(note->name)];

	for (size_t at = 0; (note = next_note(trace, &at, name));) {
		if (note->why == TPROF_UNFOLLOWED_OUTPUT)
			tp_print(page, TP_STYLE_WARN, "forked pid %" PRIu32, note->pid);
		else if (replaced_it(trace, note))
			tp_print(page, TP_STYLE_WARN, "replaced by %s", name);
		else
			tp_print(page, TP_STYLE_WARN, "started %s (pid %" PRIu32 ")", name, note->pid);
		if (note->count > 1)
			tp_print(page, TP_STYLE_WARN, " and %s more", tp_count(note->count - 1).text);
		tp_print(page, TP_STYLE_WARN, ", not recorded: %s", reason_of(note));
		tp_print(page, TP_STYLE_WARN, note->why == TPROF_UNFOLLOWED_OUTPUT ? ": %s\n" : "\n", name);
	}
	if (trace->header->untraced_more)
		tp_print(page, TP_STYLE_WARN, "started %s more that are not recorded\n",
			 tp_count(trace->header->untraced_more).text);
}

static void print_rest(const struct tp_trace *trace, const struct tp_others *others, const struct tp_page *page)
{
	size_t count = 0;

	for (size_t i = 0; i < others->count; i++) {
		const struct tp_other *other = &others->list[i];

		if (relation_of(trace->header, &other->header) != ELSE || ++count > SHOWN)
			continue;
		fprintf(page->out, "%s%s (%s)", count == 1 ? "also of this run: " : ", ", other->file, other->name);
	}
	if (count > SHOWN)
		fprintf(page->out, " and %zu more", count - SHOWN);
	if (count)
		fputc('\n', page->out);
}

void tp_others_print(const struct tp_trace *trace, const struct tp_page *page)
{
	struct tp_others others;

	if (tp_others_find(trace, &others)) {
		print_replaced(trace, &others, page);
		print_children(trace, &others, page, STARTED);
		print_children(trace, &others, page, FORKED);
		print_untraced(trace, page);
		print_rest(trace, &others, page);
	}
	tp_others_free(&others);
}

/* ---- JSON ---- */

static json_t *other_json(const struct tp_other *other)
{
	return json_pack("{s:o, s:o, s:o}", "name", tp_json_string(other->name), "pid",
			 tp_json_number(other->header.pid), "trace", tp_json_string(other->file));
}

static json_t *untraced_json(const struct tp_trace *trace)
{
	json_t *list = json_array();
	const struct tprof_untraced *note;
	char name[sizeof(note->name)];

	for (size_t at = 0; (note = next_note(trace, &at, name));) {
		bool fork = note->why == TPROF_UNFOLLOWED_OUTPUT;
		char reason[200];

		snprintf(reason, sizeof(reason), fork ? "%s: %s" : "%s", reason_of(note), name);
		json_array_append_new(
			list, json_pack("{s:o, s:o, s:o, s:s, s:o}", "name", fork ? json_null() : tp_json_string(name),
					"pid", tp_json_number(note->pid), "count", tp_json_number(note->count), "how",
					fork			   ? "fork"
					: replaced_it(trace, note) ? "exec"
								   : "start",
					"reason", tp_json_string(reason)));
	}
	return list;
}

json_t *tp_others_json(const struct tp_trace *trace)
{
	json_t *json = json_object(), *started = json_array(), *forked = json_array(), *traces = json_array();
	const struct tp_other *next;
	struct tp_others others;
	bool good = tp_others_find(trace, &others);

	for (size_t i = 0; good && i < others.count; i++) {
		enum relation relation = relation_of(trace->header, &others.list[i].header);

		if (relation == STARTED || relation == FORKED)
			json_array_append_new(relation == STARTED ? started : forked, other_json(&others.list[i]));
		json_array_append_new(traces, tp_json_string(others.list[i].file));
	}
	next = next_program(trace, &others);
	json_object_set_new(json, "replaced_by", next ? other_json(next) : json_null());
	json_object_set_new(json, "started", started);
	json_object_set_new(json, "forked", forked);
	json_object_set_new(json, "not_recorded", untraced_json(trace));
	json_object_set_new(json, "not_recorded_more", tp_json_number(trace->header->untraced_more));
	json_object_set_new(json, "traces", traces);
	tp_others_free(&others);
	return json;
}
