// The program itself: what it prints where, and with what it exits.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "temporary.hpp"

#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>

using namespace bindgen;
using rkllm_mcp::test::has_text;

namespace {

const std::string kProgram = rkllm_mcp::test::built_program("rkllm-bindgen");

struct Outcome {
  int exit_code;
  std::string out;
  std::string err;
};

Outcome run(const std::string& arguments) {
  const auto folder = test::scratch("program");
  const std::string out = (folder / "out").string();
  const std::string err = (folder / "err").string();
  const std::string command =
      "cd '" REPOSITORY "' && '" + kProgram + "' " + arguments + " >'" + out + "' 2>'" + err + "'";
  const int status = std::system(command.c_str());
  REQUIRE(WIFEXITED(status));
  return {WEXITSTATUS(status), read_text(out), read_text(err)};
}

const std::string kOld = "generator/headers/rkllm_1.2.3.h";
const std::string kNew = "generator/headers/rkllm_1.3.0.h";

}  // namespace

TEST_CASE("diff exits with 3 if something breaks and with 0 if not, and prints the changes either way") {
  const Outcome breaking = run("diff " + kOld + " " + kNew);
  CHECK(breaking.exit_code == 3);
  CHECK(breaking.out.find("  moved field RKLLMParam.is_async: @57/53 -> @58/54\n") != std::string::npos);
  CHECK(breaking.err.empty());
  const Outcome equal = run("diff " + kNew + " " + kNew + " --format markdown");
  CHECK(equal.exit_code == 0);
  CHECK(equal.out == "# `" + kNew + "` → `" + kNew + "`\n\nNo difference.\n");
}

TEST_CASE("dump prints the model, as a tree unless JSON is asked for") {
  const Outcome tree = run("dump " + kNew);
  CHECK(tree.exit_code == 0);
  CHECK(tree.out.find("struct RKLLMParam, size 184/176, align 8/4\n") != std::string::npos);
  CHECK(run("dump " + kNew + " --format json").out.find("{\n \"header\": \"rkllm_1.3.0.h\"") == 0);
}

TEST_CASE("output that cannot be written is an error") {
  const std::string command = "'" + kProgram + "' dump '" REPOSITORY "/" + kNew + "' >/dev/full 2>/dev/null";
  const int status = std::system(command.c_str());
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
}

TEST_CASE("suggest prints entries only, and complaints beside them") {
  const Outcome open = run("suggest " + kOld + " --no-overlay");
  CHECK(open.exit_code == 0);
  CHECK(open.out.find(R"({"for":"RKLLMExtendParam.reserved","quote":"uint8_t reserved[104]","guess":{"unused":{}},)") ==
        0);
  CHECK(open.err.empty());
  const Outcome stale = run("suggest " + kOld + " --overlay generator/overlay/rkllm.overlay.json");
  CHECK(stale.exit_code == 1);
  CHECK(stale.err.find("rkllm_1.2.3.h:") != std::string::npos);
}

TEST_CASE("suggest takes the overlay of the project, and for a header of it what that says of its version") {
  const Outcome known = run("suggest " + kOld);
  CHECK(known.exit_code == 0);
  CHECK(known.out.empty());
  CHECK(known.err.empty());
  CHECK(run("suggest " + kOld + " --api-version 1.3.0").exit_code == 1);
}

TEST_CASE("without arguments the program tells what it can do, and writes nothing, --version tells what it is") {
  const Outcome help = run("");
  CHECK(help.exit_code == 0);
  CHECK(help.out.find("rkllm-bindgen reads a C header") == 0);
  CHECK(help.out == run("--help").out);
  const Outcome version = run("--version");
  CHECK(version.exit_code == 0);
  CHECK(version.out.find("rkllm-bindgen ") == 0);
  CHECK_THAT(version.out, has_text("clang version "));
  CHECK_THAT(run("generate").out, has_text("0 files changed\n"));
}

