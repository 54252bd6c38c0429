#include "mcp/tools/tasks.hpp"

#include "auth/access_tokens.hpp"
#include "mcp/catalogue.hpp"
#include "mcp/protocol/agreed_names.hpp"
#include "mcp/protocol/revisions.hpp"
#include "runtime/fake_backend.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <asio/io_context.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

// The tasks of a server, and one client, whose tools end when the test says so.
struct TaskTable {
  explicit TaskTable(MemoryBudget budget = {}) : memory(std::move(budget)) {
    session->principal = &owner;
    tasks.emplace(
        loop, Json{{"name", "fake"}, {"version", "1"}},
        [this](const Principal* whose, const std::string& id, const Json& state) {
          changes.push_back({whose, id, state});
        },
        memory);
  }

  Json begin(mcp::InvokeFunction run) { return begin(std::move(run), session); }
  Json begin(mcp::InvokeFunction run, const std::shared_ptr<Session>& whose) {
    mcp::InvocationRequest request;
    request.session = whose;
    request.reply = std::make_shared<Reply>(*peer, "1");
    request.client =
        mcp::ClientContext{mcp::find_revision("2026-07-28"), {{"elicitation", Json::object()}}, std::nullopt};
    request.method = "tools/call";
    request.name = "try";
    request.arguments = Json{{"day", 1}};
    return tasks->begin(std::move(request), std::move(run));
  }
  // One whose tool goes on; its invocation is the last one of `running`.
  std::string begin_running() { return begin_running(session); }
  std::string begin_running(const std::shared_ptr<Session>& whose) {
    return begin([this](mcp::Invocation& invocation) { running.push_back(invocation.shared_from_this()); },
                 whose)["taskId"];
  }

  Json get(const std::string& id) const { return tasks->get({{"taskId", id}}, &owner); }
  std::string status(const std::string& id) const { return get(id)["status"]; }
  bool knows(const std::string& id) const {
    try {
      get(id);
      return true;
    } catch (const InvalidParams&) {
      return false;
    }
  }

  struct Change {
    const Principal* owner;
    std::string id;
    Json state;
  };

  asio::io_context loop;
  const MemoryBudget memory;
  const Principal owner{"owner", true, true};
  const Principal other{"other", true, true};
  std::shared_ptr<RequestTable> requests = std::make_shared<RequestTable>();
  std::shared_ptr<FakePeer> peer = std::make_shared<FakePeer>();
  std::shared_ptr<Session> session = std::make_shared<Session>(requests);
  std::vector<Change> changes;
  std::vector<std::shared_ptr<mcp::Invocation>> running;
  std::optional<mcp::Tasks> tasks;
};

const mcp::InvokeFunction kEndsAtOnce = [](mcp::Invocation& invocation) {
  invocation.result(mcp::text_result("done"));
};

// A task that asks two questions, and what it has been answered.
struct AskingTask {
  mcp::InvokeFunction run() {
    return [this](mcp::Invocation& invocation) {
      ++runs;
      if (const Json* const day = invocation.input("day")) {
        heard = Json{{"day", *day}, {"hour", *invocation.input("hour")}, {"state", invocation.state()}};
        return invocation.result(mcp::text_result("done"));
      }
      invocation.when_ended([this] { ++ends; });
      invocation.ask({{"day", "elicitation/create", Json{{"message", "Which day?"}}},
                      {"hour", "elicitation/create", Json{{"message", "Which hour?"}}}},
                     Json{{"kept", 1}});
    };
  }

  int runs = 0;
  int ends = 0;
  Json heard;
};

// The path that a call is refused with; empty if it is not.
template <class Action>
std::string refused_path(const Action& action) {
  try {
    action();
    return {};
  } catch (const InvalidParams& error) {
    return error.data()["path"].get<std::string>();
  }
}

}  // namespace

