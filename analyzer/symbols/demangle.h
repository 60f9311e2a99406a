/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_SYMBOLS_DEMANGLE_H
#define TPROF_SYMBOLS_DEMANGLE_H

/*
 * Demangles C++ (Itanium) and Rust (legacy and v0) names. The caller frees the result; NULL if `linkage` is not such a
 * name.
 */
char *tpa_demangle(const char *linkage);

#endif
