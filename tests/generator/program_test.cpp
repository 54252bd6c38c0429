// The program itself: what it prints where, and with what it exits.
#include "support/catch.hpp"
#include "temporary.hpp"

#include <sys/wait.h>

#include <cstdlib>

using namespace bindgen;

namespace {

struct Outcome {
  int exit_code;
  std::string out;
  std::string err;
};

Outcome run(const std::string& arguments) {
  const auto folder = test::scratch("program");
  const std::string out = (folder / "out").string();
  const std::string err = (folder / "err").string();
  const std::string command = "cd '" REPOSITORY "' && '" PROGRAM "' " + arguments + " >'" + out + "' 2>'" + err + "'";
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
  CHECK(equal.out == "# " + kNew + " → " + kNew + "\n\nNo difference.\n");
}

TEST_CASE("dump prints the model, as a tree unless JSON is asked for") {
  const Outcome tree = run("dump " + kNew);
  CHECK(tree.exit_code == 0);
  CHECK(tree.out.find("struct RKLLMParam, size 184/176, align 8/4\n") != std::string::npos);
  CHECK(run("dump " + kNew + " --format json").out.find("{\n \"header\": \"rkllm_1.3.0.h\"") == 0);
}

TEST_CASE("suggest prints entries only, and complaints beside them") {
  const Outcome open = run("suggest " + kOld);
  CHECK(open.exit_code == 0);
  CHECK(open.out.find(R"({"for":"RKLLMExtendParam.reserved","quote":"uint8_t reserved[104]","unused":{}},)") == 0);
  CHECK(open.err.empty());
  const Outcome stale = run("suggest " + kOld + " --overlay generator/overlay/rkllm.overlay.json");
  CHECK(stale.exit_code == 1);
  CHECK(stale.err.find("rkllm_1.2.3.h:") != std::string::npos);
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
