/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pthread_create, and C11's thrd_create: a new thread is known from its first instruction on, and sampled even if it
 * never allocates. Its arguments are passed through a fixed table, because nothing here may allocate; if the table is
 * full, the thread starts without us and attaches at its first event.
 *
 * pthread_setname_np: pools name their threads when these are running already. If another thread sets the name, it is
 * noticed with the next chunk.
 */
#include "hooks/gate/enter.h"
#include "hooks/gate/start.h"
#include "hooks/link/real.h"
#include "hooks/ops/told/annotate.h"
#include "hooks/sampling/bequeath.h"
#include "core/assert.h"

#include <pthread.h>

struct ticket {
	void *(*routine)(void *); /* one of these two is set */
	thrd_start_t start;
	void *argument;
	tpc_shared_u32 taken;
};

static struct ticket tickets[256];

static struct ticket *take_ticket(void)
{
	for (size_t i = 0; i < TPC_LENGTH(tickets); i++) {
		if (!tpc_load(&tickets[i].taken) && tpc_swap_if(&tickets[i].taken, 0u, 1u))
			return &tickets[i];
	}
	return NULL;
}

/* While recording is on. */
static struct ticket *ticket_of_new_thread(void)
{
	if (tpc_load(&tpc_state.mode) == TPC_MODE_NEW)
		tpc_start(); /* a forked child that did nothing yet: starts while it has one thread */
	return tpc_load(&tpc_state.mode) == TPC_MODE_ON ? take_ticket() : NULL;
}

static void give_ticket(struct ticket *ticket)
{
	tpc_assert(ticket >= tickets && ticket < tickets + TPC_LENGTH(tickets) && tpc_load(&ticket->taken) == 1);
	tpc_store_release(&ticket->taken, 0u); /* pairs with take_ticket(): the ticket was read */
}

static void begin(const void *frame)
{
	struct tpc_thread *thread = tpc_enter(frame);

	if (thread)
		tpc_leave(thread);
}

static void *begin_thread(void *context)
{
	struct ticket ticket = *(struct ticket *)context;

	give_ticket(context);
	begin(__builtin_frame_address(0));
	return ticket.routine(ticket.argument);
}

static int begin_c11_thread(void *context)
{
	struct ticket ticket = *(struct ticket *)context;

	give_ticket(context);
	begin(__builtin_frame_address(0));
	return ticket.start(ticket.argument);
}

/* Creates the thread with the mask that the program believes the creating thread to have. */
static int create(pthread_t *id, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
	bool bequeathed = tpc_cpu_bequeath();
	int error = tpc_real.pthread_create(id, attributes, routine, argument);

	if (bequeathed)
		tpc_cpu_bequeathed();
	return error;
}

TPC_EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
	struct ticket *ticket = ticket_of_new_thread();
	int error;

	if (!ticket)
		return create(id, attributes, routine, argument);
	ticket->routine = routine;
	ticket->argument = argument;
	error = create(id, attributes, begin_thread, ticket);
	if (error)
		give_ticket(ticket);
	return error;
}

static int create_c11(thrd_t *id, thrd_start_t start, void *argument)
{
	bool bequeathed = tpc_cpu_bequeath();
	int error = tpc_real.thrd_create(id, start, argument);

	if (bequeathed)
		tpc_cpu_bequeathed();
	return error;
}

TPC_EXPORT int thrd_create(thrd_t *id, thrd_start_t start, void *argument)
{
	struct ticket *ticket = ticket_of_new_thread();
	int error;

	if (!ticket)
		return create_c11(id, start, argument);
	ticket->start = start;
	ticket->argument = argument;
	error = create_c11(id, begin_c11_thread, ticket);
	if (error != thrd_success)
		give_ticket(ticket);
	return error;
}

TPC_EXPORT int pthread_setname_np(pthread_t id, const char *name)
{
	int error;

	if (!tpc_real.pthread_setname_np)
		tpc_start();
	error = tpc_real.pthread_setname_np(id, name);
	if (!error && pthread_equal(id, pthread_self()))
		tpc_annotate_thread(name, true);
	return error;
}
