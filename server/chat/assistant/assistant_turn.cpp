#include "chat/assistant/assistant_turn.hpp"

#include "chat/assistant/providers/remote_protocol.hpp"
#include "chat/turn/context.hpp"
#include "faults.hpp"
#include "jsonrpc/bounded_json.hpp"
#include "jsonrpc/envelope.hpp"
#include "text/utf8.hpp"
#include "upstreams/offered.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/lower_case.hpp>

#include <asio/post.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

// What was said, without the pictures, in the last message of a user; what was before it is `before`.
std::string question_in(Turn& turn, std::vector<ChatMessage>& before) {
  if (turn.raw_prompt) return *turn.raw_prompt;
  const auto last = std::ranges::find(turn.messages.rbegin(), turn.messages.rend(), Role::kUser, &ChatMessage::role);
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

std::string text_of_result(const Json& result) {
  std::string text;
  for (const Json& block : result.value("content", Json::array())) {
    if (block.value("type", "") == "text") text += (text.empty() ? "" : "\n") + block.value("text", "");
  }
  return text;
}

}  // namespace

// Tells the listener of a text that is being made: all that happens, if it is the answer; else only that it waits.
class AssistantTurn::TextRelay final : public TurnListener {
 public:
  explicit TextRelay(AssistantTurn& turn) : turn_(turn) {}

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
    const Timings& times = before.timings;
    if (!before.usage.generated || !times.generate_ms || !times.timed_tokens) return;
    turn_.listener_->progress({*before.usage.generated + progress.generated, *times.generate_ms + progress.ms,
                               *times.timed_tokens + progress.timed},
                              answer);
  }
  void event(const AnswerEvent& event, std::size_t answer) override {
    if (!turn_.is_answering_) return;
    if (const auto* const wanted = std::get_if<ToolCall>(&event)) return turn_.wanted_.push_back(*wanted);
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
  void finished(const Usage& /*sum*/) override {}  // whoever has asked for the text goes on with it
  void failed(const TurnError& /*error*/) override {}

 private:
  AssistantTurn& turn_;
};

AssistantTurn::AssistantTurn(Surroundings surroundings, Turn turn, const Asker& asker, std::string peer,
                             TurnListener& listener, std::function<void()> gone)
    : relay_(std::make_unique<TextRelay>(*this)),
      calls_(std::move(surroundings), asker, std::move(peer), turn.keep_alive,
             [this](const TurnError& error) { fail(error); }),
      turn_(std::move(turn)),
      asker_(asker),
      listener_(&listener),
      gone_(std::move(gone)) {
  if (!turn_.conversation.empty() && !turn_.is_task) kept_.emplace(calls_, turn_.conversation);
}

AssistantTurn::~AssistantTurn() {
  if (owns_conversation_) servers().end(asker_.name, kept_->id());
}

void AssistantTurn::begin() {
  // An error, which such clients take for "no title": the text of a refusal would become one.
  if (turn_.is_task && !profile().answers_tasks) {
    throw TurnError::not_supported("", "the profile \"" + profile().name +
                                           "\" answers no requests of a client for its own use (titles, tags, "
                                           "searches): its guardrail does not judge them; \"tasks\": true allows them");
  }
  question_ = question_in(turn_, history_);
  system_ = text_of_role(turn_, Role::kSystem);
  const std::size_t bytes = question_.size() + system_.size() + bytes_of(history_);
  if (bytes > kMostPromptBytes) throw TurnError::prompt_too_long(kMostPromptBytes).of_field(turn_.prompt_field);
  if (turn_.format.kind != OutputKind::kText) {
    throw TurnError::not_supported("response_format", "a profile answers in text");
  }
  if (has_conversation()) {
    if (!calls_.has_server(kMemoryServer)) {
      throw TurnError::not_supported("chat_id",
                                     "nothing is remembered here: memory-server does not run (services.only)");
    }
    const bool is_mine = servers().begin(asker_.name, kept_->id());
    if (!is_mine && !has_fault("two questions of a conversation are answered at once")) {
      throw TurnError::try_later(ErrorKind::kQueueFull, "an answer of this conversation is being made", 1);
    }
    owns_conversation_ = true;
  }
  asio::post(calls_.with().loop, [weak = weak_from_this()] {
    const auto turn = weak.lock();
    if (!turn || turn->listener_ == nullptr) return;
    turn->calls_.or_fail([&turn] { turn->turn_.is_task ? turn->answer_task() : turn->check_language(); });
  });
}

