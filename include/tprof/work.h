/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Part of the trace format: what a typed kernel works on. A WORK event contains a kind, an element type, flags and the
 * dimensions as the kernel's caller passed them. Only the reader knows what they mean in FLOP and bytes (the formulas
 * are in analyzer/model/flop/work.c). A number never changes its meaning.
 */
#ifndef TPROF_WORK_H
#define TPROF_WORK_H

/*
 * The kinds, and their dimensions in order. Matrices are as in the BLAS: C is m x n, and k is the dimension that is
 * summed over.
 */
enum tprof_work {
	TPROF_WORK_NONE = 0,

	/* BLAS 3 */
	TPROF_WORK_GEMM = 1,  /* m n k */
	TPROF_WORK_GEMMT = 2, /* n k: the triangle of a GEMM */
	TPROF_WORK_SYMM = 3,  /* m n; the symmetric matrix is m x m, on the right n x n */
	TPROF_WORK_SYRK = 4,  /* n k */
	TPROF_WORK_SYR2K = 5, /* n k */
	TPROF_WORK_TRMM = 6,  /* m n; the triangle is m x m, on the right n x n */
	TPROF_WORK_TRSM = 7,  /* m n; the same */
	/* BLAS 2 */
	TPROF_WORK_GEMV = 10, /* m n */
	TPROF_WORK_SYMV = 11, /* n */
	TPROF_WORK_TRMV = 12, /* n */
	TPROF_WORK_TRSV = 13, /* n */
	TPROF_WORK_GER = 14,  /* m n */
	TPROF_WORK_SYR = 15,  /* n */
	TPROF_WORK_SYR2 = 16, /* n */
	TPROF_WORK_GBMV = 17, /* m n kl ku */
	TPROF_WORK_SBMV = 18, /* n k */
	TPROF_WORK_TBMV = 19, /* n k */
	TPROF_WORK_TBSV = 20, /* n k */
	/* BLAS 1: one dimension, and FLOP and bytes are proportional to it */
	TPROF_WORK_AXPY = 24,  /* n */
	TPROF_WORK_DOT = 25,   /* n */
	TPROF_WORK_SCAL = 26,  /* n */
	TPROF_WORK_COPY = 27,  /* n */
	TPROF_WORK_SWAP = 28,  /* n */
	TPROF_WORK_NRM2 = 29,  /* n */
	TPROF_WORK_ASUM = 30,  /* n */
	TPROF_WORK_IAMAX = 31, /* n */
	TPROF_WORK_ROT = 32,   /* n */
	TPROF_WORK_AXPBY = 33, /* n */
	/* LAPACK */
	TPROF_WORK_GETRF = 40, /* m n */
	TPROF_WORK_GETRS = 41, /* n nrhs */
	TPROF_WORK_GETRI = 42, /* n */
	TPROF_WORK_GESV = 43,  /* n nrhs */
	TPROF_WORK_POTRF = 44, /* n */
	TPROF_WORK_POTRS = 45, /* n nrhs */
	TPROF_WORK_POTRI = 46, /* n */
	TPROF_WORK_POSV = 47,  /* n nrhs */
	TPROF_WORK_GEQRF = 48, /* m n */
	TPROF_WORK_ORGQR = 49, /* m n k */
	TPROF_WORK_ORMQR = 50, /* m n k */
	TPROF_WORK_TRTRI = 51, /* n */
	TPROF_WORK_TRTRS = 52, /* n nrhs */
	TPROF_WORK_GELS = 53,  /* m n nrhs */
	TPROF_WORK_GELSD = 54, /* m n nrhs */
	TPROF_WORK_SYEV = 55,  /* n; also SYEVD and SYEVR */
	TPROF_WORK_GEEV = 56,  /* n */
	TPROF_WORK_GESVD = 57, /* m n; also GESDD */
	TPROF_WORK_GEBRD = 58, /* m n */
	TPROF_WORK_SYTRD = 59, /* n */
	TPROF_WORK_GEHRD = 60, /* n, first and last row of the reduced part */
	TPROF_WORK_GELQF = 80, /* m n */
	TPROF_WORK_ORGLQ = 81, /* m n k */
	TPROF_WORK_SYTRF = 82, /* n; also HETRF */
	TPROF_WORK_SYTRS = 83, /* n nrhs */
	TPROF_WORK_SYTRI = 84, /* n */
	TPROF_WORK_SYSV = 85,  /* n nrhs */
	TPROF_WORK_PBTRF = 86, /* n kd */
	TPROF_WORK_PBTRS = 87, /* n kd nrhs */
	TPROF_WORK_PBSV = 88,  /* n kd nrhs */
	TPROF_WORK_GBTRF = 89, /* m n kl ku */
	TPROF_WORK_GBTRS = 90, /* n kl ku nrhs */
	TPROF_WORK_GBSV = 91,  /* n kl ku nrhs */
	/* Neural networks. Forward and backward passes differ in what they read and write, not in their products. */
	TPROF_WORK_MATMUL = 64,	     /* batch m n k */
	TPROF_WORK_CONV = 65,	     /* batch groups ic oc id ih iw od oh ow kd kh kw */
	TPROF_WORK_POOL = 66,	     /* batch channels id ih iw od oh ow kd kh kw */
	TPROF_WORK_NORM = 67,	     /* elements, channels: batch, layer or group normalisation */
	TPROF_WORK_SOFTMAX = 68,     /* elements */
	TPROF_WORK_ELEMENTWISE = 69, /* elements, operands read: one operation each */
	TPROF_WORK_REORDER = 70,     /* elements */
	TPROF_WORK_REDUCE = 71,	     /* elements in, elements out */
	/* elements, operations on each: 0 if they can't be counted (exp, tanh, ...) */
	TPROF_WORK_ACTIVATION = 72,

