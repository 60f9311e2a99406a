/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/process/lifecycle.h"

#include "core/arguments.h"
#include "core/claim.h"
#include "core/clock.h"
#include "core/config.h"
#include "core/emit.h"
#include "core/follow.h"
#include "core/inherit.h"
#include "core/log.h"
#include "core/lookup.h"
#include "core/output.h"
#include "core/process.h"
#include "core/regions.h"
#include "core/state.h"
#include "core/sys.h"
#include "core/text.h"
#include "core/thread.h"
#include "hooks/gate/allocator.h"
#include "hooks/gate/enter.h"
#include "hooks/gate/pause.h"
#include "hooks/gate/start.h"
#include "hooks/link/late.h"
#include "hooks/leakcheck/leak_snapshot.h"
#include "hooks/link/real.h"
#include "hooks/memory/reached.h"
#include "hooks/memory/rules.h"
#include "hooks/ops/install.h"
#include "hooks/ops/select.h"
#include "hooks/process/forks.h"
#include "hooks/process/parts.h"
#include "hooks/sampling/cpu.h"
#include "stacks/frame_table.h"

#include <stdlib.h>
#include <time.h>

#define HOOK_TRIES 5000	  /* of 1 ms: a thread in a hook waits for a processor */
#define UNHOOK_TRIES 1000 /* the loader is busy, or a thread forks */

static const char *gave_up;	     /* why no trace could be made: children neither try nor log it again */
static struct tpc_identity identity; /* static: the user's stack may be small */
static char *const *late_settings;   /* of tpc_lifecycle_late(), instead of the environment */

/* ---- start ---- */

static void doubt_ops(struct tpc_text *complaints)
{
	const char *meant, *word = tpc_ops_doubtful(&meant);

	if (!word)
		return;
	tpc_text_add(complaints, "tprof: TPROF_OPS: ");
	tpc_text_add(complaints, word);
	tpc_text_add(complaints, " is not a preset, and taken for the name of a function; did you mean ");
	tpc_text_add(complaints, meant);
	tpc_text_add(complaints, "?\n");
}

static char *const *settings(void)
{
	return late_settings ? late_settings : tpc_environment();
}

static void read_environment(void)
{
	static char lines[2048];
	struct tpc_text complaints = tpc_text_in(lines, sizeof(lines));

	tpc_config_read(settings(), &complaints);
	doubt_ops(&complaints);
	tpc_log_text(lines, complaints.length);
}

static bool wanted(uint32_t origin)
{
	if (gave_up && !late_settings)
		return false;
	if (tpc_config.exe && !tpc_is_named(&identity, tpc_config.exe))
		return false;
	return tpc_config.children || origin != TPROF_ORIGIN_FORK;
}

static bool open_trace(uint32_t origin, const char *parent)
{
	const char *reason;
	struct tprof_header *header = tpc_output_create(&identity, origin, parent, &reason);

	if (!header && !reason)
		return false;
	if (!header) {
		char line[256];
		struct tpc_text text = tpc_text_in(line, sizeof(line));

		tpc_text_add(&text, ": ");
		tpc_text_add(&text, reason);
		tpc_text_add(&text, "; nothing is recorded");
		gave_up = reason;
		if (!late_settings) /* else `tprof attach` says so */
			tpc_log(*tpc_output_path() ? tpc_output_path() : tpc_config.output, line);
		return false;
	}
	tpc_header = header;
	return true;
}

/*
 * `forked_by`: pid of the traced process that this one was forked from; 0: none. It may have ended: then the kernel
 * gives another parent.
 */
static uint32_t begin(uint32_t origin, const char *parent, uint32_t forked_by)
{
	tpc_identify(&identity);
	if (forked_by)
		identity.ppid = forked_by;
	tpc_claim_run(&identity);
	if (!wanted(origin))
		return TPC_MODE_OFF;
	tpc_state.pid = identity.pid;
	tpc_unshared(tpc_state.next_memory_sample) = 1; /* at once */
	if (!open_trace(origin, parent))
		return TPC_MODE_OFF;
	tpc_emit_shift = tpc_header->tick_shift;
	tpc_header->recording = TPROF_RECORDING_ON;
	if (late_settings)
		tpc_set_bits(&tpc_header->flags, TPROF_FLAG_ATTACHED);
	tpc_header->search_at_end = tpc_config.leakcheck ? TPROF_SEARCH_DUE : TPROF_SEARCH_NOT_ASKED;
	tpc_parts_each(open);
	if (tpc_config.verbose)
		tpc_log("recording to ", tpc_output_path());
	return TPC_MODE_ON;
}

/* The child of a paused process is paused; TPROF_START=off is a pause, too. */
static uint32_t begin_paused(void)
{
	tpc_set_bits(&tpc_header->flags, TPROF_FLAG_WAITED);
	tpc_header->recording = TPROF_RECORDING_PAUSED;
	return TPC_MODE_WAITING;
}

