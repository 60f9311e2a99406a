/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/sampling/cpu.h"

#include "core/arguments.h"
#include "core/config.h"
#include "core/fold.h"
#include "core/log.h"
#include "core/sys.h"
#include "hooks/gate/control.h"
#include "hooks/gate/enter.h"
#include "hooks/leakcheck/leak_snapshot.h"
#include "hooks/link/real.h"
#include "hooks/sampling/again.h"
#include "hooks/sampling/bequeath.h"
#include "hooks/sampling/signals.h"
#include "stacks/split.h"

#include <signal.h>
#include <sys/auxv.h>
#include <time.h>
#include <ucontext.h>

#define NO_TIMER 0 /* thread->timer holds the kernel's id + 1 */

/* The kernel's sigevent for SIGEV_THREAD_ID; libc's timer_create() allocates. */
struct event {
	union sigval value;
	int signal, notify, tid;
	int unused[11];
};

_Static_assert(sizeof(struct event) == 64, "as the kernel's struct sigevent");

void tpc_cpu_handler(int number, siginfo_t *info, void *context) __attribute__((visibility("hidden")));
void tpc_cpu_handle(int number, siginfo_t *info, ucontext_t *context, struct tpc_thread *thread)
	__attribute__((visibility("hidden")));

static tpc_shared_u32 signal_number; /* 0: no sampling */
static tpc_shared_u32 handled;	     /* the signal that has our handler, even after sampling has ended; 0: none */
static tpc_shared_int chosen;	     /* kept over a fork; -1: given up */

/*
 * A handler that the program set for our signal, or SIG_IGN, and that was not needed yet: Go's runtime sets one for
 * every signal.
 */
static struct sigaction programs;
static tpc_shared_u32 programs_state;

enum { PROGRAMS_NONE, PROGRAMS_WRITTEN, PROGRAMS_KEPT };

uint32_t tpc_cpu_signal(void)
{
	return tpc_load(&signal_number);
}

uint32_t tpc_cpu_handled(void)
{
	return tpc_load(&handled);
}

void tpc_cpu_let_go(void)
{
	tpc_store(&handled, 0u);
}

/* ---- the handler ---- */

/*
 * Is this the first instruction of a signal's handler? Then the kernel delivered that signal together with ours, and no
 * time has passed there: all registers are as the kernel set them.
 */
static bool is_delivery(const ucontext_t *context)
{
	int64_t number = tpc_arch_delivered(context);
	struct {
		uintptr_t handler;
		unsigned long flags, restorer, mask;
	} action;

	return number > 0 && number <= SIGRTMAX &&
	       tpc_syscall(SYS_rt_sigaction, number, NULL, &action, sizeof(action.mask)) == 0 &&
	       action.handler == tpc_arch_pc(context);
}

/* The context in which the period's CPU time was spent: each handler that was just entered interrupted the next context. */
static const ucontext_t *below_deliveries(const ucontext_t *context)
{
	for (int i = 0; i < SIGRTMAX && is_delivery(context); i++)
		context = tpc_arch_handlers_context(context);
	return context;
}

/* Records where the thread was interrupted, maybe on a stack that it is on for the first time. */
static void record_sample(struct tpc_thread *thread, const ucontext_t *context, const ucontext_t *below,
			  uint64_t periods)
{
	uintptr_t sp = tpc_arch_sp(below);
	struct tpc_range bounds = thread->bounds;
	uintptr_t frame = thread->busy_frame;
	uint32_t busy = thread->busy, node = TPROF_NODE_NONE;
	uint64_t ticks = tpc_clock_before(), thrown = tpc_fold_hold_throw(thread);

	thread->busy_frame = 0; /* of no hook, so that no hook seems abandoned */
	thread->busy = TPC_BUSY_RECORD;
	if (!tpc_thread_on_stack(thread, sp))
		tpc_thread_find_stack(thread, sp);
	node = tpc_walk_interrupted(thread, below);
	tpc_verify_interrupted(thread, below);
	if (tpc_load_acquire(&tpc_python_on))
		node = tpc_python_join_interrupted(thread, node);
	tpc_emit_sample(thread, ticks, node, periods);
	thread->event_start = ticks;
	if (tpc_recorded_due(thread, ticks))
		tpc_recorded_interrupted_slow(thread, context);
	tpc_thread_set_bounds(thread, bounds);
	if (thrown)
		tpc_fold_throw(thread, thrown);
	thread->busy = busy;
	thread->busy_frame = frame;
}

