/* SPDX-License-Identifier: Apache-2.0 */
/* liblazyblas.so: its calls of BLAS are not bound until they are made, so that whoever hooks them has to ask the loader. */
#include "tinyblas.h"

float lazy_dot(int n, const float *x, const float *y);

float lazy_dot(int n, const float *x, const float *y)
{
	return cblas_sdot(n, x, 1, y, 1);
}
