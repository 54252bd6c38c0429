// Headers that other people wrote: what is read from each must be what the C compiler of this machine reads. A probe
// states every name, type, size, offset, value and signature of the model; the compiler has to agree with all of it.
#include "compiler_probe.hpp"
#include "support/catch.hpp"
#include "temporary.hpp"

#include "compare/dump.hpp"
#include "files.hpp"
#include "manifest.hpp"
#include "meaning/understand.hpp"
#include "read/header.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace bindgen;

namespace {

struct Foreign {
  const char* path;
  const char* package;
  std::size_t functions;  // no fewer than these must be found
  std::size_t records;
  std::vector<std::string> options{};  // for clang and the compiler alike
};

const std::vector<Foreign>& foreign_headers() {
  static const std::vector<Foreign> kForeign = {
      {"/usr/include/sqlite3.h", "libsqlite3-dev", 250, 14},
      {"/usr/include/expat.h", "libexpat1-dev", 60, 5},
      {"/usr/include/zlib.h", "zlib1g-dev", 60, 3},
      {"/usr/include/yaml.h", "libyaml-dev", 30, 12},
      {"/usr/include/bzlib.h", "libbz2-dev", 20, 1},
      {"/usr/include/lz4.h", "liblz4-dev", 30, 1},
      {"/usr/include/zstd.h", "libzstd-dev", 60, 3},
      {"/usr/include/cjson/cJSON.h", "libcjson-dev", 70, 2},
      {"/usr/include/uchardet/uchardet.h", "libuchardet-dev", 6, 0},
      {"/usr/include/libusb-1.0/libusb.h", "libusb-1.0-0-dev", 70, 15},
      {LIBCLANG_INCLUDE "/clang-c/Index.h", "libclang-dev", 200, 20, {"-I" LIBCLANG_INCLUDE}},
      {"/usr/include/png.h", "libpng-dev", 230, 5},
      {"/usr/include/jpeglib.h", "libjpeg-dev", 50, 10, {"-include", "stdio.h"}},
      {"/usr/include/openssl/evp.h", "libssl-dev", 600, 2},
      {"/usr/include/libxml2/libxml/tree.h", "libxml2-dev", 150, 10, {"-I/usr/include/libxml2", "-std=c11"}},
      {"/usr/include/alsa/pcm.h", "libasound2-dev", 300, 5, {"-include", "alsa/asoundlib.h"}},
      {"/usr/include/hidapi/hidapi.h", "libhidapi-dev", 20, 2},
      {"/usr/include/pcre2.h", "libpcre2-dev", 70, 2, {"-DPCRE2_CODE_UNIT_WIDTH=8"}},
      {"/usr/include/seccomp.h", "libseccomp-dev", 20, 2},
      {"/usr/include/lmdb.h", "liblmdb-dev", 50, 3},
      {"/usr/include/jansson.h", "libjansson-dev", 70, 2},
      {"/usr/include/webp/decode.h", "libwebp-dev", 20, 5},
      {"/usr/include/webp/encode.h", "libwebp-dev", 20, 4},
      {"/usr/include/opus/opus.h", "libopus-dev", 25, 0},
      {"/usr/include/" MULTIARCH "/curl/curl.h", "libcurl4-openssl-dev", 30, 10},
  };
  return kForeign;
}

c::Header read(const Foreign& foreign) { return read_header(foreign.path, foreign.options); }

std::string compiler_options(const Foreign& foreign) {
  std::string all;
  for (const std::string& option : foreign.options) {
    if (option.rfind("-std=", 0) != 0) all += " '" + option + "'";  // the probe is C anyway
  }
  return all;
}

// ./dev test installs all of them.
void require_installed() {
  std::string missing;
  for (const Foreign& foreign : foreign_headers()) {
    if (!std::filesystem::exists(foreign.path)) missing.append(" ").append(foreign.package);
  }
  if (!missing.empty()) FAIL("headers are missing; run apt-get install" << missing);
}

// A header and all that it includes, as the compiler of this machine finds them.
std::set<std::filesystem::path> with_included(const Foreign& foreign) {
  const std::string list = (test::scratch("foreign_included") / "list").string();
  const std::string command =
      "'" COMPILER "' -x c -M" + compiler_options(foreign) + " '" + foreign.path + "' >'" + list + "' 2>/dev/null";
  REQUIRE(std::system(command.c_str()) == 0);
  std::set<std::filesystem::path> files;
  std::istringstream words(read_text(list));  // "x.o: x.h y.h \\", and so on
  for (std::string word; words >> word;) {
    if (std::filesystem::is_regular_file(word)) files.insert(word);
  }
  return files;
}

// All that decides what the comparison finds: the sources of the generator, this test, the compiler, libclang, and the
// headers with those that they include.
std::string inputs_of_comparison(const std::vector<Foreign>& headers) {
  const auto tests = std::filesystem::path(REPOSITORY) / "tests/generator";
  std::vector<std::filesystem::path> files = {tests / "foreign_headers_test.cpp", tests / "compiler_probe.hpp"};
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(REPOSITORY) / "generator")) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".cpp" || extension == ".hpp") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::set<std::filesystem::path> read;
  for (const Foreign& foreign : headers) read.merge(with_included(foreign));
  files.insert(files.end(), read.begin(), read.end());
  std::string all = COMPILER " " COMPILER_VERSION "\n" + clang_version() + "\n";
  for (const auto& file : files) all += file.string() + " " + sha256(read_text(file)) + "\n";
  return sha256(all);
}

}  // namespace

