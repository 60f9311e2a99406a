/* SPDX-License-Identifier: Apache-2.0 */
/*
 * free_faults: frees what is no block, so that libc's free() faults, TRIES times over; its handler looks who called that.
 * Says whether that was this program itself, most of the times: a profiler has more to do now and then.
 */
#include "truth.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#define TRIES 20

static sigjmp_buf back;
static int direct;

/* The first frame that is not libc's, behind the handler's own. */
static void handle(int number)
{
	void *frames[32];
	int count = backtrace(frames, 32); /* NOLINT(bugprone-signal-handler): as crash handlers do */
	Dl_info own, info;

	(void)number;
	dladdr((void *)handle, &own); /* NOLINT(bugprone-signal-handler): it takes no lock that free() holds */
	for (int i = 1; i < count; i++) {
		if (!dladdr(frames[i], &info) || !info.dli_fname)
			truth_die("no object");
		if (strstr(info.dli_fname, "/libc.so"))
			continue;
		direct += info.dli_fbase == own.dli_fbase;
		break;
	}
	siglongjmp(back, 1);
}

int main(void)
{
	char *pages = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *first[1];

	if (pages == MAP_FAILED)
		truth_die("mmap");
	backtrace(first, 1); /* loads what it needs, which allocates */
	signal(SIGSEGV, handle);
	for (volatile int i = 0; i < TRIES; i++) {
		free(malloc(1)); /* a call that comes back */
		if (!sigsetjmp(back, 1))
			free(pages + 4096 + i * 16);
	}
	printf("called by the program: %s\n", direct > TRIES / 2 ? "yes" : "no");
	return 0;
}
