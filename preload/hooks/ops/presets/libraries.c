/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/presets/presets.h"

static bool choose(const char *symbol, const char *prefix, const char *const *globs, size_t count, struct tpc_text *to)
{
	size_t length = strlen(prefix);

	if (strncmp(symbol, prefix, length) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (tpc_text_glob(globs[i], symbol + length)) {
			tpc_text_add(to, symbol);
			return true;
		}
	}
	return false;
}

/* Execution, and making a plan, which may measure for seconds; in double, float, long double and quadruple precision. */
bool tpc_fftw_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature)
{
	static const char *const globs[] = {
		"_execute*",  "_plan_dft*",  "_plan_many*",  "_plan_guru*",  "_plan_r2r*",
		"?_execute*", "?_plan_dft*", "?_plan_many*", "?_plan_guru*", "?_plan_r2r*",
	};

	(void)signature;
	return choose(symbol, "fftw", globs, TPC_LENGTH(globs), to);
}

/* Whole graphs, and their operators if the library was built so that they are called through pointers. */
bool tpc_ggml_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature)
{
	static const char *const globs[] = {
		"graph_compute*",     "compute_forward_*",  "backend_graph_compute*", "backend_sched_graph_compute*",
		"backend_tensor_set", "backend_tensor_get",
	};

	(void)signature;
	return choose(symbol, "ggml_", globs, TPC_LENGTH(globs), to);
}

/* Running an operator or a subgraph, and creating them, which packs the weights. */
bool tpc_xnnpack_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature)
{
	static const char *const globs[] = { "run_operator*", "invoke_runtime", "create_*" };

	(void)signature;
	return choose(symbol, "xnn_", globs, TPC_LENGTH(globs), to);
}

/*
 * Calls on the host that start work on the device, allocate its memory, copy, compile and wait; many others only query
 * a state. Of the runtime and the driver (variants have suffixes: _v2, _ptsz), and of the libraries on top of them.
 */
bool tpc_cuda_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature)
{
	static const char *const runtime[] = {
		"LaunchKernel*",
		"LaunchCooperativeKernel*",
		"LaunchHostFunc*",
		"GraphLaunch*",
		"Malloc*",
		"GraphInstantiate*",
		"HostAlloc*",
		"HostRegister*",
		"Free*",
		"Memcpy*",
		"Memset*",
		"MemPrefetchAsync*",
		"MemPoolTrimTo",
		"DeviceSynchronize",
		"StreamSynchronize*",
		"EventSynchronize",
	};
	static const char *const driver[] = {
		"LaunchKernel*",
		"LaunchCooperativeKernel*",
		"LaunchHostFunc*",
		"GraphLaunch*",
		"MemAlloc*",
		"GraphInstantiate*",
		"MemHostAlloc*",
		"MemHostRegister*",
		"MemFree*",
		"Memcpy*",
		"Memset*",
		"MemPrefetchAsync*",
		"MemCreate",
		"CtxSynchronize*",
		"StreamSynchronize*",
		"EventSynchronize",
		"MemRelease",
		"LibraryLoad*",
		"ModuleLoad*",
		"LinkComplete",
	};
	static const char *const blas[] = {
		"?gem*", "?axpy*", "?dot*", "?scal*", "?nrm2*", "?asum*", "?ger*",    "?sy*",
		"?he*",	 "?tr*",   "?rot*", "?getr*", "?geqr*", "Gemm*",  "LtMatmul",
	};
	static const char *const dnn[] = {
		"BackendExecute",
		"BackendFinalize",
		"Convolution*Forward",
		"ConvolutionBackward*",
		"BatchNormalizationForward*",
		"BatchNormalizationBackward*",
		"NormalizationForward*",
		"NormalizationBackward*",
		"RNNForward*",
		"RNNBackward*",
		"MultiHeadAttnForward",
		"MultiHeadAttnBackward*",
		"SoftmaxForward",
		"SoftmaxBackward",
		"PoolingForward",
		"PoolingBackward",
		"ActivationForward",
		"ActivationBackward",
		"Find*Algorithm*",
		"CTCLoss",
		"CTCLoss_v8",
		"OpTensor",
		"AddTensor",
		"TransformTensor*",
	};
	static const char *const collectives[] = {
		"AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Bcast",	 "Reduce",
		"Send",	     "Recv",	  "AlltoAll*",	   "GroupEnd",	"CommInitRank*", "CommSplit",
	};

	(void)signature;
	return choose(symbol, "cuda", runtime, TPC_LENGTH(runtime), to) ||
	       choose(symbol, "cublas", blas, TPC_LENGTH(blas), to) ||
	       choose(symbol, "cudnn", dnn, TPC_LENGTH(dnn), to) ||
	       choose(symbol, "nccl", collectives, TPC_LENGTH(collectives), to) ||
	       choose(symbol, "cu", driver, TPC_LENGTH(driver), to);
}
