#include "cli/help/progress_line.hpp"

#include "clock.hpp"
#include "text/shown.hpp"
#include "text/utf8.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace rkllm_mcp {
namespace {

// `of`: above 0.
std::string bar_of(std::int64_t done, std::int64_t of) {
  constexpr std::int64_t kColumns = 30;
  constexpr std::int64_t kAll = 100;
  const std::int64_t known = std::clamp<std::int64_t>(done, 0, of);
  const auto filled = static_cast<std::size_t>(kColumns * known / of);
  return "[" + std::string(filled, '#') + std::string(kColumns - filled, '.') + "] " +
         std::to_string(kAll * known / of) + "%  ";
}

}  // namespace

ProgressLine::ProgressLine() : is_shown_(::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(const std::string& text, When when) {
  constexpr std::chrono::milliseconds kBetween{200};
  const auto now = Clock::now();
  if (!is_shown_ || (when == When::kSometimes && now - last_ < kBetween)) return;
  last_ = now;
  is_open_ = true;
  winsize size{};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  // The last column is left free: some terminals begin a new line there.
  const std::string line = is_known ? fitted_progress(text, size.ws_col - std::size_t{1}) : text;
  std::fprintf(stderr, "\r%s\033[K", line.c_str());
}

void ProgressLine::say(const std::string& words) {
  if (!is_shown_) return;
  end();
  std::fprintf(stderr, "%s\n", words.c_str());
}

void ProgressLine::end() {
  if (is_open_) std::fprintf(stderr, "\n");
  is_open_ = false;
}

void ProgressLine::clear() {
  if (is_open_) std::fprintf(stderr, "\r\033[K");
  is_open_ = false;
}

std::string shown_progress(std::int64_t done, std::optional<std::int64_t> of) {
  if (!of || *of <= 0) return shown_bytes(done);
  return bar_of(done, *of) + shown_bytes(done) + " of " + shown_bytes(*of);
}

std::string shown_count(std::int64_t done, std::int64_t of) {
  return bar_of(done, of) + std::to_string(done) + " of " + std::to_string(of);
}

std::string fitted_progress(std::string text, std::size_t columns) {
  if (characters_in(text) <= columns) return text;
  const auto bar = text.find('[');
  const auto behind = text.find("] ", std::min(bar, text.size()));
  if (behind != std::string::npos) text.erase(bar, behind + 2 - bar);
  while (characters_in(text) > columns) {
    const auto part = text.rfind("  ");
    if (part != std::string::npos && part != 0) {
      text.resize(part);
    } else {
      while (characters_in(text) > columns) text.resize(beginning_of(text, text.size() - 1).size());
    }
  }
  return text;
}

std::string shown_time_left(double seconds) {
  constexpr long long kMinute = 60;
  const auto left = static_cast<long long>(seconds);
  return (left < 2 * kMinute ? std::to_string(left) + " s" : std::to_string(left / kMinute) + " min") + " left";
}

}  // namespace rkllm_mcp
