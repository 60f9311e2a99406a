/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odd HOW: things that programs do to themselves.
 *   title        write over the memory of the arguments and the environment, as servers do for ps(1), then fork
 *   descriptors  few descriptors, files that come and go, while threads allocate
 *   numbers      count on the lowest free descriptor, and put files there, while threads allocate; few_numbers: there are few
 *   last_numbers the same beside the end of the process
 *   sandbox      give up nearly all system calls, and work on
 *   churn        threads and forks, one after the other, until the file `end` is there
 */
#include "truth.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum { THREADS = 4, ROUNDS = 6000, BATCH = 16, FILES = 20, INSIDE = 300000, INSIDE_SIZE = 100 };

extern char **environ;

static struct truth truth;

static void *allocate(size_t size)
{
	void *p = malloc(size);

	truth_alloc(&truth, size);
	return p;
}

static void release(void *p, size_t size)
{
	truth_free(&truth, size);
	free(p);
}

/* ---- title ---- */

static char *copy_of(const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(allocate(size), text, size);
}

static void set_title(int argc, char **argv, const char *title)
{
	char *end = argv[argc - 1] + strlen(argv[argc - 1]) + 1, **copies;
	size_t count = 0;

	while (environ[count])
		end = environ[count] + strlen(environ[count]) + 1, count++;
	copies = allocate((count + 1) * sizeof(*copies));
	for (size_t i = 0; i < count; i++)
		copies[i] = copy_of(environ[i]);
	copies[count] = NULL;
	environ = copies;
	memset(argv[0], 0, (size_t)(end - argv[0]));
	snprintf(argv[0], (size_t)(end - argv[0]), "%s", title);
}

static void title(int argc, char **argv)
{
	int status = -1;
	pid_t pid;

	set_title(argc, argv, "worker process: idle, waiting for work, and long enough for the environment");
	pid = fork();
	if (pid == 0) {
		memset(&truth, 0, sizeof(truth));
		release(allocate(10), 10);
		truth_write_pid(&truth);
		exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		truth_die("the child");
	truth_write(&truth);
}

/* ---- descriptors ---- */

static struct truth of_thread[THREADS];
static atomic_int running = THREADS;

static void *keep_allocating(void *argument)
{
	struct truth *mine = argument;
	uint64_t random = (uint64_t)(mine - of_thread) + 1;

	for (int round = 0; round < ROUNDS; round++) {
		void *blocks[BATCH];
		size_t sizes[BATCH];

		for (int i = 0; i < BATCH; i++) {
			sizes[i] = truth_between(&random, 16, 30000);
			blocks[i] = malloc(sizes[i]);
			truth_alloc(mine, sizes[i]);
		}
		for (int i = 0; i < BATCH; i++) {
			free(blocks[i]);
			truth_free(mine, sizes[i]);
		}
	}
	atomic_fetch_sub(&running, 1);
	return argument;
}

/* Files of one byte each; they stay so, whoever else closes and opens descriptors meanwhile. */
static long files_that_changed(void)
{
	int fds[FILES];
	long changed = 0;

	for (int i = 0; i < FILES; i++) {
		char name[32];

		snprintf(name, sizeof(name), "file%d", i);
		fds[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
		if (fds[i] < 0 || write(fds[i], "x", 1) != 1)
			truth_die("a file");
	}
	usleep(3000);
	for (int i = 0; i < FILES; i++) {
		struct stat status;

		changed += fstat(fds[i], &status) || status.st_size != 1;
		changed += close(fds[i]) != 0;
	}
	return changed;
}

static void descriptors(void)
{
	struct rlimit limit = { 64, 64 };
	pthread_t threads[THREADS];
	long changed = 0;
	char line[64];

	if (setrlimit(RLIMIT_NOFILE, &limit))
		truth_die("setrlimit");
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, keep_allocating, &of_thread[i]);
	do
		changed += files_that_changed();
	while (atomic_load(&running));
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		truth_add(&truth, &of_thread[i]);
	}
	truth_write(&truth);
	truth_say(line, (size_t)snprintf(line, sizeof(line), "odd: %ld files changed\n", changed));
}

/* ---- numbers ---- */

enum { LARGE = 100000, CHECK_CALLS = 100, CHECK_CLOCKS = CLOCKS_PER_SEC / 2 };

static atomic_int checked;

/* What is resident comes and goes, so that it is worth looking at. */
static void *keep_touching(void *argument)
{
	struct truth *mine = argument;

	while (!atomic_load(&checked)) {
		void *block = malloc(LARGE);

		truth_alloc(mine, LARGE);
		memset(block, 1, LARGE);
		free(block);
		truth_free(mine, LARGE);
	}
	return argument;
}

