// A connection without manners, over TCP or to a Unix socket: bytes as the test wants them, half-closed, reset, or
// never read.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp::test {

class RawSocket {
 public:
  using Duration = std::chrono::milliseconds;
  static constexpr Duration kPatience{60'000};
  static constexpr int kUsualBuffer = 0;

  // Connects to this machine. With a `receive_buffer` the kernel holds no more bytes than about that for a reader that
  // does not read. Throws std::system_error, as send() does, and std::invalid_argument for a path that is too long.
  explicit RawSocket(std::uint16_t port, int receive_buffer = kUsualBuffer, const std::string& address = "127.0.0.1");
  explicit RawSocket(const std::string& path);
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;
  ~RawSocket() { close(); }

  void send(std::string_view bytes);  // all of them, at once
  // Sends as long as the other side goes on taking something within `patience`, and has not closed the connection. Says
  // how many bytes could be sent.
  std::size_t send_some(std::string_view bytes, Duration patience = kPatience);
  // The bytes up to and including `mark`. This and the next three throw std::runtime_error if the bytes do not come.
  std::string receive_until(std::string_view mark, Duration patience = kPatience);
  std::string receive_line();                                             // without its "\n"
  std::string receive(std::size_t bytes, Duration patience = kPatience);  // exactly so many
  std::string receive_rest();  // until the other side ends the connection; throws if it does not
  std::string receive_available();
  bool is_silent_for(Duration time);  // nothing comes, not even the end
  // Reads on and forgets; true if the other side has ended or reset the connection within the time.
  bool ends(Duration patience = kPatience);

  void finish_sending();  // the other direction stays open
  void reset();           // the other side gets an error instead of an end
  void close();

 private:
  enum class Read { kBytes, kEnd, kTimeout };
  Read read_some(std::chrono::steady_clock::time_point deadline);

  int descriptor_ = -1;
  std::string received_;
};

}  // namespace rkllm_mcp::test
