/* SPDX-License-Identifier: Apache-2.0 */
/* libkernels.so: functions with names of BLAS's that look at nothing but their registers and the stack. */
#ifndef REGISTERS_H
#define REGISTERS_H

#define REGISTERS_RESULT 0x123456789abcdefULL

void cblas_saxpy(void);
void cblas_sdot(void);
void cblas_sgemv(void);
void cblas_sgemm(void);
void saxpy_(void);
void sgemm_(void);
void sgesv_(void);

#endif
