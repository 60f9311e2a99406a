/* SPDX-License-Identifier: Apache-2.0 */
/* Rules: how the work of an operator follows from the sizes and types of its tensors. */
#include "model/flop/work_torch_impl.h"

/* ---- operands and result ---- */

static const struct tpa_torch_operand *operand_of(const struct tpa_torch_call *call, size_t which)
{
	static const struct tpa_torch_operand none;

	return which < call->count ? &call->operand[which] : &none;
}

static tpa_real bytes_of(const struct tpa_torch_call *call, size_t from)
{
	tpa_real bytes = 0;

	for (size_t i = from; i < call->count; i++)
		bytes += call->operand[i].bytes;
	return bytes;
}

/*
 * Broadcasts the operands from index `from` on. Counted from the last one, dimensions must be equal or 1. Stores the sizes in
 * `result` in reverse order. False: the shapes don't fit, or an operand is a list.
 */
static bool broadcast(const struct tpa_torch_call *call, size_t from, struct tpa_torch_operand *result)
{
	for (size_t i = from; i < call->count; i++) {
		const struct tpa_torch_operand *one = &call->operand[i];

		if (one->list)
			return false;
		for (uint64_t k = 0; one->there && k < one->dims; k++) {
			uint64_t size = one->sizes[one->dims - 1 - k];
			uint64_t *there = &result->sizes[k]; /* last dimension first */

			if (k >= result->dims || *there == 1)
				*there = size;
			else if (size != 1 && size != *there)
				return false;
			result->dims = k >= result->dims ? k + 1 : result->dims;
		}
		result->there |= one->there;
	}
	result->elements = 1;
	for (uint64_t k = 0; k < result->dims; k++)
		result->elements *= (tpa_real)result->sizes[k];
	return result->there && result->elements < TPA_TORCH_ELEMENTS_MAX;
}

/*
 * The type that the operands from index `from` on are promoted to. A tensor without dimensions may be a number. It matters only if
 * its order is higher than that of the other tensors. The result is then unknown, because a number has the default type.
 */
static uint32_t promoted(const struct tpa_torch_call *call, size_t from)
{
	uint32_t wide = TPA_TORCH_NO_TYPE, narrow = TPA_TORCH_NO_TYPE;

	for (size_t i = from; i < call->count; i++) {
		const struct tpa_torch_operand *one = &call->operand[i];
		uint32_t *type = one->dims ? &wide : &narrow;

		if (!one->there)
			continue;
		*type = *type == TPA_TORCH_NO_TYPE ? one->type : tpa_torch_promote(*type, one->type);
		if (*type == TPA_TORCH_NO_TYPE)
			return *type;
	}
	if (wide == TPA_TORCH_NO_TYPE)
		return narrow;
	if (narrow != TPA_TORCH_NO_TYPE && tpa_torch_type(narrow).order > tpa_torch_type(wide).order)
		return TPA_TORCH_NO_TYPE;
	return wide;
}

/* ---- the work ---- */

/* A result. An in-place result is also the first operand, which is read. */
struct result {
	tpa_real elements, bytes;
	uint32_t type; /* type of the arithmetic */
};

static bool result_of(const struct tpa_torch_call *call, const struct tpa_torch_operand *like, uint32_t type,
		      struct result *result)
{
	const struct tpa_torch_operand *target = call->out.there  ? &call->out
						 : call->in_place ? operand_of(call, 0)
								  : NULL;
	uint32_t kept = target ? target->type : type;

	if (target && !target->there)
		return false;
	result->elements = call->in_place ? target->elements : like->elements; /* `out` is resized to fit */
	result->type = target && type == TPA_TORCH_NO_TYPE ? target->type : type;
	result->bytes = result->elements * tpa_torch_type(kept).bytes;
	return kept != TPA_TORCH_NO_TYPE && tpa_torch_type(kept).bytes;
}

static uint64_t whole(tpa_real number)
{
	return (uint64_t)(number + 0.5L);
}

static void set_bytes(struct tpa_torch_work *work, tpa_real bytes)
{
	work->known = TPA_TORCH_KNOWN;
	work->amount.bytes_known = true;
	work->amount.bytes = whole(bytes);
}

