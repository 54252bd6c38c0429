#include "check/rules.hpp"

#include "emit/parts.hpp"
#include "read/representation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace bindgen {
using c::TypeKind;

void handle_values_are_declared(Inspection& inspection) {
  std::set<std::string> known;
  for (const HandleValue& value : inspection.api.handle_values) known.insert(value.name);
  const auto require = [&](const HandleValueRef& reference, const Part& part) {
    inspection.require(known.count(reference.name) != 0, part,
                       "the overlay's \"session\" does not declare " + reference.name);
  };
  inspection.each_part([&](const Part& part, const auto&) {
    const Role& role = inspection.api.role(part.path);
    if (!role.remembered_as.empty()) require({role.remembered_as}, part);
    if (const auto* batch = std::get_if<meaning::Batch>(&role.meaning)) require(batch->count, part);
    if (const auto* out = std::get_if<meaning::OutArray>(&role.meaning)) require(out->count, part);
    const auto* array = std::get_if<meaning::Array>(&role.meaning);
    if (array == nullptr) return;
    if (array->below) require(*array->below, part);
    if (const auto* exactly = std::get_if<Exactly>(&array->length)) require(exactly->count, part);
    const auto* counted = std::get_if<CountedBy>(&array->length);
    if (counted == nullptr) return;
    for (const ValueRef& factor : counted->times) {
      if (const auto* value = std::get_if<HandleValueRef>(&factor)) require(*value, part);
    }
  });
  for (const auto& [name, role] : inspection.api.functions) {
    if (!role.needs || known.count(role.needs->value.name) != 0) continue;
    inspection.complain(c::find<c::Function>(inspection.api.header, name)->location,
                        name + ": the overlay's \"session\" does not declare " + role.needs->value.name);
  }
}

// A handle value that no call keeps would stay unknown for ever.
void handle_values_are_kept(Inspection& inspection) {
  const Api& api = inspection.api;
  std::set<std::string> kept;  // paths of the parts that calls which make a handle are given
  const auto keep = [&](const Part& part, const Role&) {
    kept.insert(part.path);
    return false;
  };
  for (const c::Function* function : c::all<c::Function>(api.header)) {
    if (!makes_handle(api, *function)) continue;
    for (const Part& part : parts_of(api, *function)) {
      kept.insert(part.path);
      const auto* object = std::get_if<meaning::Object>(&api.role(part.path).meaning);
      const bool may_be_null =
          object != nullptr && object->presence == Presence::kNullable && object->starts_from.empty();
      if ((object == nullptr && !holds_record(api, part)) || may_be_null) continue;
      const NamedRecord record = record_of(api, part);
      any_part(api, *record.record, record.path, keep);
    }
  }
  inspection.each_part([&](const Part& part, const std::vector<Part>& parts) {
    if (api.role(part.path).remembered_as.empty()) return;
    inspection.require(kept.count(part.path) != 0 && union_of(api, part, parts) == nullptr, part,
                       "no call that makes a handle is always given it, so it cannot be a handle value");
    inspection.require(
        is_integer(*part.type) || part.type->kind == TypeKind::kBool || part.type->kind == TypeKind::kEnum, part,
        "a handle value is an integer, a bool or an enumerator");
  });
}

void references_name_siblings(Inspection& inspection) {
  inspection.each_part([&](const Part& part, const std::vector<Part>& parts) {
    const auto require = [&](const std::string& name) {
      inspection.require(name.empty() || find_part(parts, name) != nullptr, part,
                         "nothing beside it is called " + name);
    };
    const Role& role = inspection.api.role(part.path);
    if (const auto* value = std::get_if<meaning::Value>(&role.meaning);
        value != nullptr && !value->present_if.empty()) {
      const NamedRecord record = record_of(inspection.api, part);
      const auto inner = parts_of(inspection.api, *record.record, record.path);
      const Part* sign = find_part(inner, value->present_if);
      inspection.require(sign != nullptr && sign->type->kind == TypeKind::kPointer, part,
                         "it has no pointer " + value->present_if);
    }
    const auto* array = std::get_if<meaning::Array>(&role.meaning);
    if (array == nullptr) return;
    require(array->together_with);
    if (const auto* multiple = std::get_if<MultipleOf>(&array->length)) require(multiple->count);
    if (const auto* same = std::get_if<SameLengthAs>(&array->length)) require(same->array);
  });
}

