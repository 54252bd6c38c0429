#include "backend/handle_table.hpp"

#include "support/catch.hpp"
#include "support/refusal.hpp"

#include <rkllm_mcp/errors.hpp>

#include <string>
#include <vector>

using namespace rkllm_mcp;

namespace {

constexpr Method kUser{.name = "rkllm_run",
                       .title = {},
                       .description = {},
                       .declaration = {},
                       .params = {},
                       .handle_param = "handle",
                       .handle = HandleRole::kUses,
                       .input_schema = {},
                       .output_schema = {}};
constexpr std::size_t kSome = 8;

struct Table {
  explicit Table(std::size_t most = kSome) : handles(most, &counts) {}

  enum class Is { kBeingMade, kLive, kBeingDestroyed };
  std::shared_ptr<ModelHandle> add(Is is, const std::string& name = {}) {
    auto handle = handles.make(mutex);
    handle->name = name;
    handle->live = is != Is::kBeingMade;
    handle->closing = is == Is::kBeingDestroyed;
    handles.add(*handle);
    return handle;
  }
  ModelHandle* meant(const Json& params) const { return &handles.meant_by(kUser, params); }
  RpcError refusal(const Json& params) const {
    return test::error_of([&] { meant(params); });
  }

  Counts counts;
  Mutex mutex;
  HandleTable handles;
};
using Is = Table::Is;

std::size_t times(const Counts& counts, Limit limit) { return counts.reached.at(static_cast<std::size_t>(limit)); }

}  // namespace

TEST_CASE("handles are numbered in the order in which they are made") {
  Table table;
  CHECK(table.add(Is::kLive)->id == "llm-1");
  CHECK(table.add(Is::kLive)->id == "llm-2");
  table.handles.remove(*table.handles.find("llm-1"));
  CHECK(table.add(Is::kLive)->id == "llm-3");  // an id is not given to another model
  CHECK(table.handles.live_ids() == std::vector<std::string>{"llm-2", "llm-3"});
}

TEST_CASE("a handle is held from its addition to its removal, and another one of the same id is not it") {
  Table table;
  const auto handle = table.add(Is::kLive);
  CHECK(table.handles.holds(*handle));
  CHECK_FALSE(table.handles.holds(ModelHandle(table.mutex, handle->number)));
  table.handles.remove(*handle);
  CHECK_FALSE(table.handles.holds(*handle));
}

TEST_CASE("the number of a handle that was not made after all is given to the next, the smallest first") {
  Table table;
  const auto first = table.add(Is::kBeingMade);
  const auto second = table.add(Is::kBeingMade);
  for (const auto& handle : {second, first}) {
    table.handles.remove(*handle);
    table.handles.give_back(*handle);
  }
  CHECK(table.add(Is::kLive)->id == "llm-1");
  CHECK(table.add(Is::kLive)->id == "llm-2");
  CHECK(table.add(Is::kLive)->id == "llm-3");
}

TEST_CASE("one handle more than there may be is refused and counted, and there is room when one has gone") {
  Table table(2);
  const auto first = table.add(Is::kLive);
  table.add(Is::kBeingMade);
  CHECK(times(table.counts, Limit::kHandles) == 0);
  const RpcError error = test::error_of([&] { table.handles.make(table.mutex); });
  CHECK(error.code() == ErrorCode::kQueueFull);
  CHECK(error.data() == Json{{"queued", 2}, {"limit", 2}});
  CHECK(times(table.counts, Limit::kHandles) == 1);
  table.handles.remove(*first);
  CHECK(table.add(Is::kLive)->id == "llm-3");
  CHECK(times(table.counts, Limit::kHandles) == 1);
}

TEST_CASE("a handle is found by its id from when it has been added until it is removed") {
  Table table;
  const auto handle = table.handles.make(table.mutex);
  CHECK(table.handles.find("llm-1") == nullptr);
  table.handles.add(*handle);
  CHECK(table.handles.find("llm-1") == handle.get());
  CHECK(table.handles.find("llm-2") == nullptr);
  CHECK(table.handles.find("") == nullptr);
  const ModelHandle other(table.mutex, 1);
  table.handles.remove(other);  // another one, which had its number
  CHECK(table.handles.find("llm-1") == handle.get());
  table.handles.remove(*handle);
  CHECK(table.handles.find("llm-1") == nullptr);
  table.handles.remove(*handle);
}

