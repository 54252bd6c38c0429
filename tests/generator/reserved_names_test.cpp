// The names that headers may not use are all those that are in their way: asked of the compiler, and of what is
// generated.
#include "support/catch.hpp"
#include "temporary.hpp"

#include "check/rules.hpp"
#include "emit/code_text.hpp"
#include "generate.hpp"
#include "meaning/walk.hpp"

#include <cstdlib>
#include <regex>
#include <set>
#include <sstream>

using namespace bindgen;

namespace {

// What stands in a text by its bare name: not in a comment, a literal or an #include, and not behind a dot or "::".
std::set<std::string> bare_names(const std::string& code) {
  static const std::regex kOthers("#[^\n]*|//[^\n]*|R\"(\\w*)\\([^\n]*\\)\\1\"|\"(\\\\.|[^\"\\\\])*\"");
  static const std::regex kName("(\\.|->|::|\\w)?\\b([A-Za-z_]\\w*)");
  const std::string bare = std::regex_replace(code, kOthers, " ");
  std::set<std::string> names;
  for (std::sregex_iterator at(bare.begin(), bare.end(), kName), end; at != end; ++at) {
    if ((*at)[1].length() == 0) names.insert((*at)[2]);
  }
  return names;
}

const char* const kWordsOfCpp =
    "auto bool char class const constexpr decltype enum float inline int int8_t int16_t int32_t int64_t long namespace "
    "noexcept "
    "nullptr offsetof return short signed sizeof alignof size_t static static_assert static_cast struct template true "
    "false if "
    "typename uint8_t uint16_t uint32_t uint64_t union unsigned using void double";

}  // namespace

TEST_CASE("every macro of the C library is known") {
  const auto folder = test::scratch("macros_of_c");
  std::string source;
  for (const char* name : {"assert", "errno", "float", "inttypes", "limits", "locale", "math", "stdarg", "stddef",
                           "stdint", "stdio", "stdlib", "string", "time", "wchar"}) {
    source += "#include <" + std::string(name) + ".h>\n";
  }
  const std::string command = "'" COMPILER "' -x c -std=c11 -dM -E '" + test::file(folder, "x.c", source) + "' >'" +
                              (folder / "macros").string() + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  std::size_t macros = 0;
  for (const std::string& line : lines_of(read_text((folder / "macros").string()))) {
    std::istringstream words(line);
    std::string define;
    std::string name;
    words >> define >> name;
    name = name.substr(0, name.find('('));
    if (name.empty() || name.front() == '_' || name == "static_assert") continue;  // the compiler keeps these to itself
    ++macros;
    INFO(name);
    CHECK(is_macro_of_c(name));
  }
  CHECK(macros > 300);
}

TEST_CASE("every name that generated code uses, beside those of header and overlay, is known") {
  const std::string idioms = std::string(REPOSITORY) + "/tests/fuzz/";
  struct Input {
    std::string header;
    std::string overlay;
  };
  for (const Input& input :
       {Input{test::kHeader, test::kOverlay}, Input{idioms + "every_idiom.h", idioms + "corpus/overlay/whole"}}) {
    std::set<std::string> known = bare_names(kWordsOfCpp);
    static const std::regex kName("[A-Za-z_]\\w*");
    for (const std::string& path : {input.header, input.overlay}) {
      const std::string text = read_text(path);
      for (std::sregex_iterator at(text.begin(), text.end(), kName), end; at != end; ++at) {
        known.insert(at->str());
        known.insert(constant_name(at->str()));  // of handle values
        known.insert(at->str() + "Stream");
      }
    }
    const Api api = read_api({input.header, "1.3.0"}, read_overlay(input.overlay));
    known.insert(api.cpp_namespace);
    for (const NamedRecord& record : all_records(api)) known.insert(record.cpp_name);
    for (const File& file : emit({api})) {
      if (file.path.find(".hpp") == std::string::npos || file.path.find("abi_sets") != std::string::npos) continue;
      for (const std::string& name : bare_names(file.text)) {
        INFO(file.path << ": " << name);
        CHECK((known.count(name) != 0 || is_of_generated_code(name, Declares::kConstant) || name.find("v1_") == 0));
      }
    }
  }
}
