/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of recording: in "capture". */
#include "report/json/json.h"

#include <math.h>

#include "report/rows/level_words.h"

static void set_level(json_t *json, bool several, uint8_t mean, bool ops)
{
	tpa_json_set(json, "allocations", json_string(several ? "several" : mean ? "sampled" : "all"));
	tpa_json_set(json, "mean_bytes", several ? json_null() : tpa_json_number(mean ? UINT64_C(1) << mean : 0));
	tpa_json_set(json, "ops", several ? json_null() : json_boolean(ops));
}

static json_t *json_spans(const struct tpa_level_stats *levels)
{
	json_t *list = json_array();

	for (size_t i = 0; i < levels->span_count; i++) {
		const struct tpa_level_span *span = &levels->spans[i];
		json_t *json = json_object();

		tpa_json_set(json, "from_ns", tpa_json_number(span->from));
		tpa_json_set(json, "to_ns", tpa_json_number(span->to));
		set_level(json, span->several, span->mean, span->ops);
		json_array_append_new(list, json);
	}
	return list;
}

static json_t *json_times(const struct tpa_level_stats *levels)
{
	json_t *list = json_array();

	for (size_t i = 0; i < levels->time_count; i++) {
		const struct tpa_level_time *time = &levels->times[i];
		json_t *json = json_object();

		tpa_json_set(json, "time_ns", tpa_json_number(time->time));
		set_level(json, false, time->mean, time->ops);
		json_array_append_new(list, json);
	}
	return list;
}

void tpa_json_levels(json_t *json, const struct tpa_process *process)
{
	static const char *const keys[] = { "max_overhead_percent", "levels",	  "levels_time",
					    "ops_recorded_share",   "ops_factor", "ops_factor_ci95" };
	const struct tpa_level_stats *levels = &process->levels;
	struct tpa_whole factor = tpa_level_factor(process);

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		tpa_json_set(json, keys[i], json_null());
	if (!levels->time_count)
		return;
	tpa_json_set(json, "max_overhead_percent", json_real((double)process->trace->header->max_overhead / 100));
	tpa_json_set(json, "levels", json_spans(levels));
	tpa_json_set(json, "levels_time", json_times(levels));
	tpa_json_set(json, "ops_recorded_share", json_real((double)levels->ops_ns / (double)levels->time_ns));
	tpa_json_set(json, "ops_factor", tpa_json_real(factor.value));
	tpa_json_set(json, "ops_factor_ci95", tpa_json_interval(tpa_whole_interval(&factor, 1)));
}
