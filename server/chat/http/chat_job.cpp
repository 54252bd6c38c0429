#include "chat/http/chat_job.hpp"

#include "chat/dialects/anthropic/anthropic_reply.hpp"
#include "chat/dialects/anthropic/anthropic_request.hpp"
#include "chat/dialects/ollama/ollama_reply.hpp"
#include "chat/dialects/openai/openai_chat_reply.hpp"
#include "chat/dialects/openai/openai_chat_request.hpp"
#include "chat/dialects/openai/openai_completion.hpp"
#include "chat/dialects/openai/responses_reply.hpp"
#include "chat/dialects/openai/responses_request.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

// What every job has of its request, which is moved from; `facts` get the model's name.
template <typename Request>
ChatJob job_of(Request& request, ReplyFacts& facts) {
  facts.model = request.turn.model;
  return {.turn = std::move(request.turn), .ignored = std::move(request.ignored)};
}

ChatJob openai_chat_job(const Json& json, ReplyFacts facts) {
  OpenAiChatRequest request = read_openai_chat(json);
  ChatJob job = job_of(request, facts);
  if (request.stream) job.stream = std::make_unique<OpenAiChatStream>(facts, request.figures);
  job.whole = [facts](const std::vector<Answer>& answers, const Usage& sum, const std::string& conversation) {
    ReplyFacts own = facts;
    own.fingerprint = conversation;
    return openai_chat_reply(own, answers, sum);
  };
  return job;
}

ChatJob openai_completion_job(const Json& json, ReplyFacts facts) {
  OpenAiCompletionRequest request = read_openai_completion(json);
  ChatJob job = job_of(request, facts);
  if (request.stream) job.stream = std::make_unique<OpenAiCompletionStream>(facts, request.include_usage);
  job.whole = [facts](const std::vector<Answer>& answers, const Usage& sum, const std::string&) {
    return openai_completion_reply(facts, answers, sum);
  };
  return job;
}

// ChatJob::whole, of a response.
decltype(ChatJob::whole) whole_response(const ReplyFacts& facts, const Json& settings) {
  return [facts, settings](const std::vector<Answer>& answers, const Usage& /*sum*/, const std::string&) {
    return responses_reply(facts, settings, answers.at(0));
  };
}

ChatJob responses_job(const Json& json, ReplyFacts facts) {
  ResponsesRequest request = read_responses(json);
  if (!request.instructions.empty()) {
    request.turn.messages.insert(request.turn.messages.begin(), text_message(Role::kSystem, request.instructions));
  }
  ChatJob job = job_of(request, facts);
  if (request.stream) job.stream = std::make_unique<ResponsesStream>(facts, request.settings);
  job.whole = whole_response(facts, request.settings);
  job.previous = std::move(request.previous_response);
  if (!request.store) return job;
  job.id = facts.id;
  request.settings["store"] = false;
  job.whole_unkept = whole_response(facts, request.settings);
  job.kept_items = [facts, items = items_of(json.at("input"))](const Answer& answer) {
    Json all = items;
    for (Json& item : output_of(facts, answer)) all.push_back(std::move(item));
    return all;
  };
  return job;
}

ChatJob anthropic_job(const Json& json, ReplyFacts facts) {
  AnthropicRequest request = read_anthropic(json);
  ChatJob job = job_of(request, facts);
  if (request.stream) job.stream = std::make_unique<AnthropicStream>(facts);
  job.whole = [facts](const std::vector<Answer>& answers, const Usage& /*sum*/, const std::string&) {
    return anthropic_reply(facts, answers.at(0));
  };
  return job;
}

ChatJob ollama_job(OllamaSurface surface, OllamaRequest request, ReplyFacts facts) {
  ChatJob job = job_of(request, facts);
  job.wish = request.wish;
  if (request.wish != OllamaWish::kAnswer) {
    job.loaded_reply = ollama_load_reply(surface, facts, request.wish);
    return job;
  }
  if (request.stream) job.stream = std::make_unique<OllamaStream>(surface, facts);
  job.whole = [surface, facts](const std::vector<Answer>& answers, const Usage& /*sum*/, const std::string&) {
    return ollama_reply(surface, facts, answers.at(0));
  };
  return job;
}

ChatJob ollama_chat_job(const Json& json, ReplyFacts facts) {
  return ollama_job(OllamaSurface::kChat, read_ollama_chat(json), std::move(facts));
}

ChatJob ollama_generate_job(const Json& json, ReplyFacts facts) {
  return ollama_job(OllamaSurface::kGenerate, read_ollama_generate(json), std::move(facts));
}

constexpr std::array kChatEndpoints = {
    ChatEndpoint{"/v1/chat/completions", Surface::kOpenAi, "chatcmpl-", openai_chat_job},
    ChatEndpoint{"/v1/completions", Surface::kOpenAi, "cmpl-", openai_completion_job},
    ChatEndpoint{"/v1/responses", Surface::kOpenAi, "resp_", responses_job},
    ChatEndpoint{"/v1/messages", Surface::kAnthropic, "msg_", anthropic_job},
    ChatEndpoint{"/api/chat", Surface::kOllama, "", ollama_chat_job},
    ChatEndpoint{"/api/generate", Surface::kOllama, "", ollama_generate_job},
};

}  // namespace

ErrorReply error_reply(Surface surface, const TurnError& error, std::string_view request_id) {
  switch (surface) {
    case Surface::kOpenAi: return openai_error_reply(error);
    case Surface::kOllama: return ollama_error_reply(error);
    case Surface::kAnthropic: return anthropic_error_reply(error, request_id);
  }
  return {};
}

const ChatEndpoint* find_chat_endpoint(std::string_view path) {
  const auto* const found = std::ranges::find(kChatEndpoints, path, &ChatEndpoint::path);
  return found == kChatEndpoints.end() ? nullptr : &*found;
}

}  // namespace rkllm_mcp::chat
