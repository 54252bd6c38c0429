// Instances that serve each other's tools: three processes in a row, calls through all of them.
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/live_server.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"
#include "support/rpc_client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

constexpr std::chrono::seconds kSoon{60};

std::string mcp_url(const LiveServer& server, Transport transport) {
  return server.endpoint(transport, transport == Transport::kHttp ? "/mcp" : "").url();
}

LiveServer::Options with_upstream(const std::string& name, const std::string& url) {
  return {.set = {"upstreams=" + Json{{name, {{"url", url}}}}.dump()}};
}

// Waits until the server's upstream is in that state.
void await_upstream(const LiveServer& server, const std::string& name, bool connected) {
  Json upstream;
  const bool is_so = eventually([&] {
    upstream = server.health()["upstreams"][name];
    return upstream["connected"] == connected && (upstream["tools"] != 0) == connected;
  });
  if (!is_so) throw std::runtime_error("upstream: " + upstream.dump());
}

std::vector<std::string> tool_names(RpcClient& client) {
  std::vector<std::string> names;
  Json params = Json::object();
  for (;;) {
    const Json page = client.result("tools/list", params);
    for (const Json& tool : page["tools"]) names.push_back(tool["name"].get<std::string>());
    if (!page.contains("nextCursor")) return names;
    params["cursor"] = page["nextCursor"];
  }
}

bool has_tool(RpcClient& client, const std::string& name) {
  const auto names = tool_names(client);
  return std::find(names.begin(), names.end(), name) != names.end();
}

Json call_tool(RpcClient& client, const std::string& name, const Json& arguments) {
  return client.result("tools/call", {{"name", name}, {"arguments", arguments}});
}

// Accepts connections, and says nothing.
class SilentServer {
 public:
  SilentServer() : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(descriptor_, generic, size) != 0 || ::listen(descriptor_, 50) != 0 ||
        ::getsockname(descriptor_, generic, &size) != 0) {
      throw std::runtime_error("no silent server");
    }
    authority_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;
  ~SilentServer() { ::close(descriptor_); }
  const std::string& authority() const { return authority_; }

 private:
  int descriptor_;
  std::string authority_;
};

// board <- middle <- front, each link over another transport.
struct Row {
  explicit Row(Transport to_board, Transport to_middle)
      : middle(with_upstream("board", mcp_url(board, to_board))),
        front(with_upstream("mid", mcp_url(middle, to_middle))) {
    await_upstream(middle, "board", true);
    await_upstream(front, "mid", true);
    client = std::make_unique<RpcClient>(front.connect(Transport::kTcp));
    eventually([this] { return has_tool(*client, "mid_board_rkllm_run"); });
  }

  std::string init(const std::string& model) {
    const Json result = call_tool(*client, "mid_board_rkllm_init", {{"param", {{"model_path", model}}}});
    return result["structuredContent"]["handle"].get<std::string>();
  }

  LiveServer board;
  LiveServer middle;
  LiveServer front;
  std::unique_ptr<RpcClient> client;
};

// The processes that the server has started with the argument "stdio".
std::vector<pid_t> started_by(pid_t parent) {
  std::vector<pid_t> ids;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(parent) + "/task")) {
    std::ifstream children(thread.path() / "children");
    for (pid_t id = 0; children >> id;) {
      std::ifstream file("/proc/" + std::to_string(id) + "/cmdline");
      const std::string command{std::istreambuf_iterator<char>(file), {}};
      if (command.find(std::string("\0stdio\0", 7)) != std::string::npos) ids.push_back(id);
    }
  }
  return ids;
}

void await_gone(pid_t id) {
  if (!eventually([&] { return ::kill(id, 0) != 0; })) throw std::runtime_error("it is still there");
}

}  // namespace

