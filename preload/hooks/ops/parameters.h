/* SPDX-License-Identifier: Apache-2.0 */
/* Of a C++ function's parameters, by its symbol: how much of them can be on the stack. */
#ifndef TPROF_HOOKS_OPS_PARAMETERS_H
#define TPROF_HOOKS_OPS_PARAMETERS_H

#include "core/base.h"

/*
 * `symbol` is of a static function of a class. *words, of 8 bytes, may be more than there are, and are not fewer. False: it
 * can't be told.
 *
 * A class that is passed by value is taken for one of at most TP_CLASS_WORDS. Libtorch's largest is c10::optional of a
 * c10::ArrayRef, with 3; what is not copied byte by byte goes by its address.
 */
bool tp_parameter_words(const char *symbol, uint8_t *words);

#define TP_CLASS_WORDS 4u

#endif
