/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of a thread that waits the kernel tells the stack pointer and the program counter, and nothing else without stopping it.
 * From there the stack is walked outwards to the return address of the last call that went through a stub: if it leads there,
 * the thread is in that call still, and its registers are as they were written down, or saved on the stack below.
 */
#include "hooks/leakcheck/registers.h"

#include "core/state.h"
#include "core/sys.h"
#include "core/text.h"
#include "stacks/lately.h"

#define FRAMES_MAX 16 /* of libc's own, from the call to where it waits */

/* What a file of the thread's in /proc says, ended by a 0. */
static bool read_file(const struct tp_thread *thread, const char *name, char *buffer, size_t size)
{
	char path[64];
	struct tp_text text = tp_text_in(path, sizeof(path));
	long got = -1;
	int fd;

	tp_text_add(&text, "/proc/self/task/");
	tp_text_add_number(&text, tp_load(&thread->tid));
	tp_text_add(&text, name);
	fd = tp_sys_open(path, O_RDONLY, 0);
	if (fd >= 0) {
		got = tp_sys_read(fd, buffer, size - 1);
		tp_sys_close(fd);
	}
	buffer[got > 0 ? got : 0] = 0;
	return got > 0;
}

/* "0x..." of the last two words. */
static uint64_t hexadecimal(const char *at)
{
	uint64_t n = 0;

	for (at += 2; (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f'); at++)
		n = n << 4 | (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
	return n;
}

/* "running", or "NUMBER ARGUMENT... SP PC"; NUMBER -1: it waits, but for no system call (a page, a debugger). */
static enum tp_waits parse_call(char *line, struct tp_waiting *waiting)
{
	char *pc, *sp;

	if (line[0] == 'r')
		return TP_RUNS;
	pc = strrchr(line, ' ');
	if (!pc)
		return TP_RUNS;
	*pc = 0;
	sp = strrchr(line, ' ');
	if (!sp)
		return TP_RUNS;
	waiting->sp = hexadecimal(sp + 1);
	waiting->pc = hexadecimal(pc + 1);
	return TP_WAITS;
}

/* Both kinds: it left the processor to wait, or had to. Who waits does neither. */
static bool read_switches(const struct tp_thread *thread, uint64_t *switches)
{
	static const char *const kinds[] = { "\nvoluntary_ctxt_switches:\t", "\nnonvoluntary_ctxt_switches:\t" };
	char status[3072];
	const char *at = status;

	*switches = 0;
	if (!read_file(thread, "/status", status, sizeof(status)))
		return false;
	for (size_t i = 0; i < TP_LENGTH(kinds); i++) {
		uint64_t n;

		at = strstr(at, kinds[i]);
		if (!at)
			return false;
		at += strlen(kinds[i]);
		if (!tp_text_number(&at, &n))
			return false;
		*switches += n;
	}
	return true;
}

/* Where the rules need a register that is not known, it is not known where they lead. */
static bool leads_to(const struct tp_waiting *waiting, const struct tp_wait *call)
{
	uint64_t sp = waiting->sp, pc = waiting->pc, word;

	for (int i = 0; i < FRAMES_MAX && sp <= call->sp; i++) {
		struct tp_rule rule = tp_rule_lately(pc, i == 0).rule;

		if (rule.kind != TP_RULE_SP || rule.cfa < 8)
			return false;
		sp += (uint64_t)rule.cfa;
		if (!tp_sys_copy(&word, sp - 8, sizeof(word))) /* the thread may end, and its stack be unmapped */
			return false;
		if (sp - 8 == call->sp)
			return word == call->caller;
		pc = word;
	}
	return false;
}

/* Has a later call from the same place been written down as well? */
static bool calls_one(uint64_t caller)
{
	uint8_t code[TP_ARCH_CALL_BYTES];

	return tp_sys_copy(code, caller - sizeof(code), sizeof(code)) && tp_arch_calls_one(code);
}

struct tp_waiting tp_wait_look(const struct tp_thread *thread)
{
	struct tp_waiting waiting = { .state = TP_RUNS };
	char line[256];

	/* The switches first: whoever asks again, and finds as many, knows that all else was so between. */
	waiting.counted = read_switches(thread, &waiting.switches);

	if (read_file(thread, "/syscall", line, sizeof(line)))
		waiting.state = parse_call(line, &waiting);
	if (waiting.state == TP_WAITS && waiting.counted && thread->wait.sp && leads_to(&waiting, &thread->wait))
		waiting.state = TP_IS_KEPT;
	waiting.sure = waiting.state == TP_IS_KEPT && calls_one(thread->wait.caller);
	return waiting;
}

bool tp_wait_is_still(const struct tp_thread *thread, const struct tp_waiting *earlier)
{
	struct tp_waiting now = { .state = TP_RUNS };
	char line[256];

	return read_file(thread, "/syscall", line, sizeof(line)) && parse_call(line, &now) == TP_WAITS &&
	       now.sp == earlier->sp && now.pc == earlier->pc && read_switches(thread, &now.switches) &&
	       now.switches == earlier->switches;
}
