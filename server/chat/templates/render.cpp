#include "chat/templates/render.hpp"

#include "chat/turn/turn_error.hpp"
#include "jsonrpc/bounded_json.hpp"
#include "jsonrpc/unread.hpp"
#include "text/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace rkllm_mcp::chat {
namespace {

std::string trimmed(const std::string& text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const auto begin = text.find_first_not_of(kSpace);
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// Writes the messages of one conversation, in order.
class ConversationWriter {
 public:
  ConversationWriter(const Family& family, const Conversation& conversation)
      : family_(family),
        conversation_(conversation),
        offers_tools_(!conversation.tools.empty() && conversation.tool_choice.use != ToolUse::kNone) {
    for (std::size_t i = 0; i < conversation.messages.size(); ++i) {
      if (conversation.messages[i].role == Role::kUser) last_user_ = i;
    }
  }

  // `past`: as if a user's message followed, so that nothing that was thought is written.
  void write_messages(std::span<const ChatMessage> messages, bool past) {
    std::size_t at = write_beginning(messages);
    while (at < messages.size()) {
      const ChatMessage& message = messages[at];
      switch (message.role) {
        case Role::kSystem: write_system(content_of(message)); break;
        case Role::kUser: write_user(content_of(message) + instruction_behind(at)); break;
        case Role::kAssistant: write_assistant(message, !past && last_user_ && at > *last_user_); break;
        case Role::kTool: at += write_results(messages.subspan(at)) - 1; break;
      }
      ++at;
    }
    if (!waiting_system_.empty()) write_user("");  // else it would be lost
  }

  // Returns whether the answer now begins within its thinking.
  bool write_answer_beginning(bool may_think) {
    const bool marked = !(after_results_ && family_.no_answer_after_results);
    if (marked) text_ += family_.answer;
    if (!marked) return false;
    text_ += may_think ? family_.thinking.on : not_thinking();
    return may_think && !family_.thinking.on.empty();
  }

  void write_raw(std::string_view text) { text_ += text; }
  std::string take() { return std::move(text_); }

  std::string content_of(const ChatMessage& message) const {
    const std::string text = neutral_text(family_, text_of(message));
    const bool trims = message.role == Role::kSystem ? family_.trim_system : message.role != Role::kTool;
    return family_.trim_content && trims ? trimmed(text) : text;
  }

 private:
  std::string not_thinking() const {
    const ThinkingForm& form = family_.thinking;
    if (!form.off.empty() || form.open.empty() || conversation_.thinking != Thinking::kSkipped) return form.off;
    return form.open + "\n\n" + form.close + "\n\n";
  }

  std::string instruction_behind(std::size_t message) const {
    if (conversation_.instruction.empty() || last_user_ != message) return "";
    return "\n\n" + neutral_text(family_, conversation_.instruction);
  }

  // The system text, all system messages at the beginning being one, and the tools. Returns the first message behind.
  std::size_t write_beginning(std::span<const ChatMessage> messages) {
    std::string system;
    std::size_t at = 0;
    for (; at < messages.size() && messages[at].role == Role::kSystem; ++at) {
      if (!system.empty()) system += "\n\n";
      system += content_of(messages[at]);
    }
    if (at == 0) system = family_.default_system;
    if (offers_tools_) system = family_.tools.before_system + system;
    const bool in_system = offers_tools_ && family_.tools.position == ToolPosition::kInSystem;
    if (in_system) system += (system.empty() ? "" : family_.tools.after_system) + definitions();
    if (!system.empty()) write_system(system);
    if (offers_tools_ && family_.tools.position == ToolPosition::kOwnTurn) text_ += definitions();
    if (offers_tools_ && family_.tools.position == ToolPosition::kInFirstUser) before_user_ = definitions();
    return at;
  }

  std::string definitions() const {
    std::string lines;
    for (const FunctionTool& tool : conversation_.tools) {
      if (!lines.empty()) lines += family_.tools.between_tools;
      lines += neutral_text(family_, python_json(definition_of(tool), family_.tools.indent));
    }
    return filled(family_.tools.definitions, {{"tools", lines}});
  }

  Json definition_of(const FunctionTool& tool) const {
    Json function = {{"name", tool.name}};
    if (!tool.description.empty()) function["description"] = tool.description;
    if (!tool.parameters.is_null()) function["parameters"] = tool.parameters;
    if (family_.tools.bare_functions) return function;
    return Json{{"type", "function"}, {"function", std::move(function)}};
  }

  void write_system(const std::string& content) {
    if (family_.system.empty()) {
      waiting_system_ += filled(family_.system_before_user, {{"content", content}});
    } else {
      text_ += filled(family_.system, {{"content", content}});
    }
  }

  void write_user(const std::string& content) {
    text_ += filled(family_.user, {{"content", waiting_system_ + before_user_ + content}});
    waiting_system_.clear();
    before_user_.clear();
    after_results_ = false;
  }

  void write_assistant(const ChatMessage& sent, bool with_thinking) {
    const ChatMessage message = with_thinking_apart(sent);
    std::string content;
    if (with_thinking && !message.thinking.empty() && !family_.thinking.history.empty()) {
      const std::string thinking = trimmed(neutral_text(family_, message.thinking));
      content = filled(family_.thinking.history, {{"thinking", thinking}});
    }
    const std::string said = content_of(message);
    content += said;
    if (!message.calls.empty()) content += (said.empty() ? "" : family_.tools.after_content) + calls_of(message);
    const bool other_form = after_results_ && !family_.assistant_after_results.empty();
    text_ += filled(other_form ? family_.assistant_after_results : family_.assistant, {{"content", content}});
    after_results_ = false;
  }

  // Some clients send what was thought back as the beginning of the text, marks included.
  ChatMessage with_thinking_apart(const ChatMessage& message) const {
    const ThinkingForm& form = family_.thinking;
    const std::string text = text_of(message);
    const auto begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
    if (form.open.empty() || text.compare(begin, form.open.size(), form.open) != 0) return message;
    const auto end = text.find(form.close, begin);
    if (end == std::string::npos) return message;
    const auto rest = std::min(text.find_first_not_of("\r\n", end + form.close.size()), text.size());
    ChatMessage apart = message;
    apart.parts = {TextPart{text.substr(rest)}};
    const auto thinking = begin + form.open.size();
    if (apart.thinking.empty()) apart.thinking = text.substr(thinking, end - thinking);
    return apart;
  }

  std::string calls_of(const ChatMessage& message) const {
    std::string calls;
    for (const ToolCall& call : message.calls) {
      if (!calls.empty()) calls += family_.tools.between_calls;
      const auto parsed = parse_bounded(call.arguments);
      const std::string arguments = neutral_text(family_, parsed ? python_json(*parsed) : call.arguments);
      const std::string name = neutral_text(family_, call.name);
      calls += filled(family_.tools.call, {{"name", to_text(name)}, {"plain_name", name}, {"arguments", arguments}});
    }
    return filled(family_.tools.calls, {{"calls", calls}});
  }

  // The results at the beginning of `messages`; returns how many there are.
  std::size_t write_results(std::span<const ChatMessage> messages) {
    std::string results;
    std::size_t count = 0;
    for (; count < messages.size() && messages[count].role == Role::kTool; ++count) {
      if (count > 0) results += family_.tools.between_results;
      const std::string content = content_of(messages[count]);
      const std::string name = neutral_text(family_, messages[count].tool_name);
      const std::string quoted = to_text(content);
      results += filled(family_.tools.result, {{"content", content}, {"content_json", quoted}, {"name", name}});
    }
    if (family_.tools.results.empty()) {
      write_user(results);
    } else {
      text_ += filled(family_.tools.results, {{"results", results}});
    }
    after_results_ = true;
    return count;
  }

  const Family& family_;
  const Conversation& conversation_;
  const bool offers_tools_;
  std::optional<std::size_t> last_user_;
  std::string text_;
  std::string waiting_system_;  // goes before the next user's content
  std::string before_user_;     // the tools, where the first user's message has them
  bool after_results_ = false;
};

std::string forced_beginning(const Family& family, const Conversation& conversation) {
  const ToolChoice& choice = conversation.tool_choice;
  if (!choice.must_call()) return "";
  require_tools(choice, conversation.tools);
  if (choice.use == ToolUse::kRequired && conversation.tools.size() > 1) return family.tools.forced;
  const std::string name = choice.use == ToolUse::kNamed ? choice.name : conversation.tools.front().name;
  if (std::ranges::find(conversation.tools, name, &FunctionTool::name) == conversation.tools.end()) {
    throw TurnError::bad_field("tool_choice", "there is no tool with this name");
  }
  const std::string neutral = neutral_text(family, name);
  return filled(family.tools.forced_named, {{"name", to_text(neutral)}, {"plain_name", neutral}});
}

}  // namespace

void require_tools(const ToolChoice& choice, const std::vector<FunctionTool>& tools) {
  if (choice.must_call() && tools.empty()) throw TurnError::bad_field("tool_choice", "there are no tools to be called");
}

Conversation conversation_of(const Turn& turn, std::string instruction) {
  return {.messages = turn.messages,
          .tools = turn.tools,
          .tool_choice = turn.tool_choice,
          .thinking = turn.thinking,
          .instruction = std::move(instruction)};
}

bool can_be_told(const ThinkingForm& form, Thinking thinking) {
  const bool never_thinks = form.open.empty();
  switch (thinking) {
    case Thinking::kAsTheModelDoes:
    case Thinking::kSkipped: return true;
    case Thinking::kOff: return never_thinks || !form.off.empty() || !form.on_by_itself;
    case Thinking::kOn: return !never_thinks && (form.on_by_itself || !form.on.empty());
  }
  return true;
}

Prompt render(const Family& family, const Conversation& conversation) {
  if (conversation.messages.empty()) throw TurnError::bad_field("messages", "there are none");
  Prompt prompt{.text = "", .forced = forced_beginning(family, conversation), .in_thinking = false};
  const ChatMessage& last = conversation.messages.back();
  const bool goes_on = last.role == Role::kAssistant && last.calls.empty() && prompt.forced.empty();

  std::span<const ChatMessage> messages = conversation.messages;
  ConversationWriter writer(family, conversation);
  writer.write_messages(goes_on ? messages.first(messages.size() - 1) : messages, false);
  const bool leaves_it_to_the_model =
      conversation.thinking == Thinking::kAsTheModelDoes || !can_be_told(family.thinking, conversation.thinking);
  const bool wants_to_think =
      leaves_it_to_the_model ? family.thinking.on_by_itself : conversation.thinking == Thinking::kOn;
  const bool answer_has_begun = goes_on || !prompt.forced.empty();
  prompt.in_thinking = writer.write_answer_beginning(wants_to_think && !answer_has_begun);
  if (goes_on) writer.write_raw(writer.content_of(last));
  writer.write_raw(prompt.forced);
  prompt.text = writer.take();
  return prompt;
}

std::string text_for_next_turn(const Family& family, const Conversation& conversation) {
  Conversation past = conversation;
  past.instruction.clear();
  ConversationWriter writer(family, past);
  writer.write_messages(past.messages, true);
  return writer.take();
}

namespace {

void line_end(std::string& out, unsigned indent, unsigned level) {
  if (indent == 0) return;
  out.push_back('\n');
  out.append(std::size_t{indent} * level, ' ');
}

void write_python_json(std::string& out, const Json& value, unsigned indent, unsigned level) {
  if (!value.is_structured() || value.empty()) {
    out += to_text(value);
    return;
  }
  out.push_back(value.is_object() ? '{' : '[');
  bool first = true;
  for (auto member = value.begin(); member != value.end(); ++member) {
    if (!first) out += indent == 0 ? ", " : ",";
    first = false;
    line_end(out, indent, level + 1);
    if (value.is_object()) out.append(to_text(member.key())).append(": ");
    write_python_json(out, *member, indent, level + 1);
  }
  line_end(out, indent, level);
  out.push_back(value.is_object() ? '}' : ']');
}

}  // namespace

std::string python_json(const Json& value, unsigned indent) {
  std::string out;
  write_python_json(out, value, indent, 0);
  return out;
}

namespace {

// Longer ones are no tokens; and so a text full of opening brackets is not searched to its end for each of them.
constexpr std::size_t kLongestSpecialToken = 64;

bool is_in_brackets(std::string_view text, std::string_view open, std::string_view close) {
  if (!text.starts_with(open)) return false;
  const auto inside = text.substr(open.size(), kLongestSpecialToken);
  const auto end = inside.find(close);
  return end != std::string_view::npos && inside.substr(0, end).find_first_of(" \t\n\r") == std::string_view::npos;
}

bool begins_with_special(const Family& family, std::string_view text) {
  return std::ranges::any_of(family.special_tokens,
                             [text](const std::string& token) { return text.starts_with(token); }) ||
         std::ranges::any_of(family.special_brackets,
                             [text](const auto& pair) { return is_in_brackets(text, pair.first, pair.second); });
}

// Most characters begin no token: by their first byte that is known without a look at all tokens.
std::array<bool, 256> first_bytes(const Family& family) {
  std::array<bool, 256> begins{};
  const auto add = [&begins](std::string_view token) {
    if (!token.empty()) begins[static_cast<unsigned char>(token.front())] = true;
  };
  for (const std::string& token : family.special_tokens) add(token);
  for (const auto& [open, close] : family.special_brackets) add(open);
  return begins;
}

}  // namespace

std::string neutral_text(const Family& family, std::string_view text) {
  const auto begins = first_bytes(family);
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto rest = text.substr(at);
    const std::size_t bytes = std::min(first_character_bytes(rest), rest.size());
    result += rest.substr(0, bytes);
    if (begins[static_cast<unsigned char>(rest.front())] && begins_with_special(family, rest)) result.push_back(' ');
    at += bytes;
  }
  return result;
}

}  // namespace rkllm_mcp::chat
