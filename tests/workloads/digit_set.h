/* SPDX-License-Identifier: Apache-2.0 */
/* The UCI handwritten digits (data/README), which several programs learn. */
#ifndef TESTS_WORKLOADS_DIGIT_SET_H
#define TESTS_WORKLOADS_DIGIT_SET_H

enum { IMAGES = 1797, TRAINED = 1500, SIDE = 8, PIXELS = SIDE * SIDE, CLASSES = 10 };

struct digits {
	float *pixels; /* IMAGES x PIXELS, 0..1 */
	int *labels;
};

/* Reads data/digits.csv; ends the program if it can't. The caller frees both arrays. */
struct digits load_digits(const char *path);

#endif
