/* SPDX-License-Identifier: Apache-2.0 */
/* Opens, replays and closes sessions, with their messages. */
#include "model/replay/run.h"
#include "commands/input/session.h"

#include "commands/line/export_format.h"
#include "commands/line/op_names.h"
#include "commands/input/run_choice.h"
#include "base/memory.h"
#include "base/workers.h"
#include "report/rows/growth_pool.h"
#include "report/text/markdown.h"
#include "report/text/output.h"
#include "report/text/safe_stream.h"
#include "trace/checkpoint.h"
#include "trace/jit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Says so on the page itself if the page is for people. */
static void say_left_out(const struct tpa_session *session, bool on_page)
{
	const struct tpa_page *page = &session->page;
	char text[200];

	if (!*tpa_left_out(session->options, text, sizeof(text)))
		return;
	if (on_page)
		tpa_print(page, TPA_STYLE_WARN, "%s\n\n", text);
	else
		fprintf(stderr, "tprof-analyze: %s\n", text);
}

static int open_output(struct tpa_session *session)
{
	const struct tpa_options *options = session->options;
	FILE *out = stdout;

	if (options->output) {
		out = tpa_output_open(&session->output, options->output);
		if (!out) {
			fprintf(stderr, "tprof-analyze: %s: can't be written: %s\n", options->output,
				tpa_output_error(errno));
			return TPA_EXIT_USAGE;
		}
	}
	tpa_page_init(&session->page, out, options->color, options->exact, options->width);
	if (options->json || options->html || !(options->command->options & TPA_OPT_JSON)) {
		say_left_out(session, false);
		return TPA_EXIT_OK; /* not text for people: the format escapes names itself */
	}
	if (options->markdown) {
		session->page.color = session->page.bars = false;
		session->page.width = options->width ? options->width : TPA_WIDTH_MARKDOWN;
	}
	session->page.out = tpa_plain_open(out, session->page.color);
	if (options->markdown)
		session->page.out = tpa_markdown_open(session->page.out, &session->page.markdown);
	say_left_out(session, true);
	return TPA_EXIT_OK;
}

/* Finds an open trace of the same process, under any name: its numbers would count twice. */
static const struct tpa_trace *find_same(const struct tpa_session *session, const struct tpa_trace *trace)
{
	const struct tprof_header *header = trace->header;

	for (size_t i = 0; i < session->trace_count; i++) {
		const struct tprof_header *other = session->traces[i]->header;

		if (other->pid == header->pid && other->start.unix_ns == header->start.unix_ns &&
		    other->start.ticks == header->start.ticks)
			return session->traces[i];
	}
	return NULL;
}

/* What opening each of the traces that the options name has led to. */
struct opening {
	const struct tpa_options *options;
	struct tpa_trace **traces;
	char **errors;
};

static void open_one(void *context, size_t index)
{
	const struct opening *opening = context;
	const struct tpa_options *options = opening->options;
	const char *path = options->traces[index];
	struct tpa_trace *trace;

	trace = options->in_place ? tpa_trace_open_in_place(path, &opening->errors[index])
				  : tpa_trace_open(path, &opening->errors[index]);
	if (trace && (!options->process || trace->header->pid == options->process))
		tpa_jit_load(trace, options->debug_dir);
	opening->traces[index] = trace;
}

static struct opening open_all(const struct tpa_options *options)
{
	struct opening opening = { .options = options };

	opening.traces = tpa_zalloc(options->trace_count, sizeof(struct tpa_trace *));
	opening.errors = tpa_zalloc(options->trace_count, sizeof(char *));
	tpa_workers(options->jobs, options->trace_count, open_one, &opening);
	return opening;
}

/* Reports all unreadable traces before giving up: a user with ten files wants to know at once. */
static int open_traces(struct tpa_session *session)
{
	const struct tpa_options *options = session->options;
	struct opening opening = open_all(options);
	int status = TPA_EXIT_OK;

	for (size_t i = 0; i < options->trace_count; i++) {
		struct tpa_trace *trace = opening.traces[i];
		const struct tpa_trace *same = trace ? find_same(session, trace) : NULL;

		if (same) {
			fprintf(stderr, "tprof-analyze: %s: the same process's trace as %s: one of them is enough\n",
				options->traces[i], same->file);
			tpa_trace_close(trace);
			status = status == TPA_EXIT_OK ? TPA_EXIT_USAGE : status;
			continue;
		}
		if (trace && options->process && trace->header->pid != options->process) {
			tpa_trace_close(trace);
			continue;
		}
		if (trace) {
			session->traces[session->trace_count++] = trace;
		} else {
			fprintf(stderr, "tprof-analyze: %s\n", opening.errors[i]);
			status = TPA_EXIT_TRACE;
		}
		free(opening.errors[i]);
	}
	free(opening.traces);
	free(opening.errors);
	if (status == TPA_EXIT_OK && !session->trace_count && options->trace_count) {
		fprintf(stderr, "tprof-analyze: --process %" PRIu32 ": none of the traces is of this process\n",
			options->process);
		status = TPA_EXIT_USAGE;
	}
	return status;
}