// Takes a minute, and finds what it found the last time unless one of its inputs has changed: a stamp in the build
// folder says with which it has passed.
TEST_CASE("what is read from other people's headers is what the compiler reads") {
  require_installed();
  const std::vector<Foreign>& headers = foreign_headers();
  const std::filesystem::path stamp =
      std::filesystem::path(rkllm_mcp::test::build_directory()) / "tests/generator/foreign_headers.stamp";
  const std::string inputs = inputs_of_comparison(headers);
  if (std::filesystem::exists(stamp) && read_text(stamp) == inputs) {
    WARN("not compared anew: it has passed with the same reader, compiler and headers; remove " << stamp.string());
    return;
  }
  bool has_passed = true;
  for (const Foreign& foreign : headers) {
    INFO(foreign.path);
    const c::Header header = read(foreign);
    const bool has_all =
        c::all<c::Function>(header).size() >= foreign.functions && c::all<c::Record>(header).size() >= foreign.records;
    CHECK(has_all);
    has_passed = has_passed && has_all;
    if (sizeof(void*) != 8) continue;
    const std::string complaints = test::compile(test::Probe(header).text(), compiler_options(foreign));
    CHECK(complaints == "");
    has_passed = has_passed && complaints.empty();
  }
  if (has_passed) test::write_text(stamp, inputs);
}

TEST_CASE("a header is compared anew when one that it includes has changed") {
  const auto folder = test::scratch("foreign_changed");
  const std::string outer = test::file(folder, "outer.h", "#include \"inner.h\"\nint f(inner it);\n");
  const auto inputs_with = [&](const std::string& inner) {
    test::file(folder, "inner.h", inner);
    return inputs_of_comparison({{outer.c_str(), "", 1, 0}});
  };
  const std::string with_int = inputs_with("typedef int inner;\n");
  CHECK(inputs_with("typedef long inner;\n") != with_int);
  CHECK(inputs_with("typedef int inner;\n") == with_int);
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
    return !test::compile(test::Probe(wrong).text(), "").empty();
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
  require_installed();
  for (const Foreign& foreign : foreign_headers()) {
    INFO(foreign.path);
    const c::Header header = read(foreign);
    const Needs needs = needs_of(header, {});
    CHECK_FALSE(needs.unanswered.empty());
    std::set<std::string> asked;
    for (const Declared& declared : needs.unanswered) {
      CHECK_FALSE(declared.declaration.empty());
      asked.insert(declared.path);
    }
    // No pointer says by itself what it means, so each is a question.
    std::string unasked;
    for (const c::Function* function : c::all<c::Function>(header)) {
      for (const c::Param& param : function->params) {
        if (param.name.empty()) continue;  // refused, since nothing can be said of it
        const std::string path = function->name + "." + param.name;
        if (param.type.kind == c::TypeKind::kPointer && asked.count(path) == 0) unasked += " " + path;
      }
      if (function->returns.kind == c::TypeKind::kPointer && asked.count(function->name + ".return") == 0)
        unasked += " " + function->name + ".return";
    }
    CHECK(unasked == "");
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

TEST_CASE("a macro with another value on any of the machines, or none there, is no constant, and is warned of") {
  const auto folder = test::scratch("macros_of_machines");
  for (const char* machine : {"__aarch64__", "__arm__", "__x86_64__"}) {
    INFO(machine);
    const std::string text = std::string("#ifdef ") + machine +
                             "\n#define K 3\n#define ONLY 1\n#define SAME (2 + 5)\n#else\n#define K 4\n"
                             "#define SAME 7\n#endif\n";
    const c::Header header = read_header(test::file(folder, "x.h", text));
    const auto macros = c::all<c::Macro>(header);
    REQUIRE(macros.size() == 1);
    CHECK(macros[0]->name == "SAME");
    const auto warnings = warnings_of_machines(header);
    std::set<std::string> messages;
    for (const Diagnostic& warning : warnings) messages.insert(warning.message);
    CHECK(messages == std::set<std::string>{"K has not the same value on every machine, and is left out",
                                            "ONLY has not the same value on every machine, and is left out"});
  }
}

TEST_CASE("a variable of the library is shown, and warned of where methods are made, since it is none") {
  const auto folder = test::scratch("variables");
  const c::Header header =
      read_header(test::file(folder, "x.h", "extern int level;\nint f(int a);\nstatic int own;\n"));
  CHECK(dump_tree(header).find("variable int level, size 4/4\n") != std::string::npos);
  CHECK(dump_json(header).find("\"variable\": \"level\"") != std::string::npos);
  const auto warnings = warnings_of_variables(header);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].message == "level is a variable, for which there is no method, and is left out");
  CHECK(warnings[0].at.line == 1);
}

TEST_CASE("a variable that is another one on any of the machines, or none there, is left out, and warned of") {
  const auto folder = test::scratch("variables_of_machines");
  for (const char* machine : {"__aarch64__", "__arm__", "__x86_64__"}) {
    INFO(machine);
    const std::string text =
        std::string("extern long level;\n#ifdef ") + machine +
        "\nextern int other;\nextern int only;\n#else\nextern float other;\n#endif\nint f(int a);\n";
    const c::Header header = read_header(test::file(folder, "x.h", text));
    REQUIRE(header.variables.size() == 1);
    CHECK(header.variables[0].type.size == Layout{8, 4});
    std::set<std::string> messages;
    for (const Diagnostic& warning : warnings_of_machines(header)) messages.insert(warning.message);
    CHECK(messages == std::set<std::string>{"other is not the same variable on every machine, and is left out",
                                            "only is not the same variable on every machine, and is left out"});
  }
}
