#include "pull/download.hpp"

#include "pull/hub.hpp"
#include "pull/part_file.hpp"
#include "text/shown.hpp"

#include <charconv>
#include <exception>
#include <string_view>
#include <system_error>
#include <utility>

namespace rkllm_mcp {
namespace {

// Connections that break off are made again, as long as each has brought something.
constexpr std::int64_t kWorthAnother = 1024 * 1024;  // bytes
constexpr int kMostWithoutThat = 3;

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// Of "bytes 100-199/200": where it begins, and how many there are in all.
struct ContentRange {
  std::int64_t from;
  std::optional<std::int64_t> of;
};
std::optional<ContentRange> content_range(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return std::nullopt;
  text.remove_prefix(kUnit.size());
  const auto dash = text.find('-');
  const auto slash = text.find('/');
  if (dash == std::string_view::npos || slash == std::string_view::npos) return std::nullopt;
  const auto from = number_in(text.substr(0, dash));
  if (!from) return std::nullopt;
  return ContentRange{*from, number_in(text.substr(slash + 1))};
}

void require_space(const std::filesystem::path& folder, std::int64_t needed) {
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  if (error || needed <= 0) return;
  if (space.available < static_cast<std::uintmax_t>(needed)) {
    throw std::runtime_error("the disk of " + folder.string() + " has " +
                             shown_bytes(static_cast<std::int64_t>(space.available)) + " free; " + shown_bytes(needed) +
                             " more are needed");
  }
}

class Fetching {
  static constexpr std::string_view kOfServer = "etag:";

 public:
  Fetching(const Download& what, const WebGet& how, const DownloadEvents& events)
      : what_(what), how_(how), events_(events), part_(what.target), bytes_(what.bytes) {
    how_.goes_on = events.goes_on;
    if (!what.sha256.empty()) {
      if (part_.tag() != tag()) part_.start_anew(tag());
    } else if (part_.tag().starts_with(kOfServer)) {
      mark_ = part_.tag().substr(kOfServer.size());
    }
  }

  Downloaded run() {
    events_.opened(part_.path(), part_.tag_path());
    require_space(what_.target.parent_path(), bytes_.value_or(0) - part_.bytes());
    int without_much = 0;
    while (!is_complete()) {
      const std::int64_t before = part_.bytes();
      try {
        fetch_rest();
        if (is_complete()) break;
        throw BrokenOff(what_.url.authority() + " has sent " + std::to_string(part_.bytes()) + " of " +
                        std::to_string(bytes_.value_or(0)) + " bytes");
      } catch (const WebStopped&) {
        if (disk_error_) std::rethrow_exception(std::exchange(disk_error_, nullptr));
        if (refusal_) throw WebFailed(*refusal_);
        throw DownloadStopped("stopped" + what_is_kept());
      } catch (const BrokenOff& broken) {
        without_much = part_.bytes() - before >= kWorthAnother ? 0 : without_much + 1;
        if (without_much >= kMostWithoutThat) {
          throw WebFailed(broken.what() + what_is_kept());
        }
      }
    }
    return verified();
  }

 private:
  // What the bytes are the beginning of. Without a hash only the server's own mark tells, and that is known when it
  // answers.
  std::string tag() const {
    if (!what_.sha256.empty()) return "sha256:" + what_.sha256;
    return mark_.empty() ? std::string() : std::string(kOfServer) + mark_;
  }
  bool can_go_on() const { return !tag().empty(); }
  std::string what_is_kept() const {
    return can_go_on() ? "; what has come is kept, and the same command goes on from there" : "";
  }

  bool is_complete() const { return is_ended_ || (bytes_ && part_.bytes() == *bytes_); }

  void fetch_rest() {
    WebGet get = how_;
    if (!can_go_on()) part_.start_anew("");
    if (part_.bytes() > 0) {
      get.headers["Range"] = "bytes=" + std::to_string(part_.bytes()) + "-";
      if (!mark_.empty()) get.headers["If-Range"] = mark_;
    }
    get.on_head = [this](const WebHead& head) { return take_head(head); };
    get.on_bytes = [this](std::string_view bytes) { return take(bytes); };
    web_get(what_.url, get);
    if (!bytes_) is_ended_ = true;  // without a length the end of the answer is the end of the file
  }