TEST_CASE("diff --docs tells what is said in other words, and breaks nothing by it") {
  const Outcome text = run("diff --docs " + kOld + " " + kNew);
  CHECK(text.exit_code == 3);
  CHECK_THAT(text.out,
             has_text("Said in other words") && has_text("reworded documentation rkllm_is_running.return:\n"));
  CHECK_THAT(run("diff " + kOld + " " + kNew).out, !has_text("reworded"));
  CHECK_THAT(run("diff --docs --format markdown " + kOld + " " + kNew).out,
             has_text("| reworded | documentation | `rkllm_is_running.return` | "));
  CHECK_THAT(run("diff --docs --format json " + kOld + " " + kNew).out,
             has_text("\"name\": \"rkllm_is_running.return\""));
  CHECK(run("dump --docs " + kOld).exit_code == 2);
}

TEST_CASE("a header that cannot be read is refused with 1, arguments that make no sense with 2") {
  const Outcome missing = run("dump nowhere.h");
  CHECK(missing.exit_code == 1);
  CHECK(missing.err == "nowhere.h: error: cannot read this file\n");
  const Outcome wrong = run("diff " + kOld);
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.err == "rkllm-bindgen: diff takes OLD NEW; see rkllm-bindgen --help\n");
  CHECK(run("--help").exit_code == 0);
}

TEST_CASE(
    "generating exits with 0, and a check with 1 as soon as a generated file is edited, and tells what mends it") {
  const auto folder = test::scratch("program_out") / "it's here";
  const std::string out = folder.string();
  const std::string command = "generator/headers/rkllm_1.3.0.h --api-version 1.3.0 --out \"" + out + "\"";
  const Outcome made = run(command);
  CHECK(made.exit_code == 0);
  CHECK_THAT(made.out, has_text("10 files changed\n"));
  CHECK_THAT(run(command).out, has_text("0 files changed\n"));
  CHECK(run("--check " + command).exit_code == 0);
  const std::string enums = (folder / "rkllm_mcp/v1_3_0/enums.hpp").string();
  test::write_text(enums, read_text(enums) + "// edited\n");
  const Outcome stale = run("--check " + command);
  CHECK(stale.exit_code == 1);
  CHECK_THAT(stale.out, has_text("-// edited\n"));
  const auto mends = stale.out.find("  rkllm-bindgen generate ");
  REQUIRE(mends != std::string::npos);
  CHECK(run(stale.out.substr(mends + 16, stale.out.rfind('\n') - mends - 16)).exit_code == 0);
  CHECK(run("--check " + command).exit_code == 0);
}

TEST_CASE("a refused header exits with 1, and one header alone does not replace the bindings of several") {
  const auto folder = test::scratch("program_refused");
  const std::string header = test::file(folder, "x.h", "int f(const char* text);\n");
  const std::string overlay = test::file(folder, "o.json", test::overlay(""));
  const Outcome open = run(header + " --api-version 1 --overlay " + overlay + " --out " + folder.string());
  CHECK(open.exit_code == 1);
  CHECK_THAT(open.err, has_text("x.h:1:19: error: nothing says what f.text means"));
  const Outcome other = run(kNew + " --api-version 1.4.0");
  CHECK(other.exit_code == 1);
  CHECK_THAT(other.err, has_text("generating 1.4.0 alone would remove 1.1.4, 1.2.0"));
  CHECK(run("--check").exit_code == 0);
  CHECK(run(kNew + " --api-version 1.4+beta").exit_code == 2);
}

TEST_CASE("what is to be verified and does not compile is not written") {
  const auto folder = test::scratch("program_verify");
  const std::string header = test::file(folder, "x.h", "int f(int a);\n");
  const std::string overlay = test::file(folder, "o.json", test::overlay(""));  // whose support headers are nowhere
  const std::string out = (folder / "out").string();
  const std::string command = header + " --api-version 1 --overlay " + overlay + " --out " + out;
  const Outcome refused = run(command + " --verify");
  CHECK(refused.exit_code == 1);
  CHECK_THAT(refused.err,
             has_text(out + "/made_up/v1/abi.hpp:6:10: error: 'made_up/bound_library.hpp' file not found"));
  CHECK_THAT(refused.err, has_text("--include DIR adds one\n        include\n"));
  CHECK_FALSE(std::filesystem::exists(out));
  CHECK(run(command).exit_code == 0);
  CHECK(run("--check " + command).exit_code == 0);
  CHECK(run("dump --verify " + header).exit_code == 2);
}

