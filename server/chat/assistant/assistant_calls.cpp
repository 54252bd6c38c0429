#include "chat/assistant/assistant_calls.hpp"

#include "jsonrpc/envelope.hpp"
#include "run_loop.hpp"

#include <rkllm_mcp/errors.hpp>

#include <utility>

namespace rkllm_mcp::chat {

TurnError failure_of(std::string_view server, const std::exception_ptr& error) {
  const RpcError known = as_rpc_error(error);
  if (known.code() == ErrorCode::kInvalidParams) return TurnError::bad_field("chat_id", known.what());
  return {ErrorKind::kUpstream, std::string(server) + ": " + known.what()};
}

// Gathers a text that is being made, and tells it on.
class AssistantCalls::TextCollector final : public TurnListener {
 public:
  TextCollector(TurnListener* listener, TakeText over) : listener_(listener), over_(std::move(over)) {}

  void queued(std::size_t places_before) override {
    if (listener_ != nullptr) listener_->queued(places_before);
  }
  void loading(const LoadProgress& progress) override {
    if (listener_ != nullptr) listener_->loading(progress);
  }
  void begun(const TurnBeginning& beginning) override {
    if (listener_ != nullptr) listener_->begun(beginning);
  }
  void event(const AnswerEvent& event, std::size_t answer) override {
    append(answer_, event);
    if (listener_ != nullptr) listener_->event(event, answer);
  }
  void ended(const AnswerEnd& end, std::size_t answer) override {
    if (listener_ != nullptr) listener_->ended(end, answer);
  }
  void finished(const Usage& /*sum*/) override { over(nullptr); }
  void failed(const TurnError& error) override { over(&error); }

 private:
  // This is destroyed by what follows, and so is whoever has the error.
  void over(const TurnError* error) {
    const std::string text = std::move(answer_.text);
    const auto kept = error == nullptr ? std::nullopt : std::optional(*error);
    const TakeText take = std::move(over_);
    take(text, kept ? &*kept : nullptr);
  }

  TurnListener* const listener_;
  TakeText over_;
  Answer answer_;
};

AssistantCalls::AssistantCalls(Surroundings surroundings, const Asker& asker, std::string peer,
                               std::optional<KeepAlive> keep_alive, std::function<void(const TurnError& error)> failed)
    : surroundings_(std::move(surroundings)),
      asker_(asker),
      principal_{asker.name, asker.may_call, asker.may_admin},
      peer_(std::move(peer)),
      keep_alive_(keep_alive),
      failed_(std::move(failed)) {}

AssistantCalls::~AssistantCalls() = default;

void AssistantCalls::note(const std::string& server, const std::string& what, Clock::time_point begun,
                          const std::string& error) const {
  if (!surroundings_.options.report) return;
  const auto time = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun);
  surroundings_.options.report({profile().name, asker_.name, peer_, server, what, time, error});
}

void AssistantCalls::or_fail(const std::function<void()>& step) {
  or_else(step, [this] { failed_(TurnError(ErrorKind::kInternal, "internal error")); });
}

void AssistantCalls::call(std::string_view server, const std::string& method, const Json& params, TakeResult take) {
  const std::string name(server);
  const std::string what = params.contains("name") ? method + " " + params["name"].get<std::string>() : method;
  ServerClient* const client = surroundings_.servers.client(server);
  if (client == nullptr) {
    const RpcError error(ErrorCode::kMethodNotFound, "there is no server \"" + name + "\"");
    note(name, what, Clock::now(), error.what());
    return take(nullptr, std::make_exception_ptr(error));
  }
  call_ = client->call_method(
      method, params, principal_,
      [this, name, method, what, take = std::move(take), begun = Clock::now()](const Json& result,
                                                                               const std::exception_ptr& error) {
        note(name, what, begun, error ? as_rpc_error(error).what() : "");
        const auto over = std::exchange(call_, nullptr);  // the call must live until this function returns
        or_fail([&] {
          try {
            take(result, error);
          } catch (const Json::exception&) {
            failed_(TurnError(ErrorKind::kUpstream, name + ": its answer to " + method + " has another form"));
          }
        });
      });
}

void AssistantCalls::make_text(Purpose purpose, Turn turn, TurnListener* listener, TakeText take) {
  const bool is_here = profile().provider == ProviderKind::kRuntime;
  turn.model = profile().model_for(purpose, is_here ? surroundings_.options.guardrail_model : std::string());
  const std::string asked_model = turn.model;
  // A wish to unload the model at once is not passed on: it would be loaded again for each text of the same turn.
  if (keep_alive_ && !keep_alive_->unloads()) turn.keep_alive = keep_alive_;
  const std::string what(word_for(purpose));
  const auto begun = Clock::now();
  if (is_ending_) {
    const TurnError ending = TurnError::try_later(ErrorKind::kNoRoom, "the server is ending", 1);
    return take("", &ending);
  }
  collector_ = std::make_unique<TextCollector>(
      listener, [this, what, begun, take](const std::string& text, const TurnError* error) {
        note("model", what, begun, error == nullptr ? "" : error->what());
        drop_text();
        or_fail([&] { take(text, error); });
      });
  try {
    running_ = surroundings_.provider.make(profile(), {purpose, std::move(turn)}, asker_, peer_, *collector_);
  } catch (const TurnError& error) {
    const bool is_setting =
        error.kind() == ErrorKind::kUnknownModel && asked_model == surroundings_.options.guardrail_model;
    const TurnError kept =
        is_setting ? TurnError(ErrorKind::kRuntimeFailed, std::string("chat.guardrail_model: ") + error.what()) : error;
    note("model", what, begun, kept.what());
    drop_text();
    take("", &kept);
  }
}

void AssistantCalls::make_short_text(Purpose purpose, Language language, const Filling& filling, TurnListener* listener,
                                     TakeText take) {
  Turn turn;
  constexpr std::int64_t kLanguageTokens = 8;
  const bool is_summary = purpose == Purpose::kSummary || purpose == Purpose::kShorterSummary;
  turn.max_tokens = is_summary                       ? profile().summary_tokens
                    : purpose == Purpose::kGuardrail ? profile().guardrail->max_tokens
                                                     : kLanguageTokens;
  turn.sampling.temperature = 0;
  turn.messages.push_back(text_message(Role::kUser, filled(profile().prompt(purpose, language), filling)));
  make_text(purpose, std::move(turn), listener, std::move(take));
}

void AssistantCalls::hold() {
  if (running_) running_->hold();
}

void AssistantCalls::go_on() {
  if (running_) running_->go_on();
}

void AssistantCalls::drop_text() {
  running_.reset();  // first: it may still call collector_
  collector_.reset();
}

void AssistantCalls::give_up() {
  drop_text();
  call_.reset();
}

}  // namespace rkllm_mcp::chat
