#include "jsonrpc/json_builder.hpp"

#include <algorithm>
#include <utility>

namespace rkllm_mcp {
namespace {

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

}  // namespace

Json& JsonBuilder::add(Json value) {
  if (open_.empty()) return root_ = std::move(value);
  Json& parent = *open_.back();
  if (parent.is_array()) {
    auto& elements = parent.get_ref<Json::array_t&>();
    elements.push_back(std::move(value));
    return elements.back();
  }
  // An ordered object is a vector of members; appending to it directly avoids its search for an equal name, which
  // end_object does once for all members.
  using Members = std::vector<Json::object_t::value_type, Json::object_t::allocator_type>;
  Members& members = parent.get_ref<Json::object_t&>();
  members.emplace_back(std::move(key_), std::move(value));
  return members.back().second;
}

bool JsonBuilder::open(Json container) {
  if (open_.size() == max_depth_) {
    too_deep_ = true;
    structure_complaint_ = "nested deeper than " + std::to_string(max_depth_) + " levels";
    return false;
  }
  open_.push_back(&add(std::move(container)));
  return true;
}

bool JsonBuilder::number_float(double number, const std::string& source) {
  if (open_.size() == 1 && key_ == "id") id_source_ = source;
  return value(number);
}

bool JsonBuilder::key(std::string& name) {
  key_ = std::move(name);
  return true;
}

bool JsonBuilder::end_object() {
  if (const auto name = duplicate_name(open_.back()->get_ref<const Json::object_t&>())) {
    structure_complaint_ = "member " + Json(std::string(*name)).dump(-1, ' ', false, Json::error_handler_t::replace) +
                           " occurs twice in one object";
    return false;
  }
  open_.pop_back();
  return true;
}

bool JsonBuilder::end_array() {
  open_.pop_back();
  return true;
}

bool JsonBuilder::parse_error(std::size_t position, const std::string&, const Json::exception& error) {
  if (!structure_complaint_.empty()) return false;
  // nlohmann's text begins with an identifier in brackets, which means nothing to a client.
  std::string_view text = error.what();
  if (const auto bracket = text.find("] "); bracket != std::string_view::npos) text.remove_prefix(bracket + 2);
  syntax_complaint_ = "not valid JSON at byte " + std::to_string(position) + ": " + std::string(text);
  return false;
}

}  // namespace rkllm_mcp
