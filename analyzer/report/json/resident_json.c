/* SPDX-License-Identifier: Apache-2.0 */
/* What the process's resident memory was made of. */
#include "report/json/json.h"
#include "report/json/json_stack.h"
#include "report/rows/known_caches.h"

#define OWNERS 100

static json_t *json_owner(const struct tp_process *process, struct tp_symbols *symbols,
			  const struct tp_makeup_owner *owner)
{
	json_int_t own = -1;
	bool stack = owner->node != TPROF_NODE_NONE;
	enum tp_holder holder = stack && owner->part == TP_MAKEUP_MAPPED
					? tp_mapping_holder(process, symbols, owner->node, false)
					: TP_HOLDER_NONE;
	json_t *json = json_object();

	json_object_set_new(json, "part", json_string(tp_makeup_key(owner->part)));
	json_object_set_new(json, "bytes", tp_json_number(owner->bytes));
	json_object_set_new(json, "path", tp_json_string(tp_makeup_path(process->trace, owner)));
	json_object_set_new(json, "held_by", tp_json_string(tp_holder_name(holder)));
	json_object_set_new(json, "stack",
			    stack ? tp_json_stack(process->trace, symbols, owner->node, NULL, &own) : json_null());
	json_object_set_new(json, "own", json_integer(own));
	return json;
}

static json_t *json_moment(const struct tp_process *process, struct tp_symbols *symbols,
			   const struct tp_makeup_moment *moment)
{
	const struct tp_makeup_sample *sample = &moment->sample;
	json_t *json = json_object(), *parts = json_object(), *owners = json_array();

	for (int part = 0; part < TP_MAKEUP_PARTS; part++)
		json_object_set_new(parts, tp_makeup_key((enum tp_makeup_part)part),
				    tp_json_number(sample->parts[part]));
	for (size_t i = 0; i < moment->count && i < OWNERS; i++)
		json_array_append_new(owners, json_owner(process, symbols, &moment->owners[i]));
	json_object_set_new(json, "time_ns", tp_json_number(sample->time));
	json_object_set_new(json, "rss_bytes", tp_json_number(sample->rss));
	json_object_set_new(json, "pss_bytes", tp_json_number(sample->pss));
	json_object_set_new(json, "private_bytes", tp_json_number(sample->private));
	json_object_set_new(json, "shared_bytes",
			    tp_json_number(sample->rss > sample->private ? sample->rss - sample->private : 0));
	json_object_set_new(json, "swap_bytes", tp_json_number(sample->swap));
	json_object_set_new(json, "live_bytes", tp_json_number(sample->live));
	json_object_set_new(json, "copied_bytes", tp_json_number(sample->copied));
	json_object_set_new(json, "parts", parts);
	json_object_set_new(json, "owners", owners);
	return json;
}

json_t *tp_makeup_json(const struct tp_run *run, size_t index, struct tp_symbols *const *symbols)
{
	const struct tp_process *process = &run->processes[index];
	const struct tp_makeup *makeup = &process->makeup;
	json_t *json = json_object();
	bool known = makeup->readings != 0;

	json_object_set_new(json, "readings", tp_json_number(makeup->readings));
	json_object_set_new(json, "unseen_known", json_boolean(makeup->judged));
	json_object_set_new(json, "pss_peak_bytes", tp_json_number(makeup->pss_peak));
	json_object_set_new(json, "inherited_bytes", tp_json_number(makeup->inherited));
	json_object_set_new(json, "peak", known ? json_moment(process, symbols[index], &makeup->peak) : json_null());
	json_object_set_new(json, "end", known ? json_moment(process, symbols[index], &makeup->end) : json_null());
	json_object_set_new(json, "growth",
			    json_pack("{s:s, s:o}", "unit", process->growth.seconds ? "second" : "step", "parts",
				      tp_growth_json_fine(&process->growth)));
	return json;
}
