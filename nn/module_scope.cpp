#include "nn/module_scope.h"

namespace ocl::nn {
namespace {

thread_local const ModulePaths* paths_of_thread = nullptr;

ModulePaths paths_below(const Module& outermost) {
  ModulePaths paths;
  for (const auto& [path, module] : outermost.named_modules()) paths.emplace(module.get(), path);
  return paths;
}

}  // namespace

ModuleScope::Names::Names(const Module& module) : of_class(module.name()), in_full(of_class) {
  if (!paths_of_thread) {
    paths = paths_below(module);
    paths_of_thread = &*paths;
    return;
  }
  const auto found = paths_of_thread->find(&module);
  if (found != paths_of_thread->end() && !found->second.empty())
    in_full = dlprim::concat(found->second, " (", of_class, ")");
}

ModuleScope::Names::~Names() {
  if (paths) paths_of_thread = nullptr;
}

}  // namespace ocl::nn
