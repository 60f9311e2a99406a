/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources of the formulas:
 *   BLAS   the definition of the operation (Lawson et al. 1979, Dongarra et al. 1988 and 1990): the operations for each
 *          element of the result. Scaling by alpha and beta is left out, as in LAWN.
 *   LAWN   Blackford and Dongarra, "Installation Guide for LAPACK", LAPACK Working Note 41, appendix C: multiplications
 *          and additions of each routine, exact to the last term.
 *   LAWN2  the same, for Bunch-Kaufman factors of symmetric matrices: the cubic term is exact; the lower terms depend on
 *          which pivots are of order 2 (for n = 1000, by less than 1%).
 *   parts  the sum of the routines that the routine calls, according to LAPACK's own documentation.
 *   def    the layer's definition: 2 FLOP for each product that is added up.
 *   -      no FLOP count: the algorithm is iterative, or the shape does not determine the count. An example is the LU
 *          factorisation of a band: row exchanges fill it in, and how much depends on the pivots. LAPACK's own count (dopla.f)
 *          says that it can be too large by up to a half.
 */
#include "model/flop/work_impl.h"

static const struct tpa_work_row rows[TPROF_WORK_KINDS] = {
	[TPROF_WORK_GEMM] = { "gemm", "m n k", tpa_work_gemm, "BLAS" },
	[TPROF_WORK_GEMMT] = { "gemmt", "n k", tpa_work_gemmt, "BLAS" },
	[TPROF_WORK_SYMM] = { "symm", "m n", tpa_work_symm, "BLAS" },
	[TPROF_WORK_SYRK] = { "syrk", "n k", tpa_work_syrk, "BLAS" },
	[TPROF_WORK_SYR2K] = { "syr2k", "n k", tpa_work_syr2k, "BLAS" },
	[TPROF_WORK_TRMM] = { "trmm", "m n", tpa_work_trmm, "BLAS" },
	[TPROF_WORK_TRSM] = { "trsm", "m n", tpa_work_trmm, "BLAS" },
	[TPROF_WORK_GEMV] = { "gemv", "m n", tpa_work_gemv, "BLAS" },
	[TPROF_WORK_SYMV] = { "symv", "n", tpa_work_symv, "BLAS" },
	[TPROF_WORK_TRMV] = { "trmv", "n", tpa_work_trmv, "BLAS" },
	[TPROF_WORK_TRSV] = { "trsv", "n", tpa_work_trmv, "BLAS" },
	[TPROF_WORK_GER] = { "ger", "m n", tpa_work_ger, "BLAS" },
	[TPROF_WORK_SYR] = { "syr", "n", tpa_work_syr, "BLAS" },
	[TPROF_WORK_SYR2] = { "syr2", "n", tpa_work_syr2, "BLAS" },
	[TPROF_WORK_GBMV] = { "gbmv", "m n kl ku", tpa_work_gbmv, "BLAS" },
	[TPROF_WORK_SBMV] = { "sbmv", "n k", tpa_work_sbmv, "BLAS" },
	[TPROF_WORK_TBMV] = { "tbmv", "n k", tpa_work_tbmv, "BLAS" },
	[TPROF_WORK_TBSV] = { "tbsv", "n k", tpa_work_tbmv, "BLAS" },
	[TPROF_WORK_AXPY] = { "axpy", "n", tpa_work_axpy, "BLAS", .pointwise = true },
	[TPROF_WORK_AXPBY] = { "axpby", "n", tpa_work_axpby, "BLAS", .pointwise = true },
	[TPROF_WORK_DOT] = { "dot", "n", tpa_work_dot, "BLAS", .pointwise = true },
	[TPROF_WORK_SCAL] = { "scal", "n", tpa_work_scal, "BLAS", .pointwise = true },
	[TPROF_WORK_COPY] = { "copy", "n", tpa_work_copy, "BLAS", .pointwise = true },
	[TPROF_WORK_SWAP] = { "swap", "n", tpa_work_swap, "BLAS", .pointwise = true },
	[TPROF_WORK_NRM2] = { "nrm2", "n", tpa_work_nrm2, "BLAS", .real = true, .pointwise = true },
	[TPROF_WORK_ASUM] = { "asum", "n", tpa_work_asum, "BLAS", .real = true, .pointwise = true },
	[TPROF_WORK_IAMAX] = { "iamax", "n", tpa_work_iamax, "BLAS", .pointwise = true },
	[TPROF_WORK_ROT] = { "rot", "n", tpa_work_rot, "BLAS", .pointwise = true },
	[TPROF_WORK_GETRF] = { "getrf", "m n", tpa_work_getrf, "LAWN" },
	[TPROF_WORK_GETRS] = { "getrs", "n nrhs", tpa_work_getrs, "LAWN" },
	[TPROF_WORK_GETRI] = { "getri", "n", tpa_work_getri, "LAWN" },
	[TPROF_WORK_GESV] = { "gesv", "n nrhs", tpa_work_gesv, "parts" },
	[TPROF_WORK_POTRF] = { "potrf", "n", tpa_work_potrf, "LAWN" },
	[TPROF_WORK_POTRS] = { "potrs", "n nrhs", tpa_work_potrs, "LAWN" },
	[TPROF_WORK_POTRI] = { "potri", "n", tpa_work_potri, "LAWN" },
	[TPROF_WORK_POSV] = { "posv", "n nrhs", tpa_work_posv, "parts" },
	[TPROF_WORK_GEQRF] = { "geqrf", "m n", tpa_work_geqrf, "LAWN" },
	[TPROF_WORK_ORGQR] = { "orgqr", "m n k", tpa_work_orgqr, "LAWN" },
	[TPROF_WORK_ORMQR] = { "ormqr", "m n k", tpa_work_ormqr, "LAWN" },
	[TPROF_WORK_TRTRI] = { "trtri", "n", tpa_work_trtri, "LAWN" },
	[TPROF_WORK_TRTRS] = { "trtrs", "n nrhs", tpa_work_trtrs, "LAWN" },
	[TPROF_WORK_GELS] = { "gels", "m n nrhs", tpa_work_gels, "parts" },
	[TPROF_WORK_GELSD] = { "gelsd", "m n nrhs", NULL, "-" },
	[TPROF_WORK_SYEV] = { "syev", "n", NULL, "-" },
	[TPROF_WORK_GEEV] = { "geev", "n", NULL, "-" },
	[TPROF_WORK_GESVD] = { "gesvd", "m n", NULL, "-" },
	[TPROF_WORK_GEBRD] = { "gebrd", "m n", tpa_work_gebrd, "LAWN" },
	[TPROF_WORK_SYTRD] = { "sytrd", "n", tpa_work_sytrd, "LAWN" },
	[TPROF_WORK_GEHRD] = { "gehrd", "n ilo ihi", tpa_work_gehrd, "LAWN" },
	[TPROF_WORK_GELQF] = { "gelqf", "m n", tpa_work_gelqf, "LAWN" },
	[TPROF_WORK_ORGLQ] = { "orglq", "m n k", tpa_work_orglq, "LAWN" },
	[TPROF_WORK_SYTRF] = { "sytrf", "n", tpa_work_sytrf, "LAWN2" },
	[TPROF_WORK_SYTRS] = { "sytrs", "n nrhs", tpa_work_sytrs, "LAWN2" },
	[TPROF_WORK_SYTRI] = { "sytri", "n", tpa_work_sytri, "LAWN2" },
	[TPROF_WORK_SYSV] = { "sysv", "n nrhs", tpa_work_sysv, "parts" },
	[TPROF_WORK_PBTRF] = { "pbtrf", "n kd", tpa_work_pbtrf, "LAWN" },
	[TPROF_WORK_PBTRS] = { "pbtrs", "n kd nrhs", tpa_work_pbtrs, "LAWN" },
	[TPROF_WORK_PBSV] = { "pbsv", "n kd nrhs", tpa_work_pbsv, "parts" },
	[TPROF_WORK_GBTRF] = { "gbtrf", "m n kl ku", NULL, "-" },
	[TPROF_WORK_GBTRS] = { "gbtrs", "n kl ku nrhs", tpa_work_gbtrs, "LAWN" },
	[TPROF_WORK_GBSV] = { "gbsv", "n kl ku nrhs", NULL, "-" },
	[TPROF_WORK_MATMUL] = { "matmul", "batch m n k", tpa_work_matmul, "def", .says_type = true },
	[TPROF_WORK_CONV] = { "conv", "batch groups ic oc id ih iw od oh ow kd kh kw", tpa_work_conv, "def",
			      .says_type = true },
	[TPROF_WORK_POOL] = { "pool", "batch channels id ih iw od oh ow kd kh kw", tpa_work_pool, "def",
			      .says_type = true, .pointwise = true },
	[TPROF_WORK_NORM] = { "norm", "n channels", tpa_work_norm, "def", .says_type = true, .pointwise = true },
	[TPROF_WORK_SOFTMAX] = { "softmax", "n", tpa_work_softmax, "-", .says_type = true, .pointwise = true },
	[TPROF_WORK_ELEMENTWISE] = { "elementwise", "n operands", tpa_work_elementwise, "def", .says_type = true,
				     .pointwise = true },
	[TPROF_WORK_REORDER] = { "reorder", "n", tpa_work_reorder, "def", .says_type = true, .pointwise = true },
	[TPROF_WORK_ACTIVATION] = { "activation", "n each", tpa_work_activation, "def", .says_type = true,
				    .pointwise = true },
	[TPROF_WORK_REDUCE] = { "reduce", "in out", tpa_work_reduce, "def", .says_type = true, .pointwise = true },
};

