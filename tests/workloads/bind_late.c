/* SPDX-License-Identifier: Apache-2.0 */
#include "bindings.h"

int bind_late(void)
{
	return 5;
}
