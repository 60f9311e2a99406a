/* SPDX-License-Identifier: Apache-2.0 */
#include "bindings.h"

#include <stddef.h>

extern int bind_late(void) __attribute__((weak));

static int (*volatile table[])(void) = { bind_call };
int (*volatile bind_pointer)(void) = bind_call;

__attribute__((constructor)) static void turn_off(void)
{
	bind_pointer = NULL;
}

int bind_user(void)
{
	return bind_lazy();
}

int bind_by_table(void)
{
	return table[0]();
}

int bind_by_address(void)
{
	int (*volatile function)(void) = bind_call;

	return function();
}

int bind_off(void)
{
	return bind_pointer ? bind_pointer() : 0;
}

int bind_weak(void)
{
	int (*volatile function)(void) = bind_late;

	return function ? function() : 0;
}