bool tpc_cpu_keep(const struct sigaction *action)
{
	bool waits = action->sa_flags & SA_RESTART || action->sa_handler == SIG_IGN;

	if (!waits || !tpc_swap_if(&programs_state, PROGRAMS_NONE, PROGRAMS_WRITTEN))
		return false;
	programs = *action;
	tpc_store_release(&programs_state, PROGRAMS_KEPT); /* pairs with tpc_cpu_kept() */
	return true;
}

bool tpc_cpu_kept(struct sigaction *action)
{
	if (tpc_load_acquire(&programs_state) != PROGRAMS_KEPT) { /* pairs with tpc_cpu_keep() */
		*action = (struct sigaction){ .sa_handler = SIG_DFL };
		return false;
	}
	*action = programs;
	return true;
}

void tpc_cpu_drop(void)
{
	tpc_swap_if(&programs_state, PROGRAMS_KEPT, PROGRAMS_NONE);
}

/* We sample no more: signals are the program's from now on. */
static void give_back(int number)
{
	struct sigaction action;

	tpc_cpu_kept(&action);
	tpc_real.sigaction(number, &action, NULL);
	tpc_cpu_let_go();
}

static bool is_for_process(const siginfo_t *info)
{
	return info->si_code == SI_USER || info->si_code == SI_QUEUE;
}

/*
 * The signal was sent by another source: the program uses it. Returns the signal to the program, and delivers this one
 * as the program would have got it: to its handler, by the default action, or, if the program blocked it, blocked. In
 * the last case another thread may be waiting for it, and our handler stays to pass it on: the other threads have it
 * blocked only as far as the program knows.
 */
static TPC_SLOW void hand_over(int number, siginfo_t *info, ucontext_t *context, struct tpc_thread *thread)
{
	bool blocked = thread && tpc_cpu_blocked(thread);

	tpc_cpu_step_aside();
	if (blocked) {
		sigaddset(&context->uc_sigmask, number);
		tpc_cpu_note_blocked(thread, false);
	} else {
		give_back(number);
	}
	if (blocked && is_for_process(info))
		tpc_syscall(SYS_rt_sigqueueinfo, tpc_sys_getpid(), number, info, 0);
	else
		tpc_syscall(SYS_rt_tgsigqueueinfo, tpc_sys_getpid(), tpc_sys_gettid(), number, info);
}

/* A program that only computes, without hooked calls, answers, too. */
static TPC_SLOW void answer(struct tpc_thread *thread, const ucontext_t *context)
{
	uint64_t thrown = tpc_fold_hold_throw(thread);
	uintptr_t frame = thread->busy_frame;
	uint32_t busy = thread->busy;

	thread->busy_frame = 0; /* as record_sample() */
	thread->busy = TPC_BUSY_RECORD;
	tpc_control_answer(thread, &(struct tpc_hand){ .context = context });
	if (thrown)
		tpc_fold_throw(thread, thrown);
	thread->busy = busy;
	thread->busy_frame = frame;
}

/* `tprof ctl` made a request, and no thread had an event since. */
static TPC_SLOW void wake(struct tpc_thread *thread, ucontext_t *context)
{
	uint32_t mode = tpc_load_acquire(&tpc_state.mode);

	if (thread && thread->busy != TPC_BUSY_RECORD && !tpc_load(&tpc_sealed) && tpc_control_waits() &&
	    (mode == TPC_MODE_ON || mode == TPC_MODE_PAUSED || mode == TPC_MODE_WAITING))
		answer(thread, context);
	tpc_again(context);
}

static bool is_wake(const siginfo_t *info)
{
	return info->si_code == SI_QUEUE && (uint64_t)(uintptr_t)info->si_value.sival_ptr == TPROF_CONTROL_WAKE;
}

extern const char __ehdr_start[], etext[] __attribute__((visibility("hidden"))); /* the linker's: libtprof.so's code */

/* Code that the collector made: hooks/ops/stubs.c. */
static tpc_shared_address made_code;
static size_t made_bytes;

void tpc_cpu_own_code(const void *code, size_t bytes)
{
	made_bytes = bytes;
	tpc_store_release(&made_code, (uintptr_t)code); /* pairs with is_made() */
}

static bool is_made(uintptr_t pc)
{
	uintptr_t start = tpc_load_acquire(&made_code); /* pairs with tpc_cpu_own_code() */

	return start && pc - start < made_bytes;
}

/*
 * A thread that is recording must not be interrupted: such a sample is the collector's own time, and counted so. The
 * same holds for the rest of a hook and for the stub that led to it.
 */
static bool is_own(const struct tpc_thread *thread, const ucontext_t *context)
{
	uintptr_t pc = tpc_arch_pc(context), start = (uintptr_t)__ehdr_start;

	return thread->busy == TPC_BUSY_RECORD || pc - start < (uintptr_t)etext - start || is_made(pc);
}

