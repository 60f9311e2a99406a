/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in_hand WAY: 100 blocks are lost, and some are held by nothing but what the collector has in its hands while the program waits
 * for it: a result, an argument, a block that moves, or registers of the program's. Below the stack each word is the address of a
 * lost block before each call. What is to come out stands in the test.
 *
 * An event comes 12 ms after the last one: the collector looks for requests each 10 ms, so the first of two is the one that
 * it answers in.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "truth.h"

#define LOST 100
#define HELD 6
#define NOINLINE __attribute__((noinline))
#define MASK ((uintptr_t)0x5a5a << 48 | 0x5a5a5a)

/* Every block's address, as no pointer; and of those that are held. */
static volatile uintptr_t lost[LOST], held[HELD];

NOINLINE static void forgotten_often(void)
{
	for (int i = 0; i < LOST; i++)
		lost[i] = (uintptr_t)truth_block(2741) ^ MASK;
}

NOINLINE static void held_by_hand(void)
{
	for (int i = 0; i < HELD; i++)
		held[i] = (uintptr_t)truth_block(2843) ^ MASK;
}

static void *block_of(uintptr_t masked)
{
	return (void *)(masked ^ MASK);
}

/* The first leads to the others. */
NOINLINE static void chain(void)
{
	for (int i = 1; i < HELD; i++)
		((void *volatile *)block_of(held[0]))[i] = block_of(held[i]);
}

NOINLINE static void fill_stack(size_t from)
{
	volatile uintptr_t used[2048];

	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
		used[i] = lost[(from + i) % LOST] ^ MASK;
}

/*
 * Before the stack waits while another one is in use: what waiting frames do not write may hold words of earlier calls, a lost
 * block's address among them, and counts.
 */
NOINLINE static void clear_stack(void)
{
	volatile uintptr_t used[2048];

	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
		used[i] = 0;
}

/* As far as our frames reach. A coroutine's stack has no end that is known: below them each word counts. */
NOINLINE static void fill_little(size_t from)
{
	volatile uintptr_t used[40];

	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
		used[i] = lost[(from + i) % LOST] ^ MASK;
}

/* The same of memory. */
static void fill(void *memory, size_t size)
{
	volatile uintptr_t *words = memory;

	for (size_t i = 0; i < size / sizeof(*words); i++)
		words[i] = lost[i % LOST] ^ MASK;
}

static void wait_for_file(const char *name)
{
	while (access(name, F_OK) != 0)
		usleep(1000);
}

enum { SETTLED = 16 }; /* turns, each of which goes over the last one's words */

/* All is made that is to be found; the next event is one of those that the search is to come to. */
static void say_ready(void)
{
	if (close(open("ready", O_CREAT | O_WRONLY, 0666)) != 0)
		truth_die("ready");
}

static int goes_on(void)
{
	static int turns;

	if (++turns == SETTLED)
		say_ready();
	usleep(12000);
	return access("end", F_OK) != 0;
}

/* ---- results ---- */

NOINLINE static void *result(const char *way, size_t round)
{
	void *block = NULL;

	fill_stack(round); /* here: its own frame is the program's */
	if (strcmp(way, "malloc") == 0)
		return malloc(3001);
	if (strcmp(way, "calloc") == 0)
		return calloc(1, 3001);
	if (strcmp(way, "realloc") == 0)
		return realloc(NULL, 3001);
	if (strcmp(way, "aligned_alloc") == 0)
		return aligned_alloc(64, 3001);
	if (strcmp(way, "valloc") == 0)
		return valloc(3001);
	if (posix_memalign(&block, 64, 3001) != 0)
		truth_die("posix_memalign");
	return block;
}

static void run_results(const char *way)
{
	for (size_t i = 0; goes_on(); i++)
		free(result(way, i));
}

/* ---- arguments ---- */

/* Moved, as it is: nobody but realloc() has its address while it is at it. */
static void run_moves(void)
{
	chain();
	for (size_t i = 0; goes_on(); i++) {
		fill_stack(i);
		held[0] = (uintptr_t)realloc(block_of(held[0]), 2843) ^ MASK;
	}
}

