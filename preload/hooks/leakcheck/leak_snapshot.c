/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/leakcheck/leak_snapshot.h"

#include "core/analyzer.h"
#include "core/private_fds.h"
#include "core/clock.h"
#include "core/emit.h"
#include "core/objects.h"
#include "core/log.h"
#include "core/space.h"
#include "core/state.h"
#include "core/sys.h"
#include "core/text.h"
#include "core/thread.h"
#include "hooks/link/real.h"
#include "hooks/leakcheck/registers.h"

#include <errno.h>
#include <link.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#define LIFE_SECONDS 120
#define SETTLE_NS 2000000
#define SETTLE_TIMES 200 /* waits 0.4 s for a thread that never waits */

struct tprof_python tpc_leak_snapshot_python;

static struct tprof_snapshot note; /* read by the search, in the fork's memory */
static tpc_shared_u32 to_reap;
static tpc_shared_u32 at_end; /* the search at the end of the process is running: its fork must not be ended */
static uint32_t threads_running, threads_waiting, threads_known; /* other threads; of one snapshot at a time */

/* ---- what the fork's memory says of itself ---- */

static bool is_other(const struct tpc_thread *thread)
{
	uint32_t tid = tpc_load(&thread->tid);

	return thread != tpc_self && tid && tpc_sys_thread_lives(tpc_state.pid, tid);
}

/* The threads of note.stacks; [0] is the one that forks. */
static const struct tpc_thread *threads[TPROF_SNAPSHOT_RANGES];
static struct tpc_waiting seen[TPROF_SNAPSHOT_RANGES];

static void note_stack(struct tpc_thread *thread)
{
	struct tprof_range range = { thread->own.low, thread->own.high };

	if (note.stack_count == TPROF_SNAPSHOT_RANGES || !is_other(thread))
		return;
	threads[note.stack_count] = thread;
	note.stacks[note.stack_count++] = range;
}

static void note_kept(const struct tpc_thread *thread, const struct tpc_waiting *now)
{
	threads_known += now->sure;
	memcpy(note.kept[note.kept_count++], thread->wait.kept, sizeof(note.kept[0]));
}

static void count_thread(struct tpc_thread *thread)
{
	struct tpc_waiting now;
	uint32_t i = 1;

	if (!is_other(thread))
		return;
	now = tpc_wait_look(thread);
	if (now.state == TPC_RUNS)
		threads_running++;
	else
		threads_waiting++;
	while (i < note.stack_count && threads[i] != thread)
		i++;
	if (i == note.stack_count)
		return;
	if (now.state == TPC_IS_KEPT)
		note_kept(thread, &now);
	note.used[i] = now.state == TPC_RUNS ? 0 : now.sp;
	seen[i] = now;
}

static void count_each(void *unused)
{
	(void)unused;
	tpc_threads_each(count_thread);
}

static void count_threads(void)
{
	threads_running = threads_waiting = threads_known = 0;
	note.kept_count = 0;
	memset(note.used, 0, sizeof(note.used));
	memset(seen, 0, sizeof(seen));
	tpc_private_fds_as_thread(count_each, NULL);
	tpc_header->snapshot_running = threads_running;
	tpc_header->snapshot_waiting = threads_waiting;
	tpc_header->snapshot_known = threads_known;
}

struct still {
	uint32_t all, known;
	uint64_t bits[TPC_LENGTH(tpc_header->snapshot_still)];
};

static void count_each_still(void *context)
{
	struct still *still = context;

	for (uint32_t i = 1; i < note.stack_count; i++) {
		if (seen[i].state == TPC_RUNS || !seen[i].counted || !tpc_wait_is_still(threads[i], &seen[i]))
			continue;
		still->all += seen[i].state == TPC_IS_KEPT;
		still->known += seen[i].sure;
		still->bits[i / 64] |= UINT64_C(1) << i % 64;
	}
}

