/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For a waiting thread the kernel tells the stack pointer and the program counter, and nothing else without stopping
 * it. From there the stack is walked outwards to the return address of the last call that went through a stub. If the
 * walk gets there, the thread is still in that call, and its registers are as they were noted, or saved on the stack
 * below.
 */
#include "hooks/leakcheck/registers.h"

#include "core/state.h"
#include "core/sys.h"
#include "core/text.h"
#include "stacks/lately.h"

#define FRAMES_MAX 16 /* frames of libc's, from the call to where it waits */

/* Reads a file of the thread in /proc, NUL-terminated. */
static bool read_file(const struct tpc_thread *thread, const char *name, char *buffer, size_t size)
{
	char path[64];
	struct tpc_text text = tpc_text_in(path, sizeof(path));
	long got = -1;
	int fd;

	tpc_text_add(&text, "/proc/self/task/");
	tpc_text_add_number(&text, tpc_load(&thread->tid));
	tpc_text_add(&text, name);
	fd = tpc_sys_open(path, O_RDONLY, 0);
	if (fd >= 0) {
		got = tpc_sys_read(fd, buffer, size - 1);
		tpc_sys_close(fd);
	}
	buffer[got > 0 ? got : 0] = 0;
	return got > 0;
}

/* Parses "0x...", of the last two words. */
static uint64_t hexadecimal(const char *at)
{
	uint64_t n = 0;

	for (at += 2; (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f'); at++)
		n = n << 4 | (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
	return n;
}

/*
 * Parses "running", or "NUMBER ARGUMENT... SP PC"; NUMBER -1: it waits, but not in a system call (a page fault, a
 * debugger).
 */
static enum tpc_waits parse_call(char *line, struct tpc_waiting *waiting)
{
	char *pc, *sp;

	if (line[0] == 'r')
		return TPC_RUNS;
	pc = strrchr(line, ' ');
	if (!pc)
		return TPC_RUNS;
	*pc = 0;
	sp = strrchr(line, ' ');
	if (!sp)
		return TPC_RUNS;
	waiting->sp = hexadecimal(sp + 1);
	waiting->pc = hexadecimal(pc + 1);
	return TPC_WAITS;
}

/* Both kinds: the thread left the processor to wait, or was preempted. A waiting thread does neither. */
static bool read_switches(const struct tpc_thread *thread, uint64_t *switches)
{
	static const char *const kinds[] = { "\nvoluntary_ctxt_switches:\t", "\nnonvoluntary_ctxt_switches:\t" };
	char status[3072];
	const char *at = status;

	*switches = 0;
	if (!read_file(thread, "/status", status, sizeof(status)))
		return false;
	for (size_t i = 0; i < TPC_LENGTH(kinds); i++) {
		uint64_t n;

		at = strstr(at, kinds[i]);
		if (!at)
			return false;
		at += strlen(kinds[i]);
		if (!tpc_text_number(&at, &n))
			return false;
		*switches += n;
	}
	return true;
}

/* If a rule needs an unknown register, it is unknown where the stack leads. */
static bool leads_to(const struct tpc_waiting *waiting, const struct tpc_wait *call)
{
	uint64_t sp = waiting->sp, pc = waiting->pc, word;

	for (int i = 0; i < FRAMES_MAX && sp <= call->sp; i++) {
		struct tpc_rule rule = tpc_rule_lately(pc, i == 0).rule;

		if (rule.guessed || rule.kind != TPC_RULE_SP || rule.cfa < 8)
			return false;
		sp += (uint64_t)rule.cfa;
		if (!tpc_sys_copy(&word, sp - 8,
				  sizeof(word))) /* the thread may have ended, and its stack may be unmapped */
			return false;
		if (sp - 8 == call->sp)
			return word == call->caller;
		pc = word;
	}
	return false;
}

/* Has a later call from the same place also been noted? */
static bool calls_one(uint64_t caller)
{
	uint8_t code[TPC_ARCH_CALL_BYTES];

	return tpc_sys_copy(code, caller - sizeof(code), sizeof(code)) && tpc_arch_calls_one(code);
}

struct tpc_waiting tpc_wait_look(const struct tpc_thread *thread)
{
	struct tpc_waiting waiting = { .state = TPC_RUNS };
	char line[256];

	/* Reads the switches first: if a second look finds the same number, everything else was unchanged in between. */
	waiting.counted = read_switches(thread, &waiting.switches);

	if (read_file(thread, "/syscall", line, sizeof(line)))
		waiting.state = parse_call(line, &waiting);
	if (waiting.state == TPC_WAITS && waiting.counted && thread->wait.sp && leads_to(&waiting, &thread->wait))
		waiting.state = TPC_IS_KEPT;
	waiting.sure = waiting.state == TPC_IS_KEPT && calls_one(thread->wait.caller);
	return waiting;
}

bool tpc_wait_is_still(const struct tpc_thread *thread, const struct tpc_waiting *earlier)
{
	struct tpc_waiting now = { .state = TPC_RUNS };
	char line[256];

	return read_file(thread, "/syscall", line, sizeof(line)) && parse_call(line, &now) == TPC_WAITS &&
	       now.sp == earlier->sp && now.pc == earlier->pc && read_switches(thread, &now.switches) &&
	       now.switches == earlier->switches;
}