TEST_CASE("code in another namespace than that of the support headers would not compile, and is refused") {
  const auto folder = test::scratch("program_namespace");
  const std::string header = test::file(folder, "x.h", "int f(int a);\n");
  const auto generate = [&](const std::string& space) {
    const std::string overlay =
        test::file(folder, "o.json",
                   "{\n  \"output\": {\"namespace\":\"" + space +
                       R"(","include":"rkllm_mcp"},"returns":{"int":{"status":{}}},"entries":[]})");
    return run(header + " --api-version 1 --overlay " + overlay + " --out " + (folder / "out").string());
  };
  const Outcome refused = generate("other");
  CHECK(refused.exit_code == 1);
  CHECK_THAT(refused.err, has_text("o.json:2:14: error: code in namespace other would not compile: the support headers "
                                   "(include/rkllm_mcp/abi_set.hpp) are in namespace rkllm_mcp"));
  CHECK_THAT(refused.err, has_text("write \"namespace\": \"rkllm_mcp\""));
  CHECK(generate("rkllm_mcp").exit_code == 0);
}

TEST_CASE("a check that finds a file which is not generated says what to do, and not that generating would do it") {
  const auto folder = test::scratch("program_extra");
  const std::string command = kNew + " --api-version 1.3.0 --out " + folder.string();
  CHECK(run(command).exit_code == 0);
  test::file(folder, "mine.hpp", "mine\n");
  const Outcome extra = run("--check " + command);
  CHECK(extra.exit_code == 1);
  CHECK_THAT(extra.out, has_text("mine.hpp: is not generated, and nothing else may lie in this folder; remove it"));
  CHECK_THAT(extra.out, !has_text("up to date"));
}

