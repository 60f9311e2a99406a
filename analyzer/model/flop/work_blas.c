/* SPDX-License-Identifier: Apache-2.0 */
/* What the BLAS does, by definition of its routines. */
#include "model/flop/work_impl.h"

/* ---- BLAS 3 ---- */

struct tp_work_count tp_work_gemm(const struct tp_work_dims *s)
{
	tp_real m = s->d[0], n = s->d[1], k = s->d[2];

	return tp_work_both(m * n * k, m * k + k * n + m * n);
}

struct tp_work_count tp_work_gemmt(const struct tp_work_dims *s)
{
	tp_real n = s->d[0], k = s->d[1];

	return tp_work_both(tp_work_half(n, 1) * k, 2 * n * k + tp_work_half(n, 1));
}

struct tp_work_count tp_work_symm(const struct tp_work_dims *s)
{
	tp_real m = s->d[0], n = s->d[1], order = s->right ? n : m;

	return tp_work_both(m * n * order, tp_work_half(order, 1) + 2 * m * n);
}

struct tp_work_count tp_work_syrk(const struct tp_work_dims *s)
{
	tp_real n = s->d[0], k = s->d[1];

	return tp_work_both(tp_work_half(n, 1) * k, n * k + tp_work_half(n, 1));
}

struct tp_work_count tp_work_syr2k(const struct tp_work_dims *s)
{
	tp_real n = s->d[0], k = s->d[1];

	return tp_work_both(2 * tp_work_half(n, 1) * k, 2 * n * k + tp_work_half(n, 1));
}

struct tp_work_count tp_work_trmm(const struct tp_work_dims *s)
{
	return s->right ? tp_work_triangle(s->d[1], s->d[0]) : tp_work_triangle(s->d[0], s->d[1]);
}

/* ---- BLAS 2 ---- */

struct tp_work_count tp_work_gemv(const struct tp_work_dims *s)
{
	tp_real m = s->d[0], n = s->d[1];

	return tp_work_both(m * n, m * n + m + n);
}

struct tp_work_count tp_work_symv(const struct tp_work_dims *s)
{
	tp_real n = s->d[0];

	return tp_work_both(n * n, tp_work_half(n, 1) + 2 * n);
}

struct tp_work_count tp_work_trmv(const struct tp_work_dims *s)
{
	return tp_work_triangle(s->d[0], 1);
}

struct tp_work_count tp_work_ger(const struct tp_work_dims *s)
{
	tp_real m = s->d[0], n = s->d[1];

	return tp_work_both(m * n, 2 * m * n + m + n);
}

struct tp_work_count tp_work_syr(const struct tp_work_dims *s)
{
	tp_real n = s->d[0];

	return tp_work_both(tp_work_half(n, 1), 2 * tp_work_half(n, 1) + n);
}

struct tp_work_count tp_work_syr2(const struct tp_work_dims *s)
{
	tp_real n = s->d[0];

	return tp_work_both(2 * tp_work_half(n, 1), 2 * tp_work_half(n, 1) + 2 * n);
}

tp_real tp_work_beside(tp_real rows, tp_real columns, tp_real count)
{
	tp_real longest = columns < rows ? columns : rows, sum = 0, outside;

	/* The i-th diagonal on the side of `columns` has min(rows, columns - i) elements. */
	count = count < columns - 1 ? count : columns - 1;
	if (count <= 0)
		return 0;
	outside = columns - rows; /* so many diagonals are as long as the main one */
	outside = outside < 0 ? 0 : outside < count ? outside : count;
	sum = outside * longest;
	count -= outside;
	longest = outside > 0 || columns > rows ? rows : columns;
	return sum + count * longest - count * (count + 1) / 2;
}

struct tp_work_count tp_work_gbmv(const struct tp_work_dims *s)
{
	tp_real m = s->d[0], n = s->d[1], elements;

	elements = (m < n ? m : n) + tp_work_beside(n, m, s->d[2]) + tp_work_beside(m, n, s->d[3]);
	return tp_work_both(elements, elements + m + n);
}

struct tp_work_count tp_work_sbmv(const struct tp_work_dims *s)
{
	tp_real n = s->d[0], side = tp_work_beside(n, n, s->d[1]);

	return tp_work_both(n + 2 * side, n + side + 2 * n);
}

struct tp_work_count tp_work_tbmv(const struct tp_work_dims *s)
{
	tp_real n = s->d[0], side = tp_work_beside(n, n, s->d[1]);

	return tp_work_of(n + side, side, n + side + 2 * n);
}

/* ---- BLAS 1 ---- */

struct tp_work_count tp_work_axpy(const struct tp_work_dims *s)
{
	return tp_work_both(s->d[0], 3 * s->d[0]);
}

struct tp_work_count tp_work_axpby(const struct tp_work_dims *s)
{
	return tp_work_of(2 * s->d[0], s->d[0], 3 * s->d[0]);
}

struct tp_work_count tp_work_dot(const struct tp_work_dims *s)
{
	return tp_work_both(s->d[0], 2 * s->d[0]);
}

struct tp_work_count tp_work_scal(const struct tp_work_dims *s)
{
	return tp_work_of(s->d[0], 0, 2 * s->d[0]);
}

struct tp_work_count tp_work_copy(const struct tp_work_dims *s)
{
	return tp_work_of(0, 0, 2 * s->d[0]);
}

struct tp_work_count tp_work_swap(const struct tp_work_dims *s)
{
	return tp_work_of(0, 0, 4 * s->d[0]);
}

/* The square of a length is the sum of the squares of all parts. */
struct tp_work_count tp_work_nrm2(const struct tp_work_dims *s)
{
	return tp_work_both((s->complex ? 2 : 1) * s->d[0], s->d[0]);
}

/* Of the parts' absolute values. */
struct tp_work_count tp_work_asum(const struct tp_work_dims *s)
{
	return tp_work_of(0, (s->complex ? 2 : 1) * s->d[0], s->d[0]);
}

struct tp_work_count tp_work_iamax(const struct tp_work_dims *s)
{
	return tp_work_of(0, 0, s->d[0]);
}

struct tp_work_count tp_work_rot(const struct tp_work_dims *s)
{
	return tp_work_of(4 * s->d[0], 2 * s->d[0], 4 * s->d[0]);
}
