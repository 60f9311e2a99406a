/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/process_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/ranks/job.h"
#include "report/rows/units.h"
#include "trace/related.h"

const char *tpa_end_name(const struct tpa_trace *trace)
{
	switch (trace->header->end) {
	case TPROF_END_EXIT:
		return "exit";
	case TPROF_END_SIGNAL:
		return "signal";
	case TPROF_END_EXEC:
		return "exec";
	case TPROF_END_DETACHED:
		return "detached";
	case TPROF_END_UNKNOWN:
		return "unknown";
	default:
		return trace->running ? "running" : "killed";
	}
}

static const char *signal_name(int number, char *buffer, size_t size)
{
	const char *name = number > 0 ? sigabbrev_np(number) : NULL;

	if (name)
		snprintf(buffer, size, "SIG%s", name);
	else
		snprintf(buffer, size, "signal %d", number);
	return buffer;
}

#define TICK_NS 10000000u /* of process_start: USER_HZ is 100 */

uint64_t tpa_attached_after_ns(const struct tpa_trace *trace)
{
	const struct tprof_header *header = trace->header;
	uint64_t began = header->process_start < UINT64_MAX / TICK_NS ? header->process_start * TICK_NS : 0;

	if (!(header->flags & TPROF_FLAG_ATTACHED))
		return 0;
	return header->start.mono_ns > began ? header->start.mono_ns - began : 1;
}

struct tpa_phrase tpa_end_sentence(const struct tpa_trace *trace)
{
	struct tpa_phrase phrase;
	char name[32];

	switch (trace->header->end) {
	case TPROF_END_EXIT:
		snprintf(phrase.text, sizeof(phrase.text), "exited with status %" PRId32, trace->header->end_status);
		break;
	case TPROF_END_SIGNAL:
		snprintf(phrase.text, sizeof(phrase.text), "ended by %s",
			 signal_name(trace->header->end_status, name, sizeof(name)));
		break;
	case TPROF_END_EXEC:
		snprintf(phrase.text, sizeof(phrase.text), "replaced by another program (exec)");
		break;
	case TPROF_END_DETACHED:
		snprintf(phrase.text, sizeof(phrase.text), "until tprof was detached");
		break;
	case TPROF_END_UNKNOWN:
		snprintf(phrase.text, sizeof(phrase.text), "its end is not known");
		break;
	default:
		snprintf(phrase.text, sizeof(phrase.text), "%s",
			 trace->written	  ? "still running"
			 : trace->running ? "still running, but not into this file (a copy?)"
					  : "killed without a record of its end (SIGKILL, OOM killer, power failure)");
		break;
	}
	return phrase;
}

const char *tpa_unfreed_phrase(const struct tpa_process *process, uint64_t to_ns)
{
	const struct tpa_trace *trace = process->trace;

	if (to_ns && to_ns < process->start_ns + process->duration_ns)
		return "alive at the end of that part";
	switch (trace->header->end) {
	case TPROF_END_EXIT:
		return "unfreed at exit";
	case TPROF_END_SIGNAL:
		return "alive when the signal ended it";
	case TPROF_END_EXEC:
		return "alive when exec replaced it";
	case TPROF_END_DETACHED:
		return "alive when tprof was detached";
	case TPROF_END_UNKNOWN:
		return "alive at the end";
	default:
		return trace->running ? "alive so far" : "alive when it was killed";
	}
}

struct tpa_phrase tpa_run_sentence(const struct tpa_process *process)
{
	const struct tpa_trace *trace = process->trace;
	time_t start = (time_t)(trace->header->start.unix_ns / 1000000000u);
	bool attached = tpa_attached_after_ns(trace);
	char when[64] = "", threads[48] = "";
	struct tpa_phrase phrase;
	struct tm tm;

	if (start && localtime_r(&start, &tm))
		strftime(when, sizeof(when), attached ? "attached %F %T, " : "started %F %T, ", &tm);
	if (!trace->source_count)
		snprintf(threads, sizeof(threads), "%zu thread%s, ", process->thread_count,
			 tpa_plural(process->thread_count));
	snprintf(phrase.text, sizeof(phrase.text), "%s%s %s, %s%.120s", when, attached ? "recorded" : "ran",
		 tpa_time(process->duration_ns).text, threads, tpa_end_sentence(trace).text);
	return phrase;
}

struct tpa_phrase tpa_process_number(const struct tpa_trace *trace)
{
	struct tpa_phrase phrase = { "imported" };
	struct tpa_rank_process job = { .joined = false };

