#ifndef TAPECL_H
#define TAPECL_H

/**
 * \file The C interface of the library tapecl_runtime: runs exported programs (files .ocl) on OpenCL devices.
 *
 *     tapecl_program* program;
 *     if (tapecl_load("net.ocl", "ocl:0", &program) != TAPECL_OK) puts(tapecl_last_error());
 *     tapecl_set_input(program, 0, picture, sizeof picture);
 *     tapecl_run(program);
 *     tapecl_get_output(program, 0, scores, sizeof scores);  // waits
 *     tapecl_free(program);
 *
 * A program with dynamic shapes takes inputs of several sizes: tapecl_set_input_shape says which.
 *
 * Names of files are in UTF-8. Functions that can fail return a status; tapecl_last_error() says what failed.
 * No exception leaves the library. Elements are row-major and little-endian. One program must not be used by
 * two threads at once; several programs may.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(TAPECL_BUILDS_RUNTIME)
#define TAPECL_API __declspec(dllexport)
#elif defined(_WIN32)
#define TAPECL_API __declspec(dllimport)
#else
#define TAPECL_API __attribute__((visibility("default")))
#endif

typedef enum tapecl_status {
  TAPECL_OK = 0,
  TAPECL_ERROR_ARGUMENT =
      1,                   /* a null pointer, an index or a name that is not there, a wrong number of bytes */
  TAPECL_ERROR_FILE = 2,   /* the file is missing, damaged, or no program */
  TAPECL_ERROR_DEVICE = 3, /* there is no such device, or it failed */
  TAPECL_ERROR_MEMORY = 4, /* the device or the host has too little memory */
  TAPECL_ERROR_OTHER = 5,
  TAPECL_ERROR_PRIMITIVE = 6 /* the program calls a primitive that this build of the library leaves out */
} tapecl_status;

/** A program on a device. */
typedef struct tapecl_program tapecl_program;

#define TAPECL_MAX_RANK 8

/** Describes an input or a result, of the sizes that are set. `name` and `dtype` ("float32", "int64", "bool",
 * ...) live as long as the program. */
typedef struct tapecl_tensor {
  const char* name;
  const char* dtype;
  int32_t rank;
  int64_t shape[TAPECL_MAX_RANK]; /* the first `rank` */
  size_t bytes;                   /* of all elements */
} tapecl_tensor;

/** The message of the last call of this thread that failed; empty before any. Stands until its next call. */
TAPECL_API const char* tapecl_last_error(void);

/** Loads a program for a device ("ocl:0", "cpu", "gpu:1"). The caller frees it. */
TAPECL_API tapecl_status tapecl_load(const char* path, const char* device, tapecl_program** program);
/**
 * Lets the program use the kernels' binaries in its file that were made for this device and driver, so that
 * its first run builds nothing. To be called after tapecl_load and before the first run. Other binaries, and
 * a file without any, are no error: kernels are built from source then.
 *
 * A binary is native code. Drivers load it unchecked, and it runs with the rights of your process. It goes
 * into your kernel cache, where later processes find it for all programs. Call this for files alone whose
 * maker you trust as you trust a program's; tapecl_load itself never uses binaries.
 */
TAPECL_API tapecl_status tapecl_trust_binaries(tapecl_program* program);

/** Waits for nothing; null is allowed. */
TAPECL_API void tapecl_free(tapecl_program* program);

TAPECL_API size_t tapecl_input_count(const tapecl_program* program);
TAPECL_API size_t tapecl_output_count(const tapecl_program* program);
TAPECL_API tapecl_status tapecl_input(const tapecl_program* program, size_t index, tapecl_tensor* tensor);
TAPECL_API tapecl_status tapecl_output(const tapecl_program* program, size_t index, tapecl_tensor* tensor);

/** The bounds of dimension `dimension` of an input, both included, and the name of its size: dimensions of
 * one name have one size. Where the size is given, both bounds are that, and the name is empty. */
TAPECL_API tapecl_status tapecl_input_bounds(const tapecl_program* program, size_t index, int32_t dimension,
                                             const char** name, int64_t* least, int64_t* greatest);
/** The sizes that an input has from now on, within its bounds; first they are the greatest. To be called
 * before tapecl_set_input, for each input whose sizes change. Results have their sizes from then on. */
TAPECL_API tapecl_status tapecl_set_input_shape(tapecl_program* program, size_t index, const int64_t* shape,
                                                int32_t rank);
/** Copies an input's elements to the device; the caller's memory is free on return. Needed before each run.
 */
TAPECL_API tapecl_status tapecl_set_input(tapecl_program* program, size_t index, const void* data,
                                          size_t bytes);
/** Enqueues the work. Does not wait. Fails where the sizes of inputs contradict each other. */
TAPECL_API tapecl_status tapecl_run(tapecl_program* program);
/** Waits, and copies a result's elements to `data`. */
TAPECL_API tapecl_status tapecl_get_output(tapecl_program* program, size_t index, void* data, size_t bytes);

/** Waits, and copies a state (a parameter that the program trains) or a constant to `data`; how many bytes it
 * has, if `data` is null, to `bytes`. */
TAPECL_API tapecl_status tapecl_get_state(tapecl_program* program, const char* name, void* data,
                                          size_t* bytes);
/** Writes the program with its states as they are now. Waits. */
TAPECL_API tapecl_status tapecl_save(tapecl_program* program, const char* path);

#ifdef __cplusplus
}
#endif

#endif
