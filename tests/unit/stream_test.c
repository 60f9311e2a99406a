/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of records that several threads write at one time, in memory and in a temporary file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/stream.h"
#include "base/workers.h"

#define STREAMS 16u
#define RECORDS 20000u

/* A record: its length, then bytes that follow from stream, number and place. */
static uint32_t draw(uint32_t stream, uint32_t number)
{
	uint32_t x = (stream * RECORDS + number + 1) * 2654435761u;

	return (x ^ x >> 15) * 2246822519u;
}

static void write_one(void *context, size_t index)
{
	struct tpa_stream *stream = (struct tpa_stream *)context + index;
	uint32_t count = index == 3 ? 0 : RECORDS / (uint32_t)(index + 1); /* one has none */

	for (uint32_t i = 0; i < count; i++) {
		uint32_t word = draw((uint32_t)index, i);
		uint8_t length = (uint8_t)(1 + word % 254), *at = tpa_stream_record(stream);

		*at++ = length;
		memset(at, (int)(word >> 16 & 255), length);
		tpa_stream_wrote(stream, at + length);
	}
	tpa_stream_close(stream);
}

static void check_one(struct tpa_stream *stream, uint32_t index)
{
	uint32_t count = index == 3 ? 0 : RECORDS / (index + 1), i = 0;

	for (; tpa_stream_more(stream); i++) {
		uint32_t word = draw(index, i);
		uint8_t length = *stream->at++;

		assert_int_equal(length, 1 + word % 254);
		for (unsigned k = 0; k < length; k++)
			assert_int_equal(*stream->at++, word >> 16 & 255);
	}
	assert_int_equal(i, count);
	assert_false(tpa_stream_more(stream));
}

static void round_trip(size_t memory)
{
	struct tpa_store *store = tpa_store_new(memory);
	struct tpa_stream streams[STREAMS];

	for (size_t i = 0; i < STREAMS; i++)
		tpa_stream_init(&streams[i], store);
	for (int round = 0; round < 2; round++) { /* freed and written anew, as by a second pass */
		tpa_workers(4, STREAMS, write_one, streams);
		for (uint32_t i = 0; i < STREAMS; i++) {
			check_one(&streams[i], i);
			tpa_stream_free(&streams[i]);
		}
	}
	tpa_store_free(store);
}

static void test_in_memory(void **state)
{
	(void)state;
	round_trip(SIZE_MAX);
}

static void test_in_a_file(void **state)
{
	(void)state;
	round_trip(0);
	round_trip(100000);
}

static void test_without_a_folder(void **state)
{
	(void)state;
	setenv("TMPDIR", "/nowhere", 1);
	round_trip(0);
	unsetenv("TMPDIR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_memory),
		cmocka_unit_test(test_in_a_file),
		cmocka_unit_test(test_without_a_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
