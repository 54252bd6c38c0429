#include "sim_chat_model.hpp"

#include "sim_backend.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace rkllm_mcp::simulation {
namespace {

constexpr std::int64_t kContext = 16384;

// At the end of a question.
constexpr std::string_view kForms[] = {"", ":call", ":json"};

struct Question {
  std::string name{};
  std::size_t tokens = 0;
  ChatForm form = ChatForm::kText;
};

Question last_question(const std::string& prompt) {
  const std::size_t begin = prompt.rfind('[');
  if (begin == std::string::npos) return {};
  const std::size_t colon = prompt.find(':', begin);
  if (colon == std::string::npos) return {};
  const std::string text = prompt.substr(begin, prompt.find(']', begin) - begin);
  const auto ends_with = [&text](ChatForm form) { return text.ends_with(kForms[static_cast<std::size_t>(form)]); };
  ChatForm form = ChatForm::kText;
  if (ends_with(ChatForm::kCall)) form = ChatForm::kCall;
  if (ends_with(ChatForm::kJson)) form = ChatForm::kJson;
  return {prompt.substr(begin + 1, colon - begin - 1), std::strtoull(prompt.c_str() + colon + 1, nullptr, 10), form};
}

// As the tokens of a text that is no token of ours.
void add_in_pieces(std::vector<std::string>& pieces, const std::string& text) {
  constexpr std::size_t kPiece = 7;
  for (std::size_t at = 0; at < text.size(); at += kPiece) pieces.push_back(text.substr(at, kPiece));
}

}  // namespace

SimChatModel::SimChatModel(World& world, const std::string& name, bool counts) : world_(world), counts_(counts) {
  facts_.name = name;
  facts_.file_name = name + ".rkllm";
  facts_.runtime_version = counts ? "1.3.0" : "1.2.1";
  facts_.max_context_len = kContext;
  facts_.has_run_options = counts;
  facts_.has_kv_size = true;
  facts_.template_name = "chatml";
  facts_.cache_identity = name;
}

std::string SimChatModel::question(std::string_view name, std::size_t tokens, ChatForm form) {
  return "[" + std::string(name) + ":" + std::to_string(tokens) + std::string(kForms[static_cast<std::size_t>(form)]) +
         "]";
}

std::string SimChatModel::json_of(const std::string& said) { return R"({"said": ")" + said + R"("})"; }

std::vector<std::string> SimChatModel::pieces_of(const std::string& name, std::size_t tokens, ChatForm form) {
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < tokens; ++i) pieces.push_back(SimBackend::token(name, i));
  switch (form) {
    case ChatForm::kText: break;
    case ChatForm::kCall:
      World::saw("a model called a tool");
      add_in_pieces(pieces,
                    "<tool_call>\n{\"name\": \"look\", \"arguments\": {\"about\": \"" + name + "\"}}\n</tool_call>");
      break;
    case ChatForm::kJson: {
      std::vector<std::string> said = std::exchange(pieces, {});
      switch (world_.choices().choose(6)) {
        case 4:
          World::saw("a model's JSON did not fit");
          ++wrong_[name];
          add_in_pieces(pieces, R"({"other": ")" + name + R"("})");
          return pieces;
        case 5:
          World::saw("a model's JSON was none");
          ++wrong_[name];
          add_in_pieces(pieces, "I would rather say " + name);
          return pieces;
        case 3: add_in_pieces(pieces, "```json\n"); break;
        default: break;
      }
      World::saw("a model's JSON fitted");
      wrong_.erase(name);
      pieces.emplace_back(R"({"said": ")");
      pieces.insert(pieces.end(), said.begin(), said.end());
      pieces.emplace_back("\"}");
      break;
    }
  }
  return pieces;
}

std::string SimChatModel::prompt_of(const std::string& name) const {
  const auto found = prompts_.find(name);
  return found == prompts_.end() ? "" : found->second;
}

std::size_t SimChatModel::given_of(const std::string& name) const {
  const auto found = given_.find(name);
  return found == given_.end() ? 0 : found->second;
}

std::size_t SimChatModel::wrong_answers(const std::string& name) const {
  const auto found = wrong_.find(name);
  return found == wrong_.end() ? 0 : found->second;
}

void SimChatModel::later(const std::string& what, std::function<void()> action) {
  world_.may_happen("model " + facts_.name + " " + what, [this, lease = leases_, action = std::move(action)] {
    if (lease == leases_) action();
  });
}

void SimChatModel::forget() {
  has_template_ = true;
  kv_.clear();
}

void SimChatModel::used_by_another() {
  World::saw("somebody else used a model between two turns");
  ++changes_;
  forget();
}

void SimChatModel::lease_ended() {
  ++leases_;
  run_.reset();
  is_held_ = is_aborted_ = is_offered_ = false;
}

