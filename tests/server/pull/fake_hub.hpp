// A hub of models on loopback, shaped like the real one: a list of a repository's files, and files that redirect to
// where they are kept, which answers ranges. Tests say what goes wrong.
#pragma once

#include "support/web_server.hpp"
#include "text/ascii.hpp"
#include "text/sha256.hpp"

#include <rkllm_mcp/json.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace rkllm_mcp::test {

class FakeHub {
 public:
  std::map<std::string, std::string> files{};  // of the repository "acme/tiny", by name
  std::map<std::string, std::string> claimed_sha256{};
  std::map<std::string, std::int64_t> claimed_bytes{};
  std::atomic<int> cuts{0};                    // answers that still are to break off half way
  std::function<void()> before_first_half{};   // of a file, on the connection's thread
  std::function<void()> before_second_half{};  // the same

  std::string url() const { return pages_.url(""); }
  std::vector<std::string> heads_of_pages() const { return pages_.heads(); }
  std::vector<std::string> heads_of_files() const { return store_.heads(); }
  void await_file_requests(std::size_t count) { store_.await_requests(count); }

 private:
  using Socket = WebServer::Socket;

  static std::string target_of(const std::string& head) {
    const auto from = head.find(' ') + 1;
    return head.substr(from, head.find(' ', from) - from);
  }

  void serve_page(const std::string& head, Socket& socket) {
    const std::string target = target_of(head);
    if (target == "/api/models/acme/tiny?blobs=true") {
      Json siblings = Json::array({Json{{"rfilename", "README.md"}, {"size", 10}}});
      for (const auto& [name, bytes] : files) {
        const auto claimed = claimed_sha256.find(name);
        const std::string sum = claimed == claimed_sha256.end() ? in_hexadecimal(sha256(bytes)) : claimed->second;
        const auto said = claimed_bytes.find(name);
        const auto size = said == claimed_bytes.end() ? static_cast<std::int64_t>(bytes.size()) : said->second;
        siblings.push_back(Json{
            {"rfilename", name}, {"size", size}, {"lfs", {{"sha256", sum}, {"size", size}, {"pointerSize", 134}}}});
      }
      const Json page{{"id", "acme/tiny"}, {"sha", "0123abcd"}, {"siblings", siblings}};
      WebServer::send(socket, web_answer(page.dump(), "application/json"));
      return;
    }
    constexpr std::string_view kFiles = "/acme/tiny/resolve/0123abcd/";
    if (target.starts_with(kFiles)) {
      WebServer::send(socket, web_redirect(store_.url("/kept/" + target.substr(kFiles.size()) + "?key=secret")));
      return;
    }
    WebServer::send(socket,
                    web_answer(R"({"error":"Repository not found"})", "application/json", "", "401 Unauthorized"));
  }

  void serve_file(const std::string& head, Socket& socket) {
    std::string name = target_of(head).substr(std::string_view("/kept/").size());
    name = name.substr(0, name.find('?'));
    const std::string& whole = files.at(name);
    std::size_t from = 0;
    if (const auto range = head.find("Range: bytes="); range != std::string::npos) {
      const char* const digits = head.data() + range + std::string_view("Range: bytes=").size();
      std::from_chars(digits, head.data() + head.size(), from);
    }
    const std::string rest = whole.substr(std::min(from, whole.size()));
    std::string answer = "HTTP/1.1 " + std::string(from > 0 ? "206 Partial Content" : "200 OK") +
                         "\r\nETag: \"tag-of-" + name + "\"\r\nContent-Length: " + std::to_string(rest.size()) + "\r\n";
    if (from > 0) {
      answer += "Content-Range: bytes " + std::to_string(from) + "-" + std::to_string(whole.size() - 1) + "/" +
                std::to_string(whole.size()) + "\r\n";
    }
    if (before_first_half) before_first_half();
    WebServer::send(socket, answer + "Connection: close\r\n\r\n" + rest.substr(0, rest.size() / 2));
    if (before_second_half) before_second_half();
    if (cuts.fetch_sub(1) > 0) return;
    cuts = 0;
    WebServer::send(socket, rest.substr(rest.size() / 2));
  }

  WebServer store_{[this](const std::string& head, Socket& socket) { serve_file(head, socket); }};
  WebServer pages_{[this](const std::string& head, Socket& socket) { serve_page(head, socket); }};
};

}  // namespace rkllm_mcp::test
