/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/leakcheck/leak_snapshot.h"

#include "core/private_fds.h"
#include "core/clock.h"
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
#define SETTLE_TIMES 200 /* of a thread that spins to the end 0.4 s are waited for */

static struct tprof_snapshot note; /* read by who searches, in the fork's memory */
static uint32_t to_reap;
static uint32_t at_end; /* the search at the process's end goes on: its fork is not to be ended */
static uint32_t threads_running, threads_waiting, threads_known; /* other ones; of one freeze at a time */

/* ---- what the fork's memory says of itself ---- */

static bool is_other(const struct tp_thread *thread)
{
	uint32_t tid = tp_load(&thread->tid);

	return thread != tp_self && tid && tp_sys_thread_lives(tp_state.pid, tid);
}

/* Those of note.stacks, [0] of them the one that forks. */
static const struct tp_thread *threads[TPROF_SNAPSHOT_RANGES];
static struct tp_waiting seen[TPROF_SNAPSHOT_RANGES];

static void note_stack(struct tp_thread *thread)
{
	struct tprof_range range = { thread->own.low, thread->own.high };

	if (note.stack_count == TPROF_SNAPSHOT_RANGES || !is_other(thread))
		return;
	threads[note.stack_count] = thread;
	note.stacks[note.stack_count++] = range;
}

static void note_kept(const struct tp_thread *thread, const struct tp_waiting *now)
{
	threads_known += now->sure;
	memcpy(note.kept[note.kept_count++], thread->wait.kept, sizeof(note.kept[0]));
}

static void count_thread(struct tp_thread *thread)
{
	struct tp_waiting now;
	uint32_t i = 1;

	if (!is_other(thread))
		return;
	now = tp_wait_look(thread);
	if (now.state == TP_RUNS)
		threads_running++;
	else
		threads_waiting++;
	while (i < note.stack_count && threads[i] != thread)
		i++;
	if (i == note.stack_count)
		return;
	if (now.state == TP_IS_KEPT)
		note_kept(thread, &now);
	note.used[i] = now.state == TP_RUNS ? 0 : now.sp;
	seen[i] = now;
}

static void count_each(void *unused)
{
	(void)unused;
	tp_threads_each(count_thread);
}

static void count_threads(void)
{
	threads_running = threads_waiting = threads_known = 0;
	note.kept_count = 0;
	memset(note.used, 0, sizeof(note.used));
	memset(seen, 0, sizeof(seen));
	tp_private_fds_as_thread(count_each, NULL);
	tp_header->snapshot_running = threads_running;
	tp_header->snapshot_waiting = threads_waiting;
	tp_header->snapshot_known = threads_known;
}

struct still {
	uint32_t all, known;
	uint64_t bits[TP_LENGTH(tp_header->snapshot_still)];
};

static void count_each_still(void *context)
{
	struct still *still = context;

	for (uint32_t i = 1; i < note.stack_count; i++) {
		if (seen[i].state == TP_RUNS || !seen[i].counted || !tp_wait_is_still(threads[i], &seen[i]))
			continue;
		still->all += seen[i].state == TP_IS_KEPT;
		still->known += seen[i].sure;
		still->bits[i / 64] |= UINT64_C(1) << i % 64;
	}
}

/* After the fork: who ran meanwhile may have held in other registers then what it had held in these. */
static void count_still(void)
{
	static struct still still;

	memset(&still, 0, sizeof(still));
	tp_private_fds_as_thread(count_each_still, &still);
	tp_header->snapshot_running += (uint32_t)note.kept_count - still.all;
	tp_header->snapshot_waiting -= (uint32_t)note.kept_count - still.all;
	tp_header->snapshot_known = still.known;
	memcpy(tp_header->snapshot_still, still.bits, sizeof(still.bits));
}

/* Its data is no mapping of its own: the header lies amidst. */
static void note_own_module(void)
{
	struct dl_find_object object;

	if (tp_object_find((uintptr_t)&note, &object))
		note.own[note.own_count++] = note.code =
			(struct tprof_range){ (uintptr_t)object.dlfo_map_start, (uintptr_t)object.dlfo_map_end };
}

static void note_moving(const void *block)
{
	uintptr_t at = (uintptr_t)block;

	note.moving = (struct tprof_range){ 0 };
	if (block && tp_real.usable)
		note.moving = (struct tprof_range){ at, at + tp_real.usable((void *)at) };
}

/* What the thread itself was at: `registers` are in the collector, and the program's are found from there. */
static void note_hand(const struct tp_hand *hand, const struct tprof_registers *registers)
{
	static const struct tp_hand empty;

	hand = hand ? hand : &empty;
	note.at = *registers;
	note.context = (uintptr_t)hand->context;
	note.in_hand_count = hand->count < TPROF_IN_HAND ? hand->count : TPROF_IN_HAND;
	for (size_t i = 0; i < note.in_hand_count; i++)
		note.in_hand[i] = hand->words[i];
	note_moving(hand->moving);
	note.alternate = (struct tprof_range){ 0 };
	if (tp_self)
		note.alternate = (struct tprof_range){ tp_self->alternate.low, tp_self->alternate.high };
}