void tpc_cpu_handle(int number, siginfo_t *info, ucontext_t *context, struct tpc_thread *thread)
{
	const ucontext_t *below;
	uint64_t periods = 1;

	if (is_wake(info)) {
		wake(thread, context);
		return;
	}
	if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &signal_number) {
		hand_over(number, info, context, thread);
		return;
	}
	if (!thread)
		return;
	if (tpc_load(&tpc_state.mode) == TPC_MODE_PAUSED && thread->busy == TPC_IDLE && tpc_control_waits())
		answer(thread, context);
	if (tpc_load(&tpc_state.mode) != TPC_MODE_ON)
		return;
	if (info->si_overrun > 0)
		periods += (uint64_t)info->si_overrun;
	below = below_deliveries(context);
	if (is_own(thread, below))
		tpc_add(&tpc_header->samples_own, periods);
	else
		record_sample(thread, context, below, periods);
}

/* ---- timers ---- */

static uint64_t period_ns(void)
{
	return 1000000000u / tpc_config.cpu;
}

static void delete_timer(struct tpc_thread *thread)
{
	uint32_t timer = tpc_exchange(&thread->timer, NO_TIMER);

	if (timer != NO_TIMER)
		tpc_syscall(SYS_timer_delete, timer - 1, 0, 0, 0);
}

/* Bytes that the kernel pushes, as it tells (3 KiB and more with AVX-512), and our handler's first instructions. */
static size_t frame_bytes(void)
{
	size_t kernel = getauxval(AT_MINSIGSTKSZ);

	return (kernel ? kernel : TPC_PAGE) + 256;
}

static void stop_thread(struct tpc_thread *thread)
{
	if (tpc_load(&thread->timer) == NO_TIMER)
		return;
	delete_timer(thread);
	tpc_lost(TPROF_LOST_TIMER, 1);
}

void tpc_cpu_alternate_stack(const void *stack, size_t size)
{
	struct tpc_thread *thread = tpc_self;

	if (!thread)
		return;
	thread->alternate = (struct tpc_range){ (uintptr_t)stack, (uintptr_t)stack + size };
	if (size && size < frame_bytes())
		stop_thread(thread);
}

/* A signal's frame may be larger than the rest of a segment: such programs run their handlers on an alternate stack. */
void tpc_cpu_new_segment(struct tpc_thread *thread)
{
	if (tpc_split_stack_end() && !thread->alternate.high)
		stop_thread(thread);
}

void tpc_cpu_unmapped(const void *at, size_t length)
{
	struct tpc_thread *thread = tpc_self;

	if (thread && (uintptr_t)at < thread->alternate.high && (uintptr_t)at + length > thread->alternate.low)
		stop_thread(thread);
}

static tpc_shared_u32 held; /* the thread between tpc_cpu_hold() and tpc_cpu_go_on(); 0: none */

/* The first expiry is at a random time within the first period, so that shorter threads get their share of samples. */
static void arm(uint32_t timer)
{
	struct itimerspec period;

	period.it_interval.tv_sec = (time_t)(period_ns() / 1000000000u);
	period.it_interval.tv_nsec = (long)(period_ns() % 1000000000u);
	period.it_value.tv_sec = 0;
	period.it_value.tv_nsec = (long)(tpc_clock_before() * UINT64_C(0x9e3779b97f4a7c15) % period_ns() | 1);
	tpc_syscall(SYS_timer_settime, timer, 0, &period, 0);
}

static void arm_again(struct tpc_thread *thread)
{
	uint32_t timer = tpc_load(&thread->timer);

	if (timer != NO_TIMER)
		arm(timer - 1);
}

void tpc_cpu_attach(struct tpc_thread *thread)
{
	struct event event = { .value.sival_ptr = &signal_number,
			       .signal = (int)tpc_load(&signal_number),
			       .notify = SIGEV_THREAD_ID,
			       .tid = (int)tpc_load(&thread->tid) };
	int timer = 0;

	delete_timer(thread); /* that of the dead thread that had this struct */
	if (!event.signal || tpc_load(&held) == (uint32_t)event.tid)
		return;
	tpc_cpu_unblock(thread);
	if (!tpc_config.cpu)
		return;
	if (tpc_syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer, 0) != 0) {
		tpc_lost(TPROF_LOST_TIMER, 1); /* RLIMIT_SIGPENDING */
		return;
	}
	arm((uint32_t)timer);
	tpc_store_release(&thread->timer, (uint32_t)timer + 1); /* pairs with delete_timer() */
}

void tpc_cpu_forget(void)
{
	uint32_t number = tpc_cpu_handled();

	tpc_cpu_bequeath();
	tpc_cpu_bequeath_forget();
	if (number)
		give_back((int)number);
	tpc_unshared(signal_number) = 0;
}

