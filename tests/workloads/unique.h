/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of functions that each object has, and of which the whole process uses the first one's: g++ makes what is inline
 * or of a template, and is no function, a unique symbol (STB_GNU_UNIQUE).
 */
#ifndef UNIQUE_H
#define UNIQUE_H

extern "C" int unique_one(int x), unique_other(int x);

template <typename T> struct UniqueTable {
	static T (*methods[2])(T);
};
template <typename T> T (*UniqueTable<T>::methods[2])(T) = { unique_one, unique_other };

inline int (**unique_local())(int)
{
	static int (*local)(int) = unique_one;

	return &local;
}

#endif
