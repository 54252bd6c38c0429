// JSON to C: reads the members of one JSON object into the fields of a struct, or into the arguments of a call.
//
// Generated code makes one call per field, in the order of the header; rules (codec_rules.hpp) say what C cannot say.
// The arena of the call owns what the C values point at. Nothing is checked twice and nothing is guessed: a member that
// no field asked for is refused by finish(), with its path and the nearest name that would have been right.
//
// Complaints are InvalidParams with the path; CallFailed where a check needs a handle value that is not known yet.
#pragma once

#include <rkllm_mcp/array_elements.hpp>
#include <rkllm_mcp/array_in_place.hpp>
#include <rkllm_mcp/array_lengths.hpp>
#include <rkllm_mcp/call_context.hpp>
#include <rkllm_mcp/codec_rules.hpp>
#include <rkllm_mcp/cpu_mask.hpp>
#include <rkllm_mcp/enumerators.hpp>
#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/field_search.hpp>
#include <rkllm_mcp/json_reader.hpp>
#include <rkllm_mcp/nearest_name.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rkllm_mcp {

class Decoder {
 public:
  static constexpr bool kDecodes = true;

  // For the arguments of `function`: the object call.params.
  Decoder(CallContext& call, std::string_view function) : Decoder(JsonReader(call.params, "params"), call, function) {}
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // The handle that the backend has resolved; the member itself may be absent.
  template <class Handle>
  Handle handle(std::string_view name);

  template <std::integral T>
  void integer(std::string_view name, T& out, IntegerRule rule = {});
  template <std::floating_point T>
  void number(std::string_view name, T& out, NumberRule rule = {});
  void boolean(std::string_view name, bool& out, Presence presence = kOptional);
  // An integer that means a boolean: 0, 1, false and true.
  template <std::integral T>
  void flag(std::string_view name, T& out, Presence presence = kOptional);
  // By name or by number.
  template <class E>
  void enumeration(std::string_view name, E& out, Presence presence = kOptional);
  template <class Char>
  void text(std::string_view name, Char*& out, TextRule rule = {});
  // A struct held by value.
  template <class T>
  void structure(std::string_view name, T& out, Presence presence = kOptional);
  // A struct held by value that is in use if `sign`, one of its pointers, is not NULL; else absent on the wire.
  template <class T, class Sign>
  void structure_if(std::string_view name, T& out, const Sign* const&) {
    structure(name, out);
  }
  // Fields of this struct that stand in an object of their own on the wire; in use if `sign`, one of them, is not NULL.
  template <class Sign, class Members>
  void group(std::string_view name, const Sign* const&, const Members& members_of_group,
             std::initializer_list<Elsewhere> elsewhere = {});
  // A pointer to one struct.
  template <class T>
  void object(std::string_view name, T*& out, Presence presence);
  // A pointer to as many structs as `count` says: an array of that many, or just the object if it is one.
  template <class T>
  void batch(std::string_view name, T*& out, const HandleValue& count);
  template <class T, class Length>
  void array(std::string_view name, T*& out, const Length& length, ArrayRule rule = {});
  template <class T, std::size_t N>
  void array(std::string_view name, T*& out, const WholeOf<N>&, ArrayRule rule = {});
  // An array that only the library fills in: nothing is read.
  template <class T>
  void told_array(std::string_view, T*&, const CountedBy&) {}
  // As text() and array(), for what lies in the struct itself. What is not given stays as it was: the default, or zero.
  template <std::size_t N>
  void text_in_place(std::string_view name, char (&out)[N], TextRule rule = {});
  template <class T, std::size_t N, class Length>
  void array_in_place(std::string_view name, T (&out)[N], const Length& length, ArrayRule rule = {});
  // A struct that the function fills in; it may read what the client has given. `tag` chooses which struct it is.
  template <std::integral Size, class E, class... Choices>
  void chosen(std::string_view name, void*& out, Size& size, std::string_view tag_name, E tag, Choices... choices);
  // A mask of CPUs and how many it holds; either follows from the other.
  template <class Mask, class Count>
  void cpu_mask(std::string_view name, Mask& mask, std::string_view count_name, Count& count);

