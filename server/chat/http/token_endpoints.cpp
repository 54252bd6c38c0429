#include "chat/http/token_endpoints.hpp"

#include "chat/dialects/anthropic/anthropic_reply.hpp"
#include "chat/dialects/anthropic/anthropic_request.hpp"
#include "chat/http/token_requests.hpp"
#include "chat/turn/context.hpp"
#include "clock.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

namespace rkllm_mcp::chat {

bool TokenEndpoints::post(Visit& visit, const Json& body) {
  if (visit.path == "/tokenize") {
    tokenize(visit, body);
  } else if (visit.path == "/detokenize") {
    detokenize(visit, body);
  } else if (visit.path == "/v1/messages/count_tokens") {
    count_tokens(visit, body);
  } else {
    return false;
  }
  return true;
}

void TokenEndpoints::answer_by_tokenizer(Visit& visit, std::string model_path, Work work) {
  use_tokenizer(visit, std::move(model_path), std::move(work), [visit = visit.shared_from_this()](std::string text) {
    visit->answer_long_text(std::move(text), {}, {});
  });
}

void TokenEndpoints::use_tokenizer(Visit& visit, std::string model_path, Work work,
                                   std::function<void(std::string text)> then) {
  struct Outcome {
    std::string text;
    std::optional<TurnError> error;
    std::atomic<bool> is_wanted{true};
  };
  const auto outcome = std::make_shared<Outcome>();
  const std::uint64_t number = open_.new_number();
  const auto make = [work = std::move(work), outcome](const Tokenizer* tokenizer) {
    constexpr std::chrono::seconds kLongest{5};
    const auto until = Clock::now() + kLongest;
    const auto keep_going = [&outcome, until] {
      if (!outcome->is_wanted) throw std::runtime_error("nobody waits for it any more");
      if (Clock::now() > until) throw std::runtime_error("it takes too long to divide");
    };
    try {
      keep_going();
      outcome->text = work(tokenizer, keep_going);
    } catch (const TurnError& error) {
      outcome->error = error;
    } catch (const std::exception& error) {
      outcome->error = TurnError(ErrorKind::kRuntimeFailed, error.what());
    }
  };
  auto tell = [this, visit = visit.shared_from_this(), number, outcome, then = std::move(then)] {
    open_.end(number, [&] {
      if (outcome->error) return visit->refuse(*outcome->error);
      then(std::move(outcome->text));
    });
  };
  // Destroyed when open_ lets go of the visit: the thread then sees that nobody wants the result, and stops.
  const std::shared_ptr<void> answering(outcome.get(), [outcome](void*) { outcome->is_wanted = false; });
  open_.keep(number, visit, answering);
  tokenizers_.use(std::move(model_path), make, std::move(tell));
}

void TokenEndpoints::count_tokens(Visit& visit, const Json& body) {
  AnthropicRequest request = read_anthropic_count(body);
  host_.plain_model_for(request.turn.model, visit.asker);
  const std::size_t said = bytes_of(request.turn);
  if (said > kMostPromptBytes) {  // no prompt is made of so much text: an estimate by its bytes says enough
    return visit.answer_text(anthropic_count_reply(estimated_tokens(said).tokens, CountKind::kEstimate),
                             ignored_fields(request.ignored));
  }
  const ChatHost::PromptOfModel prompt = host_.prompt_of(request.turn, visit.asker);
  const auto is_estimate = std::make_shared<bool>();
  const auto count = [prompt, is_estimate](const Tokenizer* tokenizer, const std::function<void()>& keep_going) {
    const TokenCount counted = tokens_of_prompt(prompt.text, prompt.is_whole ? tokenizer : nullptr, keep_going);
    *is_estimate = counted.is_estimate;
    return anthropic_count_reply(counted.tokens, counted.is_estimate ? CountKind::kEstimate : CountKind::kExact);
  };
  auto send = [this, visit = visit.shared_from_this(), request = std::move(request),
               is_estimate](std::string reply) mutable {
    const http::Headers headers = ignored_fields(request.ignored);
    if (!*is_estimate) return visit->answer_long_text(std::move(reply), {}, headers);
    count_by_prefill(*visit, std::move(request.turn), reply, headers);
  };
  use_tokenizer(visit, prompt.path, count, std::move(send));
}

void TokenEndpoints::count_by_prefill(Visit& visit, Turn turn, const std::string& estimate,
                                      const http::Headers& headers) {
  const std::uint64_t number = open_.new_number();
  const auto tell = [this, visit = visit.shared_from_this(), number, estimate,
                     headers](std::optional<std::int64_t> tokens) {
    open_.end(number, [&] {
      visit->answer_text(tokens ? anthropic_count_reply(*tokens, CountKind::kExact) : estimate, headers);
    });
  };
  std::unique_ptr<Running> counting;
  try {
    counting = host_.count(std::move(turn), visit.asker, visit.peer, tell);
  } catch (const TurnError&) {
    // A prompt that no model takes, since it is too long for example, is estimated.
  }
  if (counting == nullptr) return visit.answer_text(estimate, headers);
  open_.keep(number, visit, std::move(counting));
}

void TokenEndpoints::tokenize(Visit& visit, const Json& body) {
  TokenizeRequest request = read_tokenize(body);
  const ModelDescription model = host_.plain_model_for(request.model, visit.asker);
  answer_by_tokenizer(visit, model.path,
                      [request = std::move(request), most = visit.rules().most_reply_bytes](
                          const Tokenizer* tokenizer, const std::function<void()>& keep_going) mutable {
                        request.options.keep_going = keep_going;
                        return tokenize_reply(request, tokenizer, most);
                      });
}

void TokenEndpoints::detokenize(Visit& visit, const Json& body) {
  DetokenizeRequest request = read_detokenize(body);
  const ModelDescription model = host_.plain_model_for(request.model, visit.asker);
  answer_by_tokenizer(visit, model.path,
                      [request = std::move(request)](const Tokenizer* tokenizer, const std::function<void()>&) {
                        return detokenize_reply(request, tokenizer);
                      });
}

}  // namespace rkllm_mcp::chat