/* Notes in the header of the parent that this process has no trace. */
static void note_lost_child(struct tprof_header *parents)
{
	if (gave_up)
		tpc_follow_note(parents, identity.pid, TPROF_UNFOLLOWED_OUTPUT, gave_up);
	tpc_sys_munmap(parents, TPROF_HEADER_SIZE);
}

static void start_child(void)
{
	static char parent[4096];
	bool paused = tpc_header && tpc_load(&tpc_header->recording) == TPROF_RECORDING_PAUSED;
	struct tpc_thread *thread = tpc_self;
	uint64_t slots = tpc_header ? tpc_load(&tpc_header->slots) : 0;
	uint32_t forked_by = tpc_header ? tpc_header->pid : 0, forked_at = tpc_forks_take();
	uint32_t mode;

	void *parents = tpc_header ? tpc_sys_mremap_again(tpc_header, TPROF_HEADER_SIZE) : NULL;

	memcpy(parent, tpc_output_path(), sizeof(parent));
	tpc_parts_each(forget);
	mode = begin(TPROF_ORIGIN_FORK, parent, forked_by);
	if (parents && !tpc_sys_failed(parents))
		note_lost_child(parents);
	if (mode == TPC_MODE_ON && paused)
		mode = begin_paused();
	tpc_threads_forget(mode == TPC_MODE_ON ? thread : NULL);
	tpc_store_release(&tpc_state.mode, mode);
	if (mode == TPC_MODE_WAITING)
		tpc_gate_set();
	if (mode == TPC_MODE_OFF)
		return;
	tpc_add(&tpc_header->slots, slots);
	tpc_header->fork_node = forked_at;
	tpc_parts_each(restart);
}

/*
 * Was libtprof.so loaded by dlopen, as a collector for ITT or NVTX? Then the program's calls are already bound, and no
 * functions follow ours.
 */
static bool came_late(void)
{
	return !tpc_real.malloc;
}

static void start_first(void)
{
	static const struct tpc_config_ops ops = { tpc_ops_set, tpc_ops_set_step, tpc_ops_allowed, tpc_rules_set,
						   tpc_rules_allowed };
	uint32_t mode;

	if (late_settings)
		tpc_late_begin();
	tpc_real_find();
	tpc_new_find();
	tpc_log_start();
	if (came_late()) {
		tpc_log("loaded by dlopen, so nothing is recorded: LD_PRELOAD must name it", "");
		gave_up = "loaded too late";
		tpc_was_started = true;
		tpc_store_release(&tpc_state.mode, TPC_MODE_OFF);
		return;
	}
	tpc_config_ops = &ops;
	tpc_clock_start();
	read_environment();
	tpc_was_started = true;
	mode = begin(0, NULL, 0);
	tpc_inherit_start(settings());
	if (mode == TPC_MODE_ON && (tpc_config.start_off || late_settings))
		mode = begin_paused();
	tpc_store_release(&tpc_state.mode, mode);
	if (mode == TPC_MODE_WAITING)
		tpc_gate_set();
}

static void pausing(void)
{
	tpc_parts_each(pause);
}

static void resumed(const void *frame)
{
	tpc_parts_each(resume, frame);
}

const struct tpc_lifecycle tpc_lifecycle = {
	.first = start_first,
	.child = start_child,
	.pausing = pausing,
	.resumed = resumed,
};

/* ---- end ---- */

/* exit() and quick_exit() end in _exit(), and a vfork child is not this process. */
void tpc_mark_way(uint32_t way)
{
	if (tpc_state_has_trace() && !tpc_load(&tpc_header->end_way) &&
	    (tpc_load(&tpc_sealed) || tpc_sys_getpid() == tpc_state.pid))
		tpc_store(&tpc_header->end_way, way);
}

void tpc_mark_end(uint32_t end, int status)
{
	if (!tpc_state_has_trace())
		return;
	if (!tpc_load(&tpc_sealed) && tpc_sys_getpid() != tpc_state.pid)
		return; /* a vfork child: the memory is its parent's */
	tpc_parts_each(end);
	tpc_header->end_status = status;
	if (!tpc_load(&tpc_sealed)) {
		tpc_header->finish = tpc_clock_moment();
		tpc_header->rss_peak = tpc_memory_peak();
	}
	tpc_store_release(&tpc_header->end, end);
}

/* What it says at the end. */
static void ask_allocator(const void *frame)
{
	struct tpc_thread *thread = tpc_enter(frame);

	if (!thread)
		return;
	tpc_record(thread, tpc_clock_before());
	tpc_allocator_ask(thread, true);
	tpc_leave(thread);
}

void tpc_last_sample(const void *frame)
{
	struct tpc_thread *thread;

	if (!tpc_state_has_trace() || tpc_load(&tpc_sealed) || tpc_sys_getpid() != tpc_state.pid)
		return; /* a vfork child: the memory is its parent's */
	thread = tpc_enter(frame);
	if (!thread)
		return;
	tpc_record(thread, tpc_clock_before());
	tpc_regions_at_end(thread);
	tpc_leave(thread);
}

