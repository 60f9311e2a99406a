// SPDX-License-Identifier: Apache-2.0
/* code_refused: functions that can't be hooked in their code, each for a reason of its own, and one that can. */
#include <stdio.h>

#define FUNCTION(name, body)                                                                                           \
	__asm__(".text\n\t.p2align 4\n\t.type " #name ", @function\n" #name ":\n\t" body "\n\t.size " #name            \
		", . - " #name "\n");                                                                                  \
	extern int name(int);

/* Another function follows at once, or a symbol stands in front of the filler. */
__asm__(".text\n\t.type refused_short, @function\nrefused_short:\n\txorl %eax, %eax\n\tret\n\t"
	".size refused_short, . - refused_short\nrefused_behind:\n\tmovl %edi, %eax\n\tret\n");
extern int refused_short(int);
FUNCTION(refused_loop, "decl %edi\n\tmovl %edi, %eax\n\tcmpl $0, %edi\n\tjg refused_loop\n\tret")
FUNCTION(refused_inside, "movl %edi, %eax\nrefused_entry:\n\taddl $1, %eax\n\tret")
FUNCTION(refused_data, "movl %edi, %eax\n\taddl $2, %eax\n\tret\n\t.byte 6, 6, 6")
FUNCTION(refused_counts, "movl %edi, %ecx\n\tjrcxz 1f\n\tmovl %edi, %eax\n\tret\n1:\tmovl $3, %eax\n\tret")
FUNCTION(refused_entered, "movl %edi, %eax\n.Lwithin:\n\taddl $7, %eax\n\tret")
FUNCTION(enters, "movl %edi, %eax\n\tsubl $1, %eax\n\t.byte 0xe9\n\t.long .Lwithin - . - 4")
FUNCTION(refused_setjmp, "movl %edi, %eax\n\taddl $4, %eax\n\tret")
FUNCTION(hooked_padded, "leal 5(%rdi), %eax\n\tret\n\t.size hooked_padded, . - hooked_padded\n\t.p2align 4")
FUNCTION(hooked_plain, "movl %edi, %eax\n\taddl $6, %eax\n\tret")

int main(void)
{
	printf("%d\n", refused_short(1) + refused_loop(2) + refused_inside(3) + refused_data(4) + refused_counts(5) +
			       refused_setjmp(6) + refused_entered(1) + enters(2) + hooked_padded(7) + hooked_plain(8));
	return 0;
}