static const struct tpa_dtype dtypes[TPROF_DTYPES] = {
	[TPROF_DTYPE_F32] = { "f32", 4, false, TPA_SINGLE }, [TPROF_DTYPE_F64] = { "f64", 8, false, TPA_DOUBLE },
	[TPROF_DTYPE_C32] = { "c32", 8, true, TPA_SINGLE },  [TPROF_DTYPE_C64] = { "c64", 16, true, TPA_DOUBLE },
	[TPROF_DTYPE_F16] = { "f16", 2, false, TPA_HALF },   [TPROF_DTYPE_BF16] = { "bf16", 2, false, TPA_BF16 },
	[TPROF_DTYPE_S32] = { "s32", 4, false, TPA_UNSAID }, [TPROF_DTYPE_S8] = { "s8", 1, false, TPA_INT8 },
	[TPROF_DTYPE_U8] = { "u8", 1, false, TPA_INT8 },
};

const char *const tpa_precision_names[TPA_PRECISIONS] = { "single", "double", "bf16", "f16", "int8" };

const struct tpa_work_row *tpa_work_row(uint32_t kind)
{
	return kind < TPROF_WORK_KINDS && rows[kind].name ? &rows[kind] : NULL;
}

const struct tpa_dtype *tpa_dtype(uint8_t dtype)
{
	return dtype < TPROF_DTYPES && dtypes[dtype].name ? &dtypes[dtype] : NULL;
}

bool tpa_work_is_matrix(uint32_t kind)
{
	return !tpa_work_row(kind) || !tpa_work_row(kind)->pointwise;
}

const char *tpa_work_name(uint32_t kind)
{
	return tpa_work_row(kind) ? tpa_work_row(kind)->name : "?";
}
