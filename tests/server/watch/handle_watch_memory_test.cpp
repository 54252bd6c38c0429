// Changes of handles that there is no memory to tell of.
#include "watch/handle_watch.hpp"

#include "runtime/fake_client.hpp"
#include "support/catch.hpp"
#include "support/failing_heap.hpp"

#include <vector>

namespace rkllm_mcp::test {

TEST_CASE("a change that there is no memory for ends nothing, and the next one is told") {
  Client client;
  client.say(call("0", "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})"));
  client.say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  client.say(call("1", "resources/subscribe", R"({"uri":"rkllm://handles"})"));
  int looks = 0;
  HandleWatch watch(client.loop, client.dispatcher.mcp(), [&looks] {
    ++looks;
    return std::vector<QueuedBackend::HandleStatus>();
  });
  at_each_allocation([&] { watch.note_change("llm-1"); },
                     [&](bool has_thrown) {
                       CHECK_FALSE(has_thrown);
                       watch.note_change("llm-1");
                       const int before = looks;
                       client.loop.restart();
                       while (looks == before && client.loop.run_one() > 0) {
                       }
                       CHECK(looks == before + 1);
                     });
}

}  // namespace rkllm_mcp::test
