/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's functions without a device: each is content (0) if its arguments are what cuda.c gives, from first to last. */
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

int cudaGetDevice(int *device)
{
	*device = 0;
	return 0;
}

int cudaMalloc(void **memory, size_t bytes)
{
	*memory = malloc(bytes);
	return !*memory;
}

int cudaFree(void *memory)
{
	free(memory);
	return 0;
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
		   unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **arguments, void **extra)
{
	return !function || grid_x != 1 || grid_y != 2 || grid_z != 3 || block_x != 4 || block_y != 5 || block_z != 6 ||
	       shared != 7 || !stream || !arguments || extra;
}

int cudaLaunchKernel(const void *function, struct dim3 grid, struct dim3 block, void **arguments, size_t shared,
		     void *stream)
{
	return cuLaunchKernel((void *)function, grid.x, grid.y, grid.z, block.x, block.y, block.z, (unsigned)shared,
			      stream, arguments, NULL);
}

int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream)
{
	memcpy(to, from, bytes);
	return kind != 1 || !stream;
}

int cudaStreamSynchronize(void *stream)
{
	return !stream;
}

static int launch(void *stream)
{
	return cudaLaunchKernel(stream, (struct dim3){ 1, 2, 3 }, (struct dim3){ 4, 5, 6 }, &stream, 7, stream);
}

int cublasSetStream_v2(void *handle, void *stream)
{
	return !handle || !stream;
}

int cublasSgemm_v2(void *handle, int transpose_a, int transpose_b, int m, int n, int k, const float *alpha,
		   const float *a, int lda, const float *b, int ldb, const float *beta, float *c, int ldc)
{
	*c = *alpha * *a * *b + *beta * *c;
	return transpose_a != 0 || transpose_b != 1 || m != 2 || n != 3 || k != 4 || lda != 5 || ldb != 6 || ldc != 7 ||
	       launch(handle);
}

int cudnnGetConvolutionForwardWorkspaceSize(void *handle, size_t *bytes)
{
	*bytes = 64;
	return !handle;
}

int cudnnConvolutionForward(void *handle, const void *alpha, void *x_shape, const void *x, void *w_shape, const void *w,
			    void *convolution, int algorithm, void *space, size_t space_bytes, const void *beta,
			    void *y_shape, void *y)
{
	return !alpha || !x_shape || !x || !w_shape || !w || !convolution || algorithm != 1 || !space ||
	       space_bytes != 64 || !beta || !y_shape || !y || launch(handle);
}

int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation, void *communicator, void *stream)
{
	memcpy(to, from, count * sizeof(float));
	return type != 7 || operation != 0 || !communicator || !stream;
}
