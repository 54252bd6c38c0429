#include "settings/document.hpp"

#include "jsonrpc/bounded_json.hpp"
#include "settings/refused.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

// Walks through a text and lets others see how far the parser has come, which its events do not tell.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    const CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

// Takes a parser's events and notes on which line each key stands.
class KeyLines : public nlohmann::json_sax<Json> {
 public:
  KeyLines(const std::string& file, std::string_view text)
      : file_(file), text_(text), furthest_(text.data()), counted_to_(text.data()) {}

  std::map<Document::Key, std::size_t> read() {
    const char* const end = text_.data() + text_.size();
    Json::sax_parse(CountingIterator(text_.data(), &furthest_), CountingIterator(end, &furthest_), this);
    return std::move(lines_);
  }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_array(std::size_t) override {
    go_deeper();
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool start_object(std::size_t) override {
    go_deeper();
    objects_.push_back({objects_.empty() ? "" : objects_.back().path_of_key, "", {}});
    return true;
  }
  bool end_object() override {
    --depth_;
    objects_.pop_back();
    return true;
  }
  bool key(string_t& key) override {
    Object& object = objects_.back();
    object.path_of_key = object.path.empty() ? key : object.path + "." + key;
    const std::size_t line = line_here();
    if (!object.keys.insert(key).second) {
      throw SettingsRefused(
          {file_ + ":" + std::to_string(line) + ": " + object.path_of_key + ": the key occurs twice"});
    }
    lines_.emplace(Document::Key(object.path, key), line);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    // `position` counts the characters read; the last of them is the one that does not fit.
    const char* const at = text_.data() + std::min(position == 0 ? 0 : position - 1, text_.size());
    const char* line_start = at;
    while (line_start != text_.data() && line_start[-1] != '\n') --line_start;
    throw SettingsRefused({file_ + ":" + std::to_string(line_at(at)) + ":" + std::to_string(at - line_start + 1) +
                           ": not JSON: " + reason_of(error)});
  }

 private:
  struct Object {
    std::string path;
    std::string path_of_key;  // of the key that was read last
    std::set<std::string> keys;
  };

  void go_deeper() {
    if (++depth_ <= kDeepestJson) return;
    const std::string path = objects_.empty() ? "" : objects_.back().path_of_key + ": ";
    throw SettingsRefused({file_ + ":" + std::to_string(line_here()) + ": " + path + "nested deeper than " +
                           std::to_string(kDeepestJson) + " levels"});
  }

  // Counts on from where it was asked for last: a file has many keys.
  std::size_t line_here() {
    line_ += static_cast<std::size_t>(std::count(counted_to_, furthest_, '\n'));
    counted_to_ = furthest_;
    return line_;
  }
  std::size_t line_at(const char* at) const { return static_cast<std::size_t>(std::count(text_.data(), at, '\n')) + 1; }

  // The parser's own words without its number and position.
  static std::string reason_of(const nlohmann::detail::exception& error) {
    std::string_view text = error.what();
    for (const std::string_view before : {"] ", "parse error at line", ": "}) {
      const auto found = text.find(before);
      if (found != std::string_view::npos) text.remove_prefix(found + before.size());
    }
    return std::string(text);
  }

  const std::string& file_;
  std::string_view text_;
  const char* furthest_;
  const char* counted_to_;
  std::size_t line_ = 1;         // of counted_to_
  std::size_t depth_ = 0;        // of the array or object being read
  std::vector<Object> objects_;  // from the outermost to the one being read
  std::map<Document::Key, std::size_t> lines_;
};

}  // namespace

Document::Document(const std::string& file, std::string_view text) : file_(file), lines_(KeyLines(file, text).read()) {
  value_ = parse_bounded(text).value();
  if (!value_.is_object()) throw SettingsRefused({file_ + ":1: expected an object, found " + value_.type_name()});
}

std::string Document::place_of(std::string path) const {
  for (;;) {
    // Names have points, too ("qwen2.5"): any of them may be the one between an object's path and a key of it.
    for (auto dot = path.rfind('.'); dot != std::string::npos && dot > 0; dot = path.rfind('.', dot - 1)) {
      const auto found = lines_.find({path.substr(0, dot), path.substr(dot + 1)});
      if (found != lines_.end()) return place_of_line(found->second);
    }
    const auto found = lines_.find({"", path});
    if (found != lines_.end()) return place_of_line(found->second);
    const auto dot = path.rfind('.');
    if (dot == std::string::npos) return file_;
    path.resize(dot);
  }
}

std::string Document::place_of_key(const std::string& object, const std::string& key) const {
  const auto found = lines_.find({object, key});
  return found == lines_.end() ? place_of(object) : place_of_line(found->second);
}

}  // namespace rkllm_mcp
