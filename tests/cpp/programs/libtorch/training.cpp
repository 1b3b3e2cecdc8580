// Data, optimizers, files, tensors and the tape.

#include "idioms.h"

IDIOM(data_loader) {
  struct Data : torch::data::datasets::Dataset<Data> {
    torch::data::Example<> get(size_t i) override {
      return {torch::full({2}, (float)i), torch::tensor((int64_t)i)};
    }
    torch::optional<size_t> size() const override { return 5; }
  };
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      Data().map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions().batch_size(2));
  for (auto& batch : *loader) {
    show(batch.data);
    show(batch.target);
  }
}

IDIOM(mnist_dataset) {
  auto dataset = torch::data::datasets::MNIST(folder(), torch::data::datasets::MNIST::Mode::kTest)
                     .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
                     .map(torch::data::transforms::Stack<>());
  const size_t size = dataset.size().value();
  show(size);
  auto loader =
      torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(std::move(dataset), 4);
  for (auto& batch : *loader) {
    auto data = batch.data.to(torch::kCPU), targets = batch.target;
    show(data.sizes());
    show(data.mean());
    show(targets);
    break;
  }
}

IDIOM(mnist_plain) {
  torch::data::datasets::MNIST data(folder(), torch::data::datasets::MNIST::Mode::kTest);
  show(data.is_train());
  show(data.get(3).data.sum());
  show(data.get(3).target);
  show(data.images().sizes());
  show(data.size().value());
}

IDIOM(tensor_dataset) {
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      torch::data::datasets::TensorDataset(torch::arange(4.).view({4, 1})),
      torch::data::DataLoaderOptions(2));
  for (auto& batch : *loader)
    for (auto& example : batch) show(example.data);
}

IDIOM(loader_examples) {
  struct Data : torch::data::datasets::Dataset<Data> {
    torch::data::Example<> get(size_t i) override {
      return {torch::full({1}, (float)i), torch::tensor((int64_t)i)};
    }
    torch::optional<size_t> size() const override { return 3; }
  };
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      Data(), torch::data::DataLoaderOptions().batch_size(2).drop_last(true));
  for (auto& batch : *loader) {
    show(batch.size());
    show(batch[1].data);
  }
}

IDIOM(loader_workers) {
  struct Data : torch::data::datasets::Dataset<Data> {
    torch::data::Example<> get(size_t i) override { return {torch::full({1}, (float)i), torch::zeros({1})}; }
    torch::optional<size_t> size() const override { return 8; }
  };
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      Data().map(torch::data::transforms::Stack<>()),
      torch::data::DataLoaderOptions().batch_size(3).workers(2));
  for (auto& batch : *loader) show(batch.data);
}

IDIOM(transform_lambda) {
  auto lambda = torch::data::transforms::Lambda<torch::data::Example<>>([](torch::data::Example<> e) {
    e.data = e.data * 2;
    return e;
  });
  struct Data : torch::data::datasets::Dataset<Data> {
    torch::data::Example<> get(size_t i) override { return {torch::full({1}, (float)i), torch::zeros({1})}; }
    torch::optional<size_t> size() const override { return 4; }
  };
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      Data().map(lambda).map(torch::data::transforms::Stack<>()), 4);
  for (auto& batch : *loader) show(batch.data);
}

IDIOM(normalize_channels) {
  torch::data::transforms::Normalize<> n({0.5, 0.25}, {0.5, 2.0});
  show(n(torch::ones({2, 1, 2})));
}

IDIOM(get_batch) {
  struct Data : torch::data::datasets::Dataset<Data> {
    torch::data::Example<> get(size_t i) override { return {torch::full({1}, (float)i), torch::zeros({1})}; }
    torch::optional<size_t> size() const override { return 4; }
  };
  Data data;
  auto batch = data.get_batch({1, 3});
  show(batch.size());
  show(batch[1].data);
  auto stacked = torch::data::transforms::Stack<>().apply_batch(batch);
  show(stacked.data);
}

IDIOM(sgd) {
  torch::nn::Linear fc(2, 1);
  for (auto& p : fc->parameters()) torch::nn::init::constant_(p, 0.5);
  torch::optim::SGD sgd(fc->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9).nesterov(true));
  for (int i = 0; i < 3; ++i) {
    sgd.zero_grad();
    auto loss = fc(torch::ones({1, 2})).pow(2).mean();
    loss.backward();
    sgd.step();
  }
  show(fc->weight);
}

