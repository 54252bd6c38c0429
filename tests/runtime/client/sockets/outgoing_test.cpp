#include "client/sockets/socket.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <string>

namespace rkllm_mcp::client {

TEST_CASE("what waits to be sent leaves in its order, in whatever pieces it comes and goes") {
  Outgoing outgoing;
  CHECK(outgoing.empty());
  std::string added;
  std::string sent;
  std::size_t step = 1;
  while (added.size() < 100'000) {
    const std::string piece(step % 97, static_cast<char>('a' + step % 26));
    outgoing.add(piece);
    added += piece;
    const std::size_t taken = std::min(outgoing.rest().size(), step * 7 % 61);
    sent += outgoing.rest().substr(0, taken);
    outgoing.sent(taken);
    ++step;
  }
  CHECK(outgoing.empty() == (sent.size() == added.size()));
  sent += outgoing.rest();
  outgoing.sent(outgoing.rest().size());
  CHECK(outgoing.empty());
  CHECK(sent == added);
}

// Each erased from the front, these would move 64 MB a million times.
TEST_CASE("a very long message that is taken in small pieces is not moved for each of them") {
  Outgoing outgoing;
  outgoing.add(std::string(std::size_t{64} << 20U, 'x'));
  std::size_t pieces = 0;
  for (; !outgoing.empty(); ++pieces) outgoing.sent(std::min<std::size_t>(outgoing.rest().size(), 64));
  CHECK(pieces == 1U << 20U);
}

}  // namespace rkllm_mcp::client
