/* SPDX-License-Identifier: Apache-2.0 */
/* What the libraries of bindings.c define: each function returns another number. */
#ifndef BINDINGS_H
#define BINDINGS_H

int bind_call(void);		/* 1: libbind_one.so's; 2: libbind_two.so's */
int bind_lazy(void);		/* the same, and nobody takes its address */
int bind_versioned(void);	/* 3: its version BIND_1; 4: BIND_2, the default; both libbind_one.so's */
extern const int bind_constant; /* 7: libbind_one.so's, among its code */
int bind_late(void);		/* 5: libbind_late.so's */

/* libbind_user.so's, which was linked with libbind_two.so. */
int bind_user(void);	   /* bind_lazy(), through a PLT */
int bind_by_table(void);   /* through a pointer in a table */
int bind_by_data(void);	   /* bind_constant */
int bind_by_text(void);	   /* bind_lazy(), through a pointer among its code */
int bind_by_address(void); /* through its address in the GOT */
int bind_by_asking(void);  /* bind_lazy(), as dlsym() finds it in all that the library sees */
int bind_off(void);	   /* through a pointer that its constructor made NULL: 0 */
int bind_weak(void);	   /* bind_late() if that was there when it was loaded; else 0 */

#endif
