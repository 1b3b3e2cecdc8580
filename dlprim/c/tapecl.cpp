#define TAPECL_BUILDS_RUNTIME
#include "dlprim/c/tapecl.h"

#include <filesystem>
#include <new>
#include <string>

#include "dlprim/export/program_binaries.h"
#include "dlprim/export/program_file.h"
#include "dlprim/export/program_runner.h"
#include "dlprim/export/program_sizes.h"
#include "dlprim/ops/creation/upload.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/runtime/device.h"

struct tapecl_program {
  tapecl_program(dlprim::ExportedProgram exported, dlprim::Device& device)
      : runner(std::move(exported), device) {}
  dlprim::ProgramRunner runner;
};

namespace {

using dlprim::require;
using dlprim::Tensor;
using dlprim::ValueError;

static_assert(dlprim::max_rank <= TAPECL_MAX_RANK);

thread_local std::string last_error;

/** Runs `work`, and makes what it throws a status. */
template <class Work>
tapecl_status guarded(const Work& work) noexcept {
  const auto failed = [](tapecl_status status, const char* what) {
    try {
      last_error = what;
    } catch (...) {
      last_error.clear();
    }
    return status;
  };
  try {
    work();
    return TAPECL_OK;
  } catch (const dlprim::FileError& e) {
    return failed(TAPECL_ERROR_FILE, e.what());
  } catch (const dlprim::OutOfMemoryError& e) {
    return failed(TAPECL_ERROR_MEMORY, e.what());
  } catch (const dlprim::DeviceError& e) {
    return failed(TAPECL_ERROR_DEVICE, e.what());
  } catch (const std::bad_alloc&) {
    return failed(TAPECL_ERROR_MEMORY, "the host has too little memory");
  } catch (const dlprim::MissingPrimitiveError& e) {
    return failed(TAPECL_ERROR_PRIMITIVE, e.what());
  } catch (const ValueError& e) {
    return failed(TAPECL_ERROR_ARGUMENT, e.what());
  } catch (const std::exception& e) {
    return failed(TAPECL_ERROR_OTHER, e.what());
  } catch (...) {
    return failed(TAPECL_ERROR_OTHER, "unknown error");
  }
}

void require_pointer(const void* pointer, const char* what) {
  require(pointer != nullptr, what, " is a null pointer");
}

const dlprim::ProgramTensor& at(const std::vector<dlprim::ProgramTensor>& tensors, std::size_t index,
                                const char* what) {
  require(index < tensors.size(), "the program has ", tensors.size(), " ", what, "s, and none of index ",
          index);
  return tensors[index];
}

std::size_t bytes_of(const Tensor& tensor) {
  return static_cast<std::size_t>(tensor.numel()) * size_of(tensor.dtype);
}

/** `now`: the tensor of the sizes that are set. */
void describe(const dlprim::ProgramTensor& each, const Tensor& now, tapecl_tensor* tensor) {
  require_pointer(tensor, "tensor");
  *tensor = {each.name.c_str(), name(now.dtype), now.rank(), {}, bytes_of(now)};
  for (int d = 0; d < now.rank(); ++d) tensor->shape[d] = now.shape[d];
}

void require_bytes(const char* what, const std::string& name, std::size_t expected, std::size_t given) {
  require(given == expected, what, " ", name, " has ", expected, " bytes, got ", given);
}

/** These elements in row-major order. */
Tensor in_order(dlprim::Queue& queue, const Tensor& tensor) {
  if (tensor.is_contiguous()) return tensor;
  const Tensor ordered = Tensor::empty(queue.device(), tensor.shape, tensor.dtype);
  copy(queue, tensor, ordered);
  return ordered;
}

}  // namespace

const char* tapecl_last_error(void) {
  return last_error.c_str();
}

tapecl_status tapecl_load(const char* path, const char* device, tapecl_program** program) {
  return guarded([&] {
    require_pointer(path, "path");
    require_pointer(device, "device");
    require_pointer(program, "program");
    *program = nullptr;
    dlprim::Device& found = dlprim::Device::get(device);
    *program = new tapecl_program(dlprim::load_program(std::filesystem::u8path(path), found), found);
  });
}

tapecl_status tapecl_trust_binaries(tapecl_program* program) {
  return guarded([&] {
    require_pointer(program, "program");
    dlprim::trust_binaries(program->runner.program(), program->runner.device());
  });
}

void tapecl_free(tapecl_program* program) {
  guarded([&] { delete program; });
}

size_t tapecl_input_count(const tapecl_program* program) {
  return program ? program->runner.program().inputs.size() : 0;
}

