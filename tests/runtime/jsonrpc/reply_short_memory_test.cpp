// Memory that runs out while a request is answered: it is still to be answered then.
#include "jsonrpc/reply.hpp"

#include "runtime/fake_backend.hpp"
#include "support/catch.hpp"
#include "support/failing_heap.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;

TEST_CASE("a request whose last message finds no memory, or none to be kept in, is still to be answered") {
  const auto peer = std::make_shared<test::FakePeer>();
  std::shared_ptr<Reply> reply;
  std::string text;
  std::size_t looked_at = 0;
  const auto begin = [&] {
    peer->sent.clear();
    peer->sent.shrink_to_fit();
    reply = std::make_shared<Reply>(*peer, "1");
    reply->on_last([&looked_at](std::optional<std::string_view> last) { looked_at = last.value_or("").size(); });
    text = std::string(1000, 'x');
  };
  begin();
  int failures = 0;
  test::at_each_allocation([&] { reply->last(std::move(text)); },
                           [&](bool has_thrown) {
                             failures += has_thrown ? 1 : 0;
                             CHECK(reply->answered() != has_thrown);
                             if (has_thrown) reply->last("again");
                             CHECK(peer->sent.size() == 1);
                             CHECK(looked_at == (has_thrown ? 5 : 1000));
                             begin();
                           });
  CHECK(failures >= 2);  // of the copy that is kept, and of what is sent
}
