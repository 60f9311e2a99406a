/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources of the formulas:
 *   BLAS   the definition of the operation (Lawson et al. 1979, Dongarra et al. 1988 and 1990): what each element of the
 *          result takes. Scalings by alpha and beta are left out, as in the next.
 *   LAWN   Blackford and Dongarra, "Installation Guide for LAPACK", LAPACK Working Note 41, appendix C: multiplications
 *          and additions of each routine, exact to the last term.
 *   LAWN2  The same, for the Bunch-Kaufman factors of symmetric matrices: the cube is exact, the terms below it depend on
 *          which pivots are of order 2 (for n = 1000, by less than 1%).
 *   parts  the sum of the routines that it is made of, as LAPACK's own text says.
 *   def    the layer's definition: 2 FLOP for each product that is summed up.
 *   -      iterative, or not defined by its shape: no FLOP. So the LU of a band: how far rows that are exchanged fill it
 *          depends on the pivots, and LAPACK's own count (dopla.f) says that it is too large, by up to a half.
 */
#include "model/flop/work_impl.h"

static const struct tp_work_row rows[TPROF_WORK_KINDS] = {
	[TPROF_WORK_GEMM] = { "gemm", "m n k", tp_work_gemm, "BLAS" },
	[TPROF_WORK_GEMMT] = { "gemmt", "n k", tp_work_gemmt, "BLAS" },
	[TPROF_WORK_SYMM] = { "symm", "m n", tp_work_symm, "BLAS" },
	[TPROF_WORK_SYRK] = { "syrk", "n k", tp_work_syrk, "BLAS" },
	[TPROF_WORK_SYR2K] = { "syr2k", "n k", tp_work_syr2k, "BLAS" },
	[TPROF_WORK_TRMM] = { "trmm", "m n", tp_work_trmm, "BLAS" },
	[TPROF_WORK_TRSM] = { "trsm", "m n", tp_work_trmm, "BLAS" },
	[TPROF_WORK_GEMV] = { "gemv", "m n", tp_work_gemv, "BLAS" },
	[TPROF_WORK_SYMV] = { "symv", "n", tp_work_symv, "BLAS" },
	[TPROF_WORK_TRMV] = { "trmv", "n", tp_work_trmv, "BLAS" },
	[TPROF_WORK_TRSV] = { "trsv", "n", tp_work_trmv, "BLAS" },
	[TPROF_WORK_GER] = { "ger", "m n", tp_work_ger, "BLAS" },
	[TPROF_WORK_SYR] = { "syr", "n", tp_work_syr, "BLAS" },
	[TPROF_WORK_SYR2] = { "syr2", "n", tp_work_syr2, "BLAS" },
	[TPROF_WORK_GBMV] = { "gbmv", "m n kl ku", tp_work_gbmv, "BLAS" },
	[TPROF_WORK_SBMV] = { "sbmv", "n k", tp_work_sbmv, "BLAS" },
	[TPROF_WORK_TBMV] = { "tbmv", "n k", tp_work_tbmv, "BLAS" },
	[TPROF_WORK_TBSV] = { "tbsv", "n k", tp_work_tbmv, "BLAS" },
	[TPROF_WORK_AXPY] = { "axpy", "n", tp_work_axpy, "BLAS", .pointwise = true },
	[TPROF_WORK_AXPBY] = { "axpby", "n", tp_work_axpby, "BLAS", .pointwise = true },
	[TPROF_WORK_DOT] = { "dot", "n", tp_work_dot, "BLAS", .pointwise = true },
	[TPROF_WORK_SCAL] = { "scal", "n", tp_work_scal, "BLAS", .pointwise = true },
	[TPROF_WORK_COPY] = { "copy", "n", tp_work_copy, "BLAS", .pointwise = true },
	[TPROF_WORK_SWAP] = { "swap", "n", tp_work_swap, "BLAS", .pointwise = true },
	[TPROF_WORK_NRM2] = { "nrm2", "n", tp_work_nrm2, "BLAS", .real = true, .pointwise = true },
	[TPROF_WORK_ASUM] = { "asum", "n", tp_work_asum, "BLAS", .real = true, .pointwise = true },
	[TPROF_WORK_IAMAX] = { "iamax", "n", tp_work_iamax, "BLAS", .pointwise = true },
	[TPROF_WORK_ROT] = { "rot", "n", tp_work_rot, "BLAS", .pointwise = true },
	[TPROF_WORK_GETRF] = { "getrf", "m n", tp_work_getrf, "LAWN" },
	[TPROF_WORK_GETRS] = { "getrs", "n nrhs", tp_work_getrs, "LAWN" },
	[TPROF_WORK_GETRI] = { "getri", "n", tp_work_getri, "LAWN" },
	[TPROF_WORK_GESV] = { "gesv", "n nrhs", tp_work_gesv, "parts" },
	[TPROF_WORK_POTRF] = { "potrf", "n", tp_work_potrf, "LAWN" },
	[TPROF_WORK_POTRS] = { "potrs", "n nrhs", tp_work_potrs, "LAWN" },
	[TPROF_WORK_POTRI] = { "potri", "n", tp_work_potri, "LAWN" },
	[TPROF_WORK_POSV] = { "posv", "n nrhs", tp_work_posv, "parts" },
	[TPROF_WORK_GEQRF] = { "geqrf", "m n", tp_work_geqrf, "LAWN" },
	[TPROF_WORK_ORGQR] = { "orgqr", "m n k", tp_work_orgqr, "LAWN" },
	[TPROF_WORK_ORMQR] = { "ormqr", "m n k", tp_work_ormqr, "LAWN" },
	[TPROF_WORK_TRTRI] = { "trtri", "n", tp_work_trtri, "LAWN" },
	[TPROF_WORK_TRTRS] = { "trtrs", "n nrhs", tp_work_trtrs, "LAWN" },
	[TPROF_WORK_GELS] = { "gels", "m n nrhs", tp_work_gels, "parts" },
	[TPROF_WORK_GELSD] = { "gelsd", "m n nrhs", NULL, "-" },
	[TPROF_WORK_SYEV] = { "syev", "n", NULL, "-" },
	[TPROF_WORK_GEEV] = { "geev", "n", NULL, "-" },
	[TPROF_WORK_GESVD] = { "gesvd", "m n", NULL, "-" },
	[TPROF_WORK_GEBRD] = { "gebrd", "m n", tp_work_gebrd, "LAWN" },
	[TPROF_WORK_SYTRD] = { "sytrd", "n", tp_work_sytrd, "LAWN" },
	[TPROF_WORK_GEHRD] = { "gehrd", "n ilo ihi", tp_work_gehrd, "LAWN" },
	[TPROF_WORK_GELQF] = { "gelqf", "m n", tp_work_gelqf, "LAWN" },
	[TPROF_WORK_ORGLQ] = { "orglq", "m n k", tp_work_orglq, "LAWN" },
	[TPROF_WORK_SYTRF] = { "sytrf", "n", tp_work_sytrf, "LAWN2" },
	[TPROF_WORK_SYTRS] = { "sytrs", "n nrhs", tp_work_sytrs, "LAWN2" },
	[TPROF_WORK_SYTRI] = { "sytri", "n", tp_work_sytri, "LAWN2" },
	[TPROF_WORK_SYSV] = { "sysv", "n nrhs", tp_work_sysv, "parts" },
	[TPROF_WORK_PBTRF] = { "pbtrf", "n kd", tp_work_pbtrf, "LAWN" },
	[TPROF_WORK_PBTRS] = { "pbtrs", "n kd nrhs", tp_work_pbtrs, "LAWN" },
	[TPROF_WORK_PBSV] = { "pbsv", "n kd nrhs", tp_work_pbsv, "parts" },
	[TPROF_WORK_GBTRF] = { "gbtrf", "m n kl ku", NULL, "-" },
	[TPROF_WORK_GBTRS] = { "gbtrs", "n kl ku nrhs", tp_work_gbtrs, "LAWN" },
	[TPROF_WORK_GBSV] = { "gbsv", "n kl ku nrhs", NULL, "-" },
	[TPROF_WORK_MATMUL] = { "matmul", "batch m n k", tp_work_matmul, "def", .says_type = true },
	[TPROF_WORK_CONV] = { "conv", "batch groups ic oc id ih iw od oh ow kd kh kw", tp_work_conv, "def",
			      .says_type = true },
	[TPROF_WORK_POOL] = { "pool", "batch channels id ih iw od oh ow kd kh kw", tp_work_pool, "def",
			      .says_type = true, .pointwise = true },
	[TPROF_WORK_NORM] = { "norm", "n channels", tp_work_norm, "def", .says_type = true, .pointwise = true },
	[TPROF_WORK_SOFTMAX] = { "softmax", "n", tp_work_softmax, "-", .says_type = true, .pointwise = true },
	[TPROF_WORK_ELEMENTWISE] = { "elementwise", "n operands", tp_work_elementwise, "def", .says_type = true,
				     .pointwise = true },
	[TPROF_WORK_REORDER] = { "reorder", "n", tp_work_reorder, "def", .says_type = true, .pointwise = true },
	[TPROF_WORK_ACTIVATION] = { "activation", "n each", tp_work_activation, "def", .says_type = true,
				    .pointwise = true },
	[TPROF_WORK_REDUCE] = { "reduce", "in out", tp_work_reduce, "def", .says_type = true, .pointwise = true },
};

