#include "watch/handle_watch.hpp"

#include "runtime/fake_client.hpp"
#include "simulation/sim_bench.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLong{10'000};

QueuedBackend::HandleStatus idle(const std::string& id) {
  QueuedBackend::HandleStatus handle{};
  handle.id = id;
  return handle;
}

// A watch of handles that the test makes up, and a client that may subscribe to them.
struct WatchBench {
  WatchBench() {
    client.say(call("0", "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})"));
    client.say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  }

  void subscribe(const std::string& uri) {
    client.say(call("1", "resources/subscribe", Json{{"uri", uri}}.dump()));
    client.peer->sent.clear();
  }
  void unsubscribe(const std::string& uri) {
    client.say(call("1", "resources/unsubscribe", Json{{"uri", uri}}.dump()));
    client.peer->sent.clear();
  }
  void subscribe_to_all() {
    for (const char* end : {"", "/a", "/b", "/c"}) subscribe("rkllm://handles" + std::string(end));
  }
  // The resources that the client is told of by what happens in that time, without "rkllm://handles".
  std::multiset<std::string> told(Clock::duration time = kLong) {
    bench.settle();  // what was noted comes to the loop before the time passes
    bench.pass(time);
    client.settle();
    std::multiset<std::string> ends;
    for (const std::string& text : client.peer->sent) {
      const Json message = Json::parse(text);
      CHECK(message["method"] == "notifications/resources/updated");
      ends.insert(message["params"]["uri"].get<std::string>().substr(std::string("rkllm://handles").size()));
    }
    client.peer->sent.clear();
    return ends;
  }
  std::multiset<std::string> told_of_change(const std::string& handle = {}) {
    watch.note_change(handle);
    return told();
  }

  simulation::SimBench bench;
  Client client;
  std::vector<QueuedBackend::HandleStatus> handles{idle("a"), idle("b")};
  std::size_t looks = 0;
  HandleWatch watch{bench.loop(), client.dispatcher.mcp(), [this] {
                      ++looks;
                      return handles;
                    }};
};

using Ends = std::multiset<std::string>;

}  // namespace

TEST_CASE("nothing is looked at while nobody has subscribed") {
  WatchBench bench;
  CHECK(bench.told_of_change("a") == Ends{});
  bench.subscribe("a://1");
  CHECK(bench.told_of_change("a") == Ends{});
  CHECK(bench.looks == 0);
}

TEST_CASE("at the first change a client is told of everything that it has subscribed to") {
  WatchBench bench;
  bench.subscribe_to_all();
  CHECK(bench.told() == Ends{});
  CHECK(bench.told_of_change() == Ends{"", "/a", "/b"});
  bench.unsubscribe("rkllm://handles/b");
  CHECK(bench.told_of_change() == Ends{});
}

TEST_CASE("changes are told a little later, once for all until then") {
  WatchBench bench;
  bench.subscribe_to_all();
  bench.watch.note_change("a");
  CHECK(bench.told(milliseconds(49)) == Ends{});
  bench.watch.note_change("b");
  bench.watch.note_change("a");
  CHECK(bench.told(milliseconds(1)) == Ends{"", "/a", "/b"});
  CHECK(bench.told() == Ends{});
  CHECK(bench.looks == 1);
}

TEST_CASE("afterwards only what has changed is told, and not that a call waits longer") {
  WatchBench bench;
  bench.subscribe_to_all();
  bench.handles[1].queue.push_back({"rkllm_run", "7", "tcp", milliseconds(5)});
  bench.told_of_change();
  bench.handles[0].running = true;
  CHECK(bench.told_of_change("a") == Ends{"", "/a"});
  bench.handles[1].queue[0].since = milliseconds(5000);
  CHECK(bench.told_of_change("b") == Ends{});
  bench.handles[1].queue.clear();
  CHECK(bench.told_of_change("b") == Ends{"", "/b"});
}

TEST_CASE("handles that come and go are told of, also those that have come and gone between two looks") {
  WatchBench bench;
  bench.subscribe_to_all();
  bench.told_of_change();
  bench.handles.push_back(idle("c"));
  CHECK(bench.told_of_change("c") == Ends{"", "/c"});
  bench.handles.pop_back();
  CHECK(bench.told_of_change("c") == Ends{"", "/c"});
  CHECK(bench.told_of_change("c") == Ends{"/c"});
  CHECK(bench.told_of_change() == Ends{});
}

TEST_CASE("who subscribes after a time without subscribers is told of everything again") {
  WatchBench bench;
  bench.subscribe("rkllm://handles/a");
  CHECK(bench.told_of_change() == Ends{"/a"});
  bench.unsubscribe("rkllm://handles/a");
  CHECK(bench.told_of_change() == Ends{});
  bench.subscribe("rkllm://handles/a");
  CHECK(bench.told_of_change() == Ends{"/a"});
}

TEST_CASE("nothing is looked at after the stop, whether a change was noted before or after it") {
  WatchBench bench;
  bench.subscribe_to_all();
  SECTION("before, and the loop has not heard of it") { bench.watch.note_change("a"); }
  SECTION("before, and the loop waits for more") {
    bench.watch.note_change("a");
    bench.told(milliseconds(10));
  }
  bench.watch.stop();
  CHECK(bench.told_of_change("b") == Ends{});
  CHECK(bench.looks == 0);
}

}  // namespace rkllm_mcp::test