static struct tpa_suppressions *read_suppressions(const struct tpa_session *session, char **error)
{
	struct tpa_suppressions *suppressions = tpa_suppressions_new();

	for (size_t i = 0; !*error && i < session->options->suppression_count; i++)
		tpa_suppressions_read(suppressions, session->options->suppressions[i], error);
	return suppressions;
}

/* Reports an unreadable file before a long replay. */
static int check_suppressions(const struct tpa_session *session)
{
	char *error = NULL;
	struct tpa_suppressions *suppressions = read_suppressions(session, &error);
	int status = error ? TPA_EXIT_USAGE : TPA_EXIT_OK;

	if (error)
		fprintf(stderr, "tprof-analyze: %s\n", error);
	free(error);
	tpa_suppressions_free(suppressions);
	return status;
}

struct tpa_suppressions *tpa_session_suppressions(const struct tpa_session *session)
{
	char *error = NULL; /* tpa_session_open() has reported an error */
	struct tpa_suppressions *suppressions = read_suppressions(session, &error);

	free(error);
	return suppressions;
}

int tpa_session_open(struct tpa_session *session, const struct tpa_options *options)
{
	int status;

	memset(session, 0, sizeof(*session));
	session->options = options;
	session->traces = tpa_zalloc(options->trace_count, sizeof(*session->traces));
	if (options->filter && regcomp(&session->compiled, options->filter, REG_EXTENDED | REG_NOSUB) == 0)
		session->filter = &session->compiled;
	status = open_traces(session);
	if (status == TPA_EXIT_OK)
		status = open_output(session);
	if (status == TPA_EXIT_OK)
		status = check_suppressions(session);
	return status == TPA_EXIT_OK ? status : tpa_session_close(session, status);
}

void tpa_session_damage_print(const struct tpa_session *session)
{
	for (size_t i = 0; i < session->trace_count; i++) {
		const struct tpa_trace *trace = session->traces[i];
		uint64_t lost = 0;

		for (size_t d = 0; d < trace->damage_count; d++)
			lost += trace->damage[d].lost_bytes;
		if (trace->damage_count)
			fprintf(stderr,
				"tprof-analyze: %s: damaged at offset %" PRIu64 ": %s; %zu such place%s, "
				"%" PRIu64 " bytes unreadable, the rest is reported\n",
				trace->file, trace->damage[0].offset, trace->damage[0].reason, trace->damage_count,
				tpa_plural(trace->damage_count), lost);
	}
}

/* An unknown thread would give an empty report without a hint why. */
static int check_thread(const struct tpa_session *session)
{
	const struct tpa_options *options = session->options;
	uint32_t last = 0;

	if (!options->thread)
		return TPA_EXIT_OK;
	for (size_t i = 0; i < session->run->process_count; i++) {
		const struct tpa_process *process = &session->run->processes[i];

		for (size_t t = 0; t < process->thread_count; t++) {
			if (process->threads[t].thread == options->thread)
				return TPA_EXIT_OK;
			if (process->threads[t].thread > last)
				last = process->threads[t].thread;
		}
	}
	fprintf(stderr,
		"tprof-analyze: --thread %" PRIu32 ": no such thread in the trace; they are numbered up to %" PRIu32
		"\n",
		options->thread, last);
	return TPA_EXIT_USAGE;
}

/* What the options ask of every event; NULL: nothing. */
static const char *asks_of_all(const struct tpa_options *options, enum tpa_group group, uint64_t known_ns)
{
	static const char *const by[] = { [TPA_GROUP_THREAD] = "a report by thread",
					  [TPA_GROUP_SIZE] = "a report by size",
					  [TPA_GROUP_STEP] = "a report by step",
					  [TPA_GROUP_LAYER] = "a report by layer",
					  [TPA_GROUP_LABELS] = "a report by thread and layer" };

	if (group != TPA_GROUP_STACK && group != TPA_GROUP_NONE)
		return by[group];
	if (options->thread)
		return "--thread";
	if (options->from_ns)
		return "--from";
	return options->to_ns && options->to_ns < known_ns ? "--to before that" : NULL;
}