void AssistantTurn::hold() {
  is_held_ = true;
  if (is_answering_) calls_.hold();
}

void AssistantTurn::go_on() {
  is_held_ = false;
  if (is_answering_) calls_.go_on();
}

void AssistantTurn::listener_gone() {
  if (std::exchange(listener_, nullptr) == nullptr) return;
  if (has_answered()) return;  // the answer is whole, and is still kept
  calls_.give_up();
  is_answering_ = false;
  if (answer_.text.empty() || !has_conversation()) return leave();
  is_partial_ = !has_fault("a part of an answer is remembered as all of it");
  keep();
}

void AssistantTurn::stop() {
  calls_.begin_ending();
  if (!has_answered() || !calls_.is_making_text()) return;
  calls_.drop_text();  // a summary
  finish();
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
  ignore_if(turn_.keep_alive && turn_.keep_alive->unloads(), "keep_alive");
  for (std::string& field : not_sent(profile().provider, turn_)) beginning.ignored.push_back(std::move(field));
  beginning.conversation = conversation_;
  beginning.search_failed = search_failed_;
  listener_->begun(beginning);
}

void AssistantTurn::check_language() {
  language_ = language_of(question_, profile().default_language);
  if (!profile().asks_model_for_language) return check_guardrail();
  calls_.make_short_text(Purpose::kLanguage, language_, {{"question", question_}}, relay_.get(),
                         then(&AssistantTurn::language_told));
}

void AssistantTurn::language_told(const std::string& text, const TurnError* error) {
  // Without an answer the language stays what the letters of the question suggest.
  if (error == nullptr) {
    const std::string lower = in_lower_case(text);
    const auto begin = std::ranges::find_if(lower, [](char letter) { return letter >= 'a' && letter <= 'z'; });
    constexpr std::size_t kCodeBytes = 2;
    const std::string code(begin, begin + std::min<std::ptrdiff_t>(kCodeBytes, lower.end() - begin));
    language_ = language_of_code(code).value_or(language_);
  }
  check_guardrail();
}

void AssistantTurn::check_guardrail() {
  if (!profile().guardrail) return open_conversation();
  calls_.make_short_text(Purpose::kGuardrail, language_, {{"question", question_}}, relay_.get(),
                         then(&AssistantTurn::guardrail_told));
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
  kept_->look([this](bool is_there, const TurnError* error) {
    if (error != nullptr) return fail(*error);
    if (is_there) conversation_ = kept_->id();
    tell_refusal();
  });
}

void AssistantTurn::tell_refusal() {
  begin_telling({});
  if (listener_ != nullptr) listener_->event(TextDelta{profile().prompt(Purpose::kRefusal, language_)}, 0);
  if (listener_ != nullptr) listener_->ended({}, 0);
  finish();
}

// With a conversation only the question is the client's: what was said before it is what was kept.
void AssistantTurn::open_conversation() {
  if (!has_conversation()) return look_for_tool();
  kept_->read(question_, [this](const KeptConversation::Remembered& found, const TurnError* error) {
    if (error != nullptr) return fail(*error);
    conversation_ = found.id;
    history_ = found.messages;
    if (has_fault("what was said before is told the model twice"))
      history_.insert(history_.end(), found.messages.begin(), found.messages.end());
    summary_ = found.summary;
    look_for_tool();
  });
}

