/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refuse CALL ARGUMENT VALUE ERROR COMMAND...: runs a command for which the kernel refuses the system call with that number:
 * if its argument number ARGUMENT (from 0; -1: whatever they are) has that value, it fails with that error.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned int call, value, error;
	int argument;

	if (argc < 6)
		return 2;
	call = (unsigned int)atoi(argv[1]);
	argument = atoi(argv[2]);
	value = (unsigned int)atoi(argv[3]);
	error = (unsigned int)atoi(argv[4]);
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 argument < 0 ? offsetof(struct seccomp_data, nr)
				      : offsetof(struct seccomp_data, args) + 8 * (unsigned int)argument),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, argument < 0 ? call : value, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("refuse");
		return 77;
	}
	execvp(argv[5], argv + 5);
	perror(argv[5]);
	return 127;
}
