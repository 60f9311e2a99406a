/* SPDX-License-Identifier: Apache-2.0 */
/* The makeup of the process's resident memory. */
#include "report/json/json.h"
#include "report/json/json_stack.h"
#include "report/rows/copied.h"
#include "report/rows/known_caches.h"

#include <stdlib.h>

#define OWNERS 100

static json_t *json_owner(const struct tpa_process *process, struct tpa_symbols *symbols,
			  const struct tpa_makeup_owner *owner)
{
	json_int_t own = -1;
	bool stack = owner->node != TPROF_NODE_NONE;
	enum tpa_holder holder = stack && owner->part == TPA_MAKEUP_MAPPED
					 ? tpa_mapping_holder(process, symbols, owner->node, false)
					 : TPA_HOLDER_NONE;
	json_t *json = json_object();

	tpa_json_set(json, "part", json_string(tpa_makeup_key(owner->part)));
	tpa_json_set(json, "bytes", tpa_json_number(owner->bytes));
	tpa_json_set(json, "path", tpa_json_string(tpa_makeup_path(process->trace, owner)));
	tpa_json_set(json, "held_by", tpa_json_string(tpa_holder_name(holder)));
	tpa_json_set(json, "stack",
		     stack ? tpa_json_stack(process->trace, symbols, owner->node, NULL, &own) : json_null());
	tpa_json_set(json, "own", json_integer(own));
	return json;
}

static json_t *json_moment(const struct tpa_process *process, struct tpa_symbols *symbols,
			   const struct tpa_makeup_moment *moment)
{
	const struct tpa_makeup_sample *sample = &moment->sample;
	json_t *json = json_object(), *parts = json_object(), *owners = json_array();

	for (int part = 0; part < TPA_MAKEUP_PARTS; part++)
		tpa_json_set(parts, tpa_makeup_key((enum tpa_makeup_part)part), tpa_json_number(sample->parts[part]));
	for (size_t i = 0; i < moment->count && i < OWNERS; i++)
		json_array_append_new(owners, json_owner(process, symbols, &moment->owners[i]));
	tpa_json_set(json, "time_ns", tpa_json_number(sample->time));
	tpa_json_set(json, "rss_bytes", tpa_json_number(sample->rss));
	tpa_json_set(json, "pss_bytes", tpa_json_number(sample->pss));
	tpa_json_set(json, "private_bytes", tpa_json_number(sample->private));
	tpa_json_set(json, "shared_bytes",
		     tpa_json_number(sample->rss > sample->private ? sample->rss - sample->private : 0));
	tpa_json_set(json, "swap_bytes", tpa_json_number(sample->swap));
	tpa_json_set(json, "live_bytes", tpa_json_number(sample->live));
	tpa_json_set(json, "copied_bytes", tpa_json_number(sample->copied));
	tpa_json_set(json, "parts", parts);
	tpa_json_set(json, "owners", owners);
	return json;
}

json_t *tpa_copied_json(const struct tpa_run *run, struct tpa_symbols *const *symbols)
{
	json_t *list = json_array();
	size_t count;
	struct tpa_copied_row *rows = tpa_copied_rows(run, symbols, &count);

	for (size_t i = 0; i < count; i++)
		json_array_append_new(
			list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "parent_pid", tpa_json_number(rows[i].parent),
					"processes", tpa_json_number(rows[i].processes), "bytes",
					tpa_json_number(rows[i].bytes), "low_bytes", tpa_json_number(rows[i].low),
					"high_bytes", tpa_json_number(rows[i].high), "python_bytes",
					tpa_json_number(rows[i].python)));
	free(rows);
	return list;
}

static json_t *json_hole_reading(const struct tpa_hole_reading *reading)
{
	json_t *json = json_object();

	tpa_json_set(json, "time_ns", tpa_json_number(reading->time));
	tpa_json_set(json, "steps", tpa_json_number(reading->steps));
	tpa_json_set(json, "holes_bytes", tpa_json_number(reading->sum.holes));
	tpa_json_set(json, "wide_bytes", tpa_json_number(reading->sum.wide));
	tpa_json_set(json, "trimmable_bytes", tpa_json_number(reading->sum.pages));
	tpa_json_set(json, "ends_bytes", tpa_json_number(reading->sum.ends));
	tpa_json_set(json, "rounding_bytes", tpa_json_number(reading->sum.rounding));
	tpa_json_set(json, "arena_bytes", tpa_json_number(reading->sum.apart));
	tpa_json_set(json, "arenas", tpa_json_number(reading->sum.arenas));
	return json;
}

/* null if there was no search */
static json_t *json_holes(const struct tpa_hole_series *holes)
{
	json_t *list = json_array();

	for (size_t i = 0; i < holes->count; i++)
		json_array_append_new(list, json_hole_reading(&holes->list[i]));
	if (!holes->count) {
		json_decref(list);
		return json_null();
	}
	return json_pack("{s:o, s:o}", "peak", json_hole_reading(&holes->peak), "readings", list);
}

json_t *tpa_makeup_json(const struct tpa_run *run, size_t index, struct tpa_symbols *const *symbols)
{
	const struct tpa_process *process = &run->processes[index];
	const struct tpa_makeup *makeup = &process->makeup;
	json_t *json = json_object();
	bool known = makeup->readings != 0;

	tpa_json_set(json, "readings", tpa_json_number(makeup->readings));
	tpa_json_set(json, "unseen_known", json_boolean(makeup->judged));
	tpa_json_set(json, "pss_peak_bytes", tpa_json_number(makeup->pss_peak));
	tpa_json_set(json, "inherited_bytes", tpa_json_number(makeup->inherited));
	tpa_json_set(json, "peak", known ? json_moment(process, symbols[index], &makeup->peak) : json_null());
	tpa_json_set(json, "end", known ? json_moment(process, symbols[index], &makeup->end) : json_null());
	tpa_json_set(json, "holes", json_holes(&process->holes));
	tpa_json_set(json, "growth",
		     json_pack("{s:s, s:o}", "unit", process->growth.seconds ? "second" : "step", "parts",
			       tpa_growth_json_fine(&process->growth)));
	return json;
}
