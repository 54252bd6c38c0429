// Headers that other people wrote: what is read from each must be what the C compiler of this machine reads. A probe
// states every name, type, size, offset, value and signature of the model; the compiler has to agree with all of it.
#include "support/catch.hpp"
#include "temporary.hpp"

#include "declaration.hpp"
#include "read_header.hpp"
#include "understand.hpp"

#include <cstdlib>
#include <regex>

using namespace bindgen;

namespace {

struct Foreign {
  const char* path;
  const char* package;
  const char* include_folder;  // where its own #includes are, if not beside it
  std::size_t functions;       // no fewer than these must be found
  std::size_t records;
};

const Foreign kForeign[] = {
    {"/usr/include/sqlite3.h", "libsqlite3-dev", "", 250, 14},
    {"/usr/include/expat.h", "libexpat1-dev", "", 60, 5},
    {"/usr/include/zlib.h", "zlib1g-dev", "", 60, 3},
    {"/usr/include/yaml.h", "libyaml-dev", "", 30, 12},
    {"/usr/include/bzlib.h", "libbz2-dev", "", 20, 1},
    {"/usr/include/lz4.h", "liblz4-dev", "", 30, 1},
    {"/usr/include/zstd.h", "libzstd-dev", "", 60, 3},
    {"/usr/include/cjson/cJSON.h", "libcjson-dev", "", 70, 2},
    {"/usr/include/uchardet/uchardet.h", "libuchardet-dev", "", 6, 0},
    {"/usr/include/libusb-1.0/libusb.h", "libusb-1.0-0-dev", "", 70, 15},
    {LIBCLANG_INCLUDE "/clang-c/Index.h", "libclang-dev", LIBCLANG_INCLUDE, 200, 20},
};

c::Header read(const Foreign& foreign) {
  std::vector<std::string> folders;
  if (*foreign.include_folder != '\0') folders.emplace_back(foreign.include_folder);
  return read_header(foreign.path, folders);
}

// What is installed here; ./dev test installs all of it.
std::vector<Foreign> installed() {
  std::vector<Foreign> found;
  for (const Foreign& foreign : kForeign) {
    if (std::filesystem::exists(foreign.path)) {
      found.push_back(foreign);
    } else {
      WARN(foreign.path << " is not compared: it is not installed; apt-get install " << foreign.package);
    }
  }
  REQUIRE(found.size() >= 8);
  return found;
}

std::string without_comments(const c::Header& header) {
  std::string text;
  for (const std::string& line : header.lines) text += line + "\n";
  for (auto begin = text.find("/*"); begin != std::string::npos; begin = text.find("/*", begin)) {
    text.erase(begin, text.find("*/", begin) + 2 - begin);
  }
  return text;
}

// C that compiles only if the compiler agrees with the model.
class Probe {
 public:
  explicit Probe(const c::Header& header) {
    text_ = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include \"" + header.path + "\"\n";
    header_text_ = without_comments(header);
    // The model calls a struct by its tag alone, also those of headers that this one includes.
    name_tag("struct", "timeval");
    name_tag("enum", "CXErrorCode");
    for (const c::Symbol& symbol : header.symbols) std::visit([this](const auto& any) { name_tag(any); }, symbol);
    for (const c::Symbol& symbol : header.symbols) std::visit([this](const auto& any) { state(any); }, symbol);
  }
  const std::string& text() const { return text_; }

 private:
  template <class Kind>
  void name_tag(const Kind&) {}
  void name_tag(const c::Record& record) { name_tag(record.is_union ? "union" : "struct", record.name); }
  void name_tag(const c::Opaque& opaque) { name_tag(opaque.is_union ? "union" : "struct", opaque.name); }
  void name_tag(const c::Enum& entity) {
    if (!entity.name.empty()) name_tag("enum", entity.name);
  }
  void name_tag(const std::string& keyword, const std::string& name) {
    const bool is_tag = std::regex_search(header_text_, std::regex(keyword + "\\s+" + name + "\\b"));
    if (is_tag) text_ += "typedef " + keyword + " " + name + " " + name + ";\n";
  }

