/* SPDX-License-Identifier: Apache-2.0 */
/* Work as it is read from a trace and as it is printed; folded calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/stats/histogram.h"
#include "model/stats/stats.h"
#include "work_made.h"

static void unknown(void **state)
{
	struct tpa_work svd = WORK(GESVD, F64, 10, 10), band = WORK(GBSV, F64, 5, 1, 1, 1),
			later = WORK(GEMM, F32, 1, 2);
	char text[64];

	(void)state;
	assert_false(tpa_work_amount(&svd).flop_known);
	assert_false(tpa_work_amount(&band).flop_known);
	later.kind = 99;
	assert_false(tpa_work_amount(&later).flop_known);
	tpa_work_shape(&later, text, sizeof(text));
	assert_string_equal(text, "kind 99: 1 2");
	later = WORK(GEMM, F32, 1, 2, 3);
	later.dtype = 77;
	assert_false(tpa_work_amount(&later).bytes_known);
	/* Too large for 64 bits: the largest number. */
	assert_int_equal(flop(WORK(GEMM, F32, UINT64_C(1) << 42, UINT64_C(1) << 42, UINT64_C(1) << 42)), UINT64_MAX);
}

static void shapes(void **state)
{
	struct tpa_work work = WORK(GEMM, F32, 64, 10, 128), conv = WORK(MATMUL, BF16, 1, 2, 3, 4);
	char text[64];

	(void)state;
	work.flags = TPROF_WORK_TRANS_B;
	tpa_work_shape(&work, text, sizeof(text));
	assert_string_equal(text, "m=64 n=10 k=128 NT");
	tpa_work_shape(&conv, text, sizeof(text));
	assert_string_equal(text, "batch=1 m=2 n=3 k=4 bf16");
	tpa_work_shape(&conv, text, 10);
	assert_string_equal(text, "batch=1 m");
	work = WORK(TRSM, F64, 3, 4);
	work.flags = TPROF_WORK_RIGHT | TPROF_WORK_TRANS_A;
	tpa_work_shape(&work, text, sizeof(text));
	assert_string_equal(text, "m=3 n=4 T right");
}

static void reading(void **state)
{
	const uint8_t record[] = { TPROF_WORK_GEMM, TPROF_DTYPE_F64, TPROF_WORK_TRANS_A, 0x80, 0x01, 5, 7 };
	struct tpa_work work;

	(void)state;
	assert_true(tpa_work_read(&work, record, sizeof(record)));
	assert_int_equal(work.dims, 3);
	assert_int_equal(work.dim[0], 128);
	assert_int_equal(flop(work), 2 * 128 * 5 * 7);
	assert_false(tpa_work_read(&work, record, 2));
	assert_false(tpa_work_read(&work, record, 4)); /* within a number */
	assert_true(tpa_work_read(&work, record, 3));
	assert_int_equal(work.dims, 0);
}

static void folds(void **state)
{
	uint8_t record[1 + 4 + 3 + sizeof(struct tprof_fold)] = { 4, TPROF_WORK_AXPY, TPROF_DTYPE_F32, 0, 70 };
	struct tprof_fold counts = { .ticks = 5000, .units = 300, .calls = 4, .min = 900, .max = 2000 };
	struct tpa_folded folded;
	char text[64];

	(void)state;
	counts.histogram[tprof_fold_bucket(900)] = 1;
	counts.histogram[tprof_fold_bucket(1050)] = 2;
	counts.histogram[tprof_fold_bucket(2000)] = 1;
	counts.flags = TPROF_FOLD_MIXED;
	memcpy(record + 8, &counts, sizeof(counts));
	assert_true(tpa_fold_read(&folded, record, sizeof(record)));
	assert_int_equal(tpa_fold_amount(&folded).flop, 600);
	tpa_fold_shape(&folded, text, sizeof(text));
	assert_string_equal(text, "n=64..127");
	folded.sums = false;
	assert_int_equal(tpa_fold_amount(&folded).flop, 4 * 140);
	tpa_fold_shape(&folded, text, sizeof(text));
	assert_string_equal(text, "n=70");
	record[0] = 200;
	assert_false(tpa_fold_read(&folded, record, sizeof(record)));
	assert_false(tpa_fold_read(&folded, record, 100));
	for (uint32_t ticks = 0; ticks < 1u << 17; ticks++) {
		uint32_t bucket = tprof_fold_bucket(ticks);

		assert_true(bucket < TPROF_FOLD_BUCKETS);
		assert_true(tprof_fold_low(bucket) <= ticks && ticks < tprof_fold_low(bucket + 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown),
		cmocka_unit_test(shapes),
		cmocka_unit_test(reading),
		cmocka_unit_test(folds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