/* The events that a ring has given up are known as their checkpoint has them. */
static int check_rings(const struct tpa_session *session, enum tpa_group group)
{
	for (size_t i = 0; i < session->trace_count; i++) {
		const struct tpa_trace *trace = session->traces[i];
		const struct tprof_checkpoint *checkpoint = tpa_trace_checkpoint(trace);
		uint64_t until = checkpoint ? tpa_trace_ns(trace, checkpoint->ticks) : 0;
		const char *asked = checkpoint ? asks_of_all(session->options, group, until) : NULL;

		if (!asked)
			continue;
		fprintf(stderr,
			"tprof-analyze: %s: the ring has only a summary of its events up to %s, so %s is not possible: "
			"record without --ring for it\n",
			trace->file, tpa_time(until).text, asked);
		return TPA_EXIT_USAGE;
	}
	return TPA_EXIT_OK;
}

/* After the run's end there is nothing to report, and the peak would come from before --from. */
static int check_from(const struct tpa_session *session)
{
	uint64_t from = session->options->from_ns, end = session->run->duration_ns;

	if (from <= end)
		return TPA_EXIT_OK;
	fprintf(stderr, "tprof-analyze: --from %s: the run lasted %s\n", tpa_time(from).text, tpa_time(end).text);
	return TPA_EXIT_USAGE;
}

static struct tpa_symbols *open_symbols(const struct tpa_session *session, const struct tpa_trace *trace)
{
	const struct tpa_symbols_options options = { .debug_dir = session->options->debug_dir,
						     .language = session->options->language,
						     .interpreter = session->options->interpreter };

	return tpa_symbols_open(trace, &options);
}

/* Names the innermost function at the place, as reports do. */
static struct tpa_frame_name name_frame(void *context, const struct tpa_trace *trace, uint32_t frame)
{
	struct tpa_session *session = context;
	const struct tpa_location *location;
	size_t i = 0;

	while (session->traces[i] != trace)
		i++;
	if (!session->early[i])
		session->early[i] = open_symbols(session, trace);
	location = tpa_symbols_frame(session->early[i], frame)->locations;
	return (struct tpa_frame_name){ location->function, location->line };
}

/* Moves the symbols that the replay opened to their processes. */
static void take_symbols(struct tpa_session *session)
{
	size_t count = session->run->process_count;

	session->symbols = tpa_zalloc(count, sizeof(*session->symbols));
	for (size_t i = 0; i < count; i++)
		for (size_t t = 0; t < session->trace_count; t++)
			if (session->traces[t] == session->run->processes[i].trace) {
				session->symbols[i] = session->early[t];
				session->early[t] = NULL;
			}
}

void tpa_session_take_run(struct tpa_session *session, struct tpa_run *run)
{
	session->run = run;
	take_symbols(session);
}

void tpa_session_drop_run(struct tpa_session *session)
{
	tpa_site_stacks_free(session->stacks);
	session->stacks = NULL;
	for (size_t i = 0; session->symbols && i < session->run->process_count; i++)
		tpa_symbols_close(session->symbols[i]);
	free(session->symbols);
	session->symbols = NULL;
	for (size_t i = 0; session->early && i < session->trace_count; i++) {
		tpa_symbols_close(session->early[i]);
		session->early[i] = NULL;
	}
	if (session->run)
		tpa_run_free(session->run);
	session->run = NULL;
}

/* Leaks are reported per step if the program has steps. */
static bool needs_steps(const struct tpa_options *options, enum tpa_group group)
{
	int (*run)(const struct tpa_options *) = options->command->run;

	return group == TPA_GROUP_STEP || run == tpa_cmd_steps || run == tpa_cmd_leaks || run == tpa_cmd_html ||
	       run == tpa_cmd_summary || run == tpa_cmd_ranks ||
	       (run == tpa_cmd_export && options->format->needs == TPA_EXPORT_RUN);
}

/* Of a parallel job. */
static bool needs_ranks(const struct tpa_options *options)
{
	int (*run)(const struct tpa_options *) = options->command->run;

	return run == tpa_cmd_ranks || run == tpa_cmd_html || run == tpa_cmd_summary ||
	       (run == tpa_cmd_export && options->format->ranks);
}

struct tpa_replay_options tpa_session_replay_options(struct tpa_session *session, enum tpa_group group)
{
	static const enum tpa_frames frames[] = { [TPA_LANGUAGE_MIXED] = TPA_FRAMES_MIXED,
						  [TPA_LANGUAGE_PYTHON] = TPA_FRAMES_PYTHON,
						  [TPA_LANGUAGE_NATIVE] = TPA_FRAMES_NATIVE };
	const struct tpa_options *options = session->options;

