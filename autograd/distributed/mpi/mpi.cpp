#include "autograd/distributed/mpi/mpi.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "autograd/distributed/error.h"

namespace ocl::distributed {
namespace {

using dlprim::concat;
using dlprim::require;

constexpr const char* file_name = "libtapecl_mpi.so";

/** The library's file: the user's, the one beside this code, or wherever the loader finds it. */
std::string file_of_library() {
  if (const char* const chosen = std::getenv("TAPECL_MPI_LIBRARY")) return chosen;
  Dl_info found{};
  if (::dladdr(reinterpret_cast<const void*>(&file_of_library), &found) && found.dli_fname) {
    const auto beside = std::filesystem::path(found.dli_fname).parent_path() / file_name;
    if (std::filesystem::exists(beside)) return beside.string();
  }
  return file_name;
}

/** Loaded once, and never let go. Its symbols are for all: MPI loads parts of its own that need them. */
const TapeclMpi& load() {
  const std::string file = file_of_library();
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  require<DistBackendError>(
      library, "there is no MPI: ", library ? "" : ::dlerror(),
      ". A build of TapeCL makes this library where it finds MPI (Debian: libopenmpi-dev); "
      "TAPECL_MPI_LIBRARY names one that lies elsewhere. The backend \"tcp\" needs none");
  const auto functions = reinterpret_cast<const TapeclMpi* (*)()>(::dlsym(library, "tapecl_mpi"));
  require<DistBackendError>(functions && functions()->version == TAPECL_MPI_VERSION, file,
                            " belongs to another version of TapeCL");
  return *functions();
}

/** Pieces of messages are counted in an int. */
constexpr std::size_t largest_piece = std::size_t{1} << 30;

/** One request at a time each way; MPI tells both ends of pieces in order. */
class MpiChannel final : public Channel {
 public:
  MpiChannel(void* group, int rank, int tag) : group_(group), rank_(rank), tag_(tag) {}
  ~MpiChannel() override {
    for (void* request : {sending_, receiving_})
      if (request) Mpi::of_process().library().drop(request);
  }

  bool send(Outgoing& message) override {
    const bool has_moved = go_on(message, sending_, [&](std::size_t piece, void** request) {
      return Mpi::of_process().library().send(group_, rank_, tag_,
                                              static_cast<const char*>(message.data) + message.done,
                                              static_cast<int>(piece), request);
    });
    return has_moved;
  }

  bool receive(Incoming& message) override {
    const bool has_moved = go_on(message, receiving_, [&](std::size_t piece, void** request) {
      return Mpi::of_process().library().receive(group_, rank_, tag_,
                                                 static_cast<char*>(message.into) + message.done,
                                                 static_cast<int>(piece), request);
    });
    if (message.is_over) message.data = message.into;
    return has_moved;
  }

  /** MPI goes on in calls alone, so its threads may not sleep. Others may run. */
  bool announce_sleep(bool, bool) override {
    std::this_thread::yield();
    return true;
  }
  int socket() const override { return -1; }
  bool sends_by_socket() const override { return false; }

 private:
  template <class Message, class Start>
  bool go_on(Message& message, void*& request, const Start& start) {
    const Mpi& mpi = Mpi::of_process();
    const std::size_t piece = std::min(message.bytes - message.done, largest_piece);
    if (!request && piece) mpi.require_success(start(piece, &request), "MPI_Isend or MPI_Irecv");
    if (request) {
      int is_over = 0;
      mpi.require_success(mpi.library().test(request, &is_over), "MPI_Test");
      if (!is_over) return false;
      request = nullptr;
      message.done += piece;
    }
    message.is_over = message.done == message.bytes;
    return true;
  }

  void* const group_;
  const int rank_, tag_;
  void *sending_ = nullptr, *receiving_ = nullptr;
};

}  // namespace

Mpi::Mpi() : library_(&load()) {
  require_success(library_->start(&rank_, &size_), "MPI_Init_thread");
}

const Mpi& Mpi::of_process() {
  static const auto& mpi = *new Mpi;
  return mpi;
}

void Mpi::require_success(int error, const char* function) const {
  if (!error) return;
  char text[512];
  library_->describe(error, text, sizeof text);
  throw DistBackendError(concat(function, ": ", text));
}

MpiGroup::MpiGroup(const std::vector<int>& ranks, std::uint64_t token) {
  const Mpi& mpi = Mpi::of_process();
  const int tag = static_cast<int>(token & 0x7fff);  // MPI allows no more
  mpi.require_success(mpi.library().open_group(ranks.data(), static_cast<int>(ranks.size()), tag, &group_),
                      "MPI_Comm_create_group");
}

MpiGroup::~MpiGroup() {
  Mpi::of_process().library().close_group(group_);
}

std::unique_ptr<Channel> MpiGroup::channel(int rank, Plane plane) const {
  return std::make_unique<MpiChannel>(group_, rank, static_cast<int>(plane));
}

}  // namespace ocl::distributed
