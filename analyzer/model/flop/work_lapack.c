/* SPDX-License-Identifier: Apache-2.0 */
/* Work of LAPACK. The arguments of sixths() are six times the formulas of LAPACK Working Note 41 (LAWN), appendix C. */
#include "model/flop/work_impl.h"

static struct tpa_work_count sixths(tpa_real multiplications, tpa_real additions, tpa_real elements)
{
	return tpa_work_of(multiplications / 6, additions / 6, elements);
}

static struct tpa_work_count plus(struct tpa_work_count a, struct tpa_work_count b, tpa_real elements)
{
	return tpa_work_of(a.multiplications + b.multiplications, a.additions + b.additions, elements);
}

/* LAWN gives the case m >= n. For a wide matrix, the steps of the same algorithm are summed. */
struct tpa_work_count tpa_work_getrf(const struct tpa_work_dims *s)
{
	tpa_real m = s->d[0], n = s->d[1], squares = (m - 1) * m * (2 * m - 1), wider = n - m;

	if (m < n)
		return sixths(6 * m + 3 * m * (m - 1) * (1 + wider) + squares, 3 * m * (m - 1) * wider + squares,
			      2 * m * n);
	return sixths(n * (n * (3 * m - n - 3) + 3 * m + 4), n * (n * (3 * m - n) - 3 * m + 1), 2 * m * n);
}

struct tpa_work_count tpa_work_getrs(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0], rhs = s->d[1];

	return tpa_work_of(rhs * n * n, rhs * n * (n - 1), n * n + 2 * n * rhs);
}

struct tpa_work_count tpa_work_getri(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0];

	return sixths(n * (5 + n * (4 * n + 3)), n * (5 + n * (4 * n - 9)), 2 * n * n);
}

struct tpa_work_count tpa_work_gesv(const struct tpa_work_dims *s)
{
	struct tpa_work_dims square = { .d = { s->d[0], s->d[0] } };

	return plus(tpa_work_getrf(&square), tpa_work_getrs(s), 2 * s->d[0] * s->d[0] + 2 * s->d[0] * s->d[1]);
}

struct tpa_work_count tpa_work_potrf(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0];

	return sixths(n * (n * (n + 3) + 2), n * (n * n - 1), 2 * tpa_work_half(n, 1));
}

struct tpa_work_count tpa_work_potrs(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0], rhs = s->d[1];

	return tpa_work_of(rhs * n * (n + 1), rhs * n * (n - 1), tpa_work_half(n, 1) + 2 * n * rhs);
}

struct tpa_work_count tpa_work_potri(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0];

	return sixths(n * (n * (2 * n + 6) + 4), n * (n * (2 * n - 3) + 1), 2 * tpa_work_half(n, 1));
}

struct tpa_work_count tpa_work_posv(const struct tpa_work_dims *s)
{
	return plus(tpa_work_potrf(s), tpa_work_potrs(s), 2 * tpa_work_half(s->d[0], 1) + 2 * s->d[0] * s->d[1]);
}

struct tpa_work_count tpa_work_geqrf(const struct tpa_work_dims *s)
{
	tpa_real m = s->d[0], n = s->d[1];

	if (m > n)
		return sixths(n * (n * (3 - 2 * n + 6 * m) + 6 * m + 23), n * (n * (3 - 2 * n + 6 * m) + 5), 2 * m * n);
	return sixths(m * (m * (6 * n - 2 * m - 3) + 12 * n + 23), m * (m * (6 * n - 2 * m - 3) + 6 * n + 5),
		      2 * m * n);
}

struct tpa_work_count tpa_work_orgqr(const struct tpa_work_dims *s)
{
	tpa_real m = s->d[0], n = s->d[1], k = s->d[2];

	return sixths(k * (12 * m * n + 12 * n - 10 + k * (4 * k - 6 * (m + n) - 6)),
		      k * (12 * m * n + 6 * n - 6 * m + 2 + k * (4 * k - 6 * (m + n))), m * k + m * n);
}

struct tpa_work_count tpa_work_ormqr(const struct tpa_work_dims *s)
{
	tpa_real m = s->d[0], n = s->d[1], k = s->d[2], elements = (s->right ? n : m) * k + 2 * m * n;

	if (s->right)
		return sixths(6 * (2 * n * m * k - m * k * k + m * k + n * k) - 3 * k * k + 3 * k,
			      6 * (2 * n * m * k - m * k * k + m * k), elements);
	return tpa_work_of(2 * n * m * k - n * k * k + 2 * n * k, 2 * n * m * k - n * k * k + n * k, elements);
}

struct tpa_work_count tpa_work_trtri(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0];

	return sixths(n * (n * (n + 3) + 2), n * (n * (n - 3) + 2), 2 * tpa_work_half(n, 1));
}

struct tpa_work_count tpa_work_trtrs(const struct tpa_work_dims *s)
{
	return tpa_work_triangle(s->d[0], s->d[1]);
}

struct tpa_work_count tpa_work_gelqf(const struct tpa_work_dims *s)
{
	tpa_real m = s->d[0], n = s->d[1];

	if (m > n)
		return sixths(n * (n * (3 - 2 * n + 6 * m) + 6 * m + 29), n * (n * (6 * m - 2 * n - 3) + 6 * m + 5),
			      2 * m * n);
	return sixths(m * (m * (6 * n - 2 * m - 3) + 12 * n + 29), m * (m * (6 * n - 2 * m + 3) + 5), 2 * m * n);
}

