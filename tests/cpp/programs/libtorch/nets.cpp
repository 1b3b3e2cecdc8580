// Nets, layers and losses.

#include "idioms.h"

IDIOM(mnist_net) {
  struct Net : torch::nn::Module {
    Net() {
      fc1 = register_module("fc1", torch::nn::Linear(784, 64));
      fc2 = register_module("fc2", torch::nn::Linear(64, 32));
      fc3 = register_module("fc3", torch::nn::Linear(32, 10));
    }
    torch::Tensor forward(torch::Tensor x) {
      x = torch::relu(fc1->forward(x.reshape({x.size(0), 784})));
      x = torch::dropout(x, /*p=*/0.5, /*train=*/is_training());
      x = torch::relu(fc2->forward(x));
      x = torch::log_softmax(fc3->forward(x), /*dim=*/1);
      return x;
    }
    torch::nn::Linear fc1{nullptr}, fc2{nullptr}, fc3{nullptr};
  };
  auto net = std::make_shared<Net>();
  net->eval();
  for (auto& p : net->parameters()) torch::nn::init::constant_(p, 0.01);
  show(net->forward(torch::ones({2, 1, 28, 28})));
  show(net->parameters().size());
}

IDIOM(mnist_conv_net) {
  struct Net : torch::nn::Module {
    Net()
        : conv1(torch::nn::Conv2dOptions(1, 2, /*kernel_size=*/5)),
          conv2(torch::nn::Conv2dOptions(2, 4, 5)),
          fc1(64, 5),
          fc2(5, 10) {
      register_module("conv1", conv1);
      register_module("conv2", conv2);
      register_module("conv2_drop", conv2_drop);
      register_module("fc1", fc1);
      register_module("fc2", fc2);
    }
    torch::Tensor forward(torch::Tensor x) {
      x = torch::relu(torch::max_pool2d(conv1->forward(x), 2));
      x = torch::relu(torch::max_pool2d(conv2_drop->forward(conv2->forward(x)), 2));
      x = x.view({-1, 64});
      x = torch::relu(fc1->forward(x));
      return torch::log_softmax(fc2->forward(x), 1);
    }
    torch::nn::Conv2d conv1;
    torch::nn::Conv2d conv2;
    torch::nn::Dropout2d conv2_drop;
    torch::nn::Linear fc1;
    torch::nn::Linear fc2;
  };
  Net model;
  model.eval();
  for (auto& p : model.parameters()) torch::nn::init::constant_(p, 0.01);
  show(model.forward(torch::ones({1, 1, 28, 28})));
  show(model.parameters().size());
}

IDIOM(member_eval) {
  struct Net : torch::nn::Module {
    Net() : bn(register_module("bn", torch::nn::BatchNorm1d(2))) {}
    torch::Tensor forward(torch::Tensor x) { return bn(x); }
    torch::nn::BatchNorm1d bn;
  };
  Net net;
  net.eval();
  show(net.bn->is_training());
  show(net.forward(torch::ones({2, 2})));
  net.train();
  show(net.forward(torch::ones({2, 2})));
  show(net.bn->running_mean);
}

IDIOM(dcgan_generator) {
  struct GImpl : torch::nn::Module {
    GImpl(int k)
        : conv1(torch::nn::ConvTranspose2dOptions(k, 4, 4).bias(false)),
          batch_norm1(4),
          conv2(torch::nn::ConvTranspose2dOptions(4, 1, 3).stride(2).padding(1).bias(false)) {
      register_module("conv1", conv1);
      register_module("conv2", conv2);
      register_module("batch_norm1", batch_norm1);
    }
    torch::Tensor forward(torch::Tensor x) {
      x = torch::relu(batch_norm1(conv1(x)));
      return torch::tanh(conv2(x));
    }
    torch::nn::ConvTranspose2d conv1;
    torch::nn::BatchNorm2d batch_norm1;
    torch::nn::ConvTranspose2d conv2;
  };
  auto g = std::make_shared<GImpl>(3);
  g->to(torch::kCPU);
  for (auto& p : g->parameters()) torch::nn::init::constant_(p, 0.1);
  show(g->forward(torch::ones({2, 3, 1, 1})));
  show(g->named_parameters().size());
}

IDIOM(dcgan_discriminator) {
  torch::nn::Sequential d(
      torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 4, 4).stride(2).padding(1).bias(false)),
      torch::nn::LeakyReLU(torch::nn::LeakyReLUOptions().negative_slope(0.2)), torch::nn::BatchNorm2d(4),
      torch::nn::Conv2d(torch::nn::Conv2dOptions(4, 1, 3).stride(1).padding(0).bias(false)),
      torch::nn::Sigmoid());
  d->to(torch::kCPU);
  for (auto& p : d->parameters()) torch::nn::init::constant_(p, 0.1);
  show(d->forward(torch::ones({2, 1, 6, 6})));
}