/* Sets the FLOP by the formula of a kind. Arithmetic on integers is 0 FLOP. */
static void set_flop(struct tpa_torch_work *work, uint32_t kind, uint32_t type, const tpa_real *dims, uint8_t count,
		     bool backward)
{
	struct tpa_torch_type of = tpa_torch_type(type);
	struct tpa_work like = {
		.kind = kind, .dtype = of.dtype, .dims = count, .flags = backward ? TPROF_WORK_BACKWARD : 0
	};
	struct tpa_work_amount amount;

	for (uint8_t i = 0; i < count; i++)
		like.dim[i] = whole(dims[i]);
	amount = tpa_work_amount(&like);
	work->kind = kind;
	work->amount.flop_known =
		amount.flop_known || (of.bytes && of.dtype == TPROF_DTYPE_NONE && of.order <= TPA_TORCH_INTEGER);
	work->amount.flop = amount.flop < UINT64_C(1) << 62 ? amount.flop : 0;
	work->amount.flop_known &= amount.flop == work->amount.flop;
	work->amount.precision = amount.flop_known ? amount.precision : TPA_UNSAID;
}

static void set_each(struct tpa_torch_work *work, uint32_t type, uint8_t each, tpa_real elements)
{
	bool complex = tpa_torch_type(type).order == TPA_TORCH_COMPLEX;

	work->kind = each ? TPROF_WORK_ACTIVATION : TPROF_WORK_REORDER;
	work->amount.flop_known = !each;
	work->amount.precision = TPA_UNSAID;
	if (each && !complex)
		set_flop(work, TPROF_WORK_ACTIVATION, type,
			 (tpa_real[]){ elements, each == TPA_TORCH_UNCOUNTED ? 0 : each }, 2, false);
}

static bool each(const struct tpa_torch_call *call, struct tpa_torch_work *work)
{
	struct tpa_torch_operand like = { .there = false };
	uint32_t type = promoted(call, 0), made = call->row->rule == TPA_TORCH_TEST ? TPA_TORCH_BOOL : type;
	struct result result;

	if (call->row->rule == TPA_TORCH_REAL && tpa_torch_type(type).order < TPA_TORCH_FLOATING)
		made = TPA_TORCH_NO_TYPE; /* the default type, which is not recorded */
	if (!broadcast(call, 0, &like) || !result_of(call, &like, made, &result))
		return false;
	set_each(work, call->row->rule == TPA_TORCH_TEST ? type : result.type, call->row->each, result.elements);
	set_bytes(work, bytes_of(call, 0) + result.bytes);
	return true;
}

/* Sets the bytes: `read`, and a result with the size and type of operand `first`. */
static bool like_first(const struct tpa_torch_call *call, size_t first, tpa_real read, struct tpa_torch_work *work)
{
	const struct tpa_torch_operand *like = operand_of(call, first);
	struct result result;

	if (!like->there || !result_of(call, like, like->type, &result))
		return false;
	set_bytes(work, read + result.bytes);
	return true;
}

static bool copy(const struct tpa_torch_call *call, struct tpa_torch_work *work)
{
	if (!operand_of(call, 0)->there || !operand_of(call, 1)->there)
		return false;
	set_each(work, 0, 0, 0);
	set_bytes(work, bytes_of(call, 0));
	return true;
}

static bool fill(const struct tpa_torch_call *call, struct tpa_torch_work *work)
{
	const struct tpa_torch_operand *to = call->out.there ? &call->out : operand_of(call, 0);

	if (!to->there || (!call->out.there && !call->in_place))
		return false;
	set_each(work, to->type, call->row->each, to->elements);
	set_bytes(work, bytes_of(call, 0) + call->out.bytes);
	return true;
}

static bool choose(const struct tpa_torch_call *call, struct tpa_torch_work *work)
{
	struct tpa_torch_operand like = { .there = false };
	struct result result;

	if (!broadcast(call, 0, &like) || !result_of(call, &like, promoted(call, 1), &result))
		return false;
	set_each(work, result.type, 0, 0);
	set_bytes(work, bytes_of(call, 0) + result.bytes);
	return true;
}

static bool reduce(const struct tpa_torch_call *call, struct tpa_torch_work *work)
{
	static const struct tpa_torch_operand one = { .there = true, .elements = 1 };
	const struct tpa_torch_operand *from = operand_of(call, 0), *like = call->out.there ? &call->out : &one;
	uint32_t type = tpa_torch_type(from->type).order <= TPA_TORCH_INTEGER ? TPA_TORCH_LONG : from->type;
	struct result result;

	if (!from->there || from->list || !result_of(call, like, type, &result) || result.elements > from->elements ||
	    (from->elements > 0 && !(result.elements > 0))) /* `out` was not resized yet */
		return false;
	set_flop(work, TPROF_WORK_REDUCE, type,
		 (tpa_real[]){ from->elements, call->row->rule == TPA_TORCH_SUM ? result.elements : 0 }, 2, false);
	set_bytes(work, from->bytes + result.bytes);
	return true;
}

