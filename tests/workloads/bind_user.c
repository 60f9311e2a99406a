/* SPDX-License-Identifier: Apache-2.0 */
#include "bindings.h"

#include <dlfcn.h>
#include <stddef.h>

extern int bind_late(void) __attribute__((weak));

static int (*volatile table[])(void) = { bind_call };
int (*volatile bind_pointer)(void) = bind_call;

__attribute__((constructor)) static void turn_off(void)
{
	bind_pointer = NULL;
}

/* Among its code, where nobody may write after relocation. */
__asm__(".text\n\t.p2align 3\nbind_in_text:\n\t.quad bind_lazy");
extern int (*const bind_in_text)(void) __attribute__((visibility("hidden")));

int bind_by_data(void)
{
	return bind_constant;
}

int bind_by_text(void)
{
	return bind_in_text();
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

int bind_by_asking(void)
{
	int (*function)(void);

	*(void **)&function = dlsym(RTLD_DEFAULT, "bind_lazy");
	return function ? function() : -1;
}

int bind_off(void)
{
	int (*function)(void) = bind_pointer;

	bind_pointer = function; /* it may be written to still */
	return function ? function() : 0;
}

int bind_weak(void)
{
	int (*volatile function)(void) = bind_late;

	return function ? function() : 0;
}
