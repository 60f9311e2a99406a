/* SPDX-License-Identifier: Apache-2.0 */
/* recall.c against the plain truth: stacks in memory, walked in full each time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stacks/leaves.h"
#include "stacks/recall.h"

#define STACK_WORDS 400
#define RETURNS_MAX 40
#define PATHS 3000
#define ROUNDS 200000

static struct tpc_recall recall;
static uintptr_t stack[STACK_WORDS];
static uint64_t seed = 1;

static uint32_t draw(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

/* A synthetic program: code address c has a frame of frame_words(c) words, and saves an rbp that matters if saves(c). */
static uint32_t frame_words(uintptr_t code)
{
	return 2 + (uint32_t)(code * 7 % 9);
}

static bool saves(uintptr_t code)
{
	return code % 5 == 0;
}

struct naive {
	struct tpc_word returns[RETURNS_MAX], others[RETURNS_MAX];
	struct tpc_outcome outcome;
	uint64_t identity; /* of the stack: what it is made of, hashed */
};

/* From `start` outwards, until a return address is 0. */
static void walk(const struct tpc_start *start, struct naive *naive)
{
	uintptr_t pc = start->pc, sp = start->sp;
	size_t returns = 0, others = 0;

	naive->identity = start->pc * 31 + start->sp;
	for (;;) {
		uintptr_t slot = sp + (frame_words(pc) - 1) * sizeof(uintptr_t);

		if (saves(pc)) {
			naive->others[others++] = (struct tpc_word){ sp, *(uintptr_t *)sp };
			naive->identity = naive->identity * 1000003 + *(uintptr_t *)sp;
		}
		naive->returns[returns++] = (struct tpc_word){ slot, *(uintptr_t *)slot };
		pc = *(uintptr_t *)slot;
		naive->identity = naive->identity * 1000003 + pc;
		sp = slot + sizeof(uintptr_t);
		if (!pc || returns == RETURNS_MAX || others == RETURNS_MAX)
			break;
	}
	naive->outcome = (struct tpc_outcome){
		.returns = naive->returns,
		.return_count = returns,
		.others = naive->others,
		.other_count = others,
		.needs_bp = start->pc % 3 == 0,
	};
	if (naive->outcome.needs_bp)
		naive->identity = naive->identity * 1000003 + start->bp;
}

/* A stack for this path number: its outer part is shared by many. Returns where its innermost frame is. */
static struct tpc_start build(uint32_t path)
{
	uintptr_t codes[24];
	uint32_t depth = 3 + path % 20, words = 0;
	uint32_t mix = path;
	struct tpc_start start;
	uintptr_t *at;

	for (uint32_t i = 0; i < depth; i++, mix /= 7) {
		codes[i] = 1 + i * 10 + mix % 7; /* outermost first */
		words += frame_words(codes[i]);
	}
	for (size_t i = 0; i < STACK_WORDS; i++)
		stack[i] = draw(1000); /* what earlier calls left */
	at = stack + STACK_WORDS - 1 - words;
	start = (struct tpc_start){ codes[depth - 1], (uintptr_t)at, path % 2, (uintptr_t)(stack + STACK_WORDS) };
	for (uint32_t i = depth; i-- > 0;) {
		at[0] = path / 50 % 3;
		at[frame_words(codes[i]) - 1] = i ? codes[i - 1] : 0;
		at += frame_words(codes[i]);
	}
	return start;
}

/* Node numbers as the naive model gives them: one for each identity. */
static uint64_t identities[1 << 18];
static uint32_t node_count;

static uint32_t node_of(uint64_t identity)
{
	for (uint64_t i = identity * UINT64_C(0x9e3779b97f4a7c15) >> 46;; i = (i + 1) % TPC_LENGTH(identities)) {
		if (identities[i] == identity)
			return (uint32_t)i + 1;
		if (!identities[i]) {
			identities[i] = identity;
			assert_true(++node_count < TPC_LENGTH(identities) / 2);
			return (uint32_t)i + 1;
		}
	}
}

static void the_result_is_always_that_of_a_full_walk(void **state)
{
	static struct naive naive;
	uint32_t recalled = 0;

	(void)state;
	tpc_recall_clear(&recall);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		/* Stretches of few paths, and all of them: it fills and starts over. */
		uint32_t path = draw(round / 20000 % 2 ? PATHS * 20 : PATHS / 10);
		struct tpc_start start = build(path);
		const struct tpc_recall_leaf *known = tpc_recall_find(&recall, &start);
		uint32_t node;

		walk(&start, &naive);
		node = node_of(naive.identity);
		if (known) {
			assert_int_equal(known->result.node, node);
			assert_int_equal(known->result.flags, node % 3);
			recalled++;
			continue;
		}
		naive.outcome.result = (struct tpc_recalled){ node, node % 3 };
		tpc_recall_add(&recall, &start, &naive.outcome);
	}
	assert_true(recalled > ROUNDS / 5);
	assert_true(node_count > PATHS);
}

