/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/blas.h"

/*
 * A routine's name, with ? for the type (s d c z), and its Fortran arguments, one letter each:
 *   m  a dimension          t T  transposition of the first, of the second matrix      s  side
 *   w  lwork                c    another character                                    .  anything else
 * CBLAS has the same order, with the layout before them from level 2 on. Real scalars, which CBLAS passes in vector
 * registers, stand behind all that is read. Characters have hidden lengths at the end (gfortran's).
 */
static const struct routine {
	const char *name;
	uint8_t kind;
	uint8_t level; /* of BLAS; 4: LAPACK */
	const char *arguments;
	uint8_t dtype, flags; /* dtype 0: the name's first letter says it */
} routines[] = {
	{ "?gemm", TPROF_WORK_GEMM, 3, "tTmmm........", 0, 0 },
	{ "?gemm3m", TPROF_WORK_GEMM, 3, "tTmmm........", 0, 0 },
	{ "?gemmt", TPROF_WORK_GEMMT, 3, "ctTmm........", 0, 0 },
	{ "?symm", TPROF_WORK_SYMM, 3, "scmm........", 0, 0 },
	{ "?hemm", TPROF_WORK_SYMM, 3, "scmm........", 0, 0 },
	{ "?syrk", TPROF_WORK_SYRK, 3, "ctmm......", 0, 0 },
	{ "?herk", TPROF_WORK_SYRK, 3, "ctmm......", 0, 0 },
	{ "?syr2k", TPROF_WORK_SYR2K, 3, "ctmm........", 0, 0 },
	{ "?her2k", TPROF_WORK_SYR2K, 3, "ctmm........", 0, 0 },
	{ "?trmm", TPROF_WORK_TRMM, 3, "sctcmm.....", 0, 0 },
	{ "?trsm", TPROF_WORK_TRSM, 3, "sctcmm.....", 0, 0 },
	{ "?gemv", TPROF_WORK_GEMV, 2, "tmm........", 0, 0 },
	{ "?symv", TPROF_WORK_SYMV, 2, "cm........", 0, 0 },
	{ "?hemv", TPROF_WORK_SYMV, 2, "cm........", 0, 0 },
	{ "?spmv", TPROF_WORK_SYMV, 2, "cm.......", 0, 0 },
	{ "?hpmv", TPROF_WORK_SYMV, 2, "cm.......", 0, 0 },
	{ "?trmv", TPROF_WORK_TRMV, 2, "ctcm....", 0, 0 },
	{ "?tpmv", TPROF_WORK_TRMV, 2, "ctcm...", 0, 0 },
	{ "?trsv", TPROF_WORK_TRSV, 2, "ctcm....", 0, 0 },
	{ "?tpsv", TPROF_WORK_TRSV, 2, "ctcm...", 0, 0 },
	{ "?ger", TPROF_WORK_GER, 2, "mm.......", 0, 0 },
	{ "?geru", TPROF_WORK_GER, 2, "mm.......", 0, 0 },
	{ "?gerc", TPROF_WORK_GER, 2, "mm.......", 0, 0 },
	{ "?syr", TPROF_WORK_SYR, 2, "cm.....", 0, 0 },
	{ "?her", TPROF_WORK_SYR, 2, "cm.....", 0, 0 },
	{ "?spr", TPROF_WORK_SYR, 2, "cm....", 0, 0 },
	{ "?hpr", TPROF_WORK_SYR, 2, "cm....", 0, 0 },
	{ "?syr2", TPROF_WORK_SYR2, 2, "cm.......", 0, 0 },
	{ "?her2", TPROF_WORK_SYR2, 2, "cm.......", 0, 0 },
	{ "?spr2", TPROF_WORK_SYR2, 2, "cm......", 0, 0 },
	{ "?hpr2", TPROF_WORK_SYR2, 2, "cm......", 0, 0 },
	{ "?gbmv", TPROF_WORK_GBMV, 2, "tmmmm........", 0, 0 },
	{ "?sbmv", TPROF_WORK_SBMV, 2, "cmm........", 0, 0 },
	{ "?hbmv", TPROF_WORK_SBMV, 2, "cmm........", 0, 0 },
	{ "?tbmv", TPROF_WORK_TBMV, 2, "ctcmm....", 0, 0 },
	{ "?tbsv", TPROF_WORK_TBSV, 2, "ctcmm....", 0, 0 },
	{ "?axpy", TPROF_WORK_AXPY, 1, "m.....", 0, 0 },
	{ "?axpby", TPROF_WORK_AXPBY, 1, "m......", 0, 0 },
	{ "?dot", TPROF_WORK_DOT, 1, "m....", 0, 0 },
	{ "?dotu", TPROF_WORK_DOT, 1, "m....", 0, 0 },
	{ "?dotc", TPROF_WORK_DOT, 1, "m....", 0, 0 },
	{ "?dotu_sub", TPROF_WORK_DOT, 1, "m.....", 0, 0 },
	{ "?dotc_sub", TPROF_WORK_DOT, 1, "m.....", 0, 0 },
	{ "sdsdot", TPROF_WORK_DOT, 1, "m.....", 0, 0 },
	{ "dsdot", TPROF_WORK_DOT, 1, "m....", TPROF_DTYPE_F32, 0 },
	{ "?scal", TPROF_WORK_SCAL, 1, "m...", 0, 0 },
	{ "csscal", TPROF_WORK_SCAL, 1, "m...", TPROF_DTYPE_C32, TPROF_WORK_REAL },
	{ "zdscal", TPROF_WORK_SCAL, 1, "m...", TPROF_DTYPE_C64, TPROF_WORK_REAL },
	{ "?copy", TPROF_WORK_COPY, 1, "m....", 0, 0 },
	{ "?swap", TPROF_WORK_SWAP, 1, "m....", 0, 0 },
	{ "snrm2", TPROF_WORK_NRM2, 1, "m..", 0, 0 },
	{ "dnrm2", TPROF_WORK_NRM2, 1, "m..", 0, 0 },
	{ "scnrm2", TPROF_WORK_NRM2, 1, "m..", TPROF_DTYPE_C32, 0 },
	{ "dznrm2", TPROF_WORK_NRM2, 1, "m..", TPROF_DTYPE_C64, 0 },
	{ "sasum", TPROF_WORK_ASUM, 1, "m..", 0, 0 },
	{ "dasum", TPROF_WORK_ASUM, 1, "m..", 0, 0 },
	{ "scasum", TPROF_WORK_ASUM, 1, "m..", TPROF_DTYPE_C32, 0 },
	{ "dzasum", TPROF_WORK_ASUM, 1, "m..", TPROF_DTYPE_C64, 0 },
	{ "isamax", TPROF_WORK_IAMAX, 1, "m..", TPROF_DTYPE_F32, 0 },
	{ "idamax", TPROF_WORK_IAMAX, 1, "m..", TPROF_DTYPE_F64, 0 },
	{ "icamax", TPROF_WORK_IAMAX, 1, "m..", TPROF_DTYPE_C32, 0 },
	{ "izamax", TPROF_WORK_IAMAX, 1, "m..", TPROF_DTYPE_C64, 0 },
	{ "?rot", TPROF_WORK_ROT, 1, "m......", 0, 0 },
	{ "csrot", TPROF_WORK_ROT, 1, "m......", TPROF_DTYPE_C32, TPROF_WORK_REAL },
	{ "zdrot", TPROF_WORK_ROT, 1, "m......", TPROF_DTYPE_C64, TPROF_WORK_REAL },
	{ "?gesv", TPROF_WORK_GESV, 4, "mm......", 0, 0 },
	{ "?posv", TPROF_WORK_POSV, 4, "cmm.....", 0, 0 },
	{ "?getrf", TPROF_WORK_GETRF, 4, "mm....", 0, 0 },
	{ "?getrs", TPROF_WORK_GETRS, 4, "tmm......", 0, 0 },
	{ "?getri", TPROF_WORK_GETRI, 4, "m....w.", 0, 0 },
	{ "?potrf", TPROF_WORK_POTRF, 4, "cm...", 0, 0 },
	{ "?potrs", TPROF_WORK_POTRS, 4, "cmm.....", 0, 0 },
	{ "?potri", TPROF_WORK_POTRI, 4, "cm...", 0, 0 },
	{ "?geqrf", TPROF_WORK_GEQRF, 4, "mm.....w.", 0, 0 },
	{ "?orgqr", TPROF_WORK_ORGQR, 4, "mmm....w.", 0, 0 },
	{ "?ungqr", TPROF_WORK_ORGQR, 4, "mmm....w.", 0, 0 },
	{ "?ormqr", TPROF_WORK_ORMQR, 4, "stmmm......w.", 0, 0 },
	{ "?unmqr", TPROF_WORK_ORMQR, 4, "stmmm......w.", 0, 0 },
	{ "?trtri", TPROF_WORK_TRTRI, 4, "ccm...", 0, 0 },
	{ "?trtrs", TPROF_WORK_TRTRS, 4, "ctcmm.....", 0, 0 },
	{ "?gels", TPROF_WORK_GELS, 4, "tmmm.....w.", 0, 0 },
	{ "sgelsd", TPROF_WORK_GELSD, 4, "mmm........w..", 0, 0 },
	{ "dgelsd", TPROF_WORK_GELSD, 4, "mmm........w..", 0, 0 },
	{ "cgelsd", TPROF_WORK_GELSD, 4, "mmm........w...", 0, 0 },
	{ "zgelsd", TPROF_WORK_GELSD, 4, "mmm........w...", 0, 0 },
	{ "?syev", TPROF_WORK_SYEV, 4, "ccm....w.", 0, 0 },
	{ "?heev", TPROF_WORK_SYEV, 4, "ccm....w..", 0, 0 },
	{ "?syevd", TPROF_WORK_SYEV, 4, "ccm....w...", 0, 0 },
	{ "?heevd", TPROF_WORK_SYEV, 4, "ccm....w.....", 0, 0 },
	{ "?syevr", TPROF_WORK_SYEV, 4, "cccm.............w...", 0, 0 },
	{ "?heevr", TPROF_WORK_SYEV, 4, "cccm.............w.....", 0, 0 },
	{ "sgeev", TPROF_WORK_GEEV, 4, "ccm.........w.", 0, 0 },
	{ "dgeev", TPROF_WORK_GEEV, 4, "ccm.........w.", 0, 0 },
	{ "cgeev", TPROF_WORK_GEEV, 4, "ccm........w..", 0, 0 },
	{ "zgeev", TPROF_WORK_GEEV, 4, "ccm........w..", 0, 0 },
	{ "?gesvd", TPROF_WORK_GESVD, 4, "ccmm........w..", 0, 0 },
	{ "?gesdd", TPROF_WORK_GESVD, 4, "cmm........w...", 0, 0 },
};

