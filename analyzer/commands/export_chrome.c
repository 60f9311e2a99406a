/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export --format chrome: replays each process once and writes events as they come, so memory does not grow with the
 * trace.
 */
#include "commands/export_chrome.h"
#include "model/replay/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "commands/op_names.h"
#include "commands/session.h"
#include "model/replay/replay.h"
#include "model/replay/start_times.h"
#include "report/export/chrome.h"
#include "report/text/process_listing.h"

#define COUNTER_POINTS 4000 /* intervals that the run is cut into; each has its highest and its last live bytes */
#define COUNTER_NS 10000    /* minimum length of an interval */

struct chrome {
	struct tpa_session *session;
	const struct tpa_options *options;
	struct tpa_chrome out;
	struct tpa_replay replay;
	char **names, **categories; /* by op, quoted; NULL: not needed so far */
	bool *named;		    /* by thread: its row has a name */
	uint32_t named_count;
	uint64_t from_ns, end_ns; /* the selected time; the process's end as far as it is known */
	bool inside, truncated;
	uint64_t ops; /* ops begun, in all processes */

	struct tpa_point high; /* highest live bytes of the interval */
	uint64_t interval_ns, due_ns;
	uint64_t rss; /* last written value */
	uint64_t steps, step_begin_ns;
};

/* ---- names ---- */

static const char *quoted(char **cache, uint32_t op, const char *text)
{
	if (!cache[op])
		cache[op] = tpa_chrome_quote(text, strlen(text));
	return cache[op];
}

static void name_thread(struct chrome *chrome, uint32_t thread, uint32_t tid, const char *name)
{
	char text[96];

	if (thread >= chrome->named_count) {
		uint32_t count = thread + 64;

		chrome->named = tpa_resize(chrome->named, count, sizeof(*chrome->named));
		memset(chrome->named + chrome->named_count, 0, (count - chrome->named_count) * sizeof(*chrome->named));
		chrome->named_count = count;
	}
	if (chrome->named[thread] && !name)
		return;
	chrome->named[thread] = true;
	snprintf(text, sizeof(text), "%.48s%s(tid %" PRIu32 ")", name ? name : "thread", " ", tid);
	tpa_chrome_thread(&chrome->out, thread, text);
}

/* ---- counters ---- */

static void write_memory(struct chrome *chrome, uint64_t ns)
{
	const struct tpa_point *now = &chrome->replay.now;

	if (chrome->high.live_bytes > now->live_bytes)
		tpa_chrome_counter(&chrome->out, chrome->high.time_ns, "live bytes", chrome->high.live_bytes);
	tpa_chrome_counter(&chrome->out, ns, "live bytes", now->live_bytes);
	if (now->rss != chrome->rss)
		tpa_chrome_counter(&chrome->out, ns, "RSS", now->rss);
	chrome->rss = now->rss;
	chrome->high.live_bytes = 0;
	chrome->due_ns = ns + chrome->interval_ns;
}

static void count_memory(struct chrome *chrome, uint64_t ns)
{
	if (chrome->replay.now.live_bytes > chrome->high.live_bytes) {
		chrome->high.live_bytes = chrome->replay.now.live_bytes;
		chrome->high.time_ns = ns;
	}
	if (ns >= chrome->due_ns)
		write_memory(chrome, ns);
}

/* ---- ops ---- */

static bool is_wanted(const struct chrome *chrome, uint32_t thread)
{
	return !chrome->options->thread || chrome->options->thread == thread;
}

/* NULL if the thread has had no event. */
static const struct tpa_thread_state *thread_of(const struct chrome *chrome, uint32_t thread)
{
	const struct tpa_replay *replay = &chrome->replay;
	uint32_t index = thread < replay->threads.index_count ? replay->threads.index[thread] : 0;

	return index ? &replay->threads.list[index - 1] : NULL;
}

