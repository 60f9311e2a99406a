/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that depends on the machine. Another machine gets a folder beside x86_64/ with the same names, and a line
 * here.
 */
#ifndef TPROF_ARCH_H
#define TPROF_ARCH_H

#if defined(__x86_64__)
#include "arch/x86_64/clone.h"
#include "arch/x86_64/code.h"
#include "arch/x86_64/code_move.h"
#include "arch/x86_64/cpu.h"
#include "arch/x86_64/registers.h"
#include "arch/x86_64/vectors.h"
#else
#error "tprof has no preload/arch/ for this machine"
#endif

#endif
