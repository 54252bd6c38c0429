#include "tools/html/html_document.hpp"

#include <gumbo.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{256} << 10U;
constexpr std::size_t kAlignment = alignof(std::max_align_t);

bool is_html_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

const GumboVector* children_of(const GumboNode* node) {
  if (node->type == GUMBO_NODE_ELEMENT || node->type == GUMBO_NODE_TEMPLATE) return &node->v.element.children;
  return node->type == GUMBO_NODE_DOCUMENT ? &node->v.document.children : nullptr;
}

}  // namespace

// Where the tree lives. It is given back as a whole: the library's own way to do so calls itself once for each level of
// the tree, and a page may have more of them than the stack has room for.
struct HtmlDocument::Memory {
  std::vector<std::unique_ptr<char[]>> blocks;
  char* free = nullptr;
  std::size_t left = 0;  // bytes at `free`
  std::size_t used = 0;

  void* take(std::size_t bytes) {
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (bytes > left) add_block(bytes);
    left -= bytes;
    return std::exchange(free, free + bytes);
  }

  void add_block(std::size_t bytes) {
    const std::size_t size = std::max(bytes, kBlockBytes);
    // The library has no way to handle a failure here.
    if (size > kMostMemory - used) std::_Exit(kExitTooMuchMemory);
    try {
      blocks.push_back(std::unique_ptr<char[]>(new char[size]));
    } catch (const std::bad_alloc&) {
      std::_Exit(kExitTooMuchMemory);
    }
    used += size;
    left = size;
    free = blocks.back().get();
  }
};

HtmlDocument::HtmlDocument(std::string page) : page_(std::move(page)), memory_(std::make_unique<Memory>()) {
  GumboOptions options = kGumboDefaultOptions;
  options.allocator = [](void* memory, std::size_t bytes) { return static_cast<Memory*>(memory)->take(bytes); };
  options.deallocator = [](void*, void*) {};
  options.userdata = memory_.get();
  options.max_errors = 0;
  output_ = gumbo_parse_with_options(&options, page_.data(), page_.size());
}

HtmlDocument::~HtmlDocument() = default;

HtmlNode HtmlDocument::root() const { return HtmlNode(output_->root); }

bool HtmlNode::is_text() const {
  return node_->type == GUMBO_NODE_TEXT || node_->type == GUMBO_NODE_WHITESPACE || node_->type == GUMBO_NODE_CDATA;
}

std::string_view HtmlNode::text() const { return is_text() ? node_->v.text.text : std::string_view(); }

std::string_view HtmlNode::tag() const {
  if (node_->type == GUMBO_NODE_TEMPLATE) return "template";
  if (node_->type != GUMBO_NODE_ELEMENT) return {};
  // Of unknown elements nothing is asked here but that they are elements.
  return node_->v.element.tag == GUMBO_TAG_UNKNOWN ? "unknown" : gumbo_normalized_tagname(node_->v.element.tag);
}

std::optional<std::string_view> HtmlNode::attribute(const char* name) const {
  if (node_->type != GUMBO_NODE_ELEMENT && node_->type != GUMBO_NODE_TEMPLATE) return std::nullopt;
  const GumboAttribute* const found = gumbo_get_attribute(&node_->v.element.attributes, name);
  return found == nullptr ? std::nullopt : std::optional<std::string_view>(found->value);
}

bool HtmlNode::has_class(std::string_view name) const {
  std::string_view classes = attribute("class").value_or("");
  while (!classes.empty()) {
    const auto end = std::find_if(classes.begin(), classes.end(), is_html_space) - classes.begin();
    if (classes.substr(0, static_cast<std::size_t>(end)) == name) return true;
    classes.remove_prefix(std::min(static_cast<std::size_t>(end) + 1, classes.size()));
  }
  return false;
}

std::size_t HtmlNode::size() const {
  const GumboVector* const children = children_of(node_);
  return children == nullptr ? 0 : children->length;
}

HtmlNode HtmlNode::child(std::size_t index) const {
  return HtmlNode(static_cast<const GumboNode*>(children_of(node_)->data[index]));
}

void walk(HtmlNode node, const std::function<bool(HtmlNode)>& enter, const std::function<void(HtmlNode)>& leave) {
  struct Step {
    HtmlNode node;
    std::size_t next;  // child
  };
  std::vector<Step> path;
  if (enter(node)) path.push_back({node, 0});
  while (!path.empty()) {
    Step& step = path.back();
    if (step.next == step.node.size()) {
      if (leave && !step.node.tag().empty()) leave(step.node);
      path.pop_back();
      continue;
    }
    const HtmlNode child = step.node.child(step.next++);
    if (enter(child)) path.push_back({child, 0});
  }
}

std::vector<HtmlNode> find_all(HtmlNode node, const std::function<bool(HtmlNode)>& is_wanted) {
  std::vector<HtmlNode> found;
  walk(node, [&](HtmlNode each) {
    if (each.is_text()) return false;
    if (!is_wanted(each)) return true;
    found.push_back(each);
    return false;
  });
  return found;
}

std::string visible_text(HtmlNode node) {
  std::string text;
  bool space = false;  // before the next character
  const auto separate = [&](HtmlNode each) {
    constexpr std::array<std::string_view, 12> kInline{"a",    "b",   "i",   "em", "strong", "span",
                                                       "code", "sub", "sup", "u",  "mark",   "small"};
    if (!each.tag().empty() && std::ranges::find(kInline, each.tag()) == kInline.end()) space = true;
  };
  walk(
      node,
      [&](HtmlNode each) {
        if (!each.is_text()) {
          separate(each);
          return !is_invisible(each);
        }
        for (const char c : each.text()) {
          if (is_html_space(c)) {
            space = true;
            continue;
          }
          if (std::exchange(space, false) && !text.empty()) text += ' ';
          text += c;
        }
        return false;
      },
      separate);
  return text;
}

bool is_invisible(HtmlNode node) {
  constexpr std::array<std::string_view, 18> kInvisible{
      "script", "style",  "template", "noscript", "svg",    "math",  "head",   "iframe", "object",
      "embed",  "canvas", "audio",    "video",    "select", "input", "button", "dialog", "textarea"};
  if (std::ranges::find(kInvisible, node.tag()) != kInvisible.end()) return true;
  if (node.attribute("hidden")) return true;
  std::string style(node.attribute("style").value_or(""));
  std::erase_if(style, is_html_space);
  return style.find("display:none") != std::string::npos || style.find("visibility:hidden") != std::string::npos;
}

}  // namespace rkllm_mcp
