/* SPDX-License-Identifier: Apache-2.0 */
/* Types of tensors (c10/core/ScalarType.h) and their promotion ("Tensor Attributes" in PyTorch's documentation). */
#include "model/flop/work_torch_impl.h"

#define TRUTH TPA_TORCH_TRUTH
#define INTEGER TPA_TORCH_INTEGER
#define REAL TPA_TORCH_FLOATING
#define COMPLEX TPA_TORCH_COMPLEX
#define F32 6u
#define S16 2u

struct tpa_torch_type tpa_torch_type(uint32_t type)
{
	static const struct tpa_torch_type types[] = {
		[0] = { 1, TPROF_DTYPE_NONE, INTEGER },	 [1] = { 1, TPROF_DTYPE_NONE, INTEGER },
		[2] = { 2, TPROF_DTYPE_NONE, INTEGER },	 [3] = { 4, TPROF_DTYPE_NONE, INTEGER },
		[4] = { 8, TPROF_DTYPE_NONE, INTEGER },	 [5] = { 2, TPROF_DTYPE_F16, REAL },
		[6] = { 4, TPROF_DTYPE_F32, REAL },	 [7] = { 8, TPROF_DTYPE_F64, REAL },
		[8] = { 4, TPROF_DTYPE_NONE, COMPLEX },	 [9] = { 8, TPROF_DTYPE_C32, COMPLEX },
		[10] = { 16, TPROF_DTYPE_C64, COMPLEX }, [TPA_TORCH_BOOL] = { 1, TPROF_DTYPE_NONE, TRUTH },
		[15] = { 2, TPROF_DTYPE_BF16, REAL },
	};

	return type < sizeof(types) / sizeof(*types) ? types[type] : (struct tpa_torch_type){ 0 };
}

uint32_t tpa_torch_promote(uint32_t a, uint32_t b)
{
	struct tpa_torch_type x = tpa_torch_type(a), y = tpa_torch_type(b);

	if (a == b)
		return a;
	if (!x.order || !y.order)
		return TPA_TORCH_NO_TYPE;
	if (x.order != y.order) {
		/* A complex type and a real type of higher precision: the result is neither of them. */
		if ((x.order == COMPLEX && y.order == REAL && x.bytes < 2 * y.bytes) ||
		    (y.order == COMPLEX && x.order == REAL && y.bytes < 2 * x.bytes))
			return TPA_TORCH_NO_TYPE;
		return x.order > y.order ? a : b;
	}
	if (x.bytes != y.bytes)
		return x.bytes > y.bytes ? a : b;
	return x.order == REAL ? F32 : S16; /* f16 and bf16: f32; u8 and s8: s16 */
}
