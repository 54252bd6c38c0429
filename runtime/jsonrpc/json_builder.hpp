// Builds a Json value from the events of nlohmann's parser, with what the stock builder lacks: a depth limit, refusal
// of duplicate members in O(n log n), and the source text of a number that no integer type can hold.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {

class JsonBuilder {
 public:
  explicit JsonBuilder(std::size_t max_depth) : max_depth_(max_depth) {}

  // What nlohmann's sax_parse calls. False stops the parser; then one of the complaints below is set.
  bool null() { return value(nullptr); }
  bool boolean(bool flag) { return value(flag); }
  bool number_integer(std::int64_t number) { return value(number); }
  bool number_unsigned(std::uint64_t number) { return value(number); }
  bool number_float(double number, const std::string& source);
  bool string(std::string& text) { return value(std::move(text)); }
  bool binary(Json::binary_t&) { return false; }  // not in JSON text
  bool start_object(std::size_t) { return open(Json::object()); }
  bool key(std::string& name);
  bool end_object();
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_array();
  bool parse_error(std::size_t position, const std::string& token, const Json::exception& error);

  Json take() { return std::move(root_); }
  // Source text of the root's member "id" where it is a number that was read as floating point.
  const std::string& id_source() const { return id_source_; }

  // Why parsing stopped, empty if it did not. Syntax: the text is not JSON. Structure: it is, but is refused.
  const std::string& syntax_complaint() const { return syntax_complaint_; }
  const std::string& structure_complaint() const { return structure_complaint_; }
  bool too_deep() const { return too_deep_; }  // which is what it complains of

 private:
  bool value(Json leaf) {
    add(std::move(leaf));
    return true;
  }
  bool open(Json container);
  Json& add(Json value);

  std::size_t max_depth_;
  Json root_;
  std::vector<Json*> open_;  // the containers around the current position, outermost first
  std::string key_;          // of the member that comes next
  std::string id_source_;
  std::string syntax_complaint_;
  std::string structure_complaint_;
  bool too_deep_ = false;
};

}  // namespace rkllm_mcp
