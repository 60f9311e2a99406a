/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts arrays by a number in their elements, and searches arrays sorted that way. */
#ifndef TPROF_BASE_ORDER_H
#define TPROF_BASE_ORDER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Results of comparison functions for qsort(). Chain them to sort by several numbers: TPA_UP(a->x, b->x) ?:
 * TPA_DOWN(a->y, b->y).
 */
#define TPA_UP(a, b) ((a) < (b) ? -1 : (a) > (b))
#define TPA_DOWN(a, b) TPA_UP(b, a)

enum tpa_number { TPA_NUMBER_U32, TPA_NUMBER_U64, TPA_NUMBER_DOUBLE };

/*
 * Sorts `count` elements of `size` bytes by the number that is `at` bytes into each element, smallest first. Equal
 * elements end up in any order.
 */
void tpa_sort(void *list, size_t count, size_t size, size_t at, enum tpa_number number);

#define TPA_NUMBER_OF(number)                                                                                          \
	_Generic((number), uint32_t : TPA_NUMBER_U32, uint64_t : TPA_NUMBER_U64, double : TPA_NUMBER_DOUBLE)

#define TPA_SORT(list, count, member)                                                                                  \
	tpa_sort(list, count, sizeof(*(list)), offsetof(__typeof__(*(list)), member), TPA_NUMBER_OF((list)->member))
#define TPA_SORT_NUMBERS(list, count) tpa_sort(list, count, sizeof(*(list)), 0, TPA_NUMBER_OF(*(list)))

/*
 * Returns how many elements of a sorted array have a uint64_t below `bound` (tpa_below()) or up to `bound`
 * (tpa_up_to()), by binary search. Inline because replays search at each event.
 */
static inline size_t tpa_below(const void *list, size_t count, size_t size, size_t at, uint64_t bound)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (*(const uint64_t *)((const char *)list + middle * size + at) < bound)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static inline size_t tpa_up_to(const void *list, size_t count, size_t size, size_t at, uint64_t bound)
{
	return bound == UINT64_MAX ? count : tpa_below(list, count, size, at, bound + 1);
}

#ifdef __cppcheck__ /* cppcheck can parse neither _Generic nor __typeof__ here */
#define TPA_PLACE_OF(list, member) ((size_t)((const char *)&(list)->member - (const char *)(list)))
#else
#define TPA_PLACE_OF(list, member) _Generic((list)->member, uint64_t : offsetof(__typeof__(*(list)), member))
#endif
#define TPA_BELOW(list, count, member, bound) tpa_below(list, count, sizeof(*(list)), TPA_PLACE_OF(list, member), bound)
#define TPA_UP_TO(list, count, member, bound) tpa_up_to(list, count, sizeof(*(list)), TPA_PLACE_OF(list, member), bound)

#endif