TEST_CASE("a request that becomes a task is answered with the task, which can then be asked for") {
  TaskTable table;
  const Json begun = table.begin([&](mcp::Invocation& invocation) {
    CHECK(invocation.arguments() == Json{{"day", 1}});
    table.running.push_back(invocation.shared_from_this());
  });
  CHECK(begun["resultType"] == "task");
  CHECK(begun["status"] == "working");
  CHECK(begun["createdAt"] == begun["lastUpdatedAt"]);
  CHECK(begun["ttlMs"] == 60 * 60 * 1000);
  CHECK(begun["pollIntervalMs"].get<int>() > 0);
  Json same = begun;
  same.erase("resultType");
  CHECK(table.get(begun["taskId"]) == same);
  CHECK(table.peer->sent.empty());
  CHECK(table.changes.empty());
}

TEST_CASE("no two tasks have the same id, nor one that can be guessed of another") {
  TaskTable table;
  std::set<std::string> ids;
  std::set<std::string> beginnings;
  for (int times = 0; times < 50; ++times) {
    const std::string id = table.begin(kEndsAtOnce)["taskId"];
    CHECK(id.size() >= 22);  // 128 bits
    ids.insert(id);
    beginnings.insert(id.substr(0, 8));
  }
  CHECK(ids.size() == 50);
  CHECK(beginnings.size() == 50);
}

TEST_CASE("a task whose tool ends at once is begun as one that has ended, and keeps what came of it") {
  TaskTable table;
  const Json begun = table.begin(kEndsAtOnce);
  CHECK(begun["status"] == "completed");
  CHECK_FALSE(begun.contains("result"));
  const Json state = table.get(begun["taskId"]);
  CHECK(state["result"]["content"] == mcp::text_result("done")["content"]);
  CHECK(state["result"]["resultType"] == "complete");
  CHECK(state["result"]["_meta"][mcp::kMetaServer] == Json{{"name", "fake"}, {"version", "1"}});
  CHECK(table.get(begun["taskId"]) == state);
}

TEST_CASE("a task that has failed has its error, and no result") {
  TaskTable table;
  const Json begun = table.begin([](mcp::Invocation&) { throw InvalidParams("params.day", "no such day"); });
  const Json state = table.get(begun["taskId"]);
  CHECK(state["status"] == "failed");
  CHECK(state["error"] ==
        Json{{"code", -32602}, {"message", "params.day: no such day"}, {"data", {{"path", "params.day"}}}});
  CHECK_FALSE(state.contains("result"));
}

TEST_CASE("a task of somebody else's is answered for as one that there is not, whatever is wanted of it") {
  TaskTable table;
  const Json which{{"taskId", table.begin_running()}};
  const Json update{{"taskId", which["taskId"]}, {"inputResponses", Json::object()}};
  const Json unknown{{"taskId", "x"}, {"inputResponses", Json::object()}};
  const auto words = [&](const auto& action) -> std::string {
    try {
      action();
      return {};
    } catch (const InvalidParams& error) {
      CHECK(error.data() == Json{{"path", "params.taskId"}});
      return error.what();
    }
  };
  const std::string none = words([&] { table.tasks->get(unknown, &table.owner); });
  CHECK_FALSE(none.empty());
  for (const Principal* const who : {&table.other, static_cast<const Principal*>(nullptr)}) {
    CHECK(words([&] { table.tasks->get(which, who); }) == none);
    CHECK(words([&] { table.tasks->update(update, who); }) == none);
    CHECK(words([&] { table.tasks->cancel(which, who); }) == none);
  }
  CHECK(table.status(which["taskId"]) == "working");
}

