/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources of the formulas:
 *   BLAS   the definition of the operation (Lawson et al. 1979, Dongarra et al. 1988 and 1990): what each element of the
 *          result takes. Scalings by alpha and beta are left out, as in the next.
 *   LAWN   Blackford and Dongarra, "Installation Guide for LAPACK", LAPACK Working Note 41, appendix C: multiplications
 *          and additions of each routine, exact to the last term.
 *   parts  the sum of the routines that it is made of, as LAPACK's own text says.
 *   def    the layer's definition: 2 FLOP for each product that is summed up.
 *   -      iterative, or not defined by its shape: no formula.
 */
#include "model/work.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * Integers up to 2^64 are exact in long double. LAPACK's formulas have sixths: they are computed six times as large and
 * divided at the end, so no term is ever rounded.
 */
typedef long double real;

struct count {
	real multiplications, additions; /* of elements */
	real elements;			 /* moved */
};

/* By the names of the BLAS. */
struct shape {
	real d[TPROF_WORK_DIMS];
	bool right, backward, weights;
};

typedef struct count formula(const struct shape *s);

static struct count both(real times, real elements)
{
	return (struct count){ times, times, elements };
}

static struct count sixths(real multiplications, real additions, real elements)
{
	return (struct count){ multiplications / 6, additions / 6, elements };
}

static struct count plus(struct count a, struct count b, real elements)
{
	return (struct count){ a.multiplications + b.multiplications, a.additions + b.additions, elements };
}

static real half(real n, real more) /* n (n + more) / 2 */
{
	return n * (n + more) / 2;
}

/* ---- BLAS 3 ---- */

static struct count gemm(const struct shape *s)
{
	real m = s->d[0], n = s->d[1], k = s->d[2];

	return both(m * n * k, m * k + k * n + m * n);
}

static struct count gemmt(const struct shape *s)
{
	real n = s->d[0], k = s->d[1];

	return both(half(n, 1) * k, 2 * n * k + half(n, 1));
}

static struct count symm(const struct shape *s)
{
	real m = s->d[0], n = s->d[1], order = s->right ? n : m;

	return both(m * n * order, half(order, 1) + 2 * m * n);
}

static struct count syrk(const struct shape *s)
{
	real n = s->d[0], k = s->d[1];

	return both(half(n, 1) * k, n * k + half(n, 1));
}

static struct count syr2k(const struct shape *s)
{
	real n = s->d[0], k = s->d[1];

	return both(2 * half(n, 1) * k, 2 * n * k + half(n, 1));
}

/* A triangle of that order times, or solved for, `count` vectors. */
static struct count triangle(real order, real count)
{
	return (struct count){ count * half(order, 1), count * half(order, -1), half(order, 1) + 2 * order * count };
}

static struct count trmm(const struct shape *s)
{
	return s->right ? triangle(s->d[1], s->d[0]) : triangle(s->d[0], s->d[1]);
}

/* ---- BLAS 2 ---- */

static struct count gemv(const struct shape *s)
{
	real m = s->d[0], n = s->d[1];

	return both(m * n, m * n + m + n);
}

static struct count symv(const struct shape *s)
{
	real n = s->d[0];

	return both(n * n, half(n, 1) + 2 * n);
}

static struct count trmv(const struct shape *s)
{
	return triangle(s->d[0], 1);
}

static struct count ger(const struct shape *s)
{
	real m = s->d[0], n = s->d[1];

	return both(m * n, 2 * m * n + m + n);
}

static struct count syr(const struct shape *s)
{
	real n = s->d[0];

	return both(half(n, 1), 2 * half(n, 1) + n);
}

static struct count syr2(const struct shape *s)
{
	real n = s->d[0];

	return both(2 * half(n, 1), 2 * half(n, 1) + 2 * n);
}

/* Elements of an m x n matrix on `count` diagonals, the i-th of them i away from the main one. */
static real beside(real rows, real columns, real count)
{
	real longest = columns < rows ? columns : rows, sum = 0, outside;

	/* The i-th diagonal on the side of `columns` has min(rows, columns - i) elements. */
	count = count < columns - 1 ? count : columns - 1;
	if (count <= 0)
		return 0;
	outside = columns - rows; /* so many diagonals are as long as the main one */
	outside = outside < 0 ? 0 : outside < count ? outside : count;
	sum = outside * longest;
	count -= outside;
	longest = outside > 0 || columns > rows ? rows : columns;
	return sum + count * longest - count * (count + 1) / 2;
}

