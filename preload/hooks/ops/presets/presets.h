/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each preset of TPROF_OPS knows: is a symbol's function an op, what is it called, and what do its arguments say? Rows
 * of table.c.
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
 * Is the symbol a routine of BLAS or LAPACK, under any of the names that libraries give them (sgemm_, cblas_sgemm,
 * scipy_cblas_sgemm64_, dgesdd_64_)? Then its usual name goes to *to, and *signature is filled in.
 */
bool tpc_blas_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature);

/*
 * dnnl_primitive_execute: an op that is named by the primitive's kind and implementation, with its dimensions.
 * dnnl_primitive_create: one of its own, as that is where code is generated; the primitive is looked at there, once.
 */
bool tpc_onednn_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature);

/* In a forked child: nothing is numbered in its trace yet. */
void tpc_onednn_forget(void);

/*
 * Is the symbol one of those by which compilers have a parallel region run (libgomp's GOMP_parallel and GOMP_parallel_*,
 * LLVM's and Intel's __kmpc_fork_call)? The op is named by the region's function, which is its argument. Of libgomp's each
 * thread's part is an op, too.
 */
bool tpc_openmp_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature);

/*
 * OrtGetApiBase: the way to ONNX Runtime's functions, which stand in a table. Sessions that are made, and runs of them, are
 * ops: their pointers in the table are changed.
 */
bool tpc_onnxruntime_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature);

/*
 * The functions of MPI that communicate, wait, or read and write files, of the C and the Fortran bindings. Each keeps its
 * symbol's name. A Fortran entry point may be a wrapper that calls the C function: that call is a part of it, and no op.
 */
bool tpc_mpi_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature);

/* Libraries whose functions are ops by their names alone. Each: is the symbol one of them? It keeps its name. */
bool tpc_fftw_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature);
bool tpc_ggml_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature);
bool tpc_xnnpack_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature);
bool tpc_cuda_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature);

#endif
