// What a reader sees of a page (html_document.hpp).
#include "tools/html/html_document.hpp"

#include "tools/html/markdown_writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

template <std::size_t count>
bool is_one_of(std::string_view tag, const std::array<std::string_view, count>& tags) {
  return std::ranges::find(tags, tag) != tags.end();
}

// Whether the element is no content of a page, but stands around it (navigation, footer).
bool is_surroundings(HtmlNode node) {
  constexpr std::array<std::string_view, 3> kTags{"nav", "aside", "footer"};
  return is_one_of(node.tag(), kTags) || node.attribute("role") == "navigation";
}

bool is_block(std::string_view tag) {
  constexpr std::array<std::string_view, 22> kTags{
      "p",  "div", "section", "article",    "main",   "header", "form",    "fieldset", "table",      "ul",  "ol",
      "dl", "hr",  "address", "figcaption", "figure", "body",   "details", "center",   "blockquote", "pre", "summary"};
  return is_one_of(tag, kTags);
}

// What stands on a line of its own.
bool is_line(std::string_view tag) {
  constexpr std::array<std::string_view, 6> kTags{"br", "li", "tr", "dt", "dd", "option"};
  return is_one_of(tag, kTags);
}

// 1 to 6; 0: no heading.
std::size_t heading_level(std::string_view tag) {
  const bool is_heading = tag.size() == 2 && tag[0] == 'h' && tag[1] >= '1' && tag[1] <= '6';
  return is_heading ? static_cast<std::size_t>(tag[1] - '0') : 0;
}

std::string encoded_for_link(std::string_view address) {
  std::string encoded;
  for (const char c : address) {
    if (c == '(') {
      encoded += "%28";
    } else if (c == ')') {
      encoded += "%29";
    } else {
      encoded += c;
    }
  }
  return encoded;
}

// Writes one page. Each element does something where it begins and something where it ends.
class Reader {
 public:
  explicit Reader(const Url& address) : address_(address) {}

  bool enter(HtmlNode node) {
    if (node.is_text()) {
      if (in_pre_ > 0) {
        writer_.verbatim(node.text());
      } else {
        writer_.words(node.text());
      }
      return false;
    }
    if (is_invisible(node) || is_surroundings(node)) return false;
    begin(node);
    return true;
  }

  void leave(HtmlNode node) {
    const std::string_view tag = node.tag();
    if (tag == "a") end_link();
    if (tag == "blockquote" || tag == "li" || tag == "dd") writer_.pop_prefix();
    if (tag == "ul" || tag == "ol") lists_.pop_back();
    if (tag == "pre" && --in_pre_ == 0) {
      writer_.new_line();
      writer_.mark("```");
    }
    if (is_block(tag) || heading_level(tag) > 0) {
      separate();
    } else if (is_line(tag)) {
      separate_line();
    }
  }

  std::string text() const { return writer_.text(); }

 private:
  struct Link {
    std::string address;  // empty: it leads nowhere that could be fetched
    std::size_t begins;   // in the text
  };

  // Before and after a block. Inside a link everything stays on one line, and lists have no empty lines.
  void separate() {
    if (is_in_link()) {
      writer_.space();
    } else if (!lists_.empty()) {
      writer_.new_line();
    } else {
      writer_.new_block();
    }
  }

  void separate_line() { is_in_link() ? writer_.space() : writer_.new_line(); }

  bool is_in_link() const { return !links_.empty() && !links_.back().address.empty(); }

  void begin(HtmlNode node) {
    const std::string_view tag = node.tag();
    const std::size_t level = heading_level(tag);
    if (is_block(tag) || level > 0) {
      separate();
    } else if (is_line(tag)) {
      separate_line();
    }
    if (level > 0 && !is_in_link()) writer_.mark_later(std::string(level, '#') + " ");
    if (tag == "hr" && !is_in_link()) writer_.mark("---");
    if (tag == "a") begin_link(node);
    if (tag == "img") write_image(node);
    if (tag == "ul" || tag == "ol") begin_list(node);
    if (tag == "li") begin_item();
    if (tag == "blockquote") writer_.push_prefix("> ");
    if (tag == "dd") writer_.push_prefix("  ", ": ");
    if (tag == "tr") is_first_cell_ = true;
    if ((tag == "td" || tag == "th") && !std::exchange(is_first_cell_, false)) {
      writer_.space();
      writer_.mark("| ");
    }
    if (tag == "pre" && in_pre_++ == 0) {
      writer_.mark("```");
      writer_.new_line();
    }
  }

  void begin_link(HtmlNode node) {
    Link link{{}, 0};
    const auto reference = node.attribute("href");
    // A part of this page needs no link.
    if (reference && !reference->empty() && reference->front() != '#') {
      if (const auto url = resolve_url(address_, *reference)) link.address = url->text();
    }
    if (!link.address.empty() && in_pre_ == 0) {
      writer_.mark("[");
      writer_.escape_brackets(true);
      link.begins = writer_.size();
    } else {
      link.address.clear();
    }
    links_.push_back(std::move(link));
  }

  void end_link() {
    if (links_.empty()) return;
    const Link link = std::move(links_.back());
    links_.pop_back();
    if (link.address.empty()) return;
    if (writer_.size() == link.begins) {  // a picture without words
      writer_.cut(link.begins - 1);
    } else {
      writer_.close("](" + encoded_for_link(link.address) + ")");
    }
    writer_.escape_brackets(false);
  }

  void write_image(HtmlNode node) {
    const std::string_view words = node.attribute("alt").value_or("");
    if (words.find_first_not_of(" \t\r\n") == std::string_view::npos || in_pre_ > 0) return;
    writer_.words(words);
  }

  void begin_list(HtmlNode node) {
    List list{node.tag() == "ol", 1};
    if (const auto start = node.attribute("start")) {
      int first = 1;
      const auto [end, error] = std::from_chars(start->data(), start->data() + start->size(), first);
      constexpr int kMost = 1'000'000;
      if (error == std::errc() && first >= 0 && first < kMost) list.next = first;
    }
    lists_.push_back(list);
  }

  void begin_item() {
    std::string sign = "- ";
    if (!lists_.empty() && lists_.back().is_numbered) sign = std::to_string(lists_.back().next++) + ". ";
    writer_.push_prefix(std::string(sign.size(), ' '), sign);
  }

  struct List {
    bool is_numbered;
    int next;
  };

  const Url& address_;
  MarkdownWriter writer_{HtmlDocument::kLongestAnswer};
  std::vector<Link> links_;
  std::vector<List> lists_;
  int in_pre_ = 0;
  bool is_first_cell_ = true;
};

// The part with the content, if the page names one; else all of it.
HtmlNode content_of(HtmlNode root) {
  for (const std::string_view tag : {"main", "article"}) {
    const auto found = find_all(root, [tag](HtmlNode node) { return node.tag() == tag; });
    if (found.size() == 1 && !visible_text(found.front()).empty()) return found.front();
  }
  return root;
}

}  // namespace

ReadablePage readable_page(const HtmlDocument& document, const Url& address) {
  ReadablePage page;
  const HtmlNode root = document.root();
  const auto titles = find_all(root, [](HtmlNode node) { return node.tag() == "title" || node.tag() == "svg"; });
  if (!titles.empty() && titles.front().tag() == "title") page.title = visible_text(titles.front());
  Reader reader(address);
  walk(
      content_of(root), [&reader](HtmlNode node) { return reader.enter(node); },
      [&reader](HtmlNode node) { reader.leave(node); });
  page.text = reader.text();
  return page;
}

}  // namespace rkllm_mcp