/* Once, when the file says so; events until it is paused. */
static void run_argument(const char *way)
{
	chain();
	say_ready();
	while (access("paused", F_OK) != 0) {
		free(malloc(64));
		usleep(1000);
	}
	if (rename("paused", "waits") != 0)
		truth_die("waits");
	wait_for_file("go");
	fill_stack(0);
	if (strcmp(way, "free") == 0)
		free(block_of(held[0]));
	else if (strcmp(way, "moved") == 0)
		held[0] = (uintptr_t)realloc(block_of(held[0]), 4000) ^ MASK;
	else
		swab(block_of(held[0]), block_of(held[0]), 0); /* hooked as an op */
	wait_for_file("end");
}

/* ---- registers ---- */

/* Calls malloc(64) and free() with rbx, rbp, r12 to r15 as six masked words say. */
void call_with(const volatile uintptr_t *masked, uintptr_t mask);
__asm__(".text\n.type call_with, @function\ncall_with:\n.cfi_startproc\n"
	"pushq %rbx\n.cfi_adjust_cfa_offset 8\npushq %rbp\n.cfi_adjust_cfa_offset 8\n"
	"pushq %r12\n.cfi_adjust_cfa_offset 8\npushq %r13\n.cfi_adjust_cfa_offset 8\n"
	"pushq %r14\n.cfi_adjust_cfa_offset 8\npushq %r15\n.cfi_adjust_cfa_offset 8\n"
	"subq $8, %rsp\n.cfi_adjust_cfa_offset 8\nmovq $0, (%rsp)\n"
	"movq (%rdi), %rbx\nxorq %rsi, %rbx\nmovq 8(%rdi), %rbp\nxorq %rsi, %rbp\n"
	"movq 16(%rdi), %r12\nxorq %rsi, %r12\nmovq 24(%rdi), %r13\nxorq %rsi, %r13\n"
	"movq 32(%rdi), %r14\nxorq %rsi, %r14\nmovq 40(%rdi), %r15\nxorq %rsi, %r15\n"
	"movl $64, %edi\ncall malloc@PLT\nmovq %rax, %rdi\ncall free@PLT\n"
	"addq $8, %rsp\n.cfi_adjust_cfa_offset -8\npopq %r15\n.cfi_adjust_cfa_offset -8\n"
	"popq %r14\n.cfi_adjust_cfa_offset -8\npopq %r13\n.cfi_adjust_cfa_offset -8\n"
	"popq %r12\n.cfi_adjust_cfa_offset -8\npopq %rbp\n.cfi_adjust_cfa_offset -8\n"
	"popq %rbx\n.cfi_adjust_cfa_offset -8\nret\n.cfi_endproc\n.size call_with, . - call_with\n");

/* Spins, with those words in rbx, r12, r13, the red zone's two ends, and a vector register, until the word at `stop` is not 0. */
void spin_with(const volatile uintptr_t *masked, uintptr_t mask, const volatile int *stop);
__asm__(".text\n.type spin_with, @function\nspin_with:\n.cfi_startproc\n"
	"pushq %rbx\n.cfi_adjust_cfa_offset 8\npushq %r12\n.cfi_adjust_cfa_offset 8\n"
	"pushq %r13\n.cfi_adjust_cfa_offset 8\n"
	"movq 24(%rdi), %rax\nxorq %rsi, %rax\nmovq %rax, -8(%rsp)\n"
	"movq 32(%rdi), %rax\nxorq %rsi, %rax\nmovq %rax, -128(%rsp)\n"
	"movl $-120, %ecx\n1:\tmovslq %ecx, %rax\nmovq $0, (%rsp,%rax)\naddl $8, %ecx\ncmpl $-8, %ecx\njne 1b\n"
	"movq 40(%rdi), %rax\nxorq %rsi, %rax\nmovq %rax, %xmm5\n"
	"movq (%rdi), %rbx\nxorq %rsi, %rbx\nmovq 8(%rdi), %r12\nxorq %rsi, %r12\nmovq 16(%rdi), %r13\n"
	"xorq %rsi, %r13\nxorl %eax, %eax\nxorl %ecx, %ecx\n"
	"2:\tcmpl $0, (%rdx)\nje 2b\n"
	"popq %r13\n.cfi_adjust_cfa_offset -8\npopq %r12\n.cfi_adjust_cfa_offset -8\n"
	"popq %rbx\n.cfi_adjust_cfa_offset -8\nret\n.cfi_endproc\n.size spin_with, . - spin_with\n");

