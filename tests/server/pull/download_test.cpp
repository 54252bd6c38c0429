// One file's way to its place, from a server that does what the test has written. What comes of it with a hub around is
// in pull_test.cpp.
#include "pull/download.hpp"

#include "support/catch.hpp"
#include "support/process.hpp"
#include "support/web_server.hpp"
#include "text/ascii.hpp"
#include "text/sha256.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using Lines = std::vector<std::string>;

std::string sum_of(const std::string& bytes) { return in_hexadecimal(sha256(bytes)); }

// The head of an answer: its status, and what else it says.
std::string download_head(const std::string& status, const std::string& fields) {
  return "HTTP/1.1 " + status + "\r\n" + fields + "Connection: close\r\n\r\n";
}
std::string length_field(std::size_t bytes) { return "Content-Length: " + std::to_string(bytes) + "\r\n"; }
std::string range_field(std::size_t from, const std::string& of) {
  return "Content-Range: bytes " + std::to_string(from) + "-99/" + of + "\r\n";
}
std::string chunk_of(const std::string& bytes) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return size + bytes + "\r\n";
}

// Answers each request with the next of `answers`, and all later ones with the last.
class DownloadBench {
 public:
  explicit DownloadBench(std::vector<std::string> answers) : answers_(std::move(answers)) {
    what.url = parse_url(web_.url("/model.rkllm"));
    what.target = folder_ / "model.rkllm";
    events.opened = [this](const auto& part, const auto& tag) {
      told.push_back("opened " + part.filename().string() + " " + tag.filename().string());
    };
    events.progress = [this](std::int64_t done, std::optional<std::int64_t> of) {
      done_bytes = done;
      of_bytes = of;
    };
    events.verifying = [this] { told.emplace_back("verifying"); };
  }

  Downloaded fetch() { return download(what, {}, events); }
  // The words of its end, which has to be of that kind.
  template <class Error>
  std::string failure() {
    try {
      fetch();
    } catch (const Error& error) {
      return error.what();
    }
    FAIL("it has not failed");
    return {};
  }
  // What was left by an earlier pull.
  void leave(const std::string& bytes, const std::string& tag) const {
    write_file(part(), bytes);
    write_file(part() + ".tag", tag);
  }
  std::string part() const { return what.target.string() + ".part"; }
  bool has_part() const { return std::filesystem::exists(part()) || std::filesystem::exists(part() + ".tag"); }
  bool has_target() const { return std::filesystem::exists(what.target); }
  std::string target() const { return read_file(what.target); }
  std::size_t requests() const { return web_.heads().size(); }
  std::string request(std::size_t number) const { return web_.heads().at(number); }
  std::string authority() const { return what.url.authority(); }

  Download what;
  DownloadEvents events;
  Lines told;
  std::optional<std::int64_t> done_bytes, of_bytes;

 private:
  TemporaryDirectory folder_;
  const std::vector<std::string> answers_;
  std::atomic<std::size_t> next_{0};
  const WebServer web_{[this](const std::string&, WebServer::Socket& socket) {
    WebServer::send(socket, answers_[std::min(next_++, answers_.size() - 1)]);
  }};
};

const std::string kTenBytes = "0123456789";

}  // namespace

TEST_CASE("a download says which files are its own, how far it is, and that it verifies") {
  DownloadBench bench({download_head("200 OK", length_field(10)) + kTenBytes});
  SECTION("which somebody vouches for") { bench.what.sha256 = sum_of(kTenBytes); }
  SECTION("which nobody does") {}
  const Downloaded got = bench.fetch();
  CHECK(bench.told == Lines{"opened model.rkllm.part model.rkllm.part.tag", "verifying"});
  CHECK(got.bytes == 10);
  CHECK(got.sha256 == sum_of(kTenBytes));
  CHECK(got.is_verified == !bench.what.sha256.empty());
  CHECK(bench.done_bytes == 10);
  CHECK(bench.of_bytes == 10);
  CHECK(bench.target() == kTenBytes);
  CHECK_FALSE(bench.has_part());
}

TEST_CASE("a download of which all has come already asks nobody, and is verified") {
  DownloadBench bench({"HTTP/1.1 500 No\r\n\r\n"});
  bench.what.sha256 = sum_of(kTenBytes);
  bench.what.bytes = 10;
  bench.leave(kTenBytes, "sha256:" + bench.what.sha256);
  CHECK(bench.fetch().is_verified);
  CHECK(bench.requests() == 0);
  CHECK(bench.target() == kTenBytes);
}

