// Real servers that keep their conversations in PostgreSQL: one that is killed, a database that is killed, two that
// share one.
#include "server/memory/postgresql_server.hpp"
#include "server/memory/written.hpp"
#include "support/catch.hpp"

#include <signal.h>

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace rkllm_mcp::test {
namespace {

constexpr int kClientsThatWrite = 4;
constexpr int kTimes = 5;

std::vector<Written> nothing_written() {
  std::vector<Written> all;
  for (int writer = 0; writer < kClientsThatWrite; ++writer) all.push_back({"chat_" + std::to_string(writer)});
  return all;
}

void check_all(LiveServer& server, const std::vector<Written>& all) {
  RpcClient client(server.connect(Transport::kTcp));
  for (const Written& written : all) REQUIRE(fault_of(contents_there(client, written.conversation), written) == "");
}

}  // namespace

TEST_CASE("a server that is killed during writes has every acknowledged message in PostgreSQL, in order, once") {
  const auto options = memory_only(shared_postgresql_server().emptied_database());
  auto all = nothing_written();
  for (int round = 0; round < kTimes; ++round) {
    {
      LiveServer server(options);
      std::atomic<std::size_t> count{0};
      const std::atomic<bool> stop{false};
      std::vector<std::thread> writers;
      for (Written& written : all) {
        writers.emplace_back(
            [&, prefix = std::to_string(round) + "."] { write_on(server, written, prefix, count, stop); });
      }
      while (count < 1 + static_cast<std::size_t>(round) * 17) std::this_thread::yield();
      server.process().signal(SIGKILL);
      for (auto& writer : writers) writer.join();
    }
    LiveServer server(options);
    check_all(server, all);
  }
}

TEST_CASE("PostgreSQL is killed during writes, and has every acknowledged message afterwards, in order, once") {
  PostgresqlServer database;  // one of its own
  LiveServer server(memory_only(database.new_database()));
  auto all = nothing_written();
  for (int round = 0; round < kTimes; ++round) {
    INFO("round " << round);
    std::atomic<std::size_t> count{0};
    std::atomic<bool> stop{false};
    std::vector<std::thread> writers;
    for (Written& written : all) {
      writers.emplace_back(
          [&, prefix = std::to_string(round) + "."] { write_on(server, written, prefix, count, stop); });
    }
    while (count < 1 + static_cast<std::size_t>(round) * 17) std::this_thread::yield();
    database.kill();
    database.start();
    // Writing goes on by itself.
    const std::size_t enough = count + 20;
    while (count < enough) std::this_thread::yield();
    stop = true;
    for (auto& writer : writers) writer.join();
    check_all(server, all);
  }
  CHECK(server.health()["status"] == "healthy");
}

TEST_CASE(
    "two servers share the conversations of one database: what one has acknowledged the other reads, in one order") {
  const auto options = memory_only(shared_postgresql_server().emptied_database());
  std::array<LiveServer, 2> servers{LiveServer(options), LiveServer(options)};
  std::array<std::vector<std::string>, 2> seen;
  std::vector<std::thread> writers;
  for (std::size_t at = 0; at < servers.size(); ++at) {
    writers.emplace_back([&, at] {
      RpcClient client(servers.at(at).connect(Transport::kTcp));
      for (int n = 0; n < 50; ++n) {
        const std::string content = std::to_string(at) + "." + std::to_string(n);
        client.result(kPrefix + "add_message", of_chat("shared", {{"role", "user"}, {"content", content}}));
      }
    });
  }
  for (auto& writer : writers) writer.join();
  for (std::size_t at = 0; at < servers.size(); ++at) {
    RpcClient client(servers.at(at).connect(Transport::kTcp));
    seen.at(at) = contents_there(client, "shared");
  }
  CHECK(seen[0].size() == 100);
  CHECK(seen[0] == seen[1]);
  for (const std::string& writer : {std::string("0."), std::string("1.")}) {
    int next = 0;
    for (const std::string& content : seen[0]) {
      if (content.starts_with(writer)) CHECK(content == writer + std::to_string(next++));
    }
  }
}

TEST_CASE("the methods do the same over PostgreSQL, and nobody is shown who may open the database") {
  const std::string address = shared_postgresql_server().emptied_database();
  LiveServer server(memory_only(address));
  RpcClient client(server.connect(Transport::kTcp));
  for (int n = 1; n <= 8; ++n) {
    client.result(kPrefix + "add_message",
                  of_chat("răng", {{"role", "user"}, {"content", "Đau " + std::to_string(n)}}));
  }
  CHECK(client.result(kPrefix + "get_context", of_chat("răng"))["messages"].size() == 6);
  CHECK(client.result(kPrefix + "get_old_messages", of_chat("răng"))["messages"].size() == 2);
  client.result(kPrefix + "set_summary", of_chat("răng", {{"summary", "S"}}));
  CHECK(client.result(kPrefix + "get_old_messages", of_chat("răng"))["messages"].empty());
  CHECK(client.result(kPrefix + "search", {{"query", "dau 7"}})["hits"].size() == 1);
  CHECK(client.result("memory-server/resources/list")["resources"].size() == 1);
  const Json lines = client.result(kPrefix + "export", of_chat("răng"))["lines"];
  CHECK(lines.size() == 10);
  client.result(kPrefix + "import", {{"lines", lines}, {"replace", true}});
  CHECK(contents_there(client, "răng").size() == 8);
  client.result(kPrefix + "delete", of_chat("răng"));
  CHECK(client.call(kPrefix + "clear", of_chat("răng"))["error"]["code"] == -32001);
  CHECK(client.call(kPrefix + "add_message",
                    of_chat("c", {{"role", "user"}, {"content", std::string(1, '\0')}}))["error"]["code"] == -32602);
  const std::string health = server.health().dump();
  CHECK_THAT(health, has_text("postgresql://"));
  CHECK(health.find("tester") == std::string::npos);
}

}  // namespace rkllm_mcp::test
