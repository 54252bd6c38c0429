// How many tokens a prompt has is counted by its prefill where that costs nobody a conversation.
#include "chat/host/chat_host.hpp"
#include "server/chat/host/scripted_lender.hpp"
#include "support/catch.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;
using namespace rkllm_mcp::chat::testing;

namespace {

constexpr std::int64_t kNotCalled = -2;
constexpr std::int64_t kNothing = -1;

Turn saying(const std::string& text) {
  Turn turn;
  turn.model = "qwen3-0.6b";
  turn.messages.push_back(text_message(Role::kUser, text));
  turn.thinking = Thinking::kOff;
  return turn;
}

struct Desk {
  explicit Desk(HostOptions options = {}) : host(lender, std::move(options)) {
    lender.info.state = ModelState::kLoaded;
    lender.info.loaded_since_s = 1;
  }

  std::int64_t count(const std::string& text) {
    std::int64_t heard = kNotCalled;
    const auto counting = host.count(
        saying(text), {}, "peer", [&heard](std::optional<std::int64_t> tokens) { heard = tokens.value_or(kNothing); });
    lender.settle();
    return heard;
  }
  void answer(const std::string& text) {
    lender.model.answers = {{"Hello"}};
    Heard heard;
    const auto running = host.start(saying(text), {}, "peer", heard);
    lender.settle();
    REQUIRE_FALSE(heard.error);
  }
  std::int64_t tokens_of_last_prompt() const {
    return static_cast<std::int64_t>(lender.model.runs.back().prompt.size()) + 1;
  }

  ScriptedLender lender;
  ChatHost host;
};

}  // namespace

TEST_CASE("an idle model without a conversation counts by a run of one token, as often as it is asked") {
  Desk desk;
  for (const std::string text : {"Hi", "Something else"}) {
    const std::int64_t counted = desk.count(text);
    CHECK(counted == desk.tokens_of_last_prompt());
    CHECK(desk.lender.model.runs.back().options.max_new_tokens == 1);
  }
  CHECK(desk.lender.model.runs.size() == 2);
  CHECK(desk.host.turns() == 0);
  CHECK_FALSE(desk.lender.leased);
  CHECK_FALSE(desk.host.speed_of_model("qwen3-0.6b").tokens_per_second);

  desk.answer("Something else");  // whose prompt is there already
  CHECK(desk.lender.model.runs.at(2).prefilled == 0);
}

TEST_CASE("a long prompt is counted in slices, and gives way to whoever comes") {
  Desk desk(HostOptions{.warm_up_bytes = 50});
  const std::int64_t counted = desk.count(std::string(500, 'x'));
  CHECK(counted == desk.tokens_of_last_prompt());
  const auto& runs = desk.lender.model.runs;
  REQUIRE(runs.size() > 10);
  for (std::size_t i = 1; i < runs.size(); ++i) CHECK(runs[i].prompt.size() - runs[i - 1].prompt.size() <= 50);

  Desk busy(HostOptions{.warm_up_bytes = 50});
  busy.lender.pretend_others_wait = true;
  CHECK(busy.count(std::string(500, 'x')) == kNothing);
  CHECK(busy.lender.model.runs.empty());
}

TEST_CASE("nothing is counted where a conversation would be lost for it") {
  Desk desk;
  desk.answer("Hi");
  const std::size_t runs = desk.lender.model.runs.size();
  CHECK(desk.count("Something else") == kNothing);
  CHECK(desk.lender.model.runs.size() == runs);

  Desk strange;
  strange.lender.model.changes = 1;  // somebody has used the handle directly
  CHECK(strange.count("Hi") == kNothing);
  CHECK(strange.lender.model.runs.empty());
}

TEST_CASE("nobody waits for a count: neither for a load nor behind others") {
  Desk desk;
  desk.lender.info.state = ModelState::kOnDisk;
  CHECK(desk.count("Hi") == kNotCalled);
  desk.lender.info.state = ModelState::kLoaded;
  desk.lender.info.waiting = 1;
  CHECK(desk.count("Hi") == kNotCalled);
  desk.lender.info.waiting = 0;
  desk.lender.info.loaded_since_s.reset();  // rkllm_init has made it, for somebody's own runs
  CHECK(desk.count("Hi") == kNotCalled);
  CHECK(desk.lender.wishes.empty());
}

TEST_CASE("a count that fails, or that the runtime does not tell, gives nothing") {
  Desk desk;
  desk.lender.model.fails = true;
  CHECK(desk.count("Hi") == kNothing);
  desk.lender.model.fails = false;
  CHECK(desk.count(std::string(5000, 'x')) == kNothing);   // more than the context
  CHECK(desk.count(std::string(50000, 'x')) == kNothing);  // certainly
  CHECK(desk.count("Hi") > 0);                             // nothing was lost for those
  desk.lender.model.known.has_kv_size = false;
  CHECK(desk.count("Hi") == kNothing);
  CHECK(desk.host.turns() == 0);
}

TEST_CASE("whoever gives up a count ends its run") {
  Desk desk;
  auto counting = desk.host.count(saying("Hi"), {}, "peer", [](std::optional<std::int64_t>) { FAIL("given up"); });
  while (!desk.lender.model.running) REQUIRE(desk.lender.step());
  desk.lender.model.hold();  // so that nothing but an abort ends it
  desk.lender.settle();
  CHECK(desk.lender.model.running);
  counting.reset();
  desk.lender.settle();
  CHECK_FALSE(desk.lender.model.running);
  CHECK(desk.count("Something else") > 0);  // what nobody waits for is nobody's conversation
  CHECK(desk.host.turns() == 0);
  CHECK_FALSE(desk.lender.leased);
}
