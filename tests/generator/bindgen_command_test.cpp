#include "support/catch.hpp"
#include "temporary.hpp"

#include "bindgen_command.hpp"

using namespace bindgen;

TEST_CASE("the command line is understood, and refused with a reason") {
  const std::string root = REPOSITORY;
  const CommandLine check = parse_command_line({"--check", "--root", root});
  CHECK(check.command == Command::kCheck);
  CHECK(check.out == root + "/generated");
  CHECK(check.requests.back().version == "1.3.0");
  CHECK(check.repeat == "rkllm-bindgen generate --root " + root);
  const CommandLine other = parse_command_line({"x.h", "--api-version", "2.0", "--overlay", "o", "--out", "d"});
  CHECK(other.command == Command::kGenerate);
  CHECK(other.requests.front().header == "x.h");
  CHECK(parse_command_line({"--check", "my x.h", "--api-version", "1", "--overlay", "o", "--out", "it's"}).repeat ==
        R"(rkllm-bindgen generate 'my x.h' --api-version 1 --overlay o --out 'it'\''s')");
  CHECK(parse_command_line({"--help"}).command == Command::kHelp);
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--what"},
                                             {"x.h"},
                                             {"--api-version", "1"},
                                             {"x.h", "--api-version", "1.4+beta"},
                                             {"--out"},
                                             {"x.h", "--api-version", "1", "--overlay", "o", "--out", ""},
                                             {"x.h", "--api-version", "1", "--overlay", "", "--out", "d"},
                                             {"", "--api-version", "1", "--overlay", "o", "--out", "d"},
                                             {"x.h", "--api-version", "", "--overlay", "o", "--out", "d"},
                                             {"--check", "--root", ""},
                                             {"--check", "--include", ""},
                                             {"a.h", "b.h", "--api-version", "1"},
                                             {"x.h", "--api-version", "1", "--format", "json"}}) {
    INFO(wrong.front());
    CHECK_THROWS_AS(parse_command_line(wrong), UsageError);
  }
}

TEST_CASE("the commands about headers are understood, and refused with a reason") {
  const CommandLine diff = parse_command_line({"diff", "a.h", "b.h", "--format", "markdown", "--include", "d"});
  CHECK(diff.command == Command::kDiff);
  CHECK(diff.headers == std::vector<std::string>{"a.h", "b.h"});
  CHECK(diff.format == Format::kMarkdown);
  CHECK(diff.clang_options == std::vector<std::string>{"-idirafter", "d"});
  CHECK(parse_command_line({"diff", "a.h", "b.h"}).format == Format::kText);
  CHECK(parse_command_line({"dump", "a.h"}).format == Format::kTree);
  CHECK(parse_command_line({"suggest", "a.h", "--overlay", "o"}).overlay == "o");
  CHECK(parse_command_line({"suggest", "a.h", "--root", "nowhere"}).overlay.empty());
  CHECK(parse_command_line({"./diff", "--api-version", "1", "--overlay", "o", "--out", "d"}).requests.front().header ==
        "./diff");
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"diff", "a.h"},
                                             {"diff", "a.h", "b.h", "c.h"},
                                             {"diff", "a.h", "b.h", "--format", "tree"},
                                             {"diff", "a.h", "b.h", "--overlay", "o"},
                                             {"dump"},
                                             {"dump", "a.h", "--format", "text"},
                                             {"dump", "a.h", "--check"},
                                             {"suggest", "a.h", "--format", "json"},
                                             {"suggest", "a.h", "--docs"},
                                             {"suggest", "a.h", "--overlay", "o", "--no-overlay"},
                                             {"dump", "a.h", "--no-overlay"},
                                             {"dump", "a.h", "-D"},
                                             {"dump", ""},
                                             {"dump", "a.h", "-I", ""},
                                             {"dump", "a.h", "--", "--target=mips"},
                                             {"dump", "a.h", "--", "-m32"},
                                             {"suggest", "a.h", "--out", "d"}}) {
    INFO(wrong.back());
    CHECK_THROWS_AS(parse_command_line(wrong), UsageError);
  }
}

TEST_CASE("what is for clang is passed on: the usual options by themselves, and everything behind --") {
  const auto options = [](const std::vector<std::string>& arguments) {
    return parse_command_line(arguments).clang_options;
  };
  using Texts = std::vector<std::string>;
  CHECK(options({"dump", "-DA=1", "-D", "B", "a.h", "-Ii", "-isystem", "s", "--sysroot=r", "--std=c11", "-U", "C"}) ==
        Texts{"-DA=1", "-D", "B", "-Ii", "-isystem", "s", "--sysroot=r", "-std=c11", "-U", "C"});
  CHECK(options({"dump", "a.h", "--", "-include", "b.h", "--check"}) == Texts{"-include", "b.h", "--check"});
  const CommandLine line =
      parse_command_line({"x.h", "--api-version", "1", "--overlay", "o", "--out", "d", "-DX", "--", "-w"});
  CHECK(line.requests.front().clang_options == Texts{"-DX", "-w"});
  CHECK(line.repeat == "rkllm-bindgen generate x.h --api-version 1 --overlay o --out d -DX -- -w");
  CHECK(parse_command_line({"generate", "x.h", "--api-version", "1", "--overlay", "o", "--out", "d"}).requests.size() ==
        1);
  CHECK(parse_command_line({}).command == Command::kHelp);
  CHECK(parse_command_line({"--version"}).command == Command::kVersion);
  CHECK(parse_command_line({"generate", "--root", REPOSITORY}).command == Command::kGenerate);
}
