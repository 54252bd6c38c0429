#include "models/file_digests.hpp"

#include "support/catch.hpp"
#include "support/process.hpp"

#include <asio/io_context.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace rkllm_mcp::test {
namespace {

constexpr const char* kOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

// What is being computed is ready when the loop has nothing left to do.
void await_digests(asio::io_context& loop) {
  loop.restart();
  loop.run();
}

}  // namespace

TEST_CASE("a file's digest is there after the first question for it, and until the file changes") {
  const TemporaryDirectory directory;
  write_file(directory / "model.rkllm", "abc");
  asio::io_context loop;
  FileDigests digests(loop);
  CHECK_FALSE(digests.of(directory / "model.rkllm", 3, 1));
  CHECK_FALSE(digests.of(directory / "model.rkllm", 3, 1));  // and is not computed twice meanwhile
  await_digests(loop);
  CHECK(digests.of(directory / "model.rkllm", 3, 1) == kOfAbc);

  write_file(directory / "model.rkllm", "");
  CHECK_FALSE(digests.of(directory / "model.rkllm", 0, 2));
  await_digests(loop);
  CHECK(digests.of(directory / "model.rkllm", 0, 2) ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("a file that cannot be read has no digest") {
  const TemporaryDirectory directory;
  asio::io_context loop;
  FileDigests digests(loop);
  for (const std::string& path : {directory / "absent", directory.path()}) {
    CHECK_FALSE(digests.of(path, 1, 1));
    await_digests(loop);
    CHECK_FALSE(digests.of(path, 1, 1));
  }
}

TEST_CASE("a file that takes minutes to read does not keep the server") {
  const TemporaryDirectory directory;
  write_file(directory / "big.rkllm", "");
  std::filesystem::resize_file(directory / "big.rkllm", std::uintmax_t{1} << 40U);  // takes no room on the disk
  asio::io_context loop;
  FileDigests digests(loop);
  CHECK_FALSE(digests.of(directory / "big.rkllm", 1, 1));
  digests.stop();
  await_digests(loop);
  CHECK_FALSE(digests.of(directory / "big.rkllm", 1, 1));
}

}  // namespace rkllm_mcp::test