  // The next member belongs to a union: it must be present exactly if `tag` is `choice`.
  template <class E>
  Decoder& when(std::string_view tag_name, E tag, E choice);
  // Both members, or neither.
  void together(std::string_view one, std::string_view other);
  // Must be called last. Members that only other versions have are refused as such.
  void finish(std::span<const Elsewhere> elsewhere);
  void finish(std::initializer_list<Elsewhere> elsewhere = {}) {
    finish(std::span(elsewhere.begin(), elsewhere.size()));
  }

 private:
  struct NotChosen {
    std::string complaint;
  };

  Decoder(JsonReader reader, CallContext& call, std::string_view function)
      : reader_(reader), call_(call), function_(function), lengths_(reader_, call.handle, function, known_) {
    reader_.object();
  }

  // The path that the library gets for the one that was given.
  std::string path_for(std::string_view name, const std::string& given, FileUse use) const;
  std::optional<JsonReader> take(std::string_view name, Presence presence, std::string_view what);
  bool is_given(std::string_view name) const;
  // To be appended to a complaint about a member that is unknown here: what it may have been meant for.
  std::string hint_for(std::string_view unknown) const;
  template <class T>
  void fill(const JsonReader& in, T& out) const;
  // The elements of an array: structs, texts, numbers or bytes. `may_be_null`: null among texts is a NULL pointer.
  template <class T>
  auto elements(const JsonReader& in, const ArrayRule& rule, bool may_be_null = false) const;

  JsonReader reader_;
  CallContext& call_;
  std::string_view function_;
  std::vector<std::string_view> known_;  // members asked for so far
  using SearchFunction = std::vector<FieldSearch::Place> (*)(std::vector<std::string_view> around);
  std::vector<std::pair<std::string_view, SearchFunction>> inner_;  // those members that are structs
  ArrayLengths lengths_;                                            // of those members that are arrays
  // A required member that is absent; thrown by finish(), unless an unknown member explains more.
  std::optional<InvalidParams> missing_;
  // Set by when(): the next member must be absent, for this reason.
  std::optional<NotChosen> not_chosen_;
  // Set by when(): the tag has chosen the next member, so it must be given.
  bool must_be_present_ = false;
};

inline std::optional<JsonReader> Decoder::take(std::string_view name, Presence presence, std::string_view what) {
  known_.push_back(name);
  const auto not_chosen = std::exchange(not_chosen_, std::nullopt);
  const bool required = std::exchange(must_be_present_, false) || presence == kRequired;
  auto found = reader_.find(name);
  if (not_chosen) {
    if (found) found->refuse(not_chosen->complaint);
    return std::nullopt;
  }
  if (!found && required && !missing_) {
    const char* const found_instead = reader_.json().contains(std::string(name)) ? "null" : "nothing";
    missing_.emplace(reader_.path_of(name),
                     "expected " + std::string(what) + ", found " + found_instead + " (it is required)");
  }
  return found;
}

inline bool Decoder::is_given(std::string_view name) const { return reader_.find(name).has_value(); }

template <class Handle>
Handle Decoder::handle(std::string_view name) {
  if (const auto in = take(name, kOptional, "string")) in->text();
  if (call_.handle == nullptr) throw std::logic_error("a call that uses a handle was made without one");
  if constexpr (std::integral<Handle>) {
    return static_cast<Handle>(reinterpret_cast<std::uintptr_t>(call_.handle->native));
  } else {
    return static_cast<Handle>(call_.handle->native);
  }
}

template <std::integral T>
void Decoder::integer(std::string_view name, T& out, IntegerRule rule) {
  const auto in = take(name, rule.presence, "integer");
  if (!in) return;
  using Number = WireInteger<T>;
  using Limits = std::numeric_limits<Number>;
  const Number minimum = std::cmp_less(rule.minimum, Limits::min()) ? Limits::min() : static_cast<Number>(rule.minimum);
  const Number maximum =
      std::cmp_greater(rule.maximum, Limits::max()) ? Limits::max() : static_cast<Number>(rule.maximum);
  out = static_cast<T>(in->integer<Number>(minimum, maximum));
}

template <std::floating_point T>
void Decoder::number(std::string_view name, T& out, NumberRule rule) {
  constexpr double kMost = std::is_same_v<T, float> ? kFloatMax : std::numeric_limits<double>::max();
  if (const auto in = take(name, rule.presence, "number")) {
    out = static_cast<T>(in->number(std::max(rule.minimum, -kMost), std::min(rule.maximum, kMost)));
  }
}