TEST_CASE("characters that nobody sees reach no generated file, and a warning says where they are") {
  const auto folder = test::scratch("program_unseen");
  const std::vector<std::string> unseen = {"\xE2\x80\xAE", "\xE2\x80\xAA", "\xE2\x81\xA6", "\xE2\x81\xA9",
                                           "\xE2\x80\x8E", "\xE2\x80\x8F", "\xE2\x80\x8B", "\xE2\x80\xA8"};
  std::string all;
  for (const std::string& one : unseen) all += one + "a";
  const std::string header = test::file(
      folder, "x.h", "/** " + all + " */\nint f(int a);\n#define X \"" + all + "\"\n" + "#define Y \"\\u202e\"\n");
  const std::string overlay = test::file(folder, "o.json", test::overlay(""));
  const std::string out = (folder / "out").string();
  for (const std::string& command :
       {header + " --api-version 1 --overlay " + overlay + " --out " + out, "dump " + header,
        "dump --format json " + header, "diff " + test::file(folder, "old.h", "int f(int a);\n") + " " + header}) {
    INFO(command);
    const Outcome outcome = run(command);
    CHECK(outcome.exit_code == 0);
    CHECK_THAT(outcome.err, has_text("x.h:1:5: warning: ") && has_text("x.h:3:12: warning: "));
    for (const std::string& one : unseen) CHECK_THAT(outcome.out + outcome.err, !has_text(one));
  }
  for (const auto& each : std::filesystem::recursive_directory_iterator(out)) {
    if (!each.is_regular_file()) continue;
    INFO(each.path().string());
    for (const std::string& one : unseen) CHECK_THAT(read_text(each.path()), !has_text(one));
  }
  // The values of constants stay what they are.
  const std::string constants = read_text(std::filesystem::path(out) / "made_up/v1/constants.hpp");
  CHECK_THAT(constants, has_text(R"(X = "\342\200\256a\342\200\252a)") && has_text(R"(Y = "\342\200\256")"));
  CHECK_THAT(read_text(std::filesystem::path(out) / "api/1.json"), has_text(R"("\u202E")"));
}

TEST_CASE("what used to crash the program is refused with 1") {
  const auto folder = test::scratch("program_crashes");
  const std::string header =
      test::file(folder, "x.h", "typedef union { int a; float b; } U;\ntypedef struct { int t; U u; } S;\n");
  for (const char* entry :
       {R"({"for":"S.u","quote":"U u","union":{"tag":"t","members":{"a":"kA"}}})",
        R"({"for":"S.t","quote":"int t","stream":{"result":"S","state":"S","states":{},"text":"t","token":"t"}})"}) {
    const std::string overlay = test::file(folder, "o.json", test::overlay(entry));
    CHECK(run(header + " --api-version 1 --overlay " + overlay + " --out " + folder.string()).exit_code == 1);
  }
}

TEST_CASE("comments that are no UTF-8, or hold control characters, end no command, and a warning says where") {
  const auto folder = test::scratch("program_gbk");
  const std::string header = test::file(folder, "x.h",
                                        "/** \xD6\xD0\xCE\xC4 in GBK */\nint f(int n);\n"
                                        "/** \x1B[31mred\x07 \xE2\x80\xAE reversed */\n#define WORDS 3\n"
                                        "/** \xF0\x9F\x98\x80 \xC3\xA9 stay */\nint g(int n);\n");
  const std::string overlay = test::file(folder, "o.json", test::overlay(""));
  const std::string warnings = "x.h:1:5: warning: is no UTF-8, or a control character";
  for (const std::string& command : std::vector<std::string>{
           "dump " + header, "dump --format json " + header, "suggest --no-overlay " + header,
           "diff " + header + " " + header,
           header + " --api-version 1 --overlay " + overlay + " --out " + (folder / "out").string()}) {
    INFO(command);
    const Outcome outcome = run(command);
    CHECK(outcome.exit_code == 0);
    CHECK_THAT(outcome.err, has_text(warnings));
    CHECK_THAT(outcome.err, has_text("x.h:3:5: warning: "));
    CHECK_THAT(outcome.err, !has_text("x.h:5:"));
    for (const std::string& text : {outcome.out, outcome.err}) {
      CHECK_THAT(text, !has_text("\x1B"));
      CHECK_THAT(text, !has_text("\xD6"));
      CHECK_THAT(text, !has_text("\xE2\x80\xAE"));
    }
  }
  const std::string api = read_text(folder / "out/api/1.json");
  CHECK_THAT(api, has_text("\xEF\xBF\xBD in GBK"));
  CHECK_THAT(api, has_text("\xF0\x9F\x98\x80 \xC3\xA9 stay"));
  CHECK_THAT(api, has_text("[31mred"));
}

TEST_CASE("text that is no UTF-8 outside comments ends no command either") {
  const auto folder = test::scratch("program_bytes");
  const std::string header = test::file(folder, "\xD6.h", "#define X \"\xD6\xD0\"\nint f(int n);\n");
  for (const std::string command : {"dump", "dump --format json"}) {
    const Outcome outcome = run(command + " '" + header + "'");
    CHECK(outcome.exit_code == 0);
    CHECK_THAT(outcome.out, has_text("\xEF\xBF\xBD"));
  }
  CHECK(run("diff --format json '" + header + "' '" + header + "'").exit_code == 0);
  const Outcome wide = run("dump " + test::file(folder, "w.h", std::string("\xFF\xFEi\0", 4)));
  CHECK(wide.exit_code == 1);
  CHECK_THAT(wide.err, has_text("w.h:1:1: error: is UTF-16"));
  const std::string overlay = test::file(folder, "o.json", "{\"output\":\"\xD6\"}");
  const Outcome broken = run(header + " --api-version 1 --out " + folder.string() + " --overlay " + overlay);
  CHECK(broken.exit_code == 1);
  CHECK_THAT(broken.err, has_text("o.json:1:1: error: this is no JSON") && !has_text("last read: '\"\xD6'"));
}

TEST_CASE("what cannot be read to its end, or has none, is refused and not taken for empty") {
  const auto folder = test::scratch("program_unreadable");
  const std::string pipe = (folder / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (const std::string& path : {pipe, std::string("/dev/zero"), std::string("/dev/null")}) {
    const Outcome outcome = run("dump " + path);
    CHECK(outcome.exit_code == 1);
    CHECK(outcome.err == path + ": error: cannot read this: it is no file\n");
  }
  const Outcome broken = run("dump /proc/self/mem");
  CHECK(broken.exit_code == 1);
  CHECK(broken.err == "/proc/self/mem: error: cannot read this file: Input/output error\n");
  test::file(folder, "generator/bindgen.json", R"({"overlay":1})");
  const Outcome project = run("generate --root " + folder.string());
  CHECK(project.exit_code == 1);
  CHECK_THAT(project.err, has_text("generator/bindgen.json: error: \"out\" is missing\n"));
}
