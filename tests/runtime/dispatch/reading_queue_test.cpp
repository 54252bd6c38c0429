#include "dispatch/reading_queue.hpp"

#include "support/catch.hpp"

#include <asio/io_context.hpp>

#include <set>
#include <string>
#include <vector>

using namespace rkllm_mcp;

namespace {

// The loop runs only inside settle(): what is added before waits behind the first piece, which the thread has at once.
struct Readers {
  void add(const std::string& client, std::size_t bytes, const std::string& name) {
    queue.add({client, bytes, [this, name] { return gone.count(name) == 0; }, [this, name] { worked.insert(name); },
               [this, name] { order.push_back(name); }});
  }
  void settle() {
    loop.restart();
    loop.run();
  }

  asio::io_context loop;
  std::set<std::string> gone;
  std::set<std::string> worked;  // one piece at a time, and read when all have come to their end
  std::vector<std::string> order;
  ReadingQueue queue{loop};
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("long messages: a client's shortest and oldest take turns") {
  Readers readers;
  readers.add("a", 9, "first");
  for (const std::string each : {"1", "2", "3"}) readers.add("a", 8'000'000, each);
  readers.add("a", 70'000, "short");
  readers.add("a", 80'000, "shorter than most");
  readers.settle();
  CHECK(readers.order == Names{"first", "short", "1", "shorter than most", "2", "3"});
}

TEST_CASE("long messages: clients take turns, however many of one wait") {
  Readers readers;
  readers.add("a", 9, "first");
  for (const std::string each : {"1", "2", "3"}) readers.add("a", 100'000, each);
  readers.add("b", 8'000'000, "of b");
  readers.add("c", 8'000'000, "of c");
  readers.settle();
  CHECK(readers.order == Names{"first", "of b", "of c", "1", "2", "3"});
}

TEST_CASE("long messages: what nobody waits for any more is not parsed, and holds nobody up") {
  Readers readers;
  readers.add("a", 9, "first");
  for (const std::string each : {"1", "2", "3"}) readers.add("a", 1, each);
  readers.add("a", 100'000, "last");
  readers.gone = {"1", "2", "3"};
  readers.settle();
  CHECK(readers.order == Names{"first", "last"});
  CHECK(readers.worked == std::set<std::string>{"first", "last"});
}

TEST_CASE("long messages: one that comes while another one is taken is taken, too") {
  Readers readers;
  readers.queue.add({"a", 9, [] { return true; }, [] {}, [&] { readers.add("a", 9, "later"); }});
  readers.settle();
  CHECK(readers.order == Names{"later"});
}