inline void Decoder::boolean(std::string_view name, bool& out, Presence presence) {
  if (const auto in = take(name, presence, "boolean")) out = in->boolean();
}

template <std::integral T>
void Decoder::flag(std::string_view name, T& out, Presence presence) {
  const auto in = take(name, presence, "boolean");
  if (!in) return;
  out = static_cast<T>(in->json().is_boolean() ? in->boolean() : in->integer<WireInteger<T>>(0, 1));
}

template <class E>
void Decoder::enumeration(std::string_view name, E& out, Presence presence) {
  if (const auto in = take(name, presence, "name of an enumerator")) out = enumerator_from_json<E>(*in);
}

template <class Char>
void Decoder::text(std::string_view name, Char*& out, TextRule rule) {
  const bool is_chosen = !not_chosen_;
  const auto in = take(name, rule.presence, "string");
  if (!in && is_chosen && !rule.file_if_absent.empty() && call_.files != nullptr) {
    return void(out = call_.arena.text(path_for(name, std::string(rule.file_if_absent), rule.file)));
  }
  if (!in) return;
  if (rule.json && in->json().is_structured()) return void(out = call_.arena.text(in->json().dump()));
  const std::string& text = in->text();
  if (text.size() < rule.min_length) in->refuse("expected string that is not empty");
  const bool is_free = rule.one_of.size() == 0;
  if (!is_free && std::find(rule.one_of.begin(), rule.one_of.end(), text) == rule.one_of.end()) {
    refuse_name(*in, rule.one_of);
  }
  if (rule.json) {
    const auto first = text.find_first_not_of(" \t\r\n");
    const bool structured = first != std::string::npos && (text[first] == '[' || text[first] == '{');
    if (!structured || !Json::accept(text)) in->refuse("expected JSON: an array or an object, also as a string");
  }
  out = call_.arena.text(rule.file == FileUse::kNone ? text : path_for(name, text, rule.file));
}

inline std::string Decoder::path_for(std::string_view name, const std::string& given, FileUse use) const {
  if (call_.files == nullptr) return given;
  try {
    return call_.files->path_for(given, use);
  } catch (const FileRefused& refused) {
    throw InvalidParams(reader_.path_of(name), refused.what());
  }
}

template <class T>
void Decoder::fill(const JsonReader& in, T& out) const {
  Decoder inner(in, call_, function_);
  members(inner, out);
  inner.finish(elsewhere(TypeTag<T>{}));
}

template <class Sign, class Members>
void Decoder::group(std::string_view name, const Sign* const&, const Members& members_of_group,
                    std::initializer_list<Elsewhere> elsewhere) {
  const auto in = take(name, kOptional, "object");
  if (!in) return;
  Decoder inner(*in, call_, function_);
  members_of_group(inner);
  inner.finish(elsewhere);
}

template <class T>
void Decoder::structure(std::string_view name, T& out, Presence presence) {
  inner_.emplace_back(name, &FieldSearch::fields_of<T>);
  const bool begins_to_live = must_be_present_;  // the member of a union: its bytes hold nothing yet
  const auto in = take(name, presence, "object");
  if (!in) return;
  if (begins_to_live) out = default_of(TypeTag<T>{});
  fill(*in, out);
}

template <class T>
void Decoder::object(std::string_view name, T*& out, Presence presence) {
  inner_.emplace_back(name, &FieldSearch::fields_of<T>);
  const bool is_chosen = !not_chosen_;
  const auto in = take(name, presence, "object");
  if (!in && (presence != kEmptyIfAbsent || !is_chosen)) return;
  auto& object = call_.arena.keep(default_of(TypeTag<std::remove_const_t<T>>{}));
  out = &object;
  if (in) fill(*in, object);
}

