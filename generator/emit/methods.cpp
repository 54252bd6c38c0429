// methods.hpp: one stub per function (decode, call, encode) and its description. Of several versions each function is
// written once, as a template over the version; more often only where versions differ in what a stub does.
#include "emit/method_parts.hpp"
#include "emit/parts.hpp"
#include "emit/shared_functions.hpp"
#include "read/declaration.hpp"

#include <algorithm>
#include <utility>

namespace bindgen {
namespace {

// What is written of a function for some of the sets.
struct Variant {
  std::string text;
  Mask has;
  std::size_t newest;  // of these sets
};

class MethodEmitter {
 public:
  MethodEmitter(const std::vector<Api>& sets, SharedTexts& texts)
      : sets_(sets),
        texts_(texts),
        is_shared_(sets.size() > 1),
        header_{shared_home(sets), "methods",
                "Every function as a method: decode the parameters, call, encode what comes back.", includes()} {}

  HeaderFile file() {
    for (const std::string& callback : callbacks()) {
      emit_stream(code_, sets_, callback);
      header_.end_section();
    }
    for (const SharedFunction& function : shared_functions(sets_)) {
      emit(function);
      header_.end_section();
    }
    if (!is_shared_) emit_set(header_, sets_.front(), false);
    return std::move(header_);
  }

 private:
  std::vector<std::string> includes() const {
    const Api& api = sets_.back();
    std::vector<std::string> found;
    for (const char* name : {"abi_set", "codec", "stream_callback", "stub"}) {
      found.push_back(support_include(api, name));
    }
    if (std::any_of(sets_.begin(), sets_.end(), has_out_values)) found.push_back(support_include(api, "out_value"));
    const Home home = shared_home(sets_);
    for (const char* name : {"codecs", "schemas"}) found.push_back(home.include(name));
    if (is_shared_) {
      found.push_back(home.include("types"));
    } else {
      for (const char* name : {"abi", "constants"}) found.push_back(home.include(name));
      found.emplace_back("<memory>");
    }
    for (const char* name : {"<cstddef>", "<span>", "<string_view>"}) found.emplace_back(name);
    std::sort(found.begin(), found.end());
    return found;
  }

  // Whether something is left by a function, or freed when it has been told.
  static bool has_out_values(const Api& api) {
    return std::any_of(api.roles.begin(), api.roles.end(), [](const auto& path_and_role) {
      const Meaning& meaning = path_and_role.second.meaning;
      const bool is_left_there = is_left(meaning) && !std::holds_alternative<meaning::OutArray>(meaning);
      return is_left_there || !freed_by(meaning).empty();
    });
  }

  // Those that become streams.
  std::vector<std::string> callbacks() const {
    std::vector<std::string> names;
    for (const Api& api : sets_) {
      for (const Stream& stream : api.streams) {
        if (std::find(names.begin(), names.end(), stream.callback) == names.end()) names.push_back(stream.callback);
      }
    }
    return names;
  }

  void emit(const SharedFunction& function) {
    emit_texts(function);
    emit_stubs(function);
    emit_descriptions(function);
  }

  void emit_stubs(const SharedFunction& function) {
    const auto stub_of = [this](const Api& api, const c::Function& in) { return stub_text(api, in); };
    for (const Variant& variant : variants_of(function, stub_of)) {
      emit_documentation(code_, function.in[variant.newest]->documentation);
      begin_template(is_shared_ ? "Abi" : "Functions", function, variant);
      code_.line("Json " + function.name + "(const " + (is_shared_ ? "typename Abi::" : "") +
                 "Functions& functions, CallContext& call) {");
      code_.append(variant.text);
      code_.line("}");
    }
  }