static const char *op_name(struct chrome *chrome, uint32_t op)
{
	const struct tpa_trace *trace = chrome->replay.trace;
	bool known = op < trace->op_count && trace->ops[op].name;

	return quoted(chrome->names, op, known ? trace->ops[op].name : TPA_UNNAMED);
}

static const char *op_category(struct chrome *chrome, uint32_t op)
{
	const struct tpa_trace *trace = chrome->replay.trace;
	bool known = op < trace->op_count && trace->ops[op].name && trace->ops[op].category[0];

	return quoted(chrome->categories, op, known ? trace->ops[op].category : "op");
}

/* Ends the thread's op at this depth. An op that began before the selected time begins with it. */
static void write_op(struct chrome *chrome, const struct tpa_thread_state *thread, uint32_t level, uint64_t ns,
		     struct tpa_chrome_detail detail)
{
	const struct tpa_op_frame *frame = &thread->open.frames[level];
	const struct tpa_op_state *state =
		chrome->replay.ops.calls.states ? chrome->replay.ops.calls.states[frame->op] : NULL;
	uint64_t begin = tpa_replay_ticks_ns(&chrome->replay, frame->begin_ticks);

	detail.name = op_name(chrome, frame->op);
	detail.category = op_category(chrome, frame->op);
	detail.shape = frame->shape && state ? state->stats.shapes[frame->shape - 1].text : NULL;
	detail.flop = frame->said.flop ? frame->said.flop : frame->shaped.flop;
	detail.bytes = frame->said.bytes ? frame->said.bytes : frame->shaped.bytes;
	detail.level = level;
	name_thread(chrome, thread->stats.thread, thread->stats.tid, NULL);
	tpa_chrome_op(&chrome->out, thread->stats.thread, begin > chrome->from_ns ? begin : chrome->from_ns, ns,
		      &detail);
}

static uint64_t ns_of_ticks(const struct tpa_trace *trace, uint64_t ticks)
{
	return tpa_trace_ns(trace, trace->header->start.ticks + ticks);
}

/* The times of the single calls are unknown: draw them together where the first of them began. */
static void write_folded(struct chrome *chrome, const struct tpa_event *event, uint64_t ns)
{
	const struct tpa_trace *trace = chrome->replay.trace;
	struct tpa_chrome_folded told = { 0 };
	const struct tpa_folded *folded = event->fold.calls;
	char shape[256];

	if (!folded || event->fold.op >= chrome->replay.ops.calls.count || !folded->counts.calls)
		return;
	told.name = op_name(chrome, (uint32_t)event->fold.op);
	told.calls = folded->counts.calls;
	told.timed = folded->timed;
	told.total_ns = ns_of_ticks(trace, folded->counts.ticks);
	told.min_ns = ns_of_ticks(trace, folded->counts.min);
	told.max_ns = ns_of_ticks(trace, folded->counts.max);
	if (folded->work.kind) {
		tpa_fold_shape(folded, shape, sizeof(shape));
		told.shape = shape;
	}
	name_thread(chrome, event->thread, event->tid, NULL);
	tpa_chrome_folded(&chrome->out, event->thread, ns, &told);
}

/* Counts the ops that are open where the selected time begins. */
static void count_open(struct chrome *chrome)
{
	for (size_t i = 0; i < chrome->replay.threads.count; i++)
		if (is_wanted(chrome, chrome->replay.threads.list[i].stats.thread))
			chrome->ops += chrome->replay.threads.list[i].open.count;
}

/* Draws the ops that are still open where the selected time ends, up to that point. */
static void write_open(struct chrome *chrome, uint64_t ns)
{
	for (size_t i = 0; i < chrome->replay.threads.count; i++) {
		const struct tpa_thread_state *thread = &chrome->replay.threads.list[i];

		for (uint32_t k = thread->open.count; is_wanted(chrome, thread->stats.thread) && k-- > 0;)
			write_op(chrome, thread, k, ns, (struct tpa_chrome_detail){ .open = true });
	}
}

/* ---- events ---- */

