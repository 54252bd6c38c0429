// Where the fields of a struct stand on the wire, those of the structs in it included: for complaints about a field
// that was given in the wrong place. Runs the same generated members() as the decoder, on a value that is thrown away.
#pragma once

#include <rkllm_mcp/codec_rules.hpp>

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rkllm_mcp {

class FieldSearch {
 public:
  static constexpr bool kDecodes = true;

  struct Place {
    std::vector<std::string_view> around;  // the objects that it stands in, the outermost first
    std::string_view name;
  };

  // All fields of T, which stands at `around`.
  template <class T>
  static std::vector<Place> fields_of(std::vector<std::string_view> around) {
    FieldSearch search(std::move(around));
    std::remove_const_t<T> value{};
    members(search, value);
    return std::move(search.found_);
  }

  // The functions that members() calls on any codec.
  template <class T>
  void integer(std::string_view name, T&, const IntegerRule& = {}) {
    add(name);
  }
  template <class T>
  void number(std::string_view name, T&, const NumberRule& = {}) {
    add(name);
  }
  void boolean(std::string_view name, bool&, Presence = kOptional) { add(name); }
  template <class T>
  void flag(std::string_view name, T&, Presence = kOptional) {
    add(name);
  }
  template <class E>
  void enumeration(std::string_view name, E&, Presence = kOptional) {
    add(name);
  }
  template <class Char>
  void text(std::string_view name, Char*&, const TextRule& = {}) {
    add(name);
  }
  template <class T, class Length>
  void array(std::string_view name, T*&, const Length&, const ArrayRule& = {}) {
    add(name);
  }
  template <class T>
  void told_array(std::string_view, T*&, const CountedBy&) {}
  template <std::size_t N>
  void text_in_place(std::string_view name, char (&)[N], const TextRule& = {}) {
    add(name);
  }
  template <class T, std::size_t N, class Length>
  void array_in_place(std::string_view name, T (&)[N], const Length&, const ArrayRule& = {}) {
    add(name);
  }
  template <class Mask, class Count>
  void cpu_mask(std::string_view name, Mask&, std::string_view count_name, Count&) {
    add(name);
    add(count_name);
  }
  template <class T>
  void structure(std::string_view name, T&, Presence = kOptional) {
    add_all<T>(name);
  }
  template <class T, class Sign>
  void structure_if(std::string_view name, T&, const Sign* const&) {
    add_all<T>(name);
  }
  template <class Sign, class Members>
  void group(std::string_view name, const Sign* const&, const Members& members_of_group,
             std::initializer_list<Elsewhere> = {}) {
    add(name);
    FieldSearch inner(inside(name));
    members_of_group(inner);
    take(std::move(inner.found_));
  }
  template <class T>
  void object(std::string_view name, T*&, Presence) {
    add_all<T>(name);
  }
  template <class T>
  void batch(std::string_view name, T*&, const HandleValue&) {
    add_all<T>(name);
  }
  template <class E>
  FieldSearch& when(std::string_view, E, E) {
    return *this;
  }

 private:
  static constexpr std::size_t kDeepest = 4;  // a struct may have a pointer to its own type in it

  explicit FieldSearch(std::vector<std::string_view> around) : around_(std::move(around)) {}

  void add(std::string_view name) { found_.push_back({around_, name}); }
  template <class T>
  void add_all(std::string_view name) {
    add(name);
    if (around_.size() < kDeepest) take(fields_of<T>(inside(name)));
  }
  std::vector<std::string_view> inside(std::string_view name) const {
    auto path = around_;
    path.push_back(name);
    return path;
  }
  void take(std::vector<Place> places) {
    for (Place& place : places) found_.push_back(std::move(place));
  }

  std::vector<std::string_view> around_;
  std::vector<Place> found_;
};

// `"param": {"param":{"model_path":...}}`
inline std::string shown_in_place(const FieldSearch::Place& place) {
  std::string path;
  std::string example = "{";
  for (const std::string_view object : place.around) {
    path.append(path.empty() ? "" : ".").append(object);
    example.append("\"").append(object).append("\":{");
  }
  example.append("\"").append(place.name).append("\":...").append(place.around.size() + 1, '}');
  return "\"" + path + "\": " + example;
}

}  // namespace rkllm_mcp
