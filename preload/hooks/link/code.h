/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks functions in their own code (arch/x86_64/code_move.h), by their symbols: what no pointer of the loader leads to, too.
 * Only while the process has one thread, or leaves the patches to `tprof attach` (pending.h).
 */
#ifndef TPROF_LINK_CODE_H
#define TPROF_LINK_CODE_H

#include "hooks/link/slots.h"

struct dl_phdr_info;

struct tpc_code_function_named {
	const struct dl_phdr_info *info; /* of its object */
	const char *object;		 /* path; "" for the program */
	const char *symbol;
	void *address;
};

struct tpc_code_visitor {
	/* Is that object to be searched? NULL: all are, but libc, the unwinder and their like never are. */
	bool (*searches)(const struct dl_phdr_info *info);
	/* Is the function to be hooked? May itself refuse it. */
	bool (*wants)(const struct tpc_code_function_named *function);
	/* Is it already? */
	bool (*has)(const void *function);
	/* What it shall lead to; NULL: *reason says why not. */
	void *(*stub)(const struct tpc_code_function_named *function, const char **reason);
	/* `moved`, to which the stub shall lead, does what the function did. Called before the function is patched. */
	void (*moved)(void *stub, void *moved);
	/* It was not hooked. A symbol of "": one of many, that are not named. */
	void (*refused)(const struct tpc_code_function_named *function, const char *reason);
	/* The same of one that was hooked, as `tprof attach` found a thread there again and again. */
	void (*withdrawn)(const void *function);
	/* It was; */
	void (*hooked)(const struct tpc_code_function_named *function);
	/* and this was all of the object, in which some were wanted. */
	void (*visited)(const char *object);
};

/* Why a function is withdrawn. */
extern const char tpc_code_occupied[];

/*
 * Looks through the objects from number `from` on in `seen`. True: all is done; false: there are such functions, and
 * tpc_code_load() is to be called first. With the loader's lock, one thread at a time.
 */
bool tpc_code_hook(const struct tpc_code_visitor *visitor, const struct tpc_seen *seen, size_t from);

/* Loads the decoder. Without the loader's lock; allocates. */
void tpc_code_load(void);

#endif
