/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions at three prices. TPC_ASSERTIONS is
 *   0: off, as in every library that users get. No code is left: a condition is compiled, and never evaluated.
 *   1: tpc_assert(), a few instructions. In DEBUG=1 builds and in libtprof-verify.so, which only our tests preload.
 *   2: tpc_assert_whole() too, which may walk a whole structure. In unit and stress tests.
 * One that fails prints a line and ends the process. The condition must have no side effect.
 */
#ifndef TPROF_CORE_ASSERT_H
#define TPROF_CORE_ASSERT_H

#include "core/base.h"

#ifndef TPC_ASSERTIONS
#define TPC_ASSERTIONS 0
#endif

#if TPC_ASSERTIONS
TPC_SLOW void tpc_assert_failed(const char *condition, const char *file, int line) __attribute__((noreturn));
#endif

#define TPC_ASSERT_OFF(condition) ((void)(0 && (condition)))
#define TPC_ASSERT_FAILED(text) tpc_assert_failed(text, __FILE__, __LINE__)

#if TPC_ASSERTIONS >= 1
#define tpc_assert(condition) (tpc_likely(condition) ? (void)0 : TPC_ASSERT_FAILED(#condition))
#else
#define tpc_assert(condition) TPC_ASSERT_OFF(condition)
#endif

#if TPC_ASSERTIONS >= 2
#define tpc_assert_whole(condition) (tpc_likely(condition) ? (void)0 : TPC_ASSERT_FAILED(#condition))
#else
#define tpc_assert_whole(condition) TPC_ASSERT_OFF(condition)
#endif

#endif
