#include "fixtures.hpp"

#include <algorithm>
#include <utility>

namespace rkllm_mcp::conformance {
namespace {

bool has_all(const mcp::Invocation& invocation, const mcp::InputRequests& requests) {
  return std::all_of(requests.begin(), requests.end(),
                     [&invocation](const mcp::InputRequest& each) { return invocation.input(each.key) != nullptr; });
}

void greet_by_name(mcp::Invocation& invocation) {
  const Json* const answer = form_answer(invocation, "user_name");
  if (answer == nullptr) return invocation.ask({question("user_name", "What is your name?", "name")});
  invocation.result(mcp::text_result("Hello, " + text_of(*answer, "name") + "!"));
}

void ask_model(mcp::Invocation& invocation) {
  if (invocation.input("capital_question") == nullptr) {
    return invocation.ask({sampling("capital_question", "What is the capital of France?", 100)});
  }
  invocation.result(mcp::text_result(sampled_text(invocation, "capital_question")));
}

void list_roots(mcp::Invocation& invocation) {
  const Json* const answer = invocation.input("client_roots");
  if (answer == nullptr) return invocation.ask({roots("client_roots")});
  invocation.result(mcp::text_result("The client's roots: " + answer->dump()));
}

// The state is of no use but to be seen unchanged; that it is, the library guarantees.
void confirm_with_state(mcp::Invocation& invocation) {
  const Json expected{{"confirming", true}};
  if (form_answer(invocation, "confirm") == nullptr || invocation.state() != expected) {
    return invocation.ask({form("confirm", "Please confirm", Json{{"ok", {{"type", "boolean"}}}}, Json::array({"ok"}))},
                          expected);
  }
  invocation.result(mcp::text_result("state-ok"));
}

void ask_everything(mcp::Invocation& invocation) {
  const mcp::InputRequests all{question("user_name", "What is your name?", "name"),
                               sampling("greeting", "Generate a greeting", 50), roots("client_roots")};
  if (!has_all(invocation, all)) return invocation.ask(all, Json{{"asked", all.size()}});
  invocation.result(mcp::text_result(text_of(*form_answer(invocation, "user_name"), "name") + ": " +
                                     sampled_text(invocation, "greeting")));
}

// One question after the other: what the first round learned is in the state of the second.
void ask_twice(mcp::Invocation& invocation) {
  const Json& state = invocation.state();
  const Json* const name = form_answer(invocation, "step1");
  const Json* const color = form_answer(invocation, "step2");
  const int round = state.is_object() ? state.value("round", 0) : 0;
  if (round == 2 && color != nullptr) {
    return invocation.result(
        mcp::text_result(state["name"].get<std::string>() + " likes " + text_of(*color, "color") + "."));
  }
  if (round == 1 && name != nullptr) {
    return invocation.ask({question("step2", "Step 2: What is your favorite color?", "color")},
                          Json{{"round", 2}, {"name", text_of(*name, "name")}});
  }
  invocation.ask({question("step1", "Step 1: What is your name?", "name")}, Json{{"round", 1}});
}

void ask_what_can_be_answered(mcp::Invocation& invocation) {
  mcp::InputRequests all{question("user_name", "What is your name?", "name"),
                         sampling("greeting", "Generate a greeting", 50), roots("client_roots")};
  std::erase_if(all, [&invocation](const mcp::InputRequest& each) {
    return !invocation.client().can(mcp::capability_for(each.method));
  });
  if (!has_all(invocation, all)) return invocation.ask(std::move(all));
  invocation.result(mcp::text_result("Answered: " + std::to_string(all.size())));
}

}  // namespace

void add_input_required_tools(mcp::Catalogue& catalogue) {
  const auto add = [&catalogue](const char* suffix, const char* description, mcp::InvokeFunction run) {
    catalogue.add(make_tool(std::string("test_input_required_result_") + suffix, description, std::move(run)));
  };
  add("elicitation", "Greets who has told a name", greet_by_name);
  add("sampling", "Lets the client's model answer", ask_model);
  add("list_roots", "Asks for the client's roots", list_roots);
  add("request_state", "Asks, and leaves state with the client", confirm_with_state);
  add("multiple_inputs", "Asks for three things at once", ask_everything);
  add("multi_round", "Asks twice", ask_twice);
  add("tampered_state", "Leaves state that must come back unchanged", confirm_with_state);
  add("capabilities", "Asks only for what the client can answer", ask_what_can_be_answered);
}

}  // namespace rkllm_mcp::conformance
