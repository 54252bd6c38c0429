#include "jsonrpc/bounded_json.hpp"

#include "jsonrpc/unread.hpp"
#include "text/utf8.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace rkllm_mcp {

std::optional<Json> parse_bounded(std::string_view text, std::size_t depth, std::size_t values) {
  JsonBuilder builder(depth);
  builder.refuse_above(values);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) return std::nullopt;
  return builder.take();
}

Json parse_or_complain(std::string_view text) {
  JsonBuilder builder(kDeepestJson);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) throw std::invalid_argument(builder.complaint());
  return builder.take();
}

namespace {

// A container of more values is kept as text. The outer ones, which routing looks into (a batch; a message; its params
// and arguments), may have more.
constexpr std::size_t kMostInBatch = 64 * 1024;
constexpr std::size_t kMostOutside = 16 * 1024;
constexpr std::size_t kMostInside = 1024;

std::size_t most_values(std::size_t depth) {
  if (depth == 1) return kMostInBatch;
  return depth <= 3 ? kMostOutside : kMostInside;
}

// The end of what the parser read last, where the fault is.
std::string quoted_end(std::string_view token) {
  constexpr std::string_view kBefore = "...";
  if (token.size() <= kQuotedBytes) return std::string(token);
  std::size_t begin = token.size() - kQuotedBytes + kBefore.size();
  while (begin < token.size() && continues_character(token[begin])) ++begin;
  return std::string(kBefore).append(token.substr(begin));
}

// nlohmann's complaint without the identifier in brackets that it begins with, and with no more of the client's text
// than may be quoted.
std::string readable(std::string_view complaint) {
  constexpr std::string_view kRead = "last read: '";
  if (const auto bracket = complaint.find("] "); bracket != std::string_view::npos)
    complaint.remove_prefix(bracket + 2);
  const auto read = complaint.find(kRead);
  if (read == std::string_view::npos) {  // "number overflow parsing '1e400'"
    const auto quote = complaint.find('\'');
    return std::string(complaint.substr(0, quote)) +
           (quote == std::string_view::npos ? "" : shortened(complaint.substr(quote)));
  }
  const auto begin = read + kRead.size();
  const auto expectation = complaint.rfind("'; expected ");
  const auto end = expectation != std::string_view::npos && expectation >= begin ? expectation : complaint.rfind('\'');
  if (end == std::string_view::npos || end < begin) return std::string(complaint.substr(0, begin));
  return std::string(complaint.substr(0, begin)) + quoted_end(complaint.substr(begin, end - begin)) +
         std::string(complaint.substr(end));
}

// The first name that occurs twice. Sorting keeps a hostile object of a million members from costing n * n.
std::optional<std::string_view> duplicate_name(const Json::object_t& members) {
  std::vector<std::string_view> names;
  names.reserve(members.size());
  for (const auto& [name, value] : members) names.emplace_back(name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return std::nullopt;
  return *twice;
}

// Empties it from the leaves on. Its own destructor would need memory for all that it holds, and may not fail.
void dismantle(Json& value) {
  if (value.is_array()) {
    auto& elements = value.get_ref<Json::array_t&>();
    for (; !elements.empty(); elements.pop_back()) dismantle(elements.back());
  } else if (value.is_object()) {
    auto& members = value.get_ref<Json::object_t&>();
    for (auto& [name, member] : members) dismantle(member);
    members.clear();
  }
}

using Members = std::vector<Json::object_t::value_type, Json::object_t::allocator_type>;  // which an object is

// The vector itself would copy all that its members hold: their names are const, and so a member cannot be moved as a
// whole.
void make_room(Members& members) {
  constexpr std::size_t kLeast = 4;
  Members roomier;
  roomier.reserve(std::max(kLeast, 2 * members.size()));
  try {
    for (auto& [name, value] : members) roomier.emplace_back(name, std::move(value));
  } catch (...) {  // no memory for a name
    for (auto& [name, value] : roomier) dismantle(value);
    throw;
  }
  members.swap(roomier);
}

}  // namespace

JsonBuilder::~JsonBuilder() { dismantle(root_); }

Json& JsonBuilder::add(Json value) {
  if (open_.empty()) return root_ = std::move(value);
  Open& parent = open_.back();
  ++parent.nodes;
  if (parent.value->is_array()) {
    auto& elements = parent.value->get_ref<Json::array_t&>();
    elements.push_back(std::move(value));
    return elements.back();
  }
  // Appending to the vector avoids the object's search for an equal name, which end_object does once for all members.
  Members& members = parent.value->get_ref<Json::object_t&>();
  if (members.size() == members.capacity()) make_room(members);
  members.emplace_back(std::move(key_), std::move(value));
  return members.back().second;
}

bool JsonBuilder::is_one_too_many() {
  if (++values_ <= most_values_) return false;
  structure_complaint_ = "more than " + std::to_string(most_values_) + " values";
  return true;
}

bool JsonBuilder::value(Json leaf) {
  if (is_one_too_many()) return false;
  add(std::move(leaf));
  skip_if_long();
  return true;
}

void JsonBuilder::skip_if_long() {
  if (position_ == nullptr || open_.empty() || open_.back().nodes <= most_values(open_.size())) return;
  dismantle(*open_.back().value);
  *open_.back().value = nullptr;
  skipping_ = true;
}

bool JsonBuilder::open(Json::value_t kind) {
  if (open_.size() + skipped_ == max_depth_) {
    too_deep_ = true;
    structure_complaint_ = "nested deeper than " + std::to_string(max_depth_) + " levels";
    return false;
  }
  if (skipping_) {
    ++skipped_;
  } else if (is_one_too_many()) {
    return false;
  } else {
    open_.push_back({&add(Json(kind)), position_ == nullptr ? nullptr : *position_ - 1});
  }
  return true;
}

bool JsonBuilder::close() {
  if (skipping_ && skipped_ > 0) {
    --skipped_;
    return true;
  }
  const Open closed = open_.back();
  open_.pop_back();
  if (std::exchange(skipping_, false)) {
    *closed.value = unread_part({closed.begin, static_cast<std::size_t>(*position_ - closed.begin)});
  } else if (!open_.empty()) {
    open_.back().nodes += closed.nodes;
  }
  skip_if_long();
  return true;
}

bool JsonBuilder::key(std::string& name) {
  if (!skipping_) key_ = std::move(name);
  return true;
}

bool JsonBuilder::end_object() {
  if (skipping_) return close();
  if (const auto name = duplicate_name(open_.back().value->get_ref<const Json::object_t&>())) {
    structure_complaint_ = "member " + Json(shortened(*name)).dump(-1, ' ', false, Json::error_handler_t::replace) +
                           " occurs twice in one object";
    return false;
  }
  return close();
}

bool JsonBuilder::end_array() { return close(); }

bool JsonBuilder::parse_error(std::size_t position, const std::string&, const Json::exception& error) {
  if (!structure_complaint_.empty()) return false;
  syntax_complaint_ = "not valid JSON at byte " + std::to_string(position) + ": " + readable(error.what());
  return false;
}

}  // namespace rkllm_mcp
