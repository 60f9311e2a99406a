/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/python/state.h"

#include "hooks/python/codes.h"
#include "hooks/python/stack.h"

#include <limits.h>
#include <pthread.h>

tpc_python_key_pointer tpc_python_key;
int32_t tpc_python_slot;

static tpc_shared_u64 searches;

/* A key that is none may lead anywhere, so the kernel is asked before reading. 0: it is not this thread's state. */
static uintptr_t state_by(const struct tpc_python_key *key)
{
	struct tpc_reader reader = { .careful = true };
	uintptr_t state;

	if (key->made != 1 || key->key >= PTHREAD_KEYS_MAX)
		return 0;
	state = (uintptr_t)pthread_getspecific((pthread_key_t)key->key);
	return state && tpc_read_word(&reader, state + tpc_python.thread_id) == tpc_arch_thread() ? state : 0;
}

static uintptr_t keep(const struct tpc_python_key *key, uintptr_t state)
{
	if (state)
		tpc_store_release(&tpc_python_key, key); /* pairs with the load of stack.c */
	return state;
}

/*
 * Does every state that a thread's variable refers to exist? States of other threads are freed when the interpreter is
 * finalized, and their variables keep the addresses, even if it is initialized again. The finalizing thread allocates,
 * and so comes here meanwhile.
 */
static bool states_last(void)
{
	static tpc_shared_bool was_ending;

	if (!tpc_python.runtime_ending)
		return false;
	if (tpc_unlikely(tpc_load((const uintptr_t *)(tpc_python_runtime.low + tpc_python.runtime_ending))))
		tpc_store(&was_ending, true);
	return !tpc_load(&was_ending);
}

static uintptr_t state_in_slot(void)
{
	struct tpc_reader reader = { .careful = !states_last() };
	uintptr_t state = *(const uintptr_t *)(tpc_arch_thread() + (uintptr_t)(intptr_t)tpc_python_slot);

	return state && tpc_read_word(&reader, state + tpc_python.thread_id) == tpc_arch_thread() ? state : 0;
}

uintptr_t tpc_python_find_key(void)
{
	uintptr_t at, state = 0;
	uint64_t search;

	if (tpc_python_slot)
		return state_in_slot();
	search = tpc_add(&searches, 1) + 1;
	if (tpc_python.runtime_key) {
		const struct tpc_python_key *key = (const void *)(tpc_python_runtime.low + tpc_python.runtime_key);

		state = keep(key, state_by(key));
		if (state || key->made == 0)
			return state;
	}
	if (search & (search - 1)) /* all of it, more and more rarely: for a long time there may be no Python thread */
		return 0;
	for (at = tpc_python_runtime.low; !state && at + sizeof(struct tpc_python_key) <= tpc_python_runtime.high;
	     at += 4)
		state = keep((const void *)at, state_by((const void *)at));
	return state;
}

uintptr_t tpc_python_which(uintptr_t state, uintptr_t current)
{
	struct tpc_reader reader = { .careful = true }; /* another thread's may disappear at any moment */

	return tpc_read_word(&reader, current + tpc_python.thread_id) == tpc_arch_thread() ? current : state;
}
