/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/verify.h"

#ifdef TPROF_VERIFY

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "core/log.h"
#include "core/state.h"
#include "core/text.h"
#include "stacks/split.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>

#define FRAMES_MAX 1800
#define OWN_FRAMES 32 /* of this library */
#define REPORTS_MAX 20

static __thread uintptr_t ours[FRAMES_MAX];
static __thread void *theirs[FRAMES_MAX + OWN_FRAMES];
static tpc_shared_u64 compared, interrupted, different, ended_early, astray, guessed, reported;

static void add_pc(struct tpc_text *text, uintptr_t pc)
{
	Dl_info info;

	if (dladdr((void *)pc, &info) && info.dli_fname) {
		tpc_text_add(text, tpc_text_base(info.dli_fname));
		tpc_text_add(text, ":");
		tpc_text_add(text, info.dli_sname ? info.dli_sname : "?");
		tpc_text_add(text, "+");
		tpc_text_add_number(text, pc - (uintptr_t)(info.dli_sname ? info.dli_saddr : info.dli_fbase));
	} else {
		tpc_text_add_number(text, pc);
	}
}

static void report(size_t count, size_t their_count, size_t at)
{
	static char line[8192];
	struct tpc_text text = tpc_text_in(line, sizeof(line));

	if (tpc_add(&reported, 1) >= REPORTS_MAX)
		return;
	tpc_text_add(&text, "tprof-verify: different at frame ");
	tpc_text_add_number(&text, at);
	tpc_text_add(&text, " of ours ");
	tpc_text_add_number(&text, count);
	tpc_text_add(&text, ", libunwind's ");
	tpc_text_add_number(&text, their_count);
	for (size_t i = at < 3 ? 0 : at - 3; i < at + 4; i++) {
		tpc_text_add(&text, "\n  ");
		tpc_text_add_number(&text, i);
		tpc_text_add(&text, " ");
		if (i < count)
			add_pc(&text, ours[i]);
		tpc_text_add(&text, " | ");
		if (i < their_count)
			add_pc(&text, (uintptr_t)theirs[i]);
	}
	tpc_text_add(&text, "\n");
	tpc_log_text(line, text.length);
}

/*
 * libunwind holds a lock while it waits for the loader's. A thread that allocates, or is sampled, while it holds the
 * loader's must not wait for libunwind's: it skips the comparison.
 */
static tpc_shared_u32 comparing; /* pid of the process in which a thread compares; a child may have its parent's */

static bool enter(uint32_t patience)
{
	for (;;) {
		uint32_t holder = tpc_load(&comparing);

		if (holder != tpc_state.pid && tpc_swap_if(&comparing, holder, tpc_state.pid))
			return true;
		if (!patience--)
			return false;
		sched_yield();
	}
}

static void leave(void)
{
	tpc_store_release(&comparing, 0u);
}

/* What libunwind found, in theirs[]. */
struct reference {
	size_t count;
	size_t guessed;	  /* the first frame without rules: it follows rbp there, and guesses rsp */
	bool interrupted; /* it began where the thread was interrupted */
	bool split;	  /* the thread's stack is in segments: our walks end where a segment does */
	bool gave_up;	  /* its last frame was such a frame, with rbp too far away */
};

/* Here libunwind's walk is outside of code, or has given up, while ours continues in code: it is no longer a reference. */
static bool is_lost(size_t at, size_t count, const struct reference *reference)
{
	Dl_info info;

	if (!reference->interrupted || at >= count || !dladdr((void *)ours[at], &info))
		return false;
	return at < reference->count ? !dladdr(theirs[at], &info) : reference->gave_up;
}

/*
 * Frames of a walk are identified by twice their address. After the end of a greenlet's stack there may be any number:
 * its highest bit is lost.
 */
static bool is_same(uintptr_t our, const void *their)
{
	return (our ^ (uintptr_t)their) << 1 == 0;
}

/* Does our walk end here, and the trace say so: in a frame that no rule leads out of, or at the end of a segment? */
static bool is_short(size_t at, size_t count, uint32_t root, const struct reference *reference)
{
	return at == count && root == TPROF_NODE_SHORT && (reference->interrupted || reference->split);
}

/* Has our walk read a frame's rule from its code? libunwind follows rbp there, and is no reference further out. */
static bool guesses(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (tpc_frame_find(ours[i], false).rule.guessed || tpc_frame_find(ours[i], true).rule.guessed)
			return true;
	}
	return false;
}

/* `root`: how our walk ended; of a walk that is deeper than what is kept, the inner frames are compared. */
static void compare(size_t count, uint32_t root, const struct reference *reference)
{
	for (size_t i = 0; i < count || i < reference->count; i++) {
		if (i < count && i < reference->count && is_same(ours[i], theirs[i]))
			continue;
		if ((i == count || i == FRAMES_MAX) && root == TPROF_NODE_CUT)
			return;
		if (is_short(i, count, root, reference)) {
			tpc_add(&ended_early, 1);
		} else if (guesses(i < count ? i : count)) {
			tpc_add(&guessed, 1);
		} else if (is_lost(i, count, reference)) {
			tpc_add(reference->guessed < i ? &guessed : &astray, 1);
		} else {
			tpc_add(&different, 1);
			report(count, reference->count, i);
		}
		return;
	}
}