	TPROF_WORK_KINDS = 92,
};

enum tprof_dtype {
	TPROF_DTYPE_NONE = 0,
	TPROF_DTYPE_F32 = 1,
	TPROF_DTYPE_F64 = 2,
	TPROF_DTYPE_C32 = 3, /* complex of two f32 */
	TPROF_DTYPE_C64 = 4, /* complex of two f64 */
	TPROF_DTYPE_F16 = 5,
	TPROF_DTYPE_BF16 = 6,
	TPROF_DTYPE_S32 = 7,
	TPROF_DTYPE_S8 = 8,
	TPROF_DTYPE_U8 = 9,
	TPROF_DTYPES,
};

enum tprof_work_flags {
	TPROF_WORK_TRANS_A = 1, /* the first matrix is transposed, or conjugated and transposed */
	TPROF_WORK_TRANS_B = 2,
	TPROF_WORK_RIGHT = 4,	  /* the special matrix is on the right */
	TPROF_WORK_REAL = 8,	  /* complex vectors times a real scalar (csscal, zdrot) */
	TPROF_WORK_BACKWARD = 16, /* backward pass of data (CONV, POOL: towards the input) */
	TPROF_WORK_WEIGHTS = 32,  /* backward pass of weights */
	/* not all tensors have the element type: a number after the dimensions gives the other types */
	TPROF_WORK_TYPES = 64,
	TPROF_WORK_QUERY = 128, /* the caller only asked for the size of the workspace: no work */
};

/*
 * The number after the dimensions of work with TPROF_WORK_TYPES: types (enum tprof_dtype) of the tensors that do not
 * have the element type, which is the input's. 0: same as the input.
 */
#define TPROF_WORK_TYPES_OF(second, result) ((uint64_t)(second) | (uint64_t)(result) << 8)
/* weights; for NORM scale, shift, mean and variance */
#define TPROF_WORK_TYPE_SECOND(types) ((uint8_t)(types))
/* for the backward pass, its gradient */
#define TPROF_WORK_TYPE_RESULT(types) ((uint8_t)((types) >> 8))

#define TPROF_WORK_DIMS 13u /* the most, without that number */

#endif
