/* SPDX-License-Identifier: Apache-2.0 */
#include "export/pushed.h"

#include <stdlib.h>

#include "base/memory.h"
#include "export/pprof_tables.h"
#include "export/sites.h"
#include "report/rows/estimate.h"

#define VALUES 4

/* The names that Go's profiles have, which servers know. */
static const struct {
	const char *name, *unit;
} types[TPA_PUSHED_KINDS][VALUES] = {
	[TPA_PUSHED_MEMORY] = { { "alloc_objects", "count" },
				{ "alloc_space", "bytes" },
				{ "inuse_objects", "count" },
				{ "inuse_space", "bytes" } },
	[TPA_PUSHED_CPU] = { { "samples", "count" }, { "cpu", "nanoseconds" } },
};

struct told {
	uint64_t values[2];
};

struct tpa_pushed {
	struct tpa_pairs numbers[TPA_PUSHED_KINDS]; /* of (stack and op), the index in `list` + 1 */
	struct told *list;
	size_t count, room;
};

struct writer {
	struct tpa_pushed *pushed;
	struct tpa_pprof tables;
	uint64_t *ids;
	size_t room, samples;
};

struct tpa_pushed *tpa_pushed_new(void)
{
	return tpa_zalloc(1, sizeof(struct tpa_pushed));
}

void tpa_pushed_free(struct tpa_pushed *pushed)
{
	if (!pushed)
		return;
	for (int i = 0; i < TPA_PUSHED_KINDS; i++)
		tpa_pairs_free(&pushed->numbers[i]);
	free(pushed->list);
	free(pushed);
}

/* What a total has gained; one that was corrected downwards gains nothing until it is above what was told. */
static int64_t gain(uint64_t *told, uint64_t now)
{
	uint64_t before = *told;

	if (now <= before)
		return 0;
	*told = now;
	return (int64_t)(now - before);
}

static void gains(struct tpa_pushed *pushed, enum tpa_pushed_kind kind, uint64_t a, uint64_t b, const uint64_t now[2],
		  int64_t values[2])
{
	bool found;
	uint32_t *number = tpa_pairs_at(&pushed->numbers[kind], a, b, &found);
	struct told *told;

	if (!found) {
		*number = (uint32_t)pushed->count + 1;
		*TPA_APPEND(pushed->list, pushed->count, pushed->room) = (struct told){ { 0 } };
	}
	told = &pushed->list[*number - 1];
	for (int i = 0; i < 2; i++)
		values[i] = gain(&told->values[i], now[i]);
}

static void write_sample(struct writer *writer, size_t which, const struct tpa_stack *stack, size_t first,
			 const char *op, int64_t *values, size_t count)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Sample told = PPROF__SAMPLE__INIT, *list = &told;
	Pprof__Label label = PPROF__LABEL__INIT, *labels = &label;
	bool any = false;

	for (size_t i = 0; i < count; i++)
		any |= values[i] != 0;
	if (!any)
		return;
	tpa_grow(&writer->ids, &writer->room, stack->count + 1, sizeof(*writer->ids));
	told.n_location_id = tpa_pprof_locations(&writer->tables, which, stack, first, stack->last, writer->ids);
	told.location_id = writer->ids;
	if (op) {
		label.key = tpa_pprof_string(&writer->tables, "op");
		label.str = tpa_pprof_string(&writer->tables, op);
		told.n_label = 1;
		told.label = &labels;
	}
	told.n_value = count;
	told.value = values;
	part.n_sample = 1;
	part.sample = &list;
	tpa_pprof_write(&writer->tables, &part);
	writer->samples++;
}

static bool write_memory(void *to, const struct tpa_export_site *site)
{
	struct writer *writer = to;
	const struct tpa_sums *sums = &site->sums;
	int64_t values[VALUES] = { 0 };

	gains(writer->pushed, TPA_PUSHED_MEMORY, site->site->node, site->site->op,
	      (const uint64_t[2]){ sums->allocations, sums->bytes }, values);
	values[2] = (int64_t)sums->live_blocks;
	values[3] = (int64_t)sums->live_bytes;
	write_sample(writer, site->which, site->stack, site->stack->first, site->op, values, VALUES);
	return true;
}

static bool write_cpu(void *to, const struct tpa_export_cpu *site)
{
	struct writer *writer = to;
	int64_t values[2];

	gains(writer->pushed, TPA_PUSHED_CPU, site->site->node, (uint64_t)site->site->thread << 32 | site->site->op,
	      (const uint64_t[2]){ site->site->cpu.samples, site->ns }, values);
	write_sample(writer, site->which, site->stack, 0, site->op, values, 2);
	return true;
}

static void write_head(struct tpa_pprof *tables, const struct tpa_export *export, enum tpa_pushed_kind kind,
		       uint64_t from_ns, uint64_t to_ns)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__ValueType told[VALUES], *list[VALUES], period = PPROF__VALUE_TYPE__INIT;
	const struct tpa_trace *trace = export->run->processes[0].trace;
	int64_t comment;

	for (; part.n_sample_type < VALUES && types[kind][part.n_sample_type].name; part.n_sample_type++) {
		Pprof__ValueType *type = &told[part.n_sample_type];

		*type = (Pprof__ValueType)PPROF__VALUE_TYPE__INIT;
		type->type = tpa_pprof_string(tables, types[kind][part.n_sample_type].name);
		type->unit = tpa_pprof_string(tables, types[kind][part.n_sample_type].unit);
		list[part.n_sample_type] = type;
	}
	part.sample_type = list;
	if (kind == TPA_PUSHED_MEMORY && tpa_run_estimated(export->run)) {
		comment = tpa_pprof_string(tables, "allocations were sampled: bytes and blocks are estimates");
		part.comment = &comment;
		part.n_comment = 1;
	}
	period.type = tpa_pprof_string(tables, kind == TPA_PUSHED_CPU ? "cpu" : "space");
	period.unit = tpa_pprof_string(tables, kind == TPA_PUSHED_CPU ? "nanoseconds" : "bytes");
	part.period_type = &period;
	part.period = (int64_t)(kind == TPA_PUSHED_CPU ? trace->header->cpu_period_ns : trace->header->sample_bytes);
	part.period = part.period ? part.period : 1;
	part.time_nanos = (int64_t)from_ns;
	part.duration_nanos = (int64_t)(to_ns - from_ns);
	tpa_pprof_write(tables, &part);
}

bool tpa_pushed_write(struct tpa_pushed *pushed, struct tpa_export *export, enum tpa_pushed_kind kind, uint64_t from_ns,
		      uint64_t to_ns, size_t *samples)
{
	struct writer writer = { .pushed = pushed };

	tpa_pprof_begin(&writer.tables, export->out);
	write_head(&writer.tables, export, kind, from_ns, to_ns);
	if (kind == TPA_PUSHED_MEMORY)
		tpa_export_sites(export, write_memory, &writer);
	else
		tpa_export_cpu_sites(export, write_cpu, &writer);
	free(writer.ids);
	*samples = writer.samples;
	return tpa_pprof_end(&writer.tables);
}
