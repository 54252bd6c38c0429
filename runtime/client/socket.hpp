// A connected socket with deadlines, for the connections beside.
#pragma once

#include "client/connection.hpp"
#include "client/endpoint.hpp"

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

struct addrinfo;  // of <netdb.h>

namespace rkllm_mcp::client {

// The connection of a TCP socket is lost when the other host answers nothing for a minute, asked or not.
void notice_vanished_host(int descriptor);

class Socket {
 public:
  enum class Kind { kStream, kDatagram };

  // Tries every address of the host. Throws ConnectionError, like everything here.
  Socket(Kind kind, const Endpoint& endpoint, Deadline deadline);
  // A socket that is connected already, and will be closed. `where` is for messages.
  Socket(int connected, std::string where);
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();

  void send(std::string_view bytes);  // all of them; a datagram as one
  // Likewise, but never waits: false if they cannot be sent now.
  bool try_send(std::string_view bytes);
  // From any thread: nothing can be sent or received any more, and who waits stops waiting.
  void shut_down();
  // Reads what is there, at least one byte, or one datagram; 0 at the end of a stream; nothing at the deadline.
  std::optional<std::size_t> receive(std::span<char> buffer, Deadline deadline);

 private:
  bool wait_for(short events, Deadline deadline) const;
  void connect_to_file(const std::string& path, Deadline deadline);
  bool try_address(const addrinfo& address, Deadline deadline);

  std::string where_;  // for messages
  int descriptor_ = -1;
  std::atomic<bool> is_shut_down_ = false;
};

}  // namespace rkllm_mcp::client
