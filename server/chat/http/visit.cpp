#include "chat/http/visit.hpp"

#include "chat/http/chat_exchange.hpp"
#include "chat/turn/turn.hpp"
#include "faults.hpp"
#include "jsonrpc/unread.hpp"
#include "random_bytes.hpp"
#include "run_loop.hpp"
#include "text/utf8.hpp"

#include <rkllm_mcp/errors.hpp>

#include <asio/post.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr int kOk = 200;

bool wants_anthropic_models(const http::Request& request) {
  return request.headers.find("anthropic-version").has_value();
}

Surface surface_at(std::string_view path) {
  if (path == "/" || path.starts_with("/api/")) return Surface::kOllama;
  return path.starts_with("/v1/messages") ? Surface::kAnthropic : Surface::kOpenAi;
}

// Which conversation a client goes on with, where its requests have no field for that. Open WebUI sends the second.
ConversationHeader conversation_in(const http::Headers& headers) {
  for (const std::string_view name : {"X-Conversation-Id", "X-OpenWebUI-Chat-Id"}) {
    if (const auto value = headers.find(name)) return {std::string(name), std::string(*value)};
  }
  return {};
}

// Open WebUI can be told to send what it calls the task; a chat has none.
bool names_task(const http::Headers& headers) {
  const auto task = headers.find("x-openwebui-task");
  return task && is_name_of_task(*task);
}

}  // namespace

std::string corrected_path(std::string_view path) {
  std::string result;
  for (const char character : path) {
    if (character != '/' || result.empty() || result.back() != '/') result.push_back(character);
  }
  constexpr std::string_view kTwice = "/v1/v1/";
  if (result.starts_with(kTwice)) result.erase(0, kTwice.size() / 2);
  if (result.size() > 1 && result.back() == '/') result.pop_back();
  return result;
}

Surface surface_of(const http::Request& request, std::string_view path) {
  return wants_anthropic_models(request) && path.starts_with("/v1/models") ? Surface::kAnthropic : surface_at(path);
}

http::Headers ignored_fields(const std::vector<std::string>& fields) {
  http::Headers headers;
  add_ignored_fields(headers, fields);
  return headers;
}

TurnError no_memory_now() { return TurnError::try_later(ErrorKind::kQueueFull, no_memory().what(), 1); }

TurnError too_long_answer(const std::string& field, std::size_t bytes) {
  return TurnError::bad_field(field, "the answer has " + std::to_string(bytes) +
                                         " bytes, more than may be sent at once (limits.max_reply_bytes, "
                                         "limits.memory_bytes); ask for less at a time");
}

Visit::Visit(asio::io_context& loop, const Rules& rules, const http::Request& request, http::Exchange& of,
             MemoryShare share)
    : path(corrected_path(request.path)),
      method(request.method),
      wants_anthropic(wants_anthropic_models(request)),
      surface(surface_of(request, path)),
      request_id(new_id("req_")),
      peer(request.remote),
      conversation(conversation_in(request.headers)),
      is_task(names_task(request.headers)),
      exchange(of.shared_from_this()),
      memory(std::move(share)),
      loop_(loop),
      rules_(rules) {}

void Visit::check_conversation() const {
  if (!is_valid_utf8(conversation.id)) throw TurnError::bad_field(conversation.name, "expected UTF-8");
}

void Visit::answer(const Json& body, const http::Headers& headers) const { answer_text(to_text(body), headers); }

void Visit::answer_text(std::string json, const http::Headers& headers) const {
  http::Headers all = headers;
  add_request_id(all, surface, request_id);
  all.add("Cache-Control", "no-store");
  if (rules_.is_simulated()) all.add("x-rkllm-simulated", "true");
  exchange->respond({kOk, all, "application/json", std::move(json)});
  note(kOk);
}

void Visit::answer_long_text(std::string json, const std::string& field, const http::Headers& headers) const {
  if (json.size() > rules_.most_reply_bytes || !exchange->has_room_for(json.size())) {
    return refuse(too_long_answer(field, json.size()));
  }
  answer_text(std::move(json), headers);
}

void Visit::refuse(const TurnError& error) const { note(send_error(*exchange, surface, error, request_id)); }

void Visit::note(int status) const {
  if (!rules_.report) return;
  const auto time = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun_at_);
  rules_.report({request_id, peer, path, asker.name, status, time});
}

void Visit::or_refuse(const std::function<void()>& action) const {
  try {
    action();
  } catch (const TurnError& error) {
    refuse(error);
  } catch (const RpcError& error) {
    refuse(TurnError::bad_field("", error.what()));
  } catch (...) {
    refuse(TurnError(ErrorKind::kInternal, "internal error"));
    pass_on(loop_, std::current_exception());  // to be reported
  }
}

void OpenVisits::keep(std::uint64_t number, const Visit& visit, Open open) {
  open_[number].open = std::move(open);
  visit.exchange->when_closed([this, number, alive = alive_.watch()] {
    const bool is_noticed = !has_fault("nobody notices that who asked for a turn has gone") &&
                            !has_fault("embeddings are made for long, and for nobody");
    if (!alive.expired() && is_noticed) let_go(number);
  });
}

void OpenVisits::keep(std::uint64_t number, const Visit& visit, std::shared_ptr<void> answering) {
  keep(number, visit,
       {std::move(answering), [visit = visit.shared_from_this()](const TurnError& error) { visit->refuse(error); }});
}

// What is kept must not be destroyed while one of its callbacks runs.
void OpenVisits::let_go(std::uint64_t number) {
  open_[number].is_let_go = true;
  asio::post(loop_, [this, number, alive = alive_.watch()] {
    if (!alive.expired()) open_.erase(number);
  });
}

bool OpenVisits::has(std::uint64_t number) const {
  const auto found = open_.find(number);
  return found != open_.end() && !found->second.is_let_go;
}

void OpenVisits::end(std::uint64_t number, const std::function<void()>& answer) {
  if (!has(number)) return;
  answer();
  let_go(number);
}

std::size_t OpenVisits::size() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(open_, [](const auto& each) { return !each.second.is_let_go; }));
}

void OpenVisits::give_up_all(const TurnError& error) {
  const auto open = std::exchange(open_, {});
  for (const auto& [number, each] : open) {
    if (!each.is_let_go) each.open.give_up(error);
  }
}

}  // namespace rkllm_mcp::chat