/* Called after the fork: a thread that ran meanwhile may have kept its values in other registers. */
static void count_still(void)
{
	static struct still still;

	memset(&still, 0, sizeof(still));
	tpc_private_fds_as_thread(count_each_still, &still);
	tpc_header->snapshot_running += (uint32_t)note.kept_count - still.all;
	tpc_header->snapshot_waiting -= (uint32_t)note.kept_count - still.all;
	tpc_header->snapshot_known = still.known;
	memcpy(tpc_header->snapshot_still, still.bits, sizeof(still.bits));
}

/* The library's data is not one mapping: the header is in the middle of it. */
static void note_own_module(void)
{
	struct dl_find_object object;

	if (tpc_object_find((uintptr_t)&note, &object))
		note.own[note.own_count++] = note.code =
			(struct tprof_range){ (uintptr_t)object.dlfo_map_start, (uintptr_t)object.dlfo_map_end };
}

static void note_moving(const void *block)
{
	uintptr_t at = (uintptr_t)block;

	note.moving = (struct tprof_range){ 0 };
	if (block && tpc_real.usable)
		note.moving = (struct tprof_range){ at, at + tpc_real.usable((void *)at) };
}

/* Notes what the thread itself holds: `registers` are the collector's, from which the program's are found. */
static void note_hand(const struct tpc_hand *hand, const struct tprof_registers *registers)
{
	static const struct tpc_hand empty;

	hand = hand ? hand : &empty;
	note.at = *registers;
	note.context = (uintptr_t)hand->context;
	note.in_hand_count = hand->count < TPROF_IN_HAND ? hand->count : TPROF_IN_HAND;
	for (size_t i = 0; i < note.in_hand_count; i++)
		note.in_hand[i] = hand->words[i];
	note_moving(hand->moving);
	note.alternate = (struct tprof_range){ 0 };
	if (tpc_self)
		note.alternate = (struct tprof_range){ tpc_self->alternate.low, tpc_self->alternate.high };
}

static void write_note(const struct tpc_hand *hand, const struct tprof_registers *registers)
{
	note.stacks[0] = (struct tprof_range){ 0 };
	if (tpc_self)
		note.stacks[0] = (struct tprof_range){ tpc_self->own.low, tpc_self->own.high };
	note.stack_count = 1;
	note.self = (uintptr_t)__builtin_thread_pointer();
	note.tid = (uint64_t)tpc_sys_gettid();
	tpc_threads_each(note_stack);
	count_threads();
	note.own_count = (uint32_t)tpc_space_list(note.own, TPROF_SNAPSHOT_RANGES - 1);
	note_own_module();
	note.python = tpc_leak_snapshot_python;
	note_hand(hand, registers);
}

/* ---- the fork ---- */

/* Holds no file of the program open, because a pipe would not end otherwise, and can be read by the same user. */
static void stand_still(void) __attribute__((noreturn));
static void stand_still(void)
{
	struct timespec rest = { .tv_sec = LIFE_SECONDS };

	tpc_syscall(SYS_close_range, 0, ~0u, 0, 0);
	tpc_syscall(SYS_prctl, PR_SET_PTRACER, -1, 0, 0);
	tpc_syscall(SYS_nanosleep, &rest, 0, 0, 0);
	for (;;)
		tpc_syscall(SYS_exit_group, 0, 0, 0, 0);
}

/*
 * No exit signal, so that the program's wait() does not see it. All signals are blocked, so that no handler of the
 * program runs in it.
 */
static __attribute__((noinline)) long fork_still(const struct tpc_hand *hand)
{
	uint64_t all = ~UINT64_C(0), before = 0;
	struct tprof_registers here;
	long pid;

	tpc_arch_note_registers(&here);
	write_note(hand, &here);
	tpc_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	tpc_header->snapshot_ticks = tpc_clock_before();
	pid = tpc_syscall(SYS_clone, 0, 0, 0, 0);
	if (pid == 0)
		stand_still();
	tpc_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, sizeof(before));
	count_still();
	return pid;
}

