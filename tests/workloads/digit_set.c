/* SPDX-License-Identifier: Apache-2.0 */
#include "digit_set.h"

#include <stdio.h>
#include <stdlib.h>

/* A line is 64 pixels of 0..16 and the digit. */
static int read_image(FILE *f, float *pixels, int *label)
{
	for (int i = 0; i < PIXELS; i++) {
		int pixel;

		if (fscanf(f, "%d,", &pixel) != 1)
			return 0;
		pixels[i] = (float)pixel / 16.0f;
	}
	return fscanf(f, "%d", label) == 1;
}

struct digits load_digits(const char *path)
{
	struct digits d = { calloc(IMAGES * PIXELS, sizeof(float)), calloc(IMAGES, sizeof(int)) };
	FILE *f = fopen(path, "r");

	if (!f || !d.pixels || !d.labels) {
		perror(path);
		exit(1);
	}
	for (int i = 0; i < IMAGES; i++) {
		if (!read_image(f, d.pixels + i * PIXELS, &d.labels[i])) {
			fprintf(stderr, "%s:%d: not an image\n", path, i + 1);
			exit(1);
		}
	}
	fclose(f);
	return d;
}