// Both arrays of a pair may be absent, and only a call looks whether just one is.
void pairs_are_of_parameters(Inspection& inspection) {
  inspection.each_part([&](const Part& part, const std::vector<Part>& parts) {
    const Role& role = inspection.api.role(part.path);
    inspection.require(role.group.empty() || part.field != nullptr, part, "a \"group\" is of fields");
    const auto* array = std::get_if<meaning::Array>(&role.meaning);
    if (array == nullptr || array->together_with.empty()) return;
    const Part* other = find_part(parts, array->together_with);
    const auto* partner =
        other != nullptr ? std::get_if<meaning::Array>(&inspection.api.role(other->path).meaning) : nullptr;
    const bool may_be_absent =
        array->presence == Presence::kNullable && partner != nullptr && partner->presence == Presence::kNullable;
    inspection.require(part.field == nullptr && may_be_absent && array->together_with != part.name, part,
                       "\"together_with\" is for two parameters that are nullable arrays");
  });
}

// A group is one object, so its fields stand side by side; one of them, an array, tells whether it is there.
void groups_are_whole(Inspection& inspection) {
  for (const NamedRecord& record : all_records(inspection.api)) {
    std::set<std::string> ended;
    std::set<std::string> with_sign;
    std::string last;
    const auto parts = parts_of(inspection.api, *record.record, record.path);
    for (const Part& part : parts) {
      const Role& role = inspection.api.role(part.path);
      if (role.group != last) ended.insert(std::exchange(last, role.group));
      if (role.group.empty()) continue;
      inspection.require(role.group != "codec" && role.group != "value" && role.group != "factor" &&
                             !is_of_generated_code(role.group, Declares::kParam) && !is_word_of_cpp20(role.group) &&
                             !is_macro_of_c(role.group),
                         part,
                         "the generated code means something else by " + role.group + "; call its group otherwise");
      inspection.require(inspection.api.groups.count(role.group) != 0, part,
                         "the overlay's \"groups\" does not say what " + role.group + " is");
      inspection.require(ended.count(role.group) == 0, part, "the fields of group " + role.group + " stand apart");
      if (std::holds_alternative<meaning::Array>(role.meaning) && part.type->kind == TypeKind::kPointer)
        with_sign.insert(role.group);
    }
    for (const Part& part : parts) {
      const Role& role = inspection.api.role(part.path);
      inspection.require(role.group.empty() || with_sign.count(role.group) != 0, part,
                         "its group " + role.group + " has no array to tell whether it is there");
    }
  }
}

// What the library leaves in a field cannot count what a client gives.
void told_only_are_fields(Inspection& inspection) {
  inspection.each_part([&](const Part& part, const std::vector<Part>& parts) {
    const auto* array = std::get_if<meaning::Array>(&inspection.api.role(part.path).meaning);
    if (array == nullptr || !array->is_told_only) return;
    const bool is_pointer = part.field != nullptr && part.type->kind == c::TypeKind::kPointer;
    inspection.require(is_pointer && union_of(inspection.api, part, parts) == nullptr, part,
                       "only a field that is a pointer, and no member of a union, can be \"told_only\"");
    const std::string& count = std::get<CountedBy>(array->length).count;
    const auto is_of_it = [&](const Part& other) {
      const auto* also = std::get_if<meaning::Array>(&inspection.api.role(other.path).meaning);
      const auto* counted = also != nullptr ? std::get_if<CountedBy>(&also->length) : nullptr;
      return counted != nullptr && counted->count == count && !also->is_told_only;
    };
    inspection.require(std::none_of(parts.begin(), parts.end(), is_of_it), part,
                       count + " counts what a client gives, too");
  });
}

