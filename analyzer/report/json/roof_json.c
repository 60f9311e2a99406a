/* SPDX-License-Identifier: Apache-2.0 */
/* A machine, and the places of ops under its roofs. */
#include "machine/roofline.h"
#include "report/json/json.h"

/* An unknown precision counts as single. */
static void set_precision(json_t *json, enum tpa_precision precision, bool mixed)
{
	tpa_json_set(json, "precision", json_string(tpa_roof_precision(precision, mixed)));
	tpa_json_set(json, "precision_said", json_boolean(precision != TPA_UNSAID));
}

json_t *tpa_utilisation_json(const struct tpa_machine *machine, const struct tpa_process *process)
{
	struct tpa_utilisation use = tpa_roof_utilisation(machine, process);
	json_t *json;

	if (!use.known)
		return json_null();
	json = json_pack("{s:f, s:f, s:f, s:f}", "flop_per_step", use.flop_per_step, "gflops", use.gflops,
			 "peak_gflops", use.peak, "share", use.share);
	set_precision(json, use.precision, use.mixed);
	return json;
}

static json_t *rate_json(const struct tpa_rate *rate)
{
	return rate->one > 0 ? json_pack("{s:f, s:f}", "one_core", rate->one, "all_cores", rate->all) : json_null();
}

json_t *tpa_machine_rates_json(const struct tpa_machine *machine)
{
	return tpa_machine_json(machine, rate_json);
}

static json_t *place_json(const struct tpa_roof_place *place)
{
	json_t *json = json_object();

	tpa_json_set(json, "bound", json_string(tpa_bound_names[place->bound]));
	tpa_json_set(json, "level", json_string(tpa_level_names[place->level]));
	set_precision(json, place->precision, place->mixed);
	tpa_json_set(json, "flop_per_byte", place->intensity > 0 ? json_real(place->intensity) : json_null());
	tpa_json_set(json, "gflops", json_real(place->gflops));
	tpa_json_set(json, "gbytes_per_s", json_real(place->gbytes));
	tpa_json_set(json, "roof", json_real(place->roof));
	tpa_json_set(json, "roof_fraction", json_real(place->fraction));
	tpa_json_set(json, "ideal_ns", tpa_json_number(tpa_round(place->ideal_ns)));
	tpa_json_set(json, "bound_by",
		     json_string(tpa_roof_missing(place) ? tpa_roof_missing(place) : tpa_bound_names[place->bound]));
	tpa_json_set(json, "explained", json_boolean(tpa_roof_explains(place)));
	tpa_json_set(json, "uneven",
		     tpa_roof_is_uneven(place->op)
			     ? json_pack("{s:o, s:o}", "p50_ns", tpa_json_number(place->op->p50_ns), "p90_ns",
					 tpa_json_number(place->op->p90_ns))
			     : json_null());
	return json;
}

json_t *tpa_roof_place_json(void *context, const struct tpa_op_stats *op)
{
	struct tpa_roof_notes *notes = context;
	struct tpa_roof_place place = tpa_roof_place(notes->machine, notes->cores, op);

	return place.bound == TPA_BOUND_UNKNOWN ? json_null() : place_json(&place);
}

json_t *tpa_roof_json(const struct tpa_roof_place *places, size_t count, uint64_t top)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count && (!top || i < top); i++) {
		const struct tpa_roof_place *place = &places[i];
		json_t *json = place_json(place);

		tpa_json_set(json, "name", tpa_json_string(place->op->name));
		tpa_json_set(json, "category", tpa_json_string(place->op->category));
		tpa_json_set(json, "calls", tpa_json_number(place->op->calls));
		tpa_json_set(json, "time_ns", tpa_json_number(tpa_round(place->time_ns)));
		tpa_json_set(json, "self_flop", tpa_json_number(place->op->self_flop));
		tpa_json_set(json, "self_bytes", tpa_json_number(place->op->self_bytes));
		json_array_append_new(list, json);
	}
	return list;
}