TEST_CASE("what names no task, or has no answers where they belong, is refused with its path") {
  TaskTable table;
  const std::string id = table.begin_running();
  for (const Json& params : {Json(nullptr), Json::array({id}), Json(id), Json::object(), Json{{"taskId", nullptr}},
                             Json{{"taskId", 1}}, Json{{"taskId", {id}}}}) {
    CHECK(refused_path([&] { table.tasks->get(params, &table.owner); }) == "params.taskId");
    CHECK(refused_path([&] { table.tasks->update(params, &table.owner); }) == "params.taskId");
    CHECK(refused_path([&] { table.tasks->cancel(params, &table.owner); }) == "params.taskId");
  }
  for (const Json& answers : {Json(nullptr), Json::array(), Json("x"), Json(1)}) {
    CHECK(refused_path([&] {
            table.tasks->update({{"taskId", id}, {"inputResponses", answers}}, &table.owner);
          }) == "params.inputResponses");
  }
  CHECK(refused_path([&] { table.tasks->update({{"taskId", id}}, &table.owner); }) == "params.inputResponses");
}

TEST_CASE("a task that needs its client says what for, takes answers as they come, and goes on with all of them") {
  TaskTable table;
  AskingTask asking;
  const std::string id = table.begin(asking.run())["taskId"];
  const auto update = [&](const Json& answers) {
    CHECK(table.tasks->update({{"taskId", id}, {"inputResponses", answers}}, &table.owner) == Json::object());
  };
  Json state = table.get(id);
  CHECK(state["status"] == "input_required");
  CHECK(state["inputRequests"] ==
        Json{{"day", {{"method", "elicitation/create"}, {"params", {{"message", "Which day?"}}}}},
             {"hour", {{"method", "elicitation/create"}, {"params", {{"message", "Which hour?"}}}}}});
  update(Json::object());
  update({{"unknown", 1}});
  update({{"hour", "noon"}});
  update({{"hour", "midnight"}});  // as long as the other one is missing
  state = table.get(id);
  CHECK(state["status"] == "input_required");
  CHECK(state["inputRequests"].size() == 1);
  CHECK(state["inputRequests"].contains("day"));
  CHECK(asking.runs == 1);
  update({{"day", 7}});
  CHECK(asking.runs == 2);
  CHECK(asking.heard == Json{{"day", 7}, {"hour", "midnight"}, {"state", {{"kept", 1}}}});
  CHECK(table.status(id) == "completed");
  CHECK_FALSE(table.get(id).contains("inputRequests"));
  update({{"day", 8}});
  CHECK(asking.runs == 2);
}

TEST_CASE("a task that asks its client for nothing goes on at once") {
  TaskTable table;
  int runs = 0;
  const std::string id = table.begin([&runs](mcp::Invocation& invocation) {
    if (++runs == 1) return invocation.ask({}, Json{{"kept", 1}});
    CHECK(invocation.state() == Json{{"kept", 1}});
    invocation.result(mcp::text_result("done"));
  })["taskId"];
  CHECK(runs == 2);
  CHECK(table.status(id) == "completed");
}

TEST_CASE("a task is cancelled while it waits for its client, and no answer takes it up again") {
  TaskTable table;
  AskingTask asking;
  const std::string id = table.begin(asking.run())["taskId"];
  table.tasks->cancel({{"taskId", id}}, &table.owner);
  CHECK(table.status(id) == "cancelled");
  CHECK(asking.ends == 1);
  table.tasks->update({{"taskId", id}, {"inputResponses", {{"day", 1}, {"hour", 2}}}}, &table.owner);
  CHECK(asking.runs == 1);
  CHECK(table.status(id) == "cancelled");
}

TEST_CASE("the tool of a task that is cancelled hears of it, once, and what it says afterwards is dropped") {
  TaskTable table;
  int heard = 0;
  const std::string id = table.begin([&](mcp::Invocation& invocation) {
    invocation.on_cancelled([&heard] { ++heard; });
    table.running.push_back(invocation.shared_from_this());
  })["taskId"];
  for (int times = 0; times < 2; ++times) {
    CHECK(table.tasks->cancel({{"taskId", id}}, &table.owner) == Json::object());
    CHECK(heard == 1);
  }
  table.running[0]->result(mcp::text_result("too late"));
  const Json state = table.get(id);
  CHECK(state["status"] == "cancelled");
  CHECK_FALSE(state.contains("result"));
  CHECK(table.changes.size() == 1);
}

