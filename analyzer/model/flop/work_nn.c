/* SPDX-License-Identifier: Apache-2.0 */
/* Work of neural-network layers, by their definition. */
#include "model/flop/work_impl.h"

/* `times` multiplications and as many additions; then the elements of input, weights and result. */
static struct tpa_work_count products(tpa_real times, tpa_real input, tpa_real weights, tpa_real result)
{
	return (struct tpa_work_count){ times, times, input + weights + result, weights, result };
}

struct tpa_work_count tpa_work_matmul(const struct tpa_work_dims *s)
{
	tpa_real batch = s->d[0], m = s->d[1], n = s->d[2], k = s->d[3];

	return products(batch * m * n * k, batch * m * k, batch * k * n, batch * m * n);
}

/*
 * Each output element is a sum over the kernel and its group's input channels. Padding counts like input, as in all libraries. Both
 * backward passes compute the same number of products.
 */
struct tpa_work_count tpa_work_conv(const struct tpa_work_dims *s)
{
	const tpa_real *d = s->d;
	tpa_real batch = d[0], groups = d[1] > 0 ? d[1] : 1, ic = d[2], oc = d[3], kernel = d[10] * d[11] * d[12];
	tpa_real in = batch * ic * d[4] * d[5] * d[6], out = batch * oc * d[7] * d[8] * d[9];
	tpa_real weights = ic / groups * oc * kernel;

	return products(out * ic / groups * kernel, in, weights, out);
}

/* One addition or comparison for each element under the window. */
struct tpa_work_count tpa_work_pool(const struct tpa_work_dims *s)
{
	const tpa_real *d = s->d;
	tpa_real in = d[0] * d[1] * d[2] * d[3] * d[4], out = d[0] * d[1] * d[5] * d[6] * d[7];

	return (struct tpa_work_count){ 0, out * d[8] * d[9] * d[10], in + out, 0, out };
}

/*
 * Operations for each element, as (additions, multiplications). Forward: mean (1, 0), variance (2, 1), subtract the mean (1, 0),
 * divide by the deviation (0, 1), scale (0, 1) and shift (1, 0); without channels, the last two are left out.
 * Backward (Ioffe and Szegedy 2015): normalise again (1, 1), the sums for shift (1, 0) and scale (1, 1), and the gradient of the
 * input, scale (dy - mean dy - x mean (dy x)) / deviation (2, 2).
 */
struct tpa_work_count tpa_work_norm(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0], channels = s->d[1];

	if (!(channels > 0) && !s->backward)
		return (struct tpa_work_count){ 2 * n, 4 * n, 2 * n, 0, n };
	if (s->backward)
		return (struct tpa_work_count){ 4 * n, 5 * n, 3 * n + 3 * channels, 3 * channels, n };
	return (struct tpa_work_count){ 3 * n, 5 * n, 2 * n + 2 * channels, 2 * channels, n };
}

/* The bytes are known; the FLOP are not, because an exponential has no count. Backward, the result and its gradient are read. */
struct tpa_work_count tpa_work_softmax(const struct tpa_work_dims *s)
{
	return (struct tpa_work_count){ -1, -1, (s->backward ? 3 : 2) * s->d[0], 0, (s->backward ? 2 : 1) * s->d[0] };
}

/* Forward reads one tensor, backward two. d[1]: operations for each element; 0: they can't be counted. */
struct tpa_work_count tpa_work_activation(const struct tpa_work_dims *s)
{
	tpa_real additions = s->d[1] > 0 ? s->d[1] * s->d[0] : -1;

	return (struct tpa_work_count){ additions < 0 ? -1 : 0, additions, (s->backward ? 3 : 2) * s->d[0], 0,
					s->d[0] };
}

struct tpa_work_count tpa_work_elementwise(const struct tpa_work_dims *s)
{
	tpa_real operands = s->d[1] > 0 ? s->d[1] : 1;

	return (struct tpa_work_count){ 0, s->d[0], (operands + 1) * s->d[0], (operands - 1) * s->d[0], s->d[0] };
}

struct tpa_work_count tpa_work_reorder(const struct tpa_work_dims *s)
{
	return (struct tpa_work_count){ 0, 0, 2 * s->d[0], 0, s->d[0] };
}

struct tpa_work_count tpa_work_reduce(const struct tpa_work_dims *s)
{
	return (struct tpa_work_count){ 0, s->d[0] - s->d[1], s->d[0] + s->d[1], 0, s->d[1] };
}