  void state(const c::Macro& macro) {
    if (macro.name == "ZERO_SIZED_ARRAY") return;  // libusb.h: 0 in C++, which is what is read, and nothing in C
    if (const auto* value = std::get_if<std::int64_t>(&macro.value)) {
      // A large unsigned value is no negative one.
      must_hold("(long long)(" + macro.name + ") == " + std::to_string(*value) + "LL");
      must_hold(std::string(*value < 0 ? "" : "!") + "((" + macro.name + ") < 0)");
    }
    if (const auto* value = std::get_if<std::uint64_t>(&macro.value)) {
      must_hold("(" + macro.name + ") == " + std::to_string(*value) + "ULL && (" + macro.name + ") > 0");
    }
  }
  void state(const c::Alias& alias) {
    text_ += declaration(alias) + ";\n";
    if (alias.type.size.on_64_bit != 0) {
      must_hold("sizeof(" + alias.name + ") == " + std::to_string(alias.type.size.on_64_bit));
    }
  }
  void state(const c::Opaque&) {}
  void state(const c::Callback& callback) { text_ += declaration(callback) + ";\n"; }
  void state(const c::Function& function) {
    text_ += "#undef " + function.name + "\n" + declaration(function) + ";\n";  // a macro may stand before it
  }
  void state(const c::Enum& entity) {
    for (const c::Enumerator& one : entity.enumerators) {
      must_hold("(long long)(" + one.name + ") == " + std::to_string(one.value) + "LL");
    }
    if (!entity.name.empty()) {
      must_hold("sizeof(" + entity.name + ") == " + std::to_string(entity.underlying.size.on_64_bit));
    }
  }
  void state(const c::Record& record) {
    must_hold("sizeof(" + record.name + ") == " + std::to_string(record.size.on_64_bit));
    must_hold("_Alignof(" + record.name + ") == " + std::to_string(record.align.on_64_bit));
    state_fields(record.name, "", record);
  }

  void state_fields(const std::string& outer, const std::string& prefix, const c::Record& record) {
    for (const c::Field& field : record.fields) {
      const std::string path = prefix + field.name;
      if (!field.name.empty() && field.bit_width == 0) {  // C cannot ask where a bit-field is
        must_hold("offsetof(" + outer + ", " + path + ") == " + std::to_string(field.offset.on_64_bit));
        if (field.inline_record.empty()) state_type("((" + outer + "*)0)->" + path, field.type);
      }
      if (field.inline_record.empty()) continue;
      state_fields(outer, field.name.empty() ? prefix : path + ".", field.inline_record.front());
    }
  }

  void state_type(const std::string& expression, const c::Type& type) {
    const std::string name = "bindgen_type_" + std::to_string(types_++);
    text_ += "typedef " + declaration(type, name) + ";\n";
    must_hold("__builtin_types_compatible_p(__typeof__(" + expression + "), " + name + ")");
    if (type.size.on_64_bit != 0) must_hold("sizeof(" + name + ") == " + std::to_string(type.size.on_64_bit));
  }

  void must_hold(const std::string& claim) { text_ += "_Static_assert(" + claim + ", \"\");\n"; }

  std::string header_text_;
  std::string text_;
  unsigned types_ = 0;
};

// What the compiler says; empty if it agrees.
std::string compile(const std::string& text, const std::string& include_folder) {
  const auto folder = test::scratch("foreign");
  const std::string probe = test::file(folder, "probe.c", text);
  const std::string complaints = (folder / "complaints").string();
  const std::string include = include_folder.empty() ? "" : " -I'" + include_folder + "'";
  const std::string command =
      "'" COMPILER "' -x c -std=gnu11 -w -fsyntax-only" + include + " '" + probe + "' 2>'" + complaints + "'";
  const int status = std::system(command.c_str());
  const std::string said = read_text(complaints).substr(0, 4000);
  return status == 0 ? "" : "the compiler refuses:\n" + said;
}

}  // namespace

