/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's file, and where ops stand under its roofs, by numbers that were computed by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "machine/kernels.h"
#include "machine/roofline.h"
#include "report/text/roof_listing.h"

/* 4 cores, 100 GFLOP/s each in single precision; L1 1000, L2 500, L3 200 (400 all), memory 20 (40 all) GB/s. */
static struct tpa_machine machine(void)
{
	struct tpa_machine m = { .cpu = "Test (R) CPU @ 1GHz", .cores = 4, .measured_unix_s = 7 };

	m.flops[TPA_WIDTH_SSE][TPA_SINGLE] = (struct tpa_rate){ 25, 100 };
	m.flops[TPA_WIDTH_SSE][TPA_DOUBLE] = (struct tpa_rate){ 12.5, 50 };
	m.flops[TPA_WIDTH_AVX2][TPA_SINGLE] = (struct tpa_rate){ 100, 400 };
	m.flops[TPA_WIDTH_AVX2][TPA_DOUBLE] = (struct tpa_rate){ 50, 200 };
	m.bandwidth[TPA_LEVEL_L1] = (struct tpa_rate){ 1000, 4000 };
	m.bandwidth[TPA_LEVEL_L2] = (struct tpa_rate){ 500, 2000 };
	m.bandwidth[TPA_LEVEL_L3] = (struct tpa_rate){ 200, 400 };
	m.bandwidth[TPA_LEVEL_MEMORY] = (struct tpa_rate){ 20, 40 };
	m.cache_bytes[TPA_LEVEL_L1] = 32 << 10;
	m.cache_bytes[TPA_LEVEL_L2] = 1 << 20;
	m.cache_bytes[TPA_LEVEL_L3] = 32 << 20;
	return m;
}

static struct tpa_op_stats op(const char *name, const char *category, uint64_t flop, uint64_t bytes, uint64_t ns)
{
	return (struct tpa_op_stats){ .name = name,
				      .category = category,
				      .calls = 2,
				      .total_ns = 2 * ns,
				      .self_ns = 2 * ns,
				      .flop = 2 * flop,
				      .self_flop = 2 * flop,
				      .bytes = 2 * bytes,
				      .self_bytes = 2 * bytes };
}

static struct tpa_op_stats in_doubles(struct tpa_op_stats o)
{
	o.flop_in[TPA_DOUBLE] = o.self_flop;
	return o;
}

static void test_rates(void **state)
{
	struct tpa_machine m = machine();

	(void)state;
	assert_true(tpa_machine_peak(&m, TPA_SINGLE).all == 400);
	assert_true(tpa_roof_peak(&m, 1, TPA_DOUBLE) == 50);
	assert_true(tpa_roof_peak(&m, 2, TPA_DOUBLE) == 100);
	assert_true(tpa_roof_peak(&m, 9, TPA_DOUBLE) == 200);
	assert_true(tpa_roof_bandwidth(&m, 1, TPA_LEVEL_MEMORY) == 20);
	assert_true(tpa_roof_bandwidth(&m, 2, TPA_LEVEL_MEMORY) == 40);
	assert_true(tpa_roof_bandwidth(&m, 3, TPA_LEVEL_MEMORY) == 40); /* all cores can't have more */
	assert_true(tpa_roof_bandwidth(&m, 2, TPA_LEVEL_L1) == 2000);
	assert_int_equal(tpa_roof_level(&m, 1, 32 << 10), TPA_LEVEL_L1);
	assert_int_equal(tpa_roof_level(&m, 1, (32 << 10) + 1), TPA_LEVEL_L2);
	assert_int_equal(tpa_roof_level(&m, 2, (32 << 10) + 1), TPA_LEVEL_L1); /* two caches */
	assert_int_equal(tpa_roof_level(&m, 4, 32 << 20), TPA_LEVEL_L3);
	assert_int_equal(tpa_roof_level(&m, 4, (32 << 20) + 1), TPA_LEVEL_MEMORY);
}

