// Invocations that go on after their request was answered (extension io.modelcontextprotocol/tasks): the client gets an
// id, and asks for what has become of it.
//
// Tasks live in this process, and for an hour at most after their end: the oldest make room for others of their owner.
// What came of all takes 64 MiB at most, or is that of one task: whoever has most gives way.
// Whoever has the id (which cannot be guessed) and the same token may use it. Event loop only.
#pragma once

#include "mcp/tools/invocation.hpp"
#include "memory_budget.hpp"

#include <rkllm_mcp/json.hpp>

#include <asio/io_context.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace rkllm_mcp {

struct Principal;

}  // namespace rkllm_mcp

namespace rkllm_mcp::mcp {

class Task;

class Tasks {
 public:
  static constexpr std::size_t kMost = 256;
  static constexpr std::size_t kMostOfOne = 128;  // of one token; what has ended makes room for others of the same

  // `changed` hears of each task whose state has become another.
  using ChangedFunction = std::function<void(const Principal* owner, const std::string& id, const Json& state)>;
  // `server` is {"name","version"}.
  // What came of them counts in `memory`; none: it does not.
  Tasks(asio::io_context& loop, Json server, ChangedFunction changed, MemoryBudget memory)
      : loop_(loop), server_(std::move(server)), changed_(std::move(changed)), share_(std::move(memory)) {}

  // Forgets the oldest ended tasks of that owner, if there is no room for one more. False: there is none all the same.
  bool make_room_for(const Principal* owner);
  // Runs the invocation as a task; gives what the request is answered with (CreateTaskResult). `request` has the
  // session and the reply of the request; the task gets its own. There is room for it.
  Json begin(InvocationRequest request, InvokeFunction run);

  // tasks/get, tasks/update, tasks/cancel: of the task that `params.taskId` names. Throw RpcError.
  Json get(const Json& params, const Principal* principal) const;
  Json update(const Json& params, const Principal* principal);
  Json cancel(const Json& params, const Principal* principal);
  // Ends all.
  void cancel_all();

 private:
  Task& find(const Json& params, const Principal* principal) const;
  void keep(Task& ended);
  // The ended task to be forgotten when results take too much: the oldest of the owner that has most, but `stays`; of
  // another owner if that has no other one. Nothing if there is none.
  std::optional<std::string> next_to_give_way(const Task& stays) const;
  void forget(const std::string& id);
  void changed(const Task& task);

  asio::io_context& loop_;
  const Json server_;
  const ChangedFunction changed_;
  std::map<std::string, std::shared_ptr<Task>, std::less<>> tasks_;
  std::deque<std::string> ended_;  // ids of the tasks that have ended, the first to end in front
  std::size_t kept_bytes_ = 0;     // of what came of the tasks in ended_
  MemoryShare share_;              // kept_bytes_, as the memory budget counts them
};

}  // namespace rkllm_mcp::mcp
