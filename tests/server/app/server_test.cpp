// The order in which a server begins and ends, without a runtime library and without a process of its own. Whole
// servers, with models and clients that get their last messages, are in tests/server/e2e.
#include "app/server.hpp"

#include "run_loop.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"
#include "support/raw_socket.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

constexpr std::chrono::seconds kPatienceWithServer{60};

// Reachable over HTTP only, at a free port of this machine; keeps nothing on the disk.
Settings small_server() {
  Settings settings;
  settings.tcp.enabled = settings.udp.enabled = settings.ws.enabled = settings.services.enabled = false;
  settings.http.address = "127.0.0.1";
  settings.http.port = 0;
  settings.memory.database = ":memory:";
  settings.chat.cache_bytes = 0;
  settings.runtime.library = "/nowhere/librkllmrt.so";
  return settings;
}

// A server on a loop with a thread of its own, as the program runs it.
class RunningServer {
 public:
  explicit RunningServer(Settings given = small_server(), const Server::Options& options = {})
      : settings(std::move(given)) {
    server.emplace(loop_, settings, log, options);
    port = server->ports().value("http", Json::object()).value("port", std::uint16_t{0});
    thread_ = std::thread([this] {
      run_loop(loop_, [this](const std::exception_ptr& fault) { server->note_fault(fault); });
      ended_.set_value();
    });
  }
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;
  ~RunningServer() {
    if (thread_.joinable()) {
      loop_.stop();
      thread_.join();
    }
    server.reset();
  }

  // Runs `action` on the loop, which gets what it throws.
  void on_loop(const std::function<void()>& action) {
    std::promise<void> done;
    asio::post(loop_, [&] { or_else([&] { action(), done.set_value(); }, [&] { done.set_value(); }); });
    REQUIRE(done.get_future().wait_for(kPatienceWithServer) == std::future_status::ready);
  }
  bool ends() {
    if (ended_.get_future().wait_for(kPatienceWithServer) != std::future_status::ready) return false;
    thread_.join();
    return true;
  }
  // Once it has ended.
  bool has_logged(std::string_view text) const { return lines.str().find(text) != std::string::npos; }
  Json get(const std::string& path) const {
    RawSocket client(port);
    client.send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    const std::string answer = client.receive_rest();
    return Json::parse(answer.substr(answer.find("\r\n\r\n") + 4));
  }

 private:
  asio::io_context loop_;
  const asio::executor_work_guard<asio::io_context::executor_type> work_{loop_.get_executor()};

 public:
  std::ostringstream lines;
  spdlog::logger log{"test", std::make_shared<spdlog::sinks::ostream_sink_mt>(lines)};
  Settings settings;
  std::optional<Server> server;
  std::uint16_t port = 0;

 private:
  std::promise<void> ended_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("a server that is told to stop says so once, however often it is told, and then ends its loop") {
  int said = 0;
  Server::Options options;
  options.when_stopping = [&said] { ++said; };
  RunningServer running(small_server(), options);
  running.on_loop([&] {
    CHECK_FALSE(running.server->is_stopping());
    running.server->start_runtime();
    running.server->stop();
    CHECK(running.server->is_stopping());
    running.server->stop();
  });
  REQUIRE(running.ends());
  CHECK(said == 1);
  CHECK(running.server->ended_cleanly());
  CHECK(running.has_logged("ending"));
}

TEST_CASE("a server may be told to stop before its runtime has been started, or be destroyed without having run") {
  RunningServer running;
  running.on_loop([&] { running.server->stop(); });
  CHECK(running.ends());
  CHECK(running.server->ended_cleanly());
  asio::io_context loop;
  spdlog::logger log("test");
  const Settings settings = small_server();
  CHECK_NOTHROW(Server(loop, settings, log, {}));
}

TEST_CASE("clients that are connected and say nothing do not keep a server, and see its end") {
  RunningServer running;
  RawSocket client(running.port);
  CHECK(running.get("/health")["transports"]["http"]["connections"] == 2);
  running.on_loop([&] { running.server->stop(); });
  CHECK(client.ends());
  CHECK(running.ends());
  CHECK(running.server->ended_cleanly());
}

TEST_CASE("a step of the ending that fails ends the loop all the same, and only leaving the process helps then") {
  Server::Options options;
  options.when_stopping = [] { throw std::logic_error("a fault"); };
  RunningServer running(small_server(), options);
  running.on_loop([&] { running.server->stop(); });
  REQUIRE(running.ends());
  CHECK_FALSE(running.server->ended_cleanly());
  CHECK(running.has_logged("internal error"));
  CHECK(running.has_logged("a fault"));
}

TEST_CASE("a fault of a callback is told of and counted, and the server goes on") {
  RunningServer running;
  running.on_loop([] { throw std::logic_error("a fault"); });
  RawSocket client(running.port);
  client.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  CHECK(client.receive_rest().find("rkllm_mcp_internal_errors_total 1\n") != std::string::npos);
  CHECK(running.get("/health")["status"] == "degraded");  // for want of a runtime
  running.on_loop([&] { running.server->stop(); });
  REQUIRE(running.ends());
  CHECK(running.server->ended_cleanly());
  CHECK(running.has_logged("a fault"));
}

TEST_CASE("a transport that cannot be opened is a server that does not begin, and what was open is closed") {
  const RunningServer first;
  Settings settings = small_server();
  settings.http.port = first.port;
  const TemporaryDirectory directory;
  settings.unix_socket.path = directory / "socket";
  asio::io_context loop;
  spdlog::logger log("test");
  CHECK_THROWS_AS(Server(loop, settings, log, {}), std::runtime_error);
  CHECK_THROWS_AS(RawSocket(settings.unix_socket.path), std::system_error);
}

TEST_CASE("a server of services alone has no runtime, and nothing that is asked of one does anything") {
  Settings settings = small_server();
  settings.services.only = {"tool-server"};
  RunningServer running(settings);
  running.on_loop([&] {
    running.server->start_runtime();
    running.server->renew_runtime();
    running.server->settings_changed();
    running.server->renew_profiles();
  });
  const Json health = running.get("/health");
  CHECK(health["status"] == "healthy");
  CHECK(health["servers"] == Json::array({"tool-server"}));
  CHECK_FALSE(health.contains("runtime"));
  running.on_loop([&] { running.server->stop(); });
  REQUIRE(running.ends());
  CHECK(running.server->ended_cleanly());
  CHECK_FALSE(running.has_logged("runtime"));
}

TEST_CASE(
    "without a library a server begins, and says so in its log, and what it looked for where its health is asked") {
  RunningServer running;
  running.on_loop([&] { running.server->start_runtime(); });
  const Json health = running.get("/health");
  CHECK(health["status"] == "degraded");
  CHECK(health["runtime"]["reason"].get<std::string>().find("/nowhere/librkllmrt.so") != std::string::npos);
  CHECK(health["models"] == Json::array());
  CHECK(health["loading"] == Json::array());
  running.on_loop([&] { running.server->stop(); });
  REQUIRE(running.ends());
  CHECK(running.has_logged("every call will say so"));
}
