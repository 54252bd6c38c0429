#include "app/description/prompts.hpp"

#include "app/description/api_resources.hpp"
#include "jsonrpc/envelope.hpp"

#include <functional>
#include <string>
#include <utility>

namespace rkllm_mcp {
namespace {

using TextFunction = std::function<std::string(const Json& arguments)>;

std::string argument(const Json& arguments, const char* name, const char* absent = "") {
  return arguments.value(name, std::string(absent));
}

// How the handle is to be named in a call: not at all, if it is the only one.
Json handle_member(const Json& arguments) {
  Json call = Json::object();
  if (arguments.contains("handle")) call["handle"] = arguments["handle"];
  return call;
}

std::string run_call(const Json& arguments, const std::string& prompt) {
  Json call = handle_member(arguments);
  call["rkllm_input"] = {{"prompt_input", prompt}};
  if (arguments.contains("mode")) call["rkllm_infer_params"] = {{"mode", arguments["mode"]}};
  return to_text(call);
}

// The call that makes the model say something.
std::string ask_call(bool by_function, const Json& arguments, const std::string& prompt) {
  if (by_function) return "rkllm_run with " + run_call(arguments, prompt);
  Json call{{"message", prompt}};
  if (arguments.contains("handle")) call["model"] = arguments["handle"];
  return "the tool chat with " + to_text(call);
}

std::string load_by_name(const Json& arguments) {
  return "Set up a language model on this board. Call the tool load_model with " +
         to_text(Json{{"model", argument(arguments, "model")}}) +
         ". If it fails, tell me how to mend it; list_models names the models that there are. Then call the tool "
         "status and tell me in one line which runtime it is and whether it is simulated.";
}

std::string set_up_model(const Json& presets, const Json& arguments) {
  const std::string model = argument(arguments, "model");
  const Json call = presets.contains(model) ? Json{{"model", model}} : Json{{"param", {{"model_path", model}}}};
  return "Set up a language model on this board. First call rkllm_init with " + to_text(call) +
         " and keep the handle that it returns. If it fails, read what the error says of the file, the memory and the "
         "NPU, and tell me how to mend it. Then read the resource rkllm://runtime and tell me in one line which "
         "runtime "
         "it is, on which platform, and whether it is simulated. Do not destroy the handle.";
}

std::string say_something(bool by_function, const Json& arguments) {
  return "Let the model that runs on this board answer, and give me its answer word for word. Call " +
         ask_call(by_function, arguments, argument(arguments, "message")) +
         (by_function ? ". If no handle exists, say so, and that the prompt set_up_model loads a model." : ".");
}

std::string summarize(bool by_function, const Json& arguments) {
  const std::string language = argument(arguments, "language", "the language of the text");
  const std::string question =
      "Summarize the following text in a few sentences, in " + language + ".\n\n" + argument(arguments, "text");
  return "Let the model that runs on this board summarize a text. Call " + ask_call(by_function, arguments, question) +
         " and give me the text of its answer.";
}

std::string use_tools(const Json& arguments) {
  Json call = handle_member(arguments);
  call["system_prompt"] = "";
  const std::string tools = argument(arguments, "tools");
  if (!Json::parse(tools, nullptr, false).is_array()) {
    throw InvalidParams("params.arguments.tools", "expected a JSON array of functions, as a string");
  }
  call["tools"] = tools;
  call["tool_response_str"] = "tool_response";
  Json ask = handle_member(arguments);
  ask["rkllm_input"] = {{"prompt_input", argument(arguments, "question")}};
  ask["rkllm_infer_params"] = {{"keep_history", 1}};
  Json tell = handle_member(arguments);
  tell["rkllm_input"] = {{"role", "tool"}, {"prompt_input", R"([{"name":"NAME","result":"OUTCOME"}])"}};
  tell["rkllm_infer_params"] = {{"keep_history", 1}};
  return "Let the model that runs on this board use tools. First call rkllm_set_function_tools with " + to_text(call) +
         "; it begins a new conversation, and fails if the model's chat template knows no tools. Then call rkllm_run "
         "with " +
         to_text(ask) +
         ". If its answer holds <tool_call> blocks, carry these calls out yourself and call rkllm_run again with " +
         to_text(tell) +
         ", where prompt_input is a JSON array, as a string, of one outcome for each call. Repeat that while the "
         "answer holds such blocks, at most five times; then give me the final answer.";
}

mcp::Prompt prompt(std::string name, std::string title, std::string description,
                   std::vector<mcp::PromptArgument> arguments, TextFunction text) {
  const auto run = [description, text = std::move(text)](mcp::Invocation& invocation) {
    const Json message{{"role", "user"}, {"content", mcp::text_block(text(invocation.arguments()))}};
    invocation.result(Json{{"description", description}, {"messages", Json::array({message})}});
  };
  return {std::move(name), std::move(title), std::move(description), std::move(arguments), run};
}

}  // namespace

void add_prompts(mcp::Catalogue& catalogue, const PromptKnowledge& knowledge) {
  const mcp::PromptArgument handle{"handle", "Handle", "Of the model, e.g. llm-1; not needed while there is only one.",
                                   false, complete_handle(knowledge.handles)};
  const mcp::PromptArgument mode{"mode", "Mode", "What the run is for, an RKLLMInferMode; text, if it is left out.",
                                 false, [document = knowledge.document](std::string_view, const Json&) {
                                   return enumerators_of(document, "RKLLMInferMode");
                                 }};
  const bool by_function = knowledge.lists_functions;
  catalogue.add(prompt("set_up_model", "Set up a model", "Load a model, and see what it runs on.",
                       {{"model", "Model", "A preset of the settings, or the path of an .rkllm file on the board.",
                         true, knowledge.models}},
                       [by_function, presets = knowledge.presets](const Json& arguments) {
                         return by_function ? set_up_model(presets, arguments) : load_by_name(arguments);
                       }));
  std::vector<mcp::PromptArgument> of_chat{{"message", "Message", "What to say.", true}, handle};
  if (by_function) of_chat.push_back(mode);
  catalogue.add(prompt("chat", "Chat", "Say something to the model on the board.", std::move(of_chat),
                       std::bind_front(say_something, by_function)));
  catalogue.add(prompt("summarize", "Summarize", "Let the model on the board summarize a text.",
                       {{"text", "Text", "The text.", true},
                        {"language", "Language", "Of the summary; that of the text, if it is left out.", false},
                        handle},
                       std::bind_front(summarize, by_function)));
  if (!by_function) return;  // only they hand functions to the model
  catalogue.add(prompt("use_tools", "Use tools", "Let the model on the board call functions.",
                       {{"question", "Question", "What the tools are to be used for.", true},
                        {"tools", "Tools", "Functions as a JSON array, in OpenAI's form.", true},
                        handle},
                       use_tools));
}

}  // namespace rkllm_mcp
