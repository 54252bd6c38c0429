// The other servers of the settings, all together: what is wrong with the settings, and what becomes of what they
// offer.
#include "upstreams/upstreams.hpp"

#include "runtime/client/scripted_http_server.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/process.hpp"
#include "support/waiting_loop.hpp"

#include "call/request_table.hpp"
#include "call/session.hpp"
#include "mcp/protocol/revisions.hpp"
#include "transport/peer.hpp"

#include <spdlog/sinks/ringbuffer_sink.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

// An MCP server over HTTP that has these tools, a document and a prompt, and is named in its answers.
class OfferingServer {
 public:
  explicit OfferingServer(std::string name, std::vector<std::string> tools)
      : name_(std::move(name)), tools_(std::move(tools)) {}

  Json settings(Json more = Json::object()) const {
    more["url"] = url();
    return more;
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_.port()) + "/mcp"; }
  std::string token() const { return server_.asked().front().get_header_value("Authorization"); }
  // Waits for a request of that method, without the loop.
  void await(const std::string& method) {
    const auto is_it = [&method](const httplib::Request& each) {
      const Json message = Json::parse(each.body, nullptr, false);
      return message.is_object() && message.value("method", "") == method;
    };
    for (std::size_t count = 1;; ++count) {
      if (is_it(server_.asked(count).at(count - 1))) return;
    }
  }

 private:
  void answer(const httplib::Request& asked, httplib::Response& response) const {
    if (asked.method != "POST") {
      response.status = 405;
      return;
    }
    const Json message = Json::parse(asked.body);
    if (!message.contains("id")) {
      response.status = 202;
      return;
    }
    Json reply{{"jsonrpc", "2.0"}, {"id", message["id"]}};
    if (const auto result = result_of(message["method"], message.value("params", Json::object()))) {
      reply["result"] = *result;
    } else {
      reply["error"] = {{"code", -32601}, {"message", "no"}};
    }
    response.set_content(reply.dump(), "application/json");
  }

  std::optional<Json> result_of(const std::string& method, const Json& params) const {
    if (method == "initialize") {
      const Json some = Json::object();
      return Json{{"protocolVersion", "2025-11-25"},
                  {"capabilities", {{"tools", some}, {"resources", some}, {"prompts", some}}},
                  {"serverInfo", {{"name", name_}, {"version", "1"}}}};
    }
    if (method == "tools/list") {
      Json list = Json::array();
      for (const std::string& tool : tools_) list.push_back({{"name", tool}, {"inputSchema", {{"type", "object"}}}});
      return Json{{"tools", list}};
    }
    if (method == "resources/list") return Json{{"resources", {{{"uri", "file:///a"}, {"name", "a"}}}}};
    if (method == "resources/templates/list") {
      return Json{{"resourceTemplates", {{{"uriTemplate", "file:///{x}"}, {"name", "x"}}}}};
    }
    if (method == "prompts/list") return Json{{"prompts", {{{"name", "ask"}}}}};
    if (method == "tools/call") return answer_text(params["name"]);
    if (method == "resources/read") {
      return Json{{"contents", {{{"uri", params["uri"]}, {"text", name_ + "'s document"}}}}};
    }
    if (method == "prompts/get") {
      const Json said{{"type", "text"}, {"text", name_ + "'s " + params["name"].get<std::string>()}};
      return Json{{"messages", {{{"role", "user"}, {"content", said}}}}};
    }
    return std::nullopt;
  }
  Json answer_text(const std::string& tool) const {
    return {{"content", {{{"type", "text"}, {"text", name_ + "'s " + tool}}}}};
  }

  const std::string name_;
  const std::vector<std::string> tools_;
  ScriptedHttpServer server_{[this](const auto& asked, auto& response) { answer(asked, response); }};
};

// A shell's words for an MCP server with a tool and a prompt, which ends when the tool is called.
constexpr const char* kEndsWhenCalled = R"(
answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
while read -r line; do
  id=${line#*'"id":'}
  id=${id%%,*}
  case $line in
    *'"server/discover"'*) answer '"error":{"code":-32601,"message":"no"}' ;;
    *'"initialize"'*) answer '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{}},"serverInfo":{"name":"x","version":"1"}}' ;;
    *'"tools/list"'*) answer '"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}' ;;
    *'"prompts/list"'*) answer '"result":{"prompts":[{"name":"ask"}]}' ;;
    *'"tools/call"'*) exit ;;
  esac
