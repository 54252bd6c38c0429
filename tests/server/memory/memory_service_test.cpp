// The memory server as a service, without transports: what it tells and when, what it tidies, and its end. What its
// methods do is in memory_methods_test.cpp.
#include "memory/memory_service.hpp"

#include "jsonrpc/envelope.hpp"
#include "jsonrpc/unread.hpp"
#include "memory/sqlite/sqlite_store.hpp"
#include "memory/transfer.hpp"
#include "server/memory/store_places.hpp"
#include "support/catch.hpp"
#include "support/environment.hpp"
#include "support/process.hpp"
#include "support/waiting_loop.hpp"

#include <rkllm_mcp/errors.hpp>

#include <spdlog/logger.h>
#include <asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::memory {
namespace {

using test::commit;
using test::has_text;
using test::TemporaryDirectory;
using test::WaitingLoop;
using ServiceNotes = std::vector<std::string>;

constexpr Milliseconds kLongAgo = 1'000'000;

// Answers and events in the order in which they come. The loop runs only while the test waits.
class ServiceBench {
 public:
  explicit ServiceBench(MemoryOptions options = in_memory()) {
    MemoryService::Events events;
    events.changed = [this](const Key& key) { notes.push_back("changed " + key.space + ":" + key.id); };
    events.list_changed = [this] { notes.emplace_back("list"); };
    events.removed = [this] { notes.emplace_back("removed"); };
    service = std::make_unique<MemoryService>(waiting.loop(), options, log, events);
  }
  static MemoryOptions in_memory() {
    MemoryOptions options;
    options.database = ":memory:";
    return options;
  }
  static MemoryOptions in_file(const std::string& path) {
    MemoryOptions options;
    options.database = path;
    return options;
  }

  // Throws what the method throws at once.
  void begin(const std::string& method, Json params) {
    const auto& methods = service->service()->methods;
    const auto found = std::ranges::find(methods, "memory/" + method, &mcp::ServiceMethod::name);
    REQUIRE(found != methods.end());
    const Inside inside(is_inside_);
    found->run({.params = std::move(params), .principal = &principal, .form = mcp::AnswerForm::kDirect},
               [this, method](const Json& told, const std::exception_ptr& error) {
                 CHECK_FALSE(is_inside_);
                 notes.push_back(error ? method + " fails" : method);
                 result = read_whole(told);
                 failure = error ? std::optional(as_rpc_error(error)) : std::nullopt;
                 ++answers;
               });
  }
  Json call(const std::string& method, Json params) {
    const std::size_t before = answers;
    begin(method, std::move(params));
    REQUIRE(waiting.until([&] { return answers > before; }));
    return result;
  }
  void add(const std::string& id, const std::string& content) { begin("add_message", message(id, content)); }
  static Json message(const std::string& id, const std::string& content) {
    return {{"conversation_id", id}, {"role", "user"}, {"content", content}};
  }
  std::size_t count(const std::string& note) const { return static_cast<std::size_t>(std::ranges::count(notes, note)); }
  bool has_note(const std::string& note, std::size_t times = 1) {
    return waiting.until([&] { return count(note) >= times; });
  }
  std::vector<std::string> contents(const std::string& id) {
    std::vector<std::string> all;
    const Json told = call("get_all_messages", {{"conversation_id", id}});
    for (const Json& each : told["messages"]) all.push_back(each["content"]);
    return all;
  }

  WaitingLoop waiting;
  spdlog::logger log{"test"};
  Principal principal{"laptop"};
  ServiceNotes notes;
  Json result;
  std::optional<RpcError> failure;
  std::size_t answers = 0;
  std::unique_ptr<MemoryService> service;