static void run_registers(void)
{
	for (size_t i = 0; goes_on(); i++) {
		fill_stack(i);
		call_with(held, MASK);
	}
}

static void *thread_of_registers(void *unused)
{
	run_registers();
	return unused;
}

static void run_thread(void)
{
	pthread_t id;

	clear_stack();
	if (pthread_create(&id, NULL, thread_of_registers, NULL) != 0 || pthread_join(id, NULL) != 0)
		truth_die("pthread_create");
}

static uint64_t signal_stack[8192];

static void use_signal_stack(void)
{
	const stack_t stack = { .ss_sp = signal_stack, .ss_size = sizeof(signal_stack) };

	if (sigaltstack(&stack, NULL) != 0)
		truth_die("sigaltstack");
}

/* Until somebody writes to the file `stop`: no other thread is there that could answer. */
static const volatile int *map_stop(void)
{
	int file = open("stop", O_RDWR | O_CREAT, 0600);
	void *page = MAP_FAILED;

	if (file >= 0 && ftruncate(file, 4096) == 0)
		page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
	if (page == MAP_FAILED)
		truth_die("stop");
	return page;
}

static void run_spin(const char *way)
{
	const volatile int *stop = map_stop();

	if (strcmp(way, "spin-alternate") == 0) {
		use_signal_stack();
		fill(signal_stack, sizeof(signal_stack));
	}
	say_ready();
	fill_stack(0);
	spin_with(held, MASK, stop);
}

/* ---- other stacks ---- */

static size_t rounds;

static void on_signal(int number)
{
	(void)number;
	fill_stack(rounds);
	call_with(held, MASK);
}

/* The program's own handler, on a stack of its own. */
static void run_handler(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };

	use_signal_stack();
	sigaction(SIGUSR1, &action, NULL);
	for (; goes_on(); rounds++) {
		clear_stack();
		raise(SIGUSR1);
	}
}

static ucontext_t of_main, of_coroutine;

static void coroutine(void)
{
	for (;;) {
		fill_little(rounds);
		call_with(held, MASK);
		swapcontext(&of_coroutine, &of_main);
	}
}

#define STACK_BYTES 65536u
static void *volatile stack_of_coroutine;

NOINLINE static void *make_stack(const char *way)
{
	void *stack = MAP_FAILED;

	if (strcmp(way, "coroutine-mapped") == 0)
		stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	else
		stack = truth_block(STACK_BYTES);
	if (stack == MAP_FAILED)
		truth_die("mmap");
	return stack;
}

static void run_coroutine(const char *way)
{
	stack_of_coroutine = make_stack(way);
	getcontext(&of_coroutine);
	of_coroutine.uc_stack.ss_sp = stack_of_coroutine;
	of_coroutine.uc_stack.ss_size = STACK_BYTES;
	makecontext(&of_coroutine, coroutine, 0);
	for (; goes_on(); rounds++) {
		clear_stack();
		swapcontext(&of_main, &of_coroutine);
	}
}

int main(int argc, char **argv)
{
	const char *way = argc == 2 ? argv[1] : "";

	held_by_hand();
	forgotten_often();
	if (strcmp(way, "moves") == 0)
		run_moves();
	else if (strcmp(way, "free") == 0 || strcmp(way, "moved") == 0 || strcmp(way, "op") == 0)
		run_argument(way);
	else if (strcmp(way, "registers") == 0)
		run_registers();
	else if (strcmp(way, "thread") == 0)
		run_thread();
	else if (strncmp(way, "spin", 4) == 0)
		run_spin(way);
	else if (strcmp(way, "handler") == 0)
		run_handler();
	else if (strncmp(way, "coroutine", 9) == 0)
		run_coroutine(way);
	else
		run_results(way);
	return 0;
}
