#include "emit/parts.hpp"

#include "read/declaration.hpp"

#include <algorithm>
#include <regex>
#include <utility>

namespace bindgen {
namespace {

// Short enough for one line: no objects inside.
bool is_flat(const Json& json) {
  if (!json.is_structured()) return true;
  return std::none_of(json.begin(), json.end(), [](const Json& member) {
    return member.is_structured() && (member.is_object() ? !member.empty() : !is_flat(member) || member.size() > 20);
  });
}

// One line per member of an object that holds objects; everything else in one piece.
void add_json_lines(const Json& json, std::string& current, std::vector<std::string>& lines) {
  if (is_flat(json)) {
    current += json.dump();
    return;
  }
  current += json.is_object() ? '{' : '[';
  bool is_first = true;
  for (const auto& [key, member] : json.items()) {
    if (!is_first) current += ',';
    if (!is_first || member.is_structured()) {
      lines.push_back(current);
      current.clear();
    }
    is_first = false;
    if (json.is_object()) current += Json(key).dump() + ':';
    add_json_lines(member, current, lines);
  }
  current += json.is_object() ? '}' : ']';
}

}  // namespace

bool is_known_everywhere(const std::string& name) {
  static const std::regex kKnown(
      "(u?int(_least|_fast)?(8|16|32|64)_t|u?int(ptr|max)_t|(size|ptrdiff|max_align|wchar|char8|char16|char32)_t"
      "|((un)?signed|short|long|int|char|float|double|void|bool|_Bool|__int128| )+)");
  return std::regex_match(name, kKnown);
}

bool is_repeatable(const c::Type& type) {
  using c::TypeKind;
  const bool has_one_size = type.size.on_64_bit == type.size.on_32_bit;
  if (is_integer(type)) return type.size.on_64_bit <= 8 && (has_one_size || type.size == Layout{8, 4});
  return type.kind == TypeKind::kBool || type.kind == TypeKind::kCharacter || is_floating(type);
}

bool takes_just(const Api& api, const c::Function& function, const c::Type& pointer) {
  if (function.params.size() != 1 || pointer.kind != c::TypeKind::kPointer) return false;
  const c::Type& param = function.params.front().type;
  const Meaning& meaning = api.role(function.name + "." + function.params.front().name).meaning;
  if (std::holds_alternative<meaning::UsesHandle>(meaning) || std::holds_alternative<meaning::DestroysHandle>(meaning))
    return false;
  const c::Type& held = pointer.target.front();
  const auto is_pointer_at = [&param](c::TypeKind kind) {
    return param.kind == c::TypeKind::kPointer && param.target.front().kind == kind;
  };
  const bool is_same = is_pointer_at(held.kind) && param.target.front().name == held.name;
  if (!is_pointer_at(c::TypeKind::kVoid) && !is_same) return false;
  return param.target.front().is_const || !held.is_const;
}

std::vector<std::string> arguments_to_free(const Api& api, const c::Function& function, const c::Function& frees) {
  const Meaning& returned = api.role(function.name + ".return").meaning;
  const bool is_handle = std::holds_alternative<meaning::CreatesHandle>(returned);
  const bool is_kept = is_handle || std::holds_alternative<meaning::Text>(returned) ||
                       std::holds_alternative<meaning::Object>(returned);  // in the variable kReturned
  if (is_kept && takes_just(api, frees, function.returns)) return {kReturned};
  const auto plain = [](c::Type type) {
    if (type.kind == c::TypeKind::kPointer && type.name.empty()) type.target.front().is_const = false;
    type.is_const = false;
    return spelling(type);
  };
  const auto is_of_const = [](const c::Type& type) {
    return type.kind == c::TypeKind::kPointer && type.target.front().is_const;
  };
  const auto can_be_given = [&](const c::Type& type, const c::Type& wanted) {
    return plain(type) == plain(wanted) && (is_of_const(wanted) || !is_of_const(type));
  };
  const auto can_be = [&](const Part& part, const c::Type& wanted) {
    const Meaning& meaning = api.role(part.path).meaning;
    const auto* object = std::get_if<meaning::Object>(&meaning);
    const bool is_itself =
        std::holds_alternative<meaning::UsesHandle>(meaning) || std::holds_alternative<meaning::Value>(meaning) ||
        std::holds_alternative<meaning::Count>(meaning) || std::holds_alternative<meaning::Array>(meaning) ||
        (object != nullptr && object->starts_from.empty());
    return is_itself && can_be_given(*part.type, wanted);
  };
  std::vector<std::string> arguments;
  const auto parts = parts_of(api, function);
  for (const c::Param& param : frees.params) {
    std::vector<std::string> found;
    const Meaning& meaning = api.role(frees.name + "." + param.name).meaning;
    if (std::holds_alternative<meaning::DestroysHandle>(meaning)) return {};
    const bool wants_handle = std::holds_alternative<meaning::UsesHandle>(meaning);
    if (is_kept && is_handle == wants_handle && can_be_given(function.returns, param.type))
      found.emplace_back(kReturned);
    for (const Part& part : parts) {
      const bool is_used = std::holds_alternative<meaning::UsesHandle>(api.role(part.path).meaning);
      if (is_used == wants_handle && can_be(part, param.type)) found.push_back(part.name);
    }
    if (found.size() != 1 || std::find(arguments.begin(), arguments.end(), found.front()) != arguments.end()) return {};
    arguments.push_back(found.front());
  }
  return arguments;
}

std::string set_name(const Api& api) {
  std::string name = "v" + api.version;
  std::replace_if(
      name.begin(), name.end(), [](char character) { return character == '.' || character == '-'; }, '_');
  return name;
}

void emit_documentation(CodeText& code, const Documentation& documentation) {
  code.comment(documentation.text);
  if (!documentation.params.empty() || !documentation.returns.empty()) code.line("//");
  for (const auto& [name, text] : documentation.params) code.comment(name + ": " + text);
  if (!documentation.returns.empty()) code.comment("Returns " + documentation.returns);
}

std::string layout_text(const Layout& layout) {
  if (layout.on_64_bit == layout.on_32_bit) return std::to_string(layout.on_64_bit);
  return "by_pointer_size(" + std::to_string(layout.on_64_bit) + ", " + std::to_string(layout.on_32_bit) + ")";
}

std::string support_include(const Api& api, const std::string& name) {
  return "<" + api.include_root + "/" + name + ".hpp>";
}

namespace {

std::string floating_literal(const c::Type& type, double value) {
  return type.kind == c::TypeKind::kFloat ? float_literal(value) : double_literal(value);
}

}  // namespace

std::string constant_text(const c::Type& type, const Constant& constant, const std::string& scope) {
  return match(
      constant,  //
      [](bool value) -> std::string { return value ? "true" : "false"; },
      [&](std::int64_t value) {
        return is_floating(type) ? floating_literal(type, static_cast<double>(value)) : std::to_string(value);
      },
      [&](double value) { return floating_literal(type, value); },  //
      [&](const std::string& enumerator) { return scope + enumerator; });
}

std::vector<std::string> raw_json_lines(const Json& json) {
  std::vector<std::string> lines;
  std::string last;
  add_json_lines(json, last, lines);
  lines.push_back(last);
  for (std::string& line : lines) line = raw_literal(line);
  return lines;
}

std::string title_of(const Api& api, const c::Function& function) {
  const std::string& title = api.functions.at(function.name).title;
  return title.empty() ? function.name : title;
}

std::vector<std::string> wire_params(const Api& api, const c::Function& function) {
  std::vector<std::string> names;
  for (const c::Param& param : function.params) {
    if (is_on_wire(api.role(function.name + "." + param.name).meaning)) names.push_back(param.name);
  }
  return names;
}

const Stream* stream_of(const Api& api, const c::Function& function) {
  const auto streams = streams_of(api, function);
  return streams.empty() ? nullptr : streams.front();
}

std::vector<Expression> elsewhere_rows(const std::vector<Api>& sets, const std::string& path) {
  // Sets older than it say "1.2.0", newer ones "<= 1.2.3": for a thing that came and went each side knows one end.
  const std::string until = "<= ";
  std::vector<std::pair<std::string, std::vector<std::string>>> told;
  for (const Api& api : sets) {
    const auto found = api.elsewhere.find(path);
    if (found == api.elsewhere.end()) continue;
    for (const Elsewhere& other : found->second) {
      const auto is_it = [&](const auto& row) { return row.first == other.name; };
      auto row = std::find_if(told.begin(), told.end(), is_it);
      if (row == told.end()) row = told.insert(told.end(), {other.name, {}});
      auto& versions = row->second;
      if (std::find(versions.begin(), versions.end(), other.versions) == versions.end())
        versions.push_back(other.versions);
    }
  }
  std::vector<Expression> rows;
  for (const auto& [name, versions] : told) {
    std::string text = versions.front();
    for (std::size_t i = 1; i < versions.size(); ++i) {
      const bool ends = versions[i].rfind(until, 0) == 0 && text.rfind(until, 0) != 0;
      text += ends ? " to " + versions[i].substr(until.size()) : " or " + versions[i];
    }
    rows.push_back(Expression("", {literal(name), literal(text)}, '{'));
  }
  return rows;
}

std::string elsewhere_list(const std::vector<Api>& sets, const std::string& path) {
  std::string list;
  for (const Expression& row : elsewhere_rows(sets, path)) {
    list += (list.empty() ? "{{" : ", {") + row.arguments.at(0).head + ", " + row.arguments.at(1).head + "}";
  }
  return list + (list.empty() ? "" : "}");
}

bool is_on_wire(const Api& api, const NamedRecord& record) {
  return !any_part(api, *record.record, record.path, [](const Part&, const Role& role) {
    return std::holds_alternative<meaning::StreamCallback>(role.meaning);
  });
}

}  // namespace bindgen
