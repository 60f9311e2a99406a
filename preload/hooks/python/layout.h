/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where CPython keeps what describes Python frames: offsets in bytes, by version. Python's headers are not needed to
 * build, and no function of Python is called.
 */
#ifndef TPROF_HOOKS_PYTHON_LAYOUT_H
#define TPROF_HOOKS_PYTHON_LAYOUT_H

#include "core/base.h"

#include <tprof/format.h>

enum tpc_line_table { TPC_LINES_LNOTAB, TPC_LINES_PAIRS, TPC_LINES_LOCATIONS }; /* 3.9, 3.10, 3.11 and later */

struct tpc_python_layout {
	uint32_t version; /* 0x030b: 3.11 */
	uint8_t lines;	  /* enum tpc_line_table */

	uint16_t runtime_key;	  /* _PyRuntimeState: Py_tss_t of each thread's PyThreadState; 0: to be searched */
	uint16_t runtime_current; /* _PyRuntimeState, up to 3.11: the PyThreadState that holds the GIL; 0: none */
	uint16_t runtime_ending;  /* _PyRuntimeState, from 3.13 on: not 0 once the interpreter is taken down; 0: none */
	uint16_t thread_id;	  /* PyThreadState: pthread_self() of its thread */
	uint16_t thread_frame;	  /* PyThreadState: the innermost frame; with `cframe` a structure that points to it */
	uint16_t cframe;	  /* 3.11, 3.12: current_frame in that structure, + 1; 0: there is none */
	uint16_t frame_previous;  /* the caller's frame */
	uint16_t frame_code;	  /* its code object */
	uint16_t frame_at;	  /* the instruction: an address, or with `at_is_index` a number of type int */
	uint16_t frame_entry;	  /* 3.11: true for the outermost frame of a call of the interpreter's loop; 0: none */
	uint16_t frame_generator; /* 3.9, 3.10: its generator; 0: none */
	uint16_t generator_runs;  /* and in that what is not 0 while the loop runs it */
	uint16_t frame_owner;	  /* 3.12 and later: above 2 for what the loop itself puts below that frame; 0: none */
	uint16_t code_first_line; /* int */
	uint16_t code_file;	  /* str */
	uint16_t code_name;	  /* str: the qualified name, where there is one */
	uint16_t code_lines;	  /* bytes: the line table */
	uint16_t code_start;	  /* the first instruction */
	uint16_t str_ascii;	  /* bytes before the text of an ASCII str */
	uint16_t str_other;	  /* and of any other */
	bool at_is_index;	  /* 3.9, 3.10: frame_at is the number of the instruction */
	uint8_t at_shift;	  /* and has to be shifted right by this much to count in units of two bytes */

	/* For the search for holders (struct tprof_python in tprof/format.h). */
	uint16_t runtime_interpreters;
	uint16_t interpreter_next, interpreter_threads, interpreter_modules;
	uint16_t thread_next, thread_dict;
	uint16_t frame_locals;
	uint16_t code_names;
	uint16_t tuple_items;
};

#define TPC_OBJECT_TYPE 8   /* PyObject: ob_type */
#define TPC_TYPE_DEALLOC 48 /* PyTypeObject: tp_dealloc */
#define TPC_BYTES_LENGTH 16 /* PyBytesObject: ob_size */
#define TPC_BYTES_TEXT 32   /* and ob_sval */
#define TPC_STR_LENGTH 16   /* PyASCIIObject: length, in code points */
#define TPC_STR_STATE 32    /* and the bit field behind its hash */

/* The layout of a version (0x030b for 3.11) whose _PyRuntime is `runtime`. False: unknown. */
bool tpc_python_layout_find(uint32_t version, const void *runtime, size_t size, struct tpc_python_layout *layout);

/* Fills in the layout for the search for holders, which reads the interpreter's objects; the caller sets the addresses. */
void tpc_python_layout_tell(const struct tpc_python_layout *layout, struct tprof_python *python);

#endif
