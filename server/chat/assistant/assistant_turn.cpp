#include "chat/assistant/assistant_turn.hpp"

#include "chat/assistant/remote_request.hpp"
#include "chat/turn/context.hpp"
#include "jsonrpc/failure.hpp"
#include "run_loop.hpp"
#include "upstreams/tool_filter.hpp"

#include <rkllm_mcp/errors.hpp>

#include <asio/post.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::string_view kMemory = "memory-server";
constexpr std::string_view kBetweenSummaries = "\n\n";
// Of the question and what was said before it. It is searched and copied on the event loop, and no model holds more.
constexpr std::size_t kMostBytes = std::size_t{1} << 20U;

// What was said, without the pictures, in the last message of a user; what was before it is `before`.
std::string question_in(Turn& turn, std::vector<Message>& before) {
  if (turn.raw_prompt) return *turn.raw_prompt;
  const auto last = std::ranges::find(turn.messages.rbegin(), turn.messages.rend(), Role::kUser, &Message::role);
  if (last == turn.messages.rend()) throw TurnError::bad_field("messages", "there is none of the role user");
  if (std::ranges::any_of(turn.messages, has_image)) {
    throw TurnError::not_supported("messages", "a profile takes no pictures; send text only");
  }
  for (auto each = turn.messages.begin(); each != last.base() - 1; ++each) {
    const bool is_said = each->role == Role::kUser || each->role == Role::kAssistant;
    if (is_said && !text_of(*each).empty()) before.push_back(*each);
  }
  return text_of(*last);
}

// As memory/get_context gives them.
std::vector<Message> messages_in(const Json& result) {
  std::vector<Message> messages;
  for (const Json& each : result.at("messages")) {
    const auto role = each.at("role").get<std::string>();
    if (role != "user" && role != "assistant") continue;
    messages.push_back(
        text_message(role == "user" ? Role::kUser : Role::kAssistant, each.at("content").get<std::string>()));
  }
  return messages;
}

bool is_kept_loaded(const KeepAlive& wish) { return wish.forever || wish.seconds > 0; }

std::string text_of_result(const Json& result) {
  std::string text;
  for (const Json& block : result.value("content", Json::array())) {
    if (block.value("type", "") == "text") text += (text.empty() ? "" : "\n") + block.value("text", "");
  }
  return text;
}

// The memory server's complaint of a conversation's name is that of the client's field.
TurnError failure_of(std::string_view server, const std::exception_ptr& error) {
  const RpcError known = as_rpc_error(error);
  if (known.code() == ErrorCode::kInvalidParams) return TurnError::bad_field("chat_id", known.what());
  return {ErrorKind::kUpstream, std::string(server) + ": " + known.what()};
}

}  // namespace

// What is told of a text that is being made: all of it to whoever asked, if it is the answer; else only its end, here.
class AssistantTurn::Listening final : public TurnListener {
 public:
  Listening(AssistantTurn& turn, TakeText take, std::function<void(const std::string& error)> noted)
      : turn_(turn), take_(take), noted_(std::move(noted)) {}

  void queued(std::size_t places_before) override {
    if (turn_.listener_ != nullptr && !turn_.has_begun_) turn_.listener_->queued(places_before);
  }
  void loading(const LoadProgress& progress) override {
    if (turn_.listener_ != nullptr && !turn_.has_begun_) turn_.listener_->loading(progress);
  }
  void progress(const AnswerProgress& progress, std::size_t answer) override {
    if (!turn_.is_answering_ || turn_.listener_ == nullptr) return;
    const AnswerEnd& before = turn_.answer_.end;
    if (turn_.rounds_ == 0) return turn_.listener_->progress(progress, answer);
    if (!before.usage.generated || !before.timings.generate_ms) return;
    turn_.listener_->progress({*before.usage.generated + progress.generated, *before.timings.generate_ms + progress.ms},
                              answer);
  }
  void event(const AnswerEvent& event, std::size_t answer) override {
    append(answer_, event);
    if (!turn_.is_answering_) return;
    if (const auto* const wanted = std::get_if<ToolCall>(&event)) return turn_.calls_.push_back(*wanted);
    append(turn_.answer_, event);
    if (turn_.listener_ != nullptr) turn_.listener_->event(event, answer);
  }
  void ended(const AnswerEnd& end, std::size_t /*answer*/) override {
    if (!turn_.is_answering_) return;
    const AnswerEnd before = std::exchange(turn_.answer_.end, end);
    if (turn_.rounds_ == 0) return;
    turn_.answer_.end.usage = sum_of_runs(before.usage, end.usage);
    turn_.answer_.end.timings = sum_of_runs(before.timings, end.timings);
  }
  void begun(const TurnBeginning& beginning) override {
    if (turn_.is_answering_) turn_.begin_telling(beginning);
  }
  void finished(const Usage& /*sum*/) override { over(nullptr); }
  void failed(const TurnError& error) override { over(&error); }

