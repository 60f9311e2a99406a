/* SPDX-License-Identifier: Apache-2.0 */
/* libbetween.so: a function that allocates before and after it calls back. */
#include <stdlib.h>

void between(void (*callback)(void), size_t before, size_t after);

void between(void (*callback)(void), size_t before, size_t after)
{
	void *block = malloc(before);

	callback();
	free(block);
	block = malloc(after);
	free(block);
}
