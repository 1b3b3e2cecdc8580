/* Runs an exported program on numbers that it makes up, in C, with the library tapecl_runtime alone:
 *
 *     runner net.ocl [DEVICE [RUNS]]
 *
 * It prints each result's first elements. A program of dynamic shapes runs at its greatest sizes, as nobody calls
 * tapecl_set_input_shape here. ocl.export (Python) and ocl::export_program (C++) make such files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlprim/c/tapecl.h"

static void check(tapecl_status status) {
  if (status == TAPECL_OK) return;
  fprintf(stderr, "runner: %s\n", tapecl_last_error());
  exit(1);
}

static void *allocate(size_t bytes) {
  void *memory = calloc(1, bytes ? bytes : 1);
  if (!memory) exit(1);
  return memory;
}

static void print_tensor(const tapecl_tensor *tensor) {
  printf("%s %s [", tensor->name, tensor->dtype);
  for (int d = 0; d < tensor->rank; ++d) printf("%s%lld", d ? ", " : "", (long long)tensor->shape[d]);
  printf("]");
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: runner PROGRAM.ocl [DEVICE [RUNS]]\n");
    return 2;
  }
  const int runs = argc > 3 ? atoi(argv[3]) : 1;
  tapecl_program *program;
  check(tapecl_load(argv[1], argc > 2 ? argv[2] : "ocl:0", &program));

  for (int run = 0; run < runs; ++run) {
    for (size_t i = 0; i < tapecl_input_count(program); ++i) {
      tapecl_tensor input;
      check(tapecl_input(program, i, &input));
      void *elements = allocate(input.bytes);
      if (strcmp(input.dtype, "float32") == 0)
        for (size_t k = 0; k < input.bytes / sizeof(float); ++k) ((float *)elements)[k] = (float)(k % 7) / 7;
      check(tapecl_set_input(program, i, elements, input.bytes));
      free(elements);
    }
    check(tapecl_run(program));
  }

  for (size_t i = 0; i < tapecl_output_count(program); ++i) {
    tapecl_tensor output;
    check(tapecl_output(program, i, &output));
    print_tensor(&output);
    void *elements = allocate(output.bytes);
    check(tapecl_get_output(program, i, elements, output.bytes));
    if (strcmp(output.dtype, "float32") == 0)
      for (size_t k = 0; k < output.bytes / sizeof(float) && k < 8; ++k) printf(" %.9g", ((float *)elements)[k]);
    printf("\n");
    free(elements);
  }
  tapecl_free(program);
  return 0;
}