static uint32_t found(const struct tpc_start *start)
{
	const struct tpc_recall_leaf *leaf = tpc_recall_find(&recall, start);

	assert_non_null(leaf);
	return leaf->result.node;
}

/* Any one word that the walk depended on, changed: not recalled; put back: recalled. */
static void one_changed_word_is_noticed(void **state)
{
	static struct naive naive;

	(void)state;
	for (uint32_t path = 0; path < 500; path++) {
		struct tpc_start start = build(path);

		tpc_recall_clear(&recall);
		walk(&start, &naive);
		naive.outcome.result = (struct tpc_recalled){ 77, 0 };
		tpc_recall_add(&recall, &start, &naive.outcome);
		assert_int_equal(found(&start), 77);
		for (size_t i = 0; i < naive.outcome.return_count + naive.outcome.other_count; i++) {
			const struct tpc_word *word = i < naive.outcome.return_count
							      ? &naive.returns[i]
							      : &naive.others[i - naive.outcome.return_count];

			*(uintptr_t *)word->slot ^= 1;
			assert_null(tpc_recall_find(&recall, &start));
			*(uintptr_t *)word->slot ^= 1;
		}
		assert_int_equal(found(&start), 77);
	}
}

/* Walks to a stack that is known, as a hook does, and notes whether it was expected. */
static bool was_expected(uint32_t path)
{
	struct tpc_start start = build(path);
	uint32_t before = recall.last, expected = recall.expected;
	const struct tpc_recall_leaf *leaf = tpc_recall_find(&recall, &start);

	assert_non_null(leaf);
	assert_int_equal(leaf->result.node, path);
	assert_int_equal(tpc_recall_leaf_at(&recall, recall.last)->result.node, path);
	tpc_recall_follow(&recall, before);
	return expected && tpc_recall_leaf_at(&recall, expected)->result.node == path;
}

static uint32_t expected_of(const uint32_t *paths, uint32_t count)
{
	uint32_t expected = 0;

	for (uint32_t i = 0; i < count; i++)
		expected += was_expected(paths[i]);
	return expected;
}

/* Remembers stacks 1 to `count`, and nothing else. */
static void walk_all(uint32_t count)
{
	static struct naive naive;

	tpc_recall_clear(&recall);
	recall.last = 0;
	for (uint32_t path = 1; path <= count; path++) {
		struct tpc_start start = build(path);

		walk(&start, &naive);
		naive.outcome.result = (struct tpc_recalled){ path, 0 };
		tpc_recall_add(&recall, &start, &naive.outcome);
	}
}

/* In steps of `step`, which has no divisor in common with `count`: each comes once. Returns how many were expected. */
static uint32_t expected_in_steps(uint32_t count, uint32_t step)
{
	uint32_t expected = 0;

	for (uint32_t i = 0; i < count; i++)
		expected += was_expected(1 + i * step % count);
	return expected;
}

/* Also where all that was known is wrong at once, and after a time without an order. */
static void a_new_order_is_learned(void **state)
{
	const uint32_t count = 199, steps[] = { 1, 2, 5, 0, 3 }; /* a prime; 0: none */

	(void)state;
	walk_all(count);
	for (uint32_t i = 0; i < TPC_LENGTH(steps); i++) {
		for (uint32_t n = 0; !steps[i] && n < 20000; n++)
			was_expected(1 + draw(count));
		for (uint32_t round = 0; steps[i] && round < 60; round++)
			expected_in_steps(count, steps[i]);
		if (steps[i])
			assert_true(expected_in_steps(count, steps[i]) > count * 9 / 10);
	}
}

/* 7 is followed by 8 four times of five, and by 9 where the loop ends: only the ends are not foretold. */
static void what_comes_next_is_expected(void **state)
{
	static const uint32_t loop[] = { 7, 8, 7, 8, 7, 8, 7, 8, 7, 9, 10 };
	uint32_t foretold = 0;

	(void)state;
	walk_all(200);
	for (uint32_t round = 0; round < 40; round++)
		expected_of(loop, TPC_LENGTH(loop));
	for (uint32_t round = 0; round < 100; round++)
		foretold += expected_of(loop, TPC_LENGTH(loop));
	assert_true(foretold >= 100 * (TPC_LENGTH(loop) - 2));
	for (uint32_t round = 0, expected = 0; round < 20000; round++) { /* in no order: hardly ever a guess at all */
		was_expected(1 + draw(200));
		expected += recall.expected != 0;
		assert_true(expected <= 2000 + round / 5);
	}
	tpc_recall_clear(&recall);
	assert_int_equal(recall.expected, 0);
}

