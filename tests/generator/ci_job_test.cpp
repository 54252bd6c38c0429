// The CI job that docs/generator.md offers to other repositories, run: its commands are taken from the text, and played
// in a repository made up for it, as GitHub would play them. Only installing packages and compiling are left out.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "temporary.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

using namespace bindgen;
using rkllm_mcp::test::has_text;

namespace {

namespace fs = std::filesystem;

// The script of the job's step of this name.
std::string script_of(const std::string& step) {
  const auto lines = lines_of(read_text(REPOSITORY "/docs/generator.md"));
  auto line = std::find(lines.begin(), lines.end(), "      - name: " + step);
  line = std::find(line, lines.end(), "        run: |");
  if (line == lines.end()) throw std::runtime_error("docs/generator.md has no step \"" + step + "\" with commands");
  const std::string indent(10, ' ');
  std::string script;
  while (++line != lines.end() && line->compare(0, indent.size(), indent) == 0) {
    script += line->substr(indent.size()) + "\n";
  }
  return script;
}

struct Outcome {
  int exit_code;
  std::string said;
};

// Somebody's repository with a header, an overlay and bindings, checked out with its history, and rkllm-mcp in it.
class Workspace {
 public:
  explicit Workspace(const std::string& name) : folder_(test::scratch("ci_" + name)), root_(folder_ / "work") {
    fs::create_directories(root_ / "vendor");
    fs::create_directories(root_ / "bindings");
    fs::copy_file(test::kHeader, header());
    fs::copy_file(test::kOverlay, root_ / "bindings/overlay.json");
    fs::create_directory_symlink(REPOSITORY, root_ / "rkllm-mcp");
    fs::create_directories(root_ / "build/bin");
    fs::create_symlink(rkllm_mcp::test::built_program("rkllm-bindgen"), root_ / "build/bin/rkllm-bindgen");
    must(
        "build/bin/rkllm-bindgen vendor/rkllm.h --api-version 1.3.0 --overlay bindings/overlay.json "
        "--out bindings/generated");
    must("git init -q && git symbolic-ref HEAD refs/heads/main && git add bindings");
    must("git -c user.name=Test -c user.email=test@example.org commit -q -m 'Bindings, yet without the header'");
    must("git update-ref refs/remotes/origin/before_the_header HEAD && git add vendor");
    must("git -c user.name=Test -c user.email=test@example.org commit -q -m 'The header'");
    must("git update-ref refs/remotes/origin/main HEAD");
  }

  fs::path header() const { return root_ / "vendor/rkllm.h"; }
  fs::path bindings() const { return root_ / "bindings/generated"; }
  const fs::path& root() const { return root_; }
  std::string summary() const { return fs::exists(folder_ / "summary") ? read_text(folder_ / "summary") : ""; }

  // As GitHub runs a step: a file, played by bash -e.
  Outcome play(const std::string& step, const std::string& base = "main") const {
    const std::string script = test::file(folder_, "step.sh", script_of(step));
    return run("GITHUB_BASE_REF=" + base + " GITHUB_STEP_SUMMARY='" + (folder_ / "summary").string() + "' PATH='" +
               (folder_ / "bin").string() + "':\"$PATH\" bash -e '" + script + "'");
  }

  // A program of this name that the steps find before the real one.
  void stand_in(const std::string& name, const std::string& script) const {
    const std::string path = test::file(folder_ / "bin", name, "#!/bin/sh\n" + script);
    fs::permissions(path, fs::perms::owner_all);
  }

  void append_to_header(const std::string& text) const { test::write_text(header(), read_text(header()) + text); }
  void replace_in_header(const std::string& old, const std::string& now) const {
    std::string text = read_text(header());
    const auto at = text.find(old);
    REQUIRE(at != std::string::npos);
    test::write_text(header(), text.replace(at, old.size(), now));
  }

