/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of a parallel job the process is, and its groups. */
#include "model/ranks/job.h"
#include "report/json/json.h"

static json_t *text_or_null(const char *text)
{
	return text ? tpa_json_string(text) : json_null();
}

static json_t *rank_or_null(uint32_t number)
{
	return number == TPA_COMM_UNKNOWN ? json_null() : tpa_json_number(number);
}

void tpa_json_job(json_t *json, const struct tpa_process *process)
{
	const struct tpa_rank_process *ranks = &process->ranks;
	json_t *rank = json_null();

	if (tpa_job_is_known(ranks))
		rank = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "rank", rank_or_null(ranks->world_rank), "size",
				 rank_or_null(ranks->world_size), "local_rank", rank_or_null(ranks->local_rank),
				 "launcher", text_or_null(ranks->launcher), "job", text_or_null(ranks->job), "joined",
				 json_boolean(ranks->joined));
	tpa_json_set(json, "host", text_or_null(ranks->host));
	tpa_json_set(json, "cgroup", text_or_null(ranks->cgroup));
	tpa_json_set(json, "rank", rank);
}

static json_t *source_ranks(const struct tpa_known_group *group)
{
	json_t *list;

	if (!group->source_ranks)
		return json_null();
	list = json_array();
	for (uint32_t i = 0; i < group->sources; i++)
		json_array_append_new(list, group->source_ranks[i] < group->size
						    ? tpa_json_number(group->source_ranks[i])
						    : json_null());
	return list;
}

json_t *tpa_json_communicators(const struct tpa_trace *trace)
{
	json_t *list = json_array();

	for (size_t i = 1; i < trace->group_count; i++) {
		const struct tpa_known_group *group = &trace->groups[i];
		json_t *json;

		if (!group->name)
			continue;
		json = json_object();
		tpa_json_set(json, "communicator", tpa_json_number(i));
		tpa_json_set(json, "kind", json_string(tpa_group_name(group->kind)));
		tpa_json_set(json, "name", tpa_json_string(group->name));
		tpa_json_set(json, "size", tpa_json_number(group->size));
		tpa_json_set(json, "rank", tpa_json_number(group->rank));
		tpa_json_set(json, "parent", group->parent ? tpa_json_number(group->parent) : json_null());
		tpa_json_set(json, "parent_sequence", tpa_json_number(group->parent_sequence));
		tpa_json_set(json, "leader", group->leader < 0 ? json_null() : json_integer(group->leader));
		tpa_json_set(json, "color", group->color < 0 ? json_null() : json_integer(group->color));
		tpa_json_set(json, "sources", tpa_json_number(group->sources));
		tpa_json_set(json, "source_ranks", source_ranks(group));
		tpa_json_set(json, "destinations", tpa_json_number(group->destinations));
		json_array_append_new(list, json);
	}
	return list;
}