static bool softmax(const struct tpa_torch_call *call, struct tpa_torch_work *work)
{
	const struct tpa_torch_operand *of = operand_of(call, 0);
	bool backward = call->row->rule == TPA_TORCH_SOFTMAX_BACKWARD;

	if (!of->there || (backward && !operand_of(call, 1)->there))
		return false;
	set_flop(work, TPROF_WORK_SOFTMAX, of->type, &of->elements, 1, backward);
	return like_first(call, 0, bytes_of(call, 0), work);
}

/*
 * Operands: input, weight, bias. Results: the output, and mean and deviation of each row. The number of rows is known only if there
 * is a weight; without one, mean and deviation are left out.
 */
static bool layer_norm(const struct tpa_torch_call *call, struct tpa_torch_work *work)
{
	const struct tpa_torch_operand *input = operand_of(call, 0), *weight = operand_of(call, 1);
	tpa_real rows = weight->elements > 0 ? input->elements / weight->elements : 0;

	if (!input->there)
		return false;
	set_flop(work, TPROF_WORK_NORM, input->type, (tpa_real[]){ input->elements, weight->elements }, 2, false);
	return like_first(call, 0, bytes_of(call, 0) + 2 * rows * tpa_torch_type(input->type).bytes, work);
}

/* Operands: gradient, input, mean, deviation, weight, bias. The bias only says that its gradient is wanted. */
static bool layer_norm_backward(const struct tpa_torch_call *call, struct tpa_torch_work *work)
{
	const struct tpa_torch_operand *gradient = operand_of(call, 0), *weight = operand_of(call, 4);

	if (!gradient->there || !operand_of(call, 3)->there)
		return false;
	set_flop(work, TPROF_WORK_NORM, gradient->type, (tpa_real[]){ gradient->elements, weight->elements }, 2, true);
	return like_first(call, 0, bytes_of(call, 0) + weight->bytes + operand_of(call, 5)->bytes, work);
}

/*
 * Operands: input, weight, bias, running mean and variance. If there are running ones, the sizes do not tell whether they are used
 * or updated, so the FLOP are unknown, and the bytes are a lower bound.
 */
static bool batch_norm(const struct tpa_torch_call *call, struct tpa_torch_work *work)
{
	const struct tpa_torch_operand *input = operand_of(call, 0);
	tpa_real channels = input->dims > 1 ? (tpa_real)input->sizes[1] : 0;

	if (!input->there)
		return false;
	set_each(work, input->type, TPA_TORCH_UNCOUNTED, input->elements);
	if (!operand_of(call, 3)->there)
		set_flop(work, TPROF_WORK_NORM, input->type,
			 (tpa_real[]){ input->elements, operand_of(call, 1)->there ? channels : 0 }, 2, false);
	work->kind = TPROF_WORK_NORM;
	return like_first(call, 0, bytes_of(call, 0), work);
}

/* Operands: gradient, input, weight, running mean and variance, saved mean and deviation (absent if the running ones were used). */
static bool batch_norm_backward(const struct tpa_torch_call *call, struct tpa_torch_work *work)
{
	const struct tpa_torch_operand *gradient = operand_of(call, 0), *weight = operand_of(call, 2),
				       *saved = operand_of(call, 5);
	tpa_real read = gradient->bytes + operand_of(call, 1)->bytes + 2 * weight->bytes;

	if (!gradient->there || !operand_of(call, 1)->there)
		return false;
	if (!saved->there || !(saved->elements > 0)) {
		set_each(work, gradient->type, TPA_TORCH_UNCOUNTED, gradient->elements);
		read += operand_of(call, 3)->bytes + operand_of(call, 4)->bytes;
	} else {
		set_flop(work, TPROF_WORK_NORM, gradient->type, (tpa_real[]){ gradient->elements, weight->elements }, 2,
			 true);
		read += saved->bytes + operand_of(call, 6)->bytes;
	}
	work->kind = TPROF_WORK_NORM;
	return like_first(call, 0, read + weight->bytes, work);
}

