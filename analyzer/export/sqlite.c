/* SPDX-License-Identifier: Apache-2.0 */
/* A SQLite database: tprof-sql(5) describes its tables. Rows are inserted as they are made. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "export/formats.h"
#include "export/sites.h"
#include "report/rows/own_code.h"
#include "export/sqlite_schema.h"
#include "export/sqlite_stacks.h"
#include "export/tables.h"
#include "export/text.h"
#include "export/walk.h"
#include "model/ranks/ranks.h"
#include "report/rows/findings.h"
#include "report/rows/process_facts.h"

struct database {
	struct tpa_export *export;
	sqlite3 *db;
	struct tpa_sql_stacks *stacks;
	sqlite3_stmt *insert; /* of the table that is being written */
};

/* Keeps SQLite's error, unless there is one; false, always. */
static bool failed(struct database *to)
{
	if (!to->export->error)
		to->export->error = tpa_format("the database can't be written: %s", sqlite3_errmsg(to->db));
	return false;
}

static bool execute(struct database *to, const char *sql)
{
	return sqlite3_exec(to->db, sql, NULL, NULL, NULL) == SQLITE_OK || failed(to);
}

/* ---- rows ---- */

static bool begin_rows(struct database *to, const char *table, size_t columns)
{
	char sql[512];
	int used = snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES (?", table);

	for (size_t i = 1; i < columns && used > 0 && (size_t)used < sizeof(sql); i++)
		used += snprintf(sql + used, sizeof(sql) - (size_t)used, ", ?");
	snprintf(sql + used, sizeof(sql) - (size_t)used, ")");
	return sqlite3_prepare_v2(to->db, sql, -1, &to->insert, NULL) == SQLITE_OK || failed(to);
}

static bool end_rows(struct database *to)
{
	sqlite3_finalize(to->insert);
	to->insert = NULL;
	return !to->export->error;
}

static void bind_number(struct database *to, int column, uint64_t number)
{
	sqlite3_bind_int64(to->insert, column, number > INT64_MAX ? INT64_MAX : (sqlite3_int64)number);
}

static void bind_text(struct database *to, int column, const char *text)
{
	tpa_sql_bind_text(to->insert, column, text);
}

static void bind_place(struct database *to, int column, const struct tpa_line *line)
{
	char name[256];

	bind_text(to, column, line ? tpa_line_name(line, name, sizeof(name)) : NULL);
	bind_text(to, column + 1, line && line->location ? line->location->file : NULL);
	if (line && line->location && line->location->line > 0)
		bind_number(to, column + 2, (uint64_t)line->location->line);
}

static bool insert(struct database *to)
{
	bool good = sqlite3_step(to->insert) == SQLITE_DONE || failed(to);

	sqlite3_reset(to->insert);
	sqlite3_clear_bindings(to->insert);
	return good;
}

/* ---- tables that csv has, too ---- */

static bool insert_cells(void *context, const struct tpa_table *table, const struct tpa_cell *cells)
{
	struct database *to = context;

	for (int i = 0; table->columns[i]; i++) {
		if (cells[i].kind == TPA_CELL_INTEGER)
			sqlite3_bind_int64(to->insert, i + 1, cells[i].integer);
		else if (cells[i].kind == TPA_CELL_REAL)
			sqlite3_bind_double(to->insert, i + 1, cells[i].real);
		else if (cells[i].kind == TPA_CELL_TEXT)
			bind_text(to, i + 1, cells[i].text);
	}
	return insert(to);
}

static bool put_table(struct database *to, const char *name)
{
	const struct tpa_table *table = tpa_table_find(name);

	return begin_rows(to, name, tpa_table_width(table)) && table->make(to->export, table, insert_cells, to) &&
	       end_rows(to);
}

/* ---- the run ---- */

/* As JSON has it; of a trace from before there were identities, none. */
static void bind_identity(struct database *to, int column, uint64_t identity)
{
	char text[17];

	snprintf(text, sizeof(text), "%016" PRIx64, identity);
	bind_text(to, column, identity ? text : NULL);
}

static bool put_run(struct database *to)
{
	const struct tpa_run *run = to->export->run;

	if (!begin_rows(to, "runs", 6))
		return false;
	bind_number(to, 1, run->start_unix_ns);
	bind_number(to, 2, run->duration_ns);
	bind_number(to, 3, run->peak_bytes);
	bind_number(to, 4, run->peak_time_ns);
	bind_text(to, 5, TPROF_VERSION_STRING);
	bind_identity(to, 6, run->process_count ? run->processes[0].trace->header->run : 0);
	return insert(to) && end_rows(to);
}

static bool put_process(struct database *to, const struct tpa_process *process)
{
	const struct tpa_trace *trace = process->trace;
	const struct tpa_heap *heap = &process->heap;
	const struct tpa_rank_process *ranks = &process->ranks;
	const uint64_t numbers[] = { process->start_ns,
				     process->duration_ns,
				     process->thread_count,
				     heap->allocations,
				     heap->frees,
				     heap->bytes,
				     heap->peak_bytes,
				     heap->peak_blocks,
				     heap->peak_time_ns,
				     heap->end_bytes,
				     heap->end_blocks,
				     trace->header->rss_peak,
				     tpa_cpu_ns(process, &process->cpu),
				     process->steps.count };
	char *command = tpa_export_command(trace);
	int column = 1;

	bind_number(to, column++, trace->header->pid);
	bind_number(to, column++, trace->header->ppid);
	bind_text(to, column++, tpa_program_name(trace));
	bind_text(to, column++, command);
	bind_text(to, column++, tpa_end_name(trace));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		bind_number(to, column++, numbers[i]);
	sqlite3_bind_int(to->insert, column++, process->estimated);
	bind_text(to, column++, trace->file);
	bind_text(to, column++, ranks->host);
	bind_text(to, column++, ranks->job);
	if (ranks->world_rank != TPA_COMM_UNKNOWN)
		bind_number(to, column, ranks->world_rank);
	free(command);
	return insert(to);
}

static bool put_processes(struct database *to)
{
	const struct tpa_run *run = to->export->run;

	if (!begin_rows(to, "processes", 24))
		return false;
	for (size_t i = 0; i < run->process_count; i++)
		if (!put_process(to, &run->processes[i]))
			return false;
	return end_rows(to);
}

/* ---- stacks ---- */

static bool put_site(void *context, const struct tpa_export_site *site)
{
	struct database *to = context;
	const struct tpa_sums *sums = &site->sums;
	const uint64_t numbers[] = { sums->allocations, sums->bytes,	   sums->peak_bytes,
				     sums->peak_blocks, sums->live_bytes,  sums->live_blocks,
				     sums->temporary,	sums->short_lived, sums->largest };
	int column = 1;

	bind_number(to, column++, site->process->trace->header->pid);
	bind_number(to, column++,
		    tpa_sql_stack(to->stacks, site->which, site->stack, site->stack->first, site->stack->last));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		bind_number(to, column++, numbers[i]);
	if (site->growth)
		sqlite3_bind_double(to->insert, column, site->growth->rate);
	bind_text(to, ++column, site->op);
	bind_place(to, column + 1, tpa_stack_own(site->stack));
	bind_place(to, column + 4, tpa_stack_user_line(site->stack));
	return insert(to);
}

static bool put_sites(struct database *to)
{
	return begin_rows(to, "sites", 19) && tpa_export_sites(to->export, put_site, to) && end_rows(to);
}

static void put_sample(void *context, struct tpa_walk *walk, const struct tpa_walk_sample *sample)
{
	struct database *to = context;
	uint32_t stack;

	if (to->export->error || !tpa_sql_node(to->stacks, walk, sample->node, &stack))
		return;
	bind_number(to, 1, walk->trace->header->pid);
	bind_number(to, 2, sample->thread);
	bind_number(to, 3, sample->ns);
	bind_number(to, 4, sample->cpu_ns);
	bind_number(to, 5, stack);
	bind_text(to, 6, sample->op ? tpa_walk_op_name(walk, sample->op) : NULL);
	insert(to);
}

static bool put_samples(struct database *to)
{
	static const struct tpa_visitor visitor = { .sample = put_sample };

	return begin_rows(to, "samples", 6) && tpa_walk(to->export, &visitor, to) && end_rows(to);
}

/* ---- findings ---- */

static bool put_finding(struct database *to, const struct tpa_process *process, const struct tpa_finding *finding)
{
	const struct tpa_growth_site *site = &finding->site;
	bool seconds = process->growth.seconds;
	size_t which = tpa_export_index(to->export, process);
	struct tpa_stack stack = { 0 };

	tpa_stack_read(&stack, process->trace, tpa_export_symbols(to->export, which), site->node);
	bind_number(to, 1, process->trace->header->pid);
	bind_text(to, 2, tpa_verdict_name(site->verdict, seconds));
	bind_text(to, 3, finding->mapped ? "mapped" : "heap");
	sqlite3_bind_double(to->insert, 4, site->rate);
	sqlite3_bind_double(to->insert, 5, site->low);
	sqlite3_bind_double(to->insert, 6, site->high);
	bind_text(to, 7, seconds ? "second" : "step");
	bind_number(to, 8, site->since);
	bind_number(to, 9, site->bytes);
	bind_number(to, 10, site->blocks);
	bind_number(to, 11, site->members);
	bind_number(to, 12, tpa_sql_stack(to->stacks, which, &stack, stack.first, stack.last));
	bind_place(to, 13, finding->line_count ? &finding->lines[0].line : NULL);
	tpa_stack_free(&stack);
	return insert(to);
}

static bool put_findings(struct database *to)
{
	struct tpa_export *export = to->export;
	const struct tpa_run *run = export->run;
	struct tpa_symbols **symbols = tpa_zalloc(run->process_count, sizeof(struct tpa_symbols *));
	bool good = begin_rows(to, "findings", 15);

	for (size_t i = 0; i < run->process_count; i++)
		symbols[i] = tpa_export_symbols(export, tpa_export_index(export, &run->processes[i]));
	for (size_t i = 0; good && i < run->process_count; i++) {
		struct tpa_growth_view view = { .listing = { .run = run, .symbols = symbols },
						.process = i,
						.filter = export->filter,
						.suppressions = export->suppressions };
		struct tpa_findings findings = { 0 };

		if (tpa_findings_enough(&view))
			tpa_findings_find(&findings, &view, false);
		for (size_t k = 0; good && k < findings.count; k++)
			good = put_finding(to, &run->processes[i], &findings.list[k]);
		tpa_findings_free(&findings);
	}
	free((void *)symbols);
	return good && end_rows(to);
}

/* ---- ranks ---- */

static void bind_signed(struct database *to, int column, int64_t number)
{
	sqlite3_bind_int64(to->insert, column, number);
}

static bool put_rank(struct database *to, const struct tpa_ranks *ranks, const struct tpa_rank *rank)
{
	int column = 1;

	bind_number(to, column++, rank->number);
	bind_number(to, column++, to->export->run->processes[rank->process].trace->header->pid);
	bind_text(to, column++, rank->said->host);
	bind_signed(to, column++, rank->begin - ranks->begin);
	bind_signed(to, column++, rank->end - ranks->begin);
	bind_signed(to, column++, rank->wait_ns);
	bind_signed(to, column++, rank->transfer_ns);
	bind_signed(to, column++, rank->caused_ns);
	if (rank->caused_error_ns >= 0)
		bind_signed(to, column, rank->caused_error_ns);
	bind_signed(to, ++column, rank->gain_ns);
	bind_signed(to, ++column, rank->path_ns);
	bind_number(to, ++column, rank->late);
	bind_number(to, ++column, rank->unmatched);
	return insert(to);
}

static bool put_ranks(struct database *to)
{
	const struct tpa_ranks *ranks = to->export->ranks;

	if (!begin_rows(to, "ranks", 13))
		return false;
	for (size_t i = 0; ranks && i < ranks->count; i++)
		if (!put_rank(to, ranks, &ranks->list[i]))
			return false;
	return end_rows(to);
}

/* What a rank waited for each of the others. */
struct waited {
	uint64_t waits;
	int64_t ns;
};

/* Sets all of `list`, by the rank that was late. */
static void sum_waits(const struct tpa_ranks *ranks, const struct tpa_rank *rank, struct waited *list)
{
	memset(list, 0, ranks->count * sizeof(*list));
	for (uint32_t i = 0; i < rank->count; i++) {
		const struct tpa_rank_op *op = &ranks->ops[rank->first + i];

		if (op->cause == TPA_RANK_NONE || op->wait_ns <= 0)
			continue;
		list[ranks->ops[op->cause].rank].waits++;
		list[ranks->ops[op->cause].rank].ns += op->wait_ns;
	}
}

static bool put_waits(struct database *to, const struct tpa_ranks *ranks, const struct tpa_rank *rank,
		      const struct waited *list)
{
	for (size_t i = 0; i < ranks->count; i++) {
		if (!list[i].waits)
			continue;
		bind_number(to, 1, rank->number);
		bind_text(to, 2, rank->said->host);
		bind_number(to, 3, ranks->list[i].number);
		bind_text(to, 4, ranks->list[i].said->host);
		bind_number(to, 5, list[i].waits);
		bind_signed(to, 6, list[i].ns);
		if (!insert(to))
			return false;
	}
	return true;
}

static bool put_rank_waits(struct database *to)
{
	const struct tpa_ranks *ranks = to->export->ranks;
	struct waited *list;
	bool good = begin_rows(to, "rank_waits", 6);

	if (!ranks)
		return good && end_rows(to);
	list = tpa_zalloc(ranks->count, sizeof(*list));
	for (size_t i = 0; good && i < ranks->count; i++) {
		sum_waits(ranks, &ranks->list[i], list);
		good = put_waits(to, ranks, &ranks->list[i], list);
	}
	free(list);
	return good && end_rows(to);
}

/* ---- the whole ---- */

static bool put_all(struct database *to)
{
	return execute(to, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN") && execute(to, tpa_sql_tables) &&
	       put_run(to) && put_processes(to) && put_table(to, "ops") && put_table(to, "steps") &&
	       put_table(to, "timeline") && put_sites(to) && put_samples(to) && put_findings(to) && put_ranks(to) &&
	       put_rank_waits(to) && tpa_sql_stacks_good(to->stacks) && execute(to, tpa_sql_indices) &&
	       execute(to, "COMMIT");
}

bool tpa_export_sqlite(struct tpa_export *export)
{
	struct database to = { .export = export };
	bool good;

	if (!export->path) {
		export->error = tpa_strdup("a database is a file, not a pipe or a device: -o FILE says which");
		return false;
	}
	if (sqlite3_open(export->path, &to.db) != SQLITE_OK || !execute(&to, tpa_sql_stack_tables) ||
	    !(to.stacks = tpa_sql_stacks_open(export, to.db)))
		good = failed(&to);
	else
		good = put_all(&to) || failed(&to);
	sqlite3_finalize(to.insert);
	tpa_sql_stacks_close(to.stacks);
	sqlite3_close(to.db);
	return good;
}
