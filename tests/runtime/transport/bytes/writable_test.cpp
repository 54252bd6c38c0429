#include "transport/bytes/writable.hpp"

#include "support/catch.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;

namespace {

using Happenings = std::vector<std::string>;

// A client that takes more, or goes, when the test says so.
class WritableClient final : public Writable {
 public:
  bool ready() const override { return is_ready_; }
  bool closed() const override { return is_closed_; }
  bool has_room_for(std::size_t /*bytes*/) const override { return true; }

  void take_more() {
    is_ready_ = true;
    became_ready();
  }
  void go() {
    is_closed_ = true;
    became_closed();
  }
  std::function<void()> note(const std::string& what) {
    return [this, what] { happened.push_back(what); };
  }
  Happenings told() { return std::exchange(happened, {}); }

  Happenings happened;

 private:
  bool is_ready_ = false;
  bool is_closed_ = false;
};

std::string complaint_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("who waits for a client to take more is told once, in turn, and not before") {
  WritableClient client;
  client.when_ready(client.note("1"));
  client.when_ready(client.note("2"));
  CHECK(client.told().empty());
  client.take_more();
  CHECK(client.told() == Happenings{"1", "2"});
  client.take_more();
  CHECK(client.told().empty());
}

TEST_CASE("who waits again from inside its action is told the next time") {
  WritableClient client;
  client.when_ready([&client] {
    client.happened.emplace_back("1");
    client.when_ready(client.note("2"));
  });
  client.take_more();
  CHECK(client.told() == Happenings{"1"});
  client.take_more();
  CHECK(client.told() == Happenings{"2"});
}

TEST_CASE("who waits for the end of a client is told once, in turn, and who waited for it to take more is not") {
  WritableClient client;
  client.when_ready(client.note("ready"));
  client.when_closed(client.note("1"));
  client.when_closed(client.note("2"));
  CHECK(client.told().empty());
  client.go();
  CHECK(client.told() == Happenings{"1", "2"});
  client.go();
  client.take_more();
  CHECK(client.told().empty());
}

TEST_CASE("of a client that has gone one is told at once, also from inside the end of it") {
  WritableClient client;
  client.when_closed([&client] { client.when_closed(client.note("inside")); });
  client.go();
  CHECK(client.told() == Happenings{"inside"});
  client.when_closed(client.note("later"));
  CHECK(client.told() == Happenings{"later"});
}

TEST_CASE("an action that throws keeps nobody else from being told, and what it throws goes on") {
  WritableClient client;
  const auto fault = [] { throw std::runtime_error("a fault"); };
  client.when_ready(client.note("1"));
  client.when_ready(fault);
  client.when_ready(client.note("2"));
  CHECK(complaint_of([&client] { client.take_more(); }) == "a fault");
  CHECK(client.told() == Happenings{"1", "2"});
  CHECK_NOTHROW(client.take_more());

  client.when_closed(fault);
  client.when_closed(client.note("3"));
  CHECK(complaint_of([&client] { client.go(); }) == "a fault");
  CHECK(client.told() == Happenings{"3"});
  CHECK_NOTHROW(client.go());
}

TEST_CASE("what is kept for who waits is let go of when it has been told") {
  WritableClient client;
  const auto kept = std::make_shared<int>();
  client.when_ready([kept] {});
  client.when_closed([kept] {});
  CHECK(kept.use_count() == 3);
  client.take_more();
  CHECK(kept.use_count() == 2);
  client.when_ready([kept] {});
  client.go();
  CHECK(kept.use_count() == 1);
}