void AssistantTurn::look_for_tool() {
  if (!profile().search) return answer();
  calls_.call(profile().search->server, "tools/list", Json::object(), then(&AssistantTurn::tools_listed));
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
  calls_.call(search.server, "tools/call", {{"name", search.tool}, {"arguments", std::move(arguments)}},
              then(&AssistantTurn::searched));
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

Turn AssistantTurn::turn_of_answer() const {
  Turn turn;
  turn.sampling = turn_.sampling;
  if (!turn.sampling.temperature) turn.sampling.temperature = profile().temperature;
  turn.max_tokens = turn_.max_tokens ? turn_.max_tokens : profile().max_tokens;
  turn.stop = turn_.stop;
  turn.thinking = turn_.thinking;
  turn.thinking_field = turn_.thinking_field;
  turn.context = turn_.context;
  if (!system_.empty()) turn.messages.push_back(text_message(Role::kSystem, system_));
  return turn;
}

void AssistantTurn::answer() {
  answering_ = turn_of_answer();
  const std::string history = told(profile().wording(language_), history_);
  const Filling filling{{"question", question_}, {"history", history}, {"summary", summary_}, {"search", results_}};
  answering_.messages.push_back(
      text_message(Role::kUser, filled(profile().prompt(Purpose::kAnswer, language_), filling)));
  if (!profile().tools) return make_answer();
  unasked_ = servers().servers();
  gather_tools();
}

void AssistantTurn::answer_task() {
  answering_ = turn_of_answer();
  answering_.messages.push_back(text_message(Role::kUser, question_));
  make_answer();
}

void AssistantTurn::gather_tools() {
  if (unasked_.empty()) return make_answer();
  calls_.call(unasked_.back(), "tools/list", Json::object(), then(&AssistantTurn::tools_offered));
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
  calls_.make_text(turn_.is_task ? Purpose::kTask : Purpose::kAnswer, answering_, relay_.get(),
                   then(&AssistantTurn::answered));
  if (is_held_ && is_answering_) calls_.hold();
}

void AssistantTurn::answered(const std::string& text, const TurnError* error) {
  is_answering_ = false;
  if (error != nullptr) return fail(*error);
  if (!wanted_.empty()) {
    ChatMessage said = text_message(Role::kAssistant, text);
    said.calls = wanted_;
    answering_.messages.push_back(std::move(said));
    return call_tools();
  }
  if (listener_ != nullptr) listener_->ended(answer_.end, 0);
  if (!has_conversation() || answer_.text.empty()) return finish();
  keep();
}

// One after the other; the model is told what came of each.
void AssistantTurn::call_tools() {
  constexpr std::size_t kMostCalls = 8;  // of one round; more are not what anybody has asked for
  if (called_ == std::min(wanted_.size(), kMostCalls)) {
    called_ = 0;
    wanted_.clear();
    if (++rounds_ >= profile().tools->rounds) answering_.tool_choice.use = ToolUse::kNone;
    return make_answer();
  }
  const ToolCall& wanted = wanted_[called_];
  const auto server = tool_hosts_.find(wanted.name);
  if (server == tool_hosts_.end()) {
    const RpcError unknown(ErrorCode::kInvalidParams, "no such tool is offered");
    return tool_called(nullptr, std::make_exception_ptr(unknown));
  }
  calls_.call(server->second, "tools/call",
              {{"name", wanted.name}, {"arguments", parse_bounded(wanted.arguments).value_or(nullptr)}},
              then(&AssistantTurn::tool_called));
}

void AssistantTurn::tool_called(const Json& result, const std::exception_ptr& error) {
  const ToolCall& wanted = wanted_[called_++];
  const bool is_error = error || result.value("isError", false);
  const std::string text = error ? as_rpc_error(error).what() : text_of_result(result);
  ChatMessage told = text_message(
      Role::kTool, (is_error ? "error: " : "") + std::string(beginning_of(text, profile().tools->max_bytes)));
  told.call_id = wanted.id;
  told.tool_name = wanted.name;
  answering_.messages.push_back(std::move(told));
  call_tools();
}

void AssistantTurn::keep() {
  if (has_fault("what an assistant has answered is not remembered")) return finish();
  kept_->add({question_, answer_.text, is_partial_, language_}, [this] { finish(); });
}

void AssistantTurn::finish() {
  if (TurnListener* const listener = std::exchange(listener_, nullptr)) listener->finished(answer_.end.usage);
  leave();
}

void AssistantTurn::fail(const TurnError& error) {
  if (TurnListener* const listener = std::exchange(listener_, nullptr)) listener->failed(error);
  leave();
}

void AssistantTurn::leave() {
  if (std::exchange(owns_conversation_, false)) servers().end(asker_.name, kept_->id());
  gone_();
}

}  // namespace rkllm_mcp::chat
