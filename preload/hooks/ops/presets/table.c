/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/preset.h"
#include "hooks/ops/presets/c10d.h"
#include "hooks/ops/presets/presets.h"

/* In the order in which messages list them. If two presets could choose a symbol, the first one does. */
const struct tpc_preset tpc_presets[TPC_PRESETS] = {
	{ "torch",
	  tpc_torch_choose,
	  "",
	  { TPC_TORCH_OPS, TPC_TORCH_ENGINE, TPC_TORCH_DISTRIBUTED, TPC_TORCH_REDUCER } },
	{ "blas", tpc_blas_choose, "sdczi", { NULL } },
	{ "onednn", tpc_onednn_choose, "d", { NULL } },
	{ "openmp", tpc_openmp_choose, "G_", { NULL } },
	{ "onnxruntime", tpc_onnxruntime_choose, "O", { NULL } },
	{ "cuda", tpc_cuda_choose, "cn", { NULL } },
	{ "fftw", tpc_fftw_choose, "f", { NULL } },
	{ "mpi", tpc_mpi_choose, "Mm", { NULL } },
	{ "ggml", tpc_ggml_choose, "g", { NULL } },
	{ "xnnpack", tpc_xnnpack_choose, "x", { NULL } },
	/* Not chosen by symbols: the program reports these ops. */
	{ "itt", NULL, "", { NULL } },
	{ "nvtx", NULL, "", { NULL } },
	{ "instrument", NULL, "", { NULL } },
};
