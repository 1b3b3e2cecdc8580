#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "autograd/tensor/tensor.h"
#include "dlprim/export/exported_program.h"

namespace ocl {

using dlprim::ExportedProgram;
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/**
 * A program that does what `work` does, and needs neither the tape nor modules to run
 * (dlprim/export/program_runner.h). `work` returns its results. It is a net's forward pass, or a training
 * step with its backward pass and optimizer.
 *
 *     const Tensor x = randn({8, 3, 224, 224});
 *     NoGradGuard no_grad;
 *     const auto work = [&] { return NamedTensors{{"output", net(x)}}; };
 *     save_program(export_program(work, {{"x", x}}, net.state_dict()), "net.ocl");
 *
 * `work` is called twice, and must do the same both times but for random numbers, which go on. The program
 * has the shapes of the example, and the numbers that `work` computes on the host. Throws Error where these
 * differ between the calls: Adam counts steps on the host unless it is `capturable`. An optimizer makes
 * its states in its first step, so take one before. Throws Error, too, where the host reads elements. Memory
 * that is read before it is written, and is no input, becomes a constant, or a state if it is written later.
 * `named` gives names to it.
 * States and the device's generator are put back, so that tensors hold afterwards what they held before. All
 * memory that `work` uses is held meanwhile.
 */
ExportedProgram export_program(const std::function<NamedTensors()>& work, const NamedTensors& inputs,
                               const NamedTensors& named = {});

/** A size that differs from run to run, and its bounds, both included. Dimensions with a Dim of one name have
 * one size. */
using dlprim::ProgramSymbol;
using Dim = ProgramSymbol;
/** The dimensions of an input that differ, counted from the front. */
using DynamicShape = std::map<int, Dim>;

/**
 * A program for all sizes within the bounds (torch.export's dynamic_shapes):
 *
 *     const Dim batch{"batch", 1, 64};
 *     const auto work = [&](const std::vector<Tensor>& x) { return NamedTensors{{"output", net(x[0])}}; };
 *     export_program(work, {{"x", x}}, {{{0, batch}}}, net.state_dict());
 *
 * `dynamic` has an entry for each input. `work` is called with the example, copied, and with copies of other
 * sizes, mostly under ShapesOnly: what it keeps from such calls has no elements. Numbers that differ between
 * the calls become formulas of the sizes. Throws Error, which names the call, the argument and its values,
 * where none fits, and where the calls themselves differ. Another way is allowed at sizes of 0 or 1 if it
 * comes to the same results. Throws ValueError for bounds that do not fit. Gradients of `named` are kept.
 */
ExportedProgram export_program(const std::function<NamedTensors(const std::vector<Tensor>&)>& work,
                               const NamedTensors& inputs, const std::vector<DynamicShape>& dynamic,
                               const NamedTensors& named = {});

}  // namespace ocl