static void write_note(const struct tp_hand *hand, const struct tprof_registers *registers)
{
	note.stacks[0] = (struct tprof_range){ 0 };
	if (tp_self)
		note.stacks[0] = (struct tprof_range){ tp_self->own.low, tp_self->own.high };
	note.stack_count = 1;
	note.self = (uintptr_t)__builtin_thread_pointer();
	note.tid = (uint64_t)tp_sys_gettid();
	tp_threads_each(note_stack);
	count_threads();
	note.own_count = (uint32_t)tp_space_list(note.own, TPROF_SNAPSHOT_RANGES - 1);
	note_own_module();
	note_hand(hand, registers);
}

/* ---- the fork ---- */

/* Holds no file of the program's open, as a pipe would not end otherwise, and lets anybody of the same user look. */
static void stand_still(void) __attribute__((noreturn));
static void stand_still(void)
{
	struct timespec rest = { .tv_sec = LIFE_SECONDS };

	tp_syscall(SYS_close_range, 0, ~0u, 0, 0);
	tp_syscall(SYS_prctl, PR_SET_PTRACER, -1, 0, 0);
	tp_syscall(SYS_nanosleep, &rest, 0, 0, 0);
	for (;;)
		tp_syscall(SYS_exit_group, 0, 0, 0, 0);
}

/*
 * Without an exit signal: the program's wait() does not see it. With all signals blocked, so that no handler of the program's
 * runs in it.
 */
static __attribute__((noinline)) long fork_still(const struct tp_hand *hand)
{
	uint64_t all = ~UINT64_C(0), before = 0;
	struct tprof_registers here;
	long pid;

	tp_arch_note_registers(&here);
	write_note(hand, &here);
	tp_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	tp_header->snapshot_ticks = tp_clock_before();
	pid = tp_syscall(SYS_clone, 0, 0, 0, 0);
	if (pid == 0)
		stand_still();
	tp_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, sizeof(before));
	count_still();
	return pid;
}

/* A signal may interrupt the wait. */
static void end_still(uint32_t pid)
{
	tp_syscall(SYS_kill, pid, SIGKILL, 0, 0);
	while (tp_syscall(SYS_wait4, pid, 0, __WCLONE, 0) == -EINTR)
		;
}

static void freeze(const struct tp_hand *hand)
{
	uint32_t earlier;
	long pid;

	tp_leak_snapshot_reap();
	earlier = __atomic_exchange_n(&to_reap, 0, __ATOMIC_ACQ_REL); /* one at a time, or they would become many */
	if (earlier) {
		end_still(earlier);
	}
	pid = fork_still(hand);
	tp_header->snapshot_error = pid < 0 ? (uint32_t)-pid : 0;
	tp_header->snapshot_at = (uintptr_t)&note;
	tp_header->snapshot_bytes = sizeof(note);
	tp_store_release(&tp_header->snapshot_pid, pid > 0 ? (uint32_t)pid : 0);
	tp_store(&to_reap, pid > 0 ? (uint32_t)pid : 0);
}

void tp_leak_snapshot(const struct tp_hand *hand)
{
	if (tp_load(&at_end))
		tp_header->snapshot_error = EBUSY;
	else
		freeze(hand);
}

void tp_leak_snapshot_reap(void)
{
	uint32_t pid = tp_load(&to_reap);

	if (tp_unlikely(pid) && tp_syscall(SYS_wait4, pid, 0, __WCLONE | WNOHANG, 0) != 0)
		tp_swap_if(&to_reap, pid, 0u);
}

/* ---- at the end ---- */

/* Where tprof-analyze is, beside this library. */
static bool find_analyzer(char *path, size_t size)
{
	struct dl_find_object object;
	struct tp_text text = tp_text_in(path, size);
	const char *own, *slash;

	if (!tp_object_find((uintptr_t)&note, &object) || !object.dlfo_link_map)
		return false;
	own = object.dlfo_link_map->l_name;
	slash = own ? strrchr(own, '/') : NULL;
	if (!slash)
		return false;
	tp_text_add_bytes(&text, own, (size_t)(slash - own));
	tp_text_add(&text, "/../bin/tprof-analyze");
	return !text.cut;
}

