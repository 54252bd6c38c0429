#include "chat/assistant/kept_conversation.hpp"

#include "faults.hpp"

#include <cstdint>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::string_view kBetweenSummaries = "\n\n";

// As memory/get_context gives them.
std::vector<ChatMessage> messages_in(const Json& result) {
  std::vector<ChatMessage> messages;
  for (const Json& each : result.at("messages")) {
    const auto role = each.at("role").get<std::string>();
    if (role != "user" && role != "assistant") continue;
    messages.push_back(
        text_message(role == "user" ? Role::kUser : Role::kAssistant, each.at("content").get<std::string>()));
  }
  return messages;
}

}  // namespace

std::string told(const Wording& wording, const std::vector<ChatMessage>& messages) {
  std::string text;
  for (const ChatMessage& each : messages) {
    text += text.empty() ? "" : "\n";
    text += (each.role == Role::kUser ? wording.user : wording.assistant) + ": " + text_of(each);
  }
  return text;
}

Json KeptConversation::with_id(Json params) const {
  params["conversation_id"] = id_;
  return params;
}

void KeptConversation::look(std::function<void(bool is_there, const TurnError* error)> done) {
  calls_.call(kMemoryServer, "memory/get_context", with_id({{"max_messages", 1}}),
              [done = std::move(done)](const Json& result, const std::exception_ptr& error) {
                if (!error) return done(!messages_in(result).empty(), nullptr);
                const TurnError failure = failure_of(kMemoryServer, error);
                done(false, &failure);
              });
}

void KeptConversation::read(const std::string& question,
                            std::function<void(const Remembered& found, const TurnError* error)> done) {
  question_ = question;
  read_ = std::move(done);
  calls_.call(kMemoryServer, "memory/get_or_create", with_id(Json::object()),
              [this](const Json& result, const std::exception_ptr& error) {
                if (error) return context_read(nullptr, error);
                remembered_.id = result.at("conversation_id").get<std::string>();
                calls_.call(
                    kMemoryServer, "memory/get_context",
                    with_id({{"max_messages", calls_.with().options.context_messages}}),
                    [this](const Json& messages, const std::exception_ptr& why) { context_read(messages, why); });
              });
}

void KeptConversation::context_read(const Json& result, const std::exception_ptr& error) {
  const auto failed = [this](const std::exception_ptr& why) {
    const TurnError failure = failure_of(kMemoryServer, why);
    read_({}, &failure);
  };
  if (error) return failed(error);
  auto& messages = remembered_.messages;
  messages = messages_in(result);
  const bool is_asked_again =
      !messages.empty() && messages.back().role == Role::kUser && text_of(messages.back()) == question_;
  if (is_asked_again) messages.pop_back();
  calls_.call(kMemoryServer, "memory/get_summary", with_id(Json::object()),
              [this, failed](const Json& summary, const std::exception_ptr& why) {
                if (why) return failed(why);
                remembered_.summary = summary.at("summary").get<std::string>();
                read_(remembered_, nullptr);
              });
}

void KeptConversation::add(Addition addition, std::function<void()> done) {
  addition_ = std::move(addition);
  added_ = std::move(done);
  const auto answer_kept = [this](const Json&, const std::exception_ptr& error) {
    if (error || addition_.is_partial) return added_();
    summarize();
  };
  const auto question_kept = [this, answer_kept](const Json&, const std::exception_ptr& error) {
    if (error) return added_();
    const bool is_answer = !has_fault("an answer is remembered as a question");
    Json params = with_id({{"role", is_answer ? "assistant" : "user"}, {"content", addition_.answer}});
    if (addition_.is_partial) params["metadata"] = {{"partial", true}};
    calls_.call(kMemoryServer, "memory/add_message", params, answer_kept);
  };
  calls_.call(kMemoryServer, "memory/add_message", with_id({{"role", "user"}, {"content", addition_.question}}),
              question_kept);
}

void KeptConversation::summarize() {
  switch (calls_.profile().summary) {
    case SummaryUse::kNone: return added_();
    case SummaryUse::kEachResponse: {
      const std::vector<ChatMessage> both{text_message(Role::kUser, addition_.question),
                                          text_message(Role::kAssistant, addition_.answer)};
      const Wording& wording = calls_.profile().wording(addition_.language);
      return calls_.make_short_text(
          Purpose::kSummary, addition_.language, {{"history", told(wording, both)}}, nullptr,
          [this](const std::string& text, const TurnError* error) { summary_made(text, error); });
    }
    case SummaryUse::kThreshold:
      return calls_.call(
          kMemoryServer, "memory/get_old_messages", with_id(Json::object()),
          [this](const Json& result, const std::exception_ptr& error) { old_messages_read(result, error); });
  }
}

void KeptConversation::old_messages_read(const Json& result, const std::exception_ptr& error) {
  if (error) return added_();
  const auto old = messages_in(result);
  const bool are_few = static_cast<std::int64_t>(old.size()) < calls_.with().options.summarize_threshold;
  if (old.empty() || are_few) return added_();
  calls_.make_short_text(Purpose::kSummary, addition_.language,
                         {{"history", told(calls_.profile().wording(addition_.language), old)}}, nullptr,
                         [this](const std::string& text, const TurnError* why) { summary_made(text, why); });
}

void KeptConversation::summary_made(const std::string& text, const TurnError* error) {
  if (error != nullptr || text.empty()) return added_();
  std::string& all = remembered_.summary;
  all += (all.empty() ? "" : std::string(kBetweenSummaries)) + text;
  if (all.size() <= calls_.with().options.most_summary_bytes) return keep_summary(all);
  calls_.make_short_text(Purpose::kShorterSummary, addition_.language, {{"summary", all}}, nullptr,
                         [this](const std::string& shorter, const TurnError* why) {
                           keep_summary(why != nullptr || shorter.empty() ? remembered_.summary : shorter);
                         });
}

void KeptConversation::keep_summary(const std::string& text) {
  calls_.call(kMemoryServer, "memory/set_summary", with_id({{"summary", text}}),
              [this](const Json&, const std::exception_ptr&) { added_(); });
}

}  // namespace rkllm_mcp::chat