/* Is the name new? Threads report their names more than once. */
static bool is_new_name(const struct chrome *chrome, const struct tpa_event *event)
{
	const struct tpa_thread_state *thread = thread_of(chrome, event->thread);

	if (!thread || event->thread >= chrome->named_count || !chrome->named[event->thread])
		return true;
	return strnlen(thread->stats.name, sizeof(thread->stats.name)) != event->name.length ||
	       memcmp(thread->stats.name, event->name.text, event->name.length) != 0;
}

static void before(struct chrome *chrome, const struct tpa_event *event, uint64_t ns)
{
	const struct tpa_thread_state *thread = thread_of(chrome, event->thread);

	if (event->kind == TPA_EVENT_MARK)
		tpa_chrome_mark(&chrome->out, event->thread, ns, event->mark.text, event->mark.length);
	if (event->kind == TPA_EVENT_FOLD && is_wanted(chrome, event->thread))
		write_folded(chrome, event, ns);
	if (event->kind == TPA_EVENT_OP_END && thread && event->op_end.kept >= thread->open.deeper &&
	    event->op_end.kept - thread->open.deeper < thread->open.count && is_wanted(chrome, event->thread))
		write_op(chrome, thread, thread->open.count - 1 - (uint32_t)(event->op_end.kept - thread->open.deeper),
			 ns, (struct tpa_chrome_detail){ .unwound = event->op_end.unwound });
}

static void after(struct chrome *chrome, const struct tpa_event *event, uint64_t ns, uint32_t opened, bool new_name)
{
	const struct tpa_thread_state *thread = thread_of(chrome, event->thread);

	switch (event->kind) {
	case TPA_EVENT_OP_BEGIN:
		if (thread && thread->open.count > opened && is_wanted(chrome, event->thread))
			chrome->ops++;
		break;
	case TPA_EVENT_STEP:
		tpa_chrome_step(&chrome->out, chrome->step_begin_ns, ns, ++chrome->steps, event->step.items);
		chrome->step_begin_ns = ns;
		write_memory(chrome, ns);
		break;
	case TPA_EVENT_NAME:
		if (new_name && thread)
			name_thread(chrome, event->thread, event->tid, thread->stats.name);
		break;
	default:
		break;
	}
	count_memory(chrome, ns);
}

/*
 * Enters the selected time, at the latest at `ns`: writes the open ops, live bytes and RSS at its very start, whenever
 * the first event comes.
 */
static bool enter(struct chrome *chrome, uint64_t ns)
{
	uint64_t begin_ns = chrome->from_ns > chrome->replay.start_ns ? chrome->from_ns : ns;

	if (!chrome->inside && ns >= chrome->from_ns) {
		chrome->inside = true;
		chrome->step_begin_ns =
			chrome->step_begin_ns > chrome->from_ns ? chrome->step_begin_ns : chrome->from_ns;
		count_open(chrome);
		write_memory(chrome, begin_ns);
	}
	return chrome->inside;
}

/* Leaves the selected time, at or after the last event. */
static void leave(struct chrome *chrome, uint64_t last)
{
	uint64_t to = chrome->options->to_ns;
	bool cut = to && to < chrome->end_ns && !chrome->truncated;

	if (cut)
		enter(chrome, to); /* the selected time may have no event */
	if (!chrome->inside)
		return;
	write_memory(chrome, cut ? to : last);
	write_open(chrome, cut ? to : last + 1); /* gives an op that has just begun a length */
}

static bool step(struct chrome *chrome)
{
	struct tpa_replay *replay = &chrome->replay;
	struct tpa_event event = *replay->event;
	uint64_t ns = tpa_replay_ns(replay, event.time);
	bool inside = enter(chrome, ns);
	const struct tpa_thread_state *thread = thread_of(chrome, event.thread);
	uint32_t opened = thread ? thread->open.count : 0;
	bool new_name = event.kind == TPA_EVENT_NAME && is_new_name(chrome, &event);

	if (inside)
		before(chrome, &event, ns);
	if (!inside && event.kind == TPA_EVENT_STEP) {
		chrome->steps++;
		chrome->step_begin_ns = ns;
	}
	tpa_replay_step(replay);
	if (inside)
		after(chrome, &event, ns, opened, new_name);
	return !ferror(chrome->out.out);
}