IDIOM(torch_module) {
  struct NetImpl : torch::nn::Module {
    NetImpl(int n) : fc(register_module("fc", torch::nn::Linear(n, 1))) {}
    torch::Tensor forward(torch::Tensor x) { return fc->forward(x) * 2; }
    torch::nn::Linear fc{nullptr};
  };
  TORCH_MODULE(Net);
  Net net(3);
  torch::nn::init::ones_(net->fc->weight);
  torch::nn::init::zeros_(net->fc->bias);
  show(net->forward(torch::ones({1, 3})));
  show(net(torch::ones({1, 3})));
  show(net->parameters().size());
}

IDIOM(torch_module_nested) {
  struct BlockImpl : torch::nn::Module {
    torch::nn::Linear fc{nullptr};
    BlockImpl(int n) { fc = register_module("fc", torch::nn::Linear(n, n)); }
    torch::Tensor forward(torch::Tensor x) { return x + fc(x); }
  };
  TORCH_MODULE(Block);
  struct NetImpl : torch::nn::Module {
    Block a{nullptr};
    torch::nn::Sequential rest;
    NetImpl() {
      a = register_module("a", Block(2));
      rest = register_module("rest", torch::nn::Sequential(Block(2), torch::nn::Linear(2, 1)));
    }
    torch::Tensor forward(torch::Tensor x) { return rest->forward(a->forward(x)); }
  };
  TORCH_MODULE(Net);
  Net net;
  for (auto& p : net->parameters()) torch::nn::init::constant_(p, 0.5);
  show(net->forward(torch::ones({1, 2})));
  for (auto& p : net->named_parameters()) show(p.key().size());
}

IDIOM(assign_then_register) {
  struct Net : torch::nn::Module {
    torch::nn::Conv1d conv{nullptr};
    Net() {
      conv = torch::nn::Conv1d(torch::nn::Conv1dOptions(1, 1, 3));
      register_module("conv", conv);
      torch::nn::init::ones_(conv->weight);
      torch::nn::init::zeros_(conv->bias);
    }
  };
  Net net;
  show(net.conv->forward(torch::ones({1, 1, 5})));
  show(net.named_parameters()["conv.weight"]);
}

IDIOM(sequential_member) {
  struct Net : torch::nn::Module {
    torch::nn::Sequential layers;
    Net() : layers(torch::nn::Linear(2, 4), torch::nn::ReLU(), torch::nn::Linear(4, 1)) {
      register_module("layers", layers);
    }
    torch::Tensor forward(const torch::Tensor& x) { return layers->forward(x); }
  };
  Net net;
  for (auto& p : net.parameters()) torch::nn::init::constant_(p, 0.5);
  show(net.forward(torch::ones({1, 2})));
  show(net.named_parameters()[0].key().size());
}

IDIOM(sequential_late) {
  struct Net : torch::nn::Module {
    torch::nn::Sequential seq{nullptr};
    Net() {
      torch::nn::Sequential s;
      for (int i = 0; i < 3; ++i) {
        s->push_back(torch::nn::Linear(2, 2));
        s->push_back(torch::nn::Functional(torch::tanh));
      }
      seq = register_module("seq", s);
    }
  };
  Net net;
  for (auto& p : net.parameters()) torch::nn::init::constant_(p, 0.2);
  show(net.seq->forward(torch::ones({1, 2})));
  show(net.seq->size());
}

IDIOM(module_list_member) {
  struct Net : torch::nn::Module {
    torch::nn::ModuleList layers;
    Net() {
      for (int i = 0; i < 2; ++i) layers->push_back(torch::nn::Linear(2, 2));
      register_module("layers", layers);
    }
    torch::Tensor forward(torch::Tensor x) {
      for (size_t i = 0; i < layers->size(); ++i) x = layers[i]->as<torch::nn::Linear>()->forward(x);
      return x;
    }
  };
  Net net;
  for (auto& p : net.parameters()) torch::nn::init::constant_(p, 0.5);
  show(net.forward(torch::ones({1, 2})));
  show(net.parameters().size());
}

IDIOM(vector_of_layers) {
  struct Net : torch::nn::Module {
    std::vector<torch::nn::Linear> layers;
    Net() {
      for (int i = 0; i < 2; ++i)
        layers.push_back(register_module("fc" + std::to_string(i), torch::nn::Linear(2, 2)));
    }
    torch::Tensor forward(torch::Tensor x) {
      for (auto& layer : layers) x = layer(x);
      return x;
    }
  };
  Net net;
  for (auto& p : net.parameters()) torch::nn::init::constant_(p, 0.5);
  show(net.forward(torch::ones({1, 2})));
}

