// One prompt, answered inside this very process: no server, no sockets, only the generated bindings. Parameters are the
// JSON of the wire, so that a mistake is told with its path, and one program serves every version of the runtime.
//
//   ask LIBRARY MODEL PROMPT      e.g. ask /usr/lib/librkllmrt.so model.rkllm "Why is the sky blue?"
#include "runtime_library.hpp"
#include "token_printer.hpp"

#include <exception>
#include <iostream>
#include <string>

using rkllm_mcp::Json;

namespace {

bool ask(const RuntimeLibrary& library, const std::string& model, const std::string& prompt) {
  rkllm_mcp::HandleRecord handle;
  handle.id = "llm-1";
  TokenPrinter printer;
  library.call("rkllm_init", {{"param", {{"model_path", model}}}}, handle);
  library.call("rkllm_run", {{"rkllm_input", {{"prompt_input", prompt}}}}, handle, &printer);
  library.call("rkllm_destroy", Json::object(), handle);
  return printer.finished();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: " << argv[0] << " LIBRARY MODEL PROMPT\n";
    return 2;
  }
  try {
    const RuntimeLibrary library(argv[1]);
    std::cerr << "runtime " << library.version() << "\n";
    const bool finished = ask(library, argv[2], argv[3]);
    std::cout << "\n";
    return finished ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