	session->early = tpa_zalloc(session->trace_count, sizeof(*session->early));
	return (struct tpa_replay_options){
		.group = group,
		.thread = options->thread,
		.pid = options->process,
		.from_ns = options->from_ns,
		.to_ns = options->to_ns,
		.keep_growth = (options->command->run == tpa_cmd_leaks || options->command->run == tpa_cmd_html) &&
			       tpa_growth_pools_by(options->by),
		.frames = frames[options->language],
		.name_frame = name_frame,
		.name_context = session,
		.batches = options->command->run == tpa_cmd_diff || options->command->run == tpa_cmd_check ||
			   (options->command->run == tpa_cmd_html && options->baseline_count),
		.find_steps = needs_steps(options, group),
		.ranks = needs_ranks(options),
		.threads = options->jobs,
	};
}

int tpa_session_replay(struct tpa_session *session, enum tpa_group group)
{
	const struct tpa_options *options = session->options;
	struct tpa_replay_options replay;
	int status = check_rings(session, group);

	if (status != TPA_EXIT_OK)
		return tpa_session_close(session, status);
	replay = tpa_session_replay_options(session, group);
	for (size_t i = 0; i < session->trace_count; i++)
		tpa_op_names(session->traces[i], options->debug_dir);
	session->progress = tpa_progress_new("reading");
	if (session->progress) {
		replay.progress = tpa_progress_update;
		replay.progress_context = session->progress;
	}
	tpa_session_take_run(session, tpa_run_replay(session->traces, session->trace_count, &replay));
	tpa_progress_free(session->progress);
	session->progress = NULL;
	for (size_t i = 0; i < session->trace_count; i++)
		tpa_allocators_find(&session->allocators, session->traces[i], options->debug_dir);
	tpa_session_damage_print(session);
	status = check_thread(session);
	if (status == TPA_EXIT_OK)
		status = check_from(session);
	return status == TPA_EXIT_OK ? status : tpa_session_close(session, status);
}

struct tpa_symbols *tpa_session_symbols(struct tpa_session *session, size_t process)
{
	if (!session->symbols[process])
		session->symbols[process] = open_symbols(session, session->run->processes[process].trace);
	return session->symbols[process];
}

void tpa_session_open_symbols(struct tpa_session *session)
{
	for (size_t i = 0; i < session->run->process_count; i++)
		tpa_session_symbols(session, i);
}

void tpa_session_span(const struct tpa_session *session, const struct tpa_process *process, uint64_t *from_ns,
		      uint64_t *to_ns)
{
	const struct tpa_options *options = session->options;

	*from_ns = options->from_ns > process->start_ns ? options->from_ns : process->start_ns;
	*to_ns = process->start_ns + process->duration_ns;
	if (options->to_ns && options->to_ns < *to_ns)
		*to_ns = options->to_ns;
}

void tpa_session_say_browser(const struct tpa_session *session)
{
	if (session->options->output && fflush(session->page.out) == 0 && !ferror(session->page.out))
		fprintf(stderr, "tprof-analyze: next: open %s in a browser\n", session->options->output);
}

bool tpa_session_refuses_terminal(const struct tpa_options *options)
{
	if (options->output || !isatty(STDOUT_FILENO))
		return false;
	fprintf(stderr, "tprof-analyze: %s writes a page for a browser: name a file with -o FILE\n",
		options->command->name);
	return true;
}

bool tpa_page_close(struct tpa_session *session)
{
	const char *name = session->options->output ? session->options->output : "standard output";
	FILE *out = session->page.out;
	bool good;

	if (!out)
		return true;
	good = !ferror(out) && fflush(out) == 0;
	if (out != stdout)
		good = fclose(out) == 0 && good;
	if (!good)
		fprintf(stderr, "tprof-analyze: %s: could not be written to its end: %s\n", name, strerror(errno));
	session->page.out = NULL;
	return good;
}

int tpa_session_start(struct tpa_session *session, const struct tpa_options *options, enum tpa_group group)
{
	int status = tpa_session_open(session, options);

	return status == TPA_EXIT_OK ? tpa_session_replay(session, group) : status;
}

int tpa_session_close(struct tpa_session *session, int status)
{
	if (!tpa_page_close(session))
		status = status == TPA_EXIT_OK ? TPA_EXIT_USAGE : status;
	if (!tpa_output_end(&session->output, status == TPA_EXIT_OK || status == TPA_EXIT_FOUND)) {
		fprintf(stderr, "tprof-analyze: %s: can't be written: %s\n", session->output.path, strerror(errno));
		status = TPA_EXIT_USAGE;
	}
	if (session->filter)
		regfree(&session->compiled);
	tpa_session_drop_run(session);
	free(session->early);
	for (size_t i = 0; i < session->trace_count; i++)
		tpa_trace_close(session->traces[i]);
	free(session->traces);
	tpa_allocators_free(&session->allocators);
	memset(session, 0, sizeof(*session));
	return status;
}
