#include "page/web_page.hpp"

#include "text/ascii.hpp"
#include "text/sha256.hpp"

#include "embedded/kPageHtml.hpp"
#include "embedded/kPageHtmlGzip.hpp"
#include "embedded/kPageIcon.hpp"
#include "embedded/kPageIconGzip.hpp"
#include "embedded/kPageScript.hpp"
#include "embedded/kPageScriptGzip.hpp"
#include "embedded/kPageStyle.hpp"
#include "embedded/kPageStyleGzip.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace rkllm_mcp {
namespace {

// What the page may do in a browser: load and call its own server, and nothing else. Without 'unsafe-inline' no text of
// a model can become a script or a style, even if the page's own cleaning of it failed.
constexpr std::string_view kPolicy =
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// The name of a file's content: 64 bits of its SHA-256.
std::string tag_of(std::string_view bytes) {
  constexpr std::size_t kDigits = 16;
  return in_hexadecimal(sha256(bytes)).substr(0, kDigits);
}

// Whether a header such as Accept names `wanted`, and not with a weight of 0. Nothing is said of patterns ("*/*").
bool names(const http::Headers& headers, std::string_view header, std::string_view wanted) {
  std::string_view rest = headers.find(header).value_or("");
  while (!rest.empty()) {
    const std::string_view element = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(element.size() + 1, rest.size()));
    const auto semicolon = std::min(element.find(';'), element.size());
    if (!http::equal_ignoring_case(http::trim_blanks(element.substr(0, semicolon)), wanted)) continue;
    const std::string_view weight = http::trim_blanks(element.substr(semicolon));
    return weight.find("q=0") == std::string_view::npos || weight.find_first_of("123456789") != std::string_view::npos;
  }
  return false;
}

// Whether the client has one of these contents already (If-None-Match).
bool has_already(const http::Headers& headers, std::string_view etag) {
  const std::string_view known = headers.find("If-None-Match").value_or("");
  return http::trim_blanks(known) == "*" || known.find(etag) != std::string_view::npos;
}

}  // namespace

WebPage::WebPage() {
  const auto add = [this](std::string_view path, std::string_view type, std::string_view bytes, std::string_view gzip) {
    files_.push_back({path, type, bytes, gzip, tag_of(bytes)});
  };
  add("/", "text/html; charset=utf-8", kPageHtml, kPageHtmlGzip);
  add("/page/page.js", "text/javascript; charset=utf-8", kPageScript, kPageScriptGzip);
  add("/page/page.css", "text/css; charset=utf-8", kPageStyle, kPageStyleGzip);
  add("/page/icon.svg", "image/svg+xml", kPageIcon, kPageIconGzip);
}

bool WebPage::handle(const http::Request& request, http::Exchange& exchange) const {
  if (request.method != "GET" && request.method != "HEAD") return false;
  const auto file = std::ranges::find(files_, std::string_view(request.path), &File::path);
  if (file == files_.end()) return false;
  if (file->path == "/" && !names(request.headers, "Accept", "text/html")) return false;
  constexpr int kOk = 200;
  constexpr int kNotModified = 304;
  const bool zipped = names(request.headers, "Accept-Encoding", "gzip");
  http::Response response;
  // Kept by browsers, but asked for each time: after an update of the server its page is the new one.
  response.headers = {{"Cache-Control", "no-cache"},
                      {"ETag", "\"" + file->etag + (zipped ? "-gzip\"" : "\"")},
                      {"Vary", "Accept, Accept-Encoding"},
                      {"Content-Security-Policy", std::string(kPolicy)},
                      {"Referrer-Policy", "no-referrer"}};
  if (has_already(request.headers, file->etag)) {
    response.status = kNotModified;
  } else {
    response.status = kOk;
    response.content_type = file->content_type;
    response.body = zipped ? file->gzip : file->bytes;
    if (zipped) response.headers.add("Content-Encoding", "gzip");
  }
  exchange.respond(std::move(response));
  return true;
}

}  // namespace rkllm_mcp
