/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/parameters.h"
#include "hooks/ops/presets/presets.h"
#include "hooks/ops/qualify.h"
#include "hooks/ops/shapes.h"

/* at::_ops::add_Tensor::call is known as aten::add.Tensor: an overload's name begins with a capital. */
bool tp_torch_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature)
{
	const char *at = symbol + sizeof(TP_TORCH_OPS) - 1, *name, *call;
	size_t length, call_length;

	if (symbol[3] == TP_TORCH_ENGINE[3]) {
		tp_text_add(to, "torch::autograd::Engine::execute");
		signature->tells_usage = true;
		return true;
	}
	if (!tp_read_identifier(&at, &name, &length) || !tp_read_identifier(&at, &call, &call_length) ||
	    call_length != 4 || memcmp(call, "call", 4) != 0)
		return false;
	tp_text_add(to, "aten::");
	for (size_t i = 0; i < length; i++) {
		bool overload = i > 0 && i + 1 < length && name[i] == '_' && name[i + 1] >= 'A' && name[i + 1] <= 'Z';

		tp_text_add_bytes(to, overload ? "." : name + i, 1);
	}
	signature->stack_known = tp_parameter_words(symbol, &signature->stack);
	tp_shapes_choose(symbol, name, length, signature);
	return true;
}