static void test_places(void **state)
{
	struct tpa_machine m = machine();
	/* n = 1000: 2e9 FLOP on 24 MB of doubles: 40 ms at 50 GFLOP/s; the bytes take 0.12 ms from L3. */
	struct tpa_op_stats dgemm = in_doubles(op("cblas_dgemm", "blas", 2000000000, 24000000, 80000000));
	/* 10^7 doubles: 2e7 FLOP on 320 MB from memory: 16 ms. */
	struct tpa_op_stats triad = op("triad", "kernel", 20000000, 320000000, 20000000);
	struct tpa_op_stats copy = op("copy", "", 0, 2000000, 10000);
	struct tpa_op_stats exponent = op("exp", "", 20000, 8000, 1000);
	struct tpa_op_stats quick = op("instant", "", 10, 10, 0), silent = op("silent", "", 0, 0, 100);
	struct tpa_roof_place place = tpa_roof_place(&m, 1, &dgemm);

	(void)state;
	assert_int_equal(place.bound, TPA_BOUND_COMPUTE);
	assert_int_equal(place.precision, TPA_DOUBLE);
	assert_int_equal(place.level, TPA_LEVEL_L3);
	assert_true(fabs(place.ideal_ns - 80e6) < 1 && fabs(place.fraction - 0.5) < 1e-9);
	assert_true(fabs(place.gflops - 25) < 1e-9 && fabs(place.roof - 50) < 1e-9);
	assert_true(fabs(tpa_roof_place(&m, 4, &dgemm).fraction - 0.125) < 1e-9);

	place = tpa_roof_place(&m, 1, &triad);
	assert_int_equal(place.bound, TPA_BOUND_MEMORY);
	assert_int_equal(place.level, TPA_LEVEL_MEMORY);
	assert_true(fabs(place.ideal_ns - 32e6) < 1 && fabs(place.fraction - 0.8) < 1e-9);
	assert_true(fabs(place.intensity - 0.0625) < 1e-9 && fabs(place.roof - 1.25) < 1e-9);

	place = tpa_roof_place(&m, 1, &copy); /* without FLOP its roof is a bandwidth */
	assert_int_equal(place.bound, TPA_BOUND_MEMORY);
	assert_true(place.level == TPA_LEVEL_L3 && fabs(place.roof - 200) < 1e-9 && fabs(place.fraction - 1) < 1e-9);
	assert_int_equal(tpa_roof_place(&m, 1, &exponent).bound, TPA_BOUND_COMPUTE);
	assert_int_equal(tpa_roof_place(&m, 1, &quick).bound, TPA_BOUND_UNKNOWN);
	assert_int_equal(tpa_roof_place(&m, 1, &silent).bound, TPA_BOUND_UNKNOWN);

	/* Ops within that took time but did no known work: it was done in the whole time. */
	triad.self_ns = 1;
	assert_true(fabs(tpa_roof_place(&m, 1, &triad).fraction - 0.8) < 1e-9);
	triad.flop += 5;
	assert_true(tpa_roof_place(&m, 1, &triad).fraction > 1000);
}

static void test_notes(void **state)
{
	const struct tpa_machine made = machine();
	struct tpa_roof_notes notes = { .machine = &made, .cores = 1 };
	struct tpa_op_stats dgemm = in_doubles(op("cblas_dgemm", "blas", 2000000000, 24000000, 80000000));
	struct tpa_op_stats copy = op("copy", "", 0, 2000000, 10000), silent = op("silent", "", 0, 0, 100);

	(void)state;
	assert_string_equal(tpa_roof_note(&notes, &dgemm), "compute-bound, 50.0% of its roof");
	assert_string_equal(tpa_roof_note(&notes, &copy), "memory-bound (L3), 100.0% of its roof");
	assert_null(tpa_roof_note(&notes, &silent));
}

/* By what its kernels said, whatever the op is called. */
static void test_precision(void **state)
{
	struct tpa_machine m = machine();
	struct tpa_op_stats o = op("sgemm_", "blas", 3000, 1, 100), tower = op("tower", "layer", 3000, 1, 100);
	struct tpa_roof_place place;

	(void)state;
	assert_int_equal(tpa_op_precision(&o), TPA_UNSAID); /* nobody said: as single */
	assert_true(fabs(tpa_roof_place(&m, 1, &o).ideal_ns - 60) < 1e-9);
	for (int precision = 0; precision < TPA_PRECISIONS; precision++) {
		struct tpa_op_stats all = o;

		all.flop_in[precision] = all.self_flop;
		assert_int_equal(tpa_op_precision(&all), precision);
		assert_false(tpa_op_mixed(&all));
	}
	/* 6000 FLOP: 1000 single at 100, 4000 double at 50, 1000 that nobody said, a nanosecond. */
	tower.flop_in[TPA_SINGLE] = 1000;
	tower.flop_in[TPA_DOUBLE] = 4000;
	place = tpa_roof_place(&m, 1, &tower);
	assert_int_equal(place.precision, TPA_DOUBLE);
	assert_true(place.mixed && fabs(place.ideal_ns - (10 + 80 + 10)) < 1e-9);
	assert_true(fabs(place.roof - 60) < 1e-9);
}