IDIOM(adam) {
  auto w = torch::ones({2}, torch::requires_grad());
  torch::optim::Adam adam({w}, torch::optim::AdamOptions(2e-4).betas(std::make_tuple(0.5, 0.5)));
  (w * w).sum().backward();
  adam.step();
  show(w);
  auto& options = static_cast<torch::optim::AdamOptions&>(adam.param_groups()[0].options());
  options.lr(options.lr() * 0.5);
  show(options.lr());
  show(options.weight_decay());
  show(std::get<0>(options.betas()));
}

IDIOM(param_groups) {
  auto a = torch::ones({1}, torch::requires_grad()), b = torch::ones({1}, torch::requires_grad());
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<torch::Tensor>{a});
  groups.emplace_back(std::vector<torch::Tensor>{b}, std::make_unique<torch::optim::SGDOptions>(0.5));
  torch::optim::SGD sgd(groups, torch::optim::SGDOptions(0.1));
  (a + b).backward();
  sgd.step();
  show(a);
  show(b);
}

IDIOM(param_groups_list) {
  auto a = torch::ones({1}, torch::requires_grad()), b = torch::ones({1}, torch::requires_grad());
  torch::optim::SGD sgd({torch::optim::OptimizerParamGroup({a}), torch::optim::OptimizerParamGroup({b})},
                        0.1);
  (a + 2 * b).backward();
  sgd.step();
  show(a);
  show(b);
  sgd.add_param_group(torch::optim::OptimizerParamGroup({torch::ones({1}, torch::requires_grad())}));
  show(sgd.param_groups().size());
}

IDIOM(closure) {
  auto w = torch::ones({2}, torch::requires_grad());
  torch::optim::LBFGS lbfgs({w}, torch::optim::LBFGSOptions(1).max_iter(5));
  auto loss = lbfgs.step([&]() {
    lbfgs.zero_grad();
    auto l = (w * w).sum();
    l.backward();
    return l;
  });
  show(loss);
  show(w.abs().max().item<float>() < 1e-3);
}

IDIOM(step_lr) {
  auto w = torch::ones({2}, torch::requires_grad());
  torch::optim::SGD sgd({w}, 1.0);
  torch::optim::StepLR schedule(sgd, /*step_size=*/2, /*gamma=*/0.5);
  for (int i = 0; i < 3; ++i) {
    sgd.step();
    schedule.step();
  }
  show(sgd.param_groups()[0].options().get_lr());
}

IDIOM(plateau) {
  auto w = torch::ones({2}, torch::requires_grad());
  torch::optim::SGD sgd({w}, 1.0);
  torch::optim::ReduceLROnPlateauScheduler schedule(sgd, torch::optim::ReduceLROnPlateauScheduler::min, 0.5f,
                                                    1);
  for (int i = 0; i < 5; ++i) schedule.step(1.0);
  show(sgd.param_groups()[0].options().get_lr());
}

IDIOM(clip) {
  auto w = torch::ones({2}, torch::requires_grad());
  (w * 10).sum().backward();
  double norm = torch::nn::utils::clip_grad_norm_({w}, 1.0);
  show(norm);
  show(w.grad());
  torch::nn::utils::clip_grad_value_({w}, 0.1);
  show(w.grad());
}

IDIOM(optimizer_pointer) {
  torch::nn::Linear fc(2, 1);
  for (auto& p : fc->parameters()) torch::nn::init::constant_(p, 0.5);
  std::unique_ptr<torch::optim::Optimizer> optimizer = std::make_unique<torch::optim::AdamW>(
      fc->parameters(), torch::optim::AdamWOptions(0.1).weight_decay(0.01));
  optimizer->zero_grad();
  fc(torch::ones({1, 2})).sum().backward();
  optimizer->step();
  show(fc->weight);
  show(optimizer->parameters().size());
}

IDIOM(save_tensor) {
  auto x = torch::arange(4.);
  torch::save(x, folder() + "/x.pt");
  torch::Tensor y;
  torch::load(y, folder() + "/x.pt");
  show(y);
}

IDIOM(save_module) {
  torch::nn::Linear a(2, 1), b(2, 1);
  torch::save(a, folder() + "/a.pt");
  torch::load(b, folder() + "/a.pt");
  show(torch::equal(a->weight, b->weight));
}

