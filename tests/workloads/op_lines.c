/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_lines: lines that call the same op for times that differ, one of them by way of another function, and a line whose op
 * waits and needs no CPU time. What each took by the clock goes to the file that TRUTH_FILE names; lines are known by their
 * comments.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tinyblas.h"
#include "truth.h"

#define LENGTH 100000
#define ROUNDS 800
#define WAITS 20

static float x[4 * LENGTH], y[4 * LENGTH];

static uint64_t now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

static void by_way(void)
{
	cblas_saxpy(2 * LENGTH, 2, x, 1, y, 1); /* inner */
}

static void wait_a_little(void)
{
	usleep(5000);
}

int main(void)
{
	uint64_t took[4] = { 0 }, at[5];
	char text[200];
	int length;

	for (int round = 0; round < ROUNDS; round++) {
		at[0] = now();
		cblas_saxpy(LENGTH, 2, x, 1, y, 1); /* one */
		at[1] = now();
		cblas_saxpy(4 * LENGTH, 2, x, 1, y, 1); /* four */
		at[2] = now();
		by_way(); /* way */
		at[3] = now();
		if (round < WAITS)
			tiny_call(wait_a_little); /* wait */
		at[4] = now();
		for (int i = 0; i < 4; i++)
			took[i] += at[i + 1] - at[i];
	}
	length = snprintf(text, sizeof(text),
			  "{\"one\": %lu, \"four\": %lu, \"way\": %lu, \"inner\": %lu, \"wait\": %lu}\n", took[0],
			  took[1], took[2], took[2], took[3]);
	truth_write_text("", text, (size_t)length);
	return 0;
}
