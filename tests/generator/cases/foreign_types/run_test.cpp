#include "expected.hpp"

#include "golden_caller.hpp"

#include <type_traits>

namespace rkllm_mcp::v1_foreign_types {

using namespace bindgen::test;

static_assert(std::is_same_v<loudness_t, std::uint16_t> && sizeof(word_t) == sizeof(void*));

TEST_CASE("scalars whose type an included header declares are bound by their size and sign") {
  GoldenCaller caller(kAbiSet, {{"play", symbol(+[](const Sound* sound, const letter_t* name, word_t word) {
                                   return static_cast<int>(sound->level + word) + (name[0] == 'a' ? 1 : 0);
                                 })}});
  const Json sound = {{"level", 65535}, {"time", 0.5}};
  CHECK(caller.call("play", {{"sound", sound}, {"name", "abc"}, {"word", 2}}) == Json{{"value", 65538}});
  CHECK_THAT(caller.complaint("play", {{"sound", {{"level", 65536}}}, {"name", "abc"}, {"word", 2}}),
             has_text("params.sound.level"));
}

}  // namespace rkllm_mcp::v1_foreign_types