IDIOM(save_net) {
  struct Net : torch::nn::Module {
    torch::nn::Linear fc{nullptr};
    Net() { fc = register_module("fc", torch::nn::Linear(2, 1)); }
  };
  auto a = std::make_shared<Net>(), b = std::make_shared<Net>();
  torch::save(a, folder() + "/n.pt");
  torch::load(b, folder() + "/n.pt");
  show(torch::equal(a->fc->weight, b->fc->weight));
}

IDIOM(save_optimizer) {
  auto w = torch::ones({2}, torch::requires_grad());
  torch::optim::Adam adam({w}, 0.1), other({w}, 0.1);
  w.sum().backward();
  adam.step();
  torch::save(adam, folder() + "/o.pt");
  torch::load(other, folder() + "/o.pt");
  other.step();
  show(w);
}

IDIOM(archives) {
  torch::nn::Linear a(2, 1), b(2, 1);
  torch::serialize::OutputArchive out;
  a->save(out);
  out.save_to(folder() + "/r.pt");
  torch::serialize::InputArchive in;
  in.load_from(folder() + "/r.pt");
  b->load(in);
  show(torch::equal(a->weight, b->weight));
}

IDIOM(device) {
  torch::Device device(torch::kCPU);
  if (torch::cuda::is_available()) {
    device = torch::Device(torch::kCUDA);
  }
  auto x = torch::ones({2}, device);
  show(x.to(torch::kCPU));
  show(x.device().is_cpu() || x.is_cuda());
}

IDIOM(index) {
  using namespace torch::indexing;
  auto x = torch::arange(12).view({3, 4});
  show(x.index({Slice(), 1}));
  show(x.index({Slice(1, None), Slice(None, None, 2)}));
  show(x.index({"...", 0}));
  show(x.index({Ellipsis, Slice(None, -1)}));
  x.index_put_({Slice(), 0}, 7);
  show(x);
}

IDIOM(function) {
  struct Cube : torch::autograd::Function<Cube> {
    static torch::Tensor forward(torch::autograd::AutogradContext* ctx, torch::Tensor x, double k) {
      ctx->save_for_backward({x});
      ctx->saved_data["k"] = k;
      return k * x * x * x;
    }
    static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::tensor_list grads) {
      auto x = ctx->get_saved_variables()[0];
      return {3 * ctx->saved_data["k"].toDouble() * x * x * grads[0], torch::Tensor()};
    }
  };
  auto x = torch::tensor({2.0, 3.0}, torch::requires_grad());
  Cube::apply(x, 0.5).sum().backward();
  show(x.grad());
}

IDIOM(grad) {
  auto x = torch::tensor({2.0, 3.0}, torch::requires_grad());
  auto g = torch::autograd::grad({(x * x).sum()}, {x}, /*grad_outputs=*/{}, /*retain_graph=*/true,
                                 /*create_graph=*/true)[0];
  g.sum().backward();
  show(g);
  show(x.grad());
}

IDIOM(gan_step) {
  auto real = torch::empty(2).uniform_(0.8, 1.0);
  show(real.min().item<float>() >= 0.8f);
  auto out = torch::full({2}, 0.5).requires_grad_();
  auto loss = torch::binary_cross_entropy(out, torch::ones({2}));
  loss.backward();
  show(loss.item<float>());
  show(out.grad());
}

IDIOM(no_grad_eval) {
  torch::nn::Linear fc(2, 2);
  fc->eval();
  torch::NoGradGuard no_grad;
  auto out = fc->forward(torch::ones({3, 2}));
  show(out.requires_grad());
  auto pred = torch::tensor({{0.1, 0.9}, {0.8, 0.2}}).argmax(1);
  show(pred.eq(torch::tensor({1, 1})).sum().template item<int64_t>());
}

IDIOM(nll_test) {
  namespace F = torch::nn::functional;
  auto out = torch::log_softmax(torch::tensor({{1., 2.}, {3., 1.}}), 1);
  show(torch::nll_loss(out, torch::tensor({1, 0})));
  show(torch::nll_loss(out, torch::tensor({1, 0}), /*weight=*/{}, torch::Reduction::Sum));
  show(F::nll_loss(out, torch::tensor({1, 0}), F::NLLLossFuncOptions().reduction(torch::kNone)));
}

IDIOM(rnn_utils) {
  namespace rnn = torch::nn::utils::rnn;
  show(rnn::pad_sequence({torch::ones({2}), torch::ones({3})}, true));
}
