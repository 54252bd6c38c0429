#include "chat/mcp/conversations.hpp"

#include "jsonrpc/unread.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

std::optional<Role> role_named(const std::string& name) {
  if (name == "user") return Role::kUser;
  if (name == "assistant") return Role::kAssistant;
  if (name == "system") return Role::kSystem;
  return std::nullopt;  // results of tools, whose calls are not kept
}

// Replaces the memory server's advice to read in pages, which clients of the tool `chat` cannot do.
std::exception_ptr as_told_here(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const RpcError& known) {
    if (known.code() != ErrorCode::kTooLarge) return error;
    return std::make_exception_ptr(RpcError(
        ErrorCode::kTooLarge,
        "the conversation is too long to go on with: begin another one, or empty it with memory_clear", known.data()));
  } catch (...) {
    return error;
  }
}

}  // namespace

Conversations::Recalled latest_of(const Json& messages) {
  Conversations::Recalled recalled;
  std::size_t bytes = 0;
  std::size_t taken = 0;
  for (auto each = messages.rbegin(); each != messages.rend(); ++each, ++taken) {
    const auto role = role_named(each->at("role").get<std::string>());
    auto text = each->at("content").get<std::string>();
    bytes += text.size();
    if (taken == Conversations::kMostMessages || bytes > Conversations::kMostBytes) break;
    if (role) recalled.messages.push_back(text_message(*role, std::move(text)));
  }
  // An answer without its question would be the first that the model reads.
  while (!recalled.messages.empty() && recalled.messages.back().role == Role::kAssistant) recalled.messages.pop_back();
  std::ranges::reverse(recalled.messages);
  recalled.left_out = messages.size() - recalled.messages.size();
  return recalled;
}

Conversations::Conversations(asio::io_context& loop, const mcp::Service* memory)
    : memory_(loop, memory), reading_(loop) {}

void Conversations::recall(const std::string& id, const Principal& who, std::function<void(Recalled)> done) {
  const auto read = [this, done = std::move(done)](Json result, const std::exception_ptr& error) {
    const auto recalled = std::make_shared<Recalled>();  // filled in on the thread, then used on the loop
    recalled->error = error ? as_told_here(error) : nullptr;
    reading_.run(
        [recalled, result = std::move(result)] {
          if (recalled->error) return;
          try {
            *recalled = latest_of(read_whole(result).at("messages"));
          } catch (...) {
            recalled->error = std::current_exception();
          }
        },
        [recalled, done] { done(std::move(*recalled)); });
  };
  memory_.all_messages(id, who, read);
}

void Conversations::keep(const std::string& id, const Principal& who, QuestionAndAnswer said,
                         std::function<void(std::exception_ptr error)> done) {
  const auto then = [this, id, &who, answer = std::move(said.answer), is_partial = said.is_partial,
                     done = std::move(done)](const std::exception_ptr& error) {
    if (error) return done(error);
    memory_.add_message(id, who, "assistant", answer, is_partial ? Json{{"partial", true}} : Json(nullptr), done);
  };
  memory_.add_message(id, who, "user", std::move(said.question), nullptr, then);
}

}  // namespace rkllm_mcp::chat
