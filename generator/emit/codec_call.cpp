#include "emit/codec_call.hpp"

#include <algorithm>
#include <utility>

namespace bindgen {
namespace {

using c::TypeKind;

std::string presence_text(Presence presence) {
  switch (presence) {
    case Presence::kOptional: return "kOptional";
    case Presence::kRequired: return "kRequired";
    case Presence::kNullable: return "kNullable";
    case Presence::kEmptyIfAbsent: return "kEmptyIfAbsent";
  }
  return {};
}

class CodecCall {
 public:
  CodecCall(const Api& api, const Part& part, const std::vector<Part>& parts, const CodecScope& scope)
      : api_(api),
        part_(part),
        parts_(parts),
        codec_(scope.codec),
        scope_(scope.object),
        types_(scope.types),
        is_shared_(scope.is_shared) {}

  std::vector<Expression> calls() const {
    std::vector<Expression> none;
    return match(
        api_.role(part_.path).meaning,  //
        [&](const meaning::Value& value) { return one(value_call(value)); },
        [&](const meaning::Text& text) { return one(text_call(text)); },
        [&](const meaning::Object& object) {
          // Where another function has given the values, what is read goes over them.
          return one(call(object.starts_from.empty() ? "object" : "structure", {presence_text(object.presence)}));
        },
        [&](const meaning::Batch& batch) { return one(call("batch", {constant_name(batch.count.name)})); },
        [&](const meaning::Array& array) { return array_calls(array); },
        [&](const meaning::CpuMask& mask) {
          return one(call("cpu_mask", {literal(mask.count), scope_ + mask.count}));
        },
        [&](const meaning::Count&) { return none; },           // its array carries it
        [&](const meaning::CpuCount&) { return none; },        // its mask carries it
        [&](const meaning::TaggedUnion&) { return none; },     // its members are parts of their own
        [&](const meaning::UsesHandle&) { return none; },      // the stubs deal with handles,
        [&](const meaning::CreatesHandle&) { return none; },   //
        [&](const meaning::DestroysHandle&) { return none; },  //
        [&](const meaning::OutArray&) { return none; },        // with what comes back,
        [&](const meaning::OutValue&) { return none; },        //
        [&](const meaning::OutRoom&) { return none; },         //
        [&](const meaning::InOut& in_out) {
          const auto presence = api_.role(part_.path).default_value ? Presence::kOptional : Presence::kRequired;
          return one(call("integer", rule_of({presence, in_out.minimum, in_out.maximum, false, ""})));
        },
        [&](const meaning::OutChosen& chosen) { return one(call("chosen", choices(chosen))); },
        [&](const meaning::SizeOf&) { return none; },          // what is chosen carries it
        [&](const meaning::Callbacks&) { return none; },       // and with callbacks
        [&](const meaning::StreamCallback&) { return none; },  //
        [&](const meaning::StreamUserdata&) { return none; },  //
        [&](const meaning::Unused&) { return none; },          //
        [&](const meaning::Status&) { return none; },          //
        [&](const meaning::Predicate&) { return none; });
  }

 private:
  static std::vector<Expression> one(Expression expression) { return {std::move(expression)}; }

  // codec.<function>("name", value.name, <arguments>), preceded by the tag of its union if it is a member of one.
  Expression call(const std::string& function, std::vector<Expression> arguments) const {
    std::vector<Expression> all = {literal(part_.name), scope_ + part_.name};
    for (Expression& argument : arguments) all.push_back(std::move(argument));
    return {codec_ + "." + tag_condition() + function, std::move(all)};
  }

  std::string tag_condition() const {
    const meaning::TaggedUnion* const tagged = union_of(api_, part_, parts_);
    if (tagged == nullptr) return {};
    const auto is_it = [&](const auto& pair) { return pair.first == part_.name; };
    const auto chosen = std::find_if(tagged->members.begin(), tagged->members.end(), is_it);
    const std::string tag = scope_ + tagged->tag;
    // In code for all versions the enum has no name; the tag is of its type.
    const std::string choice = (is_shared_ ? "decltype(" + tag + ")::" : "") + chosen->second;
    return "when(" + literal(tagged->tag) + ", " + tag + ", " + choice + ").";
  }

  Expression value_call(const meaning::Value& value) const {
    std::vector<Expression> presence;
    if (value.presence != Presence::kOptional) presence.emplace_back(presence_text(value.presence));
    if (value.is_flag) return call("flag", presence);
    switch (part_.type->kind) {
      case TypeKind::kBool: return call("boolean", presence);
      case TypeKind::kEnum: return call("enumeration", presence);
      case TypeKind::kFloat:
      case TypeKind::kDouble: return call("number", rule_of(value));
      case TypeKind::kRecord:
        if (value.present_if.empty()) return call("structure", presence);
        return call("structure_if", {scope_ + part_.name + "." + value.present_if});
      case TypeKind::kVoid:
      case TypeKind::kCharacter:
      case TypeKind::kSigned:
      case TypeKind::kUnsigned:
      case TypeKind::kFunction:
      case TypeKind::kPointer:
      case TypeKind::kArray:
      case TypeKind::kOther: return call("integer", rule_of(value));
    }
    return call("integer", {});
  }