TEST_CASE("all handles can be taken out of the table, which is empty then") {
  Table table;
  const auto handle = table.add(Is::kBeingDestroyed);
  const auto taken = table.handles.take_all();
  CHECK(taken.at("llm-1") == handle);
  CHECK(table.handles.all().empty());
}

TEST_CASE("a call means the handle that it names, also one that is being made or was loaded by a name") {
  Table table;
  const auto made = table.add(Is::kBeingMade);
  const auto named = table.add(Is::kLive, "qwen");
  CHECK(table.meant({{"handle", "llm-1"}}) == made.get());
  CHECK(table.meant({{"handle", "llm-2"}}) == named.get());
}

TEST_CASE("a handle that there is not, or that is being destroyed, is refused with those that there are") {
  Table table;
  table.add(Is::kLive);
  table.add(Is::kBeingDestroyed);
  table.add(Is::kBeingMade);
  table.add(Is::kLive, "qwen");
  for (const std::string& id : {std::string("llm-2"), std::string("llm-9"), std::string(), std::string(65, 'x')}) {
    const RpcError error = table.refusal({{"handle", id}});
    CHECK(error.code() == ErrorCode::kUnknownHandle);
    CHECK(error.data()["handles"] == Json{"llm-1", "llm-4"});
  }
}

TEST_CASE("a handle that is no text, or has a NUL in it, is a mistake in the parameters") {
  Table table;
  table.add(Is::kLive);
  for (const Json& wrong : {Json(1), Json(true), Json{"llm-1"}, Json(std::string("llm-1\0", 6))}) {
    const RpcError error = table.refusal({{"handle", wrong}});
    CHECK(error.code() == ErrorCode::kInvalidParams);
    CHECK(error.data()["path"] == "params.handle");
  }
}

TEST_CASE("a handle that is left out, or null, is the only live one that rkllm_init has made") {
  Table table;
  table.add(Is::kLive, "qwen");
  const auto live = table.add(Is::kLive);
  table.add(Is::kBeingMade);
  table.add(Is::kBeingDestroyed);
  CHECK(table.meant(Json::object()) == live.get());
  CHECK(table.meant({{"handle", nullptr}}) == live.get());
}

TEST_CASE("a handle that is left out is the one that is being made, if that is the only one") {
  Table table;
  const auto made = table.add(Is::kBeingMade);
  table.add(Is::kLive, "qwen");
  CHECK(table.meant(Json::object()) == made.get());

  table.add(Is::kBeingMade);
  const RpcError error = table.refusal(Json::object());
  CHECK(error.code() == ErrorCode::kInvalidParams);
  CHECK_THAT(error.what(), test::has_text("several are being made"));
  CHECK(error.data() == Json{{"path", "params.handle"}, {"handles", Json::array()}});
}

TEST_CASE("a handle that is left out while several are live is asked for, with their ids") {
  Table table;
  table.add(Is::kLive);
  table.add(Is::kLive);
  table.add(Is::kLive, "qwen");
  const RpcError error = table.refusal(Json::object());
  CHECK(error.code() == ErrorCode::kInvalidParams);
  CHECK(error.data() == Json{{"path", "params.handle"}, {"handles", {"llm-1", "llm-2"}}});
}

TEST_CASE("where rkllm_init has made no handle the refusal says what to do") {
  Table table;
  const RpcError none = table.refusal(Json::object());
  CHECK(none.code() == ErrorCode::kUnknownHandle);
  CHECK_THAT(none.what(), test::has_text("call rkllm_init first"));
  CHECK(none.data()["handles"] == Json::array());

  table.add(Is::kLive, "qwen");
  const RpcError by_name = table.refusal(Json::object());
  CHECK(by_name.code() == ErrorCode::kUnknownHandle);
  CHECK_THAT(by_name.what(), test::has_text("llm-1"));
  CHECK(by_name.data()["handles"] == Json{"llm-1"});
}

TEST_CASE("a handle that is being destroyed is as none where a call names none") {
  Table table;
  table.add(Is::kBeingDestroyed);
  CHECK(table.refusal(Json::object()).code() == ErrorCode::kUnknownHandle);
  CHECK(table.handles.live_ids().empty());
  const auto made = table.add(Is::kBeingMade);
  CHECK(table.meant(Json::object()) == made.get());
}
