// A server of ours over HTTP that answers each question as the test has written it, and what a command prints
// meanwhile.
#pragma once

#include "server/cli/link_bench.hpp"
#include "support/process.hpp"

#include <rkllm_mcp/json.hpp>

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {

// Questions are "GET /health", or of JSON-RPC the method alone, or of a resource its address. To what is not written
// here the answer is 404; to JSON-RPC it is the result, or an object with "error" as it is.
class BoardBench {
 public:
  using Question = std::pair<std::string, Json>;  // with the body, or the params

  // What is written under a name is given in turn, and the last for ever.
  explicit BoardBench(std::map<std::string, std::vector<Json>> answers) : answers_(std::move(answers)) {}

  // A link as by --to; as the settings have it.
  ServerLink link() const { return server_.link(); }
  ServerLink link_of_settings() const {
    SettingsRequest request;
    request.path = settings_file();
    const std::string url = server_.url();
    write_file(*request.path, Json{{"http", {{"port", std::stoi(url.substr(url.rfind(':') + 1))}}}}.dump());
    return {{}, request};
  }
  // Of settings that do not lead here.
  SettingsRequest request() const {
    SettingsRequest request;
    request.path = settings_file();
    write_file(*request.path, "{}");
    return request;
  }
  std::string settings_file() const { return folder_ / "settings.json"; }
  std::string where() const { return " --to " + server_.url(); }

  // What was asked but for how the server is, and for what it has.
  std::vector<Question> done() const {
    const std::lock_guard lock(mutex_);
    return done_;
  }

 private:
  void answer(const std::string& head, const std::string& body, WebServer::Socket& socket) {
    std::string question = head.substr(0, head.find(' ', head.find(' ') + 1));
    Json asked = Json::parse(body, nullptr, false);
    if (asked.is_discarded()) asked = nullptr;
    const bool is_call = question == "POST /jsonrpc";
    if (is_call) {
      question = asked["method"].get<std::string>();
      asked = asked["params"];
      if (question == "resources/read") question = asked["uri"].get<std::string>();
    }
    const auto [is_known, given] = answer_to(question, asked);
    if (!is_call) {
      const bool is_refused = !is_known || (given.is_object() && given.contains("error"));
      WebServer::send(socket,
                      web_answer(given.dump(), "application/json", "", is_refused ? "404 Not Found" : "200 OK"));
      return;
    }
    Json reply{{"jsonrpc", "2.0"}, {"id", 1}};
    if (!is_known || (given.is_object() && given.contains("error"))) {
      reply["error"] = is_known ? given["error"] : Json{{"code", -32601}, {"message", "no " + question}};
    } else if (question.find("://") != std::string::npos) {
      reply["result"] = {{"contents", {{{"uri", question}, {"text", given.dump()}}}}};
    } else {
      reply["result"] = given;
    }
    WebServer::send(socket, web_answer(reply.dump(), "application/json"));
  }

  std::pair<bool, Json> answer_to(const std::string& question, const Json& asked) {
    const std::lock_guard lock(mutex_);
    if (question.rfind("GET ", 0) != 0 && question.find("://") == std::string::npos)
      done_.emplace_back(question, asked);
    const auto found = answers_.find(question);
    if (found == answers_.end()) return {false, Json{{"error", "it has no " + question}}};
    auto& in_turn = found->second;
    const Json given = in_turn.front();
    if (in_turn.size() > 1) in_turn.erase(in_turn.begin());
    return {true, given};
  }

  const TemporaryDirectory folder_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, std::vector<Json>> answers_;
  std::vector<Question> done_;
  const LinkBench server_{LinkBench::Answer([this](const std::string& head, const std::string& body,
                                                   WebServer::Socket& socket) { answer(head, body, socket); })};
};

// What goes to a standard stream is kept until text() is asked for, or until the end of this.
class PrintedOutput {
 public:
  explicit PrintedOutput(int descriptor = STDOUT_FILENO) : descriptor_(descriptor), kept_(::dup(descriptor)) {
    flush_all();
    if (file_ == nullptr || kept_ < 0 || ::dup2(::fileno(file_), descriptor_) < 0) throw std::runtime_error("dup2");
  }
  PrintedOutput(const PrintedOutput&) = delete;
  PrintedOutput& operator=(const PrintedOutput&) = delete;
  ~PrintedOutput() {
    put_back();
    ::close(kept_);
    std::fclose(file_);
  }

  std::string text() {
    put_back();
    std::rewind(file_);
    std::string all;
    for (int each = std::fgetc(file_); each != EOF; each = std::fgetc(file_)) all += static_cast<char>(each);
    return all;
  }

 private:
  static void flush_all() {
    std::cout.flush();
    std::fflush(stdout);
    std::fflush(stderr);
  }
  void put_back() const {
    flush_all();
    ::dup2(kept_, descriptor_);
  }

  std::FILE* const file_ = std::tmpfile();
  const int descriptor_;
  const int kept_;
};

}  // namespace rkllm_mcp::test