 private:
  // This is destroyed by what follows.
  void over(const TurnError* error) {
    const std::string text = std::move(answer_.text);
    const auto kept = error == nullptr ? std::nullopt : std::optional(*error);
    AssistantTurn& turn = turn_;
    const TakeText take = take_;
    noted_(kept ? kept->what() : "");
    turn.making_.drop();
    turn.or_fail([&] { (turn.*take)(text, kept ? &*kept : nullptr); });
  }

  AssistantTurn& turn_;
  const TakeText take_;
  const std::function<void(const std::string& error)> noted_;
  Answer answer_;
};

AssistantTurn::AssistantTurn(Surroundings surroundings, Turn turn, const Asker& asker, std::string peer,
                             TurnListener& listener, std::function<void()> gone)
    : surroundings_(std::move(surroundings)),
      turn_(std::move(turn)),
      asker_(asker),
      principal_{asker.name, asker.may_call, asker.may_admin},
      peer_(std::move(peer)),
      listener_(&listener),
      gone_(std::move(gone)) {}

AssistantTurn::~AssistantTurn() {
  if (owns_conversation_) surroundings_.servers.end(asker_.name, turn_.conversation);
}

void AssistantTurn::begin() {
  question_ = question_in(turn_, history_);
  system_ = text_of_role(turn_, Role::kSystem);
  std::size_t bytes = question_.size() + system_.size();
  for (const Message& each : history_) bytes += text_of(each).size();
  if (bytes > kMostBytes) {
    throw TurnError(ErrorKind::kContext, "the messages are longer than the 1 MiB that a profile takes");
  }
  if (turn_.format.kind != OutputKind::kText) {
    throw TurnError::not_supported("response_format", "a profile answers in text");
  }
  if (has_conversation()) {
    if (surroundings_.servers.client(kMemory) == nullptr) {
      throw TurnError::not_supported("chat_id",
                                     "nothing is remembered here: memory-server does not run (services.only)");
    }
    if (!surroundings_.servers.begin(asker_.name, turn_.conversation)) {
      throw TurnError::try_later(ErrorKind::kQueueFull, "an answer of this conversation is being made", 1);
    }
    owns_conversation_ = true;
  }
  asio::post(surroundings_.loop, [weak = weak_from_this()] {
    const auto turn = weak.lock();
    if (turn && turn->listener_ != nullptr) turn->or_fail([&turn] { turn->check_language(); });
  });
}

void AssistantTurn::hold() {
  is_held_ = true;
  if (is_answering_ && making_.running) making_.running->hold();
}

void AssistantTurn::go_on() {
  is_held_ = false;
  if (is_answering_ && making_.running) making_.running->go_on();
}

void AssistantTurn::listener_gone() {
  if (std::exchange(listener_, nullptr) == nullptr) return;
  if (has_answered()) return;  // what it belongs to is still kept
  making_.drop();
  call_.reset();
  is_answering_ = false;
  if (answer_.text.empty() || !has_conversation()) return leave();
  is_partial_ = true;
  keep_question();
}

void AssistantTurn::stop() {
  is_ending_ = true;
  if (!has_answered() || !making_.running) return;
  making_.drop();  // a summary
  finish();
}

// --- how steps are made ----------------------------------------------------------------------------------------------

void AssistantTurn::note(const std::string& server, const std::string& what, Clock::time_point begun,
                         const std::string& error) const {
  if (!surroundings_.options.report) return;
  const auto time = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun);
  surroundings_.options.report({profile().name, asker_.name, peer_, server, what, time, error});
}

