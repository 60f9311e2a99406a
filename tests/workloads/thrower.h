// SPDX-License-Identifier: Apache-2.0
#ifndef THROWER_H
#define THROWER_H

int thrower_deep(int n);
int thrower_top(int n);

#endif
