#include "chat/mcp/chat_call.hpp"

#include "chat/mcp/turn_failure.hpp"
#include "chat/turn/model_text.hpp"
#include "jsonrpc/envelope.hpp"
#include "mcp/catalogue.hpp"

#include <array>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::string_view kStopped = "stopped";
constexpr std::string_view kLength = "length";

std::string_view reason_of(Finish finish) { return finish == Finish::kLength ? kLength : "stop"; }

}  // namespace

ChatCall::ChatCall(Surroundings surroundings, mcp::Invocation& invocation, const Json& arguments,
                   std::function<void()> gone)
    : surroundings_(surroundings),
      invocation_(invocation.shared_from_this()),
      gone_(std::move(gone)),
      question_(arguments.at("message").get<std::string>()),
      conversation_(arguments.value("conversation", std::string())) {
  turn_.model = arguments.value("model", std::string());
  if (const auto system = arguments.find("system"); system != arguments.end()) {
    turn_.messages.push_back(text_message(Role::kSystem, system->get<std::string>()));
  }
  if (const auto temperature = arguments.find("temperature"); temperature != arguments.end()) {
    turn_.sampling.temperature = temperature->get<double>();
  }
  if (const auto most = arguments.find("max_tokens"); most != arguments.end()) {
    turn_.max_tokens = most->get<std::int64_t>();
  }
}

void ChatCall::begin() {
  invocation_->on_cancelled([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->cancelled();
  });
  invocation_->when_ended([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->over();
  });
  if (!invocation_->progress_token().is_null()) {
    progress_ = mcp::Progress::start(surroundings_.loop, *invocation_, mcp::ProgressMessage::kDelta);
  }
  find_model();
}

void ChatCall::find_model() {
  with_model(surroundings_.host, *invocation_, turn_.model, [weak = weak_from_this()](const ModelDescription& model) {
    const auto self = weak.lock();
    if (!self || self->state_ == State::kEnds) return;
    self->turn_.model = model.name;
    self->keeps_ = !self->conversation_.empty() && !model.is_profile;
    if (self->keeps_) return self->recall();
    self->turn_.conversation = self->conversation_;
    self->start_turn();
  });
}

void ChatCall::recall() {
  const auto go_on = [weak = weak_from_this()](Conversations::Recalled recalled) {
    const auto self = weak.lock();
    if (!self || self->state_ == State::kEnds) return;
    if (recalled.error) return self->fail(as_rpc_error(recalled.error));
    self->left_out_ = recalled.left_out;
    for (ChatMessage& each : recalled.messages) self->turn_.messages.push_back(std::move(each));
    self->start_turn();
  };
  surroundings_.conversations.recall(conversation_, *invocation_->request().session->principal, go_on);
}

void ChatCall::start_turn() {
  turn_.messages.push_back(text_message(Role::kUser, question_));
  turn_.drop_oldest_turns = keeps_;
  state_ = State::kWaits;
  try {
    running_ = surroundings_.host.start(turn_, asker_of(*invocation_), peer_of(*invocation_), *this);
  } catch (const TurnError& error) {
    failed(error);
  }
}

bool ChatCall::is_of_client(const mcp::InvocationRequest& other) const {
  const mcp::InvocationRequest& own = invocation_->request();
  if (own.session != other.session) return false;
  return !own.session->shared() ||
         host_of(own.reply->peer().facts().address) == host_of(other.reply->peer().facts().address);
}

Json ChatCall::status() const {
  constexpr std::array<const char*, 5> kWords{"begins", "waits", "loads", "answers", "ends"};
  return Json{{"model", turn_.model.empty() ? Json(nullptr) : Json(turn_.model)},
              {"conversation", conversation_.empty() ? Json(nullptr) : Json(conversation_)},
              {"state", kWords.at(static_cast<std::size_t>(state_))},
              {"calls_before", state_ == State::kWaits ? or_null(calls_before_) : Json(nullptr)},
              {"bytes", answer_.text.size()}};
}

void ChatCall::queued(std::size_t places_before) {
  state_ = State::kWaits;
  calls_before_ = places_before;
}

void ChatCall::loading(const LoadProgress&) { state_ = State::kLoads; }

void ChatCall::begun(const TurnBeginning& beginning) {
  state_ = State::kAnswers;
  ignored_ = beginning.ignored;
  left_out_ += beginning.dropped_messages;
  search_failed_ = beginning.search_failed;
}