/* A signal may interrupt the wait. */
static void end_still(uint32_t pid)
{
	tpc_syscall(SYS_kill, pid, SIGKILL, 0, 0);
	while (tpc_syscall(SYS_wait4, pid, 0, __WCLONE, 0) == -EINTR)
		;
}

static void freeze(const struct tpc_hand *hand)
{
	uint32_t earlier;
	long pid;

	tpc_leak_snapshot_reap();
	earlier = tpc_exchange(&to_reap, 0); /* only one at a time */
	if (earlier) {
		end_still(earlier);
	}
	pid = fork_still(hand);
	tpc_header->snapshot_error = pid < 0 ? (uint32_t)-pid : 0;
	tpc_header->snapshot_at = (uintptr_t)&note;
	tpc_header->snapshot_bytes = sizeof(note);
	tpc_store_release(&tpc_header->snapshot_pid, pid > 0 ? (uint32_t)pid : 0);
	tpc_store(&to_reap, pid > 0 ? (uint32_t)pid : 0);
}

void tpc_leak_snapshot(const struct tpc_hand *hand)
{
	if (tpc_load(&at_end))
		tpc_header->snapshot_error = EBUSY;
	else
		freeze(hand);
}

void tpc_leak_snapshot_reap(void)
{
	uint32_t pid = tpc_load(&to_reap);

	if (tpc_unlikely(pid) && tpc_syscall(SYS_wait4, pid, 0, __WCLONE | WNOHANG, 0) != 0)
		tpc_swap_if(&to_reap, pid, 0u);
}

/* ---- at the end ---- */

struct search {
	const char *path, *command;
	char pid[16]; /* a fork has no state that tells it */
};

static struct search search_by(const char *path, const char *command)
{
	struct search search = { .path = path, .command = command };
	struct tpc_text text = tpc_text_in(search.pid, sizeof(search.pid));

	tpc_text_add_number(&text, tpc_state.pid);
	return search;
}

static void exec_search(const struct search *search) __attribute__((noreturn));
static void exec_search(const struct search *search)
{
	const char *arguments[] = { search->path, "ctl", search->pid, search->command, NULL };

	tpc_analyzer_exec(arguments);
}

static long start_search(const char *path)
{
	struct search search = search_by(path, "leakcheck-taken");
	long pid = tpc_syscall(SYS_clone, 0, 0, 0, 0);

	if (pid == 0)
		exec_search(&search);
	return pid;
}

/* A child of a child that ends at once: the program's wait() sees neither. */
static void start_search_aside(const char *path)
{
	struct search search = search_by(path, "holders-taken");
	long pid = tpc_syscall(SYS_clone, 0, 0, 0, 0);

	if (pid == 0) {
		if (tpc_syscall(SYS_clone, 0, 0, 0, 0) == 0) {
			tpc_syscall(SYS_setsid, 0, 0, 0, 0);
			tpc_analyzer_close_files();
			exec_search(&search);
		}
		for (;;)
			tpc_syscall(SYS_exit_group, 0, 0, 0, 0);
	}
	while (pid > 0 && tpc_syscall(SYS_wait4, pid, 0, __WCLONE, 0) == -EINTR)
		;
}

void tpc_leak_snapshot_step(const struct tpc_hand *hand)
{
	static char path[4096];

	if (!tpc_swap_if(&tpc_step_due, 1u, 0u) || tpc_load(&at_end) || tpc_load(&tpc_sealed) ||
	    tpc_sys_getpid() != tpc_state.pid || !tpc_analyzer_find(path, sizeof(path)))
		return;
	freeze(hand);
	if (tpc_load(&to_reap))
		start_search_aside(path);
}

/* A handler of the program may interrupt the call each time its signal comes. */
static void wait_for(long pid, int *status)
{
	while (tpc_syscall(SYS_wait4, pid, status, __WALL, 0) == -EINTR)
		;
}