  bool take_head(const WebHead& head) {
    const auto range = content_range(head.header("content-range"));
    const bool is_rest = head.status == 206 && range && range->from == part_.bytes();
    if (is_rest && !is_of_another_file(head)) return take_length(range->of);
    if (is_rest || head.status == 416) {  // what has come is not the beginning of what the server has now
      part_.start_anew("");
      return refuse(head.url.authority() + " has changed the file: the same command begins anew");
    }
    if (head.status == 401 || head.status == 403) {
      return refuse(head.url.authority() + " answers " + std::to_string(head.status) + ": " + words_of_gate());
    }
    if (head.status != 200) return refuse(head.url.authority() + " answers " + std::to_string(head.status));
    const auto length = number_in(head.header("content-length"));
    const bool tells_its_end = length || head.header("transfer-encoding").find("chunked") != std::string::npos;
    if (!tells_its_end && what_.sha256.empty()) {
      return refuse(head.url.authority() +
                    " does not say how long the file is, so that nobody could tell whether it came whole");
    }
    const std::string etag = head.header("etag");
    mark_ = etag.starts_with("W/") ? std::string() : etag;  // a weak one does not promise the same bytes
    part_.start_anew(tag());
    return take_length(length);
  }

  // Servers that know ranges but no If-Range send the rest of whatever they have now. If a hash is known, it is checked
  // at the end. A weak tag says nothing about that.
  bool is_of_another_file(const WebHead& rest) const {
    const std::string etag = rest.header("etag");
    return what_.sha256.empty() && !etag.empty() && !etag.starts_with("W/") && etag != mark_;
  }

  bool take_length(std::optional<std::int64_t> length) {
    if (length && bytes_ && *length != *bytes_) {
      return refuse(what_.url.authority() + " has " + std::to_string(*length) + " bytes where " +
                    std::to_string(*bytes_) + " were announced");
    }
    if (length) bytes_ = length;
    try {
      require_space(what_.target.parent_path(), bytes_.value_or(0) - part_.bytes());
    } catch (...) {
      disk_error_ = std::current_exception();
      return false;
    }
    return true;
  }

  bool take(std::string_view bytes) {
    if (bytes_ && part_.bytes() + static_cast<std::int64_t>(bytes.size()) > *bytes_) {
      return refuse(what_.url.authority() + " sends more than it had announced");
    }
    try {
      part_.append(bytes);
    } catch (...) {
      disk_error_ = std::current_exception();
      return false;
    }
    events_.progress(part_.bytes(), bytes_);
    return true;
  }

  bool refuse(std::string why) {
    refusal_ = std::move(why);
    return false;
  }

  Downloaded verified() {
    events_.verifying();
    const std::string digest = part_.digest(events_.goes_on);
    if (digest.empty()) throw DownloadStopped("stopped before it was verified" + what_is_kept());
    if (!what_.sha256.empty() && digest != what_.sha256) {
      part_.discard();
      throw std::runtime_error("what has come has the SHA-256 " + digest + " and should have " + what_.sha256 +
                               ": it was thrown away; try again");
    }
    part_.finish();
    return {part_.bytes(), digest, !what_.sha256.empty()};
  }

  const Download& what_;
  WebGet how_;
  const DownloadEvents& events_;
  PartFile part_;
  std::optional<std::int64_t> bytes_;
  std::string mark_;  // the ETag of this program's first answer
  bool is_ended_ = false;
  std::optional<std::string> refusal_;
  std::exception_ptr disk_error_;
};

}  // namespace

Downloaded download(const Download& what, const WebGet& how, const DownloadEvents& events) {
  return Fetching(what, how, events).run();
}

}  // namespace rkllm_mcp
