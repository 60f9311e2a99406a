/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACER_H
#define TRACER_H

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);
int tracer_enters(void);
int tracer_exits(void);

#endif
