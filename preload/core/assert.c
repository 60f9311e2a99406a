/* SPDX-License-Identifier: Apache-2.0 */
#include "core/assert.h"

#include "core/sys.h"
#include "core/text.h"

#if TPC_ASSERTIONS
void tpc_assert_failed(const char *condition, const char *file, int line)
{
	char bytes[512];
	struct tpc_text text = tpc_text_in(bytes, sizeof(bytes));

	tpc_text_add(&text, "tprof: assertion failed: ");
	tpc_text_add(&text, file);
	tpc_text_add(&text, ":");
	tpc_text_add_number(&text, (uint64_t)line);
	tpc_text_add(&text, ": ");
	tpc_text_add(&text, condition);
	tpc_text_add(&text, "\n");
	tpc_syscall(SYS_write, 2, text.bytes, text.length, 0);
	__builtin_trap();
}
#endif