/* After exec a process has SIGCHLD as its exit signal, however it was made: keeps it from the program. */
static int run_search(const char *path)
{
	uint64_t child = UINT64_C(1) << (SIGCHLD - 1), before = 0;
	struct timespec now = { 0 };
	long searcher;
	int status = -1;

	tpc_syscall(SYS_rt_sigprocmask, SIG_BLOCK, &child, &before, sizeof(child));
	searcher = start_search(path);
	if (searcher > 0) {
		tpc_syscall(SYS_prctl, PR_SET_PTRACER, searcher, 0,
			    0); /* what the fork lacks is read in this process */
		wait_for(searcher, &status);
	}
	tpc_syscall(SYS_rt_sigtimedwait, &child, 0, &now, sizeof(child));
	tpc_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, sizeof(before));
	return status;
}

/* The search itself has reported what it found wrong. */
static void say_status(const char *path, int status)
{
	static char text[4200];
	struct tpc_text message = tpc_text_in(text, sizeof(text));

	tpc_text_add(&message, path);
	if (status < 0)
		tpc_text_add(&message, " could not be started: no further process");
	else if (WIFSIGNALED(status))
		tpc_text_add(&message, " was ended by signal ");
	else if (WEXITSTATUS(status) == 127)
		tpc_text_add(&message, " could not be started");
	else
		tpc_text_add(&message, " ended with status ");
	if (status >= 0 && WIFSIGNALED(status))
		tpc_text_add_number(&message, (uint64_t)WTERMSIG(status));
	else if (status >= 0 && WEXITSTATUS(status) != 127)
		tpc_text_add_number(&message, (uint64_t)WEXITSTATUS(status));
	tpc_log("leak check: it failed: ", text);
}

/* A process that is not dumpable (prctl(2)) is hidden by permissions. */
static uint32_t outcome(int status)
{
	if (status == 0)
		return TPROF_SEARCH_DONE;
	if (tpc_syscall(SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0) != 1)
		return TPROF_SEARCH_FORBIDDEN;
	if (status < 0 || !WIFEXITED(status))
		return TPROF_SEARCH_FAILED;
	if (WEXITSTATUS(status) == 127)
		return TPROF_SEARCH_NO_PROGRAM;
	return WEXITSTATUS(status) == TPROF_STATUS_FORBIDDEN ? TPROF_SEARCH_FORBIDDEN : TPROF_SEARCH_FAILED;
}

static void search(const char *path)
{
	uint32_t still = tpc_load(&to_reap); /* not from the header: others can write there */
	int status = run_search(path);

	end_still(still);
	tpc_store(&to_reap, 0u);
	tpc_store(&tpc_header->snapshot_pid, 0u);
	tpc_header->search_at_end = outcome(status);
	if (status != 0)
		say_status(path, status);
}

/* The program is ending anyway: waits for threads that are about to enter a system call. */
static void settle(void)
{
	struct timespec rest = { .tv_nsec = SETTLE_NS };

	for (int i = 0; i < SETTLE_TIMES; i++) {
		count_threads();
		if (!threads_running)
			return;
		tpc_syscall(SYS_nanosleep, &rest, 0, 0, 0);
	}
}

/* exit()'s frames are below the program's and cover what its last functions left. */
static void note_exiting(const void *caller)
{
	struct dl_find_object object;

	if (tpc_object_find((uintptr_t)caller, &object))
		note.exiting = (struct tprof_range){ (uintptr_t)object.dlfo_map_start, (uintptr_t)object.dlfo_map_end };
}

void tpc_leak_snapshot_check(const void *caller)
{
	static char path[4096];

	if (tpc_load(&tpc_sealed) || tpc_sys_getpid() != tpc_state.pid)
		return;
	tpc_header->search_at_end = TPROF_SEARCH_FAILED; /* until it succeeds */
	if (!tpc_analyzer_find(path, sizeof(path))) {
		tpc_log("leak check: there is no tprof-analyze beside ", "libtprof.so");
		return;
	}
	tpc_store(&at_end, 1u);
	settle();
	note_exiting(caller);
	freeze(NULL);
	if (tpc_load(&to_reap))
		search(path);
	else
		tpc_log("leak check: ", "the process could not be forked");
}
