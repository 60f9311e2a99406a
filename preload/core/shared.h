/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables that another thread or a forked child may touch. TPC_SHARED() wraps each in a struct, so that a plain read or write
 * does not compile: the functions below access it, and say how the access is ordered (relaxed, unless the name says more). An
 * acquire and the release that it pairs with name each other in comments.
 *
 * The functions take unwrapped variables too, for memory whose types others choose: the mapped trace, the program's pointers.
 * Each is a single instruction, and async-signal-safe.
 */
#ifndef TPROF_CORE_SHARED_H
#define TPROF_CORE_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TPC_SHARED(type)                                                                                               \
	struct {                                                                                                       \
		type shared;                                                                                           \
	}

typedef TPC_SHARED(bool) tpc_shared_bool;
typedef TPC_SHARED(int) tpc_shared_int;
typedef TPC_SHARED(uint8_t) tpc_shared_u8;
typedef TPC_SHARED(uint16_t) tpc_shared_u16;
typedef TPC_SHARED(uint32_t) tpc_shared_u32;
typedef TPC_SHARED(uint64_t) tpc_shared_u64;
typedef TPC_SHARED(uintptr_t) tpc_shared_address;
typedef TPC_SHARED(size_t) tpc_shared_size;
typedef TPC_SHARED(void *) tpc_shared_function;

/* The variable itself, where no other thread can touch it: before it is published, and in a forked child. */
#define tpc_unshared(x) ((x).shared)

/* The address of what p points to, wrapped or not. 12: a struct, to __builtin_classify_type(). */
struct tpc_not_shared {
	int shared;
};
#define TPC_IS_SHARED(p) (__builtin_classify_type(*(p)) == 12)
#define TPC_INNER(p)                                                                                                   \
	__builtin_choose_expr(TPC_IS_SHARED(p),                                                                        \
			      &(__builtin_choose_expr(TPC_IS_SHARED(p), (p), (struct tpc_not_shared *)0))->shared,     \
			      (p))

#define tpc_load(p) __atomic_load_n(TPC_INNER(p), __ATOMIC_RELAXED)
#define tpc_load_acquire(p) __atomic_load_n(TPC_INNER(p), __ATOMIC_ACQUIRE)
#define tpc_load_seq(p) __atomic_load_n(TPC_INNER(p), __ATOMIC_SEQ_CST)
#define tpc_store(p, v) __atomic_store_n(TPC_INNER(p), (v), __ATOMIC_RELAXED)
#define tpc_store_release(p, v) __atomic_store_n(TPC_INNER(p), (v), __ATOMIC_RELEASE)
#define tpc_store_seq(p, v) __atomic_store_n(TPC_INNER(p), (v), __ATOMIC_SEQ_CST)

/* These return what was there before. */
#define tpc_add(p, v) __atomic_fetch_add(TPC_INNER(p), (v), __ATOMIC_RELAXED)
#define tpc_add_release(p, v) __atomic_fetch_add(TPC_INNER(p), (v), __ATOMIC_RELEASE)
#define tpc_add_acq_rel(p, v) __atomic_fetch_add(TPC_INNER(p), (v), __ATOMIC_ACQ_REL)
#define tpc_add_seq(p, v) __atomic_fetch_add(TPC_INNER(p), (v), __ATOMIC_SEQ_CST)

#define tpc_sub(p, v) __atomic_fetch_sub(TPC_INNER(p), (v), __ATOMIC_RELAXED)
#define tpc_sub_seq(p, v) __atomic_fetch_sub(TPC_INNER(p), (v), __ATOMIC_SEQ_CST)
#define tpc_sub_release(p, v) __atomic_fetch_sub(TPC_INNER(p), (v), __ATOMIC_RELEASE)
#define tpc_set_bits(p, v) __atomic_fetch_or(TPC_INNER(p), (v), __ATOMIC_RELAXED)
#define tpc_clear_bits_release(p, v) __atomic_fetch_and(TPC_INNER(p), ~(v), __ATOMIC_RELEASE)
#define tpc_exchange(p, v) __atomic_exchange_n(TPC_INNER(p), (v), __ATOMIC_ACQ_REL)

/* Sets *p to `to` if it is *from; else false, and *from is what *p is. Acquires, and releases where it sets. */
#define tpc_swap_or_load(p, from, to)                                                                                  \
	__atomic_compare_exchange_n(TPC_INNER(p), (from), (to), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

/* Sets *p to `to` if it is `from`. */
#define tpc_swap_if(p, from, to)                                                                                       \
	__extension__({                                                                                                \
		__typeof__(*TPC_INNER(p)) tpc_from = (from);                                                           \
		tpc_swap_or_load((p), &tpc_from, (to));                                                                \
	})

#endif
