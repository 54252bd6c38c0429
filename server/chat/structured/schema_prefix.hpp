// Follows the events of a JSON text, and says as soon as the value can no longer fit its schema. What it lets pass is
// not yet valid: JsonSchema::complaint() decides at the end. It never refuses what could become valid.
#pragma once

#include "chat/structured/json_prefix.hpp"
#include "chat/structured/json_schema.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::chat {

// One value held against one place of a schema; values inside it have checks of their own.
class ValueCheck {
 public:
  // Of all checks of one text.
  struct Effort {
    std::size_t checks = 0;  // that are alive
    std::size_t steps = 0;   // that have been taken
  };

  // `nodes` and `effort` outlive it. `depth`: how many checks it is inside of.
  ValueCheck(const std::vector<SchemaNode>& nodes, std::size_t index, Effort& effort, std::size_t depth = 0);
  ~ValueCheck();
  ValueCheck(const ValueCheck&) = delete;
  ValueCheck& operator=(const ValueCheck&) = delete;

  // The next event of this value. False if it cannot fit any more; then no further events are to come.
  bool accept(const JsonEvent& event);

 private:
  using Alternatives = std::vector<std::unique_ptr<ValueCheck>>;

  bool accept_itself(const JsonEvent& event);
  bool accept_outermost(const JsonEvent& event);
  bool accept_scalar(const Json& value) const;
  bool accept_string_so_far(const std::string& text) const;
  bool accept_key(const std::string& name);
  bool begin_item();
  bool accept_end() const;
  void follow(std::size_t index);
  bool may_go_deeper() const;
  // Takes so many steps; false if fewer are left.
  bool take_steps(std::size_t steps) const;

  const std::vector<SchemaNode>& nodes_;
  const SchemaNode& node_;
  Effort& effort_;
  const std::size_t check_depth_;
  std::vector<std::pair<SchemaNode::Group, Alternatives>> groups_;
  std::unique_ptr<ValueCheck> inner_;  // of the value inside this one that is being read; null: anything fits
  bool in_item_ = false;               // an item of this array has begun
  bool is_array_ = false;
  std::size_t depth_ = 0;  // of containers, this value's own included
  std::size_t members_ = 0;
  std::size_t missing_;  // required properties that have not come
};

}  // namespace rkllm_mcp::chat
