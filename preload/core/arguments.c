/* SPDX-License-Identifier: Apache-2.0 */
#include "core/arguments.h"

extern void *__libc_stack_end; /* ld.so's: where the kernel put argc */

char *const *tpc_arguments(size_t *count)
{
	void **stack = __libc_stack_end;

	*count = stack ? (size_t)stack[0] : 0;
	return stack ? (char *const *)(stack + 1) : NULL;
}

char *const *tpc_environment(void)
{
	size_t count;
	char *const *arguments = tpc_arguments(&count);

	return arguments ? arguments + count + 1 : NULL;
}

bool tpc_under_valgrind(void)
{
	char *const *environment = tpc_environment();

	while (environment && *environment && strncmp(*environment, "LD_PRELOAD=", strlen("LD_PRELOAD=")) != 0)
		environment++;
	return environment && *environment && strstr(*environment, "/vgpreload_core"); /* whatever its tool */
}