TEST_CASE("tools of a server behind a server are called through both, token by token") {
  const auto [to_board, to_middle] =
      GENERATE(std::pair(Transport::kTcp, Transport::kHttp), std::pair(Transport::kWebSocket, Transport::kUnix),
               std::pair(Transport::kUdp, Transport::kTcp));
  Row row(to_board, to_middle);
  REQUIRE(has_tool(*row.client, "mid_board_rkllm_run"));
  CHECK(has_tool(*row.client, "mid_rkllm_run"));
  CHECK(has_tool(*row.client, "rkllm_run"));
  const std::string handle = row.init(row.board.paced_model(200));

  const Json params{
      {"name", "mid_board_rkllm_run"},
      {"arguments",
       {{"handle", handle}, {"progress_message", "delta"}, {"rkllm_input", {{"prompt_input", "@n=60 Tell me."}}}}},
      {"_meta", {{"progressToken", "p"}}}};
  const Json id = row.client->send("tools/call", params);
  std::string joined;
  std::size_t updates = 0;
  double last = -1;
  for (;;) {
    const Json message = row.client->receive_or_throw();
    if (message.value("method", "") == "notifications/progress") {
      const Json& progress = message["params"];
      CHECK(progress["progressToken"] == "p");
      CHECK(progress["progress"].get<double>() > last);
      last = progress["progress"].get<double>();
      joined += progress.value("message", "");
      ++updates;
      continue;
    }
    REQUIRE(message["id"] == id);
    const Json& result = message["result"];
    CHECK(result["structuredContent"]["text"] == joined);
    CHECK(result["content"][0]["text"] == joined);
    break;
  }
  CHECK(updates > 1);  // tokens that come while the loop is busy are joined
  CHECK_FALSE(joined.empty());
}

TEST_CASE("cancelling in front stops the run behind, and errors come through") {
  Row row(Transport::kTcp, Transport::kHttp);
  const std::string handle = row.init(row.board.paced_model(100));
  const Json id = row.client->send(
      "tools/call",
      {{"name", "mid_board_rkllm_run"},
       {"arguments",
        {{"handle", handle}, {"rkllm_input", {{"prompt_input", "@n=100000"}}}, {"progress_message", "delta"}}},
       {"_meta", {{"progressToken", 1}}}});
  for (int updates = 0; updates < 5;)
    updates += row.client->receive_or_throw().value("method", "") == "notifications/progress" ? 1 : 0;
  row.client->send_text(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + id.dump() +
                        "}}");
  // This call waits behind the run in the queue of the handle: its answer says that the run is over.
  RpcClient at_board(row.board.connect(Transport::kTcp));
  at_board.result("rkllm_get_kv_cache_size", {{"handle", handle}});
  CHECK(at_board.result("rkllm_is_running", {{"handle", handle}})["running"] == false);

  const Json refused = call_tool(*row.client, "mid_board_rkllm_run", {{"handle", "llm-99"}});
  CHECK(refused["isError"] == true);
  CHECK(refused["content"][0]["text"].get<std::string>().find("llm-99") != std::string::npos);
}

