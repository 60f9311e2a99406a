// SPDX-License-Identifier: Apache-2.0
// Trains a small network with libtorch, no Python: for test_verify.py, where libtorch-dev is installed.
#include <torch/torch.h>

#include <cstdio>

int main()
{
	torch::manual_seed(1);
	torch::nn::Sequential model(torch::nn::Linear(32, 64), torch::nn::ReLU(), torch::nn::Linear(64, 2));
	torch::optim::Adam optimizer(model->parameters(), 0.01);
	torch::Tensor inputs = torch::randn({ 512, 32 });
	torch::Tensor targets = (inputs.slice(1, 0, 4).sum(1) > 0).to(torch::kLong);
	double last = 0;

	for (int step = 0; step < 40; step++) {
		optimizer.zero_grad();
		torch::Tensor loss = torch::nn::functional::cross_entropy(model->forward(inputs), targets);
		loss.backward();
		optimizer.step();
		last = loss.item<double>();
	}
	std::printf("libtorch: %s\n", last < 0.6 ? "trained" : "not trained");
	return 0;
}
