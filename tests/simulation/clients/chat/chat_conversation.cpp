#include "chat_conversation.hpp"

#include "simulation/server/sim_lender.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::simulation {
namespace {

// The model has been told these texts, in this order, and no other question than these and the last one.
void check_prompt(const std::string& prompt, const std::vector<std::string>& texts, const ChatQuestion& question) {
  std::size_t at = 0;
  std::size_t questions = 1;
  for (const std::string& text : texts) {
    at = prompt.find(text, at);
    if (at == std::string::npos) {
      throw Violation{"for " + question.name + " the model was not told \"" + text + "\": " + prompt};
    }
    at += text.size();
    questions += text.rfind('[', 0) == 0 ? 1U : 0U;
  }
  if (static_cast<std::size_t>(std::count(prompt.begin(), prompt.end(), '[')) != questions) {
    throw Violation{"for " + question.name + " the model was told something else: " + prompt};
  }
}

std::vector<std::string> texts_of(const ChatHistory& history) {
  std::vector<std::string> texts;
  for (const ChatExchanged& each : history) {
    texts.push_back(each.question);
    if (!each.answer.empty()) texts.push_back(each.answer);
    if (each.call) texts.push_back(each.about);
  }
  return texts;
}

// A question behind a call that has no result yet is that result.
void go_on_from(const ChatHistory& history, ChatQuestion& question) {
  if (history.empty() || !history.back().call) return;
  World::saw("a tool's result was brought");
  question.result_of = history.back().call;
}

// The client sends all of it each time.
class SentConversation final : public ChatConversation {
 public:
  explicit SentConversation(World& world)
      : world_(world),
        dialect_(static_cast<ChatDialect>(world.choices().choose(kChatDialects))),
        model_(SimLender::kModels[world.choices().choose(2)]),
        may_call_(world.choices().choose(2) == 1) {}

  ChatDialect dialect() const override { return dialect_; }
  std::string_view model() const override { return model_; }
  bool may_call() const override { return may_call_; }
  bool may_want_json() const override { return true; }

  Asked ask(ChatQuestion question) override {
    Asked asked;
    go_on_from(history_, question);
    asked.body = request_for(dialect_, model_, history_, question);
    if (dialect_ == ChatDialect::kOllama && world_.choices().happens(4)) asked.body["keep_alive"] = 0;
    asked.before = history_;
    asked.question = std::move(question);
    return asked;
  }

  void answered(const Asked& asked, const ChatAnswer& answer, const std::string& prompt) override {
    check_prompt(prompt, texts_of(asked.before), asked.question);
    history_ = asked.before;
    if (!answer.text().empty() || answer.call()) history_.push_back(answer.exchanged());
  }

  void go_back() override {
    if (history_.empty()) return;
    World::saw("a client went back in its conversation");
    history_.resize(world_.choices().choose(static_cast<std::uint32_t>(history_.size())));
  }

 private:
  World& world_;
  const ChatDialect dialect_;
  const std::string_view model_;
  const bool may_call_;
  ChatHistory history_;
};

// The server keeps its answers, and the client goes on from one of them.
class KeptConversation final : public ChatConversation {
 public:
  KeptConversation(World& world, SimServer& server)
      : world_(world),
        server_(server),
        model_(SimLender::kModels[world.choices().choose(2)]),
        may_call_(world.choices().choose(2) == 1) {}

  ChatDialect dialect() const override { return ChatDialect::kResponses; }
  std::string_view model() const override { return model_; }
  bool may_call() const override { return may_call_; }
  bool may_want_json() const override { return true; }

  Asked ask(ChatQuestion question) override {
    Asked asked;
    go_on_from(history_, question);
    const bool goes_on = !last_id_.empty() && world_.choices().choose(4) != 3;
    asked.body = request_for(dialect(), model_, goes_on ? ChatHistory{} : history_, question);
    if (goes_on) asked.body["previous_response_id"] = last_id_;
    asked.is_kept = world_.choices().choose(4) != 3;
    asked.body["store"] = asked.is_kept;
    asked.before = history_;
    asked.failures = server_.responses().failures();
    asked.question = std::move(question);
    if (goes_on) World::saw("a client went on from an answer that was kept");
    return asked;
  }

  void answered(const Asked& asked, const ChatAnswer& answer, const std::string& prompt) override {
    check_prompt(prompt, texts_of(asked.before), asked.question);
    if (answer.text().empty() && !answer.call()) return;  // nothing to go on from
    history_ = asked.before;
    history_.push_back(answer.exchanged());
    const bool is_kept = answer.is_kept();
    const bool may_be_lost = server_.responses().failures() > asked.failures;
    last_id_ = is_kept ? answer.id() : "";
    const bool is_right = is_kept ? asked.is_kept && server_.responses().texts_of(last_id_) == texts_of(history_)
                                  : !asked.is_kept || may_be_lost;
    if (!is_right) throw Violation{"what is kept of " + asked.question.name + " is not what was said"};
  }

  bool excuses(const Asked& asked, const std::string& /*error*/) override {
    return server_.responses().failures() > asked.failures;
  }

