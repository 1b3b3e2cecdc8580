#include "autograd/tensor/peer.h"

#include <algorithm>

#include "autograd/tape/ownership.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

/** The object that another language would have for a tensor: it owns the tensor, or is owned. */
struct Object {
  Tensor handle;
  int releases = 0;
};

Object& object_of(const TensorImpl& impl) {
  return *static_cast<Object*>(impl.peer.object());
}

class PeerOfTensor : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    Peer::let_go = [](TensorImpl& dying) {
      Object& object = object_of(dying);
      ++object.releases;
      object.handle = Tensor(dying.successor());
    };
  }
  void TearDown() override { Peer::let_go = before_; }

  static void give(const Tensor& tensor, Object& object) {
    tensor.impl().peer.set(&object);
    tensor.impl().peer.set_owned(true);
  }

 private:
  void (*before_)(TensorImpl&) = Peer::let_go;
};

std::vector<void*> sorted(std::vector<void*> objects) {
  std::sort(objects.begin(), objects.end());
  return objects;
}

}  // namespace

TEST_F(PeerOfTensor, AnOwnedObjectTakesTheTensorOver) {
  Object object;
  {
    Tensor x = leaf({1, 2}, {2});
    x.set_grad(ones({2}));
    x.impl().is_parameter = true;
    give(x, object);
    EXPECT_EQ(object.releases, 0);
  }
  EXPECT_EQ(object.releases, 1);
  EXPECT_EQ(object.handle.to_vector(), (std::vector<float>{1, 2}));
  EXPECT_EQ(object.handle.grad().to_vector(), (std::vector<float>{1, 1}));
  EXPECT_TRUE(object.handle.requires_grad());
  EXPECT_TRUE(object.handle.impl().is_parameter);
  EXPECT_EQ(object.handle.impl().peer.object(), &object);
  EXPECT_FALSE(object.handle.impl().peer.is_owned());
  object.handle = Tensor();  // the object's own tensor goes without a word
  EXPECT_EQ(object.releases, 1);
}

TEST_F(PeerOfTensor, GradientsFindTheSuccessor) {
  Object object;
  Tensor loss;
  {
    const Tensor x = leaf({1, 2}, {2});
    give(x, object);
    loss = sum(square(x));
  }
  loss.backward();
  EXPECT_EQ(object.handle.grad().to_vector(), (std::vector<float>{2, 4}));
}

TEST_F(PeerOfTensor, HistoryGoesToTheSuccessor) {
  Object object;
  const Tensor x = leaf({1, 2}, {2});
  {
    const Tensor y = x * 3;
    give(y, object);
  }
  EXPECT_FALSE(object.handle.is_leaf());
  sum(object.handle).backward();
  EXPECT_EQ(x.grad().to_vector(), (std::vector<float>{3, 3}));
}

TEST_F(PeerOfTensor, OwnershipFindsWhatLivesByATensorAlone) {
  Object own, of_gradient, of_base;
  Tensor view;
  {
    Tensor base = leaf({1, 2}, {2});
    give(base, of_base);
    view = base.view({2, 1});
  }
  view.set_grad(ones({2, 1}));
  give(view, own);
  give(view.grad(), of_gradient);
  const auto objects = [&view] {
    Ownership ownership;
    ownership.add(view);
    return sorted(ownership.foreign_objects());
  };
  EXPECT_EQ(objects(), sorted({&own, &of_gradient, &of_base}));
  {
    const Tensor other_owner = view.grad();
    EXPECT_EQ(objects(), sorted({&own, &of_base}));
  }
  view.impl().peer.set_owned(false);
  EXPECT_EQ(objects(), sorted({&of_gradient, &of_base}));
  const Tensor other_owner = view;
  EXPECT_TRUE(objects().empty());
}
