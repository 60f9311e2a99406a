/* SPDX-License-Identifier: Apache-2.0 */
/* Calls libcudamocks.so's functions. `cuda N`: each N times. */
#include <stdio.h>
#include <stdlib.h>

#include "cuda.h"

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1, device, bad = 0;
	float alpha = 2, beta = 1, a = 3, b = 4, c = 0;
	size_t space;
	void *memory, *handle = &device;

	bad += cudaMalloc(&memory, 100000);
	for (int i = 0; i < times; i++) {
		bad += cudaGetDevice(&device) + cublasSetStream_v2(handle, handle);
		bad += cudaLaunchKernel(handle, (struct dim3){ 1, 2, 3 }, (struct dim3){ 4, 5, 6 }, &memory, 7, handle);
		bad += cublasSgemm_v2(handle, 0, 1, 2, 3, 4, &alpha, &a, 5, &b, 6, &beta, &c, 7);
		bad += cudnnGetConvolutionForwardWorkspaceSize(handle, &space);
		bad += cudnnConvolutionForward(handle, &alpha, handle, &a, handle, &b, handle, 1, memory, space, &beta,
					       handle, &c);
		bad += ncclAllReduce(&c, &a, 1, 7, 0, handle, handle);
		a = 3;
		bad += cudaMemcpyAsync(memory, &c, sizeof(c), 1, handle) + cudaStreamSynchronize(handle);
	}
	bad += cudaFree(memory);
	printf("bad %d, %.0f\n", bad, (double)c);
	return bad != 0;
}