static struct count gbmv(const struct shape *s)
{
	real m = s->d[0], n = s->d[1], elements;

	elements = (m < n ? m : n) + beside(n, m, s->d[2]) + beside(m, n, s->d[3]);
	return both(elements, elements + m + n);
}

static struct count sbmv(const struct shape *s)
{
	real n = s->d[0], side = beside(n, n, s->d[1]);

	return both(n + 2 * side, n + side + 2 * n);
}

static struct count tbmv(const struct shape *s)
{
	real n = s->d[0], side = beside(n, n, s->d[1]);

	return (struct count){ n + side, side, n + side + 2 * n };
}

/* ---- BLAS 1 ---- */

static struct count axpy(const struct shape *s)
{
	return both(s->d[0], 3 * s->d[0]);
}

static struct count axpby(const struct shape *s)
{
	return (struct count){ 2 * s->d[0], s->d[0], 3 * s->d[0] };
}

static struct count dot(const struct shape *s)
{
	return both(s->d[0], 2 * s->d[0]);
}

static struct count scal(const struct shape *s)
{
	return (struct count){ s->d[0], 0, 2 * s->d[0] };
}

static struct count copy(const struct shape *s)
{
	return (struct count){ 0, 0, 2 * s->d[0] };
}

static struct count swap(const struct shape *s)
{
	return (struct count){ 0, 0, 4 * s->d[0] };
}

static struct count iamax(const struct shape *s)
{
	return (struct count){ 0, 0, s->d[0] };
}

static struct count rot(const struct shape *s)
{
	return (struct count){ 4 * s->d[0], 2 * s->d[0], 4 * s->d[0] };
}

/* ---- LAPACK: six times the formulas ---- */

/* LAWN has it for m >= n; of a wide matrix the steps of the same algorithm, summed up. */
static struct count getrf(const struct shape *s)
{
	real m = s->d[0], n = s->d[1], squares = (m - 1) * m * (2 * m - 1), wider = n - m;

	if (m < n)
		return sixths(6 * m + 3 * m * (m - 1) * (1 + wider) + squares, 3 * m * (m - 1) * wider + squares,
			      2 * m * n);
	return sixths(n * (n * (3 * m - n - 3) + 3 * m + 4), n * (n * (3 * m - n) - 3 * m + 1), 2 * m * n);
}

static struct count getrs(const struct shape *s)
{
	real n = s->d[0], rhs = s->d[1];

	return (struct count){ rhs * n * n, rhs * n * (n - 1), n * n + 2 * n * rhs };
}

static struct count getri(const struct shape *s)
{
	real n = s->d[0];

	return sixths(n * (5 + n * (4 * n + 3)), n * (5 + n * (4 * n - 9)), 2 * n * n);
}

static struct count gesv(const struct shape *s)
{
	struct shape square = { { s->d[0], s->d[0] }, false, false, false };

	return plus(getrf(&square), getrs(s), 2 * s->d[0] * s->d[0] + 2 * s->d[0] * s->d[1]);
}

static struct count potrf(const struct shape *s)
{
	real n = s->d[0];

	return sixths(n * (n * (n + 3) + 2), n * (n * n - 1), 2 * half(n, 1));
}

static struct count potrs(const struct shape *s)
{
	real n = s->d[0], rhs = s->d[1];

	return (struct count){ rhs * n * (n + 1), rhs * n * (n - 1), half(n, 1) + 2 * n * rhs };
}

static struct count potri(const struct shape *s)
{
	real n = s->d[0];

	return sixths(n * (n * (2 * n + 6) + 4), n * (n * (2 * n - 3) + 1), 2 * half(n, 1));
}

static struct count posv(const struct shape *s)
{
	return plus(potrf(s), potrs(s), 2 * half(s->d[0], 1) + 2 * s->d[0] * s->d[1]);
}

static struct count geqrf(const struct shape *s)
{
	real m = s->d[0], n = s->d[1];

	if (m > n)
		return sixths(n * (n * (3 - 2 * n + 6 * m) + 6 * m + 23), n * (n * (3 - 2 * n + 6 * m) + 5), 2 * m * n);
	return sixths(m * (m * (6 * n - 2 * m - 3) + 12 * n + 23), m * (m * (6 * n - 2 * m - 3) + 6 * n + 5),
		      2 * m * n);
}

static struct count orgqr(const struct shape *s)
{
	real m = s->d[0], n = s->d[1], k = s->d[2];

