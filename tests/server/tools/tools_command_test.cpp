// rkllm-mcp tools, as a user meets it: through a running server, and without one.
#include "support/catch.hpp"
#include "support/live_server.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"
#include "support/web_server.hpp"

#include <rkllm_mcp/json.hpp>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

using namespace rkllm_mcp::test;
using rkllm_mcp::Json;

namespace {

// So that none is found which happens to run on this machine.
const std::vector<std::string> kNoServer{"tcp.enabled=false", "services.port=0"};

EndedProcess run_tools_command(std::vector<std::string> args, const std::vector<std::string>& set = {}) {
  const TemporaryDirectory home;
  args.insert(args.begin(), {kProgram, "tools"});
  for (const std::string& each : set) args.insert(args.end(), {"--set", each});
  return run_to_end({.args = std::move(args),
                     .env = {{"HOME", home.path()}},
                     .unset = {"XDG_CONFIG_HOME", "RKLLM_MCP_SETTINGS"},
                     .directory = home.path()});
}

}  // namespace

TEST_CASE("tools are listed and called where no server runs") {
  const auto list = run_tools_command({"list"}, kNoServer);
  INFO(list.err);
  CHECK(list.status == 0);
  CHECK(list.out.starts_with("TOOL               WHAT IT DOES\n"));
  CHECK_THAT(list.out, has_text("calculate          Compute an arithmetic expression exactly"));
  CHECK_THAT(list.out, has_text("duckduckgo_search  Search the web"));

  const auto sum = run_tools_command({"call", "calculate", R"({"expression":"0.1+0.2"})"}, kNoServer);
  CHECK(sum.status == 0);
  CHECK(sum.out == "0.3\n");
  CHECK(sum.err.empty());

  const auto as_json = run_tools_command({"call", "calculate", R"({"expression":"1/3"})", "--json"}, kNoServer);
  CHECK(Json::parse(as_json.out)["structuredContent"]["fraction"] == "1/3");

  const auto failed = run_tools_command({"call", "calculate", R"({"expression":"1/0"})"}, kNoServer);
  CHECK(failed.status == 1);
  CHECK(failed.out.empty());
  CHECK(failed.err == "rkllm-mcp: division by zero\n");

  const auto unknown = run_tools_command({"call", "calculat"}, kNoServer);
  CHECK(unknown.status == 1);
  CHECK_THAT(unknown.err, has_text("did you mean"));
}

TEST_CASE("tools are listed and called through a running server, over every transport") {
  LiveServer server;
  for (const Transport transport : {Transport::kTcp, Transport::kHttp, Transport::kWebSocket, Transport::kUdp}) {
    const std::string url = server.endpoint(transport, transport == Transport::kHttp ? "/mcp" : "").url();
    INFO(url);
    const auto sum = run_tools_command({"call", "calculate", R"({"expression":"2*3"})", "--to", url});
    CHECK(sum.err.empty());
    CHECK(sum.out == "6\n");
    const auto list = run_tools_command({"list", "--json", "--to", url});
    CHECK(Json::parse(list.out).size() >= 6);
  }
  const std::string port = "tcp.port=" + std::to_string(server.port(Transport::kTcp));
  CHECK_THAT(run_tools_command({"list", "--all"}, {port}).out, has_text("rkllm_init"));
}

TEST_CASE("a server that does not let the command in is not gone round to tools of its own") {
  const TemporaryDirectory folder;
  write_file(folder / "tokens", "me a-token-for-the-test\n");
  std::filesystem::permissions(folder / "tokens", std::filesystem::perms(0600));
  LiveServer server({.set = {"auth.tokens=" + (folder / "tokens")}});
  const auto tcp = std::to_string(server.port(Transport::kTcp));
  const auto http = std::to_string(server.port(Transport::kHttp));
  const std::vector<std::vector<std::string>> places{{"tcp.port=" + tcp, "services.port=0"},
                                                     {"tcp.enabled=false", "services.port=" + http}};
  for (const auto& place : places) {
    INFO(place.back());
    const auto stranger = run_tools_command({"list"}, place);
    CHECK(stranger.status == 1);
    CHECK(stranger.out.empty());
    CHECK_THAT(stranger.err, has_text("an access token is needed") && has_text("--token, or RKLLM_MCP_TOKEN"));
    CHECK(stranger.err.find("send {") == std::string::npos);
    const auto wrong =
        run_tools_command({"call", "calculate", R"({"expression":"1+1"})", "--token", "another-token"}, place);
    CHECK(wrong.status == 1);
    CHECK(wrong.out.empty());
    CHECK_THAT(wrong.err, has_text("the server refuses the access token") && has_text("--token, or RKLLM_MCP_TOKEN"));
    CHECK(run_tools_command({"list", "--token", "a-token-for-the-test"}, place).status == 0);
  }
}

TEST_CASE("a server that is none of ours, at a port of the settings, is told with what leaves it out") {
  const WebServer other(web_answer("no", "text/plain", "", "404 Not Found"));
  const auto refused =
      run_tools_command({"list"}, {"tcp.enabled=false", "services.port=" + std::to_string(other.port())});
  CHECK(refused.status == 1);
  CHECK(refused.out.empty());
  CHECK_THAT(refused.err, has_text("leave it out: --set services.port=0"));
}

TEST_CASE("a server that runs services alone is found at their own port") {
  LiveServer::Options options;
  options.runtime = {"--only", "tool-server"};
  options.set = {"services.port=0", "http.enabled=true", "tools.google.cx=of-this-server"};
  LiveServer server(options);
  const std::string port = server.health()["transports"]["services"]["port"].dump();
  const auto answer =
      run_tools_command({"call", "google_search", R"({"query":"x"})"}, {"tcp.enabled=false", "services.port=" + port});
  CHECK(answer.status == 1);
  CHECK(answer.err == "rkllm-mcp: google_search is not configured: set tools.google.api_key\n");
}

TEST_CASE("a tool can be another MCP server, of an address or a command") {
  LiveServer board;
  const TemporaryDirectory directory;
  const Json upstreams{
      {"far", {{"url", board.endpoint(Transport::kHttp, "/mcp").url()}, {"permission", "call"}}},
      {"near",
       {{"command", kProgram},
        {"args", {"stdio", "--set", "services.only=tool-server", "--settings", directory / "settings.json"}},
        {"permission", "call"}}}};
  LiveServer server({.set = {"upstreams=" + upstreams.dump()}});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  const auto is_there = [&](const char* name) {
    const Json upstream = server.health()["upstreams"][name];
    return upstream["connected"] == true && upstream["tools"] != 0;
  };
  while (!is_there("far") || !is_there("near")) REQUIRE(std::chrono::steady_clock::now() < deadline);
  const std::string url = server.endpoint(Transport::kTcp).url();
  for (const std::string name : {"far_calculate", "near_calculate"}) {
    INFO(name);
    const auto sum = run_tools_command({"call", name, R"({"expression":"2^5"})", "--to", url});
    CHECK(sum.err.empty());
    CHECK(sum.out == "32\n");
  }
  CHECK_THAT(run_tools_command({"list", "--all", "--to", url}).out, has_text("near_fetch_page"));
}

TEST_CASE("the command line of tools says what is wrong with it") {
  CHECK(run_tools_command({}).status == 2);
  CHECK(run_tools_command({"call"}).status == 2);
  CHECK(run_tools_command({"call", "calculate", "[1]"}).status == 2);
  CHECK(run_tools_command({"call", "calculate", "{"}).status == 2);
  CHECK(run_tools_command({"list", "--to", "gopher://h"}).status == 2);
}
