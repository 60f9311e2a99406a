/* SPDX-License-Identifier: Apache-2.0 */
#include "export/walk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/replay/start_times.h"

#define COUNTER_POINTS 4000 /* intervals that the run is cut into; each has its highest and its last live bytes */
#define COUNTER_NS 10000    /* minimum length of an interval */

/* Calls a function of the visitor, if there is one. */
#define TELL(walk, function, ...)                                                                                      \
	do {                                                                                                           \
		if ((walk)->visitor->function)                                                                         \
			(walk)->visitor->function((walk)->to, walk, ##__VA_ARGS__);                                    \
	} while (0)

/* ---- names ---- */

const char *tpa_walk_op_name(const struct tpa_walk *walk, uint32_t op)
{
	return op < walk->trace->op_count && walk->trace->ops[op].name ? walk->trace->ops[op].name : TPA_UNNAMED;
}

const char *tpa_walk_op_category(const struct tpa_walk *walk, uint32_t op)
{
	bool known = op < walk->trace->op_count && walk->trace->ops[op].name && walk->trace->ops[op].category[0];

	return known ? walk->trace->ops[op].category : "op";
}

static void tell_thread(struct tpa_walk *walk, uint32_t thread, uint32_t tid, const char *name)
{
	if (thread >= walk->named_count) {
		uint32_t count = thread + 64;

		walk->named = tpa_resize(walk->named, count, sizeof(*walk->named));
		memset(walk->named + walk->named_count, 0, (count - walk->named_count) * sizeof(*walk->named));
		walk->named_count = count;
	}
	if (walk->named[thread] && !name)
		return;
	walk->named[thread] = true;
	TELL(walk, thread, thread, tid, name);
}

/* ---- memory ---- */

static void tell_memory(struct tpa_walk *walk, uint64_t ns)
{
	const struct tpa_point *now = &walk->replay.now;

	if (walk->high.live_bytes > now->live_bytes)
		TELL(walk, live, walk->high.time_ns, walk->high.live_bytes);
	TELL(walk, live, ns, now->live_bytes);
	if (now->rss != walk->rss)
		TELL(walk, rss, ns, now->rss);
	walk->rss = now->rss;
	walk->high.live_bytes = 0;
	walk->due_ns = ns + walk->interval_ns;
}

static void count_memory(struct tpa_walk *walk, uint64_t ns)
{
	if (walk->replay.now.live_bytes > walk->high.live_bytes) {
		walk->high.live_bytes = walk->replay.now.live_bytes;
		walk->high.time_ns = ns;
	}
	if (ns >= walk->due_ns)
		tell_memory(walk, ns);
}

/* ---- ops ---- */

static bool is_wanted(const struct tpa_walk *walk, uint32_t thread)
{
	return !walk->export->replay->thread || walk->export->replay->thread == thread;
}

/* NULL if the thread has had no event. */
static const struct tpa_thread_state *thread_of(const struct tpa_walk *walk, uint32_t thread)
{
	const struct tpa_replay *replay = &walk->replay;
	uint32_t index = thread < replay->threads.index_count ? replay->threads.index[thread] : 0;

	return index ? &replay->threads.list[index - 1] : NULL;
}

/* The thread's open op at this depth. An op that began before the selected time begins with it. */
static struct tpa_walk_op op_at(const struct tpa_walk *walk, const struct tpa_thread_state *thread, uint32_t level)
{
	const struct tpa_op_frame *frame = &thread->open.frames[level];
	uint64_t begin = tpa_replay_ticks_ns(&walk->replay, frame->begin_ticks);

	return (struct tpa_walk_op){ .thread = thread->stats.thread,
				     .op = frame->op,
				     .begin_ns = begin > walk->from_ns ? begin : walk->from_ns,
				     .level = level };
}

static void tell_begin(struct tpa_walk *walk, const struct tpa_thread_state *thread, uint32_t level)
{
	struct tpa_walk_op op = op_at(walk, thread, level);

	walk->ops++;
	if (!walk->visitor->op_begin)
		return;
	tell_thread(walk, thread->stats.thread, thread->stats.tid, NULL);
	walk->visitor->op_begin(walk->to, walk, &op);
}

/* Ends the thread's op at this depth. */
static void tell_op(struct tpa_walk *walk, const struct tpa_thread_state *thread, uint32_t level, uint64_t ns,
		    struct tpa_walk_op how)
{
	const struct tpa_op_frame *frame = &thread->open.frames[level];
	const struct tpa_op_state *state =
		walk->replay.ops.calls.states ? walk->replay.ops.calls.states[frame->op] : NULL;
	struct tpa_walk_op op = op_at(walk, thread, level);

	op.end_ns = ns;
	op.shape = frame->shape && state ? state->stats.shapes[frame->shape - 1].text : NULL;
	op.flop = frame->said.flop ? frame->said.flop : frame->shaped.flop;
	op.bytes = frame->said.bytes ? frame->said.bytes : frame->shaped.bytes;
	op.unwound = how.unwound;
	op.open = how.open;
	tell_thread(walk, op.thread, thread->stats.tid, NULL);
	TELL(walk, op, &op);
}

static uint64_t ns_of_ticks(const struct tpa_trace *trace, uint64_t ticks)
{
	return tpa_trace_ns(trace, trace->header->start.ticks + ticks);
}

static void tell_folded(struct tpa_walk *walk, const struct tpa_event *event, uint64_t ns)
{
	const struct tpa_trace *trace = walk->trace;
	struct tpa_walk_folded told = { .thread = event->thread, .op = (uint32_t)event->fold.op, .ns = ns };
	const struct tpa_folded *folded = event->fold.calls;
	char shape[256];

	if (!folded || event->fold.op >= walk->replay.ops.calls.count || !folded->counts.calls)
		return;
	told.calls = folded->counts.calls;
	told.timed = folded->timed;
	told.total_ns = ns_of_ticks(trace, folded->counts.ticks);
	told.min_ns = ns_of_ticks(trace, folded->counts.min);
	told.max_ns = ns_of_ticks(trace, folded->counts.max);
	if (folded->work.kind) {
		tpa_fold_shape(folded, shape, sizeof(shape));
		told.shape = shape;
	}
	tell_thread(walk, event->thread, event->tid, NULL);
	TELL(walk, folded, &told);
}

/* Tells of the ops that are open where the selected time begins. */
static void begin_open(struct tpa_walk *walk)
{
	for (size_t i = 0; i < walk->replay.threads.count; i++) {
		const struct tpa_thread_state *thread = &walk->replay.threads.list[i];

		for (uint32_t k = 0; is_wanted(walk, thread->stats.thread) && k < thread->open.count; k++)
			tell_begin(walk, thread, k);
	}
}

/* Tells of the ops that are still open where the selected time ends, up to that point. */
static void end_open(struct tpa_walk *walk, uint64_t ns)
{
	for (size_t i = 0; i < walk->replay.threads.count; i++) {
		const struct tpa_thread_state *thread = &walk->replay.threads.list[i];

		for (uint32_t k = thread->open.count; is_wanted(walk, thread->stats.thread) && k-- > 0;)
			tell_op(walk, thread, k, ns, (struct tpa_walk_op){ .open = true });
	}
}

/* ---- samples and blocks ---- */

static void tell_sample(struct tpa_walk *walk, const struct tpa_event *event, uint64_t ns)
{
	const struct tpa_thread_state *thread = thread_of(walk, event->thread);
	struct tpa_walk_sample sample = { .thread = event->thread, .ns = ns };

	if (!walk->visitor->sample)
		return;
	sample.node = tpa_event_node(walk->trace, event);
	sample.op = thread ? tpa_op_current(&thread->open) : 0;
	sample.cpu_ns = event->sample.periods * walk->trace->header->cpu_period_ns;
	tell_thread(walk, event->thread, event->tid, NULL);
	walk->visitor->sample(walk->to, walk, &sample);
}

static void tell_block(struct tpa_walk *walk, const struct tpa_event *event, uint64_t ns, bool freed)
{
	struct tpa_walk_block block = {
		.thread = event->thread, .ns = ns, .address = event->block.address, .freed = freed
	};

	if (!walk->visitor->block || (freed && event->cancelled))
		return;
	if (!freed) {
		block.node = tpa_event_node(walk->trace, event);
		block.bytes = event->block.bytes;
	}
	tell_thread(walk, event->thread, event->tid, NULL);
	walk->visitor->block(walk->to, walk, &block);
}

/* ---- events ---- */

/* Is the name new? Threads report their names more than once. */
static bool is_new_name(const struct tpa_walk *walk, const struct tpa_event *event)
{
	const struct tpa_thread_state *thread = thread_of(walk, event->thread);

	if (!thread || event->thread >= walk->named_count || !walk->named[event->thread])
		return true;
	return strnlen(thread->stats.name, sizeof(thread->stats.name)) != event->name.length ||
	       memcmp(thread->stats.name, event->name.text, event->name.length) != 0;
}

static void tell_op_end(struct tpa_walk *walk, const struct tpa_event *event, uint64_t ns)
{
	const struct tpa_thread_state *thread = thread_of(walk, event->thread);
	uint64_t kept = event->op_end.kept;

	if (!thread || kept < thread->open.deeper || kept - thread->open.deeper >= thread->open.count)
		return;
	tell_op(walk, thread, thread->open.count - 1 - (uint32_t)(kept - thread->open.deeper), ns,
		(struct tpa_walk_op){ .unwound = event->op_end.unwound });
}

/* Of a thread that is wanted. */
static void before_of_thread(struct tpa_walk *walk, const struct tpa_event *event, uint64_t ns)
{
	switch (event->kind) {
	case TPA_EVENT_FOLD:
		tell_folded(walk, event, ns);
		break;
	case TPA_EVENT_OP_END:
		tell_op_end(walk, event, ns);
		break;
	case TPA_EVENT_SAMPLE:
		tell_sample(walk, event, ns);
		break;
	case TPA_EVENT_ALLOC:
	case TPA_EVENT_POOL_ALLOC:
	case TPA_EVENT_FREE:
	case TPA_EVENT_POOL_FREE:
		tell_block(walk, event, ns, event->kind == TPA_EVENT_FREE || event->kind == TPA_EVENT_POOL_FREE);
		break;
	default:
		break;
	}
}

static void before(struct tpa_walk *walk, const struct tpa_event *event, uint64_t ns)
{
	TELL(walk, event, ns, event);
	if (event->kind == TPA_EVENT_MARK)
		TELL(walk, mark, ns, event->thread, event->mark.text, event->mark.length);
	if (is_wanted(walk, event->thread))
		before_of_thread(walk, event, ns);
}

/* Steps may end with an event of their own, or with that of an op. */
static void count_steps(struct tpa_walk *walk, const struct tpa_event *event, uint64_t ns)
{
	struct tpa_walk_step step = { .number = walk->replay.steps.steps.ended,
				      .begin_ns = walk->step_begin_ns,
				      .end_ns = ns,
				      .items = event->kind == TPA_EVENT_STEP ? event->step.items : 0 };

	if (step.number == walk->steps)
		return;
	walk->steps = step.number;
	walk->step_begin_ns = ns;
	if (!walk->inside)
		return;
	TELL(walk, step, &step);
	tell_memory(walk, ns);
}

static void after(struct tpa_walk *walk, const struct tpa_event *event, uint64_t ns, uint32_t opened, bool new_name)
{
	const struct tpa_thread_state *thread = thread_of(walk, event->thread);

	if (event->kind == TPA_EVENT_OP_BEGIN && thread && thread->open.count > opened &&
	    is_wanted(walk, event->thread))
		tell_begin(walk, thread, thread->open.count - 1);
	if (event->kind == TPA_EVENT_NAME && new_name && thread)
		tell_thread(walk, event->thread, event->tid, thread->stats.name);
	count_memory(walk, ns);
}

/*
 * Enters the selected time, at the latest at `ns`: tells of the open ops, live bytes and RSS at its very start, whenever the first
 * event comes.
 */
static bool enter(struct tpa_walk *walk, uint64_t ns)
{
	uint64_t begin_ns = walk->from_ns > walk->start_ns ? walk->from_ns : ns;

	if (!walk->inside && ns >= walk->from_ns) {
		walk->inside = true;
		walk->step_begin_ns = walk->step_begin_ns > walk->from_ns ? walk->step_begin_ns : walk->from_ns;
		begin_open(walk);
		tell_memory(walk, begin_ns);
	}
	return walk->inside;
}

/* Leaves the selected time, at or after the last event. */
static void leave(struct tpa_walk *walk, uint64_t last)
{
	uint64_t to = walk->export->replay->to_ns;
	bool cut = to && to < walk->end_ns && !walk->truncated;

	if (cut)
		enter(walk, to); /* the selected time may have no event */
	if (!walk->inside)
		return;
	tell_memory(walk, cut ? to : last);
	end_open(walk, cut ? to : last + 1); /* gives an op that has just begun a length */
}

static bool step(struct tpa_walk *walk)
{
	struct tpa_replay *replay = &walk->replay;
	struct tpa_event event = *replay->event;
	uint64_t ns = tpa_replay_ns(replay, event.time);
	bool inside = enter(walk, ns);
	const struct tpa_thread_state *thread = thread_of(walk, event.thread);
	uint32_t opened = thread ? thread->open.count : 0;
	bool new_name = event.kind == TPA_EVENT_NAME && is_new_name(walk, &event);

	if (inside)
		before(walk, &event, ns);
	tpa_replay_step(replay);
	count_steps(walk, &event, ns);
	if (inside)
		after(walk, &event, ns, opened, new_name);
	return !ferror_unlocked(walk->export->out);
}

/* ---- processes ---- */

static void prepare(struct tpa_walk *walk, size_t which, uint64_t start, const struct tpa_replay_options *replay)
{
	const struct tpa_export *export = walk->export;
	struct tpa_trace *trace = export->traces[which];
	uint64_t end = trace->header->finish.ticks ? tpa_trace_ns(trace, trace->header->finish.ticks) : 0;

	if (!end && trace->header->latest.ticks)
		end = tpa_trace_ns(trace, trace->header->latest.ticks);
	walk->which = which;
	walk->trace = trace;
	walk->from_ns = export->replay->from_ns;
	walk->inside = false;
	walk->rss = walk->steps = 0;
	walk->high = (struct tpa_point){ 0 };
	tpa_replay_init(&walk->replay, trace, replay, start);
	walk->step_begin_ns = walk->start_ns = walk->replay.start_ns;
	walk->end_ns = start + end;
	walk->interval_ns = end / COUNTER_POINTS > COUNTER_NS ? end / COUNTER_POINTS : COUNTER_NS;
}

/* Whether reports have found the steps by the period of the ops. */
static bool has_period(const struct tpa_walk *walk)
{
	const struct tpa_run *run = walk->export->run;

	for (size_t i = 0; run && i < run->process_count; i++)
		if (run->processes[i].trace == walk->trace)
			return run->processes[i].steps.source == TPA_STEPS_PERIOD;
	return false;
}

/* Finds what ends such steps, which takes a pass of its own, as it does for reports. */
static void find_steps(struct tpa_walk *walk, const struct tpa_replay_options *options)
{
	struct tpa_replay_options finding = *options;
	struct tpa_replay first;
	struct tpa_anchor anchor;

	if (!walk->visitor->step || !has_period(walk))
		return;
	finding.find_steps = true;
	tpa_replay_init(&first, walk->trace, &finding, walk->start_ns);
	tpa_replay_steps(&first, SIZE_MAX);
	tpa_replay_period(&first, &anchor);
	tpa_replay_free(&first);
	if (anchor.source)
		walk->replay.steps.anchor = anchor;
}

static void release(struct tpa_walk *walk)
{
	free(walk->named);
	walk->named = NULL;
	walk->named_count = 0;
	tpa_replay_free(&walk->replay);
}

/* `start`: of the process, in nanoseconds since the run's start. */
static bool walk_process(struct tpa_walk *walk, size_t which, uint64_t start)
{
	const struct tpa_replay_options replay = { .to_ns = walk->export->replay->to_ns,
						   .only_ops = walk->visitor->only_ops };
	uint64_t limit = walk->export->limit, last;
	bool good = true;

	prepare(walk, which, start, &replay);
	find_steps(walk, &replay);
	last = walk->start_ns;
	TELL(walk, process);
	while (good && walk->replay.event) {
		if (limit && walk->ops >= limit && walk->replay.event->kind == TPA_EVENT_OP_BEGIN) {
			walk->truncated = true;
			break;
		}
		last = tpa_replay_ns(&walk->replay, walk->replay.event->time);
		good = step(walk);
	}
	if (good)
		leave(walk, last);
	TELL(walk, process_end, last);
	release(walk);
	return good;
}

bool tpa_walk_one(struct tpa_export *export, size_t which, uint64_t start, const struct tpa_visitor *visitor, void *to)
{
	struct tpa_walk walk = { .export = export, .visitor = visitor, .to = to };

	return walk_process(&walk, which, start);
}

bool tpa_walk(struct tpa_export *export, const struct tpa_visitor *visitor, void *to)
{
	struct tpa_walk walk = { .export = export, .visitor = visitor, .to = to };
	struct tpa_start *starts = tpa_starts_find(export->traces, export->trace_count);
	uint64_t first = tpa_starts_first(starts, export->trace_count);
	bool good = true;

	for (size_t i = 0; good && !walk.truncated && i < export->trace_count; i++)
		good = walk_process(&walk, i,
				    starts[i].ns - first + (uint64_t)(export->moved_ns ? export->moved_ns[i] : 0));
	free(starts);
	if (walk.truncated)
		fprintf(stderr, "tprof-analyze: stopped after %" PRIu64 " ops (--limit)\n", walk.ops);
	return good;
}
