/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/process/lifecycle.h"

#include "core/claim.h"
#include "core/clock.h"
#include "core/config.h"
#include "core/emit.h"
#include "core/follow.h"
#include "core/inherit.h"
#include "core/log.h"
#include "core/output.h"
#include "core/process.h"
#include "core/regions.h"
#include "core/state.h"
#include "core/sys.h"
#include "core/text.h"
#include "core/thread.h"
#include "hooks/gate/allocator.h"
#include "hooks/gate/start.h"
#include "hooks/leakcheck/leak_snapshot.h"
#include "hooks/link/real.h"
#include "hooks/memory/reached.h"
#include "hooks/ops/select.h"
#include "hooks/process/parts.h"

#include <stdlib.h>

static const char *gave_up;	    /* why no trace could be made: a child does not try, and say so, again */
static struct tp_identity identity; /* static: the user's stack may be small */

/* ---- start ---- */

static void doubt_ops(struct tp_text *complaints)
{
	const char *meant, *word = tp_ops_doubtful(&meant);

	if (!word)
		return;
	tp_text_add(complaints, "tprof: TPROF_OPS: ");
	tp_text_add(complaints, word);
	tp_text_add(complaints, " is not a preset, and taken for the name of a function; did you mean ");
	tp_text_add(complaints, meant);
	tp_text_add(complaints, "?\n");
}

static void read_environment(void)
{
	static char lines[2048];
	struct tp_text complaints = tp_text_in(lines, sizeof(lines));

	tp_config_read(tp_environment(), &complaints);
	doubt_ops(&complaints);
	tp_log_text(lines, complaints.length);
}

static bool wanted(uint32_t origin)
{
	if (gave_up)
		return false;
	if (tp_config.exe && !tp_is_named(&identity, tp_config.exe))
		return false;
	return tp_config.children || origin != TPROF_ORIGIN_FORK;
}

static bool open_trace(uint32_t origin, const char *parent)
{
	const char *reason;
	struct tprof_header *header = tp_output_create(&identity, origin, parent, &reason);

	if (!header && !reason)
		return false;
	if (!header) {
		char line[256];
		struct tp_text text = tp_text_in(line, sizeof(line));

		tp_text_add(&text, ": ");
		tp_text_add(&text, reason);
		tp_text_add(&text, "; nothing is recorded");
		gave_up = reason;
		tp_log(*tp_output_path() ? tp_output_path() : tp_config.output, line);
		return false;
	}
	tp_header = header;
	return true;
}

/* `forked_by`: pid of the traced process whose memory this was; 0: of none. It may be over: then the kernel says 1, or another. */
static uint32_t begin(uint32_t origin, const char *parent, uint32_t forked_by)
{
	tp_identify(&identity);
	if (forked_by)
		identity.ppid = forked_by;
	tp_claim_run(&identity);
	if (!wanted(origin))
		return TP_MODE_OFF;
	tp_state.pid = identity.pid;
	tp_state.next_memory_sample = 1; /* at once */
	if (!open_trace(origin, parent))
		return TP_MODE_OFF;
	tp_emit_shift = tp_header->tick_shift;
	tp_header->recording = TPROF_RECORDING_ON;
	tp_header->search_at_end = tp_config.leakcheck ? TPROF_SEARCH_DUE : TPROF_SEARCH_NOT_ASKED;
	tp_parts_each(open);
	if (tp_config.verbose)
		tp_log("recording to ", tp_output_path());
	return TP_MODE_ON;
}

/* The child of a pause is paused, and TPROF_START=off is one. */
static uint32_t begin_paused(void)
{
	__atomic_fetch_or(&tp_header->flags, TPROF_FLAG_WAITED, __ATOMIC_RELAXED);
	tp_header->recording = TPROF_RECORDING_PAUSED;
	return TP_MODE_WAITING;
}

/* In the header of the process that this one is a fork of: it has no trace of its own. */
static void note_lost_child(struct tprof_header *parents)
{
	if (gave_up)
		tp_follow_note(parents, identity.pid, TPROF_UNFOLLOWED_OUTPUT, gave_up);
	tp_sys_munmap(parents, TPROF_HEADER_SIZE);
}

static void start_child(void)
{
	static char parent[4096];
	bool paused = tp_header && tp_load(&tp_header->recording) == TPROF_RECORDING_PAUSED;
	struct tp_thread *thread = tp_self;
	uint64_t slots = tp_header ? tp_load(&tp_header->slots) : 0;
	uint32_t forked_by = tp_header ? tp_header->pid : 0;
	uint32_t mode;

	void *parents = tp_header ? tp_sys_mremap_again(tp_header, TPROF_HEADER_SIZE) : NULL;

	memcpy(parent, tp_output_path(), sizeof(parent));
	tp_parts_each(forget);
	mode = begin(TPROF_ORIGIN_FORK, parent, forked_by);
	if (parents && !tp_sys_failed(parents))
		note_lost_child(parents);
	if (mode == TP_MODE_ON && paused)
		mode = begin_paused();
	tp_threads_forget(mode == TP_MODE_ON ? thread : NULL);
	tp_store_release(&tp_state.mode, mode);
	if (mode == TP_MODE_WAITING)
		tp_gate_set();
	if (mode == TP_MODE_OFF)
		return;
	tp_add(&tp_header->slots, slots);
	tp_parts_each(restart);
}

