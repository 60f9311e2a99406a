/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/preset.h"
#include "hooks/ops/presets/presets.h"

/* In the order in which messages name them. Where two presets could choose a symbol, the first one does. */
const struct tp_preset tp_presets[TP_PRESETS] = {
	{ "torch", tp_torch_choose, "", { TP_TORCH_OPS, TP_TORCH_ENGINE } },
	{ "blas", tp_blas_choose, "sdczi", { NULL } },
	{ "onednn", tp_onednn_choose, "d", { NULL } },
	{ "openmp", tp_openmp_choose, "G_", { NULL } },
	{ "onnxruntime", tp_onnxruntime_choose, "O", { NULL } },
	{ "cuda", tp_cuda_choose, "cn", { NULL } },
	{ "fftw", tp_fftw_choose, "f", { NULL } },
	{ "mpi", tp_mpi_choose, "Mm", { NULL } },
	{ "ggml", tp_ggml_choose, "g", { NULL } },
	{ "xnnpack", tp_xnnpack_choose, "x", { NULL } },
	/* Not chosen by symbols: the program tells. */
	{ "itt", NULL, "", { NULL } },
	{ "nvtx", NULL, "", { NULL } },
	{ "instrument", NULL, "", { NULL } },
};