/* Does `name`, of `length` bytes, fit a pattern that may begin with ? for s, d, c or z? */
static bool fits(const char *pattern, const char *name, size_t length)
{
	if (strlen(pattern) != length || (*pattern == '?' ? !strchr("sdcz", *name) : *pattern != *name))
		return false;
	return memcmp(pattern + 1, name + 1, length - 1) == 0;
}

static const struct routine *find(const char *name, size_t length)
{
	for (size_t i = 0; length > 1 && i < TP_LENGTH(routines); i++) {
		if (fits(routines[i].name, name, length))
			return &routines[i];
	}
	return NULL;
}

static uint8_t dtype_of(char letter)
{
	switch (letter) {
	case 's':
		return TPROF_DTYPE_F32;
	case 'd':
		return TPROF_DTYPE_F64;
	case 'c':
		return TPROF_DTYPE_C32;
	default:
		return TPROF_DTYPE_C64;
	}
}

static void describe(struct tp_signature *signature, const struct routine *routine, bool is_c)
{
	static const char letters[] = "mtTsw"; /* in the order of enum tp_part */
	unsigned first = is_c && routine->level > 1, arguments = first;

	for (const char *at = routine->arguments; *at; at++, arguments++) {
		const char *letter = strchr(letters, *at);

		if (letter)
			tp_signature_add(signature, (enum tp_part)(letter - letters), arguments);
	}
	for (const char *at = routine->arguments; !is_c && *at; at++)
		arguments += *at != 'm' && *at != '.' && *at != 'w'; /* a character's length */
	signature->stack_known = true;
	signature->stack = (uint8_t)(arguments > 6 ? arguments - 6 : 0);
	signature->by_reference = !is_c;
	signature->kind = routine->kind;
}

