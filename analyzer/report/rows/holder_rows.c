/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/holder_rows.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "report/rows/units.h"

#define LINKS_BEHIND 2 /* links after the holder in the text of a path */

static bool is_latest(const struct tpa_trace *trace, uint64_t ticks)
{
	return trace->holders.ticks && ticks == trace->holders.ticks;
}

const struct tpa_held *tpa_held_find(const struct tpa_trace *trace, uint32_t node, uint32_t op)
{
	const struct tpa_held *found = NULL;

	for (size_t i = 0; i < trace->held_count; i++) {
		const struct tpa_held *held = &trace->held[i];

		if (!is_latest(trace, held->ticks) || held->what != TPROF_HELD_STACK || held->node != node)
			continue;
		if (held->op == op)
			return held;
		if (!found || held->bytes > found->bytes)
			found = held;
	}
	return found;
}

static int by_bytes(const void *a, const void *b)
{
	const struct tpa_held *x = *(const struct tpa_held *const *)a, *y = *(const struct tpa_held *const *)b;

	return TPA_DOWN(x->all_bytes, y->all_bytes) ?: TPA_UP(x->node, y->node);
}

const struct tpa_held **tpa_held_list(const struct tpa_trace *trace, enum tprof_held what, size_t *count)
{
	const struct tpa_held **list = tpa_zalloc(trace->held_count + 1, sizeof(*list));

	*count = 0;
	for (size_t i = 0; i < trace->held_count; i++)
		if (is_latest(trace, trace->held[i].ticks) && trace->held[i].what == what)
			list[(*count)++] = &trace->held[i];
	qsort(list, *count, sizeof(*list), by_bytes);
	return list;
}

/*
 * Binary search. Links are sorted by search, then by number, which starts at 1 in each search; the latest search
 * comes last.
 */
static const struct tpa_holder_link *find_link(const struct tpa_trace *trace, uint32_t number)
{
	size_t low = 0, high = trace->link_count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct tpa_holder_link *link = &trace->links[middle];

		if (link->ticks < trace->holders.ticks ||
		    (link->ticks == trace->holders.ticks && link->number < number))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == trace->link_count || trace->links[low].number != number ||
	    !is_latest(trace, trace->links[low].ticks))
		return NULL;
	return &trace->links[low];
}

bool tpa_holder_path(const struct tpa_trace *trace, const struct tpa_held *held, struct tpa_holder_path *path)
{
	const struct tpa_holder_link *backwards[TPA_HOLDER_PATH];
	size_t count = 0;

	for (uint32_t number = held->end; number; number = backwards[count - 1]->parent) {
		const struct tpa_holder_link *link = find_link(trace, number);

		if (!link || count == TPA_HOLDER_PATH)
			return false;
		backwards[count++] = link;
	}
	path->count = count;
	path->holder = 0;
	for (size_t i = 0; i < count; i++) {
		path->links[i] = backwards[count - 1 - i];
		if (path->links[i]->number == held->holder)
			path->holder = i;
	}
	return count > 0;
}

/* ---- in words ---- */

const char *tpa_holder_root(unsigned kind)
{
	static const char *const names[TPROF_HOLDER_ROOTS] = {
		[TPROF_HOLDER_GLOBAL] = "global",     [TPROF_HOLDER_STATIC] = "static",
		[TPROF_HOLDER_TLS] = "tls",	      [TPROF_HOLDER_STACK] = "thread-stack",
		[TPROF_HOLDER_REGISTER] = "register", [TPROF_HOLDER_PYTHON] = "python",
		[TPROF_HOLDER_MEMORY] = "memory",     [TPROF_HOLDER_UNKNOWN] = "unknown",
	};

	return kind < TPROF_HOLDER_ROOTS ? names[kind] : NULL;
}

static void name_allocator(const struct tpa_trace *trace, struct tpa_symbols *symbols, uint32_t node, char *text,
			   size_t size)
{
	struct tpa_stack stack = { 0 };
	const struct tpa_line *line = NULL;
	char buffer[300];

	if (node >= TPROF_NODE_FIRST) {
		tpa_stack_read(&stack, trace, symbols, node);
		line = tpa_stack_own(&stack);
	}
	snprintf(text, size, "%s", line ? tpa_line_name(line, buffer, sizeof(buffer)) : "");
	tpa_stack_free(&stack);
}

