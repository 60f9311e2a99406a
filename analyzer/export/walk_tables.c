/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of what happened, made while the trace is read: memory does not grow with their length. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "export/table_row.h"
#include "export/walk.h"
#include "trace/fields.h"

/* What is shown of a node in each of its rows. */
struct place {
	bool known, shown; /* shown: the filter lets it through */
	char *frames;	   /* NULL: not asked for */
	const char *function, *file;
	int line;
};

struct maker {
	struct tpa_table_row row;
	struct tpa_export *export;
	struct place *places; /* by node, of the process */
	size_t place_count, place_room;
	struct tpa_stack stack;
	bool whole_stacks;
};

static void forget_places(struct maker *maker)
{
	for (size_t i = 0; i < maker->place_count; i++) {
		free(maker->places[i].frames);
		free((void *)(uintptr_t)maker->places[i].function);
	}
	free(maker->places);
	maker->places = NULL;
	maker->place_count = maker->place_room = 0;
}

/* The file's text lives as long as the symbols. */
static const struct place *place_of(struct maker *maker, const struct tpa_walk *walk, uint32_t node)
{
	struct tpa_stack *stack = &maker->stack;
	const struct tpa_line *own;
	struct place *place;
	char name[256];

	tpa_extend(&maker->places, &maker->place_count, &maker->place_room, (size_t)node + 1, sizeof(*maker->places));
	place = &maker->places[node];
	if (place->known)
		return place;
	place->known = true;
	tpa_stack_read(stack, walk->trace, tpa_export_symbols(maker->export, walk->which), node);
	place->shown = !maker->export->filter || tpa_stack_matches(stack, maker->export->filter);
	if (maker->whole_stacks)
		place->frames = tpa_stack_frames(stack, 0, stack->last);
	/* CPU time is that of the innermost function, memory that of the line that it is attributed to. */
	own = maker->whole_stacks && stack->last ? &stack->lines[0] : tpa_stack_own(stack);
	if (!own)
		return place;
	place->function = tpa_strdup(tpa_line_name(own, name, sizeof(name)));
	place->file = own->location ? own->location->file : NULL;
	place->line = own->location ? own->location->line : 0;
	return place;
}

static void put_place(struct tpa_table_row *row, const struct place *place)
{
	tpa_row_text(row, place ? place->function : NULL);
	tpa_row_text(row, place ? place->file : NULL);
	if (place && place->line > 0)
		tpa_row_number(row, (uint64_t)place->line);
	else
		tpa_row_none(row);
}

/* Unknown texts and amounts are none. */
static void put_amount(struct tpa_table_row *row, uint64_t amount)
{
	if (amount)
		tpa_row_number(row, amount);
	else
		tpa_row_none(row);
}

static void process_end(void *to, struct tpa_walk *walk, uint64_t ns)
{
	(void)walk;
	(void)ns;
	forget_places(to);
}

static bool walk_table(struct tpa_export *export, struct maker *maker, const struct tpa_visitor *visitor)
{
	bool good = tpa_walk(export, visitor, maker);

	tpa_stack_free(&maker->stack);
	forget_places(maker);
	return good && !maker->row.failed;
}

/* ---- calls of ops ---- */

static void put_call(void *to, struct tpa_walk *walk, const struct tpa_walk_op *op)
{
	struct maker *maker = to;
	struct tpa_table_row *row = &maker->row;

	tpa_row_number(row, walk->trace->header->pid);
	tpa_row_number(row, op->thread);
	tpa_row_number(row, op->begin_ns);
	tpa_row_number(row, op->end_ns - op->begin_ns);
	tpa_row_number(row, op->level);
	tpa_row_text(row, tpa_walk_op_name(walk, op->op));
	tpa_row_text(row, tpa_walk_op_category(walk, op->op));
	tpa_row_text(row, op->shape);
	put_amount(row, op->flop);
	put_amount(row, op->bytes);
	tpa_row_number(row, op->unwound);
	tpa_row_number(row, op->open);
	tpa_row_number(row, 1);
	tpa_row_end(row);
}

/* The duration is the sum of all of the record's calls, as far as they were timed. */
static void put_folded(void *to, struct tpa_walk *walk, const struct tpa_walk_folded *folded)
{
	struct maker *maker = to;
	struct tpa_table_row *row = &maker->row;

	tpa_row_number(row, walk->trace->header->pid);
	tpa_row_number(row, folded->thread);
	tpa_row_number(row, folded->ns);
	tpa_row_number(row, folded->total_ns);
	tpa_row_none(row);
	tpa_row_text(row, tpa_walk_op_name(walk, folded->op));
	tpa_row_text(row, tpa_walk_op_category(walk, folded->op));
	tpa_row_text(row, folded->shape);
	tpa_row_none(row);
	tpa_row_none(row);
	tpa_row_number(row, 0);
	tpa_row_number(row, 0);
	tpa_row_number(row, folded->calls);
	tpa_row_end(row);
}

bool tpa_make_calls(struct tpa_export *export, const struct tpa_table *table, tpa_table_sink *sink, void *to)
{
	static const struct tpa_visitor visitor = { .op = put_call, .folded = put_folded };
	struct maker maker = { .row = { .table = table, .sink = sink, .to = to }, .export = export };

	return walk_table(export, &maker, &visitor);
}

