#include "check/rules.hpp"

#include "emit/method_schema.hpp"

#include <algorithm>

namespace bindgen {
namespace {

using c::TypeKind;

// One stream at work: complains at the callback's declaration.
class StreamInspection {
 public:
  StreamInspection(Inspection& inspection, const Stream& stream, const c::Callback& callback, const c::Record& result)
      : inspection_(inspection), stream_(stream), callback_(callback), result_(result) {}

  void inspect(const c::Enum& states) {
    inspect_signature();
    inspect_states(states);
    const auto points_at_text = [](const Part& part) { return points_at(*part.type, TypeKind::kCharacter); };
    require(stream_.text, "is no text", points_at_text);
    require(stream_.token, "is no integer", [](const Part& part) { return is_integer(*part.type); });
    const auto is_value = [&](const Part& part) { return is_struct(part); };
    for (const std::string& value : stream_.values) require(value, "is no struct on the wire", is_value);
    for (const StreamRows& rows : stream_.rows) {
      require(rows.field, "has no floats " + rows.values + " counted by one field \"times\" another",
              [&](const Part& part) { return is_struct(part) && has_rows(part, rows.values); });
    }
  }

 private:
  void complain(const std::string& message) {
    inspection_.complain(callback_.location, "the stream of " + callback_.name + ": " + message);
  }

  template <class Fits>
  void require(const std::string& field, const std::string& otherwise, const Fits& fits) {
    const auto parts = parts_of(inspection_.api, result_, result_.name);
    const Part* part = find_part(parts, field);
    if (part == nullptr) return complain(stream_.result + " has no field " + field);
    if (!fits(*part)) complain(part->path + " " + otherwise);
  }

  bool is_struct(const Part& part) const {
    return part.type->kind == TypeKind::kRecord &&
           std::holds_alternative<meaning::Value>(inspection_.api.role(part.path).meaning);
  }

  bool has_rows(const Part& part, const std::string& values) const {
    const NamedRecord record = record_of(inspection_.api, part);
    const auto parts = parts_of(inspection_.api, *record.record, record.path);
    const Part* field = find_part(parts, values);
    const auto* array =
        field != nullptr ? std::get_if<meaning::Array>(&inspection_.api.role(field->path).meaning) : nullptr;
    const auto* counted = array != nullptr ? std::get_if<CountedBy>(&array->length) : nullptr;
    return counted != nullptr && points_at(*field->type, TypeKind::kFloat) && counted->times.size() == 1 &&
           std::holds_alternative<FieldRef>(counted->times.front());
  }

  // What the generated callback hands on.
  void inspect_signature() {
    const auto& params = callback_.params;
    for (const c::Param& param : params) {
      if (param.name.empty()) complain("a parameter has no name; give it one in the header");
    }
    const bool returns = callback_.returns.kind == TypeKind::kVoid || is_integer(callback_.returns);
    if (returns && params.size() == 3 && points_at(params[0].type, TypeKind::kRecord) &&
        params[0].type.target.front().name == stream_.result && !params[0].type.target.front().is_const &&
        points_at(params[1].type, TypeKind::kVoid) && params[2].type.name == stream_.state)
      return;
    complain("it must take (" + stream_.result + "*, void*, " + stream_.state + ") and return an integer or nothing");
  }

  void inspect_states(const c::Enum& states) {
    const auto said = [&](const std::string& name) {
      return std::any_of(stream_.states.begin(), stream_.states.end(),
                         [&](const auto& pair) { return pair.first == name; });
    };
    for (const c::Enumerator& state : states.enumerators) {
      if (said(state.name)) continue;
      inspection_.complain(state.location, "the stream of " + callback_.name + " does not say what " + state.name +
                                               " is: token, end or failure");
    }
    for (const auto& [name, event] : stream_.states) {
      const auto is_it = [&name = name](const c::Enumerator& state) { return state.name == name; };
      if (std::none_of(states.enumerators.begin(), states.enumerators.end(), is_it))
        complain(name + " is no enumerator of " + states.name);
    }
  }

  Inspection& inspection_;
  const Stream& stream_;
  const c::Callback& callback_;
  const c::Record& result_;
};

}  // namespace

void streams_are_complete(Inspection& inspection) {
  for (const Stream& stream : inspection.api.streams) {
    const c::Callback* callback = c::find<c::Callback>(inspection.api.header, stream.callback);
    const c::Record* result = c::find<c::Record>(inspection.api.header, stream.result);
    const c::Enum* states = c::find<c::Enum>(inspection.api.header, stream.state);
    if (result != nullptr && !result->is_union && states != nullptr) {
      StreamInspection(inspection, stream, *callback, *result).inspect(*states);
    } else {
      inspection.complain(callback->location,
                          stream.callback + ": no struct " + stream.result + " or no enum " + stream.state);
    }
  }
}

void userdata_is_for_one_stream(Inspection& inspection) {
  for (const c::Function* function : c::all<c::Function>(inspection.api.header)) {
    if (streams_of(inspection.api, *function).size() <= 1) continue;
    inspection.complain(function->location,
                        function->name + ": which of its callbacks its userdata is for is not told");
  }
}

}  // namespace bindgen
