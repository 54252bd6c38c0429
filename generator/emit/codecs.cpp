// codecs.hpp: for each struct one description, members(), that both directions run; and beside it what else is done
// with such a struct: filling what the runtime leaves undefined, changing defaults for the wire, remembering session
// values.
#include "emit/codec_call.hpp"
#include "emit/parts.hpp"

#include <algorithm>

namespace bindgen {
namespace {

class CodecEmitter {
 public:
  explicit CodecEmitter(const Api& api)
      : api_(api),
        writer_("codecs",
                "JSON to C and back: what the members of each struct are on the wire, in the order of the header.",
                {support_include(api, "codec"), set_include(api, "abi"), set_include(api, "defaults"),
                 set_include(api, "enums")}) {}

  BlockFile file() {
    emit_session_values();
    for (const NamedRecord& record : all_records(api_)) {
      if (is_on_wire(api_, record)) emit(record);
    }
    return writer_.file();
  }

 private:
  void emit_session_values() {
    if (api_.session.empty()) return;
    std::vector<std::string> names;
    std::vector<std::string> taken;
    code_.comment("Values that are known for a handle.");
    for (const SessionValue& value : api_.session) {
      names.push_back(constant_name(value.name));
      taken.push_back("using %::" + names.back() + ";");
      code_.statement(
          {"inline constexpr SessionValue " + names.back(), {literal(value.name), literal(value.learn)}, '{'});
    }
    writer_.finish("session", std::move(names), std::move(taken));
  }

  void emit(const NamedRecord& record) {
    const auto parts = parts_of(api_, *record.record, record.path);
    const auto is_told = [&](const Part& part) { return is_on_wire(api_.role(part.path).meaning); };
    code_.comment_on(record.path, documentation_of(record));
    code_.line("template <class Codec>");
    if (std::none_of(parts.begin(), parts.end(), is_told)) {
      code_.line("void members(Codec&, Of<Codec, " + record.cpp_name + ">&) {}");
      emit_elsewhere(record);
      return writer_.finish(record.path.substr(0, record.path.find('.')));
    }
    code_.line("void members(Codec& codec, Of<Codec, " + record.cpp_name + ">& value) {");
    code_.indent();
    std::string group;
    for (const Part& part : parts) {
      const std::string& own_group = api_.role(part.path).group;
      if (own_group != group) {
        if (!group.empty()) end_group(record, group);
        if (!own_group.empty()) begin_group(own_group, parts);
        group = own_group;
      }
      const std::string codec = group.empty() ? "codec" : group;
      for (const Expression& call : codec_calls(api_, part, parts, codec, "value.")) code_.statement(call);
    }
    if (!group.empty()) end_group(record, group);
    code_.outdent();
    code_.line("}");
    emit_elsewhere(record);
    emit_fill_undefined(record, parts);
    emit_wire_defaults(record, parts);
    emit_remember(record, parts);
    writer_.finish(record.path.substr(0, record.path.find('.')));
  }

  void begin_group(const std::string& group, const std::vector<Part>& parts) {
    const auto is_sign = [&](const Part& part) {
      const Role& role = api_.role(part.path);
      return role.group == group && std::holds_alternative<meaning::Array>(role.meaning) &&
             part.type->kind == c::TypeKind::kPointer;
    };
    const Part& sign = *std::find_if(parts.begin(), parts.end(), is_sign);
    code_.line("codec.group(" + literal(group) + ", value." + sign.name + ", [&](auto& " + group + ") {");
    code_.indent();
  }

  void end_group(const NamedRecord& record, const std::string& group) {
    code_.outdent();
    const auto list = elsewhere_list(api_, present_path(api_, record.path) + "." + group);
    code_.line(list.empty() ? "});" : "}, " + list + ");");
  }

  // What other versions of the struct have.
  void emit_elsewhere(const NamedRecord& record) {
    const auto list = elsewhere_rows(api_, present_path(api_, record.path));
    if (list.empty()) return;
    code_.statement({"inline constexpr Elsewhere kElsewhere_" + record.cpp_name + "[] = ", list, '{'});
    code_.line("constexpr std::span<const Elsewhere> elsewhere(TypeTag<" + record.cpp_name + ">) {");
    code_.line("  return kElsewhere_" + record.cpp_name + ";");
    code_.line("}");
  }

  std::string documentation_of(const NamedRecord& record) const {
    const auto role = api_.roles.find(record.path);
    if (role != api_.roles.end() && !role->second.documentation.empty()) return role->second.documentation;
    return record.record->documentation.text;
  }

  // One function of a record that does something for some of its parts, and calls itself for structs inside.
  template <class Applies, class LineOf>
  void emit_function(const NamedRecord& record, const std::vector<Part>& parts, const std::string& signature,
                     const std::string& recursion, const Applies& applies, const LineOf& line_of) {
    if (!any_part(api_, *record.record, record.path, applies)) return;
    std::vector<std::string> body;
    for (const Part& part : parts) {
      if (applies(part, api_.role(part.path))) body.push_back(line_of(part, api_.role(part.path)));
      if (!holds_record(api_, part)) continue;
      const NamedRecord inner = record_of(api_, part);
      if (!any_part(api_, *inner.record, inner.path, applies)) continue;
      const auto hole = recursion.find('%');
      body.push_back(recursion.substr(0, hole) + "value." + part.name + recursion.substr(hole + 1));
    }
    const std::string on_one_line = signature + " { " + body.front() + " }";
    if (body.size() == 1 && on_one_line.size() <= kColumns) return code_.line(on_one_line);
    code_.line(signature + " {");
    code_.indent();
    for (const std::string& line : body) code_.line(line);
    code_.outdent();
    code_.line("}");
  }

  void emit_fill_undefined(const NamedRecord& record, const std::vector<Part>& parts) {
    emit_function(
        record, parts, "inline void fill_undefined(" + record.cpp_name + "& value)", "fill_undefined(%);",
        [](const Part&, const Role& role) { return std::holds_alternative<meaning::CpuMask>(role.meaning); },
        [](const Part& part, const Role& role) {
          const std::string& count = std::get<meaning::CpuMask>(role.meaning).count;
          return "fill_undefined_cpu_mask(value." + part.name + ", value." + count + ");";
        });
  }

  void emit_wire_defaults(const NamedRecord& record, const std::vector<Part>& parts) {
    emit_function(
        record, parts, "inline void set_wire_defaults(" + record.cpp_name + "& value)", "set_wire_defaults(%);",
        [](const Part&, const Role& role) { return role.wire_default.has_value(); },
        [](const Part& part, const Role& role) {
          return "value." + part.name + " = " + constant_text(*part.type, *role.wire_default) + ";";
        });
  }

  void emit_remember(const NamedRecord& record, const std::vector<Part>& parts) {
    emit_function(
        record, parts, "inline void remember(const " + record.cpp_name + "& value, HandleRecord& handle)",
        "remember(%, handle);", [](const Part&, const Role& role) { return !role.remembered_as.empty(); },
        [](const Part& part, const Role& role) {
          return "handle.session[" + literal(role.remembered_as) + "] = value." + part.name + ";";
        });
  }

  const Api& api_;
  BlockWriter writer_;
  CodeText& code_ = writer_.code;
};

}  // namespace

BlockFile emit_codecs(const Api& api) { return CodecEmitter(api).file(); }

}  // namespace bindgen
