#include "check/rules.hpp"

#include "read/representation.hpp"

namespace bindgen {
namespace {

using c::TypeKind;

// What C++ has no words for in `type`, or in what it is made of; empty if there is nothing.
std::string unspeakable(const c::Type& type) {
  const bool is_declared_in_place = type.kind == TypeKind::kRecord || type.kind == TypeKind::kEnum;
  if (is_declared_in_place && type.name.empty())
    return std::string("holds ") + (type.kind == TypeKind::kEnum ? "an enum" : "a struct or union") +
           " without a name, which the generated code cannot name; give it one in the header";
  if (type.has_own_call) return "is called in a way of its own (an attribute), which the generated code would not know";
  if (!type.name.empty()) return "";  // said where that is declared
  for (const c::Type& target : type.target) {
    if (std::string found = unspeakable(target); !found.empty()) return found;
  }
  for (const c::Type& param : type.params) {
    if (std::string found = unspeakable(param); !found.empty()) return found;
  }
  return "";
}

class DeclarationInspection {
 public:
  explicit DeclarationInspection(Inspection& inspection) : inspection_(inspection), header_(inspection.api.header) {}

  void inspect() {
    each_type(header_, [&](const c::Type& type, const Location& at) {
      if (const std::string what = unspeakable(type); !what.empty()) inspection_.complain(at, "this " + what);
    });
    for (const c::Function* function : c::all<c::Function>(header_)) inspect_call(*function);
    for (const c::Callback* callback : c::all<c::Callback>(header_)) inspect_call(*callback);
    for (const c::Record* record : c::all<c::Record>(header_)) inspect_open_arrays(*record, record->name, true);
    for (const c::Alias* alias : c::all<c::Alias>(header_)) {
      if (alias->type.is_const || alias->type.is_volatile)
        inspection_.complain(alias->location, alias->name +
                                                  " is const or volatile; generated code could not fill in "
                                                  "what is of this type");
    }
    for (const c::Enum* entity : c::all<c::Enum>(header_)) inspect_enum(*entity);
  }

 private:
  template <class Callable>
  void inspect_call(const Callable& callable) {
    if (callable.has_own_call)
      inspection_.complain(
          callable.location,
          callable.name + " is called in a way of its own (an attribute), which the generated code would not know");
  }

  void inspect_enum(const c::Enum& entity) {
    const std::string name = entity.name.empty() ? "this enum" : entity.name;
    const TypeKind held = entity.underlying.kind;
    if (entity.enumerators.empty())
      inspection_.complain(entity.location, name + " has no enumerators, which every enum of C has");
    if (held != TypeKind::kSigned && held != TypeKind::kUnsigned)
      inspection_.complain(entity.location, name + " is made of " + entity.underlying.name + ", which no enum of C is");
  }

  // An array without a length stands at the end of a struct, behind something else, and nothing stands behind that
  // struct. `is_last`: whether nothing stands behind `record`.
  void inspect_open_arrays(const c::Record& record, const std::string& path, bool is_last) {
    for (std::size_t i = 0; i < record.fields.size(); ++i) {
      const c::Field& field = record.fields[i];
      const std::string own_path = path_of(path, field);
      const bool ends_record = is_last && !record.is_union && i + 1 == record.fields.size();
      for (const c::Record& inner : field.inline_record) inspect_open_arrays(inner, own_path, ends_record);
      const bool may_be_open = ends_record && i > 0 && !holds_open_array(field.type.target);
      if (field.inline_record.empty() && ends_openly(header_, field.type, 0) && !may_be_open)
        inspection_.complain(field.location, own_path +
                                                 " holds an array without a length, which C++ has only at the end of "
                                                 "a struct and behind another field");
    }
  }

  // Whether an array's elements end in an array without length, directly or inside.
  bool holds_open_array(const std::vector<c::Type>& elements) const {
    return !elements.empty() && elements.front().kind != TypeKind::kFunction &&
           ends_openly(header_, elements.front(), 0);
  }

  Inspection& inspection_;
  const c::Header& header_;
};

}  // namespace

// The generated code declares everything anew, in C++.
void declarations_can_be_repeated(Inspection& inspection) { DeclarationInspection(inspection).inspect(); }

}  // namespace bindgen
