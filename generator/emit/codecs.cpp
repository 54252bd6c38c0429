// codecs.hpp: for each struct one description, members(), that both directions run; and beside it what else is done
// with such a struct: filling what the runtime leaves undefined, changing defaults for the wire, remembering handle
// values. Of several versions each struct is described once, for any of them: what a version has not is left out by
// `if constexpr`.
#include "emit/codec_call.hpp"
#include "emit/parts.hpp"
#include "emit/shared_functions.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace bindgen {
namespace {

const std::string kBits = "bits_of_";  // before the name of a bit-field: the variable that stands for it

class CodecEmitter {
 public:
  explicit CodecEmitter(const std::vector<Api>& sets)
      : sets_(sets),
        is_shared_(sets.size() > 1),
        header_{shared_home(sets),
                "codecs",
                "JSON to C and back: what the members of each struct are on the wire, in the order of the header.",
                {support_include(sets.back(), "codec")}} {
    for (const Api& api : sets) {
      header_.includes.push_back(home_of(api).include("defaults"));
      header_.includes.push_back(home_of(api).include("enums"));
    }
    header_.includes.push_back(shared_home(sets).include(is_shared_ ? "types" : "abi"));
  }

  HeaderFile file() {
    emit_handle_values();
    for (const SharedRecord& record : shared_records(sets_)) {
      if (is_on_wire(record)) emit(record);
    }
    if (is_shared_ && !functions_.empty()) emit_using_declarations();
    return std::move(header_);
  }

 private:
  using Emitted = std::vector<std::vector<Piece>>;  // for each set

  bool is_on_wire(const SharedRecord& record) const {
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      if (record.in[set] && !bindgen::is_on_wire(sets_[set], *record.in[set])) return false;
    }
    return true;
  }

  void emit_handle_values() {
    std::set<std::string> told;
    for (const Api& api : sets_) {
      for (const HandleValue& value : api.handle_values) {
        if (!told.insert(value.name).second) continue;
        if (told.size() == 1) code_.comment("Values that are known for a handle.");
        code_.statement({"inline constexpr HandleValue " + constant_name(value.name),
                         {literal(value.name), literal(value.learn)},
                         '{'});
      }
    }
    header_.end_section();
  }

  void emit(const SharedRecord& record) {
    code_.comment_on(record.path, documentation_of(record));
    const bool has_bits = any_bit_field(record);
    if (has_bits) {
      code_.line("#pragma GCC diagnostic push");
      code_.line("#pragma GCC diagnostic ignored \"-Wconversion\"  // bit-fields hold what their rules let pass");
    }
    const Emitted calls = calls_of(record);
    const bool is_empty = std::all_of(calls.begin(), calls.end(), [](const auto& of_set) { return of_set.empty(); });
    const std::string codec = is_empty ? "Codec&" : "Codec& codec";
    const std::string value = is_empty ? "" : " value";
    begin_function("members", record, "class Codec",
                   is_shared_ ? codec + ", Value&" + value : codec + ", Of<Codec, " + name_of(record) + ">&" + value,
                   is_empty ? ") {}" : ") {");
    if (!is_empty) {
      emit_body(record, calls);
      code_.line("}");
    }
    if (has_bits) code_.line("#pragma GCC diagnostic pop");
    emit_elsewhere(record);
    emit_fill_undefined(record);
    emit_wire_defaults(record);
    emit_remember(record);
    header_.end_section();
  }

