/* SPDX-License-Identifier: Apache-2.0 */
/* Records of calls between processes: what they hold, and records that are cut or hold impossible numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "trace/payload.h"

/* A receive from any, with any tag: communicator 2, up to 300 bytes, request 7, stack 130. */
static const uint8_t receive[] = { TPROF_COMM_RECV, TPROF_COMM_NONBLOCKING, 2, 0, 1, 1, 0, 0xac, 2, 7, 0x82, 1 };
/* To rank 3 with tag 5; from nobody. */
static const uint8_t both[] = { TPROF_COMM_SENDRECV, 0, 1, 0, 6, 10, 8, 8, 0, 0, 3, 1 };

static void test_calls(void **state)
{
	struct tpa_comm comm;

	(void)state;
	assert_true(tpa_comm_read(&comm, receive, sizeof(receive)));
	assert_int_equal(comm.what, TPROF_COMM_RECV);
	assert_true(comm.begins && !comm.again && !comm.both);
	assert_int_equal(comm.communicator, 2);
	assert_int_equal(comm.peer, TPROF_COMM_ANY);
	assert_int_equal(comm.tag, TPROF_COMM_ANY);
	assert_int_equal(comm.received, 300);
	assert_int_equal(comm.request, 7);
	assert_int_equal(comm.node, 130);
	assert_true(tpa_comm_read(&comm, both, sizeof(both)));
	assert_int_equal(comm.peer, 3);
	assert_int_equal(comm.tag, 5);
	assert_int_equal(comm.source, TPROF_COMM_NOBODY);
	assert_int_equal(comm.source_tag, TPROF_COMM_ANY);
}

/* Each is refused wherever it is cut. Later versions may add fields. */
static void test_cut(void **state)
{
	uint8_t longer[sizeof(both) + 3];
	struct tpa_comm comm;

	(void)state;
	for (size_t length = 0; length < sizeof(receive); length++)
		assert_false(tpa_comm_read(&comm, receive, length));
	for (size_t length = 0; length < sizeof(both); length++)
		assert_false(tpa_comm_read(&comm, both, length));
	memcpy(longer, both, sizeof(both));
	memset(longer + sizeof(both), 0xff, 3);
	assert_true(tpa_comm_read(&comm, longer, sizeof(longer)));
}

/* Of 12 parts the first and the last are not empty. */
static void test_parts(void **state)
{
	static const uint8_t some[] = { TPROF_COMM_ALLTOALL, TPROF_COMM_PARTS, 1, 3, 1, 1, 8, 8, 0, 0, 2, 1, 8 };
	static const uint8_t many[] = { TPROF_COMM_ALLTOALL, TPROF_COMM_PARTS, 1, 3, 1, 1, 8, 8, 0, 0, 0 };
	uint8_t longest[sizeof(many) + 255];
	struct tpa_comm comm;

	(void)state;
	assert_true(tpa_comm_read(&comm, some, sizeof(some)));
	assert_true(comm.parts && comm.part_bytes == 2 && comm.part_bits[0] == 1 && comm.part_bits[1] == 8);
	for (size_t length = 0; length < sizeof(some); length++)
		assert_false(tpa_comm_read(&comm, some, length));
	assert_true(tpa_comm_read(&comm, many, sizeof(many)));
	assert_true(comm.parts && !comm.part_bytes);
	memcpy(longest, many, sizeof(many));
	longest[sizeof(many) - 1] = TPROF_COMM_PARTS_BYTES;
	assert_true(tpa_comm_read(&comm, longest, sizeof(longest)));
	longest[sizeof(many) - 1]++;
	assert_false(tpa_comm_read(&comm, longest, sizeof(longest)));
}

static void test_impossible(void **state)
{
	/* A communicator of 2^35, and a peer of 2^40. */
	static const uint8_t group[] = { TPROF_COMM_BARRIER, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 0, 1, 1, 0, 0, 0, 0 };
	static const uint8_t peer[] = { TPROF_COMM_SEND, 0, 1, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40, 1, 0, 0, 0, 0 };
	static const uint8_t endless[] = {
		TPROF_COMM_SEND, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0
	};
	struct tpa_comm comm;

	(void)state;
	assert_false(tpa_comm_read(&comm, group, sizeof(group)));
	assert_true(tpa_comm_read(&comm, peer, sizeof(peer)));
	assert_int_equal(comm.peer, INT32_MAX);
	assert_false(tpa_comm_read(&comm, endless, sizeof(endless)));
}

static void test_done(void **state)
{
	static const uint8_t plain[] = { 9, 0 }, status[] = { 9, TPROF_COMM_DONE_STATUS, 4, 6, 0xac, 2 };
	static const uint8_t freed[] = { 9, TPROF_COMM_DONE_FREED };
	struct tpa_comm_done done;

	(void)state;
	assert_true(tpa_comm_done_read(&done, plain, sizeof(plain)));
	assert_true(done.request == 9 && !done.status && !done.cancelled && !done.freed);
	assert_true(tpa_comm_done_read(&done, freed, sizeof(freed)) && done.freed);
	assert_true(tpa_comm_done_read(&done, status, sizeof(status)));
	assert_true(done.status && done.source == 2 && done.tag == 3 && done.bytes == 300);
	for (size_t length = 0; length < sizeof(status); length++)
		assert_false(tpa_comm_done_read(&done, status, length));
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(tpa_comm_name(TPROF_COMM_ALLREDUCE), "allreduce");
	assert_string_equal(tpa_comm_name(TPROF_COMM_NONE), "?");
	assert_string_equal(tpa_comm_name(TPROF_COMM_COLLECTIVES), "?");
	assert_string_equal(tpa_comm_name(255), "?");
	assert_string_equal(tpa_group_name(TPROF_GROUP_WINDOW), "window");
	assert_string_equal(tpa_group_name(200), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls), cmocka_unit_test(test_cut),   cmocka_unit_test(test_impossible),
		cmocka_unit_test(test_done),  cmocka_unit_test(test_names), cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
