#include "text/regular_file.hpp"

#include "support/catch.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

using namespace rkllm_mcp;

namespace {

// A folder of this test alone, and its files.
struct FileFolder {
  FileFolder() { std::filesystem::create_directories(folder); }
  FileFolder(const FileFolder&) = delete;
  FileFolder& operator=(const FileFolder&) = delete;
  ~FileFolder() { std::filesystem::remove_all(folder); }

  std::string write(const std::string& text, mode_t mode = 0600) const {
    const std::string path = folder / "file";
    std::ofstream(path, std::ios::binary) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }

  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("regular-file-" + std::to_string(::getpid()));
};

}  // namespace

TEST_CASE("a file is read whole, whatever its bytes are, if it has no more of them than may be") {
  const FileFolder files;
  const std::string text = std::string("a\0b\r\n", 5) + std::string(9000, 'x');
  const std::string path = files.write(text);
  CHECK(read_regular_file(path, text.size()) == text);
  CHECK_THROWS_WITH(read_regular_file(path, text.size() - 1), path + ": is too large");
  CHECK(read_regular_file(files.write(""), 0).empty());
}

TEST_CASE("what is no file is refused with its path and the reason, and without waiting for anybody") {
  const FileFolder files;
  const std::string absent = files.folder / "absent";
  CHECK_THROWS_WITH(read_regular_file(absent, 10), absent + ": No such file or directory");
  CHECK_THROWS_WITH(read_regular_file(files.folder, 10), files.folder.string() + ": not a file");
  const std::string pipe = files.folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(read_regular_file(pipe, 10), pipe + ": not a file");
  CHECK_THROWS_WITH(read_regular_file("/dev/zero", 10), "/dev/zero: not a file");
}

TEST_CASE("a file of the kernel's, which does not know its size, is read whole") {
  CHECK_THAT(read_regular_file("/proc/self/status", 100'000), test::has_text("Pid:"));
}

TEST_CASE("who only wants to try is given nothing where there is an error") {
  const FileFolder files;
  const std::string path = files.write("text");
  CHECK(try_read_regular_file(path, 4) == "text");
  CHECK_FALSE(try_read_regular_file(path, 3));
  CHECK_FALSE(try_read_regular_file(files.folder, 3));
}

TEST_CASE("a file with a secret is read only where nobody else can read it, and no error tells of its contents") {
  const FileFolder files;
  CHECK(read_private_file(files.write("secret", 0600)) == "secret");
  CHECK(read_private_file(files.write("secret", 0400)) == "secret");
  for (const mode_t mode : {0640, 0620, 0610, 0604, 0602, 0601}) {
    const std::string path = files.write("secret", mode);
    CHECK_THROWS_WITH(read_private_file(path), path + ": is open to other users; close it with chmod 600");
  }
}

TEST_CASE("a file with a secret that is larger than any secret is refused") {
  const FileFolder files;
  const std::string path = files.write(std::string((std::size_t{1} << 20U) + 1, 'x'));
  CHECK_THROWS_WITH(read_private_file(path), path + ": is too large");
}
