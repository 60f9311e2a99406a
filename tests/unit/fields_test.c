/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the kinds of events agrees with the event's structure and with what the cursor decodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "reading.h"
#include "trace/fields.h"

static size_t count_of(const struct tpa_field *fields)
{
	size_t count = 0;

	while (count < TPA_FIELDS_MOST && fields[count].name)
		count++;
	return count;
}

static void test_rows(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < TPA_EVENT_KINDS; kind++) {
		const struct tpa_event_row *row = &tpa_event_rows[kind];
		bool text = false;

		assert_non_null(row->name);
		for (unsigned other = 0; other < kind; other++)
			assert_string_not_equal(row->name, tpa_event_rows[other].name);
		for (size_t i = 0; i < count_of(row->fields); i++) {
			assert_true(row->fields[i].offset >= offsetof(struct tpa_event, block));
			assert_true(row->fields[i].offset + row->fields[i].size <= sizeof(struct tpa_event));
			text = text || row->fields[i].type == TPA_FIELD_TEXT;
		}
		assert_int_equal(tpa_event_has_payload(kind), text || row->payload);
	}
	assert_true(sizeof(struct tpa_event) <= 64);
}

static uint64_t value(const struct tpa_event *event, const char *name)
{
	const struct tpa_event_row *row = &tpa_event_rows[event->kind];
	const void *payload = tpa_event_payload(event);

	for (size_t i = 0; i < count_of(row->fields); i++)
		if (strcmp(row->fields[i].name, name) == 0)
			return tpa_field_value(&row->fields[i], event);
	for (size_t i = 0; payload && i < count_of(row->inside); i++)
		if (strcmp(row->inside[i].name, name) == 0 && tpa_field_is_there(&row->inside[i], payload))
			return tpa_field_value(&row->inside[i], payload);
	return UINT64_MAX;
}

/* Each field has the value that was written. */
static void test_values(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ 0 });
	struct gen_alloc alloc = {
		.address = 0x1003, .size = 40, .usable = 48, .fn = TPROF_FN_NEW, .alignment_log2 = 6
	};
	struct reading reading;
	const struct tpa_event *event;

	(void)state;
	gen_alloc(gen, 1, 10, &alloc);
	gen_release(gen, 1, 11, 0x1003, TPROF_FN_DELETE);
	gen_map(gen, 1, 12, 0x7f0000000000, 8192, 0x22, 17);
	gen_unmap(gen, 1, 13, 0x7f0000001000, 4096, false);
	gen_memory(gen, 1, 14, 4096000, 8192000);
	reading = begin(gen);
	event = next(&reading, TPA_EVENT_ALLOC, 10);
	assert_int_equal(value(event, "address"), 0x1003);
	assert_int_equal(value(event, "size"), 40);
	assert_int_equal(value(event, "usable"), 48);
	assert_int_equal(value(event, "function"), TPROF_FN_NEW);
	assert_int_equal(value(event, "alignment"), 6);
	event = next(&reading, TPA_EVENT_FREE, 11);
	assert_int_equal(value(event, "address"), 0x1003);
	assert_int_equal(value(event, "function"), TPROF_FN_DELETE);
	event = next(&reading, TPA_EVENT_MAP, 12);
	assert_int_equal(value(event, "address"), 0x7f0000000000);
	assert_int_equal(value(event, "size"), 8192);
	event = next(&reading, TPA_EVENT_UNMAP, 13);
	assert_int_equal(value(event, "address"), 0x7f0000001000);
	assert_int_equal(value(event, "size"), 4096);
	event = next(&reading, TPA_EVENT_MEMORY, 14);
	assert_int_equal(value(event, "rss"), 4096000);
	assert_int_equal(value(event, "vms"), 8192000);
	assert_true(value(event, "collector") == UINT64_MAX); /* the record does not have it */
	end(&reading, 0);
	gen_free(gen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
