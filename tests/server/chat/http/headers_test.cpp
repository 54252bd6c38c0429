// What the answers of the chat host say in headers, as docs/chat.md tells it, is there for web pages, too.
#include "transport/http/origin_policy.hpp"

#include "support/catch.hpp"
#include "support/paths.hpp"

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace rkllm_mcp;

namespace {

// The names in the first column of the document's table of headers.
std::vector<std::string> documented_headers(const std::string& text) {
  std::vector<std::string> names;
  const auto begin = text.find("\n| header | |\n");
  REQUIRE(begin != std::string::npos);
  const auto end = text.find("\n\n", begin);
  for (auto row = text.find("\n| `", begin); row < end; row = text.find("\n| `", row + 1)) {
    const std::string cell = text.substr(row + 3, text.find(" | ", row + 3) - row - 3);
    for (auto open = cell.find('`'); open != std::string::npos;) {
      const auto close = cell.find('`', open + 1);
      names.push_back(cell.substr(open + 1, close - open - 1));
      open = cell.find('`', close + 1);
    }
  }
  return names;
}

}  // namespace

TEST_CASE("pages of listed origins may read every header that docs/chat.md tells of") {
  std::ifstream file(test::kSourceDirectory + "/docs/chat.md");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  http::Request request;
  request.headers.add("Origin", "https://chat.example");
  const http::OriginPolicy policy({{"https://chat.example"}, {}}, http::OriginPolicy::Binding::kLoopback);
  const auto headers = policy.cors_headers(request);
  const auto names = documented_headers(text);
  CHECK(names.size() >= 8);
  for (const std::string& name : names) {
    INFO(name);
    CHECK(headers.lists("Access-Control-Expose-Headers", name));
  }
}
