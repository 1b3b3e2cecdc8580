#include "autograd/distributed/channel.h"

namespace ocl::distributed {
namespace {

/** The bytes of messages one after another: both ends know how long each is. */
class TcpChannel final : public Channel {
 public:
  explicit TcpChannel(Socket& socket) : socket_(socket) {}

  bool send(Outgoing& message) override {
    const std::size_t moved = message.done == message.bytes
                                  ? 0
                                  : socket_.send_some(static_cast<const char*>(message.data) + message.done,
                                                      message.bytes - message.done);
    message.done += moved;
    message.is_over = message.done == message.bytes;
    return moved > 0 || message.is_over;
  }

  bool receive(Incoming& message) override {
    const std::size_t moved = message.done == message.bytes
                                  ? 0
                                  : socket_.receive_some(static_cast<char*>(message.into) + message.done,
                                                         message.bytes - message.done);
    message.done += moved;
    message.is_over = message.done == message.bytes;
    if (message.is_over) message.data = message.into;
    return moved > 0 || message.is_over;
  }

  int socket() const override { return socket_.handle(); }
  bool sends_by_socket() const override { return true; }

 private:
  Socket& socket_;
};

}  // namespace

std::unique_ptr<Channel> make_tcp_channel(Socket& socket) {
  return std::make_unique<TcpChannel>(socket);
}

}  // namespace ocl::distributed
