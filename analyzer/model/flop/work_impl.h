/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of model/flop/work.h share: a table with a row for each kind of work (work_table.c), formulas by family. */
#ifndef TPROF_MODEL_FLOP_WORK_IMPL_H
#define TPROF_MODEL_FLOP_WORK_IMPL_H

#include "model/flop/work.h"

/*
 * Integers up to 2^64 are exact in long double. LAPACK's formulas contain sixths: they are computed six times as large
 * and divided at the end, so that no term is rounded.
 */
typedef long double tp_real;

/* A negative number means unknown. */
struct tp_work_count {
	tp_real multiplications, additions; /* of elements */
	tp_real elements;		    /* moved, of all tensors, */
	/* And the elements among them of the second tensor and of the result; 0: none */
	tp_real second, result;
};

/* Dimensions, by the names of the BLAS. */
struct tp_work_dims {
	tp_real d[TPROF_WORK_DIMS];
	bool right, backward, weights;
	bool complex;
};

typedef struct tp_work_count tp_work_formula(const struct tp_work_dims *s);

struct tp_work_row {
	const char *name;
	const char *dims;	  /* names of the dimensions in the shape's text, one after the other */
	tp_work_formula *formula; /* NULL: none */
	const char *source;	  /* listed in work_table.c */
	bool says_type;		  /* the shape's text has the type, because the op's name does not */
	bool pointwise;		  /* not a matrix product: element by element, or a reduction */
	bool real;		  /* the operations are real ones for complex numbers too */
};

/* NULL: an unknown kind. */
const struct tp_work_row *tp_work_row(uint32_t kind);

struct tp_dtype {
	const char *name;
	unsigned bytes;
	bool complex;
	enum tp_precision precision;
};

/* NULL: an unknown type. */
const struct tp_dtype *tp_dtype(uint8_t dtype);

/* ---- for formulas ---- */

static inline struct tp_work_count tp_work_of(tp_real multiplications, tp_real additions, tp_real elements)
{
	return (struct tp_work_count){ multiplications, additions, elements, 0, 0 };
}

static inline struct tp_work_count tp_work_both(tp_real times, tp_real elements)
{
	return tp_work_of(times, times, elements);
}

static inline tp_real tp_work_half(tp_real n, tp_real more) /* n (n + more) / 2 */
{
	return n * (n + more) / 2;
}

/* A triangular matrix of that order times `count` vectors, or solved for them. */
static inline struct tp_work_count tp_work_triangle(tp_real order, tp_real count)
{
	return tp_work_of(count * tp_work_half(order, 1), count * tp_work_half(order, -1),
			  tp_work_half(order, 1) + 2 * order * count);
}

/* Elements of an m x n matrix on `count` diagonals above the main one. */
tp_real tp_work_beside(tp_real rows, tp_real columns, tp_real count);

/* work_blas.c */
extern tp_work_formula tp_work_gemm, tp_work_gemmt, tp_work_symm, tp_work_syrk, tp_work_syr2k, tp_work_trmm,
	tp_work_gemv, tp_work_symv, tp_work_trmv, tp_work_ger, tp_work_syr, tp_work_syr2, tp_work_gbmv, tp_work_sbmv,
	tp_work_tbmv, tp_work_axpy, tp_work_axpby, tp_work_dot, tp_work_scal, tp_work_copy, tp_work_swap, tp_work_nrm2,
	tp_work_asum, tp_work_iamax, tp_work_rot;
/* work_lapack.c */
extern tp_work_formula tp_work_getrf, tp_work_getrs, tp_work_getri, tp_work_gesv, tp_work_potrf, tp_work_potrs,
	tp_work_potri, tp_work_posv, tp_work_geqrf, tp_work_orgqr, tp_work_ormqr, tp_work_trtri, tp_work_trtrs,
	tp_work_gels, tp_work_gebrd, tp_work_sytrd, tp_work_gehrd, tp_work_gelqf, tp_work_orglq, tp_work_sytrf,
	tp_work_sytrs, tp_work_sytri, tp_work_sysv, tp_work_pbtrf, tp_work_pbtrs, tp_work_pbsv, tp_work_gbtrs;
/* work_nn.c */
extern tp_work_formula tp_work_matmul, tp_work_conv, tp_work_pool, tp_work_norm, tp_work_softmax, tp_work_activation,
	tp_work_elementwise, tp_work_reorder, tp_work_reduce;

#endif