 private:
  World& world_;
  SimServer& server_;
  const std::string_view model_;
  const bool may_call_;
  ChatHistory history_;
  std::string last_id_;  // of the answer that ends it; empty: that is not kept
};

// The memory server keeps it, for an assistant.
class RememberedConversation final : public ChatConversation {
 public:
  RememberedConversation(World& world, SimServer& server, std::string id)
      : server_(server),
        id_(std::move(id)),
        dialect_(static_cast<ChatDialect>(world.choices().choose(kChatDialects))),
        assistant_(world.choices().choose(2)) {}

  ChatDialect dialect() const override { return dialect_; }
  std::string_view model() const override { return SimLender::kModels[assistant_]; }

  Asked ask(ChatQuestion question) override {
    Asked asked;
    asked.body = request_for(dialect_, SimServer::kAssistants[assistant_], {}, question);
    asked.fields["X-Conversation-Id"] = id_;
    asked.failures = failures();
    asked.overlaps = overlaps_;
    asked.question = std::move(question);
    const auto first_open = std::find_if(asked_.begin(), asked_.end(), [](const Told& each) { return each.is_open; });
    asked_.push_back({asked.question, static_cast<std::size_t>(first_open - asked_.begin())});
    if (++under_way_ > 1) ++overlaps_;
    return asked;
  }

  void answered(const Asked& asked, const ChatAnswer& answer, const std::string& prompt) override {
    end(asked);
    const auto& all = server_.memory().conversation(id_);
    std::vector<std::string> before;
    std::size_t at = 0;
    while (at < all.size() && all[at].content != asked.question.text()) before.push_back(all[at++].content);
    const bool is_there = at + 1 < all.size() && all[at + 1].content == answer.text() && !all[at + 1].is_partial;
    if (!is_there && !answer.text().empty() && failures() == asked.failures) {
      throw Violation{asked.question.name + " was answered, and is not remembered"};
    }
    if (is_there) {
      check_prompt(prompt, before, asked.question);
      World::saw("an assistant's answer was remembered");
    }
    check_end();
  }

  bool excuses(const Asked& asked, const std::string& error) override {
    end(asked);
    // Of two questions at once one is refused, which may be heard after the other's answer; and who has left may find
    // what has come of the answer not yet kept.
    const bool is_second = error.find("an answer of this conversation is being made") != std::string::npos;
    if (is_second && (overlaps_ > asked.overlaps || has_left_)) {
      World::saw("an assistant refused a second question");
      return true;
    }
    return failures() > asked.failures;
  }

  void left() override {
    --under_way_;
    has_left_ = true;
  }
  bool is_summed_up() const override { return assistant_ == 1; }

  // Each message is one of these questions, once, or an answer to the one before it. Of questions that were under way
  // at once, on connections of their own, any may have come first.
  void check_end() override {
    const auto& all = server_.memory().conversation(id_);
    std::size_t first = 0;  // of the questions that may still be remembered
    std::set<std::string> remembered;
    const ChatQuestion* question = nullptr;
    for (const SimMemory::Said& said : all) {
      if (said.role == "user") {
        const auto found = std::find_if(asked_.begin() + static_cast<std::ptrdiff_t>(first), asked_.end(),
                                        [&said](const Told& each) { return each.question.text() == said.content; });
        if (found == asked_.end() || !remembered.insert(said.content).second) {
          throw Violation{id_ + ": a question is remembered that was not asked, or not then"};
        }
        question = &found->question;
        first = std::max(first, found->first_open);
        continue;
      }
      const std::string whole = question == nullptr ? "" : question->answer();
      const bool fits =
          said.is_partial ? whole.compare(0, said.content.size(), said.content) == 0 : whole == said.content;
      if (!fits || question == nullptr) throw Violation{id_ + ": it is remembered that the model said " + said.content};
      if (said.is_partial) World::saw("a part of an answer was remembered");
      question = nullptr;
    }
  }

 private:
  struct Told {
    ChatQuestion question;
    std::size_t first_open;  // index of the oldest question under way when it was asked; else its own
    bool is_open = true;     // nothing has come back: for ever, if the client has left
  };

  std::size_t failures() const { return server_.memory().failures_of(id_); }

  void end(const Asked& asked) {
    --under_way_;
    for (Told& each : asked_) each.is_open = each.is_open && each.question.name != asked.question.name;
  }

  SimServer& server_;
  const std::string id_;
  const ChatDialect dialect_;
  const std::uint32_t assistant_;
  std::vector<Told> asked_;
  int under_way_ = 0;
  std::size_t overlaps_ = 0;
  bool has_left_ = false;
};

}  // namespace

std::unique_ptr<ChatConversation> make_sent_conversation(World& world) {
  return std::make_unique<SentConversation>(world);
}

std::unique_ptr<ChatConversation> make_kept_conversation(World& world, SimServer& server) {
  return std::make_unique<KeptConversation>(world, server);
}

std::unique_ptr<ChatConversation> make_remembered_conversation(World& world, SimServer& server, std::string id) {
  return std::make_unique<RememberedConversation>(world, server, std::move(id));
}

}  // namespace rkllm_mcp::simulation
