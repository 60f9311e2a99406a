/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/python/layout.h"

/*
 * From the structures in Include/internal (pycore_runtime.h, pycore_frame.h) and Include/cpython (pystate.h, code.h,
 * frameobject.h, unicodeobject.h) of the releases named, by offsetof() for x86-64 and a build with the GIL. A minor
 * version keeps its layout.
 */
static const struct tp_python_layout known[] = {
	{ /* 3.9.18 */
	  .version = 0x0309,
	  .lines = TP_LINES_LNOTAB,
	  .runtime_key = 584,
	  .runtime_current = 568,
	  .thread_id = 176,
	  .thread_frame = 24,
	  .frame_previous = 24,
	  .frame_code = 32,
	  .frame_at = 104,
	  .at_is_index = true,
	  .at_shift = 1,
	  .code_first_line = 40,
	  .code_file = 104,
	  .code_name = 112,
	  .code_lines = 120,
	  .str_ascii = 48,
	  .str_other = 72 },
	{ /* 3.10.13 */
	  .version = 0x030a,
	  .lines = TP_LINES_PAIRS,
	  .runtime_key = 584,
	  .runtime_current = 568,
	  .thread_id = 176,
	  .thread_frame = 24,
	  .frame_previous = 24,
	  .frame_code = 32,
	  .frame_at = 96,
	  .at_is_index = true,
	  .code_first_line = 40,
	  .code_file = 104,
	  .code_name = 112,
	  .code_lines = 120,
	  .str_ascii = 48,
	  .str_other = 72 },
	{ /* 3.11.2, 3.11.7 */
	  .version = 0x030b,
	  .lines = TP_LINES_LOCATIONS,
	  .runtime_key = 592,
	  .runtime_current = 576,
	  .thread_id = 152,
	  .thread_frame = 56,
	  .cframe = 8 + 1,
	  .frame_previous = 48,
	  .frame_code = 32,
	  .frame_at = 56,
	  .frame_entry = 68,
	  .code_first_line = 72,
	  .code_file = 112,
	  .code_name = 128,
	  .code_lines = 136,
	  .code_start = 184,
	  .str_ascii = 48,
	  .str_other = 72 },
	{ /* 3.12.1 */
	  .version = 0x030c,
	  .lines = TP_LINES_LOCATIONS,
	  .runtime_key = 1544,
	  .thread_id = 136,
	  .thread_frame = 56,
	  .cframe = 0 + 1,
	  .frame_previous = 8,
	  .frame_code = 0,
	  .frame_at = 56,
	  .frame_owner = 70,
	  .code_first_line = 68,
	  .code_file = 112,
	  .code_name = 128,
	  .code_lines = 136,
	  .code_start = 192,
	  .str_ascii = 40,
	  .str_other = 56 },
	{ /* 3.13.0 */
	  .version = 0x030d,
	  .lines = TP_LINES_LOCATIONS,
	  .runtime_key = 2160,
	  .thread_id = 152,
	  .thread_frame = 72,
	  .frame_previous = 8,
	  .frame_code = 0,
	  .frame_at = 56,
	  .frame_owner = 70,
	  .code_first_line = 68,
	  .code_file = 112,
	  .code_name = 128,
	  .code_lines = 136,
	  .code_start = 200,
	  .str_ascii = 40,
	  .str_other = 56 },
};

bool tp_python_layout_find(uint32_t version, const void *runtime, struct tp_python_layout *layout)
{
	(void)runtime;
	for (size_t i = 0; i < TP_LENGTH(known); i++) {
		if (known[i].version == version) {
			*layout = known[i];
			return true;
		}
	}
	return false;
}
