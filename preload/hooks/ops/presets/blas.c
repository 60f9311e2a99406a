/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/presets/presets.h"

/*
 * A routine's name, with ? for the type (s d c z), and its Fortran arguments, one letter each:
 *   m  a dimension          t T  transposition of the first, of the second matrix      s  side
 *   w  lwork                c    another character                                    .  anything else
 * CBLAS has the same order, with the layout before them from level 2 on. Real scalars, which CBLAS passes in vector
 * registers, stand behind all that is read. Characters have hidden lengths at the end (gfortran's).
 */
static const struct routine {
	const char *name, *arguments;
	uint8_t kind;
	uint8_t level;	      /* of BLAS; 4 is LAPACK */
	uint8_t dtype, flags; /* dtype 0: given by the name's first letter */
} routines[] = {
	{ "?gemm", "tTmmm........", TPROF_WORK_GEMM, 3, 0, 0 },
	{ "?gemm3m", "tTmmm........", TPROF_WORK_GEMM, 3, 0, 0 },
	{ "?gemmt", "ctTmm........", TPROF_WORK_GEMMT, 3, 0, 0 },
	{ "?symm", "scmm........", TPROF_WORK_SYMM, 3, 0, 0 },
	{ "?hemm", "scmm........", TPROF_WORK_SYMM, 3, 0, 0 },
	{ "?syrk", "ctmm......", TPROF_WORK_SYRK, 3, 0, 0 },
	{ "?herk", "ctmm......", TPROF_WORK_SYRK, 3, 0, 0 },
	{ "?syr2k", "ctmm........", TPROF_WORK_SYR2K, 3, 0, 0 },
	{ "?her2k", "ctmm........", TPROF_WORK_SYR2K, 3, 0, 0 },
	{ "?trmm", "sctcmm.....", TPROF_WORK_TRMM, 3, 0, 0 },
	{ "?trsm", "sctcmm.....", TPROF_WORK_TRSM, 3, 0, 0 },
	{ "?gemv", "tmm........", TPROF_WORK_GEMV, 2, 0, 0 },
	{ "?symv", "cm........", TPROF_WORK_SYMV, 2, 0, 0 },
	{ "?hemv", "cm........", TPROF_WORK_SYMV, 2, 0, 0 },
	{ "?spmv", "cm.......", TPROF_WORK_SYMV, 2, 0, 0 },
	{ "?hpmv", "cm.......", TPROF_WORK_SYMV, 2, 0, 0 },
	{ "?trmv", "ctcm....", TPROF_WORK_TRMV, 2, 0, 0 },
	{ "?tpmv", "ctcm...", TPROF_WORK_TRMV, 2, 0, 0 },
	{ "?trsv", "ctcm....", TPROF_WORK_TRSV, 2, 0, 0 },
	{ "?tpsv", "ctcm...", TPROF_WORK_TRSV, 2, 0, 0 },
	{ "?ger", "mm.......", TPROF_WORK_GER, 2, 0, 0 },
	{ "?geru", "mm.......", TPROF_WORK_GER, 2, 0, 0 },
	{ "?gerc", "mm.......", TPROF_WORK_GER, 2, 0, 0 },
	{ "?syr", "cm.....", TPROF_WORK_SYR, 2, 0, 0 },
	{ "?her", "cm.....", TPROF_WORK_SYR, 2, 0, 0 },
	{ "?spr", "cm....", TPROF_WORK_SYR, 2, 0, 0 },
	{ "?hpr", "cm....", TPROF_WORK_SYR, 2, 0, 0 },
	{ "?syr2", "cm.......", TPROF_WORK_SYR2, 2, 0, 0 },
	{ "?her2", "cm.......", TPROF_WORK_SYR2, 2, 0, 0 },
	{ "?spr2", "cm......", TPROF_WORK_SYR2, 2, 0, 0 },
	{ "?hpr2", "cm......", TPROF_WORK_SYR2, 2, 0, 0 },
	{ "?gbmv", "tmmmm........", TPROF_WORK_GBMV, 2, 0, 0 },
	{ "?sbmv", "cmm........", TPROF_WORK_SBMV, 2, 0, 0 },
	{ "?hbmv", "cmm........", TPROF_WORK_SBMV, 2, 0, 0 },
	{ "?tbmv", "ctcmm....", TPROF_WORK_TBMV, 2, 0, 0 },
	{ "?tbsv", "ctcmm....", TPROF_WORK_TBSV, 2, 0, 0 },
	{ "?axpy", "m.....", TPROF_WORK_AXPY, 1, 0, 0 },
	{ "?axpby", "m......", TPROF_WORK_AXPBY, 1, 0, 0 },
	{ "?dot", "m....", TPROF_WORK_DOT, 1, 0, 0 },
	{ "?dotu", "m....", TPROF_WORK_DOT, 1, 0, 0 },
	{ "?dotc", "m....", TPROF_WORK_DOT, 1, 0, 0 },
	{ "?dotu_sub", "m.....", TPROF_WORK_DOT, 1, 0, 0 },
	{ "?dotc_sub", "m.....", TPROF_WORK_DOT, 1, 0, 0 },
	{ "sdsdot", "m.....", TPROF_WORK_DOT, 1, 0, 0 },
	{ "dsdot", "m....", TPROF_WORK_DOT, 1, TPROF_DTYPE_F32, 0 },
	{ "?scal", "m...", TPROF_WORK_SCAL, 1, 0, 0 },
	{ "csscal", "m...", TPROF_WORK_SCAL, 1, TPROF_DTYPE_C32, TPROF_WORK_REAL },
	{ "zdscal", "m...", TPROF_WORK_SCAL, 1, TPROF_DTYPE_C64, TPROF_WORK_REAL },
	{ "?copy", "m....", TPROF_WORK_COPY, 1, 0, 0 },
	{ "?swap", "m....", TPROF_WORK_SWAP, 1, 0, 0 },
	{ "snrm2", "m..", TPROF_WORK_NRM2, 1, 0, 0 },
	{ "dnrm2", "m..", TPROF_WORK_NRM2, 1, 0, 0 },
	{ "scnrm2", "m..", TPROF_WORK_NRM2, 1, TPROF_DTYPE_C32, 0 },
	{ "dznrm2", "m..", TPROF_WORK_NRM2, 1, TPROF_DTYPE_C64, 0 },
	{ "sasum", "m..", TPROF_WORK_ASUM, 1, 0, 0 },
	{ "dasum", "m..", TPROF_WORK_ASUM, 1, 0, 0 },
	{ "scasum", "m..", TPROF_WORK_ASUM, 1, TPROF_DTYPE_C32, 0 },
	{ "dzasum", "m..", TPROF_WORK_ASUM, 1, TPROF_DTYPE_C64, 0 },
	{ "isamax", "m..", TPROF_WORK_IAMAX, 1, TPROF_DTYPE_F32, 0 },
	{ "idamax", "m..", TPROF_WORK_IAMAX, 1, TPROF_DTYPE_F64, 0 },
	{ "icamax", "m..", TPROF_WORK_IAMAX, 1, TPROF_DTYPE_C32, 0 },
	{ "izamax", "m..", TPROF_WORK_IAMAX, 1, TPROF_DTYPE_C64, 0 },
	{ "?rot", "m......", TPROF_WORK_ROT, 1, 0, 0 },
	{ "csrot", "m......", TPROF_WORK_ROT, 1, TPROF_DTYPE_C32, TPROF_WORK_REAL },
	{ "zdrot", "m......", TPROF_WORK_ROT, 1, TPROF_DTYPE_C64, TPROF_WORK_REAL },
	{ "?gesv", "mm......", TPROF_WORK_GESV, 4, 0, 0 },
	{ "?posv", "cmm.....", TPROF_WORK_POSV, 4, 0, 0 },
	{ "?getrf", "mm....", TPROF_WORK_GETRF, 4, 0, 0 },
	{ "?getrs", "tmm......", TPROF_WORK_GETRS, 4, 0, 0 },
	{ "?getri", "m....w.", TPROF_WORK_GETRI, 4, 0, 0 },
	{ "?potrf", "cm...", TPROF_WORK_POTRF, 4, 0, 0 },
	{ "?potrs", "cmm.....", TPROF_WORK_POTRS, 4, 0, 0 },
	{ "?potri", "cm...", TPROF_WORK_POTRI, 4, 0, 0 },
	{ "?geqrf", "mm....w.", TPROF_WORK_GEQRF, 4, 0, 0 },
	{ "?geqlf", "mm....w.", TPROF_WORK_GEQRF, 4, 0, 0 },
	{ "?gelqf", "mm....w.", TPROF_WORK_GELQF, 4, 0, 0 },
	{ "?gerqf", "mm....w.", TPROF_WORK_GELQF, 4, 0, 0 },
	{ "?orgqr", "mmm....w.", TPROF_WORK_ORGQR, 4, 0, 0 },
	{ "?ungqr", "mmm....w.", TPROF_WORK_ORGQR, 4, 0, 0 },
	{ "?orgql", "mmm....w.", TPROF_WORK_ORGQR, 4, 0, 0 },
	{ "?ungql", "mmm....w.", TPROF_WORK_ORGQR, 4, 0, 0 },
	{ "?orglq", "mmm....w.", TPROF_WORK_ORGLQ, 4, 0, 0 },
	{ "?unglq", "mmm....w.", TPROF_WORK_ORGLQ, 4, 0, 0 },
	{ "?orgrq", "mmm....w.", TPROF_WORK_ORGLQ, 4, 0, 0 },
	{ "?ungrq", "mmm....w.", TPROF_WORK_ORGLQ, 4, 0, 0 },
	{ "?ormqr", "stmmm......w.", TPROF_WORK_ORMQR, 4, 0, 0 },
	{ "?unmqr", "stmmm......w.", TPROF_WORK_ORMQR, 4, 0, 0 },
	{ "?ormql", "stmmm......w.", TPROF_WORK_ORMQR, 4, 0, 0 },
	{ "?unmql", "stmmm......w.", TPROF_WORK_ORMQR, 4, 0, 0 },
	{ "?ormlq", "stmmm......w.", TPROF_WORK_ORMQR, 4, 0, 0 },
	{ "?unmlq", "stmmm......w.", TPROF_WORK_ORMQR, 4, 0, 0 },
	{ "?ormrq", "stmmm......w.", TPROF_WORK_ORMQR, 4, 0, 0 },
	{ "?unmrq", "stmmm......w.", TPROF_WORK_ORMQR, 4, 0, 0 },
	{ "?trtri", "ccm...", TPROF_WORK_TRTRI, 4, 0, 0 },
	{ "?trtrs", "ctcmm.....", TPROF_WORK_TRTRS, 4, 0, 0 },
	{ "?gels", "tmmm.....w.", TPROF_WORK_GELS, 4, 0, 0 },
	{ "sgelsd", "mmm........w..", TPROF_WORK_GELSD, 4, 0, 0 },
	{ "dgelsd", "mmm........w..", TPROF_WORK_GELSD, 4, 0, 0 },
	{ "cgelsd", "mmm........w...", TPROF_WORK_GELSD, 4, 0, 0 },
	{ "zgelsd", "mmm........w...", TPROF_WORK_GELSD, 4, 0, 0 },
	{ "?syev", "ccm....w.", TPROF_WORK_SYEV, 4, 0, 0 },
	{ "?heev", "ccm....w..", TPROF_WORK_SYEV, 4, 0, 0 },
	{ "?syevd", "ccm....w...", TPROF_WORK_SYEV, 4, 0, 0 },
	{ "?heevd", "ccm....w.....", TPROF_WORK_SYEV, 4, 0, 0 },
	{ "?syevr", "cccm.............w...", TPROF_WORK_SYEV, 4, 0, 0 },
	{ "?heevr", "cccm.............w.....", TPROF_WORK_SYEV, 4, 0, 0 },
	{ "sgeev", "ccm.........w.", TPROF_WORK_GEEV, 4, 0, 0 },
	{ "dgeev", "ccm.........w.", TPROF_WORK_GEEV, 4, 0, 0 },
	{ "cgeev", "ccm........w..", TPROF_WORK_GEEV, 4, 0, 0 },
	{ "zgeev", "ccm........w..", TPROF_WORK_GEEV, 4, 0, 0 },
	{ "sgesvd", "ccmm........w.", TPROF_WORK_GESVD, 4, TPROF_DTYPE_F32, 0 },
	{ "dgesvd", "ccmm........w.", TPROF_WORK_GESVD, 4, TPROF_DTYPE_F64, 0 },
	{ "?gesvd", "ccmm........w..", TPROF_WORK_GESVD, 4, 0, 0 },
	{ "sgesdd", "cmm........w..", TPROF_WORK_GESVD, 4, TPROF_DTYPE_F32, 0 },
	{ "dgesdd", "cmm........w..", TPROF_WORK_GESVD, 4, TPROF_DTYPE_F64, 0 },
	{ "?gesdd", "cmm........w...", TPROF_WORK_GESVD, 4, 0, 0 },
	{ "?gebrd", "mm.......w.", TPROF_WORK_GEBRD, 4, 0, 0 },
	{ "?sytrd", "cm......w.", TPROF_WORK_SYTRD, 4, 0, 0 },
	{ "?hetrd", "cm......w.", TPROF_WORK_SYTRD, 4, 0, 0 },
	{ "?sytrf", "cm....w.", TPROF_WORK_SYTRF, 4, 0, 0 },
	{ "?hetrf", "cm....w.", TPROF_WORK_SYTRF, 4, 0, 0 },
	{ "?sytrs", "cmm......", TPROF_WORK_SYTRS, 4, 0, 0 },
	{ "?hetrs", "cmm......", TPROF_WORK_SYTRS, 4, 0, 0 },
	{ "?sytri", "cm.....", TPROF_WORK_SYTRI, 4, 0, 0 },
	{ "?hetri", "cm.....", TPROF_WORK_SYTRI, 4, 0, 0 },
	{ "?sysv", "cmm......w.", TPROF_WORK_SYSV, 4, 0, 0 },
	{ "?hesv", "cmm......w.", TPROF_WORK_SYSV, 4, 0, 0 },
	{ "?pbtrf", "cmm...", TPROF_WORK_PBTRF, 4, 0, 0 },
	{ "?pbtrs", "cmmm.....", TPROF_WORK_PBTRS, 4, 0, 0 },
	{ "?pbsv", "cmmm.....", TPROF_WORK_PBSV, 4, 0, 0 },
	{ "?gbtrf", "mmmm....", TPROF_WORK_GBTRF, 4, 0, 0 },
	{ "?gbtrs", "tmmmm......", TPROF_WORK_GBTRS, 4, 0, 0 },
	{ "?gbsv", "mmmm......", TPROF_WORK_GBSV, 4, 0, 0 },
	{ "?gehrd", "mmm....w.", TPROF_WORK_GEHRD, 4, 0, 0 },
};