/* Multiplies the last two operands. With three dimensions, the first one is the batch. */
static bool matmul(const struct tpa_torch_call *call, struct tpa_torch_work *work)
{
	const struct tpa_torch_operand *a = operand_of(call, call->count - 2), *b = operand_of(call, call->count - 1);
	tpa_real batch, m, n, k;
	struct tpa_torch_operand like = { .there = true };
	struct result result;

	if (call->count < 2 || !a->there || !b->there || a->list || b->list || !a->dims || a->dims > 3 || !b->dims)
		return false;
	batch = a->dims == 3 ? (tpa_real)a->sizes[0] : 1;
	m = a->dims > 1 ? (tpa_real)a->sizes[a->dims - 2] : 1;
	k = (tpa_real)a->sizes[a->dims - 1];
	n = b->dims > 1 ? (tpa_real)b->sizes[b->dims - 1] : 1;
	like.elements = batch * m * n;
	if (b->elements != batch * k * n || like.elements >= TPA_TORCH_ELEMENTS_MAX ||
	    !result_of(call, &like, a->type, &result) || result.elements != like.elements)
		return false;
	set_flop(work, TPROF_WORK_MATMUL, a->type, (tpa_real[]){ batch, m, n, k }, 4, false);
	set_bytes(work, bytes_of(call, 0) + result.bytes);
	return true;
}

/* Reads the rows of the table that the indices select, and writes them to the result. */
static bool embedding(const struct tpa_torch_call *call, struct tpa_torch_work *work)
{
	const struct tpa_torch_operand *table = operand_of(call, 0), *indices = operand_of(call, 1);
	tpa_real rows;

	if (!table->there || table->dims != 2 || !indices->there || call->out.there)
		return false;
	rows = indices->elements * (tpa_real)table->sizes[1] * tpa_torch_type(table->type).bytes;
	set_each(work, table->type, 0, 0);
	set_bytes(work, indices->bytes + 2 * rows);
	return rows < TPA_TORCH_ELEMENTS_MAX;
}

/* The input is not read; only its sizes matter. */
static bool pool_backward(const struct tpa_torch_call *call, struct tpa_torch_work *work)
{
	const struct tpa_torch_operand *gradient = operand_of(call, 0), *indices = operand_of(call, 2);

	set_each(work, gradient->type, 1, gradient->elements);
	return gradient->there && indices->there && like_first(call, 1, gradient->bytes + indices->bytes, work);
}

static bool like_the_first(const struct tpa_torch_call *call, struct tpa_torch_work *work)
{
	const struct tpa_torch_operand *first = operand_of(call, 0);

	set_each(work, first->type, call->row->each, first->elements);
	return like_first(call, 0, bytes_of(call, 0), work);
}

/* The first operand is a list. The result is one tensor made of the list, or as many tensors. */
static bool lists(const struct tpa_torch_call *call, struct tpa_torch_work *work)
{
	return operand_of(call, 0)->list && like_the_first(call, work);
}

static bool read_only(const struct tpa_torch_call *call, struct tpa_torch_work *work)
{
	set_each(work, 0, 0, 0);
	set_bytes(work, bytes_of(call, 0));
	return operand_of(call, 0)->there;
}

static bool nothing(const struct tpa_torch_call *call, struct tpa_torch_work *work)
{
	(void)call;
	set_bytes(work, 0);
	work->amount.flop_known = true;
	work->kind = TPROF_WORK_NONE;
	return true;
}

bool tpa_torch_apply(const struct tpa_torch_call *call, struct tpa_torch_work *work)
{
	static bool (*const rules[])(const struct tpa_torch_call *, struct tpa_torch_work *) = {
		[TPA_TORCH_NOTHING] = nothing,
		[TPA_TORCH_EACH] = each,
		[TPA_TORCH_REAL] = each,
		[TPA_TORCH_TEST] = each,
		[TPA_TORCH_LIKE] = like_the_first,
		[TPA_TORCH_COPY] = copy,
		[TPA_TORCH_FILL] = fill,
		[TPA_TORCH_READ] = read_only,
		[TPA_TORCH_CHOOSE] = choose,
		[TPA_TORCH_JOIN] = lists,
		[TPA_TORCH_LISTS] = lists,
		[TPA_TORCH_SUM] = reduce,
		[TPA_TORCH_MEAN] = reduce,
		[TPA_TORCH_SOFTMAX] = softmax,
		[TPA_TORCH_SOFTMAX_BACKWARD] = softmax,
		[TPA_TORCH_LAYER_NORM] = layer_norm,
		[TPA_TORCH_LAYER_NORM_BACKWARD] = layer_norm_backward,
		[TPA_TORCH_BATCH_NORM] = batch_norm,
		[TPA_TORCH_BATCH_NORM_BACKWARD] = batch_norm_backward,
		[TPA_TORCH_MATMUL] = matmul,
		[TPA_TORCH_EMBEDDING] = embedding,
		[TPA_TORCH_POOL_BACKWARD] = pool_backward,
	};

	return rules[call->row->rule] && rules[call->row->rule](call, work);
}