/* ---- the signal ---- */

bool tpc_cpu_is_handler(const struct sigaction *action)
{
	return action->sa_sigaction == tpc_cpu_handler;
}

bool tpc_cpu_install(uint32_t number)
{
	struct sigaction action = { .sa_sigaction = tpc_cpu_handler, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };

	sigfillset(&action.sa_mask); /* no other handler may run on our handler's stack */
	return tpc_real.sigaction((int)number, &action, NULL) == 0;
}

/*
 * Before Linux 6.13, a timer stops if its signal is pending when it becomes ignored. Restarts all timers, each at a
 * random time, so that the rate of samples stays the same however often this happens.
 */
void tpc_cpu_restore(uint32_t number)
{
	if (tpc_cpu_install(number) && tpc_config.cpu)
		tpc_threads_each(arm_again);
}

static bool is_set_to(int number, __sighandler_t handler, struct sigaction *action)
{
	return tpc_real.sigaction && tpc_real.sigaction(number, NULL, action) == 0 && action->sa_handler == handler;
}

static int choose_real_time(__sighandler_t handler, struct sigaction *action)
{
	for (int number = SIGRTMAX - 3; number > SIGRTMIN; number--) {
		if (is_set_to(number, handler, action))
			return number;
	}
	return 0;
}

/*
 * Profilers use SIGPROF, so a real-time signal without a handler is preferred. None under Valgrind 3.24: it ends the
 * program for a handler with SA_ONSTACK whose frame needs another page of the main thread's stack. If the program was
 * started with all of them ignored, one is taken and stays ignored as far as the program knows.
 */
static int choose_signal(void)
{
	struct sigaction action;
	int number;

	if (tpc_under_valgrind())
		return 0;
	number = choose_real_time(SIG_DFL, &action);
	if (number)
		return number;
	number = choose_real_time(SIG_IGN, &action);
	if (number && tpc_cpu_keep(&action))
		return number;
	return is_set_to(SIGPROF, SIG_DFL, &action) ? SIGPROF : 0;
}

void tpc_cpu_start(void)
{
	int number = tpc_load(&chosen);

	if (number < 0 || !tpc_state_has_trace())
		return;
	if (!number) {
		number = choose_signal();
		tpc_store(&chosen, number);
	}
	if (!number || !tpc_cpu_install((uint32_t)number))
		return;
	tpc_header->control_signal = (uint32_t)number;
	if (tpc_config.cpu) {
		tpc_header->cpu_signal = (uint32_t)number;
		tpc_header->cpu_period_ns = period_ns();
	}
	tpc_store(&handled, (uint32_t)number);
	tpc_store(&signal_number, (uint32_t)number);
	if (tpc_self)
		tpc_cpu_attach(tpc_self);
}

void tpc_cpu_hold(void)
{
	tpc_store(&held, (uint32_t)tpc_sys_gettid());
}

void tpc_cpu_go_on(void)
{
	uint64_t set = tpc_cpu_signal() ? UINT64_C(1) << (tpc_cpu_signal() - 1) : 0;

	while (set && tpc_syscall(SYS_rt_sigtimedwait, &set, 0, &(struct timespec){ 0 }, sizeof(set)) > 0)
		continue; /* it is pending no longer */
	tpc_store(&held, 0u);
	if (tpc_self && tpc_load(&tpc_state.mode) == TPC_MODE_ON)
		tpc_cpu_attach(tpc_self);
}

void tpc_cpu_rest(void)
{
	tpc_threads_each(delete_timer);
}

void tpc_cpu_stop(void)
{
	struct sigaction action;
	uint32_t number;

	tpc_cpu_bequeath();
	number = tpc_exchange(&signal_number, 0);
	tpc_store(&chosen, -1);
	if (tpc_header)
		tpc_store(&tpc_header->control_signal, UINT64_C(0));
	tpc_threads_each(delete_timer);
	if (number && tpc_cpu_kept(&action)) /* else ours stays: a timer's signal may be pending */
		give_back((int)number);
	tpc_cpu_let_go(); /* no more system calls for it */
}

void tpc_cpu_step_aside(void)
{
	tpc_cpu_bequeath();
	if (!tpc_exchange(&signal_number, 0))
		return;
	tpc_store(&chosen, -1);
	tpc_threads_each(delete_timer);
	if (tpc_header)
		tpc_store(&tpc_header->control_signal, UINT64_C(0));
	if (!tpc_config.cpu)
		return;
	if (tpc_header)
		tpc_store(&tpc_header->cpu_stopped, 1u);
	tpc_log("CPU sampling ended: the program uses its signal itself", "");
}