TEST_CASE("a task that has ended cannot be cancelled any more") {
  TaskTable table;
  const std::string id = table.begin(kEndsAtOnce)["taskId"];
  table.tasks->cancel({{"taskId", id}}, &table.owner);
  CHECK(table.status(id) == "completed");
  CHECK(table.get(id).contains("result"));
}

TEST_CASE("the progress of a task is its status message, as long as it goes on") {
  TaskTable table;
  const std::string id = table.begin_running();
  CHECK_FALSE(table.get(id).contains("statusMessage"));
  table.running[0]->progress(1, 2, "half");
  table.running[0]->progress(2, 2, "");  // says nothing
  table.running[0]->notify("notifications/message", Json{{"message", "of the log"}});
  CHECK(table.get(id)["statusMessage"] == "half");
  CHECK(table.changes.empty());
  table.running[0]->result(mcp::text_result("done"));
  table.running[0]->progress(3, 3, "too late");
  CHECK(table.get(id)["statusMessage"] == "half");
}

TEST_CASE("each change of a task is told once, with whose it is and all that there is to know of it") {
  TaskTable table;
  AskingTask asking;
  const std::string id = table.begin(asking.run())["taskId"];
  table.tasks->update({{"taskId", id}, {"inputResponses", {{"day", 1}, {"hour", 2}}}}, &table.owner);
  std::vector<std::string> told;
  for (const auto& change : table.changes) {
    CHECK(change.owner == &table.owner);
    CHECK(change.id == id);
    CHECK(change.state["taskId"] == id);
    told.push_back(change.state["status"]);
  }
  REQUIRE(told == std::vector<std::string>{"input_required", "working", "completed"});
  CHECK(table.changes[0].state["inputRequests"].size() == 2);
  CHECK(table.changes[2].state == table.get(id));
}

TEST_CASE("a client that goes leaves its tasks alone, and cancels none of them by the id of a request") {
  TaskTable table;
  const std::string id = table.begin_running();
  table.running[0]->when_ended([] {});
  CHECK(table.session->active() == 0);
  table.session->cancel_request(1, *table.peer);
  table.session->client_gone();
  table.session = std::make_shared<Session>(table.requests);
  table.running[0]->result(mcp::text_result("done"));
  CHECK(table.status(id) == "completed");
}

TEST_CASE("a holder of a token has room for so many tasks, of which those that have ended give way to new ones") {
  TaskTable table;
  std::vector<std::string> ids;
  for (std::size_t at = 0; at < mcp::Tasks::kMostOfOne; ++at) {
    REQUIRE(table.tasks->make_room_for(&table.owner));
    ids.push_back(table.begin_running());
  }
  CHECK_FALSE(table.tasks->make_room_for(&table.owner));
  CHECK(table.tasks->make_room_for(&table.other));

  table.running[5]->result(mcp::text_result("done"));
  table.running[3]->result(mcp::text_result("done"));
  CHECK(table.knows(ids[5]));
  CHECK(table.tasks->make_room_for(&table.owner));
  CHECK_FALSE(table.knows(ids[5]));  // the first to end
  CHECK(table.knows(ids[3]));
}

TEST_CASE("nobody's tasks give way to those of another, however many there are in all") {
  TaskTable table;
  const auto whose = [&table](const Principal& principal) {
    auto session = std::make_shared<Session>(table.requests);
    session->principal = &principal;
    return session;
  };
  const auto others = whose(table.other);
  std::string ended;
  for (std::size_t at = 0; at < mcp::Tasks::kMost / 2; ++at) {
    ended = table.begin(kEndsAtOnce)["taskId"];
    table.begin_running(others);
  }
  const Principal third{"third", true, true};
  CHECK_FALSE(table.tasks->make_room_for(&third));
  CHECK_FALSE(table.tasks->make_room_for(&table.other));
  CHECK(table.knows(ended));
  CHECK(table.tasks->make_room_for(&table.owner));
  CHECK(table.tasks->make_room_for(&third));
}

