/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/presets/presets.h"

static bool choose(const char *symbol, const char *prefix, const char *const *globs, size_t count, struct tp_text *to)
{
	size_t length = strlen(prefix);

	if (strncmp(symbol, prefix, length) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (tp_text_glob(globs[i], symbol + length)) {
			tp_text_add(to, symbol);
			return true;
		}
	}
	return false;
}

/* Execution, and making a plan, which may measure for seconds; in double, float, long double and quadruple precision. */
bool tp_fftw_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature)
{
	static const char *const globs[] = {
		"_execute*",  "_plan_dft*",  "_plan_many*",  "_plan_guru*",  "_plan_r2r*",
		"?_execute*", "?_plan_dft*", "?_plan_many*", "?_plan_guru*", "?_plan_r2r*",
	};

	(void)signature;
	return choose(symbol, "fftw", globs, TP_LENGTH(globs), to);
}

/* A graph as a whole, and its operators where the library was built so that they are called through pointers. */
bool tp_ggml_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature)
{
	static const char *const globs[] = {
		"graph_compute*",     "compute_forward_*",  "backend_graph_compute*", "backend_sched_graph_compute*",
		"backend_tensor_set", "backend_tensor_get",
	};

	(void)signature;
	return choose(symbol, "ggml_", globs, TP_LENGTH(globs), to);
}

/* Running an operator or a subgraph, and making them, which packs the weights. */
bool tp_xnnpack_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature)
{
	static const char *const globs[] = { "run_operator*", "invoke_runtime", "create_*" };

	(void)signature;
	return choose(symbol, "xnn_", globs, TP_LENGTH(globs), to);
}

/*
 * The calls on the host that have the device work, hand out its memory, copy, compile and wait; many others only ask for a
 * state. Of the runtime and the driver (variants of a name have suffixes: _v2, _ptsz), and of the libraries on top of them.
 */
bool tp_cuda_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature)
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
	return choose(symbol, "cuda", runtime, TP_LENGTH(runtime), to) ||
	       choose(symbol, "cublas", blas, TP_LENGTH(blas), to) ||
	       choose(symbol, "cudnn", dnn, TP_LENGTH(dnn), to) ||
	       choose(symbol, "nccl", collectives, TP_LENGTH(collectives), to) ||
	       choose(symbol, "cu", driver, TP_LENGTH(driver), to);
}