size_t tapecl_output_count(const tapecl_program* program) {
  return program ? program->runner.program().outputs.size() : 0;
}

tapecl_status tapecl_input(const tapecl_program* program, size_t index, tapecl_tensor* tensor) {
  return guarded([&] {
    require_pointer(program, "program");
    const dlprim::ProgramTensor& each = at(program->runner.program().inputs, index, "input");
    describe(each, program->runner.input(index), tensor);
  });
}

tapecl_status tapecl_output(const tapecl_program* program, size_t index, tapecl_tensor* tensor) {
  return guarded([&] {
    require_pointer(program, "program");
    const dlprim::ProgramTensor& each = at(program->runner.program().outputs, index, "output");
    describe(each, program->runner.output(index), tensor);
  });
}

tapecl_status tapecl_input_bounds(const tapecl_program* program, size_t index, int32_t dimension,
                                  const char** name, int64_t* least, int64_t* greatest) {
  return guarded([&] {
    require_pointer(program, "program");
    require_pointer(name, "name");
    require_pointer(least, "least");
    require_pointer(greatest, "greatest");
    const dlprim::ExportedProgram& exported = program->runner.program();
    const dlprim::ProgramTensor& input = at(exported.inputs, index, "input");
    require(dimension >= 0 && dimension < input.tensor.rank(), "input ", input.name, " has ",
            input.tensor.rank(), " dimensions, and none of index ", dimension);
    *name = "";
    *least = *greatest = input.tensor.shape[dimension];
    if (const dlprim::ProgramSymbol* symbol = symbol_of_dimension(exported, index, dimension)) {
      *name = symbol->name.c_str();
      *least = symbol->min;
      *greatest = symbol->max;
    }
  });
}

tapecl_status tapecl_set_input_shape(tapecl_program* program, size_t index, const int64_t* shape,
                                     int32_t rank) {
  return guarded([&] {
    require_pointer(program, "program");
    const dlprim::ProgramTensor& input = at(program->runner.program().inputs, index, "input");
    require(rank >= 0 && rank <= TAPECL_MAX_RANK, "input ", input.name, " has ", input.tensor.rank(),
            " dimensions, got ", rank);
    if (rank > 0) require_pointer(shape, "shape");
    program->runner.set_input_shape(index, dlprim::Dims(shape, shape + rank));
  });
}

tapecl_status tapecl_set_input(tapecl_program* program, size_t index, const void* data, size_t bytes) {
  return guarded([&] {
    require_pointer(program, "program");
    const std::string& name = at(program->runner.program().inputs, index, "input").name;
    const Tensor input = program->runner.input(index);
    require_bytes("input", name, bytes_of(input), bytes);
    if (bytes == 0) return;
    require_pointer(data, "data");
    dlprim::Queue& queue = program->runner.device().queue();
    if (input.is_contiguous()) return upload(queue, {data, bytes}, input);
    const Tensor ordered = Tensor::empty(queue.device(), input.shape, input.dtype);
    upload(queue, {data, bytes}, ordered);
    copy(queue, ordered, input);
  });
}

tapecl_status tapecl_run(tapecl_program* program) {
  return guarded([&] {
    require_pointer(program, "program");
    program->runner.run();
  });
}

tapecl_status tapecl_get_output(tapecl_program* program, size_t index, void* data, size_t bytes) {
  return guarded([&] {
    require_pointer(program, "program");
    const std::string& name = at(program->runner.program().outputs, index, "output").name;
    dlprim::Queue& queue = program->runner.device().queue();
    const Tensor output = in_order(queue, program->runner.output(index));
    require_bytes("output", name, bytes_of(output), bytes);
    if (bytes == 0) return;
    require_pointer(data, "data");
    queue.read(output, data, bytes);
  });
}

tapecl_status tapecl_get_state(tapecl_program* program, const char* name, void* data, size_t* bytes) {
  return guarded([&] {
    require_pointer(program, "program");
    require_pointer(name, "name");
    require_pointer(bytes, "bytes");
    const Tensor state = program->runner.state(name);
    if (data && bytes_of(state) > 0) {
      require_bytes("state", name, bytes_of(state), *bytes);
      program->runner.device().queue().read(state, data, *bytes);
    }
    *bytes = bytes_of(state);
  });
}

tapecl_status tapecl_save(tapecl_program* program, const char* path) {
  return guarded([&] {
    require_pointer(program, "program");
    require_pointer(path, "path");
    save_program(program->runner.current_program(), std::filesystem::u8path(path));
  });
}