  // {.minimum = 1, .maximum = 100, .presence = kRequired}, as far as there is anything to say.
  static std::vector<Expression> rule_of(const meaning::Value& value) {
    std::vector<Expression> members;
    if (value.minimum) members.emplace_back(".minimum = " + number_text(*value.minimum));
    if (value.maximum) members.emplace_back(".maximum = " + number_text(*value.maximum));
    if (value.presence != Presence::kOptional) members.emplace_back(".presence = " + presence_text(value.presence));
    if (members.empty()) return {};
    return {Expression("", std::move(members), '{')};
  }

  Expression text_call(const meaning::Text& text) const {
    std::vector<Expression> members;
    if (tag_condition().empty()) members.emplace_back(".presence = " + presence_text(text.presence));
    if (text.min_length != 0) members.emplace_back(".min_length = " + std::to_string(text.min_length));
    if (text.is_json) members.emplace_back(".json = true");
    if (text.file == meaning::FileUse::kRead) members.emplace_back(".file = FileUse::kRead");
    if (text.file == meaning::FileUse::kWritten) members.emplace_back(".file = FileUse::kWritten");
    if (!text.file_if_absent.empty()) members.emplace_back(".file_if_absent = " + literal(text.file_if_absent));
    if (!text.one_of.empty()) {
      std::vector<Expression> texts;
      for (const std::string& each : text.one_of) texts.emplace_back(literal(each));
      members.emplace_back(".one_of = ", std::move(texts), '{');
    }
    const std::string function = part_.type->kind == TypeKind::kArray ? "text_in_place" : "text";
    if (members.empty()) return call(function, {});
    return call(function, {Expression("", std::move(members), '{')});
  }

  std::vector<Expression> array_calls(const meaning::Array& array) const {
    if (array.is_told_only) return {call("told_array", {length_of(array.length)})};
    std::vector<Expression> members;
    if (array.presence != Presence::kRequired) members.emplace_back(".presence = " + presence_text(array.presence));
    if (array.minimum) members.emplace_back(".minimum = " + std::to_string(*array.minimum));
    if (array.below) members.emplace_back(".below = &" + constant_name(array.below->name));
    std::vector<Expression> arguments = {length_of(array.length)};
    if (!members.empty()) arguments.emplace_back("", std::move(members), '{');
    return {call(part_.type->kind == TypeKind::kArray ? "array_in_place" : "array", std::move(arguments))};
  }

  // The size that is told, the tag, and what each of its enumerators chooses.
  std::vector<Expression> choices(const meaning::OutChosen& chosen) const {
    std::vector<Expression> arguments = {scope_ + chosen.size, literal(chosen.tag), scope_ + chosen.tag};
    for (const auto& [enumerator, name] : chosen.structs) {
      const c::Type& tag = *find_part(parts_, chosen.tag)->type;
      arguments.emplace_back("choice<" + types_->spell(name) + ">",
                             std::vector<Expression>{types_->enumerator(tag, enumerator)});
    }
    return arguments;
  }

  Expression length_of(const Length& length) const {
    return match(
        length,
        [&](const CountedBy& counted) {
          std::vector<Expression> arguments = {literal(counted.count), scope_ + counted.count};
          for (const ValueRef& factor : counted.times) {
            arguments.push_back(match(
                factor,
                [&](const FieldRef& field) {
                  return Expression("factor", {literal(field.name), scope_ + field.name});
                },
                [&](const HandleValueRef& value) { return Expression(constant_name(value.name)); }));
          }
          return Expression("counted_by", std::move(arguments));
        },
        [&](const Exactly& exactly) { return Expression("Exactly", {constant_name(exactly.count.name)}, '{'); },
        [&](const MultipleOf& multiple) { return Expression("MultipleOf", {literal(multiple.count)}, '{'); },
        [&](const SameLengthAs& same) { return Expression("SameLengthAs", {literal(same.array)}, '{'); },
        [&](const Whole&) {
          const std::string of = part_.extent == 0 ? "" : "Of<" + std::to_string(part_.extent) + ">";
          return Expression("Whole" + of, {}, '{');
        });
  }

  const Api& api_;
  const Part& part_;
  const std::vector<Part>& parts_;
  std::string codec_;
  std::string scope_;
  TypeNames* types_;
  bool is_shared_;
};

}  // namespace

std::vector<Expression> codec_calls(const Api& api, const Part& part, const std::vector<Part>& parts,
                                    const CodecScope& scope) {
  return CodecCall(api, part, parts, scope).calls();
}

}  // namespace bindgen