void ChatCall::event(const AnswerEvent& event, std::size_t) {
  append(answer_, event);
  ++pieces_;
  if (!progress_) return;
  const auto* const text = std::get_if<TextDelta>(&event);
  progress_->update({.delta = text != nullptr ? std::string_view(text->text) : std::string_view(),
                     .tokens = pieces_,
                     .token_limit = 0});
}

void ChatCall::ended(const AnswerEnd& end, std::size_t) { answer_.end = end; }

void ChatCall::finished(const Usage&) { end(reason_of(answer_.end.finish)); }

void ChatCall::failed(const TurnError& error) { fail(rpc_error_of(error)); }

void ChatCall::stop() {
  if (state_ == State::kEnds) return;
  running_.reset();
  end(kStopped);
}

void ChatCall::fail(const RpcError& error) { invocation_->result(mcp::tool_error(error)); }

void ChatCall::give_up(const RpcError& error) {
  cancelled();
  fail(error);
}

void ChatCall::end(std::string_view finish_reason) {
  state_ = State::kEnds;
  if (!keeps_ || answer_.text.empty()) return answer(finish_reason, "");
  is_kept_meanwhile_ = true;
  surroundings_.conversations.keep(
      conversation_, *invocation_->request().session->principal,
      {.question = question_, .answer = answer_.text, .is_partial = finish_reason == kStopped},
      [weak = weak_from_this(), finish_reason](const std::exception_ptr& error) {
        const auto self = weak.lock();
        if (!self) return;
        self->is_kept_meanwhile_ = false;
        if (self->is_answered_) return self->gone_();
        self->answer(finish_reason, error ? as_rpc_error(error).what() : "");
      });
}

// Many hosts show a model nothing but the text, so what it has to know of it is there, too.
void ChatCall::answer(std::string_view finish_reason, const std::string& not_kept) {
  Json body = mcp::text_result(answer_.text);
  const auto add = [&body](const std::string& text) { body["content"].push_back(mcp::text_block(text)); };
  if (finish_reason == kLength) {
    add("The answer ends here because max_tokens, or the model's context, was reached.");
  }
  if (finish_reason == kStopped) add("The answer was stopped: this is not its whole text.");
  if (left_out_ > 0) add("The model was not told the " + std::to_string(left_out_) + " oldest messages.");
  if (search_failed_) add("The search for this answer failed: it was made without results.");
  if (!not_kept.empty()) add("Not all of this message and its answer was kept: " + not_kept);
  body["structuredContent"] = structured(finish_reason);
  if (keeps_) body["structuredContent"]["kept"] = not_kept.empty() && !answer_.text.empty();
  invocation_->result(std::move(body));
}

Json ChatCall::structured(std::string_view finish_reason) const {
  const Usage& usage = answer_.end.usage;
  Json all{{"text", answer_.text},
           {"model", turn_.model.empty() ? Json(nullptr) : Json(turn_.model)},
           {"finish_reason", finish_reason},
           {"usage",
            {{"prompt_tokens", or_null(usage.prompt)},
             {"cached_tokens", or_null(usage.cached)},
             {"completion_tokens", or_null(usage.generated)}}},
           {"tokens_per_second", or_null(speed_of(answer_.end).tokens_per_second)},
           {"simulated", surroundings_.is_simulated()}};
  if (!answer_.thinking.empty()) all["thinking"] = answer_.thinking;
  if (!ignored_.empty()) all["ignored"] = ignored_;
  if (search_failed_) all["search"] = "failed";
  if (!conversation_.empty()) all["conversation"] = conversation_;
  if (keeps_) all["left_out_messages"] = left_out_;
  return all;
}

// What has come of the answer belongs to the conversation all the same.
void ChatCall::cancelled() {
  running_.reset();
  if (std::exchange(state_, State::kEnds) == State::kEnds) return;
  if (!keeps_ || answer_.text.empty()) return;
  is_kept_meanwhile_ = true;
  surroundings_.conversations.keep(conversation_, *invocation_->request().session->principal,
                                   {.question = question_, .answer = answer_.text, .is_partial = true},
                                   [weak = weak_from_this()](const std::exception_ptr&) {
                                     const auto self = weak.lock();
                                     if (!self) return;
                                     self->is_kept_meanwhile_ = false;
                                     if (self->is_answered_) self->gone_();
                                   });
}

void ChatCall::over() {
  state_ = State::kEnds;
  if (progress_) progress_->stop();
  is_answered_ = true;
  // Until the conversation has it, nobody may go on with the conversation.
  if (!is_kept_meanwhile_) gone_();
}

}  // namespace rkllm_mcp::chat
