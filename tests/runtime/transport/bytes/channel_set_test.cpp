#include "transport/bytes/channel_set.hpp"

#include "support/catch.hpp"
#include "support/raw_socket.hpp"
#include "support/usual_limits.hpp"
#include "support/waiting_loop.hpp"
#include "transport/bytes/channel.hpp"
#include "transport/bytes/socket_stream.hpp"

#include <asio/ip/tcp.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp::test {
namespace {

// What becomes of one connection of a set.
struct Course {
  bool is_told_to_go = false;
  bool is_closed = false;
};

// Ends its connection when its client does, or with a goodbye.
class OwnerInSet final : public Channel::Owner {
 public:
  OwnerInSet(Channel& channel, Course& course) : channel_(channel), course_(course) {}

  void channel_received(std::string_view /*bytes*/) override {}
  void channel_ended() override { channel_.close(); }
  void channel_ready() override {}
  void channel_closed() override { course_.is_closed = true; }
  void go_away() override {
    course_.is_told_to_go = true;
    channel_.write({"goodbye"});
    channel_.close();
  }

 private:
  Channel& channel_;
  Course& course_;
};

// Real connections, in the thread of the test.
struct Connections {
  struct One {
    explicit One(std::uint16_t port) : client(port) {}
    RawSocket client;
    std::shared_ptr<Channel> channel;  // which the test keeps until it lets go of it
    Course course;
  };

  One& connect() {
    One& one = all.emplace_back(acceptor.local_endpoint().port());
    const auto limits = usual_limits<ConnectionLimits>();
    one.channel = std::make_shared<Channel>(
        loop.loop(), std::make_unique<SocketStream>(acceptor.accept(loop.loop()), limits), limits);
    one.channel->start(std::make_shared<OwnerInSet>(*one.channel, one.course));
    return one;
  }
  One& add_to(ChannelSet& set, const std::string& client = {}) {
    One& one = connect();
    set.add(*one.channel, client);
    return one;
  }

  WaitingLoop loop;
  asio::ip::tcp::acceptor acceptor{loop.loop(), {asio::ip::address_v4::loopback(), 0}};
  std::list<One> all;
};

ConnectionLimits limits_of_set(std::size_t most, std::size_t most_per_peer) {
  auto limits = usual_limits<ConnectionLimits>();
  limits.max_connections = most;
  limits.max_connections_per_peer = most_per_peer;
  return limits;
}

}  // namespace

TEST_CASE("a set keeps its connections, and counts them, until they have closed") {
  Connections connections;
  ChannelSet set;
  auto& first = connections.add_to(set);
  auto& second = connections.add_to(set);
  CHECK(set.size() == 2);
  const std::weak_ptr<Channel> weak = first.channel;
  first.channel.reset();
  CHECK_FALSE(weak.expired());
  first.client.close();
  CHECK(connections.loop.until([&] { return set.size() == 1; }));
  CHECK(connections.loop.until([&] { return weak.expired(); }));
  CHECK(first.course.is_closed);
  CHECK_FALSE(second.course.is_closed);
}

TEST_CASE("a limit keeps the connection out that is one too many, of all or of one client, until another has closed") {
  Connections connections;
  ChannelSet set;
  const auto limits = limits_of_set(3, 2);
  CHECK_FALSE(set.objection("one", limits));
  connections.add_to(set, "one");
  CHECK_FALSE(set.objection("one", limits));
  auto& second = connections.add_to(set, "one");
  CHECK(set.objection("one", limits) == Limit::kConnectionsPerPeer);
  CHECK_FALSE(set.objection("other", limits));
  auto& third = connections.add_to(set, "other");
  for (const char* const client : {"one", "other", "new"}) CHECK(set.objection(client, limits) == Limit::kConnections);

  third.client.close();
  CHECK(connections.loop.until([&] { return set.size() == 2; }));
  CHECK(set.objection("one", limits) == Limit::kConnectionsPerPeer);
  CHECK_FALSE(set.objection("other", limits));
  second.client.close();
  CHECK(connections.loop.until([&] { return set.size() == 1; }));
  CHECK_FALSE(set.objection("one", limits));
}

TEST_CASE("a limit of nothing keeps everybody out") {
  const ChannelSet set;
  CHECK(set.objection("one", limits_of_set(0, 2)) == Limit::kConnections);
}

TEST_CASE("connections that are asked to close say goodbye first") {
  Connections connections;
  ChannelSet set;
  auto& first = connections.add_to(set);
  auto& second = connections.add_to(set);
  set.close_all();
  connections.loop.settle();
  for (auto* const one : {&first, &second}) {
    CHECK(one->course.is_told_to_go);
    CHECK(one->client.receive_rest() == "goodbye");
    one->client.close();
  }
  CHECK(connections.loop.until([&] { return set.size() == 0; }));
  CHECK(first.course.is_closed);
  set.close_all();
}

TEST_CASE("connections that are aborted end at once, of which their owners are told by the loop") {
  Connections connections;
  ChannelSet set;
  auto& first = connections.add_to(set);
  auto& second = connections.add_to(set);
  set.abort_all();
  CHECK_FALSE(first.course.is_closed);
  CHECK(set.size() == 2);
  connections.loop.settle();
  CHECK(set.size() == 0);
  for (auto* const one : {&first, &second}) {
    CHECK(one->course.is_closed);
    CHECK_FALSE(one->course.is_told_to_go);
    CHECK(one->client.receive_rest().empty());
  }
}

TEST_CASE("the end of a set is that of its connections, of which nobody is told") {
  Connections connections;
  std::optional<ChannelSet> set{std::in_place};
  auto& one = connections.add_to(*set, "one");
  const std::weak_ptr<Channel> weak = one.channel;
  one.channel.reset();
  set.reset();
  CHECK(one.client.receive_rest().empty());
  connections.loop.settle();
  CHECK(weak.expired());
  CHECK_FALSE(one.course.is_closed);
  CHECK_FALSE(one.course.is_told_to_go);
}

TEST_CASE("a set may end while its connections do") {
  Connections connections;
  std::optional<ChannelSet> set{std::in_place};
  auto& one = connections.add_to(*set, "one");
  set->abort_all();
  set.reset();
  CHECK_NOTHROW(connections.loop.settle());
  CHECK(one.client.receive_rest().empty());
}

TEST_CASE("a client that is refused is told why, before its connection closes") {
  Connections connections;
  RefusedConnections refused;
  auto& one = connections.connect();
  refused.add(*one.channel, "too many");
  connections.loop.settle();
  CHECK(one.client.receive_rest() == "too many");
}

TEST_CASE("so many clients are refused with a word at a time, and others when these have gone") {
  constexpr std::size_t kAtATime = 64;
  Connections connections;
  RefusedConnections refused;
  for (std::size_t i = 0; i < kAtATime; ++i) {
    CHECK(refused.has_room());
    refused.add(*connections.connect().channel, "too many");
  }
  CHECK_FALSE(refused.has_room());
  connections.all.front().client.close();
  CHECK(connections.loop.until([&] { return refused.has_room(); }));
}

}  // namespace rkllm_mcp::test
