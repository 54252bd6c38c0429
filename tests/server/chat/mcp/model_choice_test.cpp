#include "chat/mcp/model_choice.hpp"

#include "auth/access_tokens.hpp"
#include "runtime/fake_backend.hpp"
#include "server/chat/host/scripted_lender.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using chat::ModelDescription;
using chat::ModelState;

ModelDescription described_model(const std::string& name, ModelState state = ModelState::kOnDisk) {
  ModelDescription model;
  model.name = name;
  model.state = state;
  return model;
}

// Has these models; a look for files finds more, and comes when the test lets it.
class PoolOfModels final : public chat::ModelLender {
 public:
  void refresh(std::function<void()> then) override { looks.push_back(std::move(then)); }
  std::vector<ModelDescription> models(const chat::Asker& /*asker*/) const override { return known; }
  std::optional<ModelDescription> find(std::string_view name, const chat::Asker& asker) const override {
    askers.push_back(asker.name);
    const auto found = std::ranges::find_if(known, [name](const ModelDescription& each) {
      return each.name == name || std::ranges::find(each.aliases, name) != each.aliases.end();
    });
    return found == known.end() ? std::nullopt : std::optional(*found);
  }
  std::unique_ptr<chat::QueuePlace> ask(chat::PlaceWish /*wish*/,
                                        chat::PlaceEvents<chat::ModelLease> /*events*/) override {
    return nullptr;
  }
  std::unique_ptr<chat::QueuePlace> ask_for_embeddings(chat::PlaceWish /*wish*/,
                                                       chat::PlaceEvents<chat::EmbeddingLease> /*events*/) override {
    return nullptr;
  }
  std::unique_ptr<chat::QueuePlace> load(chat::PlaceWish /*wish*/,
                                         chat::PlaceEvents<chat::OnlyLoaded> /*events*/) override {
    return nullptr;
  }
  void unload(std::string /*name*/, chat::Asker /*asker*/,
              std::function<void(std::optional<chat::TurnError>)> /*done*/) override {}

  // The look has found these.
  void end_look(std::vector<ModelDescription> found) {
    known = std::move(found);
    const auto then = std::move(looks.at(0));
    looks.erase(looks.begin());
    then();
  }

  std::vector<ModelDescription> known;
  std::vector<std::function<void()>> looks;
  mutable std::vector<std::string> askers;
};

// A profile "butler" beside the lender's models.
class OneProfile final : public chat::ProfileTurns {
 public:
  std::vector<ModelDescription> models(const chat::Asker& asker) const override { return {*find("butler", asker)}; }
  std::optional<ModelDescription> find(std::string_view name, const chat::Asker& /*asker*/) const override {
    if (name != "butler") return std::nullopt;
    ModelDescription profile = described_model("butler", ModelState::kLoaded);
    profile.is_profile = true;
    return profile;
  }
  std::unique_ptr<chat::Running> start(chat::Turn /*turn*/, const chat::Asker& /*asker*/, std::string /*peer*/,
                                       chat::TurnListener& /*listener*/) override {
    return nullptr;
  }
};

// Keeps the one result.
class ChoiceRequester final : public mcp::Requester {
 public:
  explicit ChoiceRequester(std::vector<Json>& results) : results_(results) {}

  void result(Json body) override { results_.push_back(std::move(body)); }
  void error(const RpcError& error) override { results_.push_back(Json{{"error", error.what()}}); }
  void ask(mcp::Invocation& /*invocation*/, mcp::InputRequests /*requests*/, Json /*state*/) override {}
  void notify(std::string_view /*method*/, const Json& /*params*/) override {}
  bool ready() const override { return true; }

 private:
  std::vector<Json>& results_;
};

struct ChoiceBench {
  ChoiceBench() {
    mcp::InvocationRequest request;
    request.session = session;
    request.session->principal = &principal;
    request.reply = std::make_shared<Reply>(*peer, "1");
    invocation = std::make_shared<mcp::Invocation>(std::move(request), std::make_unique<ChoiceRequester>(results),
                                                   [](mcp::Invocation&) {});
  }

  void choose(const std::string& name) {
    chat::with_model(host, *invocation, name, [this](const ModelDescription& model) {
      chosen.push_back(model.name);
      if (then) then();
    });
  }
  std::string told() const { return results.empty() ? "" : results.at(0).dump(); }

  const Principal principal{"Ada", true, false};
  std::shared_ptr<RequestTable> table = std::make_shared<RequestTable>();
  std::shared_ptr<Session> session = std::make_shared<Session>(table);
  std::shared_ptr<FakePeer> peer = std::make_shared<FakePeer>(TransportKind::kTcp, "192.0.2.1:7");
  PoolOfModels lender;
  chat::ChatHost host{lender, {}};
  std::vector<Json> results;
  std::vector<std::string> chosen;
  std::function<void()> then;
  std::shared_ptr<mcp::Invocation> invocation;
};

using Chosen = std::vector<std::string>;

}  // namespace

