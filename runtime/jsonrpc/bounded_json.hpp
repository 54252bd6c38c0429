// JSON that somebody else has written: the other side of a connection, a model, a file. Functions that call themselves
// copy, compare and write it, so its depth has to be bounded while it is parsed.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {

inline constexpr std::size_t kDeepestJson = 64;  // levels
// The longest text that code parses on the event loop if it is able to have longer ones parsed beside the loop.
// JSON-RPC messages have a limit of their own, kReadAtOnceBytes.
inline constexpr std::size_t kMostParsedOnLoop = std::size_t{32} << 10U;  // bytes

inline constexpr std::size_t kAnyNumberOfValues = static_cast<std::size_t>(-1);

// Nothing if the text is not JSON, is nested deeper, has a member twice in one object, or more values, at any depth.
std::optional<Json> parse_bounded(std::string_view text, std::size_t depth = kDeepestJson,
                                  std::size_t values = kAnyNumberOfValues);

// To the depth kDeepestJson; throws std::invalid_argument that says why it is none.
Json parse_or_complain(std::string_view text);

// What these, and parse_message(), are made of: builds a Json value from the events of nlohmann's parser, with what the
// stock builder lacks: a depth limit, refusal of duplicate members in O(n log n), and, for long texts, parts that are
// kept as text (unread.hpp) as soon as they turn out to have many values.
class JsonBuilder {
 public:
  explicit JsonBuilder(std::size_t max_depth) : max_depth_(max_depth) {}
  // Keeps long parts as text. `position` is where the parser is in the text, see TellingIterator; it outlives this.
  JsonBuilder(std::size_t max_depth, const char* const* position) : max_depth_(max_depth), position_(position) {}
  JsonBuilder(const JsonBuilder&) = delete;
  JsonBuilder& operator=(const JsonBuilder&) = delete;
  ~JsonBuilder();  // allocates nothing: parsing may have ended because there is no memory

  // Refuses a text with more values than that: for texts that somebody then looks at on the event loop, value by value.
  // Those of parts that are kept as text do not count, since nobody looks at them there.
  void refuse_above(std::size_t values) { most_values_ = values; }

  // What nlohmann's sax_parse calls. False stops the parser; then one of the complaints below is set.
  bool null() { return skipping_ || value(nullptr); }
  bool boolean(bool flag) { return skipping_ || value(flag); }
  bool number_integer(std::int64_t number) { return skipping_ || value(number); }
  bool number_unsigned(std::uint64_t number) { return skipping_ || value(number); }
  bool number_float(double number, const std::string&) { return skipping_ || value(number); }
  bool string(std::string& text) { return skipping_ || value(std::move(text)); }
  bool binary(Json::binary_t&) { return false; }  // not in JSON text
  bool start_object(std::size_t) { return open(Json::value_t::object); }
  bool key(std::string& name);
  bool end_object();
  bool start_array(std::size_t) { return open(Json::value_t::array); }
  bool end_array();
  bool parse_error(std::size_t position, const std::string& token, const Json::exception& error);

  Json take() { return std::move(root_); }

  // Why parsing stopped, empty if it did not. Syntax: the text is not JSON. Structure: it is, but is refused.
  const std::string& syntax_complaint() const { return syntax_complaint_; }
  const std::string& structure_complaint() const { return structure_complaint_; }
  bool too_deep() const { return too_deep_; }  // structure_complaint() is about the depth
  const std::string& complaint() const {
    return structure_complaint_.empty() ? syntax_complaint_ : structure_complaint_;
  }

 private:
  bool value(Json leaf);
  struct Open {
    Json* value;
    const char* begin;      // of its text; null where no text is kept
    std::size_t nodes = 0;  // values in it so far, at any depth
  };

  bool open(Json::value_t kind);
  bool close();
  Json& add(Json value);
  // From here to its end the innermost container is only checked, and then kept as text.
  void skip_if_long();
  bool is_one_too_many();

  std::size_t max_depth_;
  std::size_t most_values_ = static_cast<std::size_t>(-1);
  std::size_t values_ = 0;
  const char* const* position_ = nullptr;  // null: everything is built
  Json root_;
  std::vector<Open> open_;  // the containers around the current position, outermost first
  bool skipping_ = false;
  std::size_t skipped_ = 0;  // containers around the current position that are inside the one that is kept as text
  std::string key_;          // of the member that comes next
  std::string syntax_complaint_;
  std::string structure_complaint_;
  bool too_deep_ = false;
};

// Walks over a text, and leaves its position where others can read it. All copies share one position, for one parser.
class TellingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  explicit TellingIterator(const char** position) : position_(position) {}
  reference operator*() const { return **position_; }
  TellingIterator& operator++() {
    ++*position_;
    return *this;
  }
  bool operator==(const TellingIterator& other) const { return *position_ == *other.position_; }
  bool operator!=(const TellingIterator& other) const { return !(*this == other); }

 private:
  const char** position_;
};

}  // namespace rkllm_mcp