 private:
  Outcome run(const std::string& command) const {
    const std::string said = (folder_ / "said").string();
    const int status = std::system(("cd '" + root_.string() + "' && unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE && (" +
                                    command + ") >'" + said + "' 2>&1")
                                       .c_str());
    REQUIRE(WIFEXITED(status));
    return {WEXITSTATUS(status), read_text(said)};
  }
  void must(const std::string& command) const {
    const Outcome outcome = run(command);
    INFO(command << "\n" << outcome.said);
    REQUIRE(outcome.exit_code == 0);
  }

  fs::path folder_;
  fs::path root_;
};

const std::string kBuild = "Build the generator";
const std::string kCheck = "The bindings are what the header and the overlay make";
const std::string kAnnounce = "A header that breaks programs is announced";

}  // namespace

TEST_CASE("the CI job of the documentation configures the generator with the options it names, and finds its target") {
  const Workspace work("build");
  const fs::path program = rkllm_mcp::test::built_program("rkllm-bindgen");
  CHECK(program.parent_path().filename() == "bin");  // so is it where the other steps look for it
  fs::remove_all(work.root() / "build");
  work.stand_in("sudo", "echo \"sudo $*\"\n");
  // Compiling is what this test program itself depends on; to see the target is enough.
  work.stand_in("cmake",
                "PATH=${PATH#*:}\nif [ \"$*\" = '--build build --target rkllm-bindgen' ]; then\n"
                "  exec cmake --build build --target help\nfi\nexec cmake \"$@\"\n");
  const Outcome outcome = work.play(kBuild);
  INFO(outcome.said);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.said, has_text("sudo apt-get install"));
  CHECK_THAT(outcome.said, has_text("rkllm-bindgen"));
  CHECK_THAT(outcome.said, !has_text("is not built"));
}

TEST_CASE("the CI job of the documentation passes current bindings, and fails when one is changed by hand or missing") {
  const Workspace work("check");
  const Outcome current = work.play(kCheck);
  CHECK(current.said.empty());
  CHECK(current.exit_code == 0);
  const fs::path enums = work.bindings() / "rkllm_mcp/v1_3_0/enums.hpp";
  const std::string text = read_text(enums);
  test::write_text(enums, text + "// hand edit\n");
  const Outcome edited = work.play(kCheck);
  CHECK(edited.exit_code == 1);
  CHECK_THAT(edited.said, has_text("-// hand edit"));
  fs::remove(enums);
  CHECK(work.play(kCheck).exit_code == 1);
  test::write_text(enums, text);
  work.append_to_header("int rkllm_more(int a);\n");
  CHECK(work.play(kCheck).exit_code == 1);
}

TEST_CASE("the CI job of the documentation warns of a header that breaks programs, with the changes as its summary") {
  const Workspace work("breaking");
  work.replace_in_header("int32_t max_context_len;", "int64_t max_context_len;");
  const Outcome outcome = work.play(kAnnounce);
  INFO(outcome.said);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.said, has_text("::warning::rkllm.h has breaking changes"));
  CHECK_THAT(work.summary(), has_text("max_context_len"));
}

TEST_CASE("the CI job of the documentation does not warn of additions, nor of a header that is new") {
  const Workspace additions("additions");
  additions.append_to_header("int rkllm_more(int a);\n");
  const Outcome added = additions.play(kAnnounce);
  CHECK(added.exit_code == 0);
  CHECK_THAT(added.said, !has_text("::warning::"));
  CHECK_THAT(additions.summary(), has_text("rkllm_more"));
  const Workspace first("new");
  const Outcome is_new = first.play(kAnnounce, "before_the_header");
  CHECK(is_new.exit_code == 0);
  CHECK(first.summary().empty());
}

TEST_CASE("the CI job of the documentation fails when the header cannot be read") {
  const Workspace work("unreadable");
  work.append_to_header("#include \"not_there.h\"\n");
  const Outcome outcome = work.play(kAnnounce);
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.said, has_text("not_there.h"));
}
