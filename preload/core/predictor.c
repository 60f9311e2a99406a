/* SPDX-License-Identifier: Apache-2.0 */
#include "core/predictor.h"

#define LEFT_OUT 8u /* things that were done last time and are not now, at most, for it to be no other place */
#define SAVED                                                                                                          \
	(TPC_PREDICTOR_LOG /                                                                                           \
	 TPC_PREDICTOR_SEARCHED) /* what is not searched when it could be pays for a search of all */

static uint32_t thing_at(const uint32_t *log, uint32_t i)
{
	return log[i % TPC_PREDICTOR_LOG];
}

/* The place after the last occurrence of the last two things in a row; TPC_PREDICTOR_LOG ago: there is none. */
static uint32_t find_pair(const uint32_t *log, uint32_t done)
{
	uint32_t last = thing_at(log, done - 1), before = thing_at(log, done - 2);

	for (uint32_t back = 2; back < TPC_PREDICTOR_LOG; back++) {
		if (thing_at(log, done - back) == last && thing_at(log, done - back - 1) == before)
			return done - back + 1;
	}
	return done - TPC_PREDICTOR_LOG;
}

/* A thing that was inserted between those of last time leaves the place as it is. */
void tpc_predictor_find(struct tpc_predictor *order, const uint32_t *log)
{
	uint32_t done = order->done, found;

	if ((int32_t)(done - order->paid) < 0)
		return;
	if (done - order->paid > SAVED)
		order->paid = done - SAVED;
	order->paid++;
	for (uint32_t i = 1; i < LEFT_OUT && (int32_t)(order->at + i - (done - 1)) < 0; i++) {
		if (thing_at(log, order->at + i) == thing_at(log, done - 1)) {
			order->at += i + 1;
			return;
		}
	}
	found = find_pair(log, done);
	order->paid += (done - found) / TPC_PREDICTOR_SEARCHED;
	if (done - found < TPC_PREDICTOR_LOG)
		order->at = found;
}
