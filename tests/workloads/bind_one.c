/* SPDX-License-Identifier: Apache-2.0 */
#include "bindings.h"

const int bind_constant = 7;

int bind_versioned_1(void);
int bind_versioned_2(void);

int bind_call(void)
{
	return 1;
}

int bind_lazy(void)
{
	return 1;
}

__asm__(".symver bind_versioned_1, bind_versioned@BIND_1\n\t.symver bind_versioned_2, bind_versioned@@BIND_2");

int bind_versioned_1(void)
{
	return 3;
}

int bind_versioned_2(void)
{
	return 4;
}