	return sixths(k * (12 * m * n + 12 * n - 10 + k * (4 * k - 6 * (m + n) - 6)),
		      k * (12 * m * n + 6 * n - 6 * m + 2 + k * (4 * k - 6 * (m + n))), m * k + m * n);
}

static struct count ormqr(const struct shape *s)
{
	real m = s->d[0], n = s->d[1], k = s->d[2], elements = (s->right ? n : m) * k + 2 * m * n;

	if (s->right)
		return sixths(6 * (2 * n * m * k - m * k * k + m * k + n * k) - 3 * k * k + 3 * k,
			      6 * (2 * n * m * k - m * k * k + m * k), elements);
	return (struct count){ 2 * n * m * k - n * k * k + 2 * n * k, 2 * n * m * k - n * k * k + n * k, elements };
}

static struct count trtri(const struct shape *s)
{
	real n = s->d[0];

	return sixths(n * (n * (n + 3) + 2), n * (n * (n - 3) + 2), 2 * half(n, 1));
}

static struct count trtrs(const struct shape *s)
{
	return triangle(s->d[0], s->d[1]);
}

/* QR, its transpose times the right-hand sides, and the triangle. Of a wide matrix it is LQ: no formula here. */
static struct count gels(const struct shape *s)
{
	real m = s->d[0], n = s->d[1], rhs = s->d[2];
	struct shape apply = { { m, rhs, n }, false, false, false }, solve = { { n, rhs }, false, false, false };

	if (m < n)
		return (struct count){ -1, -1, -1 };
	return plus(plus(geqrf(s), ormqr(&apply), 0), trtrs(&solve), 2 * m * n + 2 * m * rhs);
}

/* ---- neural networks ---- */

static struct count matmul(const struct shape *s)
{
	real batch = s->d[0], m = s->d[1], n = s->d[2], k = s->d[3];

	return both(batch * m * n * k, batch * (m * k + k * n + m * n));
}

/*
 * Each output element is a sum over its group's input channels and the kernel; padding is counted as if it were there,
 * as all libraries do. The products of the two backward passes are the same ones.
 */
static struct count conv(const struct shape *s)
{
	const real *d = s->d;
	real batch = d[0], groups = d[1] > 0 ? d[1] : 1, ic = d[2], oc = d[3], kernel = d[10] * d[11] * d[12];
	real in = batch * ic * d[4] * d[5] * d[6], out = batch * oc * d[7] * d[8] * d[9];
	real weights = ic / groups * oc * kernel;

	return both(out * ic / groups * kernel, in + out + weights);
}

/* One addition or comparison for each element under the window. */
static struct count pool(const struct shape *s)
{
	const real *d = s->d;
	real in = d[0] * d[1] * d[2] * d[3] * d[4], out = d[0] * d[1] * d[5] * d[6] * d[7];

	return (struct count){ 0, out * d[8] * d[9] * d[10], in + out };
}

/* Mean (1), variance (2 additions, 1 multiplication), then subtract, scale, scale and shift. */
static struct count norm(const struct shape *s)
{
	return (struct count){ 3 * s->d[0], 5 * s->d[0], 2 * s->d[0] + 2 * s->d[1] };
}

static struct count elementwise(const struct shape *s)
{
	real operands = s->d[1] > 0 ? s->d[1] : 1;

	return (struct count){ 0, s->d[0], (operands + 1) * s->d[0] };
}

static struct count reduce(const struct shape *s)
{
	return (struct count){ 0, s->d[0] - s->d[1], s->d[0] + s->d[1] };
}

/* ---- the table ---- */