void tpa_holder_type(const struct tpa_trace *trace, struct tpa_symbols *symbols, const struct tpa_holder_link *link,
		     char *text, size_t size)
{
	char function[300];

	text[0] = 0;
	if (link->type[0] && link->items)
		snprintf(text, size, "%s, %s item%s", link->type, tpa_count(link->items).text, tpa_plural(link->items));
	else if (link->type[0])
		snprintf(text, size, "%s", link->type);
	if (text[0] || link->kind < TPROF_HOLDER_ROOTS)
		return;
	name_allocator(trace, symbols, link->node, function, sizeof(function));
	snprintf(text, size, "%s%s%s", tpa_bytes(link->size, false).text, function[0] ? " of " : "", function);
}

void tpa_holder_link_text(const struct tpa_trace *trace, struct tpa_symbols *symbols,
			  const struct tpa_holder_link *link, char *text, size_t size)
{
	const char *root = tpa_holder_root(link->kind);
	char type[400], count[60] = "";

	tpa_holder_type(trace, symbols, link, type, sizeof(type));
	if (link->count > 1)
		snprintf(count, sizeof(count), " x %s", tpa_count(link->count).text);
	if (type[0] && link->name[0])
		snprintf(text, size, "%s (%s)%s", link->name, type, count);
	else if (link->kind == TPROF_HOLDER_GLOBAL || link->kind == TPROF_HOLDER_STATIC)
		snprintf(text, size, "%s (%s)", link->name, root);
	else if (link->kind == TPROF_HOLDER_TLS)
		snprintf(text, size, "%s (thread-local)", link->name);
	else
		snprintf(text, size, "%s%s", link->name[0] ? link->name : type, count);
}

void tpa_holder_path_text(const struct tpa_trace *trace, struct tpa_symbols *symbols,
			  const struct tpa_holder_path *path, size_t count, char *text, size_t size)
{
	size_t at = 0;

	text[0] = 0;
	for (size_t i = 0; i < count && i < path->count && at < size; i++) {
		char link[700];

		tpa_holder_link_text(trace, symbols, path->links[i], link, sizeof(link));
		at += (size_t)snprintf(text + at, size - at, "%s%s", i ? " -> " : "", link);
	}
}

bool tpa_holder_text(const struct tpa_trace *trace, struct tpa_symbols *symbols, uint32_t node, uint32_t op, char *text,
		     size_t size)
{
	const struct tpa_held *held = tpa_held_find(trace, node, op);
	struct tpa_holder_path path;

	size_t shown, at;

	text[0] = 0;
	if (!held || !tpa_holder_path(trace, held, &path))
		return false;
	shown = path.holder + 1 + LINKS_BEHIND < path.count ? path.holder + 1 + LINKS_BEHIND : path.count;
	tpa_holder_path_text(trace, symbols, &path, shown, text, size);
	at = strlen(text);
	snprintf(text + at, size - at, "%s: %s kept", shown < path.count ? " -> ..." : "",
		 tpa_bytes(path.links[path.holder]->bytes, false).text);
	return true;
}

void tpa_holder_doubt(const struct tpa_trace *trace, size_t which, char *text, size_t size)
{
	const struct tpa_holders_search *search = &trace->holders;
	uint32_t running = trace->header->snapshot_running;

	text[0] = 0;
	if (which == 0)
		snprintf(
			text, size,
			"every word that looks like a pointer counts as one: %s of %s pointers lead into the inside of "
			"a block",
			tpa_count(search->interior).text, tpa_count(search->pointers).text);
	if (which == 1 && search->reached < search->blocks)
		snprintf(text, size, "%s of %s blocks are reached by no pointer: see leaks",
			 tpa_count(search->blocks - search->reached).text, tpa_count(search->blocks).text);
	if (which == 2 && running)
		snprintf(
			text, size,
			"%u other thread%s ran while the fork was made: what %s changed at that moment may be shown as "
			"it was before",
			running, running == 1 ? "" : "s", running == 1 ? "it" : "they");
	if (which == 3 && search->left_out)
		snprintf(text, size, "%s stack%s left out: there was no room for their paths",
			 tpa_count(search->left_out).text, search->left_out == 1 ? " is" : "s are");
}
