/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicts what a thread does next from the order in which it did things before. A program that trains or serves
 * repeats itself, and its own data evicts ours from the processor's caches each time round. So what the next thing
 * needs is prefetched while the program gets there. Predictions serve that purpose only.
 *
 * The thread keeps a log of what it did, and a place in the log where the same things happened before. As long as it
 * does what the log says, both advance, whatever the distance between them. Otherwise the log is searched for the last
 * two things. In torch's training steps a table of successors would be right seven times in ten, because many ops
 * follow the same op; this is right 98 times in 100 or more.
 */
#ifndef TPROF_CORE_PREDICTOR_H
#define TPROF_CORE_PREDICTOR_H

#include "core/base.h"

#define TPC_PREDICTOR_LOG 16384u   /* things: several steps of most programs; a power of two */
#define TPC_PREDICTOR_SEARCHED 16u /* things in the log that are looked at for each thing done, on average */

/*
 * The state of a thread, which also has a log of TPC_PREDICTOR_LOG things. All zero at first. Users represent things by
 * numbers.
 */
struct tpc_predictor {
	uint32_t done; /* number of things done */
	uint32_t at;   /* the place in the log of what is expected next */
	uint32_t paid; /* the value of `done` up to which the log may be searched */
	uint32_t next; /* the thing that is expected; arbitrary if nothing is known */
};

/* The thread did not do what was expected. */
TPC_SLOW void tpc_predictor_find(struct tpc_predictor *order, const uint32_t *log);

/* The thread does `thing`; order->next is set to what is expected after it. Some ten instructions. */
TPC_HOT void tpc_predictor_go_on(struct tpc_predictor *order, uint32_t *log, uint32_t thing)
{
	log[order->done++ % TPC_PREDICTOR_LOG] = thing;
	if (tpc_likely(order->next == thing))
		order->at++;
	else
		tpc_predictor_find(order, log);
	order->next = log[order->at % TPC_PREDICTOR_LOG];
}

#endif
