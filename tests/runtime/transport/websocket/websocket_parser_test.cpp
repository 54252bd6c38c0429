#include "transport/websocket/websocket_parser.hpp"

#include "../mutation.hpp"
#include "support/catch.hpp"
#include "support/client_frames.hpp"
#include "support/frames_in_words.hpp"

#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

using Events = std::vector<std::string>;

Events read(std::string_view bytes, std::size_t piece) { return frames_in_words(bytes, piece, 200); }

Events read(const std::string& bytes) {
  const auto events = read(bytes, bytes.size());
  CHECK(read(bytes, 1) == events);
  CHECK(read(bytes, 3) == events);
  return events;
}

}  // namespace

TEST_CASE("WebSocket frames: messages of every length encoding are unmasked, however they are cut") {
  for (const std::size_t length : {0U, 1U, 3U, 4U, 7U, 8U, 9U, 125U, 126U, 200U}) {
    const std::string message(length, 'm');
    CHECK(read(text_frame(message) + text_frame("next")) == Events{"text " + message, "text next"});
  }
}

TEST_CASE("WebSocket frames: fragments are joined, and control frames may stand between them") {
  CHECK(read(client_frame(kText, "one ") + client_frame(kFinal | kPing, "?") + client_frame(0, "two ") +
             client_frame(0, "") + client_frame(kFinal | kPong, "!") + client_frame(kFinal, "three")) ==
        Events{"ping ?", "text one two three"});
}

TEST_CASE("WebSocket frames: text must be UTF-8, over fragments too, and is refused as early as that is certain") {
  CHECK(read(client_frame(kText, "\xE2\x82") + client_frame(kFinal, "\xAC")) == Events{"text \xE2\x82\xAC"});
  CHECK(read(text_frame("\xE2\x82")) == Events{"violation 1007"});
  CHECK(read(text_frame("\xFF")) == Events{"violation 1007"});
  CHECK(read(client_frame(kText, "\xE2\x82") + client_frame(0, "x")) == Events{"violation 1007"});
  CHECK(read(client_frame(kText, "\xED\xA0")) == Events{"violation 1007"});
}

TEST_CASE("WebSocket frames: an oversized message is reported once and skipped") {
  const std::string large(201, 'x');
  CHECK(read(text_frame(large) + text_frame("next")) == Events{"oversized 201", "text next"});
  const std::string half(150, 'x');
  CHECK(read(client_frame(kText, half) + client_frame(0, half) + client_frame(kFinal | kPing, "?") +
             client_frame(kFinal, large) + text_frame("next")) == Events{"oversized 300", "ping ?", "text next"});
}

TEST_CASE("WebSocket frames: a message for which there is no memory is reported once, with how it began, and skipped") {
  const std::string half(MemoryShare::kGuaranteed, 'x');  // has room also where there is none
  const auto events =
      frames_in_words(client_frame(kText, half) + client_frame(0, half) + client_frame(kFinal | kPing, "?") +
                          client_frame(kFinal, half) + text_frame("next"),
                      half.size(), 4 * half.size(), MemoryBudget(1));
  REQUIRE(events.size() == 3);
  CHECK(std::string_view(events[0]).substr(0, 9) == "no room x");
  CHECK(events[1] == "ping ?");
  CHECK(events[2] == "text next");
}

TEST_CASE("WebSocket frames: violations of the protocol get their close code and end the reading") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"violation 1002", std::string("\x81\x02hi", 4)},               // unmasked
      {"violation 1002", client_frame(kFinal | 0x40 | kText, "hi")},  // reserved bits
      {"violation 1002", client_frame(kFinal | 0x20 | kText, "hi")},
      {"violation 1002", client_frame(kFinal | 0x10 | kText, "hi")},
      {"violation 1002", client_frame(kFinal | 3, "hi")},  // opcodes
      {"violation 1002", client_frame(kFinal | 7, "hi")},
      {"violation 1002", client_frame(kFinal | 11, "hi")},
      {"violation 1002", client_frame(kFinal | 15, "hi")},
      {"violation 1002", client_frame(kPing, "hi")},  // a fragmented control frame
      {"violation 1002", client_frame(kFinal | kPing, std::string(126, 'x'))},
      {"violation 1002", client_frame(kFinal, "hi")},  // a continuation of nothing
      {"violation 1002", client_frame(kText, "hi") + text_frame("hi")},
      {"violation 1002", std::string("\x81\xFF\x80\0\0\0\0\0\0\0\0\0\0\0", 14)},  // a negative length
      {"violation 1003", client_frame(kFinal | kBinary, "hi")},
      {"violation 1002", client_frame(kFinal | kClose, "x")},  // half a code
      {"violation 1007", client_frame(kFinal | kClose, close_payload(1000, "\xFF"))}};
  for (const auto& [expected, bytes] : cases) CHECK(read(bytes + text_frame("after")) == Events{expected});
}

TEST_CASE("WebSocket frames: close codes that may not be sent are violations, the others are echoed") {
  for (const unsigned code : {0U, 999U, 1004U, 1005U, 1006U, 1015U, 1016U, 2000U, 2999U, 5000U, 65535U}) {
    CAPTURE(code);
    CHECK(read(client_frame(kFinal | kClose, close_payload(code))) == Events{"violation 1002"});
  }
  for (const unsigned code : {1000U, 1001U, 1002U, 1003U, 1007U, 1011U, 1014U, 3000U, 4000U, 4999U}) {
    CAPTURE(code);
    const auto payload = close_payload(code, "why");
    CHECK(read(client_frame(kFinal | kClose, payload) + text_frame("after")) == Events{"closing " + payload});
  }
  CHECK(read(client_frame(kFinal | kClose, "")) == Events{"closing "});
}

TEST_CASE("WebSocket frames: frames fed in any pieces are the same frames, mutated ones too") {
  const std::vector<std::string> seeds = {
      text_frame("{\"id\":1}") + text_frame(std::string(130, 'x')) + client_frame(kFinal | kClose, close_payload(1000)),
      client_frame(kText, "\xE4\xB8") + client_frame(kFinal | kPing, "ping") + client_frame(kFinal, "\xAD") +
          text_frame("end"),
      client_frame(kText, std::string(150, 'y')) + client_frame(kFinal, std::string(150, 'z')) + text_frame("end")};
  const std::string zeros(8, '\0');
  const std::vector<std::string_view> morsels = {
      "\x81", "\x80", "\x88", "\x89", "\x82", "\xFE", "\xFF", zeros, "\xFF\xFF\xFF\xFF"};
  Mutator mutator(2);
  for (int i = 0; i < 20'000; ++i) {
    const auto input = mutator.mutate(seeds[mutator.below(seeds.size())], morsels);
    const auto whole = read(input, std::max<std::size_t>(1, input.size()));
    if (read(input, 1) != whole || read(input, 1 + mutator.below(7)) != whole) FAIL("pieces matter in round " << i);
    for (const auto& event : whole) REQUIRE(event.size() <= 5 + 200 + 10);
  }
}