void SimChatModel::clear_template(std::function<void(std::string complaint)> done) {
  kv_.clear();
  has_template_ = false;
  later("has its template off", [done = std::move(done)] { done(""); });
}

void SimChatModel::load_cache(const std::string& /*path*/, std::function<void(bool loaded)> done) {
  later("finds no cache", [done = std::move(done)] { done(false); });
}

void SimChatModel::run(std::string prompt, const chat::RunOptions& options,
                       std::function<void(std::string_view text)> on_token,
                       std::function<void(const chat::RunReport&)> done) {
  if (run_) world_.violates("a model is asked for two runs at once");
  if (has_template_) world_.violates("a run begins with the runtime's own template, or behind another's text");
  Question question = last_question(prompt);
  auto run = std::make_shared<Run>();
  run->is_side_run = options.max_new_tokens == 1;
  run->name = std::move(question.name);
  if (!run->is_side_run) run->pieces = pieces_of(run->name, question.tokens, question.form);
  run->tokens = run->pieces.size();
  run->prompt_tokens = static_cast<std::int64_t>(prompt.size()) + 1;
  const auto [same, unused] = std::mismatch(prompt.begin(), prompt.end(), kv_.begin(), kv_.end());
  const auto known = same - prompt.begin();
  run->prefilled = run->prompt_tokens - (known > 0 ? known + 1 : 0);
  const auto room = static_cast<std::size_t>(std::max<std::int64_t>(kContext + 1 - run->prompt_tokens, 0));
  run->limit = counts_ ? std::min(room, static_cast<std::size_t>(options.max_new_tokens)) : room;
  if (!run->is_side_run) {
    prompts_[run->name] = prompt;
    given_[run->name] = 0;
  }
  if (world_.choices().happens(30)) run->fails_at = world_.choices().choose(3);
  run->on_token = std::move(on_token);
  run->done = std::move(done);
  kv_ = std::move(prompt);
  is_aborted_ = is_held_ = false;
  run_ = std::move(run);
  offer();
}

void SimChatModel::abort() {
  is_aborted_ = true;
  go_on();
}

void SimChatModel::go_on() {
  is_held_ = false;
  offer();
}

void SimChatModel::offer() {
  if (!run_ || is_offered_ || is_held_) return;
  is_offered_ = true;
  later("goes on with " + run_->name, [this] {
    is_offered_ = false;
    if (run_ && !is_held_) work();
  });
}

void SimChatModel::work() {
  if (run_->limit == 0) return end(chat::RunEnd::kFailed, "the prompt is longer than the context");
  if (!std::exchange(run_->has_begun, true)) return offer();  // that was the prefill
  if (run_->given >= run_->fails_at) {
    World::saw("a run of the chat host failed");
    failed_.insert(run_->name);
    if (!run_->is_side_run) unanswered_.insert(run_->name);
    return end(chat::RunEnd::kFailed, "rkllm_run returned -1");
  }
  // The token that is being made when an abort comes perhaps still comes.
  const bool stops = is_aborted_ && (run_->given > 0 || world_.choices().choose(2) == 0);
  if (stops || run_->given >= run_->limit || run_->given > run_->tokens) {
    return end(is_aborted_ ? chat::RunEnd::kAborted : chat::RunEnd::kFinished, "");
  }
  give_token();
}

void SimChatModel::give_token() {
  const auto run = run_;  // what is told of the token may end the lease
  std::string piece = std::exchange(run->half, {});
  if (run->given < run->tokens) {
    piece += run->pieces[run->given];
    // Perhaps half a character; but not where nothing may follow.
    constexpr std::size_t kHalf = 2;
    const bool is_last = run->given + 1 >= run->tokens || is_aborted_;
    if (!is_last && counts_ && run->given + 1 < run->limit && world_.choices().happens(4) && piece.size() > kHalf) {
      run->half = piece.substr(piece.size() - kHalf);
      piece.resize(piece.size() - kHalf);
    }
  }
  ++run->given;
  // What is no token of its text may be held back, and is not counted.
  if (!run->is_side_run && piece.find('#') != std::string::npos) ++given_[run->name];
  run->on_token(piece);
  offer();
}

void SimChatModel::end(chat::RunEnd how, const std::string& complaint) {
  const auto run = std::exchange(run_, nullptr);
  chat::RunReport report;
  report.end = how;
  report.complaint = complaint;
  report.tokens = static_cast<std::int64_t>(run->given);
  if (how == chat::RunEnd::kFailed) {
    report.broke_off = run->has_begun;
    forget();
  } else {
    report.kv_size = run->prompt_tokens + report.tokens - 1;
    report.prefill_tokens = run->prefilled == 1 ? 0 : run->prefilled;
    report.prefill_ms = 10;
    report.generate_ms = 20;
  }
  run->done(report);
}

}  // namespace rkllm_mcp::simulation
