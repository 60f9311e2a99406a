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
	dnnl::matmul::primitive_desc description({ a.get_desc(), b.get_desc(), c.get_desc() }, engine);
	dnnl::matmul primitive(description);

	for (int i = 0; i < times; i++)
		primitive.execute(cpu, { { DNNL_ARG_SRC, a }, { DNNL_ARG_WEIGHTS, b }, { DNNL_ARG_DST, c } });
	return sum(c);
}

static dnnl::convolution_forward::primitive_desc convolution_of(const dnnl::memory &source, const dnnl::memory &weights,
								const dnnl::memory &result)
{
	return { { dnnl::prop_kind::forward_training,
		   dnnl::algorithm::convolution_direct,
		   source.get_desc(),
		   weights.get_desc(),
		   result.get_desc(),
		   { 1, 1 },
		   { 1, 1 },
		   { 1, 1 } },
		 engine };
}

static float convolution(int times)
{
	dnnl::memory source = tensor({ 2, 3, 10, 10 }, tag::nchw), weights = tensor({ 4, 3, 3, 3 }, tag::oihw);
	dnnl::memory result = tensor({ 2, 4, 10, 10 }, tag::nchw), gradient = tensor({ 2, 3, 10, 10 }, tag::nchw);
	dnnl::convolution_forward::primitive_desc forward = convolution_of(source, weights, result);
	dnnl::convolution_forward primitive(forward);
	dnnl::convolution_backward_data::primitive_desc backward({ dnnl::algorithm::convolution_direct,
								   gradient.get_desc(),
								   weights.get_desc(),
								   result.get_desc(),
								   { 1, 1 },
								   { 1, 1 },
								   { 1, 1 } },
								 engine, forward);
	dnnl::convolution_backward_data back(backward);

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
	dnnl::inner_product_forward::primitive_desc description(
		{ dnnl::prop_kind::forward_inference, source.get_desc(), weights.get_desc(), result.get_desc() },
		engine);
	dnnl::inner_product_forward primitive(description);

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
	dnnl::matmul::primitive_desc description({ a.get_desc(), b.get_desc(), c.get_desc() }, engine);
	dnnl::matmul primitive(description);
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