// An array whose length C does not tell, and whose count no array gives, would be read beyond its end.
void lengths_are_derivable(Inspection& inspection) {
  inspection.each_part([&](const Part& part, const std::vector<Part>& parts) {
    const auto array_called = [&](const std::string& name) -> const meaning::Array* {
      const Part* found = find_part(parts, name);
      return found != nullptr ? std::get_if<meaning::Array>(&inspection.api.role(found->path).meaning) : nullptr;
    };
    const auto is_told = [&](const std::string& count) {
      return std::any_of(parts.begin(), parts.end(), [&](const Part& other) {
        const auto* array = array_called(other.name);
        const auto* counted = array != nullptr ? std::get_if<CountedBy>(&array->length) : nullptr;
        return counted != nullptr && counted->count == count;
      });
    };
    const auto* array = array_called(part.name);
    if (array == nullptr) return;
    match(
        array->length,
        [&](const CountedBy& counted) {
          // A count is written whatever the tag of a union says.
          const auto require_alone = [&](const std::string& count) {
            const Part* found = find_part(parts, count);
            inspection.require(found == nullptr || union_of(inspection.api, *found, parts) == nullptr, part,
                               "its count " + count + " is a member of a union");
          };
          require_alone(counted.count);
          for (const ValueRef& factor : counted.times) {
            const auto* field = std::get_if<FieldRef>(&factor);
            if (field == nullptr) continue;
            require_alone(field->name);
            inspection.require(field->name != counted.count, part, "its length is a product with its own count");
          }
        },
        [](const Exactly&) {},  //
        [](const Whole&) {},
        [&](const MultipleOf& multiple) {
          inspection.require(is_told(multiple.count), part, "no array tells what " + multiple.count + " is");
        },
        [&](const SameLengthAs& same) {
          std::set<std::string> seen{part.name};
          for (const SameLengthAs* as = &same; as != nullptr;) {
            const auto* other = array_called(as->array);
            const bool is_new = seen.insert(as->array).second;
            inspection.require(is_new, part, "its length follows from itself");
            inspection.require(other != nullptr, part, as->array + " is no array");
            as = is_new && other != nullptr ? std::get_if<SameLengthAs>(&other->length) : nullptr;
          }
        });
  });
}

// Nothing follows a struct that ends openly.
void elements_have_an_end(Inspection& inspection) {
  inspection.each_part([&](const Part& part, const auto&) {
    const Meaning& meaning = inspection.api.role(part.path).meaning;
    const bool are_several =
        std::holds_alternative<meaning::Array>(meaning) || std::holds_alternative<meaning::Batch>(meaning);
    if (!are_several || part.type->target.front().kind != c::TypeKind::kRecord) return;
    const NamedRecord record = record_of(inspection.api, part);
    inspection.require(!ends_openly(inspection.api.header, *record.record, 0), part,
                       record.path + " ends in an array without a length, so there is no array of them");
  });
}

// The bounds of what says how much room there is; none if it cannot say that.
std::optional<std::pair<double, double>> bounds_of_room(const Api& api, const Part& size) {
  constexpr double kNone = 1e300;
  const Meaning& meaning = api.role(size.path).meaning;
  if (const auto* in_out = std::get_if<meaning::InOut>(&meaning))
    return std::pair(in_out->minimum.value_or(0), in_out->maximum.value_or(kNone));
  const auto* value = std::get_if<meaning::Value>(&meaning);
  if (value == nullptr || !is_integer(*size.type)) return std::nullopt;
  return std::pair(value->minimum.value_or(0), value->maximum.value_or(kNone));
}

// What says how many elements were filled in is an integer that the function leaves somewhere.
void require_filled(Inspection& inspection, const Part& part, const std::vector<Part>& parts,
                    const meaning::OutRoom& room) {
  if (room.filled.empty()) return;
  const Api& api = inspection.api;
  const std::string function = part.path.substr(0, part.path.find('.'));
  if (room.filled == "return") {
    const Meaning& returned = api.role(function + ".return").meaning;
    inspection.require(std::holds_alternative<meaning::Value>(returned) &&
                           is_integer(c::find<c::Function>(api.header, function)->returns),
                       part, "its \"filled\" is what is returned, and that is no integer \"value\"");
    return;
  }
  const Part* filled = find_part(parts, room.filled);
  const Meaning* meaning = filled != nullptr ? &api.role(filled->path).meaning : nullptr;
  const bool is_left = meaning != nullptr && (std::holds_alternative<meaning::InOut>(*meaning) ||
                                              std::holds_alternative<meaning::OutValue>(*meaning));
  inspection.require(is_left && is_integer(filled->type->target.front()), part,
                     "its \"filled\" names no integer that is \"out\" or \"in_out\"");
}

// A function may write as much of a struct as it knows of; what is kept for it has the size of its declared fields.
// `size`: the parameter that is told it; null: none is.
void require_room(Inspection& inspection, const Part& part, const c::Record& record, const Part* size) {
  inspection.require(!ends_openly(inspection.api.header, record, 0), part,
                     record.name + " ends in an array without a length, for which there would be no room");
  if (size == nullptr || !is_integer(*size->type)) return;
  const auto bits = std::min(size->type->size.on_64_bit, size->type->size.on_32_bit) * 8;
  const double most = std::ldexp(1.0, static_cast<int>(bits) - (size->type->kind == TypeKind::kSigned ? 1 : 0)) - 1;
  const auto bytes = std::max(record.size.on_64_bit, record.size.on_32_bit);
  inspection.require(
      static_cast<double>(bytes) <= most, part,
      "its \"size\" " + size->name + " is too narrow for the " + std::to_string(bytes) + " bytes of " + record.name);
}

