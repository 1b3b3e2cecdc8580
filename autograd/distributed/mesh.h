#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "autograd/distributed/socket.h"

namespace ocl::distributed {

/** The facts a rank gives the others about itself. It travels as bytes between builds of one version. */
struct Card {
  std::uint32_t magic;
  std::int32_t rank, size, port;
  std::int64_t process;
  std::uint64_t token;  // rank 0's: which group connections belong to
  char host[64];        // as rank 0 sees it
  char machine[128];    // equal for ranks that can share memory
};

/** The purposes of connections between two ranks are for. */
enum class Plane { control, collectives, messages };
constexpr int planes = 3;

/** The connections to one other rank; none of them to oneself. */
struct Connections {
  std::array<Socket, planes> sockets;
  Socket& operator[](Plane plane) { return sockets[static_cast<std::size_t>(plane)]; }
};

/** The card of this process, whose `listener` waits for others of the group. */
Card own_card(int rank, int size, const Socket& listener);

/**
 * Every rank's card, by rank: all meet at rank 0, which listens at `master`. Throws DistBackendError that
 * names the ranks that did not come, came twice, or have another world size.
 */
std::vector<Card> meet(const Address& master, const Card& own, Clock::time_point deadline);

/** Connections to every other rank, by rank. */
std::vector<Connections> connect(const std::vector<Card>& cards, int rank, Socket& listener,
                                 Clock::time_point deadline);

}  // namespace ocl::distributed
