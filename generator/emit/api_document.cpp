// api/<version>.json: the whole API as data, for agents, resources and comparisons.
#include "compare/dump.hpp"
#include "emit/parts.hpp"
#include "manifest.hpp"
#include "read/clean_text.hpp"
#include "read/declaration.hpp"

#include <utility>

namespace bindgen {
namespace {

// So that only what is deprecated has the member.
Json with_state(Json entry, const Documentation& documentation) {
  if (documentation.is_deprecated) entry["deprecated"] = true;
  return entry;
}

Json fields_json(const c::Record& record) {
  Json fields = Json::array();
  for (const c::Field& field : record.fields) {
    const bool is_inline = !field.inline_record.empty();
    if (!is_inline && field.name.empty()) continue;  // bits that only fill up
    Json entry = Json::object();
    if (!field.name.empty()) entry["name"] = field.name;
    entry["type"] = is_inline ? (field.inline_record.front().is_union ? "union" : "struct") : spelling(field.type);
    entry["offset"] = layout_json(field.offset);
    entry["size"] = layout_json(field.type.size);
    if (field.bit_width != 0) entry["bits"] = {{"width", field.bit_width}, {"first", layout_json(field.first_bit)}};
    entry["documentation"] = field.documentation.text;
    if (is_inline) entry["fields"] = fields_json(field.inline_record.front());
    fields.push_back(with_state(std::move(entry), field.documentation));
  }
  return fields;
}

Json params_json(const std::vector<c::Param>& params, const Documentation& documentation) {
  Json list = Json::array();
  for (const c::Param& param : params) {
    list.push_back(
        {{"name", param.name}, {"type", spelling(param.type)}, {"documentation", documentation.of_param(param.name)}});
  }
  return list;
}

class ApiJson {
 public:
  explicit ApiJson(const Api& api) : api_(api) {
    json_ = {{"version", api.version},    {"functions", Json::array()}, {"structs", Json::array()},
             {"enums", Json::array()},    {"callbacks", Json::array()}, {"handles", Json::array()},
             {"constants", Json::array()}};
  }

  std::string text() {
    for (const c::Symbol& symbol : api_.header.symbols) std::visit([this](const auto& any) { add(any); }, symbol);
    return with_escapes(json_.dump(2)) + "\n";
  }

 private:
  void add(const c::Macro& macro) {
    json_["constants"].push_back({{"name", macro.name},
                                  {"value", std::visit([](const auto& value) { return Json(value); }, macro.value)},
                                  {"documentation", macro.documentation.text}});
  }
  void add(const c::Alias& alias) {
    json_["handles"].push_back(
        {{"name", alias.name}, {"declaration", declaration(alias)}, {"documentation", alias.documentation.text}});
  }
  void add(const c::Opaque&) {}  // seen only behind the handles
  void add(const c::Enum& entity) {
    Json enumerators = Json::array();
    for (const c::Enumerator& enumerator : entity.enumerators) {
      enumerators.push_back(with_state(
          {{"name", enumerator.name}, {"value", enumerator.value}, {"documentation", enumerator.documentation.text}},
          enumerator.documentation));
    }
    json_["enums"].push_back({{"name", entity.name},
                              {"type", spelling(entity.underlying)},
                              {"documentation", entity.documentation.text},
                              {"enumerators", std::move(enumerators)}});
  }
  void add(const c::Record& record) {
    json_["structs"].push_back(with_state({{"name", record.name},
                                           {"kind", record.is_union ? "union" : "struct"},
                                           {"size", layout_json(record.size)},
                                           {"align", layout_json(record.align)},
                                           {"documentation", record.documentation.text},
                                           {"fields", fields_json(record)}},
                                          record.documentation));
  }
  void add(const c::Callback& callback) {
    json_["callbacks"].push_back(
        {{"name", callback.name},
         {"declaration", declaration(callback)},
         {"documentation", callback.documentation.text},
         {"params", params_json(callback.params, callback.documentation)},
         {"returns", {{"type", spelling(callback.returns)}, {"documentation", callback.documentation.returns}}}});
  }
  void add(const c::Function& function) {
    if (!api_.functions.at(function.name).is_method) return;
    json_["functions"].push_back(with_state(
        {{"name", function.name},
         {"title", title_of(api_, function)},
         {"declaration", declaration(function)},
         {"documentation", function.documentation.text},
         {"params", params_json(function.params, function.documentation)},
         {"returns", {{"type", spelling(function.returns)}, {"documentation", function.documentation.returns}}},
         {"wire", {{"params", wire_params(api_, function)}, {"streams", stream_of(api_, function) != nullptr}}}},
        function.documentation));
  }

  const Api& api_;
  Json json_;
};

}  // namespace

File emit_api(const Api& api) { return {"api/" + api.version + ".json", ApiJson(api).text()}; }

File emit_manifest(const std::vector<Api>& sets, const std::vector<File>& files) {
  Json list = Json::array();
  for (const Api& api : sets) {
    list.push_back(
        {{"version", api.version}, {"header_sha256", api.header.sha256}, {"overlay_sha256", api.overlay_sha256}});
  }
  Json hashes = Json::array();
  for (const File& file : files) hashes.push_back({{"path", file.path}, {"sha256", sha256(file.text)}});
  const Json manifest{{"sets", std::move(list)}, {"files", std::move(hashes)}};
  return {kManifestName, manifest.dump(2) + "\n"};
}

// All sets in one place, so that a new one needs no other change.
File emit_sets(const std::vector<Api>& sets) {
  CodeText code;
  code.comment("Every ABI set, from old to new.");
  code.line("//");
  code.comment("Generated by rkllm-bindgen; edit the headers or the overlay, not this file.");
  code.line("#pragma once");
  code.line();
  for (const Api& api : sets) code.line("#include " + home_of(api).include("methods"));
  code.line();
  code.line("namespace " + sets.back().cpp_namespace + " {");
  code.line();
  code.line("inline constexpr const AbiSet* kAbiSets[] = {");
  for (const Api& api : sets) code.line("    &" + set_name(api) + "::kAbiSet,");
  code.line("};");
  code.line();
  code.line("}  // namespace " + sets.back().cpp_namespace);
  return {sets.back().include_root + "/abi_sets.hpp", code.text()};
}

std::vector<File> emit(const std::vector<Api>& sets) {
  const bool is_shared = sets.size() > 1;
  std::vector<HeaderFile> headers;
  for (const Api& api : sets) {
    headers.push_back(emit_abi(api));
    headers.push_back(emit_enums(api));
    headers.push_back(emit_defaults(api));
    headers.push_back(emit_constants(api));
  }
  SharedTexts texts(sets);
  if (is_shared) headers.push_back(emit_types(sets));
  headers.push_back(emit_codecs(sets));
  headers.push_back(emit_schemas(sets, texts));
  headers.push_back(emit_methods(sets, texts));
  if (is_shared) {
    for (const Api& api : sets) headers.push_back(emit_set_header(sets, api));
  }
  std::vector<File> files = render(headers);
  files.push_back(emit_sets(sets));
  for (const Api& api : sets) files.push_back(emit_api(api));
  files.push_back(emit_manifest(sets, files));
  return files;
}

}  // namespace bindgen
