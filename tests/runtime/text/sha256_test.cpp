#include "text/sha256.hpp"

#include "support/catch.hpp"
#include "support/process.hpp"
#include "text/ascii.hpp"

#include <cstddef>
#include <string>

using namespace rkllm_mcp;

namespace {

// Of FIPS 180-4 and its examples.
const std::string kOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const std::string kOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const std::string kOfMillionA = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

const auto kGoesOn = [] { return true; };

}  // namespace

TEST_CASE("SHA-256 is what the standard says") {
  CHECK(in_hexadecimal(sha256("")) == kOfNothing);
  CHECK(in_hexadecimal(sha256("abc")) == kOfAbc);
  CHECK(in_hexadecimal(sha256(std::string(1'000'000, 'a'))) == kOfMillionA);
}

TEST_CASE("SHA-256 of pieces is that of the whole, wherever it was cut") {
  for (std::size_t cut = 0; cut <= 3; ++cut) {
    Sha256Sum sum;
    sum.add(std::string("abc").substr(0, cut));
    sum.add("");
    sum.add(std::string("abc").substr(cut));
    CHECK(in_hexadecimal(sum.finish()) == kOfAbc);
  }
  CHECK(in_hexadecimal(Sha256Sum().finish()) == kOfNothing);
}

TEST_CASE("SHA-256 of a file is that of its bytes, also of one that is longer than what is read at a time") {
  const test::TemporaryDirectory directory;
  test::write_file(directory / "empty", "");
  test::write_file(directory / "abc", "abc");
  const std::string text(3'500'000, 'x');
  test::write_file(directory / "long", text);
  CHECK(in_hexadecimal(*sha256_of_file(directory / "empty", kGoesOn)) == kOfNothing);
  CHECK(in_hexadecimal(*sha256_of_file(directory / "abc", kGoesOn)) == kOfAbc);
  CHECK(sha256_of_file(directory / "long", kGoesOn) == sha256(text));
}

TEST_CASE("there is no SHA-256 of a file that cannot be read, or that nobody waits for any more") {
  const test::TemporaryDirectory directory;
  CHECK_FALSE(sha256_of_file(directory / "nothing", kGoesOn));
  CHECK_FALSE(sha256_of_file(directory.path(), kGoesOn));
  test::write_file(directory / "long", std::string(3'500'000, 'x'));
  int asked = 0;
  CHECK_FALSE(sha256_of_file(directory / "long", [&asked] { return ++asked < 2; }));
  CHECK(asked == 2);
}

TEST_CASE("bytes in hexadecimal are two digits each, in lower case") {
  constexpr unsigned char kBytes[] = {0x00, 0x0f, 0xa0, 0xff, 0x7b};
  CHECK(in_hexadecimal(kBytes) == "000fa0ff7b");
  CHECK(in_hexadecimal({}).empty());
}