TEST_CASE("what is read from other people's headers is what the compiler reads") {
  for (const Foreign& foreign : installed()) {
    INFO(foreign.path);
    const c::Header header = read(foreign);
    CHECK(c::all<c::Function>(header).size() >= foreign.functions);
    CHECK(c::all<c::Record>(header).size() >= foreign.records);
    if (sizeof(void*) == 8) CHECK(compile(Probe(header).text(), foreign.include_folder) == "");
  }
}

TEST_CASE("the probe can fail: a wrong offset, type or signature does not compile") {
  const auto folder = test::scratch("foreign_wrong");
  const std::string path = test::file(folder, "x.h", "typedef struct { char a; int b; } S;\nint f(int a);\n");
  c::Header header = read_header(path);
  const auto& record = std::get<c::Record>(header.symbols[0]);
  const auto& function = std::get<c::Function>(header.symbols[1]);
  const auto refused = [&](c::Symbol symbol) {
    c::Header wrong = header;
    wrong.symbols = {std::move(symbol)};
    return !compile(Probe(wrong).text(), "").empty();
  };
  REQUIRE_FALSE(refused(record));
  c::Record moved = record;
  moved.fields[1].offset = {8, 8};
  CHECK(refused(moved));
  c::Record retyped = record;
  retyped.fields[1].type.name = "unsigned int";
  CHECK(refused(retyped));
  c::Function resigned = function;
  resigned.returns.name = "long";
  CHECK(refused(resigned));
}

TEST_CASE("what other people's headers leave open is told entry by entry, and refused with line and column") {
  for (const Foreign& foreign : installed()) {
    INFO(foreign.path);
    const c::Header header = read(foreign);
    const Needs needs = needs_of(header, {});
    CHECK_FALSE(needs.unanswered.empty());
    for (const Declared& declared : needs.unanswered) CHECK_FALSE(declared.declaration.empty());
    try {
      understand(header, {}, "1");
      FAIL("nothing was left open");
    } catch (const Refusal& refusal) {
      CHECK(refusal.diagnostics().size() >= needs.in_the_way.size());
      for (const Diagnostic& diagnostic : refusal.diagnostics()) {
        INFO(diagnostic.message);
        CHECK(diagnostic.at.file == foreign.path);
        CHECK(diagnostic.at.line != 0);
        CHECK_FALSE(diagnostic.source_line.empty());
      }
    }
  }
}

TEST_CASE("a header whose includes are not there is refused with the line of the include") {
  const auto folder = test::scratch("foreign_missing");
  const std::string path = test::file(folder, "x.h", "#include <no_such_header.h>\nint f(void);\n");
  try {
    read_header(path);
    FAIL("accepted");
  } catch (const Refusal& refusal) {
    CHECK(std::string(refusal.what()).find("x.h:1:10: error: 'no_such_header.h' file not found") != std::string::npos);
  }
}

TEST_CASE("a macro keeps its sign, and has no value if that differs between machines") {
  const auto folder = test::scratch("macros");
  const c::Header header = read_header(test::file(folder, "x.h",
                                                  "#define ALL 0xFFFFFFFFFFFFFFFFULL\n#define NONE (-1LL)\n"
                                                  "#define SOME 0x7FFFFFFFFFFFFFFFULL\n#define WORD sizeof(long)\n"));
  const auto macros = c::all<c::Macro>(header);
  REQUIRE(macros.size() == 3);
  CHECK(std::get<std::uint64_t>(macros[0]->value) == 0xFFFFFFFFFFFFFFFFULL);
  CHECK(std::get<std::int64_t>(macros[1]->value) == -1);
  CHECK(std::get<std::int64_t>(macros[2]->value) == 0x7FFFFFFFFFFFFFFFLL);
}
