#include "client/sockets/tcp_connection.hpp"

#include "client/sockets/spoken_protocol.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace rkllm_mcp::client {
namespace {

constexpr std::size_t kKeptBytes = std::size_t{1} << 20U;  // memory of a longer message is given back

}  // namespace

void TcpConnection::send(std::string_view message) { socket_.send(std::string(message) + "\n"); }

std::optional<std::string> TcpConnection::receive(Clock::time_point deadline) {
  for (;;) {
    const auto newline = received_.find('\n', searched_);
    if (std::min(newline, received_.size()) - taken_ > longest_) throw ConnectionError(where_ + ": " + kTooLong);
    if (newline != std::string::npos) {
      std::string line = received_.substr(taken_, newline - taken_);
      taken_ = searched_ = newline + 1;
      if (line.ends_with('\r')) line.pop_back();
      if (!std::exchange(has_spoken_, true) && line.starts_with("HTTP/")) refuse_other_protocol("that is no message");
      return line;
    }
    received_.erase(0, std::exchange(taken_, 0));
    if (received_.empty() && received_.capacity() > kKeptBytes) received_.shrink_to_fit();
    searched_ = received_.size();
    std::array<char, 65536> buffer;
    const auto size = receive_some(buffer, deadline);
    if (!size) return std::nullopt;
    if (*size == 0 && !has_spoken_) refuse_other_protocol("the server has closed the connection");
    if (*size == 0) throw ConnectionError("the server has closed the connection");
    received_.append(buffer.data(), *size);
  }
}

// A server that does not understand what it got may reset the connection.
std::optional<std::size_t> TcpConnection::receive_some(std::span<char> buffer, Clock::time_point deadline) try {
  return socket_.receive(buffer, deadline);
} catch (const ConnectionError& error) {
  if (has_spoken_ || is_interrupted_ || !endpoint_) throw;
  throw ConnectionError(error.what() + hint_at_protocol(*endpoint_));
}

void TcpConnection::refuse_other_protocol(const std::string& what) const {
  if (!endpoint_) throw ConnectionError(what);
  // What is spoken inside TLS the hint cannot tell.
  const bool is_https = endpoint_->speaks_tls() && received_.starts_with("HTTP/");
  throw ConnectionError(where_ + ": " + what +
                        (is_https ? "; that port speaks HTTP: use https:// or wss://" : hint_at_protocol(*endpoint_)));
}

}  // namespace rkllm_mcp::client
