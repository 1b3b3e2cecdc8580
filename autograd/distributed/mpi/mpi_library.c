#include "autograd/distributed/mpi/mpi_library.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static void finish(void) {
  int is_over = 0;
  MPI_Finalized(&is_over);
  if (!is_over) MPI_Finalize();
}

static int start(int* rank, int* size) {
  int has_begun = 0, threads = MPI_THREAD_SINGLE;
  int error = MPI_Initialized(&has_begun);
  if (error) return error;
  if (has_begun) {
    error = MPI_Query_thread(&threads);
  } else {
    error = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &threads);
    if (!error) atexit(finish);
  }
  if (error) return error;
  if (threads < MPI_THREAD_MULTIPLE) return TAPECL_MPI_NO_THREADS;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  error = MPI_Comm_rank(MPI_COMM_WORLD, rank);
  return error ? error : MPI_Comm_size(MPI_COMM_WORLD, size);
}

static int all_gather(const void* own, void* all, int bytes) {
  return MPI_Allgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static int open_group(const int* ranks, int count, int tag, void** group) {
  MPI_Comm* made = malloc(sizeof *made);
  MPI_Group world, chosen;
  int error;
  if (!made) return TAPECL_MPI_NO_MEMORY;
  error = MPI_Comm_group(MPI_COMM_WORLD, &world);
  if (!error) {
    error = MPI_Group_incl(world, count, ranks, &chosen);
    if (!error) {
      error = MPI_Comm_create_group(MPI_COMM_WORLD, chosen, tag, made);
      MPI_Group_free(&chosen);
    }
    MPI_Group_free(&world);
  }
  if (!error) error = MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
  if (error) {
    free(made);
    return error;
  }
  *group = made;
  return 0;
}

/* The communicator stays MPI's: to free it is a call of all ranks, some of which may have ended. */
static void close_group(void* group) {
  free(group);
}

static int move(int is_send, void* group, int rank, int tag, void* data, int bytes, void** request) {
  MPI_Request* made = malloc(sizeof *made);
  const MPI_Comm communicator = *(MPI_Comm*)group;
  int error;
  if (!made) return TAPECL_MPI_NO_MEMORY;
  error = is_send ? MPI_Isend(data, bytes, MPI_BYTE, rank, tag, communicator, made)
                  : MPI_Irecv(data, bytes, MPI_BYTE, rank, tag, communicator, made);
  if (error) {
    free(made);
    return error;
  }
  *request = made;
  return 0;
}

static int send(void* group, int rank, int tag, const void* data, int bytes, void** request) {
  return move(1, group, rank, tag, (void*)data, bytes, request);
}

static int receive(void* group, int rank, int tag, void* data, int bytes, void** request) {
  return move(0, group, rank, tag, data, bytes, request);
}

static int test(void* request, int* is_over) {
  const int error = MPI_Test(request, is_over, MPI_STATUS_IGNORE);
  if (!error && *is_over) free(request);
  return error;
}

static void drop(void* request) {
  int is_over = 0;
  MPI_Finalized(&is_over);
  if (!is_over) {
    MPI_Cancel(request);
    MPI_Request_free(request);
  }
  free(request);
}

static void describe(int error, char* text, int room) {
  char found[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  if (error == TAPECL_MPI_NO_THREADS)
    strcpy(found, "the program has begun MPI without MPI_THREAD_MULTIPLE");
  else if (error == TAPECL_MPI_NO_MEMORY)
    strcpy(found, "there is no memory");
  else
    MPI_Error_string(error, found, &length);
  strncpy(text, found, (size_t)room - 1);
  text[room - 1] = 0;
}

const TapeclMpi* tapecl_mpi(void) {
  static const TapeclMpi functions = {
      TAPECL_MPI_VERSION, start, all_gather, open_group, close_group, send, receive, test, drop, describe};
  return &functions;
}