/* The program counters of what was recalled, and nothing beyond the stack's end is looked at. */
static void what_was_recalled_can_be_told(void **state)
{
	static struct naive naive;
	uintptr_t pcs[RETURNS_MAX + 1];
	struct tpc_start start = build(1234);

	(void)state;
	tpc_recall_clear(&recall);
	walk(&start, &naive);
	naive.outcome.result = (struct tpc_recalled){ 5, 0 };
	tpc_recall_add(&recall, &start, &naive.outcome);
	assert_int_equal(found(&start), 5);
	assert_int_equal(tpc_recall_last(&recall, pcs, TPC_LENGTH(pcs)), naive.outcome.return_count + 1);
	assert_int_equal(pcs[0], start.pc);
	for (size_t i = 0; i < naive.outcome.return_count; i++)
		assert_int_equal(pcs[i + 1], naive.returns[i].value);
	start.high = naive.returns[naive.outcome.return_count - 1].slot;
	assert_null(tpc_recall_find(&recall, &start));
}

#define LONG_WORDS 70 /* of a stack, every third a saved rbp: four pieces and six words */
#define LONG_STACKS 60

static uintptr_t *long_word(uint32_t i)
{
	return &stack[4 + i * 5 + i % 4];
}

/* A long stack: the word at `parts` is the path's own, all others are the same in each of them. */
static struct tpc_start build_long(uint32_t path, uint32_t parts, struct naive *naive)
{
	struct tpc_start start = { 7, (uintptr_t)(stack + 4), 0, (uintptr_t)(stack + STACK_WORDS) };
	struct tpc_outcome *outcome = &naive->outcome;
	static struct tpc_word returns[LONG_WORDS], others[LONG_WORDS];

	*outcome = (struct tpc_outcome){ .returns = returns, .others = others, .result = { path + 1, 0 } };
	for (uint32_t i = 0; i < LONG_WORDS; i++) {
		uintptr_t *slot = long_word(i);
		struct tpc_word word = { (uintptr_t)slot, 1000 + i + (i == parts ? path * 1000 : 0) };

		*slot = word.value;
		if (i % 3 == 2)
			others[outcome->other_count++] = word;
		else
			returns[outcome->return_count++] = word;
	}
	return start;
}

/* Wherever they part, what lies around it is kept once; and of what is shared, too, each word is compared. */
static void what_is_the_same_is_shared(void **state)
{
	static struct naive naive;

	(void)state;
	for (uint32_t parts = 0; parts < LONG_WORDS; parts += 3) {
		uint32_t first;

		tpc_recall_clear(&recall);
		for (uint32_t path = 0; path < LONG_STACKS; path++) {
			struct tpc_start start = build_long(path, parts, &naive);

			tpc_recall_add(&recall, &start, &naive.outcome);
			first = path ? first : recall.used;
		}
		/* Each has a leaf of its own, of one line, and the piece where it parts. */
		assert_in_range(recall.used, 1, first + LONG_STACKS * (8 + 24));
		for (uint32_t path = 0; path < LONG_STACKS; path++) {
			struct tpc_start start = build_long(path, parts, &naive);
			uintptr_t *word = long_word(path % LONG_WORDS);

			assert_int_equal(found(&start), path + 1);
			*word += 1 << 20;
			assert_null(tpc_recall_find(&recall, &start));
		}
	}
}

/* A long stack like those, but that word is elsewhere, or is a saved rbp where theirs is a return address. */
static struct tpc_start build_other(uint32_t word, bool moved, uintptr_t *slots[], struct naive *naive)
{
	struct tpc_start start = { 9, (uintptr_t)(stack + 4), 0, (uintptr_t)(stack + STACK_WORDS) };
	static struct tpc_word returns[LONG_WORDS], others[LONG_WORDS];

	naive->outcome = (struct tpc_outcome){ .returns = returns, .others = others, .result = { 1000 + word, 0 } };
	for (uint32_t i = 0; i < LONG_WORDS; i++) {
		struct tpc_word it = { (uintptr_t)(long_word(i) + (moved && i == word)), 1000 + i };

		slots[i] = (uintptr_t *)it.slot;
		*slots[i] = it.value;
		if ((i % 3 == 2) != (!moved && i == word))
			others[naive->outcome.other_count++] = it;
		else
			returns[naive->outcome.return_count++] = it;
	}
	return start;
}

