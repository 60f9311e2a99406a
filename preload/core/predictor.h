/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which order a thread does things: what came next the last time. A program that trains or serves does the same things over
 * and over, and its own data pushes ours out of the processor's caches each time round: so what is needed for the next thing
 * can be fetched while the program goes on to it. What is foretold here is good for that, and for nothing else.
 *
 * The thread keeps a log of what it did, and a place in it: where it was before as it is now. As long as what it does is what
 * stands there, both go on together, whatever is between. If not, the log is searched for the last two things that it did. As a
 * table of what follows what it would be right seven times in ten of torch's training steps, where one and the same op follows
 * many; so it is 98 times in 100 or more.
 */
#ifndef TPROF_CORE_PREDICTOR_H
#define TPROF_CORE_PREDICTOR_H

#include "core/base.h"

#define TPC_PREDICTOR_LOG 16384u   /* things: several steps of most programs; a power of two */
#define TPC_PREDICTOR_SEARCHED 16u /* things of the log that are looked at for each that is done, on average at most */

/* Of a thread; beside it a log of TPC_PREDICTOR_LOG things. All zero at first. Things are numbers to their users. */
struct tpc_predictor {
	uint32_t done; /* how many things */
	uint32_t at;   /* which of them stands in the log where the next one is expected */
	uint32_t paid; /* up to which `done` searches are paid for: beyond it the log is not searched */
	uint32_t next; /* the thing that is expected; any at all where nothing is known */
};

/* It did another thing than was expected. */
TPC_SLOW void tpc_predictor_find(struct tpc_predictor *order, const uint32_t *log);

/* The thread does this thing: order->next is what comes after it. Some ten instructions. */
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
