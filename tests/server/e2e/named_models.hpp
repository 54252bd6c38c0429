// A server whose simulated models go by names, for chat clients.
#pragma once

#include "support/live_server.hpp"
#include "support/process.hpp"

#include <rkllm_mcp/json.hpp>

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {

// Models that are written before the server that has them starts.
class NamedModels {
 public:
  // A model by this name, with these fields beside the necessary ones.
  NamedModels& add(const std::string& name, const Json& fields) {
    Json model{{"rkllm_simulated_model", 1}, {"name", "SIMULATED " + name}, {"npu_cores", 1}};
    model.update(fields);
    write_file(path_of(name), model.dump());
    presets_[name] = {{"param", {{"model_path", path_of(name)}, {"max_context_len", 4096}}}, {"template", "qwen3"}};
    return *this;
  }
  std::string path_of(const std::string& name) const { return folder_ / (name + ".json"); }

  LiveServer::Options options(std::vector<std::string> more = {}) const {
    more.push_back("models=" + presets_.dump());
    LiveServer::Options options;
    options.set = std::move(more);
    // What kills a worker is to be seen as it is, not as a sanitizer reports it.
    options.env = {{"ASAN_OPTIONS", "handle_segv=0:handle_sigbus=0:handle_abort=0"}};
    return options;
  }

 private:
  TemporaryDirectory folder_;
  Json presets_ = Json::object();
};

// For who wants to leave as no HTTP client does.
inline std::string chat_request(const std::string& path, const Json& body, const std::string& headers = {}) {
  const std::string text = body.dump();
  return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + headers +
         "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
}

// What /health tells of the handles, once `enough` says so.
template <typename Enough>
Json await_health(const LiveServer& server, const Enough& enough) {
  const auto deadline = std::chrono::steady_clock::now() + Process::kPatience;
  for (;;) {
    Json handles = server.health()["runtime"]["handles"];
    if (enough(handles)) return handles;
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("the handles are " + handles.dump());
  }
}

}  // namespace rkllm_mcp::test
