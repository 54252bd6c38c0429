// An assistant of dentists as a client meets it: the real program with the profiles that come with it, a simulated
// model, the real memory and tool servers, and a search engine of our own making.
#pragma once

#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/http_client.hpp"
#include "support/live_server.hpp"
#include "support/paths.hpp"
#include "support/web_server.hpp"

#include <chrono>
#include <cstddef>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {

inline constexpr const char* kAssistant = "dental-duckduckgo";
inline const std::string kQuestion = "Một ngày nên đánh răng bao nhiêu lần?";
inline const std::string kAnswer = "Theo khuyến nghị, nên đánh răng hai lần mỗi ngày.";
inline const std::string kPage =
    R"(<html><body><div id="links" class="results"><div class="result results_links results_links_deep web-result "><h2 class="result__title"><a class="result__a" href="https://example.org/chai">Chải răng</a></h2><a class="result__snippet" href="https://example.org/chai">Hai lần mỗi ngày</a></div></div></body></html>)";

// A question that the simulated model answers with these texts: one for each time that it is asked.
inline std::string asked(const std::string& question, const Json& texts) {
  std::string line = "@say=" + texts.dump();
  // No user can write a mark of the model's template, so it is written in another way.
  for (std::size_t at = line.find('<'); at != std::string::npos; at = line.find('<')) line.replace(at, 1, "\\u003c");
  return question + "\n" + line;
}

inline std::string settings_of_model(const std::string& path) {
  const Json preset{{"param", {{"model_path", path}, {"max_context_len", 8192}}}, {"template", "qwen3"}};
  return Json{{"qwen3-small", preset}}.dump();
}

// How the model asks for a tool.
inline std::string calling(const std::string& tool, const Json& arguments) {
  return "<tool_call>\n" + Json{{"name", tool}, {"arguments", arguments}}.dump() + "\n</tool_call>";
}

struct Clinic {
  using Environment = std::vector<std::pair<std::string, std::string>>;

  explicit Clinic(const std::string& found = web_answer(kPage), std::vector<std::string> more = {},
                  const Environment& environment = {})
      : web(found), server(options(more, environment)), http(server.endpoint(Transport::kHttp)) {}

  LiveServer::Options options(const std::vector<std::string>& more, const Environment& environment) {
    LiveServer::Options options;
    options.env = environment;
    options.set = {"models=" + settings_of_model(shipped_model("fast")),
                   "memory.database=:memory:",
                   "chat.profiles_dir=" + kSourceDirectory + "/examples/profiles",
                   "tools.duckduckgo.url=" + web.url("/html/"),
                   "tools.allowed_addresses=127.0.0.1",
                   "log.format=json",
                   "log.file=" + (logs / "log.json")};
    options.set.insert(options.set.end(), more.begin(), more.end());
    return options;
  }

  Json ask(const std::string& text, const std::string& chat, const Json& more = Json::object()) {
    Json body{{"model", kAssistant}, {"messages", Json::array({{{"role", "user"}, {"content", text}}})}};
    if (!chat.empty()) body["chat_id"] = chat;
    body.update(more);
    last = http.post("/v1/chat/completions", body.dump());
    INFO(last.body);
    REQUIRE(last.status == 200);
    return last.json();
  }

  Json memory(const std::string& method, const std::string& chat) {
    const Json request{{"jsonrpc", "2.0"},
                       {"id", 1},
                       {"method", "memory-server/memory/" + method},
                       {"params", {{"conversation_id", chat}}}};
    return http.post("/jsonrpc", request.dump()).json().at("result");
  }

  // "server: call" of all that assistants have called so far, as the log has it; waits for so many.
  std::vector<std::string> calls(std::size_t count) {
    std::vector<std::string> found;
    eventually([&] {
      found.clear();
      std::ifstream log(logs / "log.json");
      for (std::string line; std::getline(log, line);) {
        const Json entry = Json::parse(line, nullptr, false);
        if (!entry.is_object() || entry.value("message", "") != "assistant") continue;
        found.push_back(entry.at("server").get<std::string>() + ": " + entry.at("call").get<std::string>() +
                        (entry.at("outcome") == "ok" ? "" : " failed"));
      }
      return found.size() >= count;
    });
    return found;
  }

  // The prompts of the model's answers, without those of counting runs.
  std::vector<std::string> prompts() {
    std::vector<std::string> all;
    for (const RecordedRun& run : server.recorded_runs()) {
      if (run.tokens > 1) all.push_back(run.prompt);
    }
    return all;
  }

  TemporaryDirectory logs;
  WebServer web;
  LiveServer server;
  HttpClient http;
  HttpAnswer last{};
};

}  // namespace rkllm_mcp::test
