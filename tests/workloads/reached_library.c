/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are reached in each way that the loader knows: reached.c calls them. */
#include "reached.h"

int reach_plain(int x)
{
	return x + 1;
}

int (*reach_given(void))(int)
{
	return reach_plain;
}

int reach_alias(int x) __attribute__((alias("reach_plain")));

__attribute__((visibility("protected"))) int reach_protected(int x)
{
	return x + 2;
}

static int chosen(int x)
{
	return x + 3;
}

static int unchosen(int x)
{
	return x;
}

/* A compiler that knew the choice would call `chosen` itself. */
static volatile int choice = 1;

static int (*choose(void))(int)
{
	return choice ? chosen : unchosen;
}

int reach_chosen(int x) __attribute__((ifunc("choose")));

int reach_tabled(int x)
{
	return x + 4;
}

int reach_copied(int x)
{
	return x + 5;
}

__attribute__((noinline)) int reach_inside(int x)
{
	return x + 6;
}

/* In memory that is read-only after relocation, in memory that is not, and in what a program may have a copy of. */
int (*const reach_constants[])(int) = { reach_tabled, reach_chosen };
int (*reach_variables[])(int) = { reach_tabled, reach_protected };
struct reach_methods reach_methods = { 7, reach_copied };

int reach_through(int x)
{
	return reach_inside(x) + reach_protected(x);
}