TEST_CASE("what came of tasks counts in the memory until they are forgotten, and then makes room for others") {
  const MemoryBudget memory(2 * MemoryShare::kGuaranteed);
  TaskTable table(memory);
  const std::string text(MemoryShare::kGuaranteed, 'x');
  const auto begin_long = [&] {
    return table.begin([&text](mcp::Invocation& invocation) { invocation.result(mcp::text_result(text)); })["taskId"];
  };
  const std::string first = begin_long();
  CHECK(memory.used() > text.size());
  const std::string second = begin_long();
  CHECK(memory.used() > 2 * text.size());
  CHECK(table.tasks->make_room_for(&table.owner));
  CHECK_FALSE(table.knows(first));
  CHECK(table.knows(second));
  CHECK(memory.used() < 2 * text.size());
  table.tasks.reset();
  CHECK(memory.used() == 0);
}

TEST_CASE("what came of all tasks is bounded, also of those that end together, and who has most gives way") {
  constexpr std::size_t kThirdOfBound = std::size_t{22} << 20U;
  TaskTable table;
  const auto others = std::make_shared<Session>(table.requests);
  others->principal = &table.other;
  const std::string of_other = table.begin_running(others);
  std::vector<std::string> own;
  for (int at = 0; at < 3; ++at) own.push_back(table.begin_running());
  const std::string text(kThirdOfBound, 'x');
  for (const auto& each : table.running) {
    each->result(mcp::text_result(text));
    table.changes.clear();
  }
  CHECK(table.tasks->get({{"taskId", of_other}}, &table.other)["status"] == "completed");
  CHECK_FALSE(table.knows(own[0]));
  CHECK_FALSE(table.knows(own[1]));
  CHECK(table.knows(own[2]));
}

TEST_CASE("what came of one task is kept, however long it is, and of the others nothing then") {
  TaskTable table;
  const std::string first = table.begin(kEndsAtOnce)["taskId"];
  const std::string second = table.begin([](mcp::Invocation& invocation) {
    invocation.result(mcp::text_result(std::string(std::size_t{65} << 20U, 'x')));
  })["taskId"];
  CHECK_FALSE(table.knows(first));
  CHECK(table.knows(second));
}

TEST_CASE("a server that ends cancels every task, which is told, and knows none any more") {
  TaskTable table;
  const std::string ended = table.begin(kEndsAtOnce)["taskId"];
  int heard = 0;
  const std::string running = table.begin([&](mcp::Invocation& invocation) {
    invocation.on_cancelled([&heard] { ++heard; });
    table.running.push_back(invocation.shared_from_this());
  })["taskId"];
  table.changes.clear();
  table.tasks->cancel_all();
  CHECK(heard == 1);
  REQUIRE(table.changes.size() == 1);
  CHECK(table.changes[0].id == running);
  CHECK(table.changes[0].state["status"] == "cancelled");
  CHECK_FALSE(table.knows(ended));
  CHECK_FALSE(table.knows(running));
}

TEST_CASE("of tasks that were all cancelled nothing is kept, and there is room for others") {
  const MemoryBudget memory(MemoryShare::kGuaranteed);
  TaskTable table(memory);
  const std::string text(MemoryShare::kGuaranteed, 'x');
  table.begin([&text](mcp::Invocation& invocation) { invocation.result(mcp::text_result(text)); });
  CHECK(memory.used() > text.size());
  table.tasks->cancel_all();
  CHECK(memory.used() == 0);
  CHECK(table.tasks->make_room_for(&table.owner));
}

TEST_CASE("a tool may end after the tasks have, and nobody hears of it") {
  TaskTable table;
  table.begin_running();
  AskingTask asking;
  table.begin(asking.run());
  table.changes.clear();
  table.tasks.reset();
  table.running[0]->progress(1, std::nullopt, "half");
  table.running[0]->result(mcp::text_result("done"));
  CHECK(table.running[0]->ended());
  CHECK(asking.runs == 1);
  CHECK(table.changes.empty());
}
