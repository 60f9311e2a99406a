/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_jumps HOW: a signal handler leaves a call of an op by siglongjmp, at its first instruction, its second, and so on, until it
 * comes through. Each try is within a call of tiny_call(), and cblas_saxpy() is called after it.
 *   events  cblas_sdot, as a call of which there are few
 *   folded  the same, as one of very many
 *   within  one of very many calls of tiny_call, in which, this time, cblas_sdot is called
 * How many tries there were goes to the file that TRUTH_FILE names.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "stepping.h"
#include "tinyblas.h"

#define WARM 1500 /* calls */

static sigjmp_buf back;
static volatile long tries, left; /* `left`: instructions until it jumps */
static volatile sig_atomic_t stepping, through;
static const char *how;
static float x[4] = { 1, 2, 3, 4 }, y[4];

static void on_step(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	if (!stepping) {
		((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
		return;
	}
	if (left-- > 0)
		return;
	stepping = 0;
	siglongjmp(back, 1);
}

static void nothing(void)
{
}

static void dot(void)
{
	cblas_sdot(4, x, 1, x, 1);
}

static void call(int warm)
{
	if (strcmp(how, "within") != 0)
		dot();
	else
		tiny_call(warm ? nothing : dot);
}

static void try_one(void)
{
	for (int i = 0; i < WARM && strcmp(how, "events") != 0; i++)
		call(1);
	left = tries;
	if (sigsetjmp(back, 1) == 0) {
		stepping = 1;
		step_from_here();
		call(0);
		stepping = 0;
		through = 1;
	}
	cblas_saxpy(4, 2, x, 1, y, 1);
	tries++;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };
	const char *name = getenv("TRUTH_FILE");
	FILE *file;

	how = argc > 1 ? argv[1] : "events";
	if (sigaction(SIGTRAP, &action, NULL))
		return 1;
	dot(); /* the loader is not to be left half-way */
	tiny_call(nothing);
	cblas_saxpy(4, 2, x, 1, y, 1);
	while (!through)
		tiny_call(try_one);
	file = name ? fopen(name, "w") : NULL;
	if (!file)
		return 2;
	fprintf(file, "{\"tries\": %ld}\n", tries);
	fclose(file);
	puts("op_jumps: done");
	return 0;
}
