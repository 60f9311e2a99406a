/* SPDX-License-Identifier: Apache-2.0 */
/* libcountlapack.so: as libcountblas.so, the functions that lapack_calls calls. */
#include "countblas.h"

#define IN const int *
#define TEXT const char *
#define QUERY(lwork) (*(lwork) == -1 ? " (workspace query)" : "")
#define TURNED(trans) ((*(trans) | 32) == 'n' ? "" : " T")

COUNT(void, dgelqf_, (IN m, IN n, void *a, IN lda, void *tau, void *work, IN lwork, int *info),
      (m, n, a, lda, tau, work, lwork, info), "m=%d n=%d%s", *m, *n, QUERY(lwork))
COUNT(void, dgebrd_,
      (IN m, IN n, void *a, IN lda, void *d, void *e, void *tauq, void *taup, void *work, IN lwork, int *info),
      (m, n, a, lda, d, e, tauq, taup, work, lwork, info), "m=%d n=%d%s", *m, *n, QUERY(lwork))
COUNT(void, dorglq_, (IN m, IN n, IN k, void *a, IN lda, void *tau, void *work, IN lwork, int *info),
      (m, n, k, a, lda, tau, work, lwork, info), "m=%d n=%d k=%d%s", *m, *n, *k, QUERY(lwork))
COUNT(void, dormlq_,
      (TEXT side, TEXT trans, IN m, IN n, IN k, void *a, IN lda, void *tau, void *c, IN ldc, void *work, IN lwork,
       int *info),
      (side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork, info), "m=%d n=%d k=%d%s%s%s", *m, *n, *k, TURNED(trans),
      *side == 'R' ? " right" : "", QUERY(lwork))
COUNT(void, dgels_, (TEXT trans, IN m, IN n, IN rhs, void *a, IN lda, void *b, IN ldb, void *work, IN lwork, int *info),
      (trans, m, n, rhs, a, lda, b, ldb, work, lwork, info), "m=%d n=%d nrhs=%d%s%s", *m, *n, *rhs, TURNED(trans),
      QUERY(lwork))
COUNT(void, dgesvd_,
      (TEXT u, TEXT vt, IN m, IN n, void *a, IN lda, void *s, void *us, IN ldu, void *vts, IN ldvt, void *work,
       IN lwork, int *info),
      (u, vt, m, n, a, lda, s, us, ldu, vts, ldvt, work, lwork, info), "m=%d n=%d%s", *m, *n, QUERY(lwork))
COUNT(void, dsytrf_, (TEXT uplo, IN n, void *a, IN lda, int *pivots, void *work, IN lwork, int *info),
      (uplo, n, a, lda, pivots, work, lwork, info), "n=%d%s", *n, QUERY(lwork))
COUNT(void, dsytri_, (TEXT uplo, IN n, void *a, IN lda, int *pivots, void *work, int *info),
      (uplo, n, a, lda, pivots, work, info), "n=%d", *n)
COUNT(void, dsysv_,
      (TEXT uplo, IN n, IN rhs, void *a, IN lda, int *pivots, void *b, IN ldb, void *work, IN lwork, int *info),
      (uplo, n, rhs, a, lda, pivots, b, ldb, work, lwork, info), "n=%d nrhs=%d%s", *n, *rhs, QUERY(lwork))
COUNT(void, dpbtrf_, (TEXT uplo, IN n, IN kd, void *ab, IN ldab, int *info), (uplo, n, kd, ab, ldab, info),
      "n=%d kd=%d", *n, *kd)
COUNT(void, dpbtrs_, (TEXT uplo, IN n, IN kd, IN rhs, void *ab, IN ldab, void *b, IN ldb, int *info),
      (uplo, n, kd, rhs, ab, ldab, b, ldb, info), "n=%d kd=%d nrhs=%d", *n, *kd, *rhs)
COUNT(void, dpbsv_, (TEXT uplo, IN n, IN kd, IN rhs, void *ab, IN ldab, void *b, IN ldb, int *info),
      (uplo, n, kd, rhs, ab, ldab, b, ldb, info), "n=%d kd=%d nrhs=%d", *n, *kd, *rhs)
COUNT(void, dgbtrf_, (IN m, IN n, IN kl, IN ku, void *ab, IN ldab, int *pivots, int *info),
      (m, n, kl, ku, ab, ldab, pivots, info), "m=%d n=%d kl=%d ku=%d", *m, *n, *kl, *ku)
COUNT(void, dgbtrs_,
      (TEXT trans, IN n, IN kl, IN ku, IN rhs, void *ab, IN ldab, int *pivots, void *b, IN ldb, int *info),
      (trans, n, kl, ku, rhs, ab, ldab, pivots, b, ldb, info), "n=%d kl=%d ku=%d nrhs=%d%s", *n, *kl, *ku, *rhs,
      TURNED(trans))
COUNT(void, dgbsv_, (IN n, IN kl, IN ku, IN rhs, void *ab, IN ldab, int *pivots, void *b, IN ldb, int *info),
      (n, kl, ku, rhs, ab, ldab, pivots, b, ldb, info), "n=%d kl=%d ku=%d nrhs=%d", *n, *kl, *ku, *rhs)
