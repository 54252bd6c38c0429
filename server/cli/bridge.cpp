#include "cli/bridge.hpp"

#include "cli/run_command.hpp"
#include "cli/serve_options.hpp"
#include "cli/target.hpp"
#include "client/mcp/message_facts.hpp"
#include "clock.hpp"
#include "log_output.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace rkllm_mcp {
namespace {

using namespace std::chrono_literals;
constexpr auto kConnectPatience = 5s;
constexpr auto kLastAnswers = 500ms;   // after the end of input
constexpr auto kFirstRequest = 500ms;  // of a host that is to be told that the server cannot be reached

}  // namespace

void RequestsInFlight::note_sent(const client::MessageFacts& facts) {
  const std::lock_guard lock(mutex_);
  ids_.insert(ids_.end(), facts.requests.begin(), facts.requests.end());
  if (!facts.cancels.is_null()) std::erase(ids_, facts.cancels);  // nobody answers it now
  changed_.notify_all();
}

void RequestsInFlight::note_received(const client::MessageFacts& facts) {
  const std::lock_guard lock(mutex_);
  for (const Json& id : facts.answers) std::erase(ids_, id);
  ++being_printed_;
  changed_.notify_all();
}

void RequestsInFlight::note_printed() {
  const std::lock_guard lock(mutex_);
  --being_printed_;
  changed_.notify_all();
}

void RequestsInFlight::await_none(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [this] { return (ids_.empty() && being_printed_ == 0) || given_up_; });
}

std::vector<Json> RequestsInFlight::give_up() {
  const std::lock_guard lock(mutex_);
  given_up_ = true;
  changed_.notify_all();
  return std::exchange(ids_, {});
}

bool OutputLines::print(std::string line) {
  line += '\n';
  const std::lock_guard lock(mutex_);
  for (std::string_view rest = line; !rest.empty();) {
    const auto count = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {  // somebody else has made it non-blocking
      pollfd room{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&room, 1, -1);
      continue;
    }
    if (count < 0) {
      if (errno != EPIPE) error_ = errno;
      return false;
    }
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

Bridge::Bridge(client::Endpoint endpoint) : endpoint_(std::move(endpoint)) {}

Bridge::~Bridge() {
  if (!connection_) return;
  connection_->interrupt();
  if (receiver_.joinable()) receiver_.join();  // perhaps it could not be started
}

int Bridge::run() {
  try {
    connection_ = client::connect_mcp(endpoint_, Clock::now() + kConnectPatience);
  } catch (const client::ConnectionError& error) {
    return fail(words(error), kFirstRequest);
  }
  receiver_ = std::thread([this] { receive_all(); });
  try {
    send_all();
  } catch (const client::ConnectionError& error) {
    note_loss(words(error));
  }
  in_flight_.await_none(Clock::now() + kLastAnswers);
  const int error = output_.error();
  if (error != 0) {
    say_on_standard_error("rkllm-mcp: standard output could not be written: " + std::generic_category().message(error));
  }
  const std::lock_guard lock(mutex_);
  if (!loss_) return error == 0 ? kExitOk : kExitFailed;
  refuse(in_flight_.give_up(), *loss_);  // what was sent after the loss had been noted
  return fail(*loss_, 0ms);
}

std::string Bridge::words(const client::ConnectionError& error) const {
  SettingsRequest request;
  request.environment = current_environment();
  return words_of(error, serve_options_for(endpoint_.url(), endpoint_.protocol, request));
}

void Bridge::send_all() {
  std::string line;
  while (input_.next(-1ms, line) == InputLines::Event::kLine) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    const auto facts = client::facts_of(line);
    in_flight_.note_sent(facts);
    try {
      connection_->send(line);
    } catch (const std::invalid_argument& refused) {
      in_flight_.note_received({.answers = facts.requests});
      refuse(facts.requests, refused.what());
      in_flight_.note_printed();
    }
  }
}

void Bridge::receive_all() {
  try {
    for (;;) {
      const auto message = connection_->receive(Clock::now() + 1h);
      if (!message) continue;
      in_flight_.note_received(client::facts_of(*message));
      const bool is_printed = output_.print(client::on_one_line(*message));
      in_flight_.note_printed();
      if (is_printed) continue;
      in_flight_.give_up();
      return input_.wake();
    }
  } catch (const client::ConnectionError& error) {
    note_loss(words(error));
  }
}

void Bridge::note_loss(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (!loss_) loss_ = reason;
  }
  refuse(in_flight_.give_up(), reason);
  input_.wake();
}

int Bridge::fail(const std::string& reason, std::chrono::milliseconds patience) {
  say_on_standard_error("rkllm-mcp: " + reason);
  input_.forget_wakeup();
  std::string line;
  while (input_.next(patience, line) == InputLines::Event::kLine) {
    refuse(client::facts_of(line).requests, reason);
    patience = 0ms;
  }
  return kExitFailed;
}

void Bridge::refuse(const std::vector<Json>& requests, const std::string& reason) {
  for (const Json& id : requests) output_.print(client::error_in_place(id, reason, {{"url", endpoint_.url()}}));
}

}  // namespace rkllm_mcp