struct tpa_work_count tpa_work_orglq(const struct tpa_work_dims *s)
{
	tpa_real m = s->d[0], n = s->d[1], k = s->d[2];

	return sixths(k * (12 * m * n + 6 * (m + n) - 4 + k * (4 * k - 6 * (m + n) - 6)),
		      k * (12 * m * n + 6 * m - 6 * n + 2 + k * (4 * k - 6 * (m + n))), k * n + m * n);
}

/*
 * QR of a tall matrix or LQ of a wide one, then the orthogonal factor applied to the right-hand sides, and a triangular solve; the
 * last two change places for the transpose. The factor's order is the larger dimension, its number of reflections the smaller one.
 */
struct tpa_work_count tpa_work_gels(const struct tpa_work_dims *s)
{
	tpa_real m = s->d[0], n = s->d[1], rhs = s->d[2], larger = m < n ? n : m, smaller = m < n ? m : n;
	struct tpa_work_dims apply = { .d = { larger, rhs, smaller } }, solve = { .d = { smaller, rhs } };

	return plus(plus(m < n ? tpa_work_gelqf(s) : tpa_work_geqrf(s), tpa_work_ormqr(&apply), 0),
		    tpa_work_trtrs(&solve), 2 * m * n + 2 * larger * rhs);
}

struct tpa_work_count tpa_work_gebrd(const struct tpa_work_dims *s)
{
	tpa_real m = s->d[0] < s->d[1] ? s->d[1] : s->d[0], n = s->d[0] < s->d[1] ? s->d[0] : s->d[1];

	return sixths(n * (n * (12 * m - 4 * n + 12) + 40), n * (n * (12 * m - 4 * n + 6) - 6 * m + 10), 2 * m * n);
}

/* A matrix of order 1 needs no reduction. The formula holds from order 2 on, where it gives 0. */
struct tpa_work_count tpa_work_sytrd(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0];

	if (n < 2)
		return tpa_work_of(0, 0, n);
	return sixths(n * (n * (4 * n + 15) - 1) - 90, n * (n * (4 * n + 6) - 16) - 24, 2 * tpa_work_half(n, 1));
}

/* As for sytrd. Unknown if only a part of the matrix (ilo to ihi) is reduced. */
struct tpa_work_count tpa_work_gehrd(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0];

	if (n >= 1 && (s->d[1] != 1 || s->d[2] != n))
		return tpa_work_of(-1, -1, -1);
	if (n < 2)
		return tpa_work_of(0, 0, n);
	return sixths(n * (n * (10 * n + 3) - 7) - 78, n * (n * (10 * n - 6) - 4) - 48, 2 * n * n);
}

struct tpa_work_count tpa_work_sytrf(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0];

	return sixths(n * (n * (n + 3) + 20), n * (n * n - 1), 2 * tpa_work_half(n, 1));
}

struct tpa_work_count tpa_work_sytrs(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0], rhs = s->d[1];

	return tpa_work_of(rhs * n * n, rhs * n * (n - 1), tpa_work_half(n, 1) + 2 * n * rhs);
}

struct tpa_work_count tpa_work_sytri(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0];

	return sixths(n * (2 * n * n + 4), n * (2 * n * n - 2), 2 * tpa_work_half(n, 1));
}

struct tpa_work_count tpa_work_sysv(const struct tpa_work_dims *s)
{
	return plus(tpa_work_sytrf(s), tpa_work_sytrs(s), 2 * tpa_work_half(s->d[0], 1) + 2 * s->d[0] * s->d[1]);
}

/* ---- bands, of kd, kl, ku diagonals beside the main one: no more of them count than the matrix has ---- */

static tpa_real within(tpa_real diagonals, tpa_real n)
{
	return diagonals < n ? diagonals : n > 0 ? n - 1 : 0;
}

struct tpa_work_count tpa_work_pbtrf(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0], k = within(s->d[1], n);

	return sixths(k * (-4 + k * (-6 - 2 * k)) + n * (6 + k * (9 + 3 * k)),
		      k * (-1 + k * (-3 - 2 * k)) + 3 * n * k * (1 + k), 2 * (n + tpa_work_beside(n, n, k)));
}

struct tpa_work_count tpa_work_pbtrs(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0], rhs = s->d[2], side = tpa_work_beside(n, n, s->d[1]);

	return tpa_work_of(2 * rhs * (n + side), 2 * rhs * side, n + side + 2 * n * rhs);
}

struct tpa_work_count tpa_work_pbsv(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0];

	return plus(tpa_work_pbtrf(s), tpa_work_pbtrs(s), 2 * (n + tpa_work_beside(n, n, s->d[1])) + 2 * n * s->d[2]);
}

/* U is taken as a full band with kl + ku diagonals above the main one, even where its elements are 0. */
struct tpa_work_count tpa_work_gbtrs(const struct tpa_work_dims *s)
{
	tpa_real n = s->d[0], rhs = s->d[3];
	tpa_real sides = tpa_work_beside(n, n, s->d[1]) + tpa_work_beside(n, n, s->d[1] + s->d[2]);

	return tpa_work_of(rhs * (n + sides), rhs * sides, n + sides + 2 * n * rhs);
}
