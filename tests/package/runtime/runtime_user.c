/* Asks the C interface for a program that is not there. */

#include <stdio.h>

#include "dlprim/c/tapecl.h"

int main(void) {
  tapecl_program *program;
  const int status = tapecl_load("no such file.ocl", "ocl:0", &program);
  printf("%s\n", tapecl_last_error());
  return status == TAPECL_OK;
}
