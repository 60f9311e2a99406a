/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures as in CUDA's cuda_runtime_api.h and cuda.h, cuBLAS's, cuDNN's and NCCL's headers; handles are pointers. */
#ifndef CUDA_H
#define CUDA_H

#include <stddef.h>

struct dim3 {
	unsigned x, y, z;
};

int cudaGetDevice(int *device);
int cudaMalloc(void **memory, size_t bytes);
int cudaFree(void *memory);
int cudaLaunchKernel(const void *function, struct dim3 grid, struct dim3 block, void **arguments, size_t shared,
		     void *stream);
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream);
int cudaStreamSynchronize(void *stream);
int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
		   unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **arguments, void **extra);
int cublasSetStream_v2(void *handle, void *stream);
int cublasSgemm_v2(void *handle, int transpose_a, int transpose_b, int m, int n, int k, const float *alpha,
		   const float *a, int lda, const float *b, int ldb, const float *beta, float *c, int ldc);
int cudnnGetConvolutionForwardWorkspaceSize(void *handle, size_t *bytes);
int cudnnConvolutionForward(void *handle, const void *alpha, void *x_shape, const void *x, void *w_shape, const void *w,
			    void *convolution, int algorithm, void *space, size_t space_bytes, const void *beta,
			    void *y_shape, void *y);
int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation, void *communicator, void *stream);

#endif