/* Of the stack that was added before it, it shares what is the same in all: where it lies, what is there, and what it is. */
static void what_is_not_quite_the_same_is_not_shared(void **state)
{
	static struct naive naive;
	uintptr_t *slots[LONG_WORDS], pcs[LONG_WORDS + 1];

	(void)state;
	for (uint32_t word = 0; word < 2 * LONG_WORDS; word++) {
		struct tpc_start start = build_long(0, 0, &naive);

		tpc_recall_clear(&recall);
		tpc_recall_add(&recall, &start, &naive.outcome);
		start = build_other(word / 2, word % 2, slots, &naive);
		tpc_recall_add(&recall, &start, &naive.outcome);
		assert_int_equal(found(&start), 1000 + word / 2);
		assert_int_equal(tpc_recall_last(&recall, pcs, TPC_LENGTH(pcs)), naive.outcome.return_count + 1);
		for (uint32_t i = 0; i < naive.outcome.return_count; i++)
			assert_int_equal(pcs[i + 1], naive.outcome.returns[i].value);
		for (uint32_t i = 0; i < LONG_WORDS; i++) {
			*slots[i] ^= 1 << 20;
			assert_null(tpc_recall_find(&recall, &start));
			*slots[i] ^= 1 << 20;
		}
	}
}

#define CALL 24 /* in a long stack the word that leads back to where a hooked function was called */
#define HELD 38 /* and the first of the innermost piece that is outside of that call */

/* The next return address stands behind the call's rbp. */
static uint64_t *stamp_of_call(void)
{
	return (uint64_t *)(long_word(CALL + 1) - 1) - TPC_RECALL_STAMP / sizeof(uint64_t);
}

/* Two long stacks that part inside of the call, the first one last. */
static struct tpc_start add_two_long(struct naive *naive)
{
	struct tpc_start start = build_long(1, 3, naive);

	tpc_recall_clear(&recall);
	tpc_recall_add(&recall, &start, &naive->outcome);
	start = build_long(0, 3, naive);
	tpc_recall_add(&recall, &start, &naive->outcome);
	return start;
}

static bool is_known_with(const struct tpc_start *start, uint32_t i)
{
	bool known;

	*long_word(i) ^= 1 << 20;
	known = tpc_recall_find(&recall, start) != NULL;
	*long_word(i) ^= 1 << 20;
	return known;
}

/* While one call lasts, what is outside of it is compared once; all else each time, and everything in the next call. */
static void what_a_call_holds_is_compared_once(void **state)
{
	static struct naive naive;
	struct tpc_start start;

	(void)state;
	tpc_leaf_hold(1000 + CALL, 1);
	start = add_two_long(&naive);
	for (uint64_t call = 1; call < 4; call++) {
		*stamp_of_call() = call;
		for (uint32_t i = 0; i < LONG_WORDS; i++)
			assert_false(is_known_with(&start, i)); /* not compared in full yet */
		assert_int_equal(found(&start), 1);
		for (uint32_t i = 0; i < LONG_WORDS; i++)
			assert_int_equal(is_known_with(&start, i), i >= HELD);
		*long_word(3) += 1000; /* the other stack has the same call in it */
		assert_int_equal(found(&start), 2);
		assert_int_equal(is_known_with(&start, HELD), true);
		*long_word(3) -= 1000;
	}
	tpc_leaf_hold(0, 0);
}

/* A call that has no stamp, one whose code is not told, a stack that is known by other means in between: all is compared. */
static void nothing_is_held_without_a_stamp(void **state)
{
	static struct naive naive;
	struct tpc_start start;

	(void)state;
	for (uint32_t told = 0; told < 2; told++) {
		tpc_leaf_hold(1000 + CALL, told);
		start = add_two_long(&naive);
		*stamp_of_call() = !told;
		for (uint32_t i = 0; i < LONG_WORDS; i++) {
			assert_int_equal(found(&start), 1);
			assert_false(is_known_with(&start, i));
		}
	}
	*stamp_of_call() = 7;
	assert_int_equal(found(&start), 1);
	assert_true(is_known_with(&start, HELD));
	tpc_recall_clear(&recall);
	start = add_two_long(&naive);
	*stamp_of_call() = 7;
	assert_false(is_known_with(&start, HELD));
	tpc_leaf_hold(0, 0);
}