TEST_CASE("long arguments reach the server behind as they are") {
  Row row(Transport::kTcp, Transport::kHttp);
  const std::string handle = row.init(shipped_model("fast"));
  const Json tokens(std::vector<int>(40'000, 1));  // as text more than is read at once
  const Json arguments{
      {"handle", handle},
      {"rkllm_input", {{"input_type", "RKLLM_INPUT_TOKEN"}, {"token_input", {{"input_ids", tokens}}}}}};
  RpcClient at_board(row.board.connect(Transport::kTcp));
  const Json answer = call_tool(at_board, "rkllm_run", arguments);
  CHECK(call_tool(*row.client, "mid_board_rkllm_run", arguments)["content"][0] == answer["content"][0]);
}

TEST_CASE("what an upstream for admins offers is shown to nobody else") {
  LiveServer board;
  TemporaryDirectory directory;
  const std::string file = directory / "tokens";
  write_file(file, "boss a-token-for-everything\nuser a-token-to-use-what-is-loaded call\n");
  REQUIRE(::chmod(file.c_str(), 0600) == 0);
  auto options = with_upstream("board", mcp_url(board, Transport::kTcp));
  options.set.push_back("auth.tokens=" + file);
  LiveServer front(options);
  const auto has_boards = [&front](const std::string& token, const std::string& kind) {
    client::Endpoint endpoint = front.endpoint(Transport::kTcp);
    endpoint.token = token;
    RpcClient client(client::connect(endpoint, std::chrono::steady_clock::now() + kSoon));
    const std::string text = client.result(kind + "/list").dump();
    return text.find("upstream://board/") != std::string::npos || text.find("board_chat") != std::string::npos;
  };
  for (const char* const kind : {"resources", "resources/templates", "prompts"}) {
    REQUIRE(eventually([&] { return has_boards("a-token-for-everything", kind); }));
    CHECK_FALSE(has_boards("a-token-to-use-what-is-loaded", kind));
  }
}

TEST_CASE("the tools of a server that goes away go, too, with a word to clients, those in progress fail") {
  auto board = std::make_unique<LiveServer>();
  LiveServer front(with_upstream("board", mcp_url(*board, Transport::kTcp)));
  await_upstream(front, "board", true);
  RpcClient client(front.connect(Transport::kTcp));
  client.result("initialize", {{"protocolVersion", "2025-11-25"}, {"capabilities", Json::object()}});
  client.send_text(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  REQUIRE(has_tool(client, "board_rkllm_run"));
  const Json handle = call_tool(client, "board_rkllm_init",
                                {{"param", {{"model_path", board->paced_model(50)}}}})["structuredContent"]["handle"];
  const Json id = client.send("tools/call",
                              {{"name", "board_rkllm_run"},
                               {"arguments", {{"handle", handle}, {"rkllm_input", {{"prompt_input", "@n=100000"}}}}}});
  board.reset();
  bool failed = false;
  bool told = false;
  while (!failed || !told) {
    const Json message = client.receive_or_throw();
    if (message.value("method", "") == "notifications/tools/list_changed") told = true;
    if (message.contains("id")) {
      INFO(message.dump());
      CHECK(message.value("id", Json()) == id);
      REQUIRE(message.contains("result"));
      CHECK(message["result"].value("isError", false));
      failed = true;
    }
  }
  CHECK_FALSE(has_tool(client, "board_rkllm_run"));
  CHECK(front.health()["upstreams"]["board"]["reason"].is_string());
}

TEST_CASE("a server that a command starts is served, started again when it has died, and never left behind") {
  TemporaryDirectory directory;
  const Json upstream{{"command", kProgram},
                      {"args", {"stdio", "--simulator", "--settings", directory / "settings.json"}},
                      {"deny", {"rkllm_abort"}}};
  LiveServer front({.set = {"upstreams=" + Json{{"own", upstream}}.dump()}});
  await_upstream(front, "own", true);
  CHECK(front.health()["upstreams"]["own"]["command"] == kProgram);
  RpcClient client(front.connect(Transport::kTcp));
  CHECK_FALSE(has_tool(client, "own_rkllm_abort"));
  const Json loaded = call_tool(client, "own_rkllm_init", {{"param", {{"model_path", shipped_model("fast")}}}});
  CHECK(loaded["structuredContent"]["handle"] == "llm-1");
  CHECK(front.process().wait_for_error_text("upstream own: "));  // its log, in ours

  const auto first = started_by(front.process().pid());
  REQUIRE(first.size() == 1);
  ::kill(first[0], SIGKILL);
  REQUIRE(front.process().wait_for_error_text("has ended by signal 9"));
  await_upstream(front, "own", true);
  const auto second = started_by(front.process().pid());
  REQUIRE(second.size() == 1);
  CHECK(second != first);
  front.process().signal(SIGKILL);
  await_gone(second[0]);
}

TEST_CASE("a host need not wait for the end of a server whose upstreams are silent") {
  SilentServer silent;
  Json upstreams = Json::object();
  for (const char* name : {"a", "b", "c"}) upstreams[name] = {{"url", "http://" + silent.authority() + "/mcp"}};
  for (const char* name : {"d", "e", "f"}) upstreams[name] = {{"url", "tcp://" + silent.authority()}};
  TemporaryDirectory directory;
  Process::Options options;
  options.args = {kProgram,
                  "stdio",
                  "--simulator",
                  "--settings",
                  directory / "settings.json",
                  "--set",
                  "upstreams=" + upstreams.dump()};
  options.directory = directory.path();
  Process process(options);
  process.write(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
                "\n");
  REQUIRE(process.read_line());
  const auto began = std::chrono::steady_clock::now();
  process.close_input();
  CHECK(process.wait() == 0);
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(5));  // of which it may wait for one
}

}  // namespace rkllm_mcp::test
