// Models that are loaded by themselves, over a backend that loads them when the test says so.
#include "app/runtime/autoload.hpp"

#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <spdlog/logger.h>
#include <asio/io_context.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

class LoadingBackend final : public Backend {
 public:
  CallId start(CallRequest request) override {
    loads.push_back(std::move(request.observer));
    return request.id;
  }
  void cancel(CallId) override {}
  void give_up(CallId, const RpcError&) override {}

  std::vector<std::shared_ptr<CallObserver>> loads;
};

struct Loading {
  void settle() {
    loop.restart();
    loop.poll();
  }
  void loaded(std::size_t load, const std::string& handle) {
    CallOutcome outcome;
    outcome.result = Json{{"handle", handle}};
    backend.loads.at(load)->on_done(std::move(outcome));
    settle();
  }
  void lost(const std::string& handle) {
    autoload.lost(handle);
    settle();
  }

  asio::io_context loop;
  LoadingBackend backend;
  spdlog::logger log{"test"};
  const Method init{};
  Autoload autoload{loop, backend, Json{{"m", {{"autoload", true}}}}, log};
};

}  // namespace

TEST_CASE("a model that is lost before word of its loading has come is loaded again, once") {
  Loading with;
  with.autoload.start(&with.init);
  with.autoload.lost("llm-1");
  REQUIRE(with.backend.loads.size() == 1);
  with.loaded(0, "llm-1");
  REQUIRE(with.backend.loads.size() == 2);
  with.loaded(1, "llm-2");
  CHECK(with.backend.loads.size() == 2);
}

TEST_CASE("a model is loaded whatever bytes its library has printed meanwhile") {
  Loading with;
  std::string loaded;
  with.autoload.listen({.begun = [](const std::string&) {},
                        .ended = [&loaded](const std::string&, const std::string& handle) { loaded = handle; }});
  with.autoload.start(&with.init);
  CallOutcome outcome;
  outcome.result = Json{{"handle", "llm-1"}, {"log", {"E rkllm: \xFF"}}};
  with.backend.loads.at(0)->on_done(std::move(outcome));
  CHECK_NOTHROW(with.settle());
  CHECK(loaded == "llm-1");
}

TEST_CASE("what another runtime had lost does not make a model be loaded twice") {
  Loading with;
  with.autoload.start(&with.init);
  with.autoload.lost("llm-1");
  with.loaded(0, "llm-2");
  REQUIRE(with.backend.loads.size() == 1);

  with.autoload.start(&with.init);  // another runtime, which counts from 1
  REQUIRE(with.backend.loads.size() == 2);
  with.loaded(1, "llm-1");
  CHECK(with.backend.loads.size() == 2);
}

TEST_CASE("a load that fails in the runtime before keeps no model from being loaded, nor from being loaded again") {
  Loading with;
  with.autoload.start(&with.init);
  with.autoload.start(&with.init);  // another runtime, while the one before has not answered
  REQUIRE(with.backend.loads.size() == 2);
  with.backend.loads.at(0)->on_done({.error = std::make_exception_ptr(RpcError(ErrorCode::kCallFailed, "refused"))});
  with.settle();
  with.lost("llm-1");  // word of its loading is under way
  with.loaded(1, "llm-1");
  CHECK(with.backend.loads.size() == 3);
}

TEST_CASE("a model of somebody else that is lost is not remembered while none is being loaded") {
  Loading with;
  with.autoload.start(&with.init);
  with.backend.loads.at(0)->on_done({.error = std::make_exception_ptr(RpcError(ErrorCode::kCallFailed, "refused"))});
  with.settle();
  with.lost("llm-1");
  with.autoload.start(&with.init);
  with.loaded(1, "llm-1");
  CHECK(with.backend.loads.size() == 2);
}

}  // namespace rkllm_mcp
