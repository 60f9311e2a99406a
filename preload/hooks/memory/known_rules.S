/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that are built in: the text of known.rules. */
	.section .rodata
	.globl	tpc_known_rules, tpc_known_rules_end
	.hidden	tpc_known_rules, tpc_known_rules_end
tpc_known_rules:
	.incbin "preload/rules/known.rules"
tpc_known_rules_end:
	.section .note.GNU-stack, "", @progbits