static const struct tp_dtype dtypes[TPROF_DTYPES] = {
	[TPROF_DTYPE_F32] = { "f32", 4, false, TP_SINGLE }, [TPROF_DTYPE_F64] = { "f64", 8, false, TP_DOUBLE },
	[TPROF_DTYPE_C32] = { "c32", 8, true, TP_SINGLE },  [TPROF_DTYPE_C64] = { "c64", 16, true, TP_DOUBLE },
	[TPROF_DTYPE_F16] = { "f16", 2, false, TP_HALF },   [TPROF_DTYPE_BF16] = { "bf16", 2, false, TP_BF16 },
	[TPROF_DTYPE_S32] = { "s32", 4, false, TP_UNSAID }, [TPROF_DTYPE_S8] = { "s8", 1, false, TP_INT8 },
	[TPROF_DTYPE_U8] = { "u8", 1, false, TP_INT8 },
};

const char *const tp_precision_names[TP_PRECISIONS] = { "single", "double", "bf16", "f16", "int8" };

const struct tp_work_row *tp_work_row(uint32_t kind)
{
	return kind < TPROF_WORK_KINDS && rows[kind].name ? &rows[kind] : NULL;
}

const struct tp_dtype *tp_dtype(uint8_t dtype)
{
	return dtype < TPROF_DTYPES && dtypes[dtype].name ? &dtypes[dtype] : NULL;
}

bool tp_work_is_matrix(uint32_t kind)
{
	return !tp_work_row(kind) || !tp_work_row(kind)->pointwise;
}

const char *tp_work_name(uint32_t kind)
{
	return tp_work_row(kind) ? tp_work_row(kind)->name : "?";
}
