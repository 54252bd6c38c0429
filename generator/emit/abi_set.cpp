// The ABI set of a version: which methods it has, and how a library is bound. Where there are several versions, also
// the types of each by one name, which is what the code for all of them is made of.
#include "emit/parts.hpp"
#include "emit/shared_functions.hpp"
#include "emit/type_names.hpp"

#include <set>
#include <utility>

namespace bindgen {
namespace {

void emit_tables(CodeText& code, const Api& api, bool is_shared) {
  const std::vector<const c::Function*> functions = methods_of(api);
  code.comment("All methods, in the order of the header.");
  if (functions.empty()) {
    code.line("inline constexpr std::span<const Method> kMethods;");
    code.line("inline constexpr std::span<const Stub<Functions>> kStubs;");
    return;
  }
  code.line("inline constexpr Method kMethods[] = {");
  for (const c::Function* function : functions) {
    code.line(is_shared ? "    any_version::method_" + function->name + "<Abi>(),"
                        : "    kMethod_" + function->name + ",");
  }
  code.line("};");
  code.line("inline constexpr Stub<Functions> kStubs[] = {");
  for (const c::Function* function : functions) {
    const std::string stub = is_shared ? "any_version::" + function->name + "<Abi>" : function->name + "<Functions>";
    code.line("    {" + literal(function->name) + ", &" + stub + "},");
  }
  code.line("};");
}

// Every type that a stub of this version may name.
std::set<std::string> types_of(const Api& api) {
  std::set<std::string> names;
  const auto add = [&](const auto& self, const c::Type& type) -> void {
    if (!type.name.empty() && !is_known_everywhere(type.name)) names.insert(type.name);
    if (!type.name.empty()) return;
    for (const c::Type& target : type.target) self(self, target);
    for (const c::Type& param : type.params) self(self, param);
  };
  for (const c::Function* function : methods_of(api)) {
    add(add, function->returns);
    for (const c::Param& param : function->params) add(add, param.type);
  }
  for (const auto& [path, role] : api.roles) {
    const auto* chosen = std::get_if<meaning::OutChosen>(&role.meaning);
    if (chosen == nullptr) continue;
    for (const auto& [enumerator, name] : chosen->structs) names.insert(name);
  }
  for (const Stream& stream : api.streams) {
    names.insert(stream.result);
    names.insert(stream.state);
    const auto* callback = c::find<c::Callback>(api.header, stream.callback);
    add(add, callback->returns);
    for (const c::Param& param : callback->params) add(add, param.type);
  }
  return names;
}

}  // namespace

void emit_set(HeaderFile& into, const Api& api, bool is_shared) {
  CodeText& code = into.code;
  emit_tables(code, api, is_shared);
  into.end_section();
  if (!api.names_elsewhere.empty()) {
    code.comment("Functions, constants and types that only other versions have.");
    code.line("inline constexpr Elsewhere kElsewhere[] = {");
    for (const Elsewhere& other : api.names_elsewhere) {
      code.line("    {" + literal(other.name) + ", " + literal(other.versions) + "},");
    }
    code.line("};");
    into.end_section();
  }
  code.comment("Finds the functions in a loaded library. Throws RpcError naming the first that is missing.");
  code.line("inline std::unique_ptr<Binding> bind(const SymbolLookup& lookup) {");
  code.line("  return std::make_unique<BoundLibrary<Functions>>(find_functions(lookup), kStubs);");
  code.line("}");
  std::vector<Expression> versions;
  for (const std::string& version : api.stands_for) versions.emplace_back(literal(version));
  code.statement({"inline constexpr std::string_view kStandsFor[] = ", std::move(versions), '{'});
  code.line("inline const AbiSet kAbiSet{");
  code.line("    .version = " + literal(api.version) + ",");
  code.line("    .stands_for = kStandsFor,");
  code.line("    .methods = kMethods,");
  code.line("    .facts = kFacts,");
  code.line(std::string("    .elsewhere = ") + (api.names_elsewhere.empty() ? "{}," : "kElsewhere,"));
  code.line("    .bind = &bind,");
  code.line("};");
  into.end_section();
}

HeaderFile emit_set_header(const std::vector<Api>& sets, const Api& api) {
  const Home home = home_of(api);
  const Home shared = shared_home(sets);
  HeaderFile header{home,
                    "methods",
                    "The methods of version " + api.version + ", each of which is written once for all versions.",
                    {support_include(api, "abi_set"), shared.include("methods"), home.include("constants"), "<memory>",
                     "<span>", "<string_view>"}};
  emit_set(header, api, true);
  return header;
}

HeaderFile emit_types(const std::vector<Api>& sets) {
  HeaderFile header{shared_home(sets),
                    "types",
                    "The versions of the interface, and the types of each by one name.",
                    {support_include(sets.back(), "versions"), "<span>", "<string_view>"}};
  CodeText& code = header.code;
  std::vector<Expression> versions;
  for (const Api& api : sets) {
    header.includes.insert(header.includes.begin(), home_of(api).include("abi"));
    versions.emplace_back(literal(api.version));
  }
  code.comment("From old to new.");
  code.statement({"inline constexpr std::string_view kVersions[] = ", std::move(versions), '{'});
  header.end_section();
  code.comment("A struct in any of the versions that have it.");
  for (const SharedRecord& record : shared_records(sets)) {
    std::vector<Expression> types{"T"};
    for (std::size_t set = 0; set < sets.size(); ++set) {
      if (record.in[set]) types.emplace_back(set_name(sets[set]) + "::" + record.in[set]->cpp_name);
    }
    code.line("template <class T>");
    code.statement({"concept " + concept_of(record) + " = OneOf", std::move(types), '<'});
  }
  header.end_section();
  for (const Api& api : sets) {
    const std::string space = api.cpp_namespace + "::" + set_name(api);
    CodeText after;
    after.line();
    after.line("namespace " + space + " {");
    after.line("struct Abi {");
    after.line("  static constexpr std::string_view version = " + literal(api.version) + ";");
    after.line("  static constexpr std::span<const std::string_view> versions = any_version::kVersions;");
    after.line("  using Functions = " + set_name(api) + "::Functions;");
    for (const std::string& name : types_of(api)) {
      after.line("  using " + shared_name(api, name) + " = " + set_name(api) + "::" + name + ";");
    }
    after.line("};");
    after.line("}  // namespace " + space);
    header.after += after.text();
  }
  return header;
}

}  // namespace bindgen