  void emit_descriptions(const SharedFunction& function) {
    const auto description_of = [this](const Api& api, const c::Function& in) { return description_text(api, in); };
    const std::vector<Variant> variants = variants_of(function, description_of);
    for (const Variant& variant : variants) {
      const Api& api = sets_[variant.newest];
      const c::Function& newest = *function.in[variant.newest];
      const std::string suffix = variants.size() > 1 ? "_from_" + set_name(sets_[first_of(variant.has)]) : "";
      emit_param_names(code_, api, newest, suffix);
      if (is_shared_) {
        begin_template("Abi", function, variant);
        code_.line("constexpr Method method_" + function.name + "() {");
        code_.line("  return {");
        code_.indent();
      } else {
        code_.line("inline constexpr Method kMethod_" + function.name + "{");
      }
      code_.indent();
      code_.indent();
      emit_description(code_, api, newest, texts_, suffix);
      code_.outdent();
      code_.outdent();
      code_.line("};");
      if (!is_shared_) continue;
      code_.outdent();
      code_.line("}");
    }
  }

  void begin_template(const std::string& param, const SharedFunction& function, const Variant& variant) {
    const std::string condition = condition_of(ranges_of(sets_, variant.has, function.mask()));
    code_.line("template <class " + param + ">");
    if (!condition.empty()) code_.line("  requires(" + condition + ")");
  }

  static std::size_t first_of(const Mask& mask) {
    return static_cast<std::size_t>(std::find(mask.begin(), mask.end(), true) - mask.begin());
  }

  // Texts that versions may have in other words.
  void emit_texts(const SharedFunction& function) {
    const auto emit = [&](const std::string& kind, const auto& text_in) {
      std::vector<std::string> of_sets;
      for (std::size_t set = 0; set < sets_.size(); ++set) {
        of_sets.push_back(function.in[set] == nullptr ? "" : text_in(sets_[set], *function.in[set]));
      }
      texts_.emit_whole(code_, kind + function.name, of_sets);
    };
    const auto needs = [&](const Api& api, const c::Function&) {
      const auto& needed = api.functions.at(function.name).needs;
      return needed ? needed->why : std::string();
    };
    bool has_needs = false;
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      has_needs = has_needs || (function.in[set] != nullptr && sets_[set].functions.at(function.name).needs);
    }
    if (has_needs) emit("kNeeded_", needs);
    emit("kDescription_", [](const Api& api, const c::Function& in) { return documentation_of(api, in); });
    emit("kDeclaration_", [](const Api&, const c::Function& in) { return declaration(in); });
  }

  // As few as there are different texts.
  template <class TextOf>
  std::vector<Variant> variants_of(const SharedFunction& function, const TextOf& text_of) const {
    std::vector<Variant> variants;
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      if (function.in[set] == nullptr) continue;
      const std::string text = text_of(sets_[set], *function.in[set]);
      auto same =
          std::find_if(variants.begin(), variants.end(), [&](const Variant& each) { return each.text == text; });
      if (same == variants.end()) same = variants.insert(same, {text, Mask(sets_.size()), set});
      same->has[set] = true;
      same->newest = set;
    }
    return variants;
  }

  std::string stub_text(const Api& api, const c::Function& function) const {
    TypeNames types(api, function, is_shared_);
    CodeText body;
    emit_stub_body(body, {sets_, api, function, texts_, types});
    CodeText aliases;
    aliases.indent();
    for (const std::string& name : types.aliases()) aliases.line("using " + name + " = typename Abi::" + name + ";");
    return aliases.text() + body.text();
  }

  // With the names of the parameters, which are a constant beside it.
  std::string description_text(const Api& api, const c::Function& function) const {
    CodeText code;
    emit_param_names(code, api, function, "");
    emit_description(code, api, function, texts_, "");
    return code.text();
  }

  const std::vector<Api>& sets_;
  SharedTexts& texts_;
  const bool is_shared_;
  HeaderFile header_;
  CodeText& code_ = header_.code;
};

}  // namespace

HeaderFile emit_methods(const std::vector<Api>& sets, SharedTexts& texts) { return MethodEmitter(sets, texts).file(); }

}  // namespace bindgen
