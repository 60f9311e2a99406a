/* SPDX-License-Identifier: Apache-2.0 */
/* Work of the BLAS, by the definition of its routines. */
#include "model/flop/work_impl.h"

/* ---- BLAS 3 ---- */

struct tpa_work_count tpa_work_gemm(const struct tpa_work_dims *s)
{
	tpa_real m = s->d[0], n = s->d[1], k = s->d[2];

	return tpa_work_both(m * n * k, m * k + k * n + m * n);
}

struct tpa_work_count tpa_work_gemmt(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0], k = s->d[1];

	return tpa_work_both(tpa_work_half(n, 1) * k, 2 * n * k + tpa_work_half(n, 1));
}

struct tpa_work_count tpa_work_symm(const struct tpa_work_dims *s)
{
	tpa_real m = s->d[0], n = s->d[1], order = s->right ? n : m;

	return tpa_work_both(m * n * order, tpa_work_half(order, 1) + 2 * m * n);
}

struct tpa_work_count tpa_work_syrk(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0], k = s->d[1];

	return tpa_work_both(tpa_work_half(n, 1) * k, n * k + tpa_work_half(n, 1));
}

struct tpa_work_count tpa_work_syr2k(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0], k = s->d[1];

	return tpa_work_both(2 * tpa_work_half(n, 1) * k, 2 * n * k + tpa_work_half(n, 1));
}

struct tpa_work_count tpa_work_trmm(const struct tpa_work_dims *s)
{
	return s->right ? tpa_work_triangle(s->d[1], s->d[0]) : tpa_work_triangle(s->d[0], s->d[1]);
}

/* ---- BLAS 2 ---- */

struct tpa_work_count tpa_work_gemv(const struct tpa_work_dims *s)
{
	tpa_real m = s->d[0], n = s->d[1];

	return tpa_work_both(m * n, m * n + m + n);
}

struct tpa_work_count tpa_work_symv(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0];

	return tpa_work_both(n * n, tpa_work_half(n, 1) + 2 * n);
}

struct tpa_work_count tpa_work_trmv(const struct tpa_work_dims *s)
{
	return tpa_work_triangle(s->d[0], 1);
}

struct tpa_work_count tpa_work_ger(const struct tpa_work_dims *s)
{
	tpa_real m = s->d[0], n = s->d[1];

	return tpa_work_both(m * n, 2 * m * n + m + n);
}

struct tpa_work_count tpa_work_syr(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0];

	return tpa_work_both(tpa_work_half(n, 1), 2 * tpa_work_half(n, 1) + n);
}

struct tpa_work_count tpa_work_syr2(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0];

	return tpa_work_both(2 * tpa_work_half(n, 1), 2 * tpa_work_half(n, 1) + 2 * n);
}

tpa_real tpa_work_beside(tpa_real rows, tpa_real columns, tpa_real count)
{
	tpa_real longest = columns < rows ? columns : rows, sum = 0, outside;

	/* The i-th diagonal on the side of `columns` has min(rows, columns - i) elements. */
	count = count < columns - 1 ? count : columns - 1;
	if (count <= 0)
		return 0;
	outside = columns - rows; /* number of diagonals as long as the main one */
	outside = outside < 0 ? 0 : outside < count ? outside : count;
	sum = outside * longest;
	count -= outside;
	longest = outside > 0 || columns > rows ? rows : columns;
	return sum + count * longest - count * (count + 1) / 2;
}

struct tpa_work_count tpa_work_gbmv(const struct tpa_work_dims *s)
{
	tpa_real m = s->d[0], n = s->d[1], elements;

	elements = (m < n ? m : n) + tpa_work_beside(n, m, s->d[2]) + tpa_work_beside(m, n, s->d[3]);
	return tpa_work_both(elements, elements + m + n);
}

struct tpa_work_count tpa_work_sbmv(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0], side = tpa_work_beside(n, n, s->d[1]);

	return tpa_work_both(n + 2 * side, n + side + 2 * n);
}

struct tpa_work_count tpa_work_tbmv(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0], side = tpa_work_beside(n, n, s->d[1]);

	return tpa_work_of(n + side, side, n + side + 2 * n);
}

/* ---- BLAS 1 ---- */

struct tpa_work_count tpa_work_axpy(const struct tpa_work_dims *s)
{
	return tpa_work_both(s->d[0], 3 * s->d[0]);
}

struct tpa_work_count tpa_work_axpby(const struct tpa_work_dims *s)
{
	return tpa_work_of(2 * s->d[0], s->d[0], 3 * s->d[0]);
}

struct tpa_work_count tpa_work_dot(const struct tpa_work_dims *s)
{
	return tpa_work_both(s->d[0], 2 * s->d[0]);
}

struct tpa_work_count tpa_work_scal(const struct tpa_work_dims *s)
{
	return tpa_work_of(s->d[0], 0, 2 * s->d[0]);
}

struct tpa_work_count tpa_work_copy(const struct tpa_work_dims *s)
{
	return tpa_work_of(0, 0, 2 * s->d[0]);
}

struct tpa_work_count tpa_work_swap(const struct tpa_work_dims *s)
{
	return tpa_work_of(0, 0, 4 * s->d[0]);
}

/* The squared norm is the sum of the squares of all real and imaginary parts. */
struct tpa_work_count tpa_work_nrm2(const struct tpa_work_dims *s)
{
	return tpa_work_both((s->complex ? 2 : 1) * s->d[0], s->d[0]);
}

/* Sums the absolute values of all real and imaginary parts. */
struct tpa_work_count tpa_work_asum(const struct tpa_work_dims *s)
{
	return tpa_work_of(0, (s->complex ? 2 : 1) * s->d[0], s->d[0]);
}

struct tpa_work_count tpa_work_iamax(const struct tpa_work_dims *s)
{
	return tpa_work_of(0, 0, s->d[0]);
}

struct tpa_work_count tpa_work_rot(const struct tpa_work_dims *s)
{
	return tpa_work_of(4 * s->d[0], 2 * s->d[0], 4 * s->d[0]);
}
