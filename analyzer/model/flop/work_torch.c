/* SPDX-License-Identifier: Apache-2.0 */
#include "model/flop/work_torch.h"

#include <string.h>

#include "model/flop/work_torch_impl.h"
#include "trace/shapes.h"

/* ---- the name ---- */

#define SPACE "aten::"
#define NAME_MAX 160u

struct name {
	char text[NAME_MAX]; /* of the function, with overload */
	size_t length;	     /* of the operator's base name */
	bool in_place, out;
};

static bool ends(const char *text, size_t length, const char *end)
{
	size_t tail = strlen(end);

	return length > tail && memcmp(text + length - tail, end, tail) == 0;
}

static bool is_capital(char c)
{
	return c >= 'A' && c <= 'Z';
}

/*
 * Splits a name: add.Tensor, add_Tensor, add_.Tensor, bernoulli_.float, add.out, sum.IntList_out. An overload's name begins with a
 * capital letter, or follows the underscore of an in-place operator. False: not an operator in "aten::", or too long.
 */
static bool read_name(const char *op, struct name *name)
{
	size_t space = strlen(SPACE);

	if (strncmp(op, SPACE, space) != 0 || strlen(op + space) >= NAME_MAX)
		return false;
	strcpy(name->text, op + space);
	for (char *at = name->text; *at; at++)
		*at = *at == '.' ? '_' : *at;
	name->length = strlen(name->text);
	name->out = ends(name->text, name->length, "_out");
	name->length -= name->out ? strlen("_out") : 0;
	for (size_t i = 2; i + 1 < name->length; i++)
		if (name->text[i] == '_' && (name->text[i + 1] == '_' || is_capital(name->text[i + 1])))
			name->length = name->text[i + 1] == '_' ? i + 1 : i;
	if (!name->out && name->length > 1 && name->text[name->length - 1] == '_') {
		name->in_place = strncmp(name->text, "__", 2) != 0; /* __and__ is not in place */
		name->length--;
	}
	return true;
}

/* ---- the tensors ---- */

static bool add_tensor(struct tpa_torch_operand *operand, const struct tpa_tensor *tensor)
{
	tpa_real elements = 1;
	struct tpa_torch_type type = tpa_torch_type(tensor->type < UINT32_MAX ? (uint32_t)tensor->type : UINT32_MAX);

	for (uint64_t i = 0; i < tensor->count; i++)
		elements *= (tpa_real)tensor->sizes[i];
	if (!operand->there)
		operand->type = (uint32_t)tensor->type;
	else if (operand->type != tensor->type)
		operand->type = TPA_TORCH_NO_TYPE;
	operand->there = true;
	operand->elements += elements;
	operand->bytes += elements * type.bytes;
	operand->dims = tensor->count;
	memcpy(operand->sizes, tensor->sizes, tensor->count * sizeof(*tensor->sizes));
	return type.bytes && operand->elements < TPA_TORCH_ELEMENTS_MAX;
}

/* Reads the operands. False: the record is damaged or has unknown types or too many operands. */
static bool read_call(struct tpa_torch_call *call, struct tpa_shape_reader reader)
{
	struct tpa_tensor tensor;
	enum tpa_shape_item item;

	while ((item = tpa_shape_next(&reader, &tensor)) != TPA_SHAPE_END) {
		struct tpa_torch_operand *operand = &call->operand[call->count++];

		if (item == TPA_SHAPE_DAMAGE || call->count == TPA_TORCH_OPERANDS)
			return false;
		if (item == TPA_SHAPE_TENSOR && !add_tensor(operand, &tensor))
			return false;
		operand->list = item == TPA_SHAPE_LIST;
		while (operand->list && reader.in_list)
			if (tpa_shape_next(&reader, &tensor) != TPA_SHAPE_TENSOR || !add_tensor(operand, &tensor))
				return false;
	}
	return true;
}

/* False: the sizes do not determine the work. */
static bool work_of(struct tpa_torch_call *call, const struct name *name, const uint8_t *tensors, size_t length,
		    struct tpa_torch_work *work)
{
	struct tpa_shape_reader reader = { .at = tensors, .end = tensors ? tensors + length : NULL };

	if (call->row->rule == TPA_TORCH_UNSIZED || (call->row->rule != TPA_TORCH_NOTHING && !read_call(call, reader)))
		return false;
	call->in_place = name->in_place;
	if (name->out && call->count) /* `out` is the last operand; its old contents are not read */
		call->out = call->operand[--call->count];
	return tpa_torch_apply(call, work);
}

void tpa_torch_work(const char *op, const uint8_t *tensors, size_t length, struct tpa_torch_work *work)
{
	struct tpa_torch_work unknown = { .known = TPA_TORCH_NO_FORMULA, .amount.precision = TPA_UNSAID };
	struct name name = { .length = 0 };
	struct tpa_torch_call call = { .row = read_name(op, &name) ? tpa_torch_row(name.text, name.length) : NULL };
	enum tpa_torch_rule rule = call.row ? (enum tpa_torch_rule)call.row->rule : TPA_TORCH_UNSIZED;

	unknown.alone = call.row && (rule == TPA_TORCH_UNSIZED || rule == TPA_TORCH_SUM);
	if (!tensors && rule != TPA_TORCH_NOTHING && rule != TPA_TORCH_UNSIZED)
		unknown.known = TPA_TORCH_NO_SHAPE;
	*work = unknown;
	if (!call.row || unknown.known == TPA_TORCH_NO_SHAPE || !work_of(&call, &name, tensors, length, work))
		*work = unknown;
}
