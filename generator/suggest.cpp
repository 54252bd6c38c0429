#include "suggest.hpp"

#include "json.hpp"

namespace bindgen {
namespace {

Json array_proposal(const Declared& declared) {
  for (const std::string& name : declared.later_integers) {
    for (const char* mark : {"n_", "num", "count", "len", "size"}) {
      if (name.find(mark) != std::string::npos) return {{"array", {{"counted_by", name}}}};
    }
  }
  return {{"array", {{"counted_by", "(the field that holds the length)"}}}};
}

Json proposal(const Declared& declared) {
  using c::TypeKind;
  const c::Type& type = declared.type;
  if (declared.is_union && declared.is_anonymous) {
    return {{"union", {{"tag", "(the enum field)"}, {"members", {{"(member)", "(enumerator)"}}}}}};
  }
  if (type.kind != TypeKind::kPointer) return {{"unused", Json::object()}};
  const c::Type& target = type.target.front();
  switch (target.kind) {
    case TypeKind::kCharacter: return {{"text", Json::object()}};
    case TypeKind::kRecord: return {{"object", Json::object()}};
    case TypeKind::kPointer: return {{"handle", {{"role", "creates"}}}};
    case TypeKind::kBool:
    case TypeKind::kSigned:
    case TypeKind::kUnsigned:
    case TypeKind::kFloat:
    case TypeKind::kDouble:
    case TypeKind::kEnum: return array_proposal(declared);
    case TypeKind::kVoid:
    case TypeKind::kFunction:
    case TypeKind::kArray:
    case TypeKind::kOther: return {{"unused", Json::object()}};
  }
  return {{"unused", Json::object()}};
}

}  // namespace

std::string suggest_entry(const Declared& declared) {
  Json entry{{"for", declared.path}, {"quote", declared.declaration}};
  entry.update(proposal(declared));
  return entry.dump();
}

std::string suggest_entries(const std::vector<Declared>& declared) {
  std::string text;
  for (const Declared& one : declared) text += (text.empty() ? "" : ",\n") + suggest_entry(one);
  return text + (text.empty() ? "" : "\n");
}

}  // namespace bindgen
