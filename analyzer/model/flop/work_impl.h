/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of model/flop/work.h: a table with a row for each kind of work (work_table.c), and the formulas by family. */
#ifndef TPROF_MODEL_FLOP_WORK_IMPL_H
#define TPROF_MODEL_FLOP_WORK_IMPL_H

#include "model/flop/work.h"

/*
 * Integers up to 2^64 are exact in long double. LAPACK's formulas contain sixths: they are computed times six and divided at the
 * end, so that no term is rounded.
 */
typedef long double tpa_real;

/* What one call computes and moves. A negative number means unknown. */
struct tpa_work_count {
	tpa_real multiplications, additions; /* operations on elements */
	tpa_real elements;		     /* elements moved, of all tensors together */
	/* The part of `elements` that belongs to the second tensor, and to the result; 0: they have the first tensor's type */
	tpa_real second, result;
};

/* Dimensions in the order of enum tprof_work, named as in the BLAS, and flags. */
struct tpa_work_dims {
	tpa_real d[TPROF_WORK_DIMS];
	bool right, backward, weights;
	bool complex;
};

typedef struct tpa_work_count tpa_work_formula(const struct tpa_work_dims *s);

struct tpa_work_row {
	const char *name;
	const char *dims;	   /* names of the dimensions in the shape's text, separated by spaces */
	tpa_work_formula *formula; /* NULL: none */
	const char *source;	   /* source of the formula: see the list in work_table.c */
	bool says_type;		   /* the shape's text includes the type, because the op's name does not */
	bool pointwise;		   /* element-wise or a reduction, not a matrix product */
	bool real;		   /* the operations are real even if the elements are complex */
};

/* The row of a kind; NULL: unknown kind. */
const struct tpa_work_row *tpa_work_row(uint32_t kind);

struct tpa_dtype {
	const char *name;
	unsigned bytes;
	bool complex;
	enum tpa_precision precision;
};

/* The element type with that number (enum tprof_dtype); NULL: unknown. */
const struct tpa_dtype *tpa_dtype(uint8_t dtype);

/* ---- for formulas ---- */

static inline struct tpa_work_count tpa_work_of(tpa_real multiplications, tpa_real additions, tpa_real elements)
{
	return (struct tpa_work_count){ multiplications, additions, elements, 0, 0 };
}

static inline struct tpa_work_count tpa_work_both(tpa_real times, tpa_real elements)
{
	return tpa_work_of(times, times, elements);
}

static inline tpa_real tpa_work_half(tpa_real n, tpa_real more) /* n (n + more) / 2 */
{
	return n * (n + more) / 2;
}

/* Product of a triangular matrix of that order with `count` vectors, or the solution of the system for them. */
static inline struct tpa_work_count tpa_work_triangle(tpa_real order, tpa_real count)
{
	return tpa_work_of(count * tpa_work_half(order, 1), count * tpa_work_half(order, -1),
			   tpa_work_half(order, 1) + 2 * order * count);
}

/* Number of elements on the first `count` diagonals above the main one of a rows x columns matrix. */
tpa_real tpa_work_beside(tpa_real rows, tpa_real columns, tpa_real count);

/* work_blas.c */
extern tpa_work_formula tpa_work_gemm, tpa_work_gemmt, tpa_work_symm, tpa_work_syrk, tpa_work_syr2k, tpa_work_trmm,
	tpa_work_gemv, tpa_work_symv, tpa_work_trmv, tpa_work_ger, tpa_work_syr, tpa_work_syr2, tpa_work_gbmv,
	tpa_work_sbmv, tpa_work_tbmv, tpa_work_axpy, tpa_work_axpby, tpa_work_dot, tpa_work_scal, tpa_work_copy,
	tpa_work_swap, tpa_work_nrm2, tpa_work_asum, tpa_work_iamax, tpa_work_rot;
/* work_lapack.c */
extern tpa_work_formula tpa_work_getrf, tpa_work_getrs, tpa_work_getri, tpa_work_gesv, tpa_work_potrf, tpa_work_potrs,
	tpa_work_potri, tpa_work_posv, tpa_work_geqrf, tpa_work_orgqr, tpa_work_ormqr, tpa_work_trtri, tpa_work_trtrs,
	tpa_work_gels, tpa_work_gebrd, tpa_work_sytrd, tpa_work_gehrd, tpa_work_gelqf, tpa_work_orglq, tpa_work_sytrf,
	tpa_work_sytrs, tpa_work_sytri, tpa_work_sysv, tpa_work_pbtrf, tpa_work_pbtrs, tpa_work_pbsv, tpa_work_gbtrs;
/* work_nn.c */
extern tpa_work_formula tpa_work_matmul, tpa_work_conv, tpa_work_pool, tpa_work_norm, tpa_work_softmax,
	tpa_work_activation, tpa_work_elementwise, tpa_work_reorder, tpa_work_reduce;

#endif
