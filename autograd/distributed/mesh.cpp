#include "autograd/distributed/mesh.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <string>

#include "autograd/distributed/error.h"

namespace ocl::distributed {
namespace {

using dlprim::concat;
using dlprim::require;

constexpr std::uint32_t magic = 0x4f434c31;  // "OCL1": changes with the protocol

void copy_text(const std::string& text, char* to, std::size_t room) {
  std::memset(to, 0, room);
  std::memcpy(to, text.data(), std::min(text.size(), room - 1));
}

/** Equal for processes that see one another's processes, memory and network. */
std::string machine() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  if (boot.empty()) return "";
  for (const char* space : {"/proc/self/ns/pid", "/proc/self/ns/net"}) {
    struct stat status{};
    if (::stat(space, &status) == 0) boot += "-" + std::to_string(status.st_ino);
  }
  return boot + "-" + std::to_string(::geteuid());
}

std::uint64_t random_token() {
  std::random_device source;
  return (static_cast<std::uint64_t>(source()) << 32) | source();
}

struct Hello {
  std::uint64_t token;
  std::int32_t rank, plane;
};

std::string text_of(const std::vector<int>& ranks) {
  std::string text;
  for (const int rank : ranks) text += (text.empty() ? "" : ", ") + std::to_string(rank);
  return text;
}

/** Tells a rank that has come why the group does not begin; an empty text: that it does. */
void answer(Socket& socket, const std::string& problem, Clock::time_point deadline) {
  const auto length = static_cast<std::uint32_t>(problem.size());
  socket.send_all(&length, sizeof length, deadline);
  socket.send_all(problem.data(), length, deadline);
}

/** An answer to a rank that may have given up. */
void tell(Socket& socket, const std::string& problem) {
  if (!socket.is_open()) return;
  try {
    answer(socket, problem, deadline_in(Seconds(1)));
  } catch (const DistBackendError&) {
    // It has an error of its own.
  }
}

/** One rank at a time; what does not speak our language is passed over. */
bool receive_card(Socket& socket, Card& card, Clock::time_point deadline) {
  try {
    socket.receive_all(&card, sizeof card, std::min(deadline, deadline_in(Seconds(10))));
    return card.magic == magic;
  } catch (const DistBackendError&) {
    return false;
  }
}

std::vector<Card> host_meeting(const Address& master, const Card& own, Clock::time_point deadline) {
  std::vector<Card> cards(static_cast<std::size_t>(own.size));
  std::vector<Socket> sockets(cards.size());
  cards[0] = own;
  copy_text(master.host, cards[0].host, sizeof own.host);
  if (own.size == 1) return cards;
  Socket listener = Socket::listen(master.port);
  const auto refuse = [&](const std::string& problem) {
    for (Socket& socket : sockets) tell(socket, problem);
    throw DistBackendError(problem);
  };
  for (int missing = own.size - 1; missing > 0;) {
    Socket socket;
    try {
      socket = listener.accept(deadline);
    } catch (const DistBackendError&) {
      std::vector<int> absent;
      for (int rank = 1; rank < own.size; ++rank)
        if (!sockets[static_cast<std::size_t>(rank)].is_open()) absent.push_back(rank);
      refuse(
          concat("rank ", text_of(absent), " did not come to ", to_string(master), " within the time-out"));
    }
    Card card{};
    if (!receive_card(socket, card, deadline)) continue;
    const auto rank = static_cast<std::size_t>(card.rank);
    std::string problem;
    if (card.size != own.size)
      problem = concat("rank 0 has a world size of ", own.size, ", rank ", card.rank, " one of ", card.size);
    else if (card.rank <= 0 || card.rank >= own.size)
      problem = concat("a rank ", card.rank, " has come to a world of ", own.size);
    else if (sockets[rank].is_open())
      problem = concat("two processes have come as rank ", card.rank);
    if (!problem.empty()) {
      tell(socket, problem);
      refuse(problem);
    }
    copy_text(socket.peer_host(), card.host, sizeof card.host);
    cards[rank] = card;
    sockets[rank] = std::move(socket);
    --missing;
  }
  for (std::size_t rank = 1; rank < cards.size(); ++rank) {
    answer(sockets[rank], "", deadline);
    sockets[rank].send_all(cards.data(), cards.size() * sizeof(Card), deadline);
  }
  return cards;
}

}  // namespace

Card own_card(int rank, int size, const Socket& listener) {
  Card card{};
  card.magic = magic;
  card.rank = rank;
  card.size = size;
  card.port = listener.local_port();
  card.process = ::getpid();
  card.token = random_token();
  copy_text(machine(), card.machine, sizeof card.machine);
  return card;
}

std::vector<Card> meet(const Address& master, const Card& own, Clock::time_point deadline) {
  if (own.rank == 0) return host_meeting(master, own, deadline);
  Socket socket = Socket::connect(master, deadline);
  deadline += std::chrono::seconds(2);  // rank 0 knows who has not come
  socket.send_all(&own, sizeof own, deadline);
  std::uint32_t length = 0;
  socket.receive_all(&length, sizeof length, deadline);
  std::string problem(std::min<std::size_t>(length, 4096), ' ');
  socket.receive_all(problem.data(), problem.size(), deadline);
  require<DistBackendError>(problem.empty(), problem);
  std::vector<Card> cards(static_cast<std::size_t>(own.size));
  socket.receive_all(cards.data(), cards.size() * sizeof(Card), deadline);
  return cards;
}

std::vector<Connections> connect(const std::vector<Card>& cards, int rank, Socket& listener,
                                 Clock::time_point deadline) {
  std::vector<Connections> all(cards.size());
  const std::uint64_t token = cards[0].token;
  for (int other = 0; other < rank; ++other) {
    const Card& card = cards[static_cast<std::size_t>(other)];
    for (int plane = 0; plane < planes; ++plane) {
      Socket socket = Socket::connect({card.host, card.port}, deadline);
      const Hello hello{token, rank, plane};
      socket.send_all(&hello, sizeof hello, deadline);
      all[static_cast<std::size_t>(other)].sockets[static_cast<std::size_t>(plane)] = std::move(socket);
    }
  }
  const int size = static_cast<int>(cards.size());
  for (int missing = planes * (size - 1 - rank); missing > 0;) {
    Socket socket = listener.accept(deadline);
    Hello hello{};
    socket.receive_all(&hello, sizeof hello, deadline);
    if (hello.token != token || hello.rank <= rank || hello.rank >= size || hello.plane < 0 ||
        hello.plane >= planes)
      continue;
    all[static_cast<std::size_t>(hello.rank)].sockets[static_cast<std::size_t>(hello.plane)] =
        std::move(socket);
    --missing;
  }
  return all;
}

}  // namespace ocl::distributed