/* By dlopen, as a collector of ITT's or NVTX's: the program's calls were bound before, and there is nothing behind us. */
static bool came_late(void)
{
	return !tp_real.malloc;
}

static void start_first(void)
{
	static const struct tp_config_ops ops = { tp_ops_set, tp_ops_set_step, tp_ops_allowed };
	uint32_t mode;

	tp_real_find();
	tp_new_find();
	tp_log_start();
	if (came_late()) {
		tp_log("loaded by dlopen, so nothing is recorded: LD_PRELOAD must name it", "");
		gave_up = "loaded too late";
		tp_was_started = true;
		tp_store_release(&tp_state.mode, TP_MODE_OFF);
		return;
	}
	tp_config_ops = &ops;
	tp_clock_start();
	read_environment();
	tp_was_started = true;
	mode = begin(0, NULL, 0);
	tp_inherit_start(tp_environment());
	if (mode == TP_MODE_ON && tp_config.start_off)
		mode = begin_paused();
	tp_store_release(&tp_state.mode, mode);
	if (mode == TP_MODE_WAITING)
		tp_gate_set();
}

static void pausing(void)
{
	tp_parts_each(pause);
}

static void resumed(const void *frame)
{
	tp_parts_each(resume, frame);
}

const struct tp_lifecycle tp_lifecycle = {
	.first = start_first,
	.child = start_child,
	.pausing = pausing,
	.resumed = resumed,
};

/* ---- end ---- */

/* exit() and quick_exit() end in _exit(), and a vfork child is not this process. */
void tp_mark_way(uint32_t way)
{
	if (tp_state_has_trace() && !tp_load(&tp_header->end_way) &&
	    (tp_load(&tp_sealed) || tp_sys_getpid() == tp_state.pid))
		tp_store(&tp_header->end_way, way);
}

void tp_mark_end(uint32_t end, int status)
{
	if (!tp_state_has_trace())
		return;
	if (!tp_load(&tp_sealed) && tp_sys_getpid() != tp_state.pid)
		return; /* a vfork child: the memory is its parent's */
	tp_parts_each(end);
	tp_header->end_status = status;
	if (!tp_load(&tp_sealed)) {
		tp_header->finish = tp_clock_moment();
		tp_header->rss_peak = tp_memory_peak();
	}
	tp_store_release(&tp_header->end, end);
}

/* What it says at the end. */
static void ask_allocator(const void *frame)
{
	struct tp_thread *thread = tp_enter(frame);

	if (!thread)
		return;
	tp_record(thread, tp_clock_before());
	tp_allocator_ask(thread, true);
	tp_leave(thread);
}

void tp_last_sample(const void *frame)
{
	struct tp_thread *thread;

	if (!tp_state_has_trace() || tp_load(&tp_sealed) || tp_sys_getpid() != tp_state.pid)
		return; /* a vfork child: the memory is its parent's */
	thread = tp_enter(frame);
	if (!thread)
		return;
	tp_record(thread, tp_clock_before());
	tp_regions_at_end(thread);
	tp_leave(thread);
}

static void at_exit(int status, void *unused)
{
	(void)unused;
	tp_start(); /* a forked child that never allocated */
	ask_allocator(__builtin_frame_address(0));
	tp_mark_way(TPROF_WAY_EXIT);
	tp_last_sample(__builtin_frame_address(0));
	if (tp_config.leakcheck && tp_state_has_trace() && tp_load(&tp_state.mode) != TP_MODE_STOPPED)
		tp_leak_snapshot_check(__builtin_return_address(0));
	tp_leak_snapshot_reap();
	tp_mark_end(TPROF_END_EXIT, status & 0xff);
	if (tp_config.verbose && tp_state_has_trace() && tp_load(&tp_state.mode) != TP_MODE_STOPPED)
		tp_log("wrote ", tp_output_path());
}

static void say_number(const char *what, uint64_t n)
{
	char digits[24];
	struct tp_text text = tp_text_in(digits, sizeof(digits));

	tp_text_add_number(&text, n);
	tp_log(what, digits);
}

/* TPROF_VERBOSE=2: what is hooked and what is not. */
static void say_hooks(void)
{
	if (tp_config.verbose < 2 || !tp_header)
		return;
	tp_log(tp_header->flags & TPROF_FLAG_FOREIGN_MALLOC ? "not recorded: malloc of " : "malloc of ",
	       (const char *)tp_header + tp_header->text[TPROF_TEXT_MALLOC].offset % TPROF_HEADER_SIZE);
	say_number("pointers hooked beside: ", tp_header->slots);
	if (tp_header->cpu_signal)
		say_number("CPU sampling by signal ", tp_header->cpu_signal);
	else
		tp_log("no CPU sampling", "");
}

static void attach(struct tp_thread *thread)
{
	tp_parts_each(attach, thread);
}

__attribute__((constructor)) static void constructor(void)
{
	tp_start(); /* a program that never allocates has its trace too */
	if (came_late())
		return; /* a dlclose may take us away again */
	on_exit(at_exit, NULL);
	tp_thread_attached = attach;
	tp_parts_each(start);
	say_hooks();
}
