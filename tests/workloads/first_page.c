/* SPDX-License-Identifier: Apache-2.0 */
/* Holds memory in known places: a helper that several lines call, a list that one line fills, a recursion, small rests. */
#include <stdlib.h>
#include <string.h>

#define KIB 1024
#define NODES 3000

static void *volatile kept[64];
static size_t count;

__attribute__((noinline)) static void *make_block(size_t size)
{
	void *block = malloc(size);

	memset(block, 1, size);
	kept[count++ % 64] = block;
	return block;
}

struct node {
	struct node *next;
	char text[1000];
};

__attribute__((noinline)) static struct node *make_list(int length)
{
	struct node *head = NULL;

	for (int i = 0; i < length; i++) {
		struct node *node = malloc(sizeof(*node)); /* list */

		node->next = head;
		head = node;
	}
	return head;
}

__attribute__((noinline)) static void deepen(int depth)
{
	void *volatile block = malloc(10 * KIB); /* recursion */

	if (depth)
		deepen(depth - 1);
	kept[0] = block;
}

__attribute__((noinline)) static void load(void)
{
	kept[1] = make_block(4096 * KIB); /* table */
	kept[2] = make_block(2048 * KIB); /* index */
}

int main(void)
{
	load();
	kept[3] = make_list(NODES);
	deepen(99);
	for (int i = 0; i < 10; i++)
		kept[4 + i] = make_block(2 * KIB); /* too small for a row */
	return 0;
}
