// SPDX-License-Identifier: Apache-2.0
// libtorch_train [STEPS]: PyTorch from C++ alone. A network of two layers learns to recognise which half of a random row is larger.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

constexpr int ROWS = 4096, COLUMNS = 256, HIDDEN = 512, BATCH = 128;

struct Network : torch::nn::Module {
	torch::nn::Linear first{ nullptr }, second{ nullptr };

	Network()
	{
		first = register_module("first", torch::nn::Linear(COLUMNS, HIDDEN));
		second = register_module("second", torch::nn::Linear(HIDDEN, 2));
	}

	torch::Tensor forward(torch::Tensor rows)
	{
		return second->forward(torch::relu(first->forward(rows)));
	}
};

int main(int argc, char **argv)
{
	int steps = argc > 1 ? std::atoi(argv[1]) : 50;
	torch::manual_seed(0);
	torch::Tensor rows = torch::randn({ ROWS, COLUMNS });
	torch::Tensor halves = rows.view({ ROWS, 2, COLUMNS / 2 }).sum(2).argmax(1);
	Network network;
	torch::optim::Adam optimizer(network.parameters());
	double loss = 0;

	for (int step = 0; step < steps; step++) {
		int from = step * BATCH % ROWS;
		torch::Tensor scores = network.forward(rows.slice(0, from, from + BATCH));
		torch::Tensor error = torch::cross_entropy_loss(scores, halves.slice(0, from, from + BATCH));

		optimizer.zero_grad();
		error.backward();
		optimizer.step();
		loss = error.item<double>();
	}
	std::printf("libtorch_train: %d steps, loss %.3f\n", steps, loss);
	return 0;
}
