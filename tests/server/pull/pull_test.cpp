// A model's way from the hub into the folder: whole or not at all, whatever happens on the way.
#include "pull/pull.hpp"
#include "fake_hub.hpp"
#include "pull/part_file.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"

#include <sys/resource.h>
#include <csignal>

#include <atomic>
#include <filesystem>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

namespace fs = std::filesystem;

std::string some_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  std::uint32_t state = 12345;
  for (char& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<char>(state >> 24U);
  }
  return bytes;
}

class Pulling {
 public:
  Pulling() { hub.files["tiny-rk3588.rkllm"] = some_bytes(3'000'000); }

  Pulled pull(const std::string& source = "hf.co/acme/tiny", const PullEvents& events = {}) {
    return pull_model(request(source), events);
  }
  PullRequest request(const std::string& source) const {
    PullRequest request;
    request.source = source;
    request.folder = folder_ / "models";
    request.hub = parse_url(hub.url());
    request.token = "hub-token";
    request.board = {"rk3588", 1'000'000'000};
    return request;
  }
  // Names, sorted.
  std::vector<std::string> in_folder() const {
    std::vector<std::string> names;
    if (fs::exists(folder_ / "models")) {
      for (const auto& each : fs::directory_iterator(folder_ / "models")) names.push_back(each.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string path_of(const std::string& name) const { return folder_ / "models/" + name; }

  FakeHub hub;

 private:
  TemporaryDirectory folder_;
};

PullEvents stopping_after(std::int64_t bytes) {
  const auto is_stopped = std::make_shared<std::atomic<bool>>(false);
  PullEvents events;
  events.download.progress = [is_stopped, bytes](std::int64_t done, auto) { *is_stopped = done > bytes; };
  events.download.goes_on = [is_stopped] { return !*is_stopped; };
  return events;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a pulled model is there whole, with the hub's hash, and nothing else is") {
  Pulling pulling;
  std::int64_t last = 0;
  PullEvents events;
  events.download.progress = [&last](std::int64_t done, std::optional<std::int64_t> of) {
    CHECK(done > last);
    CHECK(of == 3'000'000);
    last = done;
  };
  const Pulled pulled = pulling.pull("hf.co/acme/tiny", events);
  CHECK(last == 3'000'000);
  CHECK(pulled.bytes == 3'000'000);
  CHECK(pulled.is_verified);
  CHECK_FALSE(pulled.was_there);
  CHECK(pulled.sha256 == in_hexadecimal(sha256(pulling.hub.files["tiny-rk3588.rkllm"])));
  CHECK(read_file(pulled.path) == pulling.hub.files["tiny-rk3588.rkllm"]);
  CHECK(pulling.in_folder() == Names{"tiny-rk3588.rkllm"});
}

TEST_CASE("the hub's access token goes to the hub and to nobody else") {
  Pulling pulling;
  pulling.pull();
  for (const auto& head : pulling.hub.heads_of_pages()) CHECK_THAT(head, has_text("Authorization: Bearer hub-token"));
  for (const auto& head : pulling.hub.heads_of_files()) CHECK_THAT(head, !has_text("hub-token"));
}

TEST_CASE("a connection that breaks off is made again, from where it was") {
  Pulling pulling;
  pulling.hub.cuts = 1;
  const Pulled pulled = pulling.pull();
  CHECK(read_file(pulled.path) == pulling.hub.files["tiny-rk3588.rkllm"]);
  const auto heads = pulling.hub.heads_of_files();
  REQUIRE(heads.size() == 2);
  CHECK_THAT(heads[0], !has_text("Range:"));
  CHECK_THAT(heads[1], has_text("Range: bytes=1500000-"));
}

TEST_CASE("a pull that was stopped goes on the next time, and its beginning is no model meanwhile") {
  Pulling pulling;
  CHECK_THROWS_AS(pulling.pull("hf.co/acme/tiny", stopping_after(1'000'000)), DownloadStopped);
  CHECK(pulling.in_folder() == Names{"tiny-rk3588.rkllm.part", "tiny-rk3588.rkllm.part.tag"});

  const Pulled pulled = pulling.pull();
  CHECK(read_file(pulled.path) == pulling.hub.files["tiny-rk3588.rkllm"]);
  const auto heads = pulling.hub.heads_of_files();
  REQUIRE(heads.size() == 2);
  CHECK_THAT(heads[1], has_text("Range: bytes=1"));
  CHECK(pulling.in_folder() == Names{"tiny-rk3588.rkllm"});
}

TEST_CASE("the beginning of another version of the file is not gone on with") {
  Pulling pulling;
  CHECK_THROWS_AS(pulling.pull("hf.co/acme/tiny", stopping_after(1'000'000)), DownloadStopped);
  pulling.hub.files["tiny-rk3588.rkllm"][0] ^= 1;
  const Pulled pulled = pulling.pull();
  CHECK(read_file(pulled.path) == pulling.hub.files["tiny-rk3588.rkllm"]);
  CHECK_THAT(pulling.hub.heads_of_files().back(), !has_text("Range:"));
}

TEST_CASE("what has another hash than the hub says is thrown away") {
  Pulling pulling;
  pulling.hub.claimed_sha256["tiny-rk3588.rkllm"] = std::string(64, 'a');
  CHECK_THROWS_WITH(pulling.pull(), has_text("SHA-256") && has_text(std::string(64, 'a')));
  CHECK(pulling.in_folder().empty());
}

TEST_CASE("a disk that is full is said, and what has come stays") {
  Pulling pulling;
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 1'000'000;
  ::setrlimit(RLIMIT_FSIZE, &small);
  CHECK_THROWS_WITH(pulling.pull(), has_text("tiny-rk3588.rkllm.part cannot be written"));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(pulling.in_folder() == Names{"tiny-rk3588.rkllm.part", "tiny-rk3588.rkllm.part.tag"});
  CHECK(read_file(pulling.pull().path) == pulling.hub.files["tiny-rk3588.rkllm"]);
}

TEST_CASE("one file is pulled once at a time") {
  Pulling pulling;
  std::promise<void> second_has_tried;
  pulling.hub.before_second_half = [done = second_has_tried.get_future().share()] { done.wait(); };
  auto first = std::async(std::launch::async, [&pulling] { return pulling.pull(); });
  pulling.hub.await_file_requests(1);
  CHECK_THROWS_WITH(pulling.pull(), has_text("is being pulled already"));
  second_has_tried.set_value();
  CHECK(read_file(first.get().path) == pulling.hub.files["tiny-rk3588.rkllm"]);
}

TEST_CASE("what is there already is not fetched again, and not replaced") {
  Pulling pulling;
  pulling.pull();
  const auto requests = pulling.hub.heads_of_files().size();
  CHECK(pulling.pull().was_there);
  CHECK(pulling.hub.heads_of_files().size() == requests);
  write_file(pulling.path_of("tiny-rk3588.rkllm"), "somebody's own");
  CHECK_THROWS_WITH(pulling.pull(), has_text("is there already") && has_text("remove it first: rm "));
  CHECK(read_file(pulling.path_of("tiny-rk3588.rkllm")) == "somebody's own");
}

TEST_CASE("a file is pulled by its address, which nobody vouches for") {
  Pulling pulling;
  const WebServer web(web_answer("a model", "application/octet-stream"));
  const Pulled pulled = pulling.pull(web.url("/x/plain.rkllm"));
  CHECK(read_file(pulled.path) == "a model");
  CHECK_FALSE(pulled.is_verified);
  CHECK(pulling.in_folder() == Names{"plain.rkllm"});
}

TEST_CASE("a file whose server marks it is gone on with the next time, one without a mark begins anew") {
  Pulling pulling;
  const std::string bytes = some_bytes(2'000'000);
  std::string mark = "ETag: \"one\"\r\n";
  WebServer web([&](const std::string& head, WebServer::Socket& socket) {
    const bool is_rest =
        head.find("Range: bytes=") != std::string::npos && head.find("If-Range: \"one\"") != std::string::npos;
    std::size_t from = 0;
    if (is_rest) from = std::stoul(head.substr(head.find("bytes=") + 6));
    const std::string range = "Content-Range: bytes " + std::to_string(from) + "-1999999/2000000\r\n";
    WebServer::send(socket, "HTTP/1.1 " + std::string(is_rest ? "206 Partial Content" : "200 OK") + "\r\n" + mark +
                                (is_rest ? range : "") + "Content-Length: " + std::to_string(bytes.size() - from) +
                                "\r\nConnection: close\r\n\r\n" + bytes.substr(from));
  });
  for (const bool is_marked : {true, false}) {
    INFO(is_marked);
    if (!is_marked) mark.clear();
    const std::string url = web.url(is_marked ? "/marked.rkllm" : "/plain.rkllm");
    try {
      pulling.pull(url, stopping_after(500'000));
      FAIL("it was not stopped");
    } catch (const DownloadStopped& stopped) {
      CHECK((std::string(stopped.what()).find("goes on from there") != std::string::npos) == is_marked);
    }
    CHECK(read_file(pulling.pull(url).path) == bytes);
    CHECK((web.heads().back().find("If-Range: \"one\"") != std::string::npos) == is_marked);
  }
}

TEST_CASE("a finished model is not written to by a pull that comes too late") {
  Pulling pulling;
  const Pulled pulled = pulling.pull();
  // As after a power cut between the two steps that put it in its place.
  fs::create_hard_link(pulled.path, pulled.path.string() + ".part");
  fs::rename(pulled.path, pulling.path_of("kept.rkllm"));
  pulling.hub.files["tiny-rk3588.rkllm"] = "another version";
  CHECK(read_file(pulling.pull().path) == "another version");
  CHECK(read_file(pulling.path_of("kept.rkllm")).size() == 3'000'000);
}

TEST_CASE("what cannot be had is said in words that help") {
  Pulling pulling;
  CHECK_THROWS_WITH(pulling.pull("hf.co/acme/other"), has_text("no repository acme/other") && has_text("HF_TOKEN"));
  CHECK_THROWS_WITH(pulling.pull("hf.co/acme/tiny:big.rkllm"),
                    has_text("it has:") && has_text("tiny-rk3588.rkllm, 3.0 MB"));
  const WebServer gone(web_answer("no", "text/plain", "", "404 Not Found"));
  CHECK_THROWS_WITH(pulling.pull(gone.url("/x.rkllm")), has_text(gone.url("").substr(7) + " answers 404"));
  const WebServer gated(web_answer("no", "text/plain", "", "403 Forbidden"));
  CHECK_THROWS_WITH(pulling.pull(gated.url("/x.rkllm")), has_text("403") && has_text("HF_TOKEN"));
  const WebServer endless("HTTP/1.0 200 OK\r\n\r\nhalf a model");
  CHECK_THROWS_WITH(pulling.pull(endless.url("/x.rkllm")), has_text("does not say how long"));
  const WebServer circle("HTTP/1.1 302 Found\r\nLocation: /x.rkllm\r\nContent-Length: 0\r\n\r\n");
  CHECK_THROWS_WITH(pulling.pull(circle.url("/x.rkllm")), has_text("redirects more than"));
  CHECK_THROWS_WITH(
      pulling.pull("http://127.0.0.1:1/x.rkllm"),
      has_text("127.0.0.1:1: no connection could be made; look with rkllm-mcp doctor, or set a proxy (http_proxy)") &&
          !has_text("model_hub"));
  const WebServer cut("HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\nhalf");
  CHECK_THROWS_WITH(pulling.pull(cut.url("/x.rkllm")), has_text("has broken off"));
}

TEST_CASE("nothing is deleted if a folder may not be written to, be it that of a beginning") {
  const TemporaryDirectory directory;
  fs::create_directories(directory / "begun");
  write_file(directory / "tiny.rkllm", "x");
  write_file(directory / "begun/half.rkllm.part", "x");
  std::vector<std::unique_ptr<PartFile>> beginnings;
  beginnings.push_back(std::make_unique<PartFile>(directory / "begun/half.rkllm"));
  fs::rename(directory / "begun", directory / "gone");  // as nobody is kept from writing who is root
  CHECK_THROWS_AS(delete_models({directory / "tiny.rkllm"}, beginnings), std::runtime_error);
  CHECK(fs::exists(directory / "tiny.rkllm"));
  fs::rename(directory / "gone", directory / "begun");
  CHECK_NOTHROW(delete_models({directory / "tiny.rkllm"}, beginnings));
  CHECK_FALSE(fs::exists(directory / "tiny.rkllm"));
  CHECK_FALSE(fs::exists(directory / "begun/half.rkllm.part"));
}

TEST_CASE("a beginning that cannot be deleted is told by its name") {
  const TemporaryDirectory directory;
  const std::string part = directory / "half.rkllm.part";
  write_file(part, "x");
  std::vector<std::unique_ptr<PartFile>> beginnings;
  beginnings.push_back(std::make_unique<PartFile>(directory / "half.rkllm"));
  fs::remove(part);
  CHECK_NOTHROW(delete_models({}, beginnings));  // there is nothing to delete
  fs::create_directory(part);                    // which not even root can unlink
  CHECK_THROWS_WITH(delete_models({}, beginnings), has_text(part + " cannot be deleted: "));
}