TEST_CASE("who asks, and from where, is the client of the invocation") {
  const ChoiceBench bench;
  const chat::Asker asker = chat::asker_of(*bench.invocation);
  CHECK(asker.name == "Ada");
  CHECK(asker.may_call);
  CHECK_FALSE(asker.may_admin);
  CHECK(chat::peer_of(*bench.invocation) == "192.0.2.1:7");
}

TEST_CASE("a model that is named is found at once, by its own name, and in the name of who asks") {
  ChoiceBench bench;
  bench.lender.known = {described_model("a"), described_model("b")};
  bench.lender.known[1].aliases = {"gpt-4o"};
  bench.choose("gpt-4o");
  CHECK(bench.chosen == Chosen{"b"});
  CHECK(bench.lender.askers == std::vector<std::string>{"Ada"});
  CHECK(bench.lender.looks.empty());
  CHECK(bench.results.empty());
}

TEST_CASE("a model whose file has just come is found after a look for it") {
  ChoiceBench bench;
  bench.choose("new");
  CHECK(bench.chosen.empty());
  REQUIRE(bench.lender.looks.size() == 1);
  bench.lender.end_look({described_model("new")});
  CHECK(bench.chosen == Chosen{"new"});
  CHECK(bench.results.empty());
}

TEST_CASE("a model that is not there after a look is the invocation's result, and nothing is called") {
  ChoiceBench bench;
  bench.choose("nwe");
  bench.lender.end_look({described_model("new")});
  CHECK(bench.chosen.empty());
  CHECK(bench.lender.looks.empty());
  REQUIRE(bench.results.size() == 1);
  CHECK(bench.results[0]["isError"] == true);
  CHECK_THAT(bench.told(), has_text("did you mean"));
}

TEST_CASE("no name means the only model, or the only one of several that is loaded") {
  ChoiceBench alone;
  alone.lender.known = {described_model("a")};
  alone.choose("");
  CHECK(alone.chosen == Chosen{"a"});
  ChoiceBench loaded;
  loaded.lender.known = {described_model("a"), described_model("b", ModelState::kLoaded),
                         described_model("c", ModelState::kLoading)};
  loaded.choose("");
  CHECK(loaded.chosen == Chosen{"b"});
}

TEST_CASE("no name is not enough where none, or more than one, could be meant") {
  ChoiceBench none;
  none.choose("");
  none.lender.end_look({});
  CHECK(none.chosen.empty());
  CHECK_THAT(none.told(), has_text("no model yet"));
  for (const ModelState state : {ModelState::kOnDisk, ModelState::kLoaded}) {
    ChoiceBench several;
    several.lender.known = {described_model("a", state), described_model("b", state)};
    several.choose("");
    REQUIRE(several.lender.looks.size() == 1);
    several.lender.end_look(several.lender.known);
    CHECK(several.chosen.empty());
    CHECK_THAT(several.told(), has_text("more than one: a, b"));
  }
}

TEST_CASE("a profile is meant only by its name") {
  ChoiceBench bench;
  OneProfile profile;
  bench.host.use_profiles(&profile);
  bench.lender.known = {described_model("a")};
  bench.choose("");
  bench.choose("butler");
  CHECK(bench.chosen == Chosen{"a", "butler"});
}

TEST_CASE("an invocation that has ended, before or during the look, gets no model") {
  ChoiceBench during;
  during.choose("new");
  during.invocation->result(Json::object());
  during.lender.end_look({described_model("new")});
  ChoiceBench before;
  before.lender.known = {described_model("a")};
  before.invocation->result(Json::object());
  before.choose("a");
  for (const ChoiceBench* const bench : {&during, &before}) {
    CHECK(bench->chosen.empty());
    CHECK(bench->results.size() == 1);
    CHECK(bench->lender.looks.empty());
  }
}

TEST_CASE("a look keeps its invocation until it has ended") {
  ChoiceBench bench;
  bench.choose("new");
  bench.invocation.reset();
  CHECK(bench.results.empty());
  bench.lender.end_look({described_model("new")});
  CHECK(bench.chosen == Chosen{"new"});
}

TEST_CASE("what is thrown by who has got the model is the invocation's result, also after a look") {
  for (const bool is_new : {false, true}) {
    CAPTURE(is_new);
    ChoiceBench of_turn;
    of_turn.then = [] { throw chat::TurnError(chat::ErrorKind::kQueueFull, "the queue is full"); };
    ChoiceBench of_call;
    of_call.then = [] { throw RpcError(ErrorCode::kCallFailed, "the call failed"); };
    for (ChoiceBench* const bench : {&of_turn, &of_call}) {
      if (!is_new) bench->lender.known = {described_model("a")};
      bench->choose("a");
      if (is_new) bench->lender.end_look({described_model("a")});
      REQUIRE(bench->results.size() == 1);
      CHECK(bench->results[0]["isError"] == true);
    }
    CHECK_THAT(of_turn.told(), has_text("the queue is full"));
    CHECK_THAT(of_call.told(), has_text("the call failed"));
  }
}

}  // namespace rkllm_mcp::test
