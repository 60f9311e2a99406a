/* SPDX-License-Identifier: Apache-2.0 */
#include "bindings.h"

int bind_call(void)
{
	return 2;
}

int bind_lazy(void)
{
	return 2;
}