done)";

class SilentRequester final : public mcp::Requester {
 public:
  explicit SilentRequester(std::shared_ptr<Json> heard) : heard_(std::move(heard)) {}
  void result(Json body) override { *heard_ = std::move(body); }
  void error(const RpcError& error) override { *heard_ = error.what(); }
  void ask(mcp::Invocation&, mcp::InputRequests, Json) override { *heard_ = "asked"; }
  void notify(std::string_view, const Json&) override {}
  bool ready() const override { return true; }

 private:
  const std::shared_ptr<Json> heard_;
};

class UpstreamsBench {
 public:
  explicit UpstreamsBench(const Json& settings)
      : upstreams(waiting.loop(), settings, log,
                  {.on_changed = [this](const std::set<Offered>& kinds) { told.push_back(kinds); }}) {}
  ~UpstreamsBench() { upstreams.stop(); }
  UpstreamsBench(const UpstreamsBench&) = delete;
  UpstreamsBench& operator=(const UpstreamsBench&) = delete;

  // Until all is known that the server of that name has.
  void await_all_of(const std::string& name) {
    const std::string begin = "upstream://" + name + "/";
    const auto has_all = [&] {
      const mcp::Catalogue all = offered();
      const auto is_its = [&begin](const std::string& uri) { return uri.starts_with(begin); };
      return all.prompt(name + "_ask") != nullptr && upstreams.status()[name]["tools"] != 0 &&
             std::ranges::any_of(all.resources, is_its, &mcp::Resource::uri) &&
             std::ranges::any_of(all.templates, is_its, &mcp::ResourceTemplate::uri_template);
    };
    waiting.until(has_all, name + " is not known whole");
  }
  mcp::Catalogue offered() const {
    mcp::Catalogue catalogue;
    upstreams.add_to(catalogue);
    return catalogue;
  }
  // Returns what the client with that principal hears; null: nothing yet.
  std::shared_ptr<const Json> run(const mcp::InvokeFunction& function, const Principal& who) {
    const auto session = std::make_shared<Session>(requests_);
    session->principal = &principals_.emplace_back(who);
    mcp::InvocationRequest request;
    request.session = session;
    request.reply = std::make_shared<Reply>(*std::make_shared<SilentPeer>(TransportKind::kTcp, "127.0.0.1:4000"), "1");
    request.arguments = Json::object();
    request.client.revision = &mcp::newest_handshake_revision();
    const auto heard = std::make_shared<Json>();
    running_.push_back(
        std::make_shared<mcp::Invocation>(std::move(request), std::make_unique<SilentRequester>(heard), function));
    function(*running_.back());
    return heard;
  }
  Json answer(const mcp::InvokeFunction& function, const Principal& who = {.name = "ann"}) {
    const auto heard = run(function, who);
    waiting.until([&] { return !heard->is_null(); }, "no answer");
    return *heard;
  }

  WaitingLoop waiting;
  std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt> lines = std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(50);
  spdlog::logger log{"test", lines};
  std::vector<std::set<Offered>> told;
  Upstreams upstreams;

 private:
  std::deque<Principal> principals_;
  std::shared_ptr<RequestTable> requests_ = std::make_shared<RequestTable>();
  std::vector<std::shared_ptr<mcp::Invocation>> running_;
};

