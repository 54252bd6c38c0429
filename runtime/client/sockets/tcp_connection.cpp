#include "client/sockets/tcp_connection.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace rkllm_mcp::client {
namespace {

constexpr std::size_t kKeptBytes = std::size_t{1} << 20U;  // memory of a longer message is given back

}  // namespace

void TcpConnection::send(std::string_view message) { socket_.send(std::string(message) + "\n"); }

std::optional<std::string> TcpConnection::receive(Deadline deadline) {
  for (;;) {
    const auto newline = received_.find('\n', searched_);
    if (std::min(newline, received_.size()) - taken_ > longest_) throw ConnectionError(where_ + ": " + kTooLong);
    if (newline != std::string::npos) {
      std::string line = received_.substr(taken_, newline - taken_);
      taken_ = searched_ = newline + 1;
      if (line.ends_with('\r')) line.pop_back();
      return line;
    }
    received_.erase(0, std::exchange(taken_, 0));
    if (received_.empty() && received_.capacity() > kKeptBytes) received_.shrink_to_fit();
    searched_ = received_.size();
    std::array<char, 65536> buffer;
    const auto size = socket_.receive(buffer, deadline);
    if (!size) return std::nullopt;
    if (*size == 0) throw ConnectionError("the server has closed the connection");
    received_.append(buffer.data(), *size);
  }
}

}  // namespace rkllm_mcp::client
