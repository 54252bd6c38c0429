// The page of a search, read (html_document.hpp).
#include "tools/html/html_document.hpp"

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {
namespace {

std::optional<HtmlNode> first_of_class(HtmlNode node, std::string_view name) {
  const auto found = find_all(node, [name](HtmlNode each) { return each.has_class(name); });
  return found.empty() ? std::nullopt : std::optional(found.front());
}

// Results lead through a page that counts them, and that has the true address in its query: /l/?uddg=ADDRESS.
// Advertisements lead through /y.js.
std::optional<Url> true_address(const Url& page, HtmlNode link) {
  const auto reference = link.attribute("href");
  if (!reference) return std::nullopt;
  auto url = resolve_url(page, *reference);
  if (!url) return std::nullopt;
  const bool is_duckduckgo =
      url->host == "duckduckgo.com" || url->host.ends_with(".duckduckgo.com") || url->has_origin_of(page);
  if (!is_duckduckgo) return url;
  if (url->target.starts_with("/y.js")) return std::nullopt;
  const auto hidden = query_value(url->target, "uddg");
  return hidden ? resolve_url(page, *hidden) : url;
}

bool asks_for_person(HtmlNode root) {
  return !find_all(root, [](HtmlNode node) {
            return node.attribute("id") == "challenge-form" || node.has_class("anomaly-modal__title");
          }).empty();
}

bool says_there_is_nothing(HtmlNode root) {
  return first_of_class(root, "no-results") || first_of_class(root, "result--no-result");
}

}  // namespace

Json read_duckduckgo_page(const HtmlDocument& document, const Url& address) {
  const HtmlNode root = document.root();
  if (asks_for_person(root)) return Json{{"refused", true}};
  Json results = Json::array();
  std::size_t room = HtmlDocument::kLongestAnswer;
  const auto take_room = [&room](std::size_t bytes) {
    if (bytes > room) throw std::length_error("the results get too long");
    room -= bytes;
  };
  bool has_entries = false;
  bool takes_snippet = false;
  int advertisements = 0;  // that the present node is inside of: more than one, where a broken page nests its results
  const auto enter = [&](HtmlNode node) {
    if (node.has_class("result--ad")) ++advertisements;
    if (node.has_class("result__a")) {
      has_entries = true;
      const auto url = advertisements > 0 ? std::nullopt : true_address(address, node);
      // A link that is not closed where it should be goes on as a copy of itself in the elements that follow.
      const bool goes_on = url && !results.empty() && results.back()["link"] == url->text();
      if (goes_on) return true;
      takes_snippet = url.has_value();
      if (url) {
        std::string title = visible_text(node);
        std::string link = url->text();
        take_room(title.size() + link.size());
        results.push_back(Json{{"title", std::move(title)}, {"content", ""}, {"link", std::move(link)}});
      }
      return true;
    }
    if (node.has_class("result__snippet") && std::exchange(takes_snippet, false)) {
      std::string content = visible_text(node);
      take_room(content.size());
      results.back()["content"] = std::move(content);
    }
    return true;
  };
  walk(root, enter, [&](HtmlNode node) {
    if (node.has_class("result--ad")) --advertisements;
  });
  if (!has_entries && !says_there_is_nothing(root)) return Json{{"unknown", true}};
  return Json{{"results", std::move(results)}};
}

}  // namespace rkllm_mcp
