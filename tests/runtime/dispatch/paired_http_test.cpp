#include "dispatch/paired_http.hpp"

#include "auth/access_tokens.hpp"
#include "runtime/kept_answer.hpp"
#include "support/catch.hpp"

#include <asio/io_context.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

struct Streams {
  // The status that the stream is refused with; 0 if it is open.
  int open(const std::string& remote, const Principal* holder = nullptr) {
    http::Request request;
    request.method = "GET";
    request.path = "/sse";
    request.remote = remote;
    request.principal = holder;
    exchanges.push_back(std::make_shared<KeptAnswer>());
    paired.open(request, *exchanges.back());
    return exchanges.back()->answer ? exchanges.back()->answer->status : 0;
  }

  asio::io_context loop;
  std::vector<std::shared_ptr<KeptAnswer>> exchanges;
  PairedHttp paired{loop, MemoryBudget(), [](Peer&) { return [](const Received&) {}; }};
};

}  // namespace

TEST_CASE("one owner has a quarter of the event streams at most, and the others their own") {
  Streams streams;
  for (std::size_t at = 0; at < PairedHttp::kMostOfOne; ++at) {
    REQUIRE(streams.open("192.0.2.1:" + std::to_string(at + 1)) == 0);
  }
  CHECK(streams.open("192.0.2.1:1000") == 503);
  CHECK(streams.open("192.0.2.2:1") == 0);
  const Principal laptop{.name = "laptop"};
  CHECK(streams.open("192.0.2.1:1001", &laptop) == 0);
  streams.exchanges.front()->close();
  CHECK(streams.open("192.0.2.1:1002") == 0);
  CHECK(streams.open("192.0.2.1:1003") == 503);
}
