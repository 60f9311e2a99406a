/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/tracee.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"

#define STOP_TRIES 30000 /* of 100 us: the thread may have to wait for a processor */
#define RED_ZONE 128	 /* bytes below the stack pointer that belong to the thread (System V ABI 3.2.2) */
#define STATE_MAX 16384	 /* bytes of the vector registers */
#define RETURN 0	 /* a call returns there: no code, so the thread stops */

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
}

static bool request(const struct tpa_tracee *tracee, int what, void *address, void *data)
{
	return ptrace((enum __ptrace_request)what, tracee->tid, address, data) == 0;
}

/* Waits until the thread has stopped; 0, or EAGAIN. Signals that come first are the program's. */
static int wait_for_stop(const struct tpa_tracee *tracee)
{
	int status;

	for (int i = 0; i < STOP_TRIES; i++) {
		pid_t got = waitpid(tracee->tid, &status, __WALL | WNOHANG);

		if (got < 0 || (got > 0 && !WIFSTOPPED(status)))
			return ESRCH;
		if (got > 0 && status >> 16 == PTRACE_EVENT_STOP)
			return 0;
		if (got > 0)
			request(tracee, PTRACE_CONT, NULL, (void *)(uintptr_t)WSTOPSIG(status));
		else
			nap();
	}
	return EAGAIN;
}

/* Only a thread that has stopped can be let go: one that waits in the kernel is left when it comes back. */
static void abandon(const struct tpa_tracee *tracee)
{
	int status;

	for (int i = 0; i < STOP_TRIES; i++) {
		if (waitpid(tracee->tid, &status, __WALL | WNOHANG) > 0)
			break;
		nap();
	}
	request(tracee, PTRACE_DETACH, NULL, NULL);
}

int tpa_tracee_begin_stop(struct tpa_tracee *tracee, pid_t pid, pid_t tid)
{
	int error = 0;

	*tracee = (struct tpa_tracee){ .pid = pid, .tid = tid };
	if (!request(tracee, PTRACE_SEIZE, NULL, NULL))
		return errno;
	tracee->stopped_ns = tpa_now_ns(CLOCK_MONOTONIC);
	if (!request(tracee, PTRACE_INTERRUPT, NULL, NULL)) {
		error = errno;
		abandon(tracee);
	}
	return error;
}

int tpa_tracee_end_stop(struct tpa_tracee *tracee)
{
	int error = wait_for_stop(tracee);

	if (!error && !request(tracee, PTRACE_GETREGS, NULL, &tracee->registers))
		error = errno;
	if (error)
		abandon(tracee);
	return error;
}

int tpa_tracee_stop(struct tpa_tracee *tracee, pid_t pid, pid_t tid)
{
	int error = tpa_tracee_begin_stop(tracee, pid, tid);

	return error ? error : tpa_tracee_end_stop(tracee);
}

bool tpa_tracee_step(struct tpa_tracee *tracee)
{
	int status;

	if (!request(tracee, PTRACE_SINGLESTEP, NULL, NULL) || waitpid(tracee->tid, &status, __WALL) < 0 ||
	    !WIFSTOPPED(status) || !request(tracee, PTRACE_GETREGS, NULL, &tracee->registers))
		return false;
	tracee->signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	return !tracee->signal;
}

void tpa_tracee_block_signals(struct tpa_tracee *tracee)
{
	uint64_t all = ~UINT64_C(0);

	tracee->blocked = request(tracee, PTRACE_GETSIGMASK, (void *)sizeof(all), &tracee->mask) &&
			  request(tracee, PTRACE_SETSIGMASK, (void *)sizeof(all), &all);
}

void tpa_tracee_release(struct tpa_tracee *tracee)
{
	uint64_t mask;

	/* What was unblocked meanwhile stays so. */
	if (tracee->blocked && request(tracee, PTRACE_GETSIGMASK, (void *)sizeof(mask), &mask)) {
		mask &= tracee->mask;
		request(tracee, PTRACE_SETSIGMASK, (void *)sizeof(mask), &mask);
	}
	request(tracee, PTRACE_SETREGS, NULL, &tracee->registers);
	request(tracee, PTRACE_DETACH, NULL, (void *)(uintptr_t)tracee->signal);
}

static bool write_memory(const struct tpa_tracee *tracee, uint64_t address, const void *bytes, size_t size)
{
	struct iovec from = { (void *)(uintptr_t)bytes, size }, to = { (void *)(uintptr_t)address, size };

	return process_vm_writev(tracee->pid, &from, 1, &to, 1, 0) == (ssize_t)size;
}

/* Runs it until it returns from the call. Signals that come meanwhile are the program's. */
static bool run_call(struct tpa_tracee *tracee, uint64_t *result)
{
	struct user_regs_struct now;
	int signal = 0, status;

	for (;;) {
		if (!request(tracee, PTRACE_CONT, NULL, (void *)(uintptr_t)signal) ||
		    waitpid(tracee->tid, &status, __WALL) < 0 || !WIFSTOPPED(status) ||
		    !request(tracee, PTRACE_GETREGS, NULL, &now))
			return false;
		signal = status >> 16 ? 0 : WSTOPSIG(status);
		if (signal == SIGSEGV && now.rip == RETURN)
			break;
	}
	*result = now.rax;
	return true;
}

bool tpa_tracee_call(struct tpa_tracee *tracee, uint64_t function, const uint64_t arguments[3], const void *text,
		     size_t text_bytes, uint64_t *result)
{
	static uint8_t state[STATE_MAX]; /* a function may change the vector registers */
	struct iovec vectors = { state, sizeof(state) };
	struct user_regs_struct call = tracee->registers;
	uint64_t at = (call.rsp - RED_ZONE - text_bytes) & ~UINT64_C(63), back = RETURN, passed[3];
	bool good;

	for (int i = 0; i < 3; i++)
		passed[i] = arguments[i] == TPA_TRACEE_TEXT ? at : arguments[i];
	call.rdi = passed[0];
	call.rsi = passed[1];
	call.rdx = passed[2];
	call.rsp = at - sizeof(back);
	call.rip = function;
	call.rax = 0;
	call.orig_rax = UINT64_MAX; /* in no system call */
	good = request(tracee, PTRACE_GETREGSET, (void *)(uintptr_t)NT_X86_XSTATE, &vectors) &&
	       write_memory(tracee, at, text, text_bytes) && write_memory(tracee, call.rsp, &back, sizeof(back)) &&
	       request(tracee, PTRACE_SETREGS, NULL, &call) && run_call(tracee, result);
	return good && request(tracee, PTRACE_SETREGSET, (void *)(uintptr_t)NT_X86_XSTATE, &vectors) &&
	       request(tracee, PTRACE_SETREGS, NULL, &tracee->registers);
}

bool tpa_tracee_read(const struct tpa_tracee *tracee, uint64_t address, void *to, size_t size)
{
	struct iovec into = { to, size }, from = { (void *)(uintptr_t)address, size };

	return process_vm_readv(tracee->pid, &into, 1, &from, 1, 0) == (ssize_t)size;
}

void tpa_tracee_text(const struct tpa_tracee *tracee, uint64_t address, char *text, size_t size)
{
	struct iovec to = { text, size - 1 }, from = { (void *)(uintptr_t)address, size - 1 };
	ssize_t got = process_vm_readv(tracee->pid, &to, 1, &from, 1, 0);

	text[got > 0 ? got : 0] = 0;
}