extern void *__tls_get_addr(void *index);

#define NEAR 8		  /* frames from an allocation of the loader's to that function */
#define TLS_GET_ADDR 256u /* bytes of code, at most */

/* Is the loader allocating thread-local variables? libunwind has some itself and would be entered again. */
static bool makes_room(size_t count)
{
	for (size_t i = 0; i < count && i < NEAR; i++) {
		if (ours[i] - (uintptr_t)__tls_get_addr < TLS_GET_ADDR)
			return true;
	}
	return false;
}

#define LIBUNWIND_BYTES 16384u /* of stack, more than it uses */

/* A segment of a split stack may be too small for libunwind. A sample's walk is on the handler's stack. */
static bool has_room(void)
{
	uintptr_t end = tpc_split_stack_end(), here = (uintptr_t)__builtin_frame_address(0);

	return !end || (here > end && here - end >= LIBUNWIND_BYTES);
}

void tpc_verify_walk(const struct tpc_thread *thread, struct tpc_registers at)
{
	size_t count = tpc_walk_last(thread, ours, FRAMES_MAX), skip = 0;
	struct reference reference = { .split = tpc_split_stack_end() };

	if (makes_room(count) || !has_room() || !enter(1000000))
		return;
	reference.count = (size_t)unw_backtrace(theirs, FRAMES_MAX + OWN_FRAMES);
	leave();
	while (skip < reference.count && (uintptr_t)theirs[skip] != at.pc) /* this library's own frames */
		skip++;
	reference.count -= skip;
	for (size_t i = 0; skip && i < reference.count; i++)
		theirs[i] = theirs[i + skip];
	tpc_add(&compared, 1);
	compare(count, tpc_walk_last_root(thread), &reference);
}

#define BP_FAR 0x4000u /* libunwind's src/x86_64/Gstep.c: by rbp it goes no further */

/* Kernels of OpenBLAS are assembly without rules. */
static void note_frame(struct reference *reference, unw_cursor_t *cursor, unw_word_t pc)
{
	unw_proc_info_t info;
	unw_word_t sp, bp;
	bool rules = unw_get_proc_info_by_ip(unw_local_addr_space, pc, &info, NULL) != -UNW_ENOINFO;

	if (!rules && reference->guessed > reference->count)
		reference->guessed = reference->count;
	reference->gave_up = !rules && unw_get_reg(cursor, UNW_REG_SP, &sp) == 0 &&
			     unw_get_reg(cursor, UNW_X86_64_RBP, &bp) == 0 && bp - sp > BP_FAR;
	theirs[reference->count++] = (void *)pc;
}

void tpc_verify_interrupted(const struct tpc_thread *thread, const void *context)
{
	size_t count = tpc_walk_last(thread, ours, FRAMES_MAX);
	struct reference reference = { .guessed = SIZE_MAX, .interrupted = true, .split = tpc_split_stack_end() };
	unw_cursor_t cursor;
	unw_word_t pc;

	if (!enter(0))
		return;
	unw_init_local2(&cursor, (unw_context_t *)(uintptr_t)context, UNW_INIT_SIGNAL_FRAME);
	do {
		if (unw_get_reg(&cursor, UNW_REG_IP, &pc) < 0 || !pc)
			break;
		note_frame(&reference, &cursor, pc);
	} while (reference.count < FRAMES_MAX && unw_step(&cursor) > 0);
	leave();
	tpc_add(&interrupted, 1);
	compare(count, tpc_walk_last_root(thread), &reference);
}

/* The last line on stderr: what the tests read. */
__attribute__((destructor)) static void summarize(void)
{
	char line[128];
	struct tpc_text text = tpc_text_in(line, sizeof(line));

	tpc_text_add(&text, "tprof-verify: walks ");
	tpc_text_add_number(&text, tpc_load(&compared));
	tpc_text_add(&text, " interrupted ");
	tpc_text_add_number(&text, tpc_load(&interrupted));
	tpc_text_add(&text, " early ");
	tpc_text_add_number(&text, tpc_load(&ended_early));
	tpc_text_add(&text, " astray ");
	tpc_text_add_number(&text, tpc_load(&astray));
	tpc_text_add(&text, " guessed ");
	tpc_text_add_number(&text, tpc_load(&guessed));
	tpc_text_add(&text, " different ");
	tpc_text_add_number(&text, tpc_load(&different));
	tpc_text_add(&text, "\n");
	tpc_log_text(line, text.length);
}

#endif
