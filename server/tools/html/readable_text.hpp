// What a reader sees of a page, as Markdown: headings, paragraphs, lists, tables, code, links. Without scripts, forms,
// navigation and what is hidden.
#pragma once

#include "text/url.hpp"
#include "tools/html/html_document.hpp"

#include <string>

namespace rkllm_mcp {

struct ReadablePage {
  std::string title;  // empty: the page has none
  std::string text;   // Markdown, without a newline at its end
};

// `address` is the page's own: links that are relative become whole ones.
ReadablePage readable_page(const HtmlDocument& document, const Url& address);

}  // namespace rkllm_mcp