/* Takes the ending off: sgemm_, sgemm64_, dgesdd_64_, cblas_sgemm_64. Fortran's has one, CBLAS's may. */
static bool cut_suffix(const char *name, size_t *length, bool is_c, bool *wide)
{
	size_t n = *length;

	*wide = true;
	if (n > 2 && memcmp(name + n - 2, "64", 2) == 0)
		n -= 2;
	else if (n > 3 && memcmp(name + n - 3, "64_", 3) == 0)
		n -= 3;
	else
		*wide = false;
	if (!*wide && !is_c && name[n - 1] != '_')
		return false;
	*length = n - (name[n - 1] == '_');
	return true;
}

bool tp_blas_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature)
{
	const struct routine *routine;
	const char *name = symbol;
	bool is_c, wide;
	size_t length;

	if (strncmp(name, "scipy_", 6) == 0)
		name += 6;
	is_c = strncmp(name, "cblas_", 6) == 0;
	if (is_c)
		name += 6;
	if (!*name || !strchr("sdczi", *name))
		return false;
	length = strlen(name);
	if (!cut_suffix(name, &length, is_c, &wide))
		return false;
	routine = find(name, length);
	if (!routine || (is_c && routine->level == 4))
		return false;
	*signature = (struct tp_signature){
		.wide = wide,
		.dtype = routine->dtype ? routine->dtype : dtype_of(*name),
		.flags = routine->flags,
	};
	describe(signature, routine, is_c);
	if (is_c)
		tp_text_add(to, "cblas_");
	tp_text_add_bytes(to, name, length);
	return true;
}