IDIOM(impl_pointer) {
  auto fc = std::make_shared<torch::nn::LinearImpl>(2, 1);
  torch::nn::init::ones_(fc->weight);
  torch::nn::init::zeros_(fc->bias);
  torch::nn::Linear holder(fc);
  show(holder->forward(torch::ones({1, 2})));
  show(holder.ptr() == fc);
}

IDIOM(holder_shares) {
  torch::nn::Linear a(2, 1);
  torch::nn::Linear b = a;
  torch::nn::init::ones_(a->weight);
  show(b->weight);
  show(b.get() == a.get());
}

IDIOM(holder_as_argument) {
  auto use = [](torch::nn::Linear fc) { return fc->forward(torch::ones({1, 2})); };
  torch::nn::Linear fc(2, 1);
  torch::nn::init::ones_(fc->weight);
  torch::nn::init::zeros_(fc->bias);
  show(use(fc));
}

IDIOM(holder_empty) {
  torch::nn::Linear fc{nullptr};
  show(fc.is_empty());
  show(!fc);
  fc = torch::nn::Linear(2, 1);
  show(fc.is_empty());
}

IDIOM(sequential_of_members) {
  torch::nn::Linear a(2, 2), b(2, 1);
  torch::nn::Sequential net(a, torch::nn::ReLU(), b);
  torch::nn::init::ones_(a->weight);
  torch::nn::init::zeros_(a->bias);
  torch::nn::init::ones_(b->weight);
  torch::nn::init::zeros_(b->bias);
  show(net->forward(torch::ones({1, 2})));
}

IDIOM(freeze) {
  torch::nn::Linear fc(2, 1);
  for (auto& p : fc->parameters()) p.set_requires_grad(false);
  show(fc->weight.requires_grad());
  fc->weight.requires_grad_(true);
  show(fc->weight.requires_grad());
}

IDIOM(named_walks) {
  torch::nn::Sequential net(torch::nn::Linear(2, 2), torch::nn::ReLU());
  for (const auto& m : net->named_modules("", /*include_self=*/false)) show(m.key().size());
  for (const auto& c : net->children()) show(c->parameters().size());
  show(net->modules(false).size());
}

IDIOM(loss_modules) {
  auto x = torch::tensor({{0.2, 0.8}, {0.5, 0.1}}), y = torch::tensor({1, 0});
  torch::nn::CrossEntropyLoss criterion;
  show(criterion(x, y));
  torch::nn::MSELoss mse(torch::nn::MSELossOptions().reduction(torch::kSum));
  show(mse(x, x * 2));
  show(torch::nn::BCEWithLogitsLoss()(x, torch::ones_like(x)));
}

IDIOM(lstm) {
  torch::nn::LSTM lstm(torch::nn::LSTMOptions(2, 3).num_layers(1).batch_first(true));
  for (auto& p : lstm->parameters()) torch::nn::init::constant_(p, 0.1);
  auto out = lstm->forward(torch::ones({1, 4, 2}));
  show(std::get<0>(out));
  show(std::get<0>(std::get<1>(out)));
}

IDIOM(lstm_member) {
  struct Net : torch::nn::Module {
    torch::nn::LSTM lstm{nullptr};
    torch::nn::Linear out{nullptr};
    Net() {
      lstm = register_module("lstm", torch::nn::LSTM(torch::nn::LSTMOptions(2, 3)));
      out = register_module("out", torch::nn::Linear(3, 1));
    }
    torch::Tensor forward(torch::Tensor x) {
      auto [y, state] = lstm(x);
      return out(y[-1]);
    }
  };
  Net net;
  for (auto& p : net.parameters()) torch::nn::init::constant_(p, 0.1);
  show(net.forward(torch::ones({4, 1, 2})));
}

IDIOM(embedding_attention) {
  torch::nn::Embedding e(4, 2);
  torch::nn::init::ones_(e->weight);
  show(e->forward(torch::tensor({1, 2})));
  torch::nn::MultiheadAttention mha(torch::nn::MultiheadAttentionOptions(2, 1));
  for (auto& p : mha->parameters()) torch::nn::init::constant_(p, 0.1);
  auto q = torch::ones({3, 1, 2});
  show(std::get<0>(mha->forward(q, q, q)));
}

IDIOM(batch_fit) {
  torch::nn::Sequential net(torch::nn::Linear(1, 1));
  for (auto& p : net->parameters()) torch::nn::init::zeros_(p);
  torch::optim::SGD optimizer(net->parameters(), /*lr=*/0.1);
  for (size_t epoch = 1; epoch <= 5; ++epoch) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(net->forward(torch::ones({2, 1})), torch::full({2, 1}, 3.0));
    loss.backward();
    optimizer.step();
  }
  show(net->parameters()[0]);
}
