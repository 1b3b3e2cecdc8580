#ifndef TAPECL_MPI_LIBRARY_H
#define TAPECL_MPI_LIBRARY_H

/*
 * The functions of MPI that process groups use, in plain C. MPI's own types differ between its makers. So one
 * small library is compiled against each (mpi_library.c), and process groups load it when they are asked for
 * MPI. Functions give 0, or MPI's number of an error.
 */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TapeclMpi {
  int version; /* TAPECL_MPI_VERSION */
  /* Begins MPI for threads, unless the program has; MPI ends with the process. */
  int (*start)(int* rank, int* size);
  /* Gives every process the `bytes` bytes of all, by rank. All processes call it. */
  int (*all_gather)(const void* own, void* all, int bytes);
  /* A communicator of these ranks, numbered in that order; they alone call it, with one tag. */
  int (*open_group)(const int* ranks, int count, int tag, void** group);
  void (*close_group)(void* group);
  /* Begin to move bytes to or from a rank of the group; those of one tag go in order. */
  int (*send)(void* group, int rank, int tag, const void* data, int bytes, void** request);
  int (*receive)(void* group, int rank, int tag, void* data, int bytes, void** request);
  /* Goes on. A request that is over is gone. */
  int (*test)(void* request, int* is_over);
  /* Gives up a request. */
  void (*drop)(void* request);
  void (*describe)(int error, char* text, int room);
} TapeclMpi;

#define TAPECL_MPI_VERSION 1
#define TAPECL_MPI_NO_THREADS (-1) /* start: the program has begun MPI for one thread */
#define TAPECL_MPI_NO_MEMORY (-2)

/* The one function that the library has. */
const TapeclMpi* tapecl_mpi(void);

#ifdef __cplusplus
}
#endif

#endif