template <class T>
void Decoder::batch(std::string_view name, T*& out, const HandleValue& count) {
  inner_.emplace_back(name, &FieldSearch::fields_of<T>);
  const auto in = take(name, kRequired, "object or array of objects");
  if (!in) return;
  const auto wanted = static_cast<std::size_t>(require_known(count, call_.handle, function_));
  const bool is_array = in->json().is_array();
  if (is_array ? in->json().size() != wanted : wanted != 1) {
    in->refuse("expected array of " + std::to_string(wanted) + " objects (" + std::string(count.name) + "), found " +
               (is_array ? std::to_string(in->json().size()) + " elements" : in->json().type_name()));
  }
  using Struct = std::remove_const_t<T>;
  auto* const structs = call_.arena.array<Struct>(wanted);
  out = structs;
  for (std::size_t i = 0; i < wanted; ++i) {
    structs[i] = default_of(TypeTag<Struct>{});
    fill(is_array ? in->element(i) : *in, structs[i]);
  }
}

template <class T>
auto Decoder::elements(const JsonReader& in, const ArrayRule& rule, bool may_be_null) const {
  if constexpr (std::is_class_v<T> || std::is_pointer_v<T>) {
    const std::size_t size = in.array().size();
    std::vector<T> all(size);
    for (std::size_t i = 0; i < size; ++i) {
      if constexpr (std::is_pointer_v<T>) {
        const bool is_null = may_be_null && in.json()[i].is_null();
        all[i] = is_null ? nullptr : call_.arena.text(in.element(i).text());
      } else {
        all[i] = default_of(TypeTag<T>{});
        fill(in.element(i), all[i]);
      }
    }
    return all;
  } else {
    return elements_from_json<T>(in, rule, call_.handle, function_);
  }
}

template <class T, class Length>
void Decoder::array(std::string_view name, T*& out, const Length& length, ArrayRule rule) {
  const bool is_chosen = !not_chosen_;
  const auto in = take(name, rule.presence, "array");
  if (!in) {
    // Another member of the union may be there already.
    if (!is_chosen) return lengths_.not_chosen(length);
    out = nullptr;
    return lengths_.absent(name, length);
  }
  auto read = elements<std::remove_const_t<T>>(*in, rule);
  if (read.empty()) in->refuse("expected array that is not empty");
  lengths_.found(name, *in, read.size(), length, rule.presence);
  if constexpr (std::is_same_v<std::remove_const_t<T>, bool>) {  // a vector of bool holds bits, and is no array
    bool* const values = call_.arena.array<bool>(read.size());
    std::copy(read.begin(), read.end(), values);
    out = values;
  } else {
    out = call_.arena.keep(std::move(read)).data();
  }
}

template <class T, std::size_t N>
void Decoder::array(std::string_view name, T*& out, const WholeOf<N>&, ArrayRule rule) {
  struct Values {
    std::remove_const_t<T> all[N]{};
  };
  Values& values = *call_.arena.array<Values>(1);
  array_in_place(name, values.all, Whole{}, rule);
  out = is_given(name) ? values.all : nullptr;
}

template <std::size_t N>
void Decoder::text_in_place(std::string_view name, char (&out)[N], TextRule rule) {
  const char* given = nullptr;
  text(name, given, rule);
  if (given == nullptr) return;
  if (const auto complaint = copy_text(given, out)) throw InvalidParams(reader_.path_of(name), *complaint);
}

template <class T, std::size_t N, class Length>
void Decoder::array_in_place(std::string_view name, T (&out)[N], const Length& length, ArrayRule rule) {
  const bool is_chosen = !not_chosen_;
  const auto in = take(name, rule.presence, "array");
  if (!in) {
    if constexpr (!std::is_same_v<Length, Whole>) {
      is_chosen ? lengths_.absent(name, length) : lengths_.not_chosen(length);
    }
    return;
  }
  std::size_t size = 0;
  if constexpr (std::is_class_v<T> || std::is_pointer_v<T>) {
    const auto read = elements<T>(*in, rule, std::is_same_v<Length, Whole>);
    size = read.size();
    if (size > N) in->refuse("expected at most " + std::to_string(N) + " values, found " + std::to_string(size));
    std::copy(read.begin(), read.end(), out);
  } else {
    size = read_in_place(*in, out, rule, call_.handle, function_);
  }
  if constexpr (std::is_same_v<Length, Whole>) {
    if (size != N) in->refuse("expected " + std::to_string(N) + " values, found " + std::to_string(size));
  } else {
    if (size == 0) in->refuse("expected array that is not empty");
  }
  lengths_.found(name, *in, size, length, rule.presence);
}

