#pragma once

// Headers that kernels and host code both include (*_shared.h) begin here: OpenCL's types under the host's
// names, and the constants that no family owns. Both languages read them, so they hold plain structs,
// enumerators and macros alone.
//
//   BEGIN_SHARED, END_SHARED   around the declarations: the host's namespace
//   REAL_STRUCT(Name) {…};     a struct with members of type REAL: by dtype a macro of kernels; on the host a
//                              parameter of the struct
#ifdef __OPENCL_VERSION__
#define BEGIN_SHARED
#define END_SHARED
#define REAL_STRUCT(Name)   \
  typedef struct Name Name; \
  struct Name
typedef int cl_int;
typedef long cl_long;
#else
#include <dlprim/runtime/opencl.h>
#define BEGIN_SHARED namespace dlprim {
#define END_SHARED }
#define REAL_STRUCT(Name) \
  template <class REAL>   \
  struct Name
#endif

BEGIN_SHARED

// The most dimensions of a tensor, and work items of a group that shares local memory.
enum { MAX_RANK = 8, MAX_GROUP = 256 };

END_SHARED
