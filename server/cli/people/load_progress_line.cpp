#include "cli/people/load_progress_line.hpp"

#include "json_members.hpp"
#include "model_name.hpp"
#include "text/shown.hpp"

#include <chrono>
#include <exception>
#include <optional>
#include <utility>

namespace rkllm_mcp {
namespace {

// A load that is over sooner than this needs no line.
constexpr std::chrono::milliseconds kBetweenQuestions{300};

bool is_asked_for(const Json& load, const std::string& model) {
  const Json wanted = without_latest(model);
  return load.is_object() && (load.value("name", Json()) == wanted || load.value("path", Json()) == wanted);
}

}  // namespace

LoadProgressLine::LoadProgressLine(const ServerLink& server, std::string model)
    : server_(server), model_(std::move(model)) {
  if (line_.is_shown()) looker_ = std::thread([this] { look(); });
}

void LoadProgressLine::end() {
  if (!looker_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  looker_.join();
  line_.clear();
}

void LoadProgressLine::look() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kBetweenQuestions, [this] { return is_over_; })) {
    lock.unlock();
    try {
      show(server_.health());
    } catch (const std::exception&) {
      return;  // whoever waits for the model is told what is wrong
    }
    lock.lock();
  }
}

void LoadProgressLine::show(const Json& health) {
  const Json loading = health.value("loading", Json::array());
  for (const Json& load : loading) {
    if (!is_asked_for(load, model_)) continue;
    std::string text = "loading";
    const auto total = number_in(load, "total");
    if (const auto bytes = number_in(load, "bytes")) {
      text += "  " + shown_progress(static_cast<std::int64_t>(*bytes),
                                    total ? std::optional(static_cast<std::int64_t>(*total)) : std::nullopt);
    } else if (total) {
      text += "  " + shown_bytes(static_cast<std::int64_t>(*total));
    }
    if (const auto left = number_in(load, "seconds_left"); left && *left >= 1) text += "  " + shown_time_left(*left);
    return line_.show(text, ProgressLine::When::kNow);
  }
  line_.clear();  // it is loaded, and the model reads the prompt
}

}  // namespace rkllm_mcp