void AssistantTurn::call(std::string_view server, const std::string& method, const Json& params, TakeResult take) {
  const std::string name(server);
  const std::string what = params.contains("name") ? method + " " + params["name"].get<std::string>() : method;
  ServerClient* const client = surroundings_.servers.client(server);
  if (client == nullptr) {
    const RpcError error(ErrorCode::kMethodNotFound, "there is no server \"" + name + "\"");
    note(name, what, Clock::now(), error.what());
    return (this->*take)(nullptr, std::make_exception_ptr(error));
  }
  call_ = client->call_method(
      method, params, principal_,
      [this, weak = weak_from_this(), name, method, what, take, begun = Clock::now()](const Json& result,
                                                                                      const std::exception_ptr& error) {
        const auto alive = weak.lock();
        if (!alive) return;
        note(name, what, begun, error ? as_rpc_error(error).what() : "");
        const HostCall over = std::exchange(call_, nullptr);  // what has called this, until it returns
        or_fail([&] {
          try {
            (this->*take)(result, error);
          } catch (const Json::exception&) {
            fail(TurnError(ErrorKind::kUpstream, name + ": its answer to " + method + " has another form"));
          }
        });
      });
}

// Whatever goes wrong with a step ends the turn: nobody else would.
void AssistantTurn::or_fail(const std::function<void()>& step) {
  or_else(step, [this] { fail(TurnError(ErrorKind::kInternal, "internal error")); });
}

void AssistantTurn::make_text(Purpose purpose, Turn turn, TakeText take) {
  turn.model = profile().model_for(purpose);
  // Not unloaded between two texts: that is for whoever asks for the model itself.
  if (turn_.keep_alive && is_kept_loaded(*turn_.keep_alive)) turn.keep_alive = turn_.keep_alive;
  const std::string what(word_for(purpose));
  const auto begun = Clock::now();
  if (is_ending_) {
    const TurnError ending = TurnError::try_later(ErrorKind::kNoRoom, "the server is ending", 1);
    return (this->*take)("", &ending);
  }
  making_.listener = std::make_unique<Listening>(
      *this, take, [this, what, begun](const std::string& error) { note("model", what, begun, error); });
  try {
    making_.running =
        surroundings_.provider.make(profile(), {purpose, std::move(turn)}, asker_, peer_, *making_.listener);
  } catch (const TurnError& error) {
    const TurnError kept = error;
    note("model", what, begun, kept.what());
    making_.drop();
    (this->*take)("", &kept);
  }
}

void AssistantTurn::make_short_text(Purpose purpose, const Filling& filling, TakeText take) {
  Turn turn;
  constexpr std::int64_t kLanguageTokens = 8;
  const bool is_summary = purpose == Purpose::kSummary || purpose == Purpose::kShorterSummary;
  turn.max_tokens = is_summary                       ? profile().summary_tokens
                    : purpose == Purpose::kGuardrail ? profile().guardrail->max_tokens
                                                     : kLanguageTokens;
  turn.sampling.temperature = 0;
  turn.messages.push_back(text_message(Role::kUser, filled(profile().prompt(purpose, language_), filling)));
  make_text(purpose, std::move(turn), take);
}

std::string AssistantTurn::told(const std::vector<Message>& messages) const {
  const Wording& wording = profile().wording(language_);
  std::string text;
  for (const Message& each : messages) {
    text += text.empty() ? "" : "\n";
    text += (each.role == Role::kUser ? wording.user : wording.assistant) + ": " + text_of(each);
  }
  return text;
}

void AssistantTurn::begin_telling(TurnBeginning beginning) {
  if (std::exchange(has_begun_, true) || listener_ == nullptr) return;
  const auto ignore_if = [&beginning](bool is_asked_for, const char* field) {
    if (is_asked_for) beginning.ignored.emplace_back(field);
  };
  ignore_if(!turn_.tools.empty(), "tools");
  ignore_if(turn_.tool_choice.use != ToolUse::kAuto, "tool_choice");
  ignore_if(turn_.answers > 1, "n");
  ignore_if(turn_.drop_oldest_turns, "truncate");
  ignore_if(turn_.keep_alive && !is_kept_loaded(*turn_.keep_alive), "keep_alive");
  for (std::string& field : not_sent(profile().provider, turn_)) beginning.ignored.push_back(std::move(field));
  beginning.conversation = conversation_;
  beginning.search_failed = search_failed_;
  listener_->begun(beginning);
}

