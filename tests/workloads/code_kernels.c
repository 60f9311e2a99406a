// SPDX-License-Identifier: Apache-2.0
/* A library with a static function, which code_late loads. */
int late_run(int n);

static volatile int base = 3;

static __attribute__((noinline)) int late_kernel(int n)
{
	return n * base + 1;
}

int late_run(int n)
{
	return late_kernel(n) + late_kernel(n + 1);
}
