// SPDX-License-Identifier: Apache-2.0
// Primitives of oneDNN with known dimensions. `onednn N [int8]`: each is created once and executed N times; int8: a product of
// bytes whose sums are 32 bits wide, and what makes bytes of floats.
#include <cstdio>
#include <cstdlib>
#include <dnnl.hpp>

using tag = dnnl::memory::format_tag;
using type = dnnl::memory::data_type;

static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
static dnnl::stream cpu(engine);

static const dnnl::memory::dims one = { 1, 1 };

// What a primitive does. Version 2 wraps it in a description of the operation; the primitive that it is the backward pass of
// comes last.
template <typename Primitive, typename... What> static typename Primitive::primitive_desc described(const What &...what)
{
#if DNNL_VERSION_MAJOR >= 3
	return { engine, what... };
#else
	return { typename Primitive::desc(what...), engine };
#endif
}

template <typename Primitive, typename Forward, typename... What>
static typename Primitive::primitive_desc described_back(const Forward &forward, const What &...what)
{
#if DNNL_VERSION_MAJOR >= 3
	return { engine, what..., forward };
#else
	return { typename Primitive::desc(what...), engine, forward };
#endif
}

static dnnl::memory tensor(const dnnl::memory::dims &dims, tag format)
{
	dnnl::memory memory({ dims, type::f32, format }, engine);
	float *data = static_cast<float *>(memory.get_data_handle());

	for (size_t i = 0; i < memory.get_desc().get_size() / sizeof(float); i++)
		data[i] = static_cast<float>(i % 7) - 3;
	return memory;
}

static float sum(const dnnl::memory &memory)
{
	const float *data = static_cast<const float *>(memory.get_data_handle());
	float total = 0;

	for (size_t i = 0; i < memory.get_desc().get_size() / sizeof(float); i++)
		total += data[i];
	return total;
}

static float matmul(int times)
{
	dnnl::memory a = tensor({ 16, 32 }, tag::ab), b = tensor({ 32, 8 }, tag::ab), c = tensor({ 16, 8 }, tag::ab);
	dnnl::matmul primitive(described<dnnl::matmul>(a.get_desc(), b.get_desc(), c.get_desc()));

	for (int i = 0; i < times; i++)
		primitive.execute(cpu, { { DNNL_ARG_SRC, a }, { DNNL_ARG_WEIGHTS, b }, { DNNL_ARG_DST, c } });
	return sum(c);
}

static float convolution(int times)
{
	dnnl::memory source = tensor({ 2, 3, 10, 10 }, tag::nchw), weights = tensor({ 4, 3, 3, 3 }, tag::oihw);
	dnnl::memory result = tensor({ 2, 4, 10, 10 }, tag::nchw), gradient = tensor({ 2, 3, 10, 10 }, tag::nchw);
	const dnnl::algorithm direct = dnnl::algorithm::convolution_direct;
	auto forward =
		described<dnnl::convolution_forward>(dnnl::prop_kind::forward_training, direct, source.get_desc(),
						     weights.get_desc(), result.get_desc(), one, one, one);
	dnnl::convolution_forward primitive(forward);
	dnnl::convolution_backward_data back(described_back<dnnl::convolution_backward_data>(
		forward, direct, gradient.get_desc(), weights.get_desc(), result.get_desc(), one, one, one));

	for (int i = 0; i < times; i++) {
		primitive.execute(
			cpu, { { DNNL_ARG_SRC, source }, { DNNL_ARG_WEIGHTS, weights }, { DNNL_ARG_DST, result } });
		back.execute(cpu, { { DNNL_ARG_DIFF_DST, result },
				    { DNNL_ARG_WEIGHTS, weights },
				    { DNNL_ARG_DIFF_SRC, gradient } });
	}
	return sum(result) + sum(gradient);
}

static float inner_product(int times)
{
	dnnl::memory source = tensor({ 5, 20 }, tag::ab), weights = tensor({ 30, 20 }, tag::ab),
		     result = tensor({ 5, 30 }, tag::ab);
	dnnl::inner_product_forward primitive(described<dnnl::inner_product_forward>(
		dnnl::prop_kind::forward_inference, source.get_desc(), weights.get_desc(), result.get_desc()));

	for (int i = 0; i < times; i++)
		primitive.execute(
			cpu, { { DNNL_ARG_SRC, source }, { DNNL_ARG_WEIGHTS, weights }, { DNNL_ARG_DST, result } });
	return sum(result);
}

static dnnl::memory bytes(const dnnl::memory::dims &dims, type of)
{
	dnnl::memory memory({ dims, of, tag::ab }, engine);
	unsigned char *data = static_cast<unsigned char *>(memory.get_data_handle());

	for (size_t i = 0; i < memory.get_desc().get_size(); i++)
		data[i] = static_cast<unsigned char>(i % 7);
	return memory;
}

static int int8(int times)
{
	dnnl::memory a = bytes({ 16, 32 }, type::u8), b = bytes({ 32, 8 }, type::s8), c = bytes({ 16, 8 }, type::s32),
		     wide = tensor({ 16, 32 }, tag::ab);
	dnnl::matmul primitive(described<dnnl::matmul>(a.get_desc(), b.get_desc(), c.get_desc()));
	dnnl::reorder narrow(wide, a);
	int total = 0;

	for (int i = 0; i < times; i++) {
		primitive.execute(cpu, { { DNNL_ARG_SRC, a }, { DNNL_ARG_WEIGHTS, b }, { DNNL_ARG_DST, c } });
		if (!i)
			for (int j = 0; j < 16 * 8; j++)
				total += static_cast<int *>(c.get_data_handle())[j];
		narrow.execute(cpu, wide, a);
	}
	return total;
}

static void run(int times)
{
	printf("%.3f %.3f %.3f\n", static_cast<double>(matmul(times)), static_cast<double>(convolution(times)),
	       static_cast<double>(inner_product(times)));
	cpu.wait();
}

int main(int argc, char **argv)
{
	try {
		if (argc > 2)
			printf("%d\n", int8(atoi(argv[1])));
		else
			run(argc > 1 ? atoi(argv[1]) : 1);
	} catch (...) {
		return 1;
	}
	return 0;
}
