/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The presets of TPROF_OPS: is a symbol's function an op, what is its name, and what do its arguments tell? Rows of
 * table.c.
 */
#ifndef TPROF_OPS_PRESETS_PRESETS_H
#define TPROF_OPS_PRESETS_PRESETS_H

#include "core/text.h"
#include "hooks/ops/typed.h"

/*
 * Libtorch's operators by their dispatching functions (at::_ops::add_Tensor::call is aten::add.Tensor), with the sizes of their
 * tensors, and the autograd engine.
 */
#define TPC_TORCH_OPS "_ZN2at4_ops" /* how their symbols begin */
#define TPC_TORCH_ENGINE "_ZN5torch8autograd6Engine7executeE"
bool tpc_torch_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature);

/*
 * Is the symbol a routine of BLAS or LAPACK, under any of the names that libraries use (sgemm_, cblas_sgemm,
 * scipy_cblas_sgemm64_, dgesdd_64_)? Sets *to to its usual name, and fills in *signature.
 */
bool tpc_blas_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature);

/*
 * dnnl_primitive_execute: an op named after the primitive's kind and implementation, with its dimensions.
 * dnnl_primitive_create: an op of its own, because it generates code; the primitive is examined there, once.
 */
bool tpc_onednn_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature);

/* In a forked child: nothing is numbered in its trace yet. */
void tpc_onednn_forget(void);

/*
 * Is the symbol one that compilers call to run a parallel region (libgomp's GOMP_parallel and GOMP_parallel_*, LLVM's
 * and Intel's __kmpc_fork_call)? The op is named after the region's function, an argument. With libgomp each thread's
 * part is an op, too.
 */
bool tpc_openmp_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature);

/*
 * OrtGetApiBase gives access to ONNX Runtime's functions, which are in a table. Creating and running sessions are ops:
 * their pointers in the table are changed.
 */
bool tpc_onnxruntime_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature);

/*
 * MPI's functions that communicate, wait, or read and write files, in the C and Fortran bindings. Each is named after
 * its symbol. A Fortran entry point may be a wrapper that calls the C function: that call is part of it, not an op.
 */
bool tpc_mpi_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature);

/* Libraries whose functions are ops by name alone: is the symbol one of them? It keeps its name. */
bool tpc_fftw_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature);
bool tpc_ggml_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature);
bool tpc_xnnpack_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature);
bool tpc_cuda_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature);

#endif
