/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ops/op_name.h"

#include <string.h>

#define TORCH "aten::"

static char plain(char c)
{
	return c == '.' ? '_' : c;
}

bool tp_op_name_same(const char *a, const char *b)
{
	if (strncmp(a, TORCH, strlen(TORCH)) != 0)
		return strcmp(a, b) == 0;
	while (*a && plain(*a) == plain(*b))
		a++, b++;
	return *a == *b;
}
