// A page as a tree, and what is read of it: by libgumbo, which reads broken pages the way browsers do.
//
// To be used in a process of its own only (page_reading.hpp): the library aborts on some pages, and others can be made
// to take for ever. A page whose tree takes more than kMostMemory ends the process. (docs/decisions/html-parser.md)
#pragma once

#include "text/url.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct GumboInternalNode;
struct GumboInternalOutput;

namespace rkllm_mcp {

// One node of a document, which it must not outlive.
class HtmlNode {
 public:
  explicit HtmlNode(const GumboInternalNode* node) : node_(node) {}

  bool is_text() const;
  std::string_view text() const;  // of a text node, as a reader sees it; empty for others
  std::string_view tag() const;   // of an element, in lower case; empty for others
  std::optional<std::string_view> attribute(const char* name) const;
  bool has_class(std::string_view name) const;
  std::size_t size() const;  // children
  HtmlNode child(std::size_t index) const;

 private:
  const GumboInternalNode* node_;
};

class HtmlDocument {
 public:
  static constexpr std::size_t kMostMemory = std::size_t{96} << 20U;
  static constexpr std::size_t kLongestAnswer = std::size_t{16} << 20U;  // bytes of what is made of a page
  static constexpr int kExitTooMuchMemory = 3;

  explicit HtmlDocument(std::string page);  // UTF-8
  HtmlDocument(const HtmlDocument&) = delete;
  HtmlDocument& operator=(const HtmlDocument&) = delete;
  ~HtmlDocument();

  HtmlNode root() const;  // the element html

 private:
  struct Memory;

  const std::string page_;  // names of unknown elements point into it
  const std::unique_ptr<Memory> memory_;
  const GumboInternalOutput* output_ = nullptr;
};

// Visits a node and everything in it, in the order of the page, however deep. `enter` says whether to go into an
// element; `leave` is called for each element that was gone into, after what is in it; it may be null.
void walk(HtmlNode node, const std::function<bool(HtmlNode)>& enter, const std::function<void(HtmlNode)>& leave = {});

// The elements for which `is_wanted` is true, in the order of the page; none within another one of them.
std::vector<HtmlNode> find_all(HtmlNode node, const std::function<bool(HtmlNode)>& is_wanted);

// What a reader sees of it, on one line: runs of white space are one space. Scripts, styles and the like are left out.
std::string visible_text(HtmlNode node);

// Whether its content is for programs, or hidden from readers.
bool is_invisible(HtmlNode node);

// What a reader sees of a page, as Markdown: headings, paragraphs, lists, tables, code, links. Without scripts, forms,
// navigation and what is hidden.
struct ReadablePage {
  std::string title;  // empty: the page has none
  std::string text;   // Markdown, without a newline at its end
};

// `address` is the page's own: links that are relative become whole ones. Throws std::length_error if the text gets
// longer than HtmlDocument::kLongestAnswer.
ReadablePage readable_page(const HtmlDocument& document, const Url& address);

// The page that DuckDuckGo answers with to those who run no scripts, as results:
// {"results": [{"title", "content", "link"}]}, advertisements left out; {"refused": true} if it asks to be shown that a
// person searches; {"unknown": true} if it is neither results nor the word that there are none. Throws
// std::length_error if the results get longer than HtmlDocument::kLongestAnswer.
Json read_duckduckgo_page(const HtmlDocument& document, const Url& address);

}  // namespace rkllm_mcp
