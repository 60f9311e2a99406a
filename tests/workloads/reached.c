/* SPDX-License-Identifier: Apache-2.0 */
/* reached N: calls reached_library.c's functions N times in each way; prints what they return. It is built in many ways. */
#include <stdio.h>
#include <stdlib.h>

#include "reached.h"

static int (*const own[])(int) = { reach_plain, reach_alias };
static int (*volatile taken)(int) = reach_plain;

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1, sum = 0;

	for (int i = 0; i < times; i++) {
		sum += reach_plain(i) + own[0](i) + taken(i);	      /* reach_plain: 3 */
		sum += reach_alias(i) + own[1](i);		      /* reach_alias: 2 */
		sum += reach_protected(i) + reach_variables[1](i);    /* reach_protected: 2 */
		sum += reach_chosen(i) + reach_constants[1](i);	      /* reach_chosen: 2 */
		sum += reach_constants[0](i) + reach_variables[0](i); /* reach_tabled: 2 */
		sum += reach_methods.method(i);			      /* reach_copied: 1 */
		sum += reach_through(i);			      /* reach_through: 1, reach_inside: 1 */
	}
	printf("%d %d %d\n", sum, own[0] == taken, reach_given() == reach_plain);
	return 0;
}