/* Of narrow types what the machine has units for, but no less than by way of single precision. */
static void test_narrow(void **state)
{
	struct tpa_machine m = machine();

	(void)state;
	assert_true(tpa_machine_peak(&m, TPA_BF16).one == 100 && tpa_machine_peak(&m, TPA_INT8).all == 400);
	m.flops[TPA_WIDTH_AVX512][TPA_BF16] = (struct tpa_rate){ 50, 500 };
	m.flops[TPA_WIDTH_AMX][TPA_INT8] = (struct tpa_rate){ 6000, 9000 };
	assert_true(tpa_machine_peak(&m, TPA_BF16).one == 100 && tpa_machine_peak(&m, TPA_BF16).all == 500);
	assert_true(tpa_roof_peak(&m, 1, TPA_INT8) == 6000 && tpa_roof_peak(&m, 1, TPA_HALF) == 100);
	assert_true(tpa_roof_peak(&m, 1, TPA_UNSAID) == 100);
}

static void test_file(void **state)
{
	char folder[] = "/tmp/tprof-machine.XXXXXX", *path;
	struct tpa_machine m = machine(), back;
	const char *error = NULL;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(folder));
	setenv("XDG_CACHE_HOME", folder, 1);
	path = tpa_machine_path(&m);
	assert_non_null(strstr(path, "/tprof/Test-R-CPU-1GHz-4.json"));
	assert_false(tpa_machine_read(&back, path, &error));
	assert_non_null(error);
	assert_true(tpa_machine_write(&m, path));
	assert_true(tpa_machine_read(&back, path, &error));
	assert_memory_equal(&m, &back, sizeof(m));

	m.flops[TPA_WIDTH_AMX][TPA_BF16] = (struct tpa_rate){ 1, 2 };
	assert_true(tpa_machine_write(&m, path));
	assert_true(tpa_machine_read(&back, path, &error));
	assert_memory_equal(&m, &back, sizeof(m));

	m.flops[TPA_WIDTH_AVX2][TPA_SINGLE].one = -1;
	assert_true(tpa_machine_write(&m, path));
	assert_false(tpa_machine_read(&back, path, &error));
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("{\"schema\": \"tprof-machine/1\", \"cpu\": 3", f);
	fclose(f);
	assert_false(tpa_machine_read(&back, path, &error));
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(folder);
	free(path);
}

/* Of one round: 12 registers of products, or 6 tiles of 16 x 16 results, each of 64 bytes' products. */
static double operations_of(enum tpa_width width, enum tpa_precision precision)
{
	int numbers = (width == TPA_WIDTH_AMX ? 64 : 16 << width) / (precision == TPA_INT8 ? 1 : 2);

	return width == TPA_WIDTH_AMX ? 6.0 * 2 * 16 * 16 * numbers : 12.0 * 2 * numbers;
}

/* This machine, whatever it is: the kernels that it has do the work that they say, and the caches grow. */
static void test_this_machine(void **state)
{
	static char set[4096] __attribute__((aligned(64)));
	struct tpa_machine m;

	(void)state;
	tpa_machine_identify(&m);
	assert_true(m.cores >= 1 && m.cpu[0]);
	for (int level = 1; level < TPA_LEVEL_MEMORY; level++)
		assert_true(!m.cache_bytes[level] || m.cache_bytes[level] >= m.cache_bytes[level - 1]);
	for (int width = 0; width < TPA_WIDTHS; width++) {
		tpa_flop_kernel *single = tpa_flop_kernel_of((enum tpa_width)width, TPA_SINGLE);
		tpa_flop_kernel *twice = tpa_flop_kernel_of((enum tpa_width)width, TPA_DOUBLE);

		assert_int_equal(!single, !twice);
		if (single && twice)
			assert_true(single(10) == 10 * 12 * 2 * (4 << width) &&
				    twice(10) == 10 * 12 * 2 * (2 << width));
		for (int precision = TPA_BF16; precision < TPA_PRECISIONS; precision++) {
			tpa_flop_kernel *narrow =
				tpa_flop_kernel_of((enum tpa_width)width, (enum tpa_precision)precision);

			if (narrow)
				assert_true(narrow(10) ==
					    10 * operations_of((enum tpa_width)width, (enum tpa_precision)precision));
		}
	}
	assert_non_null(tpa_flop_kernel_of(TPA_WIDTH_SSE, TPA_SINGLE));
	for (tpa_load_kernel *const *load = tpa_load_kernels_widest(); *load; load++)
		(*load)(set, sizeof(set), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),	     cmocka_unit_test(test_places), cmocka_unit_test(test_precision),
		cmocka_unit_test(test_narrow),	     cmocka_unit_test(test_notes),  cmocka_unit_test(test_file),
		cmocka_unit_test(test_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