static const struct row {
	const char *name;
	const char *dims;   /* their names in the shape's text, one after the other */
	formula *formula;   /* NULL: none */
	const char *source; /* see above */
	bool says_type;	    /* the op's name does not */
} rows[TPROF_WORK_KINDS] = {
	[TPROF_WORK_GEMM] = { "gemm", "m n k", gemm, "BLAS", false },
	[TPROF_WORK_GEMMT] = { "gemmt", "n k", gemmt, "BLAS", false },
	[TPROF_WORK_SYMM] = { "symm", "m n", symm, "BLAS", false },
	[TPROF_WORK_SYRK] = { "syrk", "n k", syrk, "BLAS", false },
	[TPROF_WORK_SYR2K] = { "syr2k", "n k", syr2k, "BLAS", false },
	[TPROF_WORK_TRMM] = { "trmm", "m n", trmm, "BLAS", false },
	[TPROF_WORK_TRSM] = { "trsm", "m n", trmm, "BLAS", false },
	[TPROF_WORK_GEMV] = { "gemv", "m n", gemv, "BLAS", false },
	[TPROF_WORK_SYMV] = { "symv", "n", symv, "BLAS", false },
	[TPROF_WORK_TRMV] = { "trmv", "n", trmv, "BLAS", false },
	[TPROF_WORK_TRSV] = { "trsv", "n", trmv, "BLAS", false },
	[TPROF_WORK_GER] = { "ger", "m n", ger, "BLAS", false },
	[TPROF_WORK_SYR] = { "syr", "n", syr, "BLAS", false },
	[TPROF_WORK_SYR2] = { "syr2", "n", syr2, "BLAS", false },
	[TPROF_WORK_GBMV] = { "gbmv", "m n kl ku", gbmv, "BLAS", false },
	[TPROF_WORK_SBMV] = { "sbmv", "n k", sbmv, "BLAS", false },
	[TPROF_WORK_TBMV] = { "tbmv", "n k", tbmv, "BLAS", false },
	[TPROF_WORK_TBSV] = { "tbsv", "n k", tbmv, "BLAS", false },
	[TPROF_WORK_AXPY] = { "axpy", "n", axpy, "BLAS", false },
	[TPROF_WORK_AXPBY] = { "axpby", "n", axpby, "BLAS", false },
	[TPROF_WORK_DOT] = { "dot", "n", dot, "BLAS", false },
	[TPROF_WORK_SCAL] = { "scal", "n", scal, "BLAS", false },
	[TPROF_WORK_COPY] = { "copy", "n", copy, "BLAS", false },
	[TPROF_WORK_SWAP] = { "swap", "n", swap, "BLAS", false },
	[TPROF_WORK_NRM2] = { "nrm2", "n", NULL, "BLAS", false },
	[TPROF_WORK_ASUM] = { "asum", "n", NULL, "BLAS", false },
	[TPROF_WORK_IAMAX] = { "iamax", "n", iamax, "BLAS", false },
	[TPROF_WORK_ROT] = { "rot", "n", rot, "BLAS", false },
	[TPROF_WORK_GETRF] = { "getrf", "m n", getrf, "LAWN", false },
	[TPROF_WORK_GETRS] = { "getrs", "n nrhs", getrs, "LAWN", false },
	[TPROF_WORK_GETRI] = { "getri", "n", getri, "LAWN", false },
	[TPROF_WORK_GESV] = { "gesv", "n nrhs", gesv, "parts", false },
	[TPROF_WORK_POTRF] = { "potrf", "n", potrf, "LAWN", false },
	[TPROF_WORK_POTRS] = { "potrs", "n nrhs", potrs, "LAWN", false },
	[TPROF_WORK_POTRI] = { "potri", "n", potri, "LAWN", false },
	[TPROF_WORK_POSV] = { "posv", "n nrhs", posv, "parts", false },
	[TPROF_WORK_GEQRF] = { "geqrf", "m n", geqrf, "LAWN", false },
	[TPROF_WORK_ORGQR] = { "orgqr", "m n k", orgqr, "LAWN", false },
	[TPROF_WORK_ORMQR] = { "ormqr", "m n k", ormqr, "LAWN", false },
	[TPROF_WORK_TRTRI] = { "trtri", "n", trtri, "LAWN", false },
	[TPROF_WORK_TRTRS] = { "trtrs", "n nrhs", trtrs, "LAWN", false },
	[TPROF_WORK_GELS] = { "gels", "m n nrhs", gels, "parts", false },
	[TPROF_WORK_GELSD] = { "gelsd", "m n nrhs", NULL, "-", false },
	[TPROF_WORK_SYEV] = { "syev", "n", NULL, "-", false },
	[TPROF_WORK_GEEV] = { "geev", "n", NULL, "-", false },
	[TPROF_WORK_GESVD] = { "gesvd", "m n", NULL, "-", false },
	[TPROF_WORK_MATMUL] = { "matmul", "batch m n k", matmul, "def", true },
	[TPROF_WORK_CONV] = { "conv", "batch groups ic oc id ih iw od oh ow kd kh kw", conv, "def", true },
	[TPROF_WORK_POOL] = { "pool", "batch channels id ih iw od oh ow kd kh kw", pool, "def", true },
	[TPROF_WORK_NORM] = { "norm", "n channels", norm, "def", true },
	[TPROF_WORK_SOFTMAX] = { "softmax", "n", NULL, "-", true },
	[TPROF_WORK_ELEMENTWISE] = { "elementwise", "n operands", elementwise, "def", true },
	[TPROF_WORK_REORDER] = { "reorder", "n", copy, "def", true },
	[TPROF_WORK_REDUCE] = { "reduce", "in out", reduce, "def", true },
};

