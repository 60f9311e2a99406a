# SPDX-License-Identifier: Apache-2.0
"""Random C programs that know their own stacks: each call notes its function, and each block's size names the calls in progress, which
the program prints. Frames are of many kinds: large, of variable size, realigned, with arguments on the stack; functions have loops,
switches, and calls that never return."""
import random

FUNCTIONS = 40

HEAD = r"""
#include <stdio.h>
#include <stdlib.h>
#define NOINLINE __attribute__((noinline))

static unsigned char trail[64];
static volatile unsigned depth;
static volatile long sink = 3;
static unsigned size = 1001;

NOINLINE void *get(void)
{
	printf("%u", size);
	for (unsigned i = depth; i-- > 0;)
		printf(" f%u", trail[i]);
	puts("");
	return malloc(size++);
}
NOINLINE long many(long a, long b, long c, long d, long e, long f, long g, long h, long i)
{
	return a + b * 2 + c * 3 + d + e + f + g + h * 5 + i + sink;
}
NOINLINE double mean(double *x, long n)
{
	double sum = 0;
	for (long i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)n;
}
NOINLINE __attribute__((noreturn)) void fail(const char *what)
{
	fputs(what, stderr);
	abort();
}
"""


def variables(rng):
    if rng.random() < 0.3:
        yield f"volatile char room[{rng.choice((3, 40, 200, 5000))}]; room[1] = (char)n; r += room[1];"
    if rng.random() < 0.25:
        yield "volatile char dynamic[(n & 7) * 16 + 1]; dynamic[n & 7] = 1; r += dynamic[n & 7];"
    if rng.random() < 0.15:
        yield "volatile char aligned[64] __attribute__((aligned(64))); aligned[n & 63] = 2; r += aligned[n & 63];"
    if rng.random() < 0.3:
        yield f"double x[{rng.choice((2, 6))}] = {{ (double)r, (double)sink }}; r += (long)mean(x, 2);"


def work(rng, number):
    if rng.random() < 0.3:
        yield "for (long i = 0; i < (n & 7); i++) r += many(i, r, n, i, r, 7, r ^ 3, i * r, n);"
    if rng.random() < 0.3:
        yield f'if (sink == {1000 + number}) fail("{number}");'
    if rng.random() < 0.3:
        yield ("switch (sink + (n & 3)) { case 3: r += 4; break; case 4: r *= sink; break; case 5: r ^= 77; break; "
               'case 6: r += many(1, 2, 3, 4, 5, 6, 7, 8, r); break; case 7: r -= sink; break; case 8: puts("x"); break; }')


def call(rng, callee):
    kind = rng.random()
    if kind < 0.4:
        return f"r += f{callee}(n + 1);"
    if kind < 0.7:
        return f"if (depth < {rng.randrange(4, 16)} && size < 3000) r += f{callee}(r & 15);"
    if kind < 0.85:
        return f'if (size > 3500) fail("x"); else r += many(r, 1, 2, 3, n, 5, 6, f{callee}(n), 8);'
    return f"for (int i = 0; i < 2 && size < 2000; i++) r ^= f{callee}(n + i);"


def function(rng, number):
    later = [rng.randrange(number + 1, FUNCTIONS) for _ in range(rng.randrange(1, 4))] if number < FUNCTIONS - 1 else []
    first = list(variables(rng))
    rest = [*work(rng, number), *[call(rng, callee) for callee in later], "if (size < 3000) r += *(volatile char *)get() & 1;"]
    rng.shuffle(rest)
    body = "\n\t".join([f"long r = n + {rng.randrange(9)};", f"trail[depth++] = {number};", *first, *rest, "depth--;", "return r;"])
    return f"NOINLINE long f{number}(long n)\n{{\n\t{body}\n}}"


def program(seed):
    """The source. It prints a line for each block: its size, and the functions in progress, innermost first."""
    rng = random.Random(seed)
    names = [f"long f{number}(long n);" for number in range(FUNCTIONS)]
    main = ("int main(void)\n{\n\tlong r = 0;\n\tfor (int i = 0; i < 3 && size < 3000; i++)\n\t\tr += f0(i);\n"
            "\tfor (int i = 0; i < 8; i++)\n\t\tr += f1(i) + f2(i) + f3(i) + f5(i);\n\treturn r == 42;\n}\n")
    return "\n".join([HEAD, *names, *[function(rng, number) for number in reversed(range(FUNCTIONS))], main])


def truth(output):
    """By size of the block: the functions in progress, innermost first."""
    lines = [line.split() for line in output.decode().splitlines()]
    return {int(line[0]): [*line[1:], "main"] for line in lines if line[0].isdigit() and len(line) > 1}