/* Without our environment: the searcher is no program to be traced. */
static long start_search(const char *path)
{
	static char number[16];
	struct tp_text text = tp_text_in(number, sizeof(number));
	const char *arguments[] = { path, "ctl", number, "leakcheck-taken", NULL };
	const char *environment[] = { NULL };
	long pid;

	tp_text_add_number(&text, tp_state.pid);
	pid = tp_syscall(SYS_clone, 0, 0, 0, 0);
	if (pid != 0)
		return pid;
	tp_syscall(SYS_execve, path, arguments, environment, 0);
	for (;;)
		tp_syscall(SYS_exit_group, 127, 0, 0, 0);
}

/* A handler of the program's may end the call, as often as its signal comes. */
static void wait_for(long pid, int *status)
{
	while (tp_syscall(SYS_wait4, pid, status, __WALL, 0) == -EINTR)
		;
}

/* An exec gives its process SIGCHLD as exit signal, whatever it was made with: the program does not get to see it. */
static int run_search(const char *path)
{
	uint64_t child = UINT64_C(1) << (SIGCHLD - 1), before = 0;
	struct timespec now = { 0 };
	long searcher;
	int status = -1;

	tp_syscall(SYS_rt_sigprocmask, SIG_BLOCK, &child, &before, sizeof(child));
	searcher = start_search(path);
	if (searcher > 0) {
		tp_syscall(SYS_prctl, PR_SET_PTRACER, searcher, 0, 0); /* what the fork does not have is read here */
		wait_for(searcher, &status);
	}
	tp_syscall(SYS_rt_sigtimedwait, &child, 0, &now, sizeof(child));
	tp_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, sizeof(before));
	return status;
}

/* What the search itself found wrong it has said. */
static void say_status(const char *path, int status)
{
	static char text[4200];
	struct tp_text message = tp_text_in(text, sizeof(text));

	tp_text_add(&message, path);
	if (status < 0)
		tp_text_add(&message, " could not be started: no further process");
	else if (WIFSIGNALED(status))
		tp_text_add(&message, " was ended by signal ");
	else if (WEXITSTATUS(status) == 127)
		tp_text_add(&message, " could not be started");
	else
		tp_text_add(&message, " ended with status ");
	if (status >= 0 && WIFSIGNALED(status))
		tp_text_add_number(&message, (uint64_t)WTERMSIG(status));
	else if (status >= 0 && WEXITSTATUS(status) != 127)
		tp_text_add_number(&message, (uint64_t)WEXITSTATUS(status));
	tp_log("leak check: it failed: ", text);
}

/* A process that is not dumpable (prctl(2)) is one that permissions hide. */
static uint32_t outcome(int status)
{
	if (status == 0)
		return TPROF_SEARCH_DONE;
	if (tp_syscall(SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0) != 1)
		return TPROF_SEARCH_FORBIDDEN;
	if (status < 0 || !WIFEXITED(status))
		return TPROF_SEARCH_FAILED;
	if (WEXITSTATUS(status) == 127)
		return TPROF_SEARCH_NO_PROGRAM;
	return WEXITSTATUS(status) == TPROF_STATUS_FORBIDDEN ? TPROF_SEARCH_FORBIDDEN : TPROF_SEARCH_FAILED;
}

static void search(const char *path)
{
	uint32_t still = tp_load(&to_reap); /* not the header's: others can write there */
	int status = run_search(path);

	end_still(still);
	tp_store(&to_reap, 0u);
	tp_store(&tp_header->snapshot_pid, 0u);
	tp_header->search_at_end = outcome(status);
	if (status != 0)
		say_status(path, status);
}

/* The program is at its end anyway: threads that are on their way to a system call may get there. */
static void settle(void)
{
	struct timespec rest = { .tv_nsec = SETTLE_NS };

	for (int i = 0; i < SETTLE_TIMES; i++) {
		count_threads();
		if (!threads_running)
			return;
		tp_syscall(SYS_nanosleep, &rest, 0, 0, 0);
	}
}

/* The frames of exit() below the program's: they lie over what its last functions left. */
static void note_exiting(const void *caller)
{
	struct dl_find_object object;

	if (tp_object_find((uintptr_t)caller, &object))
		note.exiting = (struct tprof_range){ (uintptr_t)object.dlfo_map_start, (uintptr_t)object.dlfo_map_end };
}

void tp_leak_snapshot_check(const void *caller)
{
	static char path[4096];

	if (tp_load(&tp_sealed) || tp_sys_getpid() != tp_state.pid)
		return;
	tp_header->search_at_end = TPROF_SEARCH_FAILED; /* unless it turns out otherwise */
	if (!find_analyzer(path, sizeof(path))) {
		tp_log("leak check: there is no tprof-analyze beside ", "libtprof.so");
		return;
	}
	tp_store(&at_end, 1u);
	settle();
	note_exiting(caller);
	freeze(NULL);
	if (tp_load(&to_reap))
		search(path);
	else
		tp_log("leak check: ", "the process could not be forked");
}
