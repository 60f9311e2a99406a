/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REACHED_H
#define REACHED_H

#ifdef __cplusplus
extern "C" {
#endif

int reach_plain(int x);
int reach_alias(int x);
int reach_protected(int x);
int (*reach_given(void))(int); /* reach_plain */
int reach_chosen(int x);
int reach_tabled(int x);
int reach_copied(int x);
int reach_inside(int x);
int reach_through(int x);

struct reach_methods {
	long tag;
	int (*method)(int x);
};

extern int (*const reach_constants[2])(int);
extern int (*reach_variables[2])(int);
extern struct reach_methods reach_methods;

#ifdef __cplusplus
}
#endif

#endif
