/* SPDX-License-Identifier: Apache-2.0 */
/* libmany.so: more functions than there are stubs, each with a pointer of the loader's to it. Preloaded: nobody calls them. */
	.altmacro
	.macro one n
	.globl	many_&n
	.type	many_&n, @function
many_&n:
	ret
	.size	many_&n, 1
	.pushsection .data.rel, "aw", @progbits
	.quad	many_&n
	.popsection
	.endm

	.text
	.set i, 0
	.rept 17000
	one %i
	.set i, i + 1
	.endr
	.section .note.GNU-stack, "", @progbits
