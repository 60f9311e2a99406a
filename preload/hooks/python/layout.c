/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/python/layout.h"

/*
 * Computed by offsetof() from the structures in Include/internal (pycore_runtime.h, pycore_frame.h) and Include/cpython
 * (pystate.h, code.h, frameobject.h, unicodeobject.h) of the named releases, for x86-64 and a build with the GIL. The
 * layout of a minor version does not change.
 */
static const struct tpc_python_layout known[] = {
	{ /* 3.9.18 */
	  .version = 0x0309,
	  .lines = TPC_LINES_LNOTAB,
	  .runtime_key = 584,
	  .runtime_current = 568,
	  .thread_id = 176,
	  .thread_frame = 24,
	  .frame_previous = 24,
	  .frame_code = 32,
	  .frame_at = 104,
	  .frame_generator = 96,
	  .generator_runs = 88,
	  .at_is_index = true,
	  .at_shift = 1,
	  .code_first_line = 40,
	  .code_file = 104,
	  .code_name = 112,
	  .code_lines = 120,
	  .str_ascii = 48,
	  .str_other = 72,
	  .runtime_interpreters = 32,
	  .interpreter_threads = 8,
	  .interpreter_modules = 856,
	  .thread_next = 8,
	  .thread_dict = 152,
	  .frame_locals = 360,
	  .code_names = 72,
	  .tuple_items = 24 },
	{ /* 3.10.13 */
	  .version = 0x030a,	      .lines = TPC_LINES_PAIRS, .runtime_key = 584,
	  .runtime_current = 568,     .thread_id = 176,		.thread_frame = 24,
	  .frame_previous = 24,	      .frame_code = 32,		.frame_at = 96,
	  .frame_generator = 88,      .generator_runs = 80,	.at_is_index = true,
	  .code_first_line = 40,      .code_file = 104,		.code_name = 112,
	  .code_lines = 120,	      .str_ascii = 48,		.str_other = 72,
	  .runtime_interpreters = 32, .interpreter_threads = 8, .interpreter_modules = 856,
	  .thread_next = 8,	      .thread_dict = 152,	.frame_locals = 352,
	  .code_names = 72,	      .tuple_items = 24 },
	{ /* 3.11.2, 3.11.7 */
	  .version = 0x030b,
	  .lines = TPC_LINES_LOCATIONS,
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
	  .str_other = 72,
	  .runtime_interpreters = 40,
	  .interpreter_threads = 16,
	  .interpreter_modules = 888,
	  .thread_next = 8,
	  .thread_dict = 128,
	  .frame_locals = 72,
	  .code_names = 96,
	  .tuple_items = 24 },
	{ /* 3.12.1 */
	  .version = 0x030c,
	  .lines = TPC_LINES_LOCATIONS,
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
	  .str_other = 56,
	  .runtime_interpreters = 40,
	  .interpreter_threads = 72,
	  .interpreter_modules = 944,
	  .thread_next = 8,
	  .thread_dict = 112,
	  .frame_locals = 72,
	  .code_names = 96,
	  .tuple_items = 24 },
};

/* From 3.13 on, _PyRuntime begins with its own description: a cookie, the version, and offsets, all of them words. */
#define COOKIE UINT64_C(0x7970677562656478) /* "xdebugpy" */
#define WORD_VERSION 1
#define WORD_FREE_THREADED 2
#define WORD_ENDING 4
#define WORD_INTERPRETERS 5
#define WORD_INTERPRETER_NEXT 8
#define WORDS_MAX 96

/* Indices of these words, Include/internal/pycore_debug_offsets.h (3.13: pycore_runtime.h). */
static const struct description {
	uint32_t version;
	uint8_t thread_frame, thread_id, frame_previous, frame_code, frame_at, frame_owner;
	uint8_t code_file, code_name, code_lines, code_first_line, code_start;
	uint8_t object_type, tuple_items, bytes_length, bytes_text, str_state, str_length, str_ascii;
	uint8_t modules;      /* of the interpreter */
	uint16_t thread_dict; /* the offset itself, as no word describes it; 0: unknown */
} descriptions[] = {
	{ .version = 0x030d,
	  .thread_frame = 23,
	  .thread_id = 24,
	  .frame_previous = 29,
	  .frame_code = 30,
	  .frame_at = 31,
	  .frame_owner = 33,
	  .code_file = 35,
	  .code_name = 37,
	  .code_lines = 38,
	  .code_first_line = 39,
	  .code_start = 43,
	  .object_type = 45,
	  .tuple_items = 51,
	  .bytes_length = 65,
	  .bytes_text = 66,
	  .str_state = 68,
	  .str_length = 69,
	  .str_ascii = 70,
	  .modules = 11,
	  .thread_dict = 128 },
	{ .version = 0x030e,
	  .thread_frame = 26,
	  .thread_id = 27,
	  .frame_previous = 32,
	  .frame_code = 33,
	  .frame_at = 34,
	  .frame_owner = 36,
	  .code_file = 40,
	  .code_name = 42,
	  .code_lines = 43,
	  .code_first_line = 44,
	  .code_start = 48,
	  .object_type = 51,
	  .tuple_items = 57,
	  .bytes_length = 75,
	  .bytes_text = 76,
	  .str_state = 78,
	  .str_length = 79,
	  .str_ascii = 80,
	  .modules = 12 },
	{ .version = 0x030f,
	  .thread_frame = 26,
	  .thread_id = 30,
	  .frame_previous = 40,
	  .frame_code = 41,
	  .frame_at = 42,
	  .frame_owner = 44,
	  .code_file = 48,
	  .code_name = 50,
	  .code_lines = 51,
	  .code_first_line = 52,
	  .code_start = 56,
	  .object_type = 59,
	  .tuple_items = 69,
	  .bytes_length = 87,
	  .bytes_text = 88,
	  .str_state = 90,
	  .str_length = 91,
	  .str_ascii = 92,
	  .modules = 12 },
};

