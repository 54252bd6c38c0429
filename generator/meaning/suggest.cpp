#include "meaning/suggest.hpp"

#include "bindgen_json.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <utility>

namespace bindgen {
namespace {

using c::TypeKind;

struct Proposal {
  Json meaning;
  bool is_guess = true;
  std::string reason;
};

Proposal guess(Json meaning, std::string reason) { return {std::move(meaning), true, std::move(reason)}; }
Proposal likely(Json meaning, std::string reason) { return {std::move(meaning), false, std::move(reason)}; }

Json nothing(const char* key) { return {{key, Json::object()}}; }

using Marks = std::initializer_list<const char*>;

// The words of an identifier, in lower case: those of "free_all2", "freeAll2" and "XMLFree" are free, all, 2; and
// xml, free.
std::vector<std::string> words_of(const std::string& name) {
  const auto at = [&](std::size_t i) { return i < name.size() ? static_cast<unsigned char>(name[i]) : 0; };
  std::vector<std::string> words;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (std::isalnum(at(i)) == 0) continue;
    const bool follows = i > 0 && std::isalnum(at(i - 1)) != 0;
    const bool is_other_kind = follows && (std::isdigit(at(i)) != 0) != (std::isdigit(at(i - 1)) != 0);
    const bool begins_by_case =
        follows && std::isupper(at(i)) != 0 && (std::islower(at(i - 1)) != 0 || std::islower(at(i + 1)) != 0);
    if (!follows || is_other_kind || begins_by_case) words.emplace_back();
    words.back() += static_cast<char>(std::tolower(at(i)));
  }
  return words;
}

template <class Fits>
bool any_word(const std::string& name, Marks marks, Fits fits) {
  for (const std::string& word : words_of(name)) {
    if (std::any_of(marks.begin(), marks.end(), [&](const std::string& mark) { return fits(word, mark); })) return true;
  }
  return false;
}

bool has_word(const std::string& name, Marks marks) {
  return any_word(name, marks, [](const std::string& word, const std::string& mark) { return word == mark; });
}

// With words that begin or end so, too: "databuf", "bytes". For what makes a proposal a guess.
bool has_word_like(const std::string& name, Marks marks) {
  return any_word(name, marks, [](const std::string& word, const std::string& mark) {
    return word.starts_with(mark) || word.ends_with(mark);
  });
}

std::string name_of(const Declared& declared) { return declared.path.substr(declared.path.rfind('.') + 1); }

bool is_plural(const std::string& name) {
  const auto ends = [&](const char* with) { return name.size() > 2 && name.ends_with(with); };
  return ends("s") && !ends("ss") && !ends("us") && !ends("is");
}

// The integer beside it that is most likely the length.
std::string length_of(const Declared& declared) {
  for (const std::string& name : declared.integers_beside) {
    if (has_word(name, {"n"}) || has_word_like(name, {"num", "count", "len", "size"})) return name;
  }
  return declared.integers_beside.empty() ? "(the field that holds the length)" : declared.integers_beside.front();
}

// Of a parameter that is const and declared as so many elements.
Proposal whole(const Declared& declared, const std::string& elements) {
  return guess({{"array", {{"whole", true}}}}, "declared as " + std::to_string(declared.extent) + " " + elements +
                                                   ": that the function reads all of them, and no more, is not said");
}

Proposal array(const Declared& declared) {
  const std::string length = length_of(declared);
  const Json meaning = {{"array", {{"counted_by", length}}}};
  if (!declared.type.target.front().is_const && declared.is_param && declared.integers_beside.empty())
    return guess(nothing("out"),
                 "not const: the function may leave a value there, or as many as it likes, or read some");
  if (!declared.type.target.front().is_const)
    return guess(meaning, declared.is_param
                              ? "not const: the function may write there, one value (\"out\"), as many as it "
                                "is given (\"changed\") or as many as it likes"
                              : "not const: the function may write there, as many as it likes");
  if (declared.extent > 1) return whole(declared, "elements");
  return guess(meaning, "that " + length + " counts these elements, and nothing multiplies it, is not said");
}

constexpr const char* kNumbersAround =
    "no integer beside it, but a number in a struct, or around it: it could say how much is read";

// The pointer beside it that may say where it ends, or where what ends with it begins; empty if there is none.
std::string other_end_of(const Declared& declared) {
  const Marks kEnds = {"begin", "end", "start", "stop", "first", "last", "limit", "finish"};
  for (const std::string& name : declared.pointers_beside) {
    if (has_word_like(name, kEnds) || has_word_like(name_of(declared), kEnds)) return name;
  }
  return {};
}

Proposal part_of_range(const char* key, const std::string& other) {
  return guess(nothing(key), "beside " + other + ": the two may be where something begins and where it ends");
}

Proposal text(const Declared& declared) {
  const bool is_const = declared.type.target.front().is_const;
  if (is_const && declared.extent > 1) return whole(declared, "bytes");
  if (!declared.integers_beside.empty())
    return guess(
        {{"array", {{"counted_by", length_of(declared)}}}},
        "characters beside " + length_of(declared) + ": bytes with a length, or a text (\"text\") that ends with NUL");
  if (declared.is_returned && !is_const)
    return guess({{"text", {{"freed_by", "(the function that frees it)"}}}},
                 "not const: who returns it may expect the caller to free it");
  if (!is_const) return guess(nothing("text"), "not const: the function may write there, and how much is not said");
  if (const std::string other = other_end_of(declared); !other.empty()) return part_of_range("text", other);
  if (has_word_like(name_of(declared), {"data",   "buf",    "blob",      "byte",   "raw",   "nonce",  "salt",
                                        "digest", "pixel",  "payload",   "bitmap", "frame", "packet", "sample",
                                        "image",  "secret", "signature", "hash",   "uuid",  "guid",   "key"}) ||
      has_word(name_of(declared), {"iv", "mac", "tag", "sig", "seed", "der", "list", "utf"}))
    return guess(nothing("text"), "called as if it were bytes: how many the function reads is not said");
  if (has_word(name_of(declared), {"fmt", "format"}))
    return guess(nothing("text"), "called as if it were a format, by which a client could read and write memory");
  if (declared.has_numbers_around) return guess(nothing("text"), kNumbersAround);
  return likely(nothing("text"), "const characters, and no integer beside them that could be their length");
}

// `what` it is: "a pointer to something opaque".
Proposal handle(const Declared& declared, const std::string& what) {
  if (declared.is_returned)
    return guess({{"handle", {{"role", "creates"}}}}, what + ": a new handle, or one of the library's");
  const std::string function = declared.path.substr(0, declared.path.find('.'));
  const bool ends =
      has_word(function, {"free", "destroy", "delete", "close", "release", "unref", "finish", "end", "exit"});
  return guess(
      {{"handle", {{"role", ends ? "destroys" : "uses"}}}},
      what + (ends ? ", in a function called as if it ended it" : "; whether the function ends it is not said"));
}

Proposal integer_handle(const Declared& declared) {
  if (declared.is_returned || declared.is_param)
    return handle(declared, "of a type by which handles are passed (\"value\" if it is just a number)");
  return guess(nothing("unused"),
               "of a type by which handles are passed, which have no form in a struct; \"value\" if "
               "it is just a number");
}

Proposal structure(const Declared& declared) {
  if (declared.is_opaque && !declared.is_param && !declared.is_returned)
    return guess(nothing("unused"), "a pointer to something opaque, which has no form in a struct; unused means NULL");
  if (declared.is_opaque) return handle(declared, "a pointer to something opaque");
  if (declared.is_returned)
    return guess(nothing("unused"), "a returned pointer: whose it is, and for how long, is not said");
  if (declared.type.target.front().is_const && declared.extent > 1) return whole(declared, "structs");
  if (declared.is_array)
    return guess({{"array", {{"counted_by", length_of(declared)}}}},
                 "declared as an array of structs: what counts them is not said");
  if (declared.points_at_union)
    return guess(nothing("unused"), "a pointer to a union: which member is meant is not said");
  if (!declared.integers_beside.empty())
    return guess(nothing("object"), "one struct, or as many as " + declared.integers_beside.front() +
                                        " says; an \"array\" of structs needs to be told what counts it");
  if (!declared.type.target.front().is_const)
    return guess(nothing(declared.is_param ? "out" : "object"),
                 declared.is_param
                     ? "not const: filled in by the function (\"out\"), given to it (\"object\"), or both (an "
                       "object that is \"changed\")"
                     : "not const: the function may write there, or keep it");
  if (is_plural(name_of(declared)))
    return guess(nothing("object"),
                 "called as if there were several; an \"array\" of structs needs to be told what counts it");
  if (const std::string other = other_end_of(declared); !other.empty()) return part_of_range("object", other);
  if (declared.ends_openly)
    return guess(nothing("object"), "a struct that ends in an array of which nothing says how long it is");
  if (declared.has_numbers_around) return guess(nothing("object"), kNumbersAround);
  return likely(nothing("object"), "a const struct, and no integer beside it that could be their number");
}

bool is_told_in_place(const c::Type& element) {
  switch (element.kind) {
    case TypeKind::kPointer:
      return element.target.front().kind == TypeKind::kCharacter && element.target.front().is_const;
    case TypeKind::kArray: {
      const c::Type& inner = element.target.front();
      if (inner.kind == TypeKind::kPointer || inner.kind == TypeKind::kRecord) return false;
      return inner.kind == TypeKind::kCharacter || is_told_in_place(inner);
    }
    case TypeKind::kSigned:
    case TypeKind::kUnsigned:
    case TypeKind::kFloat:
    case TypeKind::kDouble:
    case TypeKind::kBool:
    case TypeKind::kRecord:
    case TypeKind::kEnum: return true;
    default: return false;
  }
}

// Of a parameter that is declared as so many rows.
Proposal rows(const Declared& declared) {
  const c::Type* element = &declared.type.target.front();
  bool is_const = element->is_const;
  while (element->kind == TypeKind::kArray) {
    element = &element->target.front();
    is_const = is_const || element->is_const;
  }
  if (is_const) return whole(declared, "rows");
  return guess({{"out", {{"whole", true}}}},
               "rows that are not const: whether the function reads or writes them is not said");
}

Proposal pointer(const Declared& declared) {
  const c::Type& target = declared.type.target.front();
  switch (target.kind) {
    case TypeKind::kCharacter: return text(declared);
    case TypeKind::kRecord: return structure(declared);
    case TypeKind::kPointer:
      if (!declared.is_param && !declared.is_returned)
        return guess(nothing("unused"), "a pointer to pointers; what it is for is not said, and unused means NULL");
      if (target.target.front().kind == TypeKind::kRecord || target.target.front().kind == TypeKind::kVoid)
        return guess({{"handle", {{"role", "creates"}}}}, "a handle that the function leaves there, or many pointers");
      return guess(nothing("unused"), "a pointer to pointers; what it is for is not said, and unused means NULL");
    case TypeKind::kBool:
    case TypeKind::kSigned:
    case TypeKind::kUnsigned:
    case TypeKind::kFloat:
    case TypeKind::kDouble:
    case TypeKind::kEnum:
      if (declared.is_returned)
        return guess(nothing("unused"), "a returned pointer: what it points at, and how much of it, is not said");
      return array(declared);
    case TypeKind::kVoid:
      if (has_word(name_of(declared), {"user", "userdata", "opaque", "closure", "ctx", "context"}))
        return guess(nothing("userdata"), "a void pointer called as if a callback were to be given it");
      return guess(nothing("unused"), "a void pointer: what is there is not said, and unused means NULL");
    case TypeKind::kFunction:
      return guess(nothing("unused"), "a callback: whether it may be NULL, which unused means, is not said");
    case TypeKind::kArray:
      if (declared.extent > 1 && is_told_in_place(target)) return rows(declared);
      break;
    case TypeKind::kOther: break;
  }
  return guess(nothing("unused"), "no meaning is known for it, and unused means NULL");
}

// A struct without a name that an array consists of, or that is pointed at.
bool is_made_of_unnamed(const c::Type& type) {
  if (type.kind != TypeKind::kPointer && type.kind != TypeKind::kArray) return false;
  const c::Type& target = type.target.front();
  return (target.kind == TypeKind::kRecord && target.name.empty()) || is_made_of_unnamed(target);
}

Proposal proposal(const Declared& declared) {
  if (declared.is_union && declared.is_anonymous)
    return guess({{"union", {{"tag", "(the enum field)"}, {"members", {{"(member)", "(enumerator)"}}}}}},
                 "which member is meant is not said");
  if (declared.is_integer_handle) return integer_handle(declared);
  if (is_made_of_unnamed(declared.type))
    return guess(nothing("unused"), "made of a struct without a name, which generated code cannot name: it needs one");
  switch (declared.type.kind) {
    case TypeKind::kPointer: return pointer(declared);
    case TypeKind::kArray:
      if (has_word(name_of(declared), {"reserved", "padding", "unused", "pad", "spare"}))
        return guess(nothing("unused"), "called as if it were for later versions; that zero is right is not said");
      if (declared.type.target.front().kind == TypeKind::kCharacter)
        return guess(nothing("text"), "characters in place: a text that ends with NUL, or bytes (\"array\")");
      if (is_told_in_place(declared.type.target.front()) && declared.integers_beside.empty())
        return guess({{"array", {{"whole", true}}}}, "an array in place; whether all of it is used is not said");
      if (is_told_in_place(declared.type.target.front()))
        return guess(
            {{"array", {{"counted_by", length_of(declared)}}}},
            "an array in place; that " + length_of(declared) + " counts it, or that it is used whole, is not said");
      return guess(nothing("unused"), "this array in place has no form on the wire; unused means zeros");
    case TypeKind::kCharacter:
      if (declared.bit_width == 0)
        return guess(nothing("value"),
                     "plain char, signed on some machines and not on others: a \"value\" is its byte, from 0 to 255");
      break;
    default: break;
  }
  return guess(nothing("unused"), "this type has no form on the wire; unused means zero");
}

}  // namespace

std::string suggest_entry(const Declared& declared) {
  Proposal proposed = proposal(declared);
  Json entry{{"for", declared.path}, {"quote", declared.declaration}};
  if (proposed.is_guess) {
    entry["guess"] = std::move(proposed.meaning);
  } else {
    entry.update(proposed.meaning);
  }
  entry["confidence"] = proposed.is_guess ? "guess" : "likely";
  entry["reason"] = proposed.reason;
  return entry.dump();
}

std::string suggest_entries(const std::vector<Declared>& declared) {
  std::string text;
  for (const Declared& one : declared) text += (text.empty() ? "" : ",\n") + suggest_entry(one);
  return text + (text.empty() ? "" : "\n");
}

}  // namespace bindgen