// --- the steps -------------------------------------------------------------------------------------------------------

void AssistantTurn::check_language() {
  language_ = language_of(question_, profile().default_language);
  if (!profile().asks_model_for_language) return check_guardrail();
  make_short_text(Purpose::kLanguage, {{"question", question_}}, &AssistantTurn::language_told);
}

void AssistantTurn::language_told(const std::string& text, const TurnError* error) {
  // Who cannot say it leaves what the letters say.
  if (error == nullptr) {
    std::string lower = text;
    std::ranges::transform(lower, lower.begin(), [](char letter) {
      return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    const auto begin = std::ranges::find_if(lower, [](char letter) { return letter >= 'a' && letter <= 'z'; });
    constexpr std::size_t kCodeBytes = 2;
    const std::string code(begin, begin + std::min<std::ptrdiff_t>(kCodeBytes, lower.end() - begin));
    language_ = language_of_code(code).value_or(language_);
  }
  check_guardrail();
}

void AssistantTurn::check_guardrail() {
  if (!profile().guardrail) return open_conversation();
  make_short_text(Purpose::kGuardrail, {{"question", question_}}, &AssistantTurn::guardrail_told);
}

void AssistantTurn::guardrail_told(const std::string& text, const TurnError* error) {
  const auto said = error == nullptr ? yes_or_no(text) : std::nullopt;
  if (said.value_or(profile().guardrail->lets_pass)) return open_conversation();
  if (error != nullptr) return fail(*error);  // nobody has judged the question: that is no refusal
  refuse();
}

// A refusal makes no conversation, and is not kept in one that there is.
void AssistantTurn::refuse() {
  if (!has_conversation()) return tell_refusal();
  call(kMemory, "memory/get_context", {{"conversation_id", turn_.conversation}, {"max_messages", 1}},
       &AssistantTurn::conversation_looked_at);
}

void AssistantTurn::conversation_looked_at(const Json& result, const std::exception_ptr& error) {
  if (error) return fail(failure_of(kMemory, error));
  if (!messages_in(result).empty()) conversation_ = turn_.conversation;
  tell_refusal();
}

void AssistantTurn::tell_refusal() {
  begin_telling({});
  if (listener_ != nullptr) listener_->event(TextDelta{profile().prompt(Purpose::kRefusal, language_)}, 0);
  if (listener_ != nullptr) listener_->ended({}, 0);
  finish();
}

void AssistantTurn::open_conversation() {
  if (!has_conversation()) return look_for_tool();
  call(kMemory, "memory/get_or_create", {{"conversation_id", turn_.conversation}}, &AssistantTurn::conversation_opened);
}

void AssistantTurn::conversation_opened(const Json& result, const std::exception_ptr& error) {
  if (error) return fail(failure_of(kMemory, error));
  conversation_ = result.at("conversation_id").get<std::string>();
  call(kMemory, "memory/get_context",
       {{"conversation_id", conversation_}, {"max_messages", surroundings_.options.context_messages}},
       &AssistantTurn::context_read);
}

// With a conversation only the question is the client's: what was said before it is what was kept.
void AssistantTurn::context_read(const Json& result, const std::exception_ptr& error) {
  if (error) return fail(failure_of(kMemory, error));
  history_ = messages_in(result);
  const bool is_asked_again =
      !history_.empty() && history_.back().role == Role::kUser && text_of(history_.back()) == question_;
  if (is_asked_again) history_.pop_back();
  call(kMemory, "memory/get_summary", {{"conversation_id", conversation_}}, &AssistantTurn::summary_read);
}

void AssistantTurn::summary_read(const Json& result, const std::exception_ptr& error) {
  if (error) return fail(failure_of(kMemory, error));
  summary_ = result.at("summary").get<std::string>();
  look_for_tool();
}

void AssistantTurn::look_for_tool() {
  if (!profile().search) return answer();
  call(profile().search->server, "tools/list", Json::object(), &AssistantTurn::tools_listed);
}

void AssistantTurn::tools_listed(const Json& result, const std::exception_ptr& error) {
  if (error) return search_failed(as_rpc_error(error).what());
  const Search& search = *profile().search;
  const Json tools = result.value("tools", Json::array());
  const auto found =
      std::ranges::find_if(tools, [&](const Json& tool) { return tool.value("name", "") == search.tool; });
  if (found == tools.end()) return search_failed(search.server + " has no tool \"" + search.tool + "\"");
  constexpr std::size_t kMostAsked = 400;  // bytes; search engines take no more
  Json arguments{{"query", beginning_of(question_, kMostAsked)}};
  const Json properties = found->value("inputSchema", Json::object()).value("properties", Json::object());
  if (properties.contains("max_results")) arguments["max_results"] = search.max_results;
  call(search.server, "tools/call", {{"name", search.tool}, {"arguments", std::move(arguments)}},
       &AssistantTurn::searched);
}

void AssistantTurn::searched(const Json& result, const std::exception_ptr& error) {
  if (error) return search_failed(as_rpc_error(error).what());
  const std::string text = text_of_result(result);
  if (result.value("isError", false)) return search_failed(text);
  results_ = beginning_of(text, profile().search->max_bytes);
  answer();
}

// The model is told, and answers all the same.
void AssistantTurn::search_failed(const std::string& why) {
  search_failed_ = true;
  results_ = "no search results: " + why;
  answer();
}

void AssistantTurn::answer() {
  Turn& turn = answering_;
  turn.sampling = turn_.sampling;
  if (!turn.sampling.temperature) turn.sampling.temperature = profile().temperature;
  turn.max_tokens = turn_.max_tokens ? turn_.max_tokens : profile().max_tokens;
  turn.stop = turn_.stop;
  turn.thinking = turn_.thinking;
  turn.context = turn_.context;
  if (!system_.empty()) turn.messages.push_back(text_message(Role::kSystem, system_));
  const Filling filling{
      {"question", question_}, {"history", told(history_)}, {"summary", summary_}, {"search", results_}};
  turn.messages.push_back(text_message(Role::kUser, filled(profile().prompt(Purpose::kAnswer, language_), filling)));
  if (!profile().tools) return make_answer();
  unasked_ = surroundings_.servers.servers();
  gather_tools();
}

void AssistantTurn::gather_tools() {
  if (unasked_.empty()) return make_answer();
  call(unasked_.back(), "tools/list", Json::object(), &AssistantTurn::tools_offered);
}

// A server that cannot be asked offers nothing.
void AssistantTurn::tools_offered(const Json& result, const std::exception_ptr& error) {
  const std::string server = unasked_.back();
  unasked_.pop_back();
  const ToolFilter filter{profile().tools->allow, {}};
  const Json tools = error ? Json::array() : result.value("tools", Json::array());
  for (const Json& each : tools) {
    const std::string name = each.value("name", "");
    if (!filter.passes(name) || !tool_hosts_.emplace(name, server).second) continue;
    answering_.tools.push_back({name, each.value("description", ""), each.value("inputSchema", Json())});
  }
  gather_tools();
}

void AssistantTurn::make_answer() {
  is_answering_ = true;
  make_text(Purpose::kAnswer, answering_, &AssistantTurn::answered);
  if (is_held_ && making_.running) making_.running->hold();
}

void AssistantTurn::answered(const std::string& text, const TurnError* error) {
  is_answering_ = false;
  if (error != nullptr) return fail(*error);
  if (!calls_.empty()) {
    Message said = text_message(Role::kAssistant, text);
    said.calls = calls_;
    answering_.messages.push_back(std::move(said));
    return call_tools();
  }
  if (listener_ != nullptr) listener_->ended(answer_.end, 0);
  if (!has_conversation() || answer_.text.empty()) return finish();
  keep_question();
}

// One after the other; the model is told what came of each.
void AssistantTurn::call_tools() {
  constexpr std::size_t kMostCalls = 8;  // of one round; more are not what anybody has asked for
  if (called_ == std::min(calls_.size(), kMostCalls)) {
    called_ = 0;
    calls_.clear();
    if (++rounds_ >= profile().tools->rounds) answering_.tool_choice.use = ToolUse::kNone;
    return make_answer();
  }
  const ToolCall& wanted = calls_[called_];
  const auto server = tool_hosts_.find(wanted.name);
  if (server == tool_hosts_.end()) {
    const RpcError unknown(ErrorCode::kInvalidParams, "no such tool is offered");
    return tool_called(nullptr, std::make_exception_ptr(unknown));
  }
  call(server->second, "tools/call",
       {{"name", wanted.name}, {"arguments", Json::parse(wanted.arguments, nullptr, false)}},
       &AssistantTurn::tool_called);
}

void AssistantTurn::tool_called(const Json& result, const std::exception_ptr& error) {
  const ToolCall& wanted = calls_[called_++];
  const bool is_error = error || result.value("isError", false);
  const std::string text = error ? as_rpc_error(error).what() : text_of_result(result);
  Message told = text_message(
      Role::kTool, (is_error ? "error: " : "") + std::string(beginning_of(text, profile().tools->max_bytes)));
  told.call_id = wanted.id;
  told.tool_name = wanted.name;
  answering_.messages.push_back(std::move(told));
  call_tools();
}

void AssistantTurn::keep_question() {
  call(kMemory, "memory/add_message",
       {{"conversation_id", turn_.conversation}, {"role", "user"}, {"content", question_}},
       &AssistantTurn::question_kept);
}

// The answer has gone out: what cannot be kept is in the log, and no reason to call the answer wrong.
void AssistantTurn::question_kept(const Json& /*result*/, const std::exception_ptr& error) {
  if (error) return finish();
  Json params{{"conversation_id", turn_.conversation}, {"role", "assistant"}, {"content", answer_.text}};
  if (is_partial_) params["metadata"] = {{"partial", true}};
  call(kMemory, "memory/add_message", params, &AssistantTurn::answer_kept);
}

void AssistantTurn::answer_kept(const Json& /*result*/, const std::exception_ptr& error) {
  if (error || is_partial_) return finish();
  summarize();
}

void AssistantTurn::summarize() {
  switch (profile().summary) {
    case SummaryUse::kNone: return finish();
    case SummaryUse::kEachResponse:
      return make_short_text(
          Purpose::kSummary,
          {{"history", told({text_message(Role::kUser, question_), text_message(Role::kAssistant, answer_.text)})}},
          &AssistantTurn::summary_made);
    case SummaryUse::kThreshold:
      return call(kMemory, "memory/get_old_messages", {{"conversation_id", turn_.conversation}},
                  &AssistantTurn::old_messages_read);
  }
}

void AssistantTurn::old_messages_read(const Json& result, const std::exception_ptr& error) {
  if (error) return finish();
  const auto old = messages_in(result);
  if (old.empty() || static_cast<std::int64_t>(old.size()) < surroundings_.options.summarize_threshold) return finish();
  make_short_text(Purpose::kSummary, {{"history", told(old)}}, &AssistantTurn::summary_made);
}

void AssistantTurn::summary_made(const std::string& text, const TurnError* error) {
  if (error != nullptr || text.empty()) return finish();
  summary_ += (summary_.empty() ? "" : std::string(kBetweenSummaries)) + text;
  if (summary_.size() <= surroundings_.options.most_summary_bytes) return keep_summary(summary_);
  make_short_text(Purpose::kShorterSummary, {{"summary", summary_}}, &AssistantTurn::shorter_summary_made);
}

void AssistantTurn::shorter_summary_made(const std::string& text, const TurnError* error) {
  keep_summary(error != nullptr || text.empty() ? summary_ : text);
}

void AssistantTurn::keep_summary(const std::string& text) {
  call(kMemory, "memory/set_summary", {{"conversation_id", turn_.conversation}, {"summary", text}},
       &AssistantTurn::summary_kept);
}

void AssistantTurn::summary_kept(const Json& /*result*/, const std::exception_ptr& /*error*/) { finish(); }

void AssistantTurn::finish() {
  if (TurnListener* const listener = std::exchange(listener_, nullptr)) listener->finished(answer_.end.usage);
  leave();
}

void AssistantTurn::fail(const TurnError& error) {
  if (TurnListener* const listener = std::exchange(listener_, nullptr)) listener->failed(error);
  leave();
}

void AssistantTurn::leave() {
  if (std::exchange(owns_conversation_, false)) surroundings_.servers.end(asker_.name, turn_.conversation);
  gone_();
}

}  // namespace rkllm_mcp::chat
