/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "report/json/json.h"

#define number tpa_json_number

static json_t *json_list(const struct tpa_step_stats *steps, const char *sort, uint64_t top)
{
	size_t count = top && top < steps->list_count ? (size_t)top : steps->list_count;
	const struct tpa_step **order = tpa_steps_sort(steps, sort);
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		const struct tpa_step *step = order[i];

		json_array_append_new(
			list,
			json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "step", number(step->first), "steps",
				  number(step->steps), "begin_ns", number(step->begin_ns), "time_ns",
				  number((step->end_ns - step->begin_ns) / (step->steps ? step->steps : 1)),
				  "high_bytes", number(step->high_bytes), "net_bytes",
				  (json_int_t)(step->end_bytes - step->begin_bytes), "items", number(step->items)));
	}
	free(order);
	return list;
}

static json_t *json_ops(const struct tpa_process *process)
{
	const struct tpa_step_stats *steps = &process->steps;
	json_t *list = json_array();

	for (size_t i = 0; i < steps->op_count; i++)
		json_array_append_new(list,
				      json_pack("{s:o, s:o}", "name",
						tpa_json_string(tpa_process_op_name(process, steps->ops[i].op)),
						"self_ns_per_step", number(steps->ops[i].self_ns / steps->summed)));
	return list;
}

static json_t *json_outlier(const struct tpa_process *process, const struct tpa_step_outlier *outlier)
{
	json_t *json = json_object(), *ops = json_array();
	uint64_t period = process->trace->header->cpu_period_ns;
	const struct {
		const char *key;
		bool known;
		int64_t more;
	} usage[] = { { "more_minor_faults", outlier->usage_known, outlier->minor_faults },
		      { "more_major_faults", outlier->usage_known, outlier->major_faults },
		      { "more_waits", outlier->usage_known, outlier->waits },
		      { "more_preemptions", outlier->usage_known, outlier->preemptions },
		      { "more_process_cpu_ns", outlier->usage_known, outlier->cpu_ns },
		      { "more_waited_ns", outlier->own_known, outlier->waited_ns },
		      { "more_other_threads_cpu_ns", outlier->own_known, outlier->others_cpu_ns } };

	for (uint32_t i = 0; i < TPA_STEP_DIFFERENCES && outlier->ops[i].ns > 0; i++)
		json_array_append_new(ops, json_pack("{s:o, s:I}", "name",
						     tpa_json_string(tpa_process_op_name(process, outlier->ops[i].op)),
						     "self_ns", (json_int_t)outlier->ops[i].ns));
	tpa_json_set(json, "step", number(outlier->step));
	tpa_json_set(json, "time_ns", number(outlier->ns));
	tpa_json_set(json, "more_in_ops", ops);
	tpa_json_set(json, "more_outside_ops_ns", json_integer((json_int_t)outlier->outside_ns));
	tpa_json_set(json, "more_cpu_ns", json_integer((json_int_t)((uint64_t)outlier->cpu_periods * period)));
	tpa_json_set(json, "more_allocations",
		     process->estimated ? json_null() : json_integer((json_int_t)outlier->allocations));
	tpa_json_set(json, "more_allocated_bytes",
		     process->estimated ? json_null() : json_integer((json_int_t)outlier->allocated_bytes));
	tpa_json_set(json, "more_live_bytes", json_integer((json_int_t)outlier->live_bytes));
	for (size_t i = 0; i < sizeof(usage) / sizeof(usage[0]); i++)
		tpa_json_set(json, usage[i].key,
			     usage[i].known ? json_integer((json_int_t)usage[i].more) : json_null());
	return json;
}

/* Sets how the steps were found. */
static void set_source(json_t *json, const struct tpa_process *process)
{
	static const char *const names[] = { NULL, "marked", "autograd", "period" };
	const struct tpa_step_stats *steps = &process->steps;
	bool found = steps->source == TPA_STEPS_PERIOD;

	tpa_json_set(json, "source", steps->source ? json_string(names[steps->source]) : json_null());
	tpa_json_set(json, "ends_with_op",
		     steps->source > TPA_STEPS_MARKED ? tpa_json_string(tpa_process_op_name(process, steps->anchor))
						      : json_null());
	tpa_json_set(json, "confidence", found ? json_real(steps->confidence) : json_null());
	tpa_json_set(json, "ops_per_step", found ? json_real(steps->calls) : json_null());
}

/* Numbers without any steps are null. */
json_t *tpa_steps_json(const struct tpa_process *process, const char *sort, uint64_t top)
{
	const struct tpa_step_stats *steps = &process->steps;
	const struct tpa_moments *durations = &steps->durations;
	double took = durations->mean * (double)durations->count;
	const struct {
		const char *key;
		uint64_t value;
	} times[] = { { "mean_ns", tpa_round(durations->mean) },
		      { "stddev_ns", tpa_round(tpa_moments_deviation(durations)) },
		      { "min_ns", steps->min_ns },
		      { "p50_ns", steps->p50_ns },
		      { "p99_ns", steps->p99_ns },
		      { "max_ns", steps->max_ns } };
	json_t *json = json_object(), *outliers = json_array();

	tpa_json_set(json, "count", number(steps->count));
	tpa_json_set(json, "items", number(steps->items));
	tpa_json_set(json, "items_per_s",
		     took > 0 && steps->rest_items ? json_real((double)steps->rest_items / took * 1e9) : json_null());
	tpa_json_set(json, "first_ns", steps->count ? number(steps->first_ns) : json_null());
	tpa_json_set(json, "warmup_steps", number(steps->warmup));
	tpa_json_set(json, "warmup_ns", number(steps->warmup_ns));
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		tpa_json_set(json, times[i].key, durations->count ? number(times[i].value) : json_null());
	tpa_json_set(json, "ci95_ns", tpa_json_interval_ns(steps->interval));
	tpa_json_set(json, "effective_steps", durations->count ? json_real(steps->effective) : json_null());
	tpa_json_set(json, "growth", json_array());
	set_source(json, process);
	for (size_t i = 0; i < steps->outlier_count; i++)
		json_array_append_new(outliers, json_outlier(process, &steps->outliers[i]));
	tpa_json_set(json, "outliers", outliers);
	tpa_json_set(json, "ops", json_ops(process));
	if (sort)
		tpa_json_set(json, "list", json_list(steps, sort, top));
	return json;
}

json_t *tpa_marks_json(const struct tpa_marks *marks, uint64_t top)
{
	json_t *list = json_array();

	for (size_t i = 0; i < marks->count && (!top || i < top); i++) {
		json_t *mark = json_object();

		tpa_json_set(mark, "time_ns", tpa_json_number(marks->list[i].time_ns));
		tpa_json_set(mark, "thread", tpa_json_number(marks->list[i].thread));
		tpa_json_set(mark, "text", tpa_json_string(marks->list[i].text));
		json_array_append_new(list, mark);
	}
	return list;
}