// The enum that chooses stands before what it chooses, and each enumerator chooses a struct that is declared.
void chosen_structs_are_known(Inspection& inspection) {
  const Api& api = inspection.api;
  inspection.each_part([&](const Part& part, const std::vector<Part>& parts) {
    const auto* chosen = std::get_if<meaning::OutChosen>(&api.role(part.path).meaning);
    if (chosen == nullptr) return;
    const Part* tag = find_part(parts, chosen->tag);
    const c::Enum* tags = tag != nullptr && tag->type->kind == TypeKind::kEnum &&
                                  std::holds_alternative<meaning::Value>(api.role(tag->path).meaning)
                              ? c::find<c::Enum>(api.header, tag->type->name)
                              : nullptr;
    inspection.require(tags != nullptr && tag < &part, part,
                       "\"chosen_by\" names no enum before it that is on the wire");
    std::map<std::int64_t, std::string> by_value;  // the enumerator that each value of the tag has chosen by
    for (const auto& [enumerator, name] : chosen->structs) {
      const c::Record* record = c::find<c::Record>(api.header, name);
      inspection.require(record != nullptr && !record->is_union, part, name + " is no struct that the header declares");
      if (record != nullptr) require_room(inspection, part, *record, find_part(parts, chosen->size));
      if (tags == nullptr) continue;
      const auto is_it = [&wanted = enumerator](const c::Enumerator& known) { return known.name == wanted; };
      const auto known = std::find_if(tags->enumerators.begin(), tags->enumerators.end(), is_it);
      inspection.require(known != tags->enumerators.end(), part, enumerator + " is no enumerator of its \"chosen_by\"");
      if (known == tags->enumerators.end()) continue;
      const auto [first, is_new] = by_value.emplace(known->value, enumerator);
      inspection.require(is_new, part,
                         first->second + " and " + enumerator + " have one value, so they choose no struct each");
    }
  });
}

// What a function fills in is told with its result, when it has returned.
void outs_are_of_parameters(Inspection& inspection) {
  const Api& api = inspection.api;
  inspection.each_part([&](const Part& part, const std::vector<Part>& parts) {
    const Meaning& meaning = api.role(part.path).meaning;
    if (!is_left(meaning)) return;
    inspection.require(part.field == nullptr, part, "only a parameter can be \"out\" or \"changed\", not a field");
    if (part.type->kind == TypeKind::kPointer && part.type->target.front().kind == TypeKind::kRecord)
      require_room(inspection, part, *record_of(api, part).record, nullptr);
    const auto* room = std::get_if<meaning::OutRoom>(&meaning);
    if (room == nullptr || part.field != nullptr) return;
    require_filled(inspection, part, parts, *room);
    if (room->room.empty()) return;  // declared_arrays_are_whole
    const Part* size = find_part(parts, room->room);
    const auto bounds = size != nullptr ? bounds_of_room(api, *size) : std::nullopt;
    inspection.require(bounds.has_value(), part, "its \"room\" names no integer parameter with a value of its own");
    if (!bounds) return;
    constexpr std::uint64_t kMost = std::uint64_t{16} * 1024 * 1024;
    const c::Type& element = part.type->target.front();
    const bool is_small = element.target.empty() && element.kind != TypeKind::kRecord;
    const std::uint64_t most = is_small ? kMost : kMost / std::max<std::uint64_t>(element.size.on_64_bit, 1);
    inspection.require(most >= 1, part,
                       "one element has " + std::to_string(element.size.on_64_bit) +
                           " bytes, and the room for all is " + std::to_string(kMost) + " at most; mark it \"unused\"");
    if (most < 1) return;
    inspection.require(bounds->first >= 1 && bounds->second <= static_cast<double>(most), *size,
                       "it says how much room there is, so its \"value\" needs a \"minimum\" of 1 and a \"maximum\" of "
                       "no more than " +
                           std::to_string(most));
    inspection.require(std::count_if(parts.begin(), parts.end(),
                                     [&](const Part& other) {
                                       const auto* also = std::get_if<meaning::OutRoom>(&api.role(other.path).meaning);
                                       return also != nullptr && also->room == room->room;
                                     }) == 1,
                       part, "its \"room\" is that of another parameter, too");
  });
  for (const c::Function* function : methods_of(api)) {
    if (streams_of(api, *function).empty()) continue;
    for (const Part& part : parts_of(api, *function)) {
      inspection.require(!is_left(api.role(part.path).meaning), part,
                         "a function that streams may still write there when its stub has ended");
    }
  }
}

}  // namespace bindgen
