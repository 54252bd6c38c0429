// An http or https address of the web, taken apart. Stricter than browsers: what cannot be understood in one way only
// is refused, since a checker and a connector that read it differently would be a hole. And any address, as it may be
// shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp {

struct Url {
  enum class Scheme { kHttp, kHttps };

  Scheme scheme = Scheme::kHttp;
  std::string host;  // lower case; an IPv6 address without brackets
  std::uint16_t port = 80;
  std::string target = "/";  // path and query, as a request line has them; never a fragment

  std::string authority() const;  // HOST[:PORT] as a Host header has it: without the scheme's usual port
  std::string text() const;
  bool has_origin_of(const Url& other) const;
};

// Throws std::invalid_argument that says what is wrong. Characters that may not stand in a URL (spaces, letters beyond
// ASCII) are percent-encoded in path and query; in the host they are refused.
Url parse_url(std::string_view text);

// What `reference` (of a link or a redirect) means on the page at `base`. Nothing if it is no http or https address.
std::optional<Url> resolve_url(const Url& base, std::string_view reference);

// A name or value of a query: everything but letters, digits and -._~ is percent-encoded.
std::string encoded_for_query(std::string_view text);
// Decodes a path, say: %2F becomes a slash, and what is no such code stays as it is.
std::string percent_decoded(std::string_view text);
// As percent_decoded(), but nothing if a percent sign begins no such code.
std::optional<std::string> strictly_percent_decoded(std::string_view text);
// The first value of that name in a query (of "/l/?uddg=…" or "a=b&c=d"), decoded; nothing if there is none.
std::optional<std::string> query_value(std::string_view target, std::string_view name);

// Any address as it may be shown, in logs, errors and tables: "postgresql://host/name" of
// "postgresql://user:password@host/name?options". What is no address, such as a path, is left as it is. Threads: any.
std::string shown_address(std::string_view address);

}  // namespace rkllm_mcp
