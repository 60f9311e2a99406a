/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/verify.h"

#ifdef TPROF_VERIFY

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "core/say.h"
#include "core/state.h"
#include "core/text.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>

#define FRAMES_MAX 1800
#define REPORTS_MAX 20

static uint64_t compared, interrupted, different, ended_early, astray, reported;

static void add_pc(struct tp_text *text, uintptr_t pc)
{
	Dl_info info;

	if (dladdr((void *)pc, &info) && info.dli_fname) {
		tp_text_add(text, tp_text_base(info.dli_fname));
		tp_text_add(text, ":");
		tp_text_add(text, info.dli_sname ? info.dli_sname : "?");
		tp_text_add(text, "+");
		tp_text_add_number(text, pc - (uintptr_t)(info.dli_sname ? info.dli_saddr : info.dli_fbase));
	} else {
		tp_text_add_number(text, pc);
	}
}

static void report(const uintptr_t *ours, size_t count, void *const *theirs, size_t their_count, size_t at)
{
	static char line[8192];
	struct tp_text text = tp_text_in(line, sizeof(line));

	if (tp_add(&reported, 1) >= REPORTS_MAX)
		return;
	tp_text_add(&text, "tprof-verify: different at frame ");
	tp_text_add_number(&text, at);
	tp_text_add(&text, " of ours ");
	tp_text_add_number(&text, count);
	tp_text_add(&text, ", libunwind's ");
	tp_text_add_number(&text, their_count);
	for (size_t i = at < 3 ? 0 : at - 3; i < at + 4; i++) {
		tp_text_add(&text, "\n  ");
		tp_text_add_number(&text, i);
		tp_text_add(&text, " ");
		if (i < count)
			add_pc(&text, ours[i]);
		tp_text_add(&text, " | ");
		if (i < their_count)
			add_pc(&text, (uintptr_t)theirs[i]);
	}
	tp_text_add(&text, "\n");
	tp_say_text(line, text.length);
}

/*
 * libunwind has a lock, and waits for the loader's while it holds it. A thread that allocates, or is sampled, while it
 * has the loader's must not wait for libunwind's for ever: it goes without the comparison.
 */
static uint32_t comparing; /* pid of the process that a thread is at it of; a child's copy may have its parent's */

static bool enter(uint32_t patience)
{
	for (;;) {
		uint32_t holder = tp_load(&comparing);

		if (holder != tp_state.pid && tp_swap_if(&comparing, holder, tp_state.pid))
			return true;
		if (!patience--)
			return false;
		sched_yield();
	}
}

static void leave(void)
{
	tp_store_release(&comparing, 0u);
}

static __thread uintptr_t ours[FRAMES_MAX];
static __thread void *theirs[FRAMES_MAX];

/*
 * Is libunwind's walk no reference from here on? It goes to what is no code, where ours goes on in code: assembly whose rules
 * say that rbp is still on the stack when it has been popped, or that has none, where libunwind follows rbp but takes rsp to
 * be 16 further on (kernels of OpenBLAS), leads it there.
 */
static bool is_astray(size_t at, size_t count, void *const *their, size_t their_count)
{
	Dl_info info;

	return at < their_count && at < count && !dladdr(their[at], &info) && dladdr((void *)ours[at], &info);
}

/*
 * A walk's frames are known by twice their address. Behind the end of a greenlet's stack may stand any number: its highest bit
 * is not kept.
 */
static bool is_same(uintptr_t our, const void *their)
{
	return (our ^ (uintptr_t)their) << 1 == 0;
}

/* `may_end`: our walk stopped where no rule led on, and is marked as such in the trace: it is as far as it goes. */
static void compare(size_t count, void *const *their, size_t their_count, bool interrupted_here, bool may_end)
{
	for (size_t i = 0; i < count || i < their_count; i++) {
		if (i < count && i < their_count && is_same(ours[i], their[i]))
			continue;
		if (may_end && i == count) {
			tp_add(&ended_early, 1);
			return;
		}
		if (interrupted_here && is_astray(i, count, their, their_count)) {
			tp_add(&astray, 1);
			return;
		}
		tp_add(&different, 1);
		report(ours, count, their, their_count, i);
		return;
	}
}

extern void *__tls_get_addr(void *index);

#define NEAR 8		  /* frames from an allocation of the loader's to that function */
#define TLS_GET_ADDR 256u /* bytes of code, at most */

/* Is the loader making room for thread-local variables? libunwind has some itself: it would be entered again. */
static bool makes_room(size_t count)
{
	for (size_t i = 0; i < count && i < NEAR; i++) {
		if (ours[i] - (uintptr_t)__tls_get_addr < TLS_GET_ADDR)
			return true;
	}
	return false;
}

void tp_verify_walk(const struct tp_thread *thread, struct tp_registers at)
{
	size_t count = tp_walk_last(thread, ours, FRAMES_MAX);
	int got, skip = 0;

	if (makes_room(count) || !enter(1000000))
		return;
	got = unw_backtrace(theirs, FRAMES_MAX);
	leave();
	while (skip < got && (uintptr_t)theirs[skip] != at.pc) /* this library's own frames */
		skip++;
	tp_add(&compared, 1);
	compare(count, theirs + skip, (size_t)(got - skip), false, false);
}

void tp_verify_interrupted(const struct tp_thread *thread, const void *context)
{
	size_t count = tp_walk_last(thread, ours, FRAMES_MAX), got = 0;
	unw_cursor_t cursor;
	unw_word_t pc;

	if (!enter(0))
		return;
	unw_init_local2(&cursor, (unw_context_t *)(uintptr_t)context, UNW_INIT_SIGNAL_FRAME);
	do {
		if (unw_get_reg(&cursor, UNW_REG_IP, &pc) < 0 || !pc)
			break;
		theirs[got++] = (void *)pc;
	} while (got < FRAMES_MAX && unw_step(&cursor) > 0);
	leave();
	tp_add(&interrupted, 1);
	compare(count, theirs, got, true, tp_walk_last_short(thread));
}

/* The last line on stderr: what the tests read. */
__attribute__((destructor)) static void summarize(void)
{
	char line[128];
	struct tp_text text = tp_text_in(line, sizeof(line));

	tp_text_add(&text, "tprof-verify: walks ");
	tp_text_add_number(&text, compared);
	tp_text_add(&text, " interrupted ");
	tp_text_add_number(&text, interrupted);
	tp_text_add(&text, " early ");
	tp_text_add_number(&text, ended_early);
	tp_text_add(&text, " astray ");
	tp_text_add_number(&text, astray);
	tp_text_add(&text, " different ");
	tp_text_add_number(&text, different);
	tp_text_add(&text, "\n");
	tp_say_text(line, text.length);
}

#endif
