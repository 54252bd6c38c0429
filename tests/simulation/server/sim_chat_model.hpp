// A loaded model as the chat host sees it (ModelSeam): one run at a time, tokens one by one, each as an event of its
// own. What it says follows from the last question of its prompt, "[NAME:COUNT]": COUNT tokens that can be told from
// those of any other question; behind these a call of the tool, or all of it as JSON, where the question wants that.
// The JSON is wrong at times. Each byte of a prompt is a token. As in the runtime, the KV cache keeps the last prompt,
// and what a new one shares with its beginning is not computed again.
#pragma once

#include "simulation/world/world.hpp"

#include "chat/turn/model_seam.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::simulation {

// What a question wants: text, text and a call of the tool, or JSON.
enum class ChatForm { kText, kCall, kJson };

class SimChatModel final : public chat::ModelSeam {
 public:
  // `counts`: it takes a limit for each run; otherwise the host has to count.
  SimChatModel(World& world, const std::string& name, bool counts);

  const chat::ModelFacts& facts() const override { return facts_; }
  std::uint64_t foreign_changes() const override { return changes_; }
  void clear_template(std::function<void(std::string complaint)> done) override;
  void run(std::string prompt, const chat::RunOptions& options, std::function<void(std::string_view text)> on_token,
           std::function<void(const chat::RunReport&)> done) override;
  void abort() override;
  void hold() override { is_held_ = true; }
  void go_on() override;
  void load_cache(const std::string& path, std::function<void(bool loaded)> done) override;

  // It was loaded anew, or somebody else has used it: the template is on, and the KV cache is empty.
  void forget();
  void used_by_another();
  // No callback is called from now on.
  void lease_ended();

  // A question as a client asks it: "[NAME:COUNT]", with ":call" or ":json" behind COUNT where `form` says so.
  static std::string question(std::string_view name, std::size_t tokens, ChatForm form = ChatForm::kText);
  static std::string json_of(const std::string& said);

  // The prompt in which the question of this name was asked; empty: it never was.
  std::string prompt_of(const std::string& name) const;
  bool has_failed(const std::string& name) const { return failed_.count(name) > 0; }
  bool has_failed_to_answer(const std::string& name) const { return unanswered_.count(name) > 0; }
  // How many of its last answers in a row were not the JSON that they had to be.
  std::size_t wrong_answers(const std::string& name) const;
  std::size_t given_of(const std::string& name) const;  // tokens of its answer that have come out

 private:
  struct Run {
    std::string name;
    std::size_t tokens = 0;
    std::vector<std::string> pieces;  // the whole answer, token by token
    std::string half;                 // the part of a character that the last token has left out
    std::size_t given = 0;
    std::size_t limit = 0;
    std::int64_t prompt_tokens = 0;
    std::int64_t prefilled = 0;
    bool is_side_run = false;  // it counts, or warms up
    bool has_begun = false;
    std::size_t fails_at = static_cast<std::size_t>(-1);
    std::function<void(std::string_view)> on_token;
    std::function<void(const chat::RunReport&)> done;
  };

  // `action` happens some time, unless the lease ends before.
  void later(const std::string& what, std::function<void()> action);
  void offer();
  void work();
  void give_token();
  std::vector<std::string> pieces_of(const std::string& name, std::size_t tokens, ChatForm form);
  void end(chat::RunEnd how, const std::string& complaint);

  World& world_;
  chat::ModelFacts facts_;
  const bool counts_;
  std::uint64_t changes_ = 1;
  std::uint64_t leases_ = 0;
  bool has_template_ = true;
  std::string kv_;
  std::shared_ptr<Run> run_;
  bool is_offered_ = false;
  bool is_held_ = false;
  bool is_aborted_ = false;
  std::map<std::string, std::string> prompts_;
  std::map<std::string, std::size_t> given_;
  std::set<std::string> failed_;
  std::set<std::string> unanswered_;
  std::map<std::string, std::size_t> wrong_;
};

}  // namespace rkllm_mcp::simulation