/* ---- processes ---- */

static void prepare(struct chrome *chrome, size_t which, const struct tpa_replay_options *replay)
{
	struct tpa_trace *const *traces = chrome->session->traces, *trace = traces[which];
	size_t count = chrome->session->trace_count;
	uint64_t start = tpa_start_of(traces, count, which) - tpa_run_start(traces, count), end;
	char name[300];

	chrome->from_ns = chrome->options->from_ns;
	chrome->inside = false;
	chrome->rss = chrome->steps = 0;
	chrome->high = (struct tpa_point){ 0 };
	chrome->named_count = 0;
	tpa_replay_init(&chrome->replay, trace, replay, start);
	chrome->step_begin_ns = chrome->replay.start_ns;
	end = trace->header->finish.ticks ? tpa_trace_ns(trace, trace->header->finish.ticks) : 0;
	if (!end && trace->header->latest.ticks)
		end = tpa_trace_ns(trace, trace->header->latest.ticks);
	chrome->end_ns = start + end;
	chrome->interval_ns = end / COUNTER_POINTS > COUNTER_NS ? end / COUNTER_POINTS : COUNTER_NS;
	chrome->names = tpa_zalloc(chrome->replay.ops.calls.count, sizeof(*chrome->names));
	chrome->categories = tpa_zalloc(chrome->replay.ops.calls.count, sizeof(*chrome->categories));
	snprintf(name, sizeof(name), "%.200s (pid %" PRIu32 ")", tpa_program_name(trace), trace->header->pid);
	tpa_chrome_process(&chrome->out, trace->header->pid, name);
	tpa_chrome_thread(&chrome->out, TPA_CHROME_STEPS, "steps");
}

static void release(struct chrome *chrome)
{
	for (uint32_t i = 0; i < chrome->replay.ops.calls.count; i++) {
		free(chrome->names[i]);
		free(chrome->categories[i]);
	}
	free(chrome->names);
	free(chrome->categories);
	free(chrome->named);
	chrome->names = chrome->categories = NULL;
	chrome->named = NULL;
	tpa_replay_free(&chrome->replay);
}

static bool write_process(struct chrome *chrome, size_t which)
{
	const struct tpa_replay_options replay = { .to_ns = chrome->options->to_ns };
	uint64_t limit = chrome->options->limit, last = 0;
	bool good = true;

	prepare(chrome, which, &replay);
	while (good && chrome->replay.event) {
		if (limit && chrome->ops >= limit && chrome->replay.event->kind == TPA_EVENT_OP_BEGIN) {
			chrome->truncated = true;
			break;
		}
		last = tpa_replay_ns(&chrome->replay, chrome->replay.event->time);
		good = step(chrome);
	}
	if (good)
		leave(chrome, last);
	release(chrome);
	return good;
}

int tpa_export_chrome(const struct tpa_options *options)
{
	struct chrome chrome = { .options = options };
	struct tpa_session session;
	int status = tpa_session_open(&session, options);
	bool good = true;

	if (status != TPA_EXIT_OK)
		return status;
	chrome.session = &session;
	tpa_chrome_begin(&chrome.out, session.page.out);
	for (size_t i = 0; good && !chrome.truncated && i < session.trace_count; i++) {
		tpa_op_names(session.traces[i], options->debug_dir);
		good = write_process(&chrome, i);
	}
	tpa_chrome_end(&chrome.out, chrome.truncated);
	if (chrome.truncated)
		fprintf(stderr, "tprof-analyze: stopped after %" PRIu64 " ops (--limit)\n", chrome.ops);
	tpa_session_damage_print(&session);
	return tpa_session_close(&session, status);
}