/* No thread of the program's opens files but this one, so it knows which number is free. */
static int is_wrong(const int pipe_of_one[2], int number)
{
	int wrong = open("/dev/null", O_RDONLY) != number || close(number), got;
	char byte = 0;

	wrong |= write(pipe_of_one[1], "x", 1) != 1 || dup2(pipe_of_one[0], number) != number;
	for (int i = 0; i < CHECK_CALLS; i++)
		wrong |= fcntl(number, F_GETFD) < 0;
	got = (int)read(pipe_of_one[0], &byte, 1); /* does not wait */
	wrong |= got != 1 || byte != 'x';
	close(number);
	return wrong;
}

static void numbers(rlim_t most)
{
	struct rlimit limit = { most, most };
	int pipe_of_one[2], number, wrong = 0;
	pthread_t threads[THREADS];
	char line[64];

	if (pipe2(pipe_of_one, O_NONBLOCK) || setrlimit(RLIMIT_NOFILE, &limit))
		truth_die("pipe2 or setrlimit");
	number = dup(pipe_of_one[0]);
	close(number);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, keep_touching, &of_thread[i]);
	while (clock() < CHECK_CLOCKS * (THREADS + 1)) /* all threads' time */
		wrong += is_wrong(pipe_of_one, number);
	atomic_store(&checked, 1);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		truth_add(&truth, &of_thread[i]);
	}
	truth_write(&truth);
	truth_say(line, (size_t)snprintf(line, sizeof(line), "odd: %d descriptors were wrong\n", wrong));
}

/* It says at once what is wrong: the process ends meanwhile. */
static void *keep_checking(void *argument)
{
	int *pipe_of_one = argument, number = dup(pipe_of_one[0]);

	close(number);
	for (atomic_store(&checked, 1); atomic_load(&checked);) {
		if (is_wrong(pipe_of_one, number))
			TRUTH_SAY("odd: a descriptor was wrong\n");
	}
	return argument;
}

static void last_numbers(void)
{
	static int pipe_of_one[2];
	pthread_t thread;

	if (pipe2(pipe_of_one, O_NONBLOCK))
		truth_die("pipe2");
	pthread_create(&thread, NULL, keep_checking, pipe_of_one);
	while (!atomic_load(&checked))
		usleep(1000);
	truth_write(&truth);
}

/* ---- sandbox ---- */

#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

enum door { DOOR_PRCTL, DOOR_SECCOMP, DOOR_SYSCALL_PRCTL };

static long pass(enum door door, struct sock_fprog *program)
{
	switch (door) {
	case DOOR_PRCTL:
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program);
	case DOOR_SECCOMP:
		return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program);
	case DOOR_SYSCALL_PRCTL:
		return syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0);
	}
	return -1;
}

static void enter_sandbox(enum door door)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_write),
		ALLOW(SYS_exit_group),
		ALLOW(SYS_brk),
		ALLOW(SYS_mmap),
		ALLOW(SYS_munmap),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		truth_die("PR_SET_NO_NEW_PRIVS");
	if (pass(door, &program))
		truth_die("seccomp");
}

/* The truth is what comes to be, written before no file can be opened any more. */
static void sandbox(enum door door)
{
	for (size_t i = 0; i < 500; i++)
		release(allocate(200 + i), 200 + i);
	for (int i = 0; i < INSIDE; i++) {
		truth_alloc(&truth, INSIDE_SIZE);
		truth_free(&truth, INSIDE_SIZE);
	}
	truth_write(&truth);
	enter_sandbox(door);
	for (int i = 0; i < INSIDE; i++)
		free(malloc(INSIDE_SIZE));
	TRUTH_SAY("odd: done inside\n");
	_exit(7);
}

/* ---- churn ---- */

static void *allocate_a_little(void *unused)
{
	for (size_t i = 0; i < 200; i++)
		free(malloc(10 * i)); /* NOLINT(clang-analyzer-optin.portability.UnixAPI): nothing is a size too */
	return unused;
}

static void churn(void)
{
	for (int i = 0; access("end", F_OK) != 0; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, allocate_a_little, NULL) != 0)
			truth_die("pthread_create");
		pthread_join(thread, NULL);
		if (i % 100 == 0) {
			pid_t pid = fork();
			int status = -1;

			if (pid == 0) {
				allocate_a_little(NULL);
				_exit(3);
			}
			waitpid(pid, &status, 0);
			if (!WIFEXITED(status) || WEXITSTATUS(status) != 3)
				truth_die("a child did not end as it should");
		}
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (!strcmp(how, "title"))
		title(argc, argv);
	else if (!strcmp(how, "descriptors"))
		descriptors();
	else if (!strcmp(how, "numbers"))
		numbers(4096);
	else if (!strcmp(how, "few_numbers"))
		numbers(64);
	else if (!strcmp(how, "last_numbers"))
		last_numbers();
	else if (!strcmp(how, "sandbox"))
		sandbox(DOOR_PRCTL);
	else if (!strcmp(how, "sandbox_syscall"))
		sandbox(DOOR_SECCOMP);
	else if (!strcmp(how, "sandbox_syscall_prctl"))
		sandbox(DOOR_SYSCALL_PRCTL);
	else if (!strcmp(how, "churn"))
		churn();
	else
		truth_die("usage: odd HOW");
	return 0;
}
