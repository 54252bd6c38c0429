// A client of the chat host with a conversation of its own: each turn in another of the four dialects, whole or
// streamed, with the whole conversation before it, and an answer that only this client can expect.
//
// Threads: each client has its own.
#pragma once

#include "support/http_client.hpp"
#include "support/live_server.hpp"

#include <random>
#include <string>
#include <vector>

namespace rkllm_mcp::test {

// A setting "models=..." with these models, each of which stays loaded.
std::string chat_models(const std::vector<std::string>& names, const std::string& path);

class ChatClient {
 public:
  struct Options {
    std::string name;  // of no other client, and no part of another's
    std::string model;
    std::string token{};  // empty: the server asks for none
    unsigned seed = 1;
  };

  ChatClient(const LiveServer& server, Options options);

  // One turn. Throws std::runtime_error if it is refused, or answered with anything but what was asked for.
  void talk();
  // Begins an answer without end, and leaves in the middle of it. Throws std::runtime_error if it does not begin.
  void leave();
  // One turn apart from the conversation, as OpenAI's clients ask it; gives the answer as it is.
  HttpAnswer ask(const std::string& text);
  // Holds the model with an answer without end until `enough` says so; it is asked after each piece.
  void hold(const std::function<bool()>& enough);

 private:
  Json asking(const Json& messages) const;

  const Options options_;
  HttpClient http_;
  std::mt19937 random_;
  Json messages_ = Json::array();
  int turns_ = 0;
};

}  // namespace rkllm_mcp::test
