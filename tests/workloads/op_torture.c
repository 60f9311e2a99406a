/* SPDX-License-Identifier: Apache-2.0 */
/* op_torture TIMES: calls libtorture.so's functions and prints what came out: hooked or not, the same. */
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "torture.h"

static int cleaned;

static void clean(void *unused)
{
	(void)unused;
	cleaned++;
}

static void *leaves(void *result)
{
	pthread_cleanup_push(clean, NULL);
	torture_exit(result);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *is_cancelled(void *waiting)
{
	pthread_cleanup_push(clean, NULL);
	torture_wait(waiting);
	pthread_cleanup_pop(0);
	return NULL;
}

static int threads(int times)
{
	int right = 0;

	for (int i = 0; i < times; i++) {
		pthread_t one, other;
		void *result = NULL;
		int waiting = 0;

		if (pthread_create(&one, NULL, leaves, &right) || pthread_create(&other, NULL, is_cancelled, &waiting))
			abort();
		pthread_join(one, &result);
		right += result == &right;
		while (!__atomic_load_n(&waiting, __ATOMIC_ACQUIRE))
			usleep(100);
		pthread_cancel(other);
		pthread_join(other, &result);
		right += result == PTHREAD_CANCELED;
	}
	return right;
}

__attribute__((target("avx512f"))) static double vectors(int i)
{
	__m512d v = _mm512_set_pd(i, 1, 2, 3, 4, 5, 6, 7), one = _mm512_set1_pd(1);
	__m512d sum = torture_zmm(v, one, v, one, v, one, v, one, v);
	double out[8], all = 0;

	_mm512_storeu_pd(out, sum);
	for (int k = 0; k < 8; k++)
		all += (k + 1) * out[k];
	return all;
}

static void fill(char *bytes, size_t count, int i)
{
	for (size_t k = 0; k < count; k++)
		bytes[k] = (char)(k * 7 + (size_t)i);
}

/* In a frame as large as their arguments need, and in one that aligns itself. */
__attribute__((noinline)) static unsigned long many_bytes(int i)
{
	struct huge huge;
	struct large large;

	fill(huge.bytes, sizeof(huge.bytes), i);
	fill(large.bytes, sizeof(large.bytes), i + 1);
	return torture_huge(i, huge, large);
}

__attribute__((noinline)) static unsigned long most_bytes(int i)
{
	_Alignas(64) struct large aligned;
	static struct giant giant;

	fill(aligned.bytes, sizeof(aligned.bytes), i);
	fill(giant.bytes, sizeof(giant.bytes), i);
	return torture_giant(giant) + torture_large(aligned, i);
}

static double numbers(int i)
{
	struct large large;
	long double complex z = torture_x87(CMPLXL(i, 0.5L), 1.0L / 3.0L);

	memset(&large, i & 0x7f, sizeof(large));
	errno = 0;
	if (torture_errno(i) != i || errno != i)
		abort();
	return (double)creall(z) + (double)cimagl(z) + (double)torture_large(large, i) + (double)many_bytes(i) +
	       (double)most_bytes(i);
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 10;
	int ended;
	double sum = 0;

	fesetround(FE_UPWARD); /* control words are kept too */
	for (int i = 0; i < times; i++) {
		sum += numbers(i);
		if (__builtin_cpu_supports("avx512f"))
			sum += vectors(i);
	}
	printf("op_torture: %.6f, flags %x, ", sum, (unsigned)torture_flags());
	ended = threads(times / 10);
	printf("%d threads, %d cleaned up\n", ended, cleaned);
	return 0;
}