static void at_exit(int status, void *unused)
{
	(void)unused;
	tpc_start(); /* for a forked child that never allocated */
	ask_allocator(__builtin_frame_address(0));
	tpc_mark_way(TPROF_WAY_EXIT);
	tpc_last_sample(__builtin_frame_address(0));
	if (tpc_config.leakcheck && tpc_state_has_trace() && tpc_load(&tpc_state.mode) != TPC_MODE_STOPPED)
		tpc_leak_snapshot_check(__builtin_return_address(0));
	tpc_leak_snapshot_reap();
	tpc_mark_end(TPROF_END_EXIT, status & 0xff);
	if (tpc_config.verbose && tpc_state_has_trace() && tpc_load(&tpc_state.mode) != TPC_MODE_STOPPED)
		tpc_log("wrote ", tpc_output_path());
}

static void say_number(const char *what, uint64_t n)
{
	char digits[24];
	struct tpc_text text = tpc_text_in(digits, sizeof(digits));

	tpc_text_add_number(&text, n);
	tpc_log(what, digits);
}

/* TPROF_VERBOSE=2: logs what is hooked and what is not. */
static void say_hooks(void)
{
	if (tpc_config.verbose < 2 || !tpc_header)
		return;
	tpc_log(tpc_header->flags & TPROF_FLAG_FOREIGN_MALLOC ? "not recorded: malloc of " : "malloc of ",
		(const char *)tpc_header + tpc_header->text[TPROF_TEXT_MALLOC].offset % TPROF_HEADER_SIZE);
	say_number("pointers hooked beside: ", tpc_header->slots);
	if (tpc_header->cpu_signal)
		say_number("CPU sampling by signal ", tpc_header->cpu_signal);
	else
		tpc_log("no CPU sampling", "");
}

static void attach(struct tpc_thread *thread)
{
	tpc_parts_each(attach, thread);
}

static void start_parts(void)
{
	on_exit(at_exit, NULL);
	tpc_thread_attached = attach;
	tpc_parts_each(start);
	say_hooks();
}

__attribute__((constructor)) static void constructor(void)
{
	if (!tpc_lookup_next("malloc"))
		return; /* loaded by dlopen: a dlclose may take us away again */
	tpc_start();	/* a program that never allocates has a trace, too */
	start_parts();
}

static bool unhook(void)
{
	for (int i = 0; i < UNHOOK_TRIES; i++) {
		if (tpc_ops_uninstall())
			return true;
		tpc_syscall(SYS_sched_yield, 0, 0, 0, 0);
	}
	return false;
}

const char *tpc_lifecycle_leave(const void *frame)
{
	tpc_last_sample(frame);
	tpc_pause(frame);
	if (!unhook())
		return "forks or loads a library just now, and its hooks could not be taken back; its recording is "
		       "paused: try again";
	tpc_late_set(false);
	tpc_cpu_rest();
	tpc_mark_end(TPROF_END_DETACHED, 0);
	tpc_store(&tpc_state.mode, TPC_MODE_OFF);
	tpc_memory_forget();
	tpc_regions_forget();
	tpc_output_forget();
	return NULL;
}

static const char *why_off(void)
{
	static char line[256];
	struct tpc_text text = tpc_text_in(line, sizeof(line));

	if (!gave_up)
		return "has another name than TPROF_EXE asks for";
	tpc_text_add(&text, "can't write the trace: ");
	tpc_text_add(&text, gave_up);
	tpc_text_add(&text, " (the program writes it, as its own user)");
	return line;
}

/*
 * After tpc_lifecycle_leave(): another trace, as in a forked child, but the other threads live on. The sampler keeps its
 * signal.
 */
static const char *start_again(void)
{
	uint32_t mode;

	for (int i = 0; !tpc_threads_start_over(); i++) {
		if (i == HOOK_TRIES)
			return "has a thread in a hook; try again";
		tpc_syscall(SYS_nanosleep, &(struct timespec){ .tv_nsec = 1000000 }, 0, 0, 0);
	}
	for (size_t i = 0; i < TPC_PARTS; i++) {
		if (tpc_parts[i].forget && tpc_parts[i].forget != tpc_cpu_forget)
			tpc_parts[i].forget();
	}
	tpc_frames_doubt();
	tpc_clock_start();
	read_environment();
	gave_up = NULL;
	mode = begin(0, NULL, 0);
	if (mode != TPC_MODE_ON)
		return why_off();
	tpc_store_release(&tpc_state.mode, begin_paused());
	tpc_gate_set();
	tpc_late_set(true);
	tpc_parts_each(restart);
	tpc_malloc_check();
	tpc_ops_install();
	return NULL;
}

const char *tpc_lifecycle_late(char *const *list)
{
	if (late_settings && tpc_was_started) {
		late_settings = list;
		return start_again();
	}
	if (tpc_was_started)
		return "was started with libtprof.so: tprof ctl controls its recording";
	late_settings = list;
	tpc_start();
	if (tpc_state_has_trace()) {
		start_parts();
		return NULL;
	}
	late_settings = NULL;
	tpc_was_started = false;
	tpc_store(&tpc_state.mode, TPC_MODE_NEW); /* it may be tried again, with another file */
	return why_off();
}
