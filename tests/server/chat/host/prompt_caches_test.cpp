#include "chat/host/prompt_caches.hpp"

#include "support/catch.hpp"
#include "support/process.hpp"

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;
using rkllm_mcp::test::TemporaryDirectory;
using rkllm_mcp::test::write_file;

namespace {

// A folder that is not made yet, and caches in it with room for a hundred bytes.
struct CachesInFolder {
  // As a run does that writes a cache of so many bytes. Where it has written it.
  std::string write(const std::string& text, std::size_t bytes = 10, const std::string& identity = "model") {
    const std::string path = caches.path_for(identity, text);
    REQUIRE_FALSE(path.empty());
    write_file(path, std::string(bytes, 'x'));
    caches.written(path, identity, text);
    return path;
  }
  std::string found_for(const std::string& prompt, std::size_t known = 0, const std::string& identity = "model") {
    const auto found = caches.best_for(identity, prompt, known);
    return found ? found->text : "nothing";
  }

  TemporaryDirectory parent;
  const std::string folder = parent / "caches";
  PromptCaches caches{folder, 100};
};

mode_t mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777U;
}

}  // namespace

TEST_CASE("the cache that shares most with a prompt is found, if that is more than the model has already") {
  CachesInFolder kept;
  CHECK(kept.found_for("abc") == "nothing");
  kept.write("abX");
  const std::string path = kept.write("abcY");
  CHECK(kept.found_for("abcdef") == "abcY");
  CHECK(kept.caches.best_for("model", "abcdef", 0)->path == path);
  CHECK(kept.found_for("abcdef", 2) == "abcY");
  CHECK(kept.found_for("abcdef", 3) == "nothing");
  CHECK(kept.found_for("b") == "nothing");
  CHECK(kept.found_for("") == "nothing");
}

TEST_CASE("a cache is of one model alone") {
  CachesInFolder kept;
  kept.write("abc", 10, "one");
  CHECK(kept.found_for("abc", 0, "other") == "nothing");
  kept.write("abcd", 10, "other");
  CHECK(kept.found_for("abc", 0, "one") == "abc");
  CHECK(kept.caches.files() == 2);
}

TEST_CASE("the folder and its files are open to their owner alone, and no two have one name") {
  CachesInFolder kept;
  CHECK_FALSE(std::filesystem::exists(kept.folder));
  const std::string first = kept.write("a");
  const std::string second = kept.write("b");
  CHECK(first != second);
  CHECK(mode_of(kept.folder) == 0700);
  CHECK(mode_of(first) == 0600);
}

TEST_CASE("a text whose cache is there is not written again") {
  CachesInFolder kept;
  kept.write("abc");
  CHECK(kept.caches.path_for("model", "abc").empty());
  CHECK_FALSE(kept.caches.path_for("other", "abc").empty());
  CHECK_FALSE(kept.caches.path_for("model", "abcd").empty());
}

TEST_CASE("the cache of a beginning goes when the whole is there, and others stay") {
  CachesInFolder kept;
  const std::string beginning = kept.write("ab");
  const std::string other = kept.write("ac");
  kept.write("abc");
  CHECK_FALSE(std::filesystem::exists(beginning));
  CHECK(std::filesystem::exists(other));
  CHECK(kept.caches.files() == 2);
  CHECK(kept.caches.bytes() == 20);
}

TEST_CASE("the one that was used longest ago goes first, as soon as there is one byte too many") {
  CachesInFolder kept;
  kept.write("a", 40);
  kept.write("b", 30);
  kept.write("c", 30);
  CHECK(kept.caches.bytes() == 100);
  CHECK(kept.found_for("a") == "a");
  kept.write("d", 1);
  CHECK(kept.found_for("b") == "nothing");
  CHECK(kept.caches.files() == 3);
  CHECK(kept.caches.bytes() == 71);
  const std::string too_long = kept.write("e", 101);
  CHECK(kept.caches.files() == 0);
  CHECK(kept.caches.bytes() == 0);
  CHECK_FALSE(std::filesystem::exists(too_long));
}

TEST_CASE("what a run has not written, or left empty, is no cache") {
  CachesInFolder kept;
  kept.caches.written(kept.caches.path_for("model", "a"), "model", "a");
  CHECK(kept.caches.files() == 0);
  const std::string empty = kept.caches.path_for("model", "a");
  write_file(empty, "");
  kept.caches.written(empty, "model", "a");
  CHECK(kept.caches.files() == 0);
  CHECK_FALSE(std::filesystem::exists(empty));
}

TEST_CASE("a cache that is forgotten is gone with its file, and so is one that was still being written") {
  CachesInFolder kept;
  const std::string path = kept.write("a");
  kept.caches.forget(path);
  CHECK(kept.found_for("a") == "nothing");
  CHECK(kept.caches.bytes() == 0);
  CHECK_FALSE(std::filesystem::exists(path));
  const std::string written = kept.caches.path_for("model", "b");
  write_file(written, "x");
  kept.caches.forget(written);
  CHECK_FALSE(std::filesystem::exists(written));
}

TEST_CASE("all can be forgotten, and that is counted also where there are none") {
  CachesInFolder kept;
  kept.write("a");
  kept.write("b");
  CHECK(kept.caches.times_forgotten() == 0);
  kept.caches.forget_all();
  kept.caches.forget_all();
  CHECK(kept.caches.times_forgotten() == 2);
  CHECK(kept.caches.files() == 0);
  CHECK(kept.caches.bytes() == 0);
  CHECK(std::filesystem::is_empty(kept.folder));
}

TEST_CASE("caches go at the beginning and at the end, and what else is in the folder stays") {
  TemporaryDirectory folder;
  write_file(folder / "1-1.kvcache", "of an earlier process");
  write_file(folder / "notes.txt", "somebody's");
  std::string path;
  {
    PromptCaches caches(folder.path(), 100);
    CHECK_FALSE(std::filesystem::exists(folder / "1-1.kvcache"));
    path = caches.path_for("model", "a");
    write_file(path, "x");
    caches.written(path, "model", "a");
    CHECK(caches.files() == 1);
  }
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(std::filesystem::exists(folder / "notes.txt"));
}

TEST_CASE("without a folder, or without room, or where no folder can be made, nothing is kept") {
  TemporaryDirectory folder;
  write_file(folder / "1-1.kvcache", "somebody's");
  CHECK(PromptCaches(folder.path(), 0).path_for("model", "a").empty());
  CHECK(std::filesystem::exists(folder / "1-1.kvcache"));
  CHECK(PromptCaches("", 100).path_for("model", "a").empty());
  write_file(folder / "file", "");
  CHECK(PromptCaches(folder / "file/caches", 100).path_for("model", "a").empty());
}
