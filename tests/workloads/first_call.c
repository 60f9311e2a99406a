/* SPDX-License-Identifier: Apache-2.0 */
/*
 * first_call NAME: the process's very first call of a hooked function is NAME, before any constructor has run. Says what came
 * of it. Big enough that no arena for small things at start-up could serve it.
 */
#include "truth.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define BIG 1000000

static struct truth counts;
static char line[256];

static void say(long value, int is_right)
{
	snprintf(line, sizeof(line), "first_call: %ld, %s\n", value, is_right ? "right" : "wrong");
}

/* Writes to all of it. */
static void use(void *block, size_t alignment)
{
	say(block != NULL, (uintptr_t)block % alignment == 0);
	if (!block)
		return;
	truth_alloc(&counts, BIG);
	memset(block, 1, BIG);
	truth_free(&counts, BIG);
	free(block);
}

static void call_malloc(void)
{
	use(malloc(BIG), 16);
}

static void call_calloc(void)
{
	use(calloc(1, BIG), 16);
}

static void call_realloc(void)
{
	use(realloc(NULL, BIG), 16);
}

static void call_reallocarray(void)
{
	use(reallocarray(NULL, 1, BIG), 16);
}

static void call_memalign(void)
{
	use(memalign(256, BIG), 256);
}

static void call_aligned_alloc(void)
{
	use(aligned_alloc(64, BIG), 64);
}

static void call_posix_memalign(void)
{
	void *block = NULL;

	if (posix_memalign(&block, 64, BIG) != 0)
		truth_die("posix_memalign");
	use(block, 64);
}

static void call_valloc(void)
{
	use(valloc(BIG), 4096);
}

static void call_pvalloc(void)
{
	use(pvalloc(BIG), 4096);
}

static void call_free(void)
{
	free(NULL);
	say(0, 1);
}

static void call_malloc_usable_size(void)
{
	say((long)malloc_usable_size(NULL), 1);
}

static void call_mmap(void)
{
	void *at = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long result;

	result = at != MAP_FAILED;
	say(result, munmap(at, BIG) == 0);
}

static void *map_plainly(void)
{
	void *at;
	register long r10 __asm__("r10") = MAP_PRIVATE | MAP_ANONYMOUS;
	register long r8 __asm__("r8") = -1;
	register long r9 __asm__("r9") = 0;

	__asm__ volatile("syscall"
			 : "=a"(at)
			 : "a"(SYS_mmap), "D"(0), "S"(4096), "d"(PROT_READ | PROT_WRITE), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return at;
}

static void call_munmap(void)
{
	say(munmap(map_plainly(), 4096), 1);
}

static void call_mremap(void)
{
	say(mremap(map_plainly(), 4096, 8192, MREMAP_MAYMOVE) != MAP_FAILED, 1);
}

static void call_mprotect(void)
{
	void *at = map_plainly();

	say(mprotect(at, 4096, PROT_READ), mprotect((char *)at + 1, 4096, PROT_READ) == -1 && errno == EINVAL);
}

static void handler(int number)
{
	(void)number;
}

static void call_sigaction(void)
{
	struct sigaction action = { .sa_handler = handler }, old;
	long result;

	result = sigaction(SIGUSR1, &action, NULL);
	say(result, sigaction(SIGUSR1, NULL, &old) == 0 && old.sa_handler == handler);
}

static void call_signal(void)
{
	long result;

	result = signal(SIGUSR1, handler) == SIG_DFL;
	say(result, signal(SIGUSR1, SIG_DFL) == handler);
}

static void call_sigaltstack(void)
{
	stack_t stack;
	long result;

	result = sigaltstack(NULL, &stack);
	say(result, stack.ss_flags == SS_DISABLE);
}

static void call_sigprocmask(void)
{
	sigset_t set;
	long result;

	result = sigprocmask(SIG_BLOCK, NULL, &set);
	say(result, sigismember(&set, SIGUSR1) == 0);
}

static void call_pthread_sigmask(void)
{
	sigset_t set;
	long result;

	result = pthread_sigmask(SIG_BLOCK, NULL, &set);
	say(result, sigismember(&set, SIGUSR1) == 0);
}

static void *thread(void *argument)
{
	return argument;
}

static void call_pthread_create(void)
{
	pthread_t id;
	void *back = NULL;
	long result;

	result = pthread_create(&id, NULL, thread, &counts);
	say(result, pthread_join(id, &back) == 0 && back == &counts);
}

static void call_pthread_setname_np(void)
{
	char name[16] = "";
	long result;

	result = pthread_setname_np(pthread_self(), "first");
	say(result, pthread_getname_np(pthread_self(), name, 16) == 0 && name[0] == 'f');
}

static void call_dlopen(void)
{
	say(dlopen("libm.so.6", RTLD_NOW) != NULL, 1);
}

static void call_dlsym(void)
{
	say(dlsym(RTLD_DEFAULT, "getpid") != NULL, 1);
}

static void call_dlclose(void)
{
	say(dlclose(dlopen(NULL, RTLD_NOW)), 1);
}

static void call_prctl(void)
{
	char name[16] = "";
	long result;

	result = prctl(PR_GET_NAME, name, 0, 0, 0);
	say(result, strcmp(name, "first_call") == 0);
}

static void call_syscall(void)
{
	say(syscall(SYS_getpid) == getpid(), 1);
}

static void call__exit(void)
{
	_exit(7);
}

static void call__Exit(void)
{
	_Exit(7);
}

static void say_goodbye(void)
{
	TRUTH_SAY("first_call: goodbye\n");
}

static void call_quick_exit(void)
{
	at_quick_exit(say_goodbye);
	quick_exit(7);
}

static void call_abort(void)
{
	abort();
}

#define CALL(name)                                                                                                     \
	{                                                                                                              \
#name, call_##name                                                                                     \
	}

static const struct {
	const char *name;
	void (*call)(void);
} calls[] = {
	CALL(malloc),
	CALL(calloc),
	CALL(realloc),
	CALL(reallocarray),
	CALL(memalign),
	CALL(aligned_alloc),
	CALL(posix_memalign),
	CALL(valloc),
	CALL(pvalloc),
	CALL(free),
	CALL(malloc_usable_size),
	CALL(mmap),
	CALL(munmap),
	CALL(mremap),
	CALL(mprotect),
	CALL(sigaction),
	CALL(signal),
	CALL(sigaltstack),
	CALL(sigprocmask),
	CALL(pthread_sigmask),
	CALL(pthread_create),
	CALL(pthread_setname_np),
	CALL(dlopen),
	CALL(dlsym),
	CALL(dlclose),
	CALL(prctl),
	CALL(syscall),
	CALL(_exit),
	CALL(_Exit),
	CALL(quick_exit),
	CALL(abort),
};

static void first(int count, char **arguments, char **environment)
{
	(void)environment;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (count == 2 && strcmp(arguments[1], calls[i].name) == 0)
			calls[i].call();
	}
}

__attribute__((section(".preinit_array"), used)) static void (*preinit)(int, char **, char **) = first;

int main(int count, char **arguments)
{
	if (count == 2 && strcmp(arguments[1], "list") == 0) {
		for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
			dprintf(STDOUT_FILENO, "%s\n", calls[i].name);
		return 0;
	}
	truth_say(line, strlen(line));
	truth_write(&counts);
	return 0;
}