std::string mistake_in(const Json& settings) {
  try {
    const UpstreamsBench bench(settings);
    return "none";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

std::vector<std::string> names_of_tools(const mcp::Catalogue& catalogue) {
  std::vector<std::string> names;
  for (const auto& tool : catalogue.tools) names.push_back(tool->name);
  return names;
}

}  // namespace

TEST_CASE("without upstreams nothing is added to what the server has") {
  const UpstreamsBench bench(Json::object());
  CHECK(bench.upstreams.empty());
  CHECK(bench.upstreams.status() == Json::object());
  const mcp::Catalogue catalogue = bench.offered();
  CHECK(catalogue.tools.empty());
  CHECK_FALSE(catalogue.fetch);
}

TEST_CASE("what is wrong with an upstream's settings is told with the setting or the file") {
  const TemporaryDirectory folder;
  const std::string open_file = folder / "open";
  write_file(open_file, "secret\n");
  std::filesystem::permissions(open_file, std::filesystem::perms{0644});
  const std::string url = "http://127.0.0.1:9/mcp";

  CHECK(mistake_in({{"a.b", {{"url", url}}}}) == "upstreams.a.b: a name has letters, digits, _ and - only");
  CHECK_THAT(mistake_in({{"up", {{"url", "gopher://x"}}}}), has_text("upstreams.up.url: "));
  CHECK_THAT(mistake_in({{"up", {{"url", url}, {"token_file", folder / "none"}}}}),
             has_text("upstreams.up.token_file: ") && has_text(folder / "none"));
  CHECK_THAT(mistake_in({{"up", {{"url", url}, {"token_file", open_file}}}}),
             has_text("upstreams.up.token_file: ") && has_text("chmod 600"));
  CHECK(mistake_in({{"up", {{"command", "sh"}, {"token_file", open_file}}}}) ==
        "upstreams.up.token_file: is for a url");
  CHECK(mistake_in({{"up", {{"command", "sh"}, {"ca_file", "/nowhere"}}}}) == "upstreams.up.ca_file: is for a url");
  CHECK(mistake_in({{"up", {{"command", ""}}}}) == "upstreams.up.command: expected a program");
}

TEST_CASE("an upstream gets the first line of its token file") {
  const TemporaryDirectory folder;
  const std::string file = folder / "token";
  write_file(file, "upstream-token\r\nmore\n");
  std::filesystem::permissions(file, std::filesystem::perms{0600});
  const OfferingServer server("here", {"t"});
  UpstreamsBench bench(Json{{"up", server.settings({{"token_file", file}})}});
  bench.await_all_of("up");
  CHECK(server.token() == "Bearer upstream-token");
}

TEST_CASE("what upstreams offer is theirs by its name, and is called by the name that it has there") {
  const OfferingServer one("one", {"t", "unwanted"});
  const OfferingServer two("two", {"t"});
  UpstreamsBench bench(Json{{"a", one.settings({{"deny", {"un*"}}})}, {"b", two.settings({{"permission", "call"}})}});
  CHECK_FALSE(bench.upstreams.empty());
  bench.await_all_of("a");
  bench.await_all_of("b");

  const mcp::Catalogue catalogue = bench.offered();
  CHECK(names_of_tools(catalogue) == std::vector<std::string>{"a_t", "b_t"});
  REQUIRE(catalogue.resources.size() == 2);
  CHECK(catalogue.resources[1].uri == "upstream://b/file:///a");
  REQUIRE(catalogue.templates.size() == 2);
  CHECK(catalogue.templates[0].uri_template == "upstream://a/file:///{x}");
  CHECK(bench.answer((*catalogue.tool("a_t"))->run)["content"][0]["text"] == "one's t");
  CHECK(bench.answer((*catalogue.tool("b_t"))->run)["content"][0]["text"] == "two's t");
  CHECK(bench.answer((*catalogue.prompt("b_ask"))->run)["messages"][0]["content"]["text"] == "two's ask");
  const Json document = bench.answer(catalogue.fetch("upstream://b/file:///a"));
  CHECK(document["contents"][0]["text"] == "two's document");

  const Json status = bench.upstreams.status();
  CHECK(status.size() == 2);
  CHECK(status["a"] == Json{{"url", one.url()}, {"connected", true}, {"tools", 1}, {"reason", nullptr}});
}

TEST_CASE("what an upstream offers takes the permission admin, unless its settings say that all may call") {
  const OfferingServer one("one", {"t"});
  const OfferingServer two("two", {"t"});
  UpstreamsBench bench(Json{{"a", one.settings()}, {"b", two.settings({{"permission", "call"}})}});
  bench.await_all_of("a");
  bench.await_all_of("b");
  const mcp::Catalogue catalogue = bench.offered();
  for (const auto& [of, permission] : {std::pair(0, Permission::kAdmin), std::pair(1, Permission::kCall)}) {
    const auto at = static_cast<std::size_t>(of);
    CHECK(catalogue.tools.at(at)->permission == permission);
    CHECK(catalogue.prompts.at(at)->permission == permission);
    CHECK(catalogue.resources.at(at).permission == permission);
    CHECK(catalogue.templates.at(at).permission == permission);
  }
  const Principal caller{.name = "ann", .may_admin = false};
  CHECK_THROWS_WITH(bench.run(catalogue.fetch("upstream://a/file:///a"), caller), has_text("no permission admin"));
  CHECK(bench.answer(catalogue.fetch("upstream://b/file:///a"), caller).contains("contents"));
}

TEST_CASE("an address that is no upstream's is fetched by nobody here") {
  UpstreamsBench bench(Json{{"up", {{"command", "cat"}}}});
  const mcp::Catalogue catalogue = bench.offered();
  REQUIRE(catalogue.fetch);
  CHECK(catalogue.fetch("upstream://up/file:///a"));
  for (const char* const uri : {"upstream://other/file:///a", "file:///a", "upstream://", ""}) {
    INFO(uri);
    CHECK_FALSE(catalogue.fetch(uri));
  }
}

TEST_CASE("names that two could have are had by one, and those of the server's own tools by these") {
  const OfferingServer one("one", {"b_c"});
  const OfferingServer two("two", {"c", "d"});
  UpstreamsBench bench(Json{{"a", one.settings()}, {"a_b", two.settings()}});
  bench.await_all_of("a");
  bench.await_all_of("a_b");
  mcp::Catalogue catalogue;
  mcp::Tool own;
  own.name = "a_b_d";
  catalogue.add(std::move(own));
  bench.upstreams.add_to(catalogue);

  const auto names = names_of_tools(catalogue);
  CHECK(std::set(names.begin(), names.end()).size() == 4);
  CHECK(names.front() == "a_b_d");
  std::multiset<std::string> answers;
  for (std::size_t each = 1; each < catalogue.tools.size(); ++each) {
    answers.insert(bench.answer(catalogue.tools[each]->run)["content"][0]["text"].get<std::string>());
  }
  CHECK(answers == std::multiset<std::string>{"one's b_c", "two's c", "two's d"});
}

TEST_CASE("changes that come at one time are told at once") {
  UpstreamsBench bench(Json{{"up", {{"command", "sh"}, {"args", {"-c", kEndsWhenCalled}}}}});
  bench.waiting.until([&] { return bench.offered().prompt("up_ask") != nullptr; }, "no prompts");
  bench.waiting.until([&] { return bench.offered().tool("up_t") != nullptr; }, "no tools");
  bench.waiting.settle();
  std::multiset<Offered> told;
  for (const auto& kinds : std::exchange(bench.told, {})) told.insert(kinds.begin(), kinds.end());
  CHECK(told == std::multiset{Offered::kTools, Offered::kPrompts});

  CHECK(bench.answer((*bench.offered().tool("up_t"))->run)["isError"] == true);
  bench.waiting.until([&] { return bench.offered().tool("up_t") == nullptr; }, "it has not gone");
  CHECK(bench.offered().prompt("up_ask") == nullptr);
  bench.waiting.until([&] { return !bench.told.empty(); }, "no change is told");
  CHECK(bench.told.front() == std::set{Offered::kTools, Offered::kPrompts});
}

TEST_CASE("after the end nothing is told, and what was called is answered") {
  OfferingServer server("here", {"t"});
  UpstreamsBench bench(Json{{"up", server.settings()}});
  server.await("prompts/list");
  bench.upstreams.stop();
  bench.waiting.settle();
  CHECK(bench.told.empty());

  UpstreamsBench other(Json{{"up", server.settings()}});
  other.await_all_of("up");
  const auto tool = *other.offered().tool("up_t");
  other.upstreams.stop();
  CHECK_THAT(other.answer(tool->run)["content"][0]["text"].get<std::string>(), has_text("the server is ending"));
}

TEST_CASE("a command gets its arguments and variables, and what it says of itself is in the log, without them") {
  UpstreamsBench bench(Json{{"up",
                             {{"command", "sh"},
                              {"args", {"-c", "echo \"begun by $WHOM\" >&2; cat >/dev/null", "hidden"}},
                              {"env", {{"WHOM", "the test"}}}}}});
  const auto has_come = [&bench] {
    const auto lines = bench.lines->last_formatted();
    return std::ranges::any_of(lines, [](const std::string& line) {
      return line.find("upstream up: begun by the test") != std::string::npos;
    });
  };
  CHECK(eventually(has_come));
  const Json status = bench.upstreams.status();
  CHECK(status["up"]["command"] == "sh");
  CHECK(status["up"]["connected"] == false);
  CHECK_THAT(status.dump(), !has_text("hidden"));
}

}  // namespace rkllm_mcp::test
