#include "chat/structured/schema_prefix.hpp"

#include "text/utf8.hpp"

#include <algorithm>

namespace rkllm_mcp::chat {
namespace {

using Kind = JsonEvent::Kind;

// Above it, as above the other limits, further alternatives are taken to fit: the final check is what decides.
constexpr std::size_t kMostChecks = 4096;

bool begins_value(Kind kind) {
  return kind == Kind::kBeginObject || kind == Kind::kBeginArray || kind == Kind::kBeginOfString ||
         kind == Kind::kScalar;
}

}  // namespace

ValueCheck::ValueCheck(const std::vector<SchemaNode>& nodes, std::size_t index, Effort& effort, std::size_t depth)
    : nodes_(nodes), node_(nodes[index]), effort_(effort), check_depth_(depth), missing_(node_.required.size()) {
  ++effort_.checks;
  for (const auto& [kind, alternatives] : node_.groups) {
    if (!may_go_deeper()) break;
    Alternatives group;
    for (const std::size_t alternative : alternatives) {
      group.push_back(std::make_unique<ValueCheck>(nodes_, alternative, effort_, check_depth_ + 1));
    }
    groups_.emplace_back(kind, std::move(group));
  }
}

ValueCheck::~ValueCheck() { --effort_.checks; }

bool ValueCheck::may_go_deeper() const { return effort_.checks <= kMostChecks && check_depth_ < kDeepestMatch; }

bool ValueCheck::take_steps(std::size_t steps) const {
  if (steps > kMostMatchSteps - effort_.steps) return false;
  effort_.steps += steps;
  return true;
}

bool ValueCheck::accept(const JsonEvent& event) {
  if (!accept_itself(event)) return false;
  for (auto& [kind, alternatives] : groups_) {
    const std::size_t before = alternatives.size();
    std::erase_if(alternatives, [&event](const auto& check) { return !check->accept(event); });
    if (alternatives.empty()) return false;
    if (kind == SchemaNode::Group::kAll && alternatives.size() < before) return false;
  }
  return true;
}

bool ValueCheck::accept_itself(const JsonEvent& event) {
  if (depth_ == 0) return accept_outermost(event);
  const bool is_own = depth_ == 1;
  if (is_own && event.kind == Kind::kKey) return accept_key(event.text);
  if (is_own && (event.kind == Kind::kEndObject || event.kind == Kind::kEndArray)) {
    depth_ = 0;
    return accept_end();
  }
  if (is_own && is_array_ && !in_item_ && begins_value(event.kind) && !begin_item()) return false;
  if (inner_ != nullptr && !inner_->accept(event)) return false;
  if (event.kind == Kind::kBeginObject || event.kind == Kind::kBeginArray) ++depth_;
  if (event.kind == Kind::kEndObject || event.kind == Kind::kEndArray) --depth_;
  if (depth_ == 1 && event.kind != Kind::kBeginOfString) {  // the inner value is whole
    inner_.reset();
    in_item_ = false;
  }
  return true;
}

bool ValueCheck::accept_outermost(const JsonEvent& event) {
  if (node_.forbidden) return false;
  switch (event.kind) {
    case Kind::kBeginOfString: return accept_string_so_far(event.text);
    case Kind::kScalar: return accept_scalar(event.value);
    case Kind::kBeginObject:
    case Kind::kBeginArray: {
      depth_ = 1;
      is_array_ = event.kind == Kind::kBeginArray;
      const unsigned type = is_array_ ? kArrayType : kObjectType;
      const auto has_type = [type](const Json& value) { return (types_of(value) & type) != 0; };
      if ((node_.types & type) == 0) return false;
      return !node_.allowed || !take_steps(node_.allowed_steps) || std::ranges::any_of(*node_.allowed, has_type);
    }
    case Kind::kEndObject:
    case Kind::kEndArray:
    case Kind::kKey: break;
  }
  return true;
}

bool ValueCheck::accept_scalar(const Json& value) const {
  if ((types_of(value) & node_.types) == 0) return false;
  if (node_.allowed && take_steps(node_.allowed_steps) &&
      std::ranges::find(*node_.allowed, value) == node_.allowed->end())
    return false;
  if (value.is_number()) return fits_bounds(node_, value.get<double>());
  if (!value.is_string()) return true;
  const std::string& text = value.get_ref<const std::string&>();
  return !take_steps(steps_of_bytes(text.size())) || fits_length(node_, text);
}

bool ValueCheck::accept_string_so_far(const std::string& text) const {
  if ((node_.types & kStringType) == 0) return false;
  if (node_.max_length && characters_in(text) > *node_.max_length) return false;
  if (!node_.allowed || !take_steps(node_.allowed_steps)) return true;
  return std::ranges::any_of(*node_.allowed, [&text](const Json& value) {
    return value.is_string() && value.get_ref<const std::string&>().starts_with(text);
  });
}

bool ValueCheck::accept_key(const std::string& name) {
  if (node_.required.contains(name)) --missing_;  // a name comes once
  ++members_;
  if (members_ > node_.max_properties.value_or(members_)) return false;
  const auto known = node_.properties.find(name);
  if (known != node_.properties.end()) {
    follow(known->second);
  } else if (!node_.allows_more_properties) {
    return false;
  } else if (node_.more_properties) {
    follow(*node_.more_properties);
  }
  return true;
}

bool ValueCheck::begin_item() {
  in_item_ = true;
  const std::size_t index = members_++;
  if (members_ > node_.max_items.value_or(members_)) return false;
  if (index < node_.first_items.size()) {
    follow(node_.first_items[index]);
  } else if (!node_.allows_more_items) {
    return false;
  } else if (node_.items) {
    follow(*node_.items);
  }
  return true;
}

bool ValueCheck::accept_end() const {
  if (is_array_) return members_ >= node_.min_items;
  return members_ >= node_.min_properties && missing_ == 0;
}

void ValueCheck::follow(std::size_t index) {
  if (may_go_deeper()) inner_ = std::make_unique<ValueCheck>(nodes_, index, effort_, check_depth_ + 1);
}

}  // namespace rkllm_mcp::chat
