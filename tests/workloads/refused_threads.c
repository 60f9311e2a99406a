/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More threads that can't be had than there are tickets for new ones (hooks/process/thread.c), then one that can, which
 * computes and calls nothing.
 */
#include <pthread.h>
#include <stdio.h>

static volatile unsigned long result;

static void *compute(void *unused)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < 1000000; i++)
		sum += i ^ (sum << 1);
	result = sum;
	return unused;
}

int main(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int refused = 0;

	pthread_attr_init(&attributes);
	if (pthread_attr_setstacksize(&attributes,
				      (size_t)1 << 46)) /* half of all addresses that there are, with its guard */
		return 1;
	for (int i = 0; i < 600; i++)
		refused += pthread_create(&thread, &attributes, compute, NULL) != 0;
	if (pthread_create(&thread, NULL, compute, NULL) || pthread_join(thread, NULL))
		return 1;
	printf("refused %d\n", refused);
	return 0;
}