 private:
  // A method is being begun; it may throw.
  struct Inside {
    explicit Inside(bool& is) : is_(is) { is_ = true; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { is_ = false; }
    bool& is_;
  };
  bool is_inside_ = false;
};

// A store with so many conversations in each of these spaces that have not changed for long.
void keep_old(const std::string& path, const std::vector<std::string>& spaces, int each) {
  SqliteStore store({path}, SqliteStore::Use::kWriting);
  commit(store, [&] {
    for (const std::string& space : spaces) {
      for (int n = 0; n < each; ++n) store.append({space, std::to_string(n)}, {Role::kUser, "x", "", kLongAgo});
    }
  });
}

std::vector<std::string> spaces_in(const std::string& path) {
  return SqliteStore({path}, SqliteStore::Use::kReading).spaces();
}

Json line_of_conversation(const std::string& id, Milliseconds created) {
  return {{"conversation", id}, {"title", ""}, {"created", timestamp_of(created)}};
}
Json line_of_message(const std::string& content, Milliseconds created) {
  return {{"role", "user"}, {"content", content}, {"timestamp", timestamp_of(created)}};
}

}  // namespace

TEST_CASE("changes that come together are told of once, behind their answers, and the list once for all") {
  ServiceBench bench;
  for (const char* const id : {"a", "b", "a"}) bench.add(id, "x");
  REQUIRE(bench.has_note("list"));
  CHECK(bench.notes ==
        ServiceNotes{"add_message", "add_message", "add_message", "changed laptop:a", "changed laptop:b", "list"});
  bench.notes.clear();
  bench.add("a", "y");
  REQUIRE(bench.has_note("changed laptop:a"));
  CHECK(bench.count("changed laptop:b") == 0);
}

TEST_CASE("what only reads, and what fails, changes nothing that is told of") {
  ServiceBench bench;
  bench.call("get_context", {{"conversation_id", "a"}});
  bench.call("rename", {{"conversation_id", "nobody's"}, {"title", "x"}});
  REQUIRE(bench.failure);
  CHECK(bench.failure->code() == ErrorCode::kResourceNotFound);
  bench.call("add_message", {{"conversation_id", "a"}});  // without what is to be added
  REQUIRE(bench.failure);
  CHECK(bench.failure->code() == ErrorCode::kInvalidParams);
  bench.add("b", "x");
  REQUIRE(bench.has_note("list"));
  CHECK(bench.notes ==
        ServiceNotes{"get_context", "rename fails", "add_message fails", "add_message", "changed laptop:b", "list"});
}

TEST_CASE("that messages were deleted is told before whoever wanted it is answered") {
  ServiceBench bench;
  bench.call("add_message", ServiceBench::message("a", "x"));
  bench.notes.clear();
  SECTION("cleared") {
    bench.call("clear", {{"conversation_id", "a"}});
    CHECK(bench.notes == ServiceNotes{"removed", "clear"});
  }
  SECTION("deleted") {
    bench.call("delete", {{"conversation_id", "a"}});
    CHECK(bench.notes == ServiceNotes{"removed", "delete"});
  }
}

TEST_CASE("whoever asks for others' conversations without being an admin is refused, and changes none") {
  ServiceBench bench;
  bench.principal.may_admin = false;
  bench.call("add_message", ServiceBench::message("a", "x"));
  Json params = ServiceBench::message("a", "y");
  params["space"] = "phone";
  bench.call("add_message", params);
  REQUIRE(bench.failure);
  REQUIRE(bench.has_note("changed laptop:a"));
  CHECK(bench.count("changed phone:a") == 0);
}

TEST_CASE("a store says where it is, that it is not yet open, and then that it is ready") {
  ServiceBench bench;
  CHECK(bench.service->status()["state"] == "unavailable");
  CHECK(bench.service->status()["reason"] == "it is being opened");
  REQUIRE(bench.waiting.until([&] { return bench.service->status()["state"] == "ready"; }));
  CHECK(bench.service->status() == Json{{"state", "ready"}, {"database", ":memory:"}});
}

TEST_CASE("a store that cannot be opened says why, to whoever asks as well") {
  TemporaryDirectory folder;
  test::write_file(folder / "no", "a file where a folder has to be");
  ServiceBench bench(ServiceBench::in_file(folder / "no/x.db"));
  REQUIRE(bench.waiting.until([&] { return bench.service->status()["reason"] != "it is being opened"; }));
  bench.call("add_message", ServiceBench::message("a", "x"));
  REQUIRE(bench.failure);
  CHECK(bench.failure->code() == ErrorCode::kRuntimeUnavailable);
  CHECK_THAT(bench.failure->what(), has_text("memory store unavailable: "));
}

TEST_CASE("conversations that have not changed for so many days are removed, however many there are, and it is told") {
  TemporaryDirectory folder;
  keep_old(folder / "x.db", {"laptop"}, 250);
  {
    ServiceBench bench(ServiceBench::in_file(folder / "x.db"));
    bench.call("add_message", ServiceBench::message("new", "x"));
    CHECK(bench.call("list", {{"limit", 1000}})["conversations"].size() == 251);  // without a time they stay
  }
  auto options = ServiceBench::in_file(folder / "x.db");
  options.retention_days = 1;
  ServiceBench bench(options);
  REQUIRE(bench.has_note("removed", 3));
  bench.call("add_message", ServiceBench::message("new", "y"));  // behind what is being removed
  const Json left = bench.call("list", {{"limit", 1000}})["conversations"];
  REQUIRE(left.size() == 1);
  CHECK(left[0]["conversation_id"] == "new");
}

TEST_CASE("spaces with a time of their own have that, and others none of it") {
  TemporaryDirectory folder;
  keep_old(folder / "x.db", {"laptop", "brief:", "brief:phone"}, 120);
  auto options = ServiceBench::in_file(folder / "x.db");
  options.brief_spaces = "brief:";
  options.brief_days = 1;
  {
    ServiceBench bench(options);
    REQUIRE(bench.has_note("removed", 3));  // a hundred at a time
    CHECK(bench.call("list", {{"limit", 1000}})["conversations"].size() == 120);
  }
  CHECK(spaces_in(folder / "x.db") == std::vector<std::string>{"laptop"});
}

TEST_CASE(
    "what is being imported is kept while it waits for more, however old it is and whatever is removed meanwhile") {
  TemporaryDirectory folder;
  keep_old(folder / "x.db", {"laptop"}, 1);
  auto options = ServiceBench::in_file(folder / "x.db");
  const auto import = [](ServiceBench& bench, const Json& lines, bool more) {
    return bench.call("import", {{"lines", lines}, {"import", "one"}, {"more", more}});
  };
  const Milliseconds time = now();
  const Json first = Json::array({line_of_conversation("new", time), line_of_message("of the new one", time),
                                  line_of_conversation("old", kLongAgo), line_of_message("1", kLongAgo)});
  {
    ServiceBench bench(options);
    CHECK(import(bench, first, true)["status"] == "waiting");
  }
  options.retention_days = 1;
  ServiceBench bench(options);
  REQUIRE(bench.has_note("removed"));
  const Json done = import(bench, Json::array({line_of_message("2", time)}), false);
  REQUIRE_FALSE(bench.failure);
  CHECK(done["conversations"] == 2);
  CHECK(done["messages"] == 3);
  CHECK(bench.contents("new") == std::vector<std::string>{"of the new one"});
  CHECK(bench.contents("old") == std::vector<std::string>{"1", "2"});
}

TEST_CASE("a full store that may forget removes the oldest for each new one, and tells of it") {
  TemporaryDirectory folder;
  keep_old(folder / "x.db", {"laptop"}, 3);
  auto options = ServiceBench::in_file(folder / "x.db");
  options.most_bytes = 1;  // less than an empty store takes
  SECTION("which may") {
    options.when_full = WhenFull::kForget;
    ServiceBench bench(options);
    bench.call("add_message", ServiceBench::message("new", "x"));
    REQUIRE(bench.failure);  // all that could be removed is not enough
    CHECK(bench.failure->data()["setting"] == "memory.max_bytes");
    REQUIRE(bench.has_note("removed"));
  }
  SECTION("which may not") {
    ServiceBench bench(options);
    bench.call("add_message", ServiceBench::message("new", "x"));
    REQUIRE(bench.failure);
    CHECK(bench.failure->code() == ErrorCode::kQueueFull);
    CHECK(bench.failure->data()["limit"] == 1);
    CHECK(bench.call("list", Json::object())["conversations"].size() == 3);
    CHECK(bench.count("removed") == 0);
  }
}

TEST_CASE(
    "a memory server that has been stopped takes nothing more, and what was asked for before is made and answered") {
  TemporaryDirectory folder;
  {
    ServiceBench bench(ServiceBench::in_file(folder / "x.db"));
    bench.add("a", "1");
    bench.add("a", "2");
    bench.service->stop();
    CHECK_THROWS_WITH(bench.add("a", "3"), has_text("the server is ending"));
    CHECK_THROWS_WITH(bench.begin("get_context", {{"conversation_id", "a"}}), has_text("the server is ending"));
    REQUIRE(bench.waiting.until([&] { return bench.answers == 2; }));
    bench.service->stop();  // again, which is nothing
  }
  SqliteStore store({folder / "x.db"}, SqliteStore::Use::kReading);
  CHECK(test::contents_of(store.messages({"laptop", "a"}, 0, {})) == std::vector<std::string>{"1", "2"});
}

TEST_CASE("a memory server that ends has written what was asked for, and answers and tells nobody any more") {
  TemporaryDirectory folder;
  ServiceBench bench(ServiceBench::in_file(folder / "x.db"));
  bench.call("add_message", ServiceBench::message("a", "1"));
  bench.notes.clear();
  bench.add("a", "2");
  bench.service.reset();
  bench.waiting.settle();
  CHECK(bench.notes.empty());
  SqliteStore store({folder / "x.db"}, SqliteStore::Use::kReading);
  CHECK(test::contents_of(store.messages({"laptop", "a"}, 0, {})) == std::vector<std::string>{"1", "2"});
}

TEST_CASE("a memory server that ends at the time at which it was to tell of changes tells of none") {
  ServiceBench bench;
  bench.call("add_message", ServiceBench::message("a", "1"));
  bench.waiting.settle();
  bench.notes.clear();
  // Its time comes while the loop does not look: then it is found together with what stands before it.
  Timer later(bench.waiting.loop(), std::chrono::milliseconds(60));
  const auto is_time = [&later] { return Clock::now() >= later.expiry(); };
  while (!is_time()) {
  }
  asio::post(bench.waiting.loop(), [&bench] { bench.service.reset(); });
  bench.waiting.settle();
  CHECK_FALSE(bench.service);
  CHECK(bench.notes.empty());
}

TEST_CASE(
    "no answer is longer than one may be: lists and hits go on in the next page, a context leaves out the oldest") {
  auto options = ServiceBench::in_memory();
  options.answer_bytes = 5'000;
  ServiceBench bench(options);
  constexpr std::size_t kCount = 6;
  for (std::size_t n = 0; n < kCount; ++n) {
    const std::string id = std::to_string(n);
    // In JSON each of these bytes is six.
    Json message = ServiceBench::message("a", "word " + id + std::string(300, '\x01'));
    message["metadata"] = {{"m", std::string(300, 'm')}};
    bench.call("add_message", message);
    bench.call("get_or_create", {{"conversation_id", id}});
    bench.call("rename", {{"conversation_id", id}, {"title", std::string(1000, 't')}});
    REQUIRE_FALSE(bench.failure);
  }
  const auto check_pages = [&](const std::string& method, Json params, const char* name, std::size_t count) {
    INFO(method);
    std::size_t entries = 0;
    for (std::size_t page = 0; page <= count; ++page) {
      const Json answer = bench.call(method, params);
      REQUIRE_FALSE(bench.failure);
      CHECK(to_text(answer).size() < 5'100);
      REQUIRE_FALSE(answer[name].empty());
      entries += answer[name].size();
      if (!answer.contains("nextCursor")) {
        CHECK(page > 0);
        break;
      }
      params["cursor"] = answer["nextCursor"];
    }
    CHECK(entries == count);
  };
  check_pages("search", {{"query", "word"}, {"limit", 1000}}, "hits", kCount);
  check_pages("list", {{"limit", 1000}}, "conversations", kCount + 1);
  check_pages("get_all_messages", {{"conversation_id", "a"}, {"limit", 1000}}, "messages", kCount);
  check_pages("export", {{"conversation_id", "a"}}, "lines", kCount + 1);
  const Json context = bench.call("get_context", {{"conversation_id", "a"}})["messages"];
  REQUIRE(context.size() == 2);
  CHECK(context[0]["content"].get<std::string>().starts_with("word 4"));
  CHECK(context[1]["content"].get<std::string>().starts_with("word 5"));
  bench.call("get_all_messages", {{"conversation_id", "a"}});
  REQUIRE(bench.failure);
  CHECK(bench.failure->code() == ErrorCode::kTooLarge);
}

TEST_CASE("an id that is no UTF-8 is refused, and a conversation that has one can be listed, exported and deleted") {
  TemporaryDirectory folder;
  const std::string id = "caf\xe9";
  {
    SqliteStore store({folder / "x.db"}, SqliteStore::Use::kWriting);
    commit(store, [&] {
      store.append({"laptop", id}, test::said("x"));
      store.append({"laptop", "other"}, test::said("y"));
    });
  }
  ServiceBench bench(ServiceBench::in_file(folder / "x.db"));
  const std::vector<std::pair<std::string, Json>> making{
      {"add_message", ServiceBench::message(id, "z")},
      {"get_or_create", {{"conversation_id", id}}},
      {"set_summary", {{"conversation_id", id}, {"summary", "S"}}},
      {"import", {{"lines", Json::array({Json{{"conversation", id}}})}}}};
  for (const auto& [method, params] : making) {
    INFO(method);
    bench.call(method, params);
    REQUIRE(bench.failure);
    CHECK(bench.failure->code() == ErrorCode::kInvalidParams);
    CHECK_THAT(bench.failure->what(), has_text("expected UTF-8"));
  }
  Json listed;
  bench.service->service()->documents.list(bench.principal, {}, [&](const Json& page, const std::exception_ptr& error) {
    CHECK_FALSE(error);
    listed = page;
    ++bench.answers;
  });
  const std::size_t before = bench.answers;
  REQUIRE(bench.waiting.until([&] { return bench.answers > before; }));
  REQUIRE(listed["resources"].size() == 2);
  CHECK(listed["resources"][1]["uri"] == "memory://conversation/caf%E9");
  CHECK(bench.call("list", Json::object())["conversations"].size() == 2);
  const std::string shown = "caf\xef\xbf\xbd";  // as clients are told
  for (const std::string& each : {id, shown}) {
    CHECK(bench.contents(each) == std::vector<std::string>{"x"});
    CHECK(bench.call("export", {{"conversation_id", each}})["lines"].size() == 2);
  }
  CHECK(bench.call("delete", {{"conversation_id", shown}})["status"] == "deleted");
  bench.call("delete", {{"conversation_id", id}});
  REQUIRE(bench.failure);
  CHECK(bench.failure->code() == ErrorCode::kResourceNotFound);
}

TEST_CASE("the settings' own place is in the folder for a user's state, or nowhere") {
  const char* const home = std::getenv("HOME");
  const std::string kept = home == nullptr ? std::string() : home;
  {
    const test::Environment state("XDG_STATE_HOME", "/state");
    CHECK(default_database() == "/state/rkllm-mcp/memory.db");
  }
  {
    const test::Environment state("XDG_STATE_HOME", "not/whole");
    const test::Environment home_is("HOME", "/home/me");
    CHECK(default_database() == "/home/me/.local/state/rkllm-mcp/memory.db");
  }
  CHECK(default_database() == ":memory:");  // neither is there
  if (home != nullptr) ::setenv("HOME", kept.c_str(), 1);
}

}  // namespace rkllm_mcp::memory
