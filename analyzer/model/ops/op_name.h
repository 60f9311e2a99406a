/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_MODEL_OPS_OP_NAME_H
#define TPROF_MODEL_OPS_OP_NAME_H

#include <stdbool.h>

/*
 * Whether two traces' ops have the same name. Where libtorch's file was not there to ask, torch's aten::select.int is
 * aten::select_int, as the function that it is: no two operators of torch differ in that alone.
 */
bool tp_op_name_same(const char *a, const char *b);

#endif