#define WAYS 6
#define FORKS 4 /* frames where the ways part */

/* A stack of 12 frames, in four of which it is one of several functions: 6^4 stacks that all begin at one place. */
static struct tpc_start build_fork(uint32_t path, uint32_t forks)
{
	uintptr_t *at = stack + 100;
	uintptr_t codes[12];
	struct tpc_start start;

	for (uint32_t i = 0; i < 12; i++) {
		bool parts = i % 3 == 1 && i / 3 < forks;

		codes[i] = 9 * (i + 1) + (parts ? 9000 * (path % WAYS) : 0); /* of one size whatever the way */
		path = parts ? path / WAYS : path;
	}
	start = (struct tpc_start){ codes[0], (uintptr_t)at, 0, (uintptr_t)(stack + STACK_WORDS) };
	for (uint32_t i = 0; i < 12; i++) {
		uint32_t words = frame_words(codes[i]);

		for (uint32_t k = 0; k < words - 1; k++)
			at[k] = 3;
		at[words - 1] = i < 11 ? codes[i + 1] : 0;
		at += words;
	}
	return start;
}

/* Looks for each of the stacks, remembers those that are not known, and returns how many were. */
static uint32_t round_of_forks(uint32_t paths, uint32_t forks)
{
	static struct naive naive;
	uint32_t known = 0;

	for (uint32_t path = 0; path < paths; path++) {
		struct tpc_start start = build_fork(path, forks);
		const struct tpc_recall_leaf *leaf = tpc_recall_find(&recall, &start);

		if (leaf) {
			assert_int_equal(leaf->result.node, path + 1);
			known++;
			continue;
		}
		walk(&start, &naive);
		naive.outcome.result = (struct tpc_recalled){ path + 1, 0 };
		tpc_recall_add(&recall, &start, &naive.outcome);
	}
	return known;
}

/* Once known, stacks that part several times are found without going through their branches one after the other. */
static void shortcuts_are_learnt_and_say_what_the_branches_say(void **state)
{
	uint32_t before;

	(void)state;
	for (uint32_t forks = 2; forks <= FORKS; forks++) {
		uint32_t paths = forks == 2 ? WAYS * WAYS : WAYS * WAYS * WAYS;

		memset(&recall, 0, sizeof(recall));
		tpc_recall_clear(&recall);
		for (uint32_t i = 0; i < 60; i++)
			round_of_forks(paths, forks);
		before = recall.descents;
		for (uint32_t i = 0; i < 10; i++)
			assert_int_equal(round_of_forks(paths, forks), paths);
		/* A place holds two of them: few are the third. Which are, the stack's address says too: it is random. */
		assert_in_range(recall.descents - before, 0, 10 * paths / 8);
	}
}

/* A word that a shortcut asks, changed to what no stack has, is noticed; more branches than it asks are gone through. */
static void a_shortcut_is_never_taken_for_another_stack(void **state)
{
	uint32_t paths = WAYS * WAYS * WAYS;

	(void)state;
	memset(&recall, 0, sizeof(recall));
	tpc_recall_clear(&recall);
	for (uint32_t i = 0; i < 60; i++)
		round_of_forks(paths, 3);
	for (uint32_t path = 0; path < paths; path++) {
		struct tpc_start start = build_fork(path, 3);
		static struct naive naive;

		walk(&start, &naive);
		for (size_t i = 0; i < naive.outcome.return_count; i++) {
			*(uintptr_t *)naive.returns[i].slot ^= 1 << 20;
			assert_null(tpc_recall_find(&recall, &start));
			*(uintptr_t *)naive.returns[i].slot ^= 1 << 20;
		}
		start.high = naive.returns[6].slot; /* nothing beyond the stack's end is asked */
		assert_null(tpc_recall_find(&recall, &start));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_result_is_always_that_of_a_full_walk),
		cmocka_unit_test(one_changed_word_is_noticed),
		cmocka_unit_test(what_comes_next_is_expected),
		cmocka_unit_test(a_new_order_is_learned),
		cmocka_unit_test(what_was_recalled_can_be_told),
		cmocka_unit_test(shortcuts_are_learnt_and_say_what_the_branches_say),
		cmocka_unit_test(a_shortcut_is_never_taken_for_another_stack),
		cmocka_unit_test(what_is_the_same_is_shared),
		cmocka_unit_test(what_is_not_quite_the_same_is_not_shared),
		cmocka_unit_test(what_a_call_holds_is_compared_once),
		cmocka_unit_test(nothing_is_held_without_a_stamp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
