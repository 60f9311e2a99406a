// SPDX-License-Identifier: Apache-2.0
#ifndef THROWER_H
#define THROWER_H

int thrower_deep(int n);
int thrower_top(int n);

/* Each calls back. */
typedef void thrower_back(int which, int depth);
void thrower_a(thrower_back *back, int which, int depth);
void thrower_b(thrower_back *back, int which, int depth);
void thrower_c(thrower_back *back, int which, int depth);

#endif
