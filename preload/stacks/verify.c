/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/verify.h"

#ifdef TPROF_VERIFY

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "core/say.h"
#include "core/text.h"

#include <dlfcn.h>
#include <stdlib.h>

#define FRAMES_MAX 1800
#define REPORTS_MAX 20

static uint64_t compared, different, reported;

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

void tp_verify_walk(const struct tp_thread *thread, struct tp_registers at)
{
	static __thread uintptr_t ours[FRAMES_MAX];
	static __thread void *theirs[FRAMES_MAX];
	size_t count = tp_walk_last(thread, ours, FRAMES_MAX);
	int got = unw_backtrace(theirs, FRAMES_MAX);
	int skip = 0;

	while (skip < got && (uintptr_t)theirs[skip] != at.pc) /* this library's own frames */
		skip++;
	got -= skip;
	tp_add(&compared, 1);
	for (size_t i = 0; i < count || i < (size_t)got; i++) {
		if (i < count && i < (size_t)got && ours[i] == (uintptr_t)theirs[skip + (int)i])
			continue;
		tp_add(&different, 1);
		report(ours, count, theirs + skip, (size_t)got, i);
		return;
	}
}

/* The last line on stderr: what the tests read. */
__attribute__((destructor)) static void summarize(void)
{
	char line[128];
	struct tp_text text = tp_text_in(line, sizeof(line));

	tp_text_add(&text, "tprof-verify: walks ");
	tp_text_add_number(&text, compared);
	tp_text_add(&text, " different ");
	tp_text_add_number(&text, different);
	tp_text_add(&text, "\n");
	tp_say_text(line, text.length);
}

#endif