/* ---- CPU samples ---- */

static void put_sample(void *to, struct tpa_walk *walk, const struct tpa_walk_sample *sample)
{
	struct maker *maker = to;
	struct tpa_table_row *row = &maker->row;
	const struct place *place = place_of(maker, walk, sample->node);

	if (!place->shown)
		return;
	tpa_row_number(row, walk->trace->header->pid);
	tpa_row_number(row, sample->thread);
	tpa_row_number(row, sample->ns);
	tpa_row_number(row, sample->cpu_ns);
	tpa_row_text(row, sample->op ? tpa_walk_op_name(walk, sample->op) : NULL);
	put_place(row, place);
	tpa_row_text(row, place->frames);
	tpa_row_end(row);
}

bool tpa_make_samples(struct tpa_export *export, const struct tpa_table *table, tpa_table_sink *sink, void *to)
{
	static const struct tpa_visitor visitor = { .sample = put_sample, .process_end = process_end };
	struct maker maker = { .row = { .table = table, .sink = sink, .to = to },
			       .export = export,
			       .whole_stacks = true };

	return walk_table(export, &maker, &visitor);
}

/* ---- events ---- */

/* The fields of an event that have columns of their own; all others go into the last one. */
struct found {
	bool has_address, has_size, has_usable;
	uint64_t address, size, usable;
	char *text; /* heap string */
	FILE *more;
};

static bool takes_column(struct found *found, const struct tpa_field *field, uint64_t value)
{
	if (field->type == TPA_FIELD_ADDRESS && !found->has_address) {
		found->has_address = true;
		found->address = value;
	} else if (strcmp(field->name, "size") == 0) {
		found->has_size = true;
		found->size = value;
	} else if (strcmp(field->name, "usable") == 0) {
		found->has_usable = true;
		found->usable = value;
	} else {
		return false;
	}
	return true;
}

static void add_fields(struct found *found, const struct tpa_field *fields, const void *base)
{
	for (size_t i = 0; i < TPA_FIELDS_MOST && fields[i].name; i++) {
		const struct tpa_field *field = &fields[i];
		const void *at = (const char *)base + field->offset;
		uint64_t value;

		if (!tpa_field_is_there(field, base) || field->type == TPA_FIELD_OP)
			continue;
		if (field->type == TPA_FIELD_TEXT) {
			const struct tpa_event_text *text = at;

			free(found->text);
			found->text = tpa_export_text(text->text ? text->text : "", text->text ? text->length : 0);
			continue;
		}
		value = tpa_field_value(field, base);
		if (takes_column(found, field, value) || (field->type == TPA_FIELD_MEAN && value == TPA_MEAN_UNSAID))
			continue;
		if (field->type == TPA_FIELD_FUNCTION)
			fprintf(found->more, "%s=%s ", field->name, tpa_fn_name((unsigned)value));
		else
			fprintf(found->more, "%s=%" PRIu64 " ", field->name, value);
	}
}

static void number_if(struct tpa_table_row *row, bool known, uint64_t value)
{
	if (known)
		tpa_row_number(row, value);
	else
		tpa_row_none(row);
}

static void put_event(void *to, struct tpa_walk *walk, uint64_t ns, const struct tpa_event *event)
{
	struct maker *maker = to;
	struct tpa_table_row *row = &maker->row;
	const void *payload = tpa_event_payload(event);
	uint32_t op = (uint32_t)tpa_event_op(event);
	struct found found = { 0 };
	char *more = NULL;
	size_t size = 0;

	found.more = open_memstream(&more, &size);
	tpa_need(found.more != NULL);
	add_fields(&found, tpa_event_rows[event->kind].fields, event);
	if (payload)
		add_fields(&found, tpa_event_rows[event->kind].inside, payload);
	if (event->cancelled)
		fputs("cancelled=1 ", found.more);
	tpa_need(fclose(found.more) == 0);
	if (size)
		more[size - 1] = 0;
	tpa_row_number(row, walk->trace->header->pid);
	tpa_row_number(row, ns);
	tpa_row_number(row, event->thread);
	tpa_row_text(row, tpa_event_kind_name(event->kind));
	number_if(row, found.has_address, found.address);
	number_if(row, found.has_size, found.size);
	number_if(row, found.has_usable, found.usable);
	tpa_row_text(row, op ? tpa_walk_op_name(walk, op) : NULL);
	tpa_row_text(row, found.text);
	put_place(row,
		  tpa_event_has_node(event->kind) ? place_of(maker, walk, tpa_event_node(walk->trace, event)) : NULL);
	tpa_row_text(row, size ? more : NULL);
	tpa_row_end(row);
	free(found.text);
	free(more);
}

bool tpa_make_events(struct tpa_export *export, const struct tpa_table *table, tpa_table_sink *sink, void *to)
{
	static const struct tpa_visitor visitor = { .event = put_event, .process_end = process_end };
	struct maker maker = { .row = { .table = table, .sink = sink, .to = to }, .export = export };

	return walk_table(export, &maker, &visitor);
}