static const struct {
	const char *name;
	unsigned bytes;
	bool complex;
} dtypes[TPROF_DTYPES] = {
	[TPROF_DTYPE_F32] = { "f32", 4, false }, [TPROF_DTYPE_F64] = { "f64", 8, false },
	[TPROF_DTYPE_C32] = { "c32", 8, true },	 [TPROF_DTYPE_C64] = { "c64", 16, true },
	[TPROF_DTYPE_F16] = { "f16", 2, false }, [TPROF_DTYPE_BF16] = { "bf16", 2, false },
	[TPROF_DTYPE_S32] = { "s32", 4, false }, [TPROF_DTYPE_S8] = { "s8", 1, false },
	[TPROF_DTYPE_U8] = { "u8", 1, false },
};

static const struct row *row_of(uint32_t kind)
{
	return kind < TPROF_WORK_KINDS && rows[kind].name ? &rows[kind] : NULL;
}

const char *tp_work_name(uint32_t kind)
{
	return row_of(kind) ? row_of(kind)->name : "?";
}

const char *tp_work_source(uint32_t kind)
{
	return row_of(kind) ? row_of(kind)->source : "?";
}

unsigned tp_dtype_bytes(uint8_t dtype)
{
	return dtype < TPROF_DTYPES ? dtypes[dtype].bytes : 0;
}

/* ---- reading ---- */

