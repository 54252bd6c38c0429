// A plain blocking TCP client that sends exactly the bytes it is told to; every wait has a deadline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp::test {

class RawClient {
 public:
  struct Options {
    int receive_buffer = 0;  // bytes, 0 = the system's choice
    std::string address = "127.0.0.1";
  };

  // Connects, or throws std::system_error.
  explicit RawClient(std::uint16_t port);
  RawClient(std::uint16_t port, const Options& options);
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient();

  void send(std::string_view bytes);  // all of them; what a closed connection does not take is dropped
  // Sends as long as the other side takes something within 200 ms; says how many bytes it took.
  std::size_t send_until_stuck(std::string_view bytes);
  void finish_sending();  // half-close
  void close();
  void reset();  // as a killed program with unread data does

  std::optional<std::string> read(std::size_t bytes);             // exactly so many
  std::optional<std::string> read_line();                         // without its "\n"
  std::optional<std::string> read_through(std::string_view end);  // up to and including `end`
  std::optional<std::string> read_to_end();                       // nothing if the connection is not closed in time
  bool is_silent_for(int milliseconds);                           // nothing arrives, not even the end

 private:
  bool fill();  // reads some more; false at the end, at a reset, or when the time is over

  int socket_ = -1;
  std::string buffer_;
  bool ended_ = false;
};

}  // namespace rkllm_mcp::test