template <std::integral Size, class E, class... Choices>
void Decoder::chosen(std::string_view name, void*& out, Size& size, std::string_view tag_name, E tag,
                     Choices... choices) {
  const auto in = take(name, kOptional, "object");
  if (missing_) return;  // finish() says what is missing
  const auto is_it = [&](auto choice) {
    using Struct = typename decltype(choice)::Struct;
    if (choice.tag != tag) return false;
    auto& kept = call_.arena.keep(default_of(TypeTag<Struct>{}));
    if (in) fill(*in, kept);
    out = &kept;
    size = static_cast<Size>(sizeof(Struct));
    return true;
  };
  if ((is_it(choices) || ...)) return;
  throw InvalidParams(reader_.path_of(tag_name), "nothing is known of what that would leave in " + std::string(name));
}

template <class Mask, class Count>
void Decoder::cpu_mask(std::string_view name, Mask& mask, std::string_view count_name, Count& count) {
  constexpr int kMostCpus = std::min(std::numeric_limits<Mask>::digits, kNamedCpus);
  const auto count_in = take(count_name, kOptional, "integer");
  const auto mask_in = take(name, kOptional, "integer");
  if (count_in) count = count_in->integer<Count>(1, kMostCpus);
  if (mask_in) mask = mask_in->integer<Mask>(1, (Mask{1} << kMostCpus) - 1);
  if (mask_in && !count_in) count = static_cast<Count>(std::popcount(mask));
  if (count_in && !mask_in) mask = static_cast<Mask>(last_cpus(count, online_cpus()));
  if (mask_in && std::popcount(mask) != count) {
    mask_in->expected("mask of " + std::to_string(count) + " CPUs (" + std::string(count_name) + ")");
  }
}

template <class E>
Decoder& Decoder::when(std::string_view tag_name, E tag, E choice) {
  must_be_present_ = tag == choice;
  if (must_be_present_) return *this;
  std::string_view tag_text;
  std::string_view choice_text;
  for (const auto& known : names_of(tag)) {
    if (known.value == tag) tag_text = known.name;
    if (known.value == choice) choice_text = known.name;
  }
  not_chosen_ = {"belongs to " + std::string(tag_name) + " " + std::string(choice_text) + ", but " +
                 std::string(tag_name) + " is " + std::string(tag_text)};
  return *this;
}

inline void Decoder::together(std::string_view one, std::string_view other) {
  if (is_given(one) == is_given(other)) return;
  const std::string_view absent = is_given(one) ? other : one;
  const std::string_view present = is_given(one) ? one : other;
  throw InvalidParams(reader_.path_of(absent), "is missing: " + std::string(present) + " and " + std::string(absent) +
                                                   " are given together or not at all");
}

inline std::string Decoder::hint_for(std::string_view unknown) const {
  std::vector<FieldSearch::Place> below;  // all fields of the structs in this object
  for (const auto& [name, search] : inner_) {
    for (auto& place : search({name})) below.push_back(std::move(place));
  }
  const auto belongs = [&](bool is_next) -> std::string {
    for (const auto& place : below) {
      const bool stands_next = place.around.size() == 1;
      if (place.name == unknown && stands_next == is_next) return "; it belongs into " + shown_in_place(place);
    }
    return {};
  };
  std::string alike = did_you_mean(unknown, known_);
  if (std::string hint = belongs(true); !hint.empty()) return alike + hint;  // the client may have meant either
  if (!alike.empty()) return alike;
  std::vector<std::string_view> next;
  for (const auto& place : below) next.push_back(place.around.size() == 1 ? place.name : std::string_view());
  if (const auto near = nearest_name(unknown, next)) {
    const auto at = static_cast<std::size_t>(std::find(next.begin(), next.end(), *near) - next.begin());
    return "; did you mean \"" + std::string(*near) + "\" in " + shown_in_place(below[at]) + "?";
  }
  return belongs(false);
}

inline void Decoder::finish(std::span<const Elsewhere> elsewhere) {
  for (const auto& [key, value] : reader_.json().items()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    for (const Elsewhere& other : elsewhere) {
      if (other.name == key) throw unsupported(reader_.path_of(key), other.versions, call_.version);
    }
    throw InvalidParams(reader_.path_of(key), "unknown field" + hint_for(key));
  }
  if (missing_) throw InvalidParams(*missing_);
  lengths_.finish();
}

}  // namespace rkllm_mcp
