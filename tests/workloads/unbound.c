/* SPDX-License-Identifier: Apache-2.0 */
/* A call of a function that nobody defines, which is never made: its pointer is not bound, and can't be. */
#include <stdio.h>

void op_missing(void) __attribute__((weak));

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 100)
		op_missing();
	puts("unbound: done");
	return 0;
}