/*
 * Does `name`, of `length` bytes, match a pattern that may begin with ?, which stands for s, d, c or z? Nearly all
 * names fail within two letters.
 */
static bool fits(const char *pattern, const char *name, size_t length)
{
	if (pattern[1] != name[1] || (*pattern == '?' ? *name == 'i' : *pattern != *name))
		return false;
	return strlen(pattern) == length && memcmp(pattern + 2, name + 2, length - 2) == 0;
}

static const struct routine *find(const char *name, size_t length)
{
	for (size_t i = 0; length > 1 && i < TPC_LENGTH(routines); i++) {
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

static void describe(struct tpc_signature *signature, const struct routine *routine, bool is_c)
{
	static const char letters[] = "mtTsw"; /* in the order of enum tpc_part */
	unsigned first = is_c && routine->level > 1, arguments = first;

	for (const char *at = routine->arguments; *at; at++, arguments++) {
		const char *letter = strchr(letters, *at);

		if (letter)
			tpc_signature_add(signature, (enum tpc_part)(letter - letters), arguments);
	}
	for (const char *at = routine->arguments; !is_c && *at; at++)
		arguments += *at != 'm' && *at != '.' && *at != 'w'; /* a character's length */
	signature->stack_known = true;
	signature->stack = (uint8_t)(arguments > 6 ? arguments - 6 : 0);
	signature->by_reference = !is_c;
	signature->kind = routine->kind;
}

/*
 * Removes the suffix: sgemm_, sgemm64_, dgesdd_64_, cblas_sgemm_64. Fortran names have one, CBLAS names may. A name
 * without an underscore may be any program's: cswap64() may be given numbers, where Fortran's swap gets pointers.
 */
static bool cut_suffix(const char *name, size_t *length, bool is_c, bool *wide)
{
	size_t n = *length;

	if (!is_c && !strchr(name, '_'))
		return false;
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

bool tpc_blas_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature)
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
	*signature = (struct tpc_signature){
		.wide = wide,
		.dtype = routine->dtype ? routine->dtype : dtype_of(*name),
		.flags = routine->flags,
	};
	describe(signature, routine, is_c);
	if (is_c)
		tpc_text_add(to, "cblas_");
	tpc_text_add_bytes(to, name, length);
	return true;
}
