#include "client/sockets/repeating_connection.hpp"

#include "client/mcp/message_facts.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>

namespace rkllm_mcp::client {
namespace {

constexpr std::chrono::milliseconds kFirstPause{200};
constexpr std::chrono::milliseconds kLongestRepeatPause{2000};  // the server keeps an answer for 30 s
constexpr std::chrono::milliseconds kLongestReceive{100};       // until send() of another thread is noticed
constexpr int kCancellations = 2;                               // after the first
constexpr std::size_t kRemembered = 256;

}  // namespace

void RepeatingConnection::send(std::string_view message) {
  const MessageFacts facts = facts_of(message);
  {
    const std::lock_guard lock(mutex_);
    const auto next = Clock::now() + kFirstPause;
    if (!facts.cancels.is_null()) {
      repeated_.remove_if([&](const Repeated& each) { return each.id == facts.cancels; });
      repeated_.push_back({nullptr, std::string(message), next, kFirstPause, kCancellations});
    }
    for (const Json& id : facts.requests) {
      std::erase_if(answered_, [&id](const Answered& each) { return each.id == id; });  // the id begins anew
      repeated_.push_back({id, std::string(message), next, kFirstPause, std::numeric_limits<int>::max()});
    }
  }
  try {
    lossy_->send(message);
  } catch (const std::invalid_argument& error) {
    refuse(facts.requests, error.what());
  }
}

void RepeatingConnection::refuse(const std::vector<Json>& requests, const std::string& complaint) {
  const std::lock_guard lock(mutex_);
  for (const Json& id : requests) {
    repeated_.remove_if([&id](const Repeated& each) { return each.id == id; });
    refused_.push_back(error_in_place(id, url_ + ": " + complaint, {{"url", url_}}));
  }
}

std::optional<std::string> RepeatingConnection::receive(Clock::time_point deadline) {
  for (;;) {
    send_due();
    {
      const std::lock_guard lock(mutex_);
      if (!refused_.empty()) {
        std::string refusal = std::move(refused_.front());
        refused_.pop_front();
        return refusal;
      }
    }
    auto message = lossy_->receive(next_due(deadline));
    if (message && is_new(*message)) return message;
    if (!message && Clock::now() >= deadline) return std::nullopt;
  }
}

void RepeatingConnection::send_due() {
  std::vector<std::string> due;
  {
    const std::lock_guard lock(mutex_);
    for (auto each = repeated_.begin(); each != repeated_.end();) {
      if (each->next > Clock::now()) {
        ++each;
        continue;
      }
      due.push_back(each->message);
      each->pause = std::min(2 * each->pause, kLongestRepeatPause);
      each->next = Clock::now() + each->pause;
      each = --each->left == 0 ? repeated_.erase(each) : std::next(each);
    }
  }
  for (const std::string& message : due) lossy_->send(message);
}

Clock::time_point RepeatingConnection::next_due(Clock::time_point deadline) {
  const std::lock_guard lock(mutex_);
  auto due = std::min(deadline, Clock::now() + kLongestReceive);
  for (const Repeated& each : repeated_) due = std::min(due, each.next);
  return due;
}

// Whether the message is to be handed out: false for an answer that has come before.
bool RepeatingConnection::is_new(const std::string& message) {
  const MessageFacts facts = facts_of(message);
  if (facts.answers.empty()) return true;
  const std::size_t hash = std::hash<std::string>()(message);
  const std::lock_guard lock(mutex_);
  for (const Json& id : facts.answers) {
    repeated_.remove_if([&id](const Repeated& each) { return each.id == id; });
    const bool is_old =
        std::ranges::any_of(answered_, [&](const Answered& each) { return each.hash == hash && each.id == id; });
    if (is_old) return false;
    answered_.push_back({id, hash});
    if (answered_.size() > kRemembered) answered_.pop_front();
  }
  return true;
}

}  // namespace rkllm_mcp::client
