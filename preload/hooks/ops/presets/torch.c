/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/parameters.h"
#include "hooks/ops/presets/c10d.h"
#include "hooks/ops/presets/presets.h"
#include "hooks/ops/qualify.h"
#include "hooks/ops/shapes.h"

/* Names at::_ops::add_Tensor::call aten::add.Tensor: an overload's name begins with a capital. */
bool tpc_torch_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature)
{
	const char *at = symbol + sizeof(TPC_TORCH_OPS) - 1, *name, *call;
	size_t length, call_length;

	if (symbol[3] == TPC_TORCH_ENGINE[3]) {
		tpc_text_add(to, "torch::autograd::Engine::execute");
		signature->tells_usage = true;
		return true;
	}
	if (symbol[3] == TPC_TORCH_DISTRIBUTED[3])
		return tpc_c10d_choose(symbol, to, signature);
	if (!tpc_read_identifier(&at, &name, &length) || !tpc_read_identifier(&at, &call, &call_length) ||
	    call_length != 4 || memcmp(call, "call", 4) != 0)
		return false;
	tpc_text_add(to, "aten::");
	for (size_t i = 0; i < length; i++) {
		bool overload = i > 0 && i + 1 < length && name[i] == '_' && name[i + 1] >= 'A' && name[i + 1] <= 'Z';

		tpc_text_add_bytes(to, overload ? "." : name + i, 1);
	}
	signature->stack_known = tpc_parameter_words(symbol, &signature->stack);
	tpc_shapes_choose(symbol, name, length, signature);
	return true;
}