TEST_CASE("without a length the end of the answer is the end of a download, where something tells that it is one") {
  DownloadBench chunked({download_head("200 OK", "Transfer-Encoding: chunked\r\n") + chunk_of("01234") +
                         chunk_of("56789") + "0\r\n\r\n"});
  CHECK(chunked.fetch().bytes == 10);
  CHECK(chunked.target() == kTenBytes);
  CHECK(chunked.done_bytes == 10);
  CHECK_FALSE(chunked.of_bytes);

  DownloadBench hashed({download_head("200 OK", "") + kTenBytes});
  hashed.what.sha256 = sum_of(kTenBytes);
  CHECK(hashed.fetch().is_verified);

  DownloadBench cut({download_head("200 OK", "") + "01234"});
  cut.what.sha256 = sum_of(kTenBytes);
  CHECK_THAT(cut.failure<std::runtime_error>(), has_text("thrown away"));
  CHECK_FALSE(cut.has_part());

  DownloadBench neither({download_head("200 OK", "ETag: \"one\"\r\n") + kTenBytes});
  CHECK_THAT(neither.failure<WebFailed>(), has_text("does not say how long"));
  CHECK_FALSE(neither.has_part());
}

TEST_CASE("a download goes on as often as a connection brings a mebibyte, and not after three that bring less") {
  const std::string mebibyte(1024 * 1024, 'm');
  std::vector<std::string> answers;
  constexpr std::size_t kParts = 5;
  for (std::size_t i = 0; i < kParts; ++i) {
    const std::size_t from = i * mebibyte.size();
    const std::string length = length_field(kParts * mebibyte.size() - from);
    answers.push_back((i == 0 ? download_head("200 OK", length)
                              : download_head("206 Partial Content",
                                              length + range_field(from, std::to_string(kParts * mebibyte.size())))) +
                      mebibyte);
  }
  DownloadBench bench(answers);
  bench.what.sha256 = std::string(64, 'a');
  CHECK_THAT(bench.failure<std::runtime_error>(), has_text("SHA-256"));  // all of it has come
  CHECK(bench.requests() == kParts);
  CHECK(bench.done_bytes == kParts * mebibyte.size());

  DownloadBench slow({download_head("200 OK", length_field(10) + "ETag: \"one\"\r\n") + "0",
                      download_head("206 Partial Content", length_field(9) + range_field(1, "10")) + "1",
                      download_head("206 Partial Content", length_field(8) + range_field(2, "10")) + "2"});
  CHECK_THAT(slow.failure<WebFailed>(), has_text("has broken off; what has come is kept"));
  CHECK(slow.requests() == 3);
  CHECK(read_file(slow.part()) == "012");
}

TEST_CASE("a download whose server does not go on where it was asked to begins anew, and ends") {
  const std::string half = download_head("200 OK", length_field(10) + "ETag: \"one\"\r\n") + "01234";
  DownloadBench bench({half, half, download_head("200 OK", length_field(10)) + kTenBytes});
  bench.fetch();
  CHECK(bench.target() == kTenBytes);
  CHECK_THAT(bench.request(1), has_text("Range: bytes=5-"));
  CHECK(bench.requests() == 3);

  DownloadBench without_end({half});
  CHECK_THAT(without_end.failure<WebFailed>(), has_text("has broken off"));
  CHECK(without_end.requests() == 3);

  DownloadBench elsewhere(
      {half, download_head("206 Partial Content", length_field(4) + range_field(6, "10")) + "6789"});
  CHECK_THAT(elsewhere.failure<WebFailed>(), has_text("answers 206"));
  CHECK(read_file(elsewhere.part()) == "01234");
}

TEST_CASE("a rest that is marked as that of another file is not put behind a download's beginning") {
  const std::string rest = length_field(5) + range_field(5, "10");
  DownloadBench bench({download_head("206 Partial Content", rest + "ETag: \"two\"\r\n") + "56789"});
  bench.leave("abcde", "etag:\"one\"");
  CHECK_THAT(bench.failure<WebFailed>(), has_text(bench.authority() + " has changed the file"));
  CHECK_FALSE(bench.has_target());
  CHECK_FALSE(bench.has_part());

  DownloadBench same({download_head("206 Partial Content", rest + "ETag: \"one\"\r\n") + "56789"});
  same.leave("01234", "etag:\"one\"");
  same.fetch();
  CHECK(same.target() == kTenBytes);

  DownloadBench weak({download_head("206 Partial Content", rest + "ETag: W/\"one\"\r\n") + "56789"});
  weak.leave("01234", "etag:\"one\"");
  weak.fetch();
  CHECK(weak.target() == kTenBytes);

  DownloadBench silent({download_head("206 Partial Content", rest) + "56789"});
  silent.leave("01234", "etag:\"one\"");
  silent.fetch();
  CHECK(silent.target() == kTenBytes);
  CHECK_THAT(silent.request(0), has_text("If-Range: \"one\""));
}