static bool read_number(const uint8_t **at, const uint8_t *end, uint64_t *number)
{
	*number = 0;
	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		uint8_t byte = *(*at)++;

		*number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

bool tp_work_read(struct tp_work *work, const uint8_t *bytes, size_t length)
{
	const uint8_t *at = bytes, *end = bytes + length;
	uint64_t kind;

	memset(work, 0, sizeof(*work));
	if (!read_number(&at, end, &kind) || end - at < 2)
		return false;
	work->kind = kind < UINT32_MAX ? (uint32_t)kind : UINT32_MAX;
	work->dtype = *at++;
	work->flags = *at++;
	while (at < end && work->dims < TPROF_WORK_DIMS)
		if (!read_number(&at, end, &work->dim[work->dims++]))
			return false;
	return true;
}

bool tp_fold_read(struct tp_folded *folded, const uint8_t *bytes, size_t length)
{
	uint32_t calls = 0;

	memset(&folded->work, 0, sizeof(folded->work));
	if (length < 1 + sizeof(folded->counts) || bytes[0] > length - 1 - sizeof(folded->counts))
		return false;
	if (bytes[0] && !tp_work_read(&folded->work, bytes + 1, bytes[0]))
		return false;
	memcpy(&folded->counts, bytes + length - sizeof(folded->counts), sizeof(folded->counts));
	for (unsigned i = 0; i < TPROF_FOLD_BUCKETS; i++)
		calls += folded->counts.histogram[i];
	folded->counts.calls = calls; /* the writer may have been killed between the two */
	folded->sums = folded->work.dims == 1 && folded->counts.flags & TPROF_FOLD_MIXED;
	return true;
}

/* ---- amounts ---- */

/*
 * Additions and multiplications of these two are real ones for complex numbers too, and an element takes so many (BLAS:
 * the square of the length is the sum of the squares of all parts; the sum is of the parts' absolute values).
 */
static struct count of_parts(const struct tp_work *work, bool complex)
{
	real parts = (complex ? 2 : 1) * (real)work->dim[0];

	if (work->kind == TPROF_WORK_NRM2)
		return both(parts, (real)work->dim[0]);
	return (struct count){ 0, parts, (real)work->dim[0] };
}

static uint64_t whole(real number)
{
	return number < 0 ? 0 : number >= 18446744073709551616.0L ? UINT64_MAX : (uint64_t)(number + 0.5L);
}

struct tp_work_amount tp_work_amount(const struct tp_work *work)
{
	const struct row *row = row_of(work->kind);
	struct tp_work_amount amount = { false, false, 0, 0 };
	bool complex = work->dtype < TPROF_DTYPES && dtypes[work->dtype].complex, real_parts;
	struct shape shape = { .right = work->flags & TPROF_WORK_RIGHT,
			       .backward = work->flags & TPROF_WORK_BACKWARD,
			       .weights = work->flags & TPROF_WORK_WEIGHTS };
	struct count count;

	if (work->flags & TPROF_WORK_QUERY)
		return (struct tp_work_amount){ true, true, 0, 0 };
	real_parts = work->kind == TPROF_WORK_NRM2 || work->kind == TPROF_WORK_ASUM;
	if (!row || (!row->formula && !real_parts) || !tp_dtype_bytes(work->dtype))
		return amount;
	for (size_t i = 0; i < TPROF_WORK_DIMS; i++)
		shape.d[i] = (real)work->dim[i];
	count = real_parts ? of_parts(work, complex) : row->formula(&shape);
	if (count.elements < 0)
		return amount;
	amount.flop_known = amount.bytes_known = true;
	amount.bytes = whole(count.elements * tp_dtype_bytes(work->dtype));
	if (!complex || real_parts)
		amount.flop = whole(count.multiplications + count.additions);
	else if (work->flags & TPROF_WORK_REAL) /* by a real number: no cross terms */
		amount.flop = whole(2 * count.multiplications + 2 * count.additions);
	else
		amount.flop = whole(6 * count.multiplications + 2 * count.additions);
	return amount;
}

static uint64_t times(uint64_t amount, uint64_t count)
{
	uint64_t product;

	return __builtin_mul_overflow(amount, count, &product) ? UINT64_MAX : product;
}

/* Of one dimension the work is proportional to it, so that of the sum is the sum of the work. */
struct tp_work_amount tp_fold_amount(const struct tp_folded *folded)
{
	struct tp_work_amount amount;
	struct tp_work sum = folded->work;

	if (folded->sums) {
		sum.dim[0] = folded->counts.units;
		return tp_work_amount(&sum);
	}
	amount = tp_work_amount(&folded->work);
	amount.flop = times(amount.flop, folded->counts.calls);
	amount.bytes = times(amount.bytes, folded->counts.calls);
	return amount;
}

/* ---- text ---- */

struct writer {
	char *at, *end;
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *to, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(to->at, (size_t)(to->end - to->at), format, args);
	va_end(args);
	if (length > 0)
		to->at += length < to->end - to->at ? length : to->end - to->at - 1;
}

static void put_flags(struct writer *to, const struct tp_work *work)
{
	static const char *const transposed[] = { "NN", "TN", "NT", "TT" };
	uint8_t flags = work->flags;

	if (work->kind == TPROF_WORK_GEMM || work->kind == TPROF_WORK_GEMMT)
		put(to, " %s", transposed[flags & 3]);
	else if (flags & TPROF_WORK_TRANS_A)
		put(to, " T");
	if (flags & TPROF_WORK_RIGHT)
		put(to, " right");
	if (flags & TPROF_WORK_BACKWARD)
		put(to, " backward");
	if (flags & TPROF_WORK_WEIGHTS)
		put(to, " weights");
	if (flags & TPROF_WORK_QUERY)
		put(to, " (workspace query)");
}

void tp_work_shape(const struct tp_work *work, char *text, size_t size)
{
	const struct row *row = row_of(work->kind);
	const char *name = row ? row->dims : "";
	struct writer to = { text, text + size };

	*text = '\0';
	if (!row)
		put(&to, "kind %u:", work->kind);
	for (unsigned i = 0; i < work->dims; i++) {
		int length = (int)strcspn(name, " ");

		if (row && !*name)
			break;
		put(&to, i ? " " : row ? "" : " ");
		if (row)
			put(&to, "%.*s=", length, name);
		put(&to, "%llu", (unsigned long long)work->dim[i]);
		name += length + (name[length] == ' ');
	}
	put_flags(&to, work);
	if (row && row->says_type && work->dtype < TPROF_DTYPES && dtypes[work->dtype].name)
		put(&to, " %s", dtypes[work->dtype].name);
}

void tp_fold_shape(const struct tp_folded *folded, char *text, size_t size)
{
	const struct row *row = row_of(folded->work.kind);
	uint64_t low = UINT64_C(1) << (63 - (unsigned)__builtin_clzll(folded->work.dim[0] | 1));

	*text = '\0';
	if (!folded->sums && folded->work.kind)
		tp_work_shape(&folded->work, text, size);
	else if (row)
		snprintf(text, size, "%s=%llu..%llu", row->dims, (unsigned long long)(low > 1 ? low : 0),
			 (unsigned long long)(2 * low - 1));
}
