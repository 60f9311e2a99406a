/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roots STEPS[/STEPS] DIRECTORY [PROGRAM]: takes the steps, separated by commas, which end in another root directory; then forks
 * two children that take the steps behind the slash, and allocate. Prints each one's pid and number of blocks. With a program,
 * each child then becomes that.
 */
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES 1000

static void check(int failed, const char *what)
{
	if (failed) {
		perror(what);
		_exit(77);
	}
}

static __attribute__((noinline)) void work(int blocks)
{
	for (int i = 0; i < blocks; i++)
		*(volatile char *)malloc(BYTES) = 1;
}

static void *nothing(void *unused)
{
	work(1);
	return unused;
}

static void run_thread(void)
{
	pthread_t thread;

	check(pthread_create(&thread, NULL, nothing, NULL), "pthread_create");
	check(pthread_join(thread, NULL), "pthread_join");
}

static void own_mounts(void)
{
	check(unshare(CLONE_NEWNS), "unshare");
	check(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "mount");
}

static void pivot(const char *directory)
{
	own_mounts();
	check(mount(directory, directory, NULL, MS_BIND, NULL), "mount");
	check(chdir(directory), "chdir");
	check((int)syscall(SYS_pivot_root, ".", "."), "pivot_root");
	check(umount2(".", MNT_DETACH), "umount2");
}

static void drop(void)
{
	check(setgroups(0, NULL), "setgroups");
	check(setgid(65534), "setgid");
	check(setuid(65534), "setuid");
}

static void take(const char *step, const char *directory)
{
	if (strcmp(step, "close") == 0)
		check(close_range(3, ~0U, 0), "close_range");
	else if (strcmp(step, "chroot") == 0)
		check(chroot(directory), "chroot");
	else if (strcmp(step, "syscall") == 0)
		check((int)syscall(SYS_chroot, directory), "chroot");
	else if (strcmp(step, "pivot") == 0)
		pivot(directory);
	else if (strcmp(step, "over") == 0) {
		own_mounts();
		check(mount("none", ".", "tmpfs", 0, NULL), "mount");
	} else if (strcmp(step, "drop") == 0)
		drop();
	else if (strcmp(step, "drop-syscall") == 0)
		check((int)syscall(SYS_setresuid, 65534, 65534, 65534), "setresuid");
	else if (strcmp(step, "none") == 0)
		;
	else if (strcmp(step, "user") == 0)
		check(unshare(CLONE_NEWUSER), "unshare");
	else if (strcmp(step, "thread") == 0)
		run_thread();
	else
		_exit(2);
}

int main(int argc, char **argv)
{
	char *rest = strsep(&argv[1], "/"), *later = argv[1];

	(void)argc;
	work(7);
	for (const char *step; (step = strsep(&rest, ","));)
		take(step, argv[2]);
	check(chdir("/"), "chdir");
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		check(pid < 0, "fork");
		if (!pid) {
			for (char *step; (step = strsep(&later, ","));)
				take(step, argv[2]);
			work(100 + i);
			if (argv[3])
				execl(argv[3], argv[3], NULL);
			_exit(0);
		}
		printf("%d %d\n", (int)pid, 100 + i);
	}
	while (wait(NULL) > 0)
		;
	work(9);
	return 0;
}