TEST_CASE("the beginning of a download that its server has no rest of is thrown away, and it is said to begin anew") {
  DownloadBench bench({download_head("416 Range Not Satisfiable", length_field(0)),
                       download_head("200 OK", length_field(10)) + kTenBytes});
  bench.what.sha256 = sum_of(kTenBytes);
  bench.leave("a longer beginning", "sha256:" + bench.what.sha256);
  CHECK_THAT(bench.failure<WebFailed>(), has_text("has changed the file: the same command begins anew"));
  CHECK_FALSE(bench.has_part());
  CHECK(bench.fetch().is_verified);
  CHECK_THAT(bench.request(1), !has_text("Range:"));
}

TEST_CASE("a server that has another number of bytes than was announced, or sends more than it says, is refused") {
  DownloadBench other({download_head("200 OK", length_field(10)) + kTenBytes});
  other.what.bytes = 11;
  CHECK_THAT(other.failure<WebFailed>(), has_text("has 10 bytes where 11 were announced"));

  DownloadBench more(
      {download_head("200 OK", "Transfer-Encoding: chunked\r\n") + chunk_of(kTenBytes) + chunk_of("x") + "0\r\n\r\n"});
  more.what.bytes = 10;
  CHECK_THAT(more.failure<WebFailed>(), has_text("sends more than it had announced"));

  DownloadBench less({download_head("200 OK", "Transfer-Encoding: chunked\r\n") + chunk_of(kTenBytes) + "0\r\n\r\n"});
  less.what.bytes = 11;
  CHECK_THAT(less.failure<WebFailed>(), has_text("has sent 10 of 11 bytes"));
  CHECK(less.requests() == 3);
  for (const DownloadBench* bench : {&other, &more, &less}) CHECK_FALSE(bench->has_target());
}

TEST_CASE("a file that is larger than the disk is known by its head alone, and its body is not taken") {
  DownloadBench bench({download_head("200 OK", length_field(std::size_t{1} << 62U)) + kTenBytes});
  const std::string why = bench.failure<std::runtime_error>();
  CHECK_THAT(why, has_text("the disk of") && has_text("more are needed"));
  CHECK_FALSE(bench.done_bytes);
  CHECK_FALSE(bench.has_part());
}

TEST_CASE("a server's refusal is told with its status, and access that lacks is told apart") {
  for (const std::string status : {"404 Not Found", "500 No", "204 No Content"}) {
    DownloadBench bench({download_head(status, length_field(0))});
    CHECK(bench.failure<WebFailed>() == bench.authority() + " answers " + status.substr(0, 3));
    CHECK_FALSE(bench.has_part());
  }
  DownloadBench gated({download_head("401 Unauthorized", length_field(0))});
  CHECK_THAT(gated.failure<WebFailed>(), has_text("answers 401: "));
}

TEST_CASE(
    "a download that is to stop before it has begun leaves nothing, and one that is verified keeps what has come") {
  DownloadBench bench({download_head("200 OK", length_field(10)) + kTenBytes});
  bool goes_on = false;
  bench.events.goes_on = [&goes_on] { return goes_on; };
  CHECK(bench.failure<DownloadStopped>() == "stopped");
  CHECK_FALSE(bench.has_part());

  goes_on = true;
  bench.what.sha256 = sum_of(kTenBytes);
  bench.what.bytes = 10;
  bench.events.verifying = [&goes_on] { goes_on = false; };
  CHECK_THAT(bench.failure<DownloadStopped>(), has_text("stopped before it was verified; what has come is kept"));
  CHECK(read_file(bench.part()) == kTenBytes);

  const std::size_t requests = bench.requests();
  goes_on = true;
  bench.events.verifying = [] {};
  CHECK(bench.fetch().is_verified);
  CHECK(bench.requests() == requests);
}

TEST_CASE("a file that has appeared in a download's place meanwhile is not replaced") {
  DownloadBench bench({download_head("200 OK", length_field(10)) + kTenBytes});
  bench.events.verifying = [&bench] { write_file(bench.what.target, "somebody's own"); };
  CHECK_THAT(bench.failure<std::runtime_error>(), has_text("is there already"));
  CHECK(bench.target() == "somebody's own");
  CHECK_FALSE(bench.has_part());
}

}  // namespace rkllm_mcp::test
