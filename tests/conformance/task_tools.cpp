#include "fixtures.hpp"

#include "mcp/protocol/agreed_names.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>

namespace rkllm_mcp::conformance {
namespace {

using namespace std::chrono_literals;

bool always(const mcp::InvocationRequest& /*request*/) { return true; }

mcp::Tool task_tool(std::string name, std::string description, mcp::InvokeFunction run, Json input_schema = nullptr) {
  mcp::Tool tool = make_tool(std::move(name), std::move(description), std::move(run), std::move(input_schema));
  tool.as_task = always;
  return tool;
}

Json object_with(Json properties) { return Json{{"type", "object"}, {"properties", std::move(properties)}}; }

// For tools that make no sense while a client waits.
void require_tasks_of(const mcp::Invocation& invocation) {
  if (invocation.client().has_extension(mcp::kTasksExtension)) return;
  throw missing_capability(Json{{"extensions", {{mcp::kTasksExtension, Json::object()}}}});
}

void greet(mcp::Invocation& invocation) {
  invocation.result(mcp::text_result("Hello, " + invocation.arguments().value("name", "stranger") + "!"));
}

void compute_slowly(asio::io_context& loop, mcp::Invocation& invocation) {
  const Json seconds = invocation.arguments().value("seconds", Json(1));
  if (!seconds.is_number()) throw InvalidParams("params.arguments.seconds", "expected number");
  const std::chrono::duration<double> time(std::clamp(seconds.get<double>(), 0.0, 600.0));
  invocation.progress(0, 1, "computing");
  after(loop, std::chrono::duration_cast<std::chrono::milliseconds>(time), invocation,
        [invocation = invocation.shared_from_this()] {
          invocation->result(mcp::text_result("Computed " + invocation->arguments().value("label", "something") + "."));
        });
}

void fail_late(asio::io_context& loop, mcp::Invocation& invocation) {
  require_tasks_of(invocation);
  after(loop, 1s, invocation, [invocation = invocation.shared_from_this()] {
    Json failure = mcp::text_result("The job has failed, as it always does.");
    failure["isError"] = true;
    invocation->result(std::move(failure));
  });
}

void break_late(asio::io_context& loop, mcp::Invocation& invocation) {
  after(loop, 200ms, invocation,
        [] { throw RpcError(ErrorCode::kInternalError, "the job has broken down, as it always does"); });
}

void delete_if_confirmed(mcp::Invocation& invocation) {
  const std::string file = invocation.arguments().value("filename", "nothing");
  const Json* const answer = form_answer(invocation, "confirmation");
  if (answer == nullptr) {
    return invocation.ask({form("confirmation", "Delete " + file + "?", Json{{"confirm", {{"type", "boolean"}}}},
                                Json::array({"confirm"}))});
  }
  const bool confirmed = (*answer)["action"] == "accept" && (*answer)["content"].value("confirm", Json()) == true;
  invocation.result(mcp::text_result((confirmed ? "Deleted " : "Kept ") + file + "."));
}

void ask_two_at_once(mcp::Invocation& invocation) {
  const Json* const name = form_answer(invocation, "name");
  const Json* const color = form_answer(invocation, "color");
  if (name == nullptr || color == nullptr) {
    return invocation.ask({question("name", "What is your name?", "name"), question("color", "Which color?", "color")});
  }
  invocation.result(mcp::text_result(text_of(*name, "name") + " likes " + text_of(*color, "color") + "."));
}

// Becomes a task only when it has its answer.
void greet_late(asio::io_context& loop, mcp::Invocation& invocation) {
  const Json* const answer = form_answer(invocation, "user_name");
  if (answer == nullptr) return invocation.ask({question("user_name", "What is your name?", "name")});
  after(loop, 200ms, invocation, [invocation = invocation.shared_from_this(), name = text_of(*answer, "name")] {
    invocation->result(mcp::text_result("Hello, " + name + "!"));
  });
}

}  // namespace

void add_task_tools(mcp::Catalogue& catalogue, asio::io_context& loop) {
  const auto with_loop = [&loop](void (*run)(asio::io_context&, mcp::Invocation&)) -> mcp::InvokeFunction {
    return [&loop, run](mcp::Invocation& invocation) { run(loop, invocation); };
  };
  const Json text{{"type", "string"}};
  catalogue.add(make_tool("greet", "Greets, at once", greet, object_with({{"name", text}})));
  catalogue.add(task_tool("slow_compute", "Takes as many seconds as it is told to", with_loop(compute_slowly),
                          object_with({{"seconds", {{"type", "number"}}}, {"label", text}})));
  catalogue.add(task_tool("failing_job", "Fails after a second; only as a task", with_loop(fail_late)));
  catalogue.add(task_tool("protocol_error_job", "Ends with an error of the protocol", with_loop(break_late)));
  catalogue.add(task_tool("confirm_delete", "Asks before it pretends to delete a file", delete_if_confirmed,
                          object_with({{"filename", text}})));
  catalogue.add(task_tool("multi_input", "Asks two things at once", ask_two_at_once));
  mcp::Tool late = make_tool("test_tool_with_task", "Asks for a name, and greets as a task", with_loop(greet_late));
  late.as_task = [](const mcp::InvocationRequest& request) { return request.inputs.contains("user_name"); };
  catalogue.add(std::move(late));
  catalogue.offers_tasks = true;
}

}  // namespace rkllm_mcp::conformance
