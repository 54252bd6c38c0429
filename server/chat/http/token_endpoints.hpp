// What counts and divides texts by the tokenizer beside a model: llama.cpp's POST /tokenize and /detokenize, and
// Anthropic's POST /v1/messages/count_tokens.
//
// Event loop only. Tokenizers work on a thread beside it.
#pragma once

#include "chat/host/chat_host.hpp"
#include "chat/http/tokenizers.hpp"
#include "chat/http/visit.hpp"

#include <rkllm_mcp/json.hpp>

#include <asio/io_context.hpp>

#include <functional>
#include <string>
#include <utility>

namespace rkllm_mcp::chat {

class TokenEndpoints {
 public:
  // What is given outlives this.
  TokenEndpoints(asio::io_context& loop, ChatHost& host, OpenVisits& open, Tokenizers::WarnFunction warn)
      : host_(host), open_(open), tokenizers_(loop, std::move(warn)) {}

  // False if the path is another one's. Throws TurnError.
  bool post(Visit& visit, const Json& body);

 private:
  void count_tokens(Visit& visit, const Json& body);
  void tokenize(Visit& visit, const Json& body);
  void detokenize(Visit& visit, const Json& body);
  // Answers with the turn's tokens as the prefill of an idle model counts them; where there is none, with `estimate`.
  void count_by_prefill(Visit& visit, Turn turn, const std::string& estimate, const http::Headers& headers);
  // Makes a text on a thread beside the loop; what it throws is the answer. The tokenizer may be null. It is to call
  // `keep_going` often, which throws when nobody waits any more, or has waited long. `then` gets the text on the loop,
  // if somebody still waits.
  using Work = std::function<std::string(const Tokenizer* tokenizer, const std::function<void()>& keep_going)>;
  void use_tokenizer(Visit& visit, std::string model_path, Work work, std::function<void(std::string text)> then);
  // As use_tokenizer(), and answers the request with the text.
  void answer_by_tokenizer(Visit& visit, std::string model_path, Work work);

  ChatHost& host_;
  OpenVisits& open_;
  Tokenizers tokenizers_;
};

}  // namespace rkllm_mcp::chat
