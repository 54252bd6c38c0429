// A pull whose client reads as a test wants it, without sockets.
#include "chat/http/pull_exchange.hpp"

#include "support/catch.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

class ScriptedReader final : public http::Exchange {
 public:
  void respond(http::Response response) override { text = response.body; }
  void start_stream(int /*status*/, const http::Headers& /*headers*/) override {}
  void write(std::string_view bytes) override { text += bytes; }
  void finish() override {}
  bool ready() const override { return is_ready; }
  bool closed() const override { return false; }
  bool has_room_for(std::size_t /*bytes*/) const override { return true; }

  std::size_t count_of(std::string_view words) const {
    std::size_t count = 0;
    for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
    return count;
  }

  std::string text;
  bool is_ready = true;
};

// The test is the one who pulls.
class ScriptedStore final : public ModelStore {
 public:
  std::unique_ptr<QueuePlace> pull(const std::string& /*source*/, PullListener by) override {
    listener = std::move(by);
    return nullptr;
  }
  void remove(const std::vector<std::string>& /*names*/,
              std::function<void(std::optional<TurnError>)> /*done*/) override {}

  PullListener listener;
};

struct Pulling {
  explicit Pulling(std::chrono::milliseconds heartbeat) {
    OllamaStoreRequest request;
    request.model = "hf.co/acme/tiny";
    exchange = std::make_unique<PullExchange>(loop, *client, std::move(request),
                                              PullExchange::Options{.heartbeat = heartbeat}, [](int) {});
    exchange->begin(store);
  }

  asio::io_context loop;
  ScriptedStore store;
  std::shared_ptr<ScriptedReader> client = std::make_shared<ScriptedReader>();
  std::unique_ptr<PullExchange> exchange;
};

constexpr const char* kManifest = "pulling manifest";

}  // namespace

TEST_CASE("what a silent pull says again is how far it is, and never a remark") {
  Pulling pulling(std::chrono::milliseconds(1));
  pulling.store.listener.remark("tiny.rkllm is taken");
  while (pulling.client->count_of(kManifest) < 3) pulling.loop.run_one();
  CHECK(pulling.client->count_of("tiny.rkllm is taken\",\"rkllm") == 1);
}

TEST_CASE("remarks wait for a client that reads slowly, before the next line or the last one") {
  Pulling pulling(std::chrono::hours(1));
  pulling.client->is_ready = false;
  pulling.store.listener.remark("one");
  pulling.store.listener.remark("two\nthree");
  CHECK(pulling.client->count_of("remark") == 0);
  const PullProgress progress{.step = PullProgress::Step::kVerifying};
  SECTION("the next line") {
    pulling.client->is_ready = true;
    pulling.store.listener.progress(progress);
  }
  SECTION("the last line") { pulling.store.listener.done({"tiny", "/tiny.rkllm", 1, "", false, false}); }
  SECTION("an error") { pulling.store.listener.failed(TurnError(ErrorKind::kInternal, "no disk")); }
  CHECK_THAT(pulling.client->text,
             rkllm_mcp::test::has_text("{\"status\":\"one\",\"rkllm\":{\"remark\":\"one\"}}\n{\"status\":\"two\""));
  for (const char* const each : {"\"status\":\"one\"", "\"status\":\"two\"", "\"status\":\"three\""}) {
    CHECK(pulling.client->count_of(each) == 1);
  }
}