  bool any_bit_field(const SharedRecord& record) const {
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      if (!record.in[set]) continue;
      for (const Part& part : parts_of(sets_[set], *record.in[set]->record, record.in[set]->path)) {
        const bool is_told = bindgen::is_on_wire(sets_[set].role(part.path).meaning);
        if (is_told && part.field->bit_width != 0) return true;
      }
    }
    return false;
  }

  // The struct's own name, where it has one version.
  static std::string name_of(const SharedRecord& record) { return record.in.back()->cpp_name; }

  // template <class Codec, AnyPoint Value>
  // void members(Codec& codec, Value& value) {
  void begin_function(const std::string& name, const SharedRecord& record, std::string of_template,
                      const std::string& params, const std::string& end) {
    functions_.insert(name);
    if (is_shared_) of_template += (of_template.empty() ? "" : ", ") + concept_of(record) + " Value";
    if (!of_template.empty()) code_.line("template <" + of_template + ">");
    code_.line((of_template.empty() ? "inline void " : "void ") + name + "(" + params + end);
  }

  void emit_body(const SharedRecord& record, const Emitted& pieces) {
    code_.indent();
    emit_merged(code_, merge(pieces), record.mask(), conditions_of(record, record.mask()));
    code_.outdent();
  }

  // The condition for a piece that only some versions of a struct have: that its own field is there, or else another
  // field that exactly these versions have; or that a field is missing that exactly the other versions have.
  ConditionOf conditions_of(const SharedRecord& record, const Mask& among) const {
    std::map<std::string, Mask> fields;
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      if (!among[set]) continue;
      for (const Part& part : parts_of(sets_[set], *record.in[set]->record, record.in[set]->path)) {
        Mask& mask = fields[part.name];
        mask.resize(sets_.size());
        mask[set] = true;
      }
    }
    fields.erase("");
    return [this, &record, among, fields](const MergedPiece& piece) {
      const auto own = fields.find(piece.piece.field);
      if (own != fields.end() && own->second == piece.has) return "requires { value." + own->first + "; }";
      Mask others = among;
      for (std::size_t set = 0; set < others.size(); ++set) others[set] = among[set] && !piece.has[set];
      for (const auto& [name, mask] : fields) {
        if (mask == piece.has) return "requires { value." + name + "; }";
      }
      for (const auto& [name, mask] : fields) {
        if (mask == others) return "!requires { value." + name + "; }";
      }
      std::string types;
      for (std::size_t set = 0; set < sets_.size(); ++set) {
        if (piece.has[set]) types += ", " + set_name(sets_[set]) + "::" + record.in[set]->cpp_name;
      }
      return "OneOf<Value" + types + ">";
    };
  }

  // The calls of the codec, for each set. The fields of a group become one call, with their own calls inside it.
  Emitted calls_of(const SharedRecord& record) {
    Emitted calls(sets_.size());
    std::map<std::string, Emitted> of_groups;
    std::map<std::string, Mask> masks_of_groups;
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      if (!record.in[set]) continue;
      const Api& api = sets_[set];
      const auto parts = tags_first(api, parts_of(api, *record.in[set]->record, record.in[set]->path));
      std::string open_group;
      for (const Part& part : parts) {
        const std::string& group = api.role(part.path).group;
        if (!group.empty() && group != open_group) {
          calls[set].push_back(begin_of_group(group, sign_of(api, group, parts)));
          of_groups[group].resize(sets_.size());
          masks_of_groups[group].resize(sets_.size());
          masks_of_groups[group][set] = true;
        }
        open_group = group;
        const bool is_bit_field = part.field->bit_width != 0;
        const CodecScope scope{group.empty() ? "codec" : group, is_bit_field ? kBits : "value.", is_shared_};
        for (const Expression& call : codec_calls(api, part, parts, scope)) {
          (group.empty() ? calls : of_groups[group])[set].push_back(is_bit_field ? bits_piece(part.name, call)
                                                                                 : piece_of(call, part.name));
        }
      }
    }
    for (auto& of_set : calls) {
      for (Piece& piece : of_set) {
        const auto group = of_groups.find(piece.key);
        if (group == of_groups.end()) continue;
        piece.emit = [begin = piece.emit, pieces = merge(group->second), mask = masks_of_groups[piece.key],
                      condition = conditions_of(record, masks_of_groups[piece.key]),
                      list = elsewhere_list(sets_, record.path + "." + piece.key)](CodeText& code) {
          begin(code);
          code.indent();
          emit_merged(code, pieces, mask, condition);
          code.outdent();
          code.line(list.empty() ? "});" : "}, " + list + ");");
        };
      }
    }
    return calls;
  }

  // Reads and writes a bit-field by way of a variable.
  static Piece bits_piece(const std::string& field, const Expression& call) {
    Piece piece = piece_of(call, field);
    piece.emit = [field, call](CodeText& code) {
      code.line("auto " + (kBits + field) + " = value." + field + ";  // nothing can refer to a bit-field");
      code.statement(call);
      code.line("if constexpr (Codec::kDecodes) value." + field + " = " + kBits + field + ";");
    };
    return piece;
  }

  // Begins the call of a group. Its key is the group's name, by which calls_of() adds the fields and the end.
  static Piece begin_of_group(const std::string& group, const std::string& sign) {
    return {group,
            [group, sign](CodeText& code) {
              code.line("codec.group(" + literal(group) + ", value." + sign + ", [&](auto& " + group + ") {");
            },
            sign};
  }

  // The field that tells whether a group is in use.
  static std::string sign_of(const Api& api, const std::string& group, const std::vector<Part>& parts) {
    const auto is_sign = [&](const Part& part) {
      const Role& role = api.role(part.path);
      return role.group == group && std::holds_alternative<meaning::Array>(role.meaning) &&
             part.type->kind == c::TypeKind::kPointer;
    };
    return std::find_if(parts.begin(), parts.end(), is_sign)->name;
  }

  // What other versions of the struct have.
  void emit_elsewhere(const SharedRecord& record) {
    const auto list = elsewhere_rows(sets_, record.path);
    if (list.empty()) return;
    functions_.insert("elsewhere");
    const std::string table = "kElsewhere_" + (is_shared_ ? record.cpp_name : name_of(record));
    code_.statement({"inline constexpr Elsewhere " + table + "[] = ", list, '{'});
    if (is_shared_) code_.line("template <" + concept_of(record) + " Value>");
    code_.line("constexpr std::span<const Elsewhere> elsewhere(TypeTag<" + (is_shared_ ? "Value" : name_of(record)) +
               ">) {");
    code_.line("  return " + table + ";");
    code_.line("}");
  }

  // Of the newest version.
  std::string documentation_of(const SharedRecord& record) const {
    std::string text;
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      if (!record.in[set]) continue;
      const auto role = sets_[set].roles.find(record.in[set]->path);
      const bool has_own = role != sets_[set].roles.end() && !role->second.documentation.empty();
      text = has_own ? role->second.documentation : record.in[set]->record->documentation.text;
    }
    return text;
  }

  // One function of a record that does something for some of its parts, and calls itself for structs inside.
  template <class LineOf>
  void emit_function(const SharedRecord& record, const std::string& name, const std::string& before,
                     const std::string& after, PartPredicate applies, const LineOf& line_of) {
    if (!any_part_in(sets_, record, applies)) return;
    Emitted body(sets_.size());
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      if (!record.in[set]) continue;
      const Api& api = sets_[set];
      for (const Part& part : parts_of(api, *record.in[set]->record, record.in[set]->path)) {
        const auto add = [&](const std::string& line) {
          body[set].push_back({line, [line](CodeText& code) { code.line(line); }, part.name});
        };
        if (applies(part, api.role(part.path))) add(line_of(part, api.role(part.path)));
        if (!holds_record(api, part)) continue;
        if (any_part_in(sets_, api, record_of(api, part).path, applies))
          add(name + "(value." + part.name + after + ");");
      }
    }
    const std::string type = is_shared_ ? "Value" : name_of(record);
    begin_function(name, record, "", before + type + "& value" + (after.empty() ? "" : ", HandleRecord& handle"),
                   ") {");
    emit_body(record, body);
    code_.line("}");
  }

  void emit_fill_undefined(const SharedRecord& record) {
    emit_function(record, "fill_undefined", "", "", &is_left_undefined, [](const Part& part, const Role& role) {
      const std::string& count = std::get<meaning::CpuMask>(role.meaning).count;
      return "fill_undefined_cpu_mask(value." + part.name + ", value." + count + ");";
    });
  }

  void emit_wire_defaults(const SharedRecord& record) {
    emit_function(record, "set_wire_defaults", "", "", &has_wire_default, [this](const Part& part, const Role& role) {
      const std::string scope = is_shared_ ? "decltype(value." + part.name + ")::" : "";
      return "value." + part.name + " = " + constant_text(*part.type, *role.wire_default, scope) + ";";
    });
  }

  void emit_remember(const SharedRecord& record) {
    emit_function(record, "remember", "const ", ", handle", &is_remembered, [](const Part& part, const Role& role) {
      return "handle.values[" + literal(role.remembered_as) + "] = value." + part.name + ";";
    });
  }

  void emit_using_declarations() {
    CodeText code;
    code.line();
    code.comment("Where C++ looks for them: beside the types that they are called with.");
    for (const Api& api : sets_) {
      code.line("namespace " + api.cpp_namespace + "::" + set_name(api) + " {");
      for (const std::string& function : functions_) code.line("using any_version::" + function + ";");
      code.line("}  // namespace " + api.cpp_namespace + "::" + set_name(api));
    }
    header_.after = code.text();
  }

  const std::vector<Api>& sets_;
  const bool is_shared_;
  HeaderFile header_;
  CodeText& code_ = header_.code;
  std::set<std::string> functions_;  // that are written once for all versions
};

}  // namespace

HeaderFile emit_codecs(const std::vector<Api>& sets) { return CodecEmitter(sets).file(); }

}  // namespace bindgen