/* Objects of all known versions begin alike: checks what is assumed without being in the layout. */
static bool same_objects(const uint64_t *words, const struct description *says)
{
	return words[says->object_type] == TPC_OBJECT_TYPE && words[says->bytes_length] == TPC_BYTES_LENGTH &&
	       words[says->bytes_text] == TPC_BYTES_TEXT && words[says->str_state] == TPC_STR_STATE &&
	       words[says->str_length] == TPC_STR_LENGTH;
}

static bool from_description(const uint64_t *words, const struct description *says, struct tpc_python_layout *layout)
{
	if (words[0] != COOKIE || words[WORD_VERSION] >> 16 != says->version || words[WORD_FREE_THREADED] ||
	    !same_objects(words, says))
		return false;
	*layout = (struct tpc_python_layout){
		.version = says->version,
		.lines = TPC_LINES_LOCATIONS,
		.runtime_ending = (uint16_t)words[WORD_ENDING],
		.thread_id = (uint16_t)words[says->thread_id],
		.thread_frame = (uint16_t)words[says->thread_frame],
		.frame_previous = (uint16_t)words[says->frame_previous],
		.frame_code = (uint16_t)words[says->frame_code],
		.frame_at = (uint16_t)words[says->frame_at],
		.frame_owner = (uint16_t)words[says->frame_owner],
		.code_first_line = (uint16_t)words[says->code_first_line],
		.code_file = (uint16_t)words[says->code_file],
		.code_name = (uint16_t)words[says->code_name],
		.code_lines = (uint16_t)words[says->code_lines],
		.code_start = (uint16_t)words[says->code_start],
		.str_ascii = (uint16_t)words[says->str_ascii],
		.str_other = (uint16_t)(words[says->str_ascii] + 16), /* behind utf8_length and utf8 */
		.runtime_interpreters = (uint16_t)words[WORD_INTERPRETERS],
		.interpreter_next = (uint16_t)words[WORD_INTERPRETER_NEXT],
		.interpreter_threads = (uint16_t)words[WORD_INTERPRETER_NEXT + 1],
		.interpreter_modules = (uint16_t)words[says->modules],
		.thread_next = (uint16_t)words[says->thread_frame - 2],
		.thread_dict = says->thread_dict,
		.frame_locals = (uint16_t)words[says->frame_owner - 1],
		.code_names = (uint16_t)words[says->code_start - 2],
		.tuple_items = (uint16_t)words[says->tuple_items],
	};
	return true;
}

bool tpc_python_layout_find(uint32_t version, const void *runtime, size_t size, struct tpc_python_layout *layout)
{
	for (size_t i = 0; i < TPC_LENGTH(known); i++) {
		if (known[i].version == version) {
			*layout = known[i];
			return true;
		}
	}
	for (size_t i = 0; i < TPC_LENGTH(descriptions) && size >= WORDS_MAX * sizeof(uint64_t); i++) {
		if (descriptions[i].version == version)
			return from_description(runtime, &descriptions[i], layout);
	}
	return false;
}

void tpc_python_layout_tell(const struct tpc_python_layout *layout, struct tprof_python *python)
{
	*python = (struct tprof_python){ .version = layout->version,
					 .runtime_interpreters = layout->runtime_interpreters,
					 .interpreter_next = layout->interpreter_next,
					 .interpreter_threads = layout->interpreter_threads,
					 .interpreter_modules = layout->interpreter_modules,
					 .thread_next = layout->thread_next,
					 .thread_dict = layout->thread_dict,
					 .thread_frame = layout->thread_frame,
					 .cframe = layout->cframe,
					 .frame_previous = layout->frame_previous,
					 .frame_code = layout->frame_code,
					 .frame_locals = layout->frame_locals,
					 .code_names = layout->code_names,
					 .code_name = layout->code_name,
					 .code_start = layout->code_start,
					 .tuple_items = layout->tuple_items,
					 .str_ascii = layout->str_ascii,
					 .str_other = layout->str_other };
}