	tpa_job_read(trace, &job);
	if (job.joined)
		snprintf(phrase.text, sizeof(phrase.text), "pid %" PRIu32 ", rank %" PRIu32 " of %" PRIu32,
			 trace->header->pid, job.world_rank, job.world_size);
	else if (trace->header->pid || !trace->source_count)
		snprintf(phrase.text, sizeof(phrase.text), "pid %" PRIu32, trace->header->pid);
	return phrase;
}

const char *tpa_program_name(const struct tpa_trace *trace)
{
	return tpa_started_name(trace->started, trace->exe[0] ? trace->exe : trace->arg_count ? trace->args[0] : "?");
}

const char *tpa_lost_name(unsigned int cause)
{
	static const char *const names[] = TPROF_LOST_NAMES;

	return cause < sizeof(names) / sizeof(names[0]) ? names[cause] : NULL;
}

uint64_t tpa_lost_events(const struct tpa_trace *trace)
{
	const unsigned int others =
		1u << TPROF_LOST_STACK | 1u << TPROF_LOST_SAMPLE | 1u << TPROF_LOST_TIMER | 1u << TPROF_LOST_COUNTERS;
	uint64_t sum = 0;

	for (unsigned int i = 0; i < TPROF_LOST_CAUSES; i++)
		if (!(others >> i & 1))
			sum += trace->header->lost[i];
	return sum;
}

bool tpa_malloc_is_shared(const struct tpa_trace *trace)
{
	const char *slash = strrchr(trace->malloc_path, '/');

	/* If malloc is linked into the program, this is the path of the program. */
	return strstr(slash ? slash : trace->malloc_path, ".so") != NULL;
}

bool tpa_allocations_off(const struct tpa_trace *trace)
{
	for (size_t i = 0; i < trace->env_count; i++)
		if (strcmp(trace->env[i], "TPROF_ALLOC=off") == 0)
			return true;
	return false;
}

const char *tpa_recording_cut(const struct tpa_trace *trace)
{
	if (trace->header->flags & TPROF_FLAG_STOPPED)
		return "recording stopped before the process ended";
	if (trace->header->chunks_aside)
		return "the disk was full, and the trace's end is not in the file";
	if (trace->damage_count)
		return "the trace is damaged";
	return NULL;
}

static const char *unseen_without_sampling(const struct tpa_process *process)
{
	if (tpa_allocations_off(process->trace))
		return "TPROF_ALLOC=off";
	if (process->trace->header->flags & TPROF_FLAG_FOREIGN_MALLOC)
		return "its malloc can't be seen";
	if (process->off_at_start && process->paused_ns >= process->duration_ns)
		return "recording was never switched on";
	return NULL;
}

static bool is_without_sample(const struct tpa_process *process)
{
	return process->estimated && !process->heap.recorded_allocations && !process->heap.peak_blocks;
}

const char *tpa_heap_unseen(const struct tpa_process *process)
{
	const char *why = unseen_without_sampling(process);

	return why || !is_without_sample(process) ? why : "no block was sampled";
}

const char *tpa_heap_unseen_in(const struct tpa_run *run, const struct tpa_process *process)
{
	bool none = true;

	for (size_t i = 0; i < run->process_count; i++)
		none = none && is_without_sample(&run->processes[i]);
	return none ? tpa_heap_unseen(process) : unseen_without_sampling(process);
}

bool tpa_heap_unknown(const struct tpa_process *process)
{
	return tpa_heap_unseen(process) && !process->heap.allocations && !process->heap.peak_blocks;
}

TPA_GETTER(pid, struct tpa_process)
{
	return (struct tpa_figure){ .number = row->trace->header->pid };
}

TPA_GETTER(program, struct tpa_process)
{
	return (struct tpa_figure){ .text = tpa_program_name(row->trace) };
}

#define PROCESS(member) TPA_MEMBER(struct tpa_process, member)
#define SOME(member, variance) TPA_ESTIMATE(struct tpa_process, member, variance)

const struct tpa_column tpa_process_columns[] = {
	{ "pid", "pid", TPA_UNIT_NUMBER, TPA_COMPUTED(pid) },
	{ "bytes", "then", TPA_UNIT_BYTES, SOME(combined_peak_bytes, combined_peak_variance),
	  .hint = "when all held most together" },
	{ "share", "%", TPA_UNIT_SHARE, PROCESS(combined_peak_bytes), .of_whole = true },
	{ "own_peak", "own peak", TPA_UNIT_BYTES, SOME(heap.peak_bytes, heap.variance.peak_bytes) },
	{ "end", "at the end", TPA_UNIT_BYTES, SOME(heap.end_bytes, heap.variance.live_bytes) },
	{ "ran", "ran", TPA_UNIT_NS, PROCESS(duration_ns) },
	{ "program", "program", TPA_UNIT_NAME, TPA_COMPUTED(program) },
	{ .key = NULL },
};
