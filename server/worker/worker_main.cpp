#include "worker/worker_main.hpp"

#include "clock.hpp"
#include "library/library_engine.hpp"
#include "process/descriptor.hpp"
#include "worker/child_process.hpp"
#include "worker/control_socket.hpp"
#include "worker/served_model.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <fcntl.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

constexpr int kExitNoLibrary = 3;
// For the library to come back from its calls. Clearly less than WorkerConnection waits for the end of a worker that
// has closed its sockets, before it kills it.
constexpr std::chrono::milliseconds kToLeave{500};

// Signals are for the server; a worker ends when its control socket closes, and is killed when its server dies.
void prepare_process() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_IGN);
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // the library's lines are to arrive as they are printed
  raise_file_limit();                             // the library opens one descriptor per buffer
}

LoadedLibrary load(const WorkerOptions& options) {
  LibraryFile file = inspect_library(options.library);
  if (file.version != options.version) {  // its structs may have other layouts
    throw std::runtime_error(file.path + " has been replaced: it was version " + options.version + ", and is " +
                             file.version + " now; restart the server to use it");
  }
  const AbiSet& abi = *choose_abi_set(file.version, options.abi).set;
  return LoadedLibrary(std::move(file), abi);
}

// Until the server has closed the control socket, or has died.
void serve(const LoadedLibrary& library, const WorkerOptions& options, ProcessTitle& title) {
  LibraryEngine engine(library, FileRules(options.files));
  const Descriptor control(ChildProcess::kControlSocket);
  ::fcntl(control.number(), F_SETFD, FD_CLOEXEC);  // what the library starts has no business there
  std::vector<std::unique_ptr<ServedModel>> models;
  while (auto sockets = take_sockets(control)) {
    std::erase_if(models, [](const auto& model) { return model->has_ended(); });
    if (sockets->ends.second.number() < 0) continue;  // too many files are open; the server sees the end
    try {
      models.push_back(
          std::make_unique<ServedModel>(engine, library.abi().methods, sockets->label, std::move(sockets->ends),
                                        [&title](const std::string& name) { title.show("rkllm-mcp: " + name); }));
    } catch (const std::system_error& error) {  // no thread can be started; the same
      std::fprintf(stderr, "E rkllm-mcp: %s\n", error.what());
    }
  }
  for (const auto& model : models) model->end();
  const auto deadline = Clock::now() + kToLeave;
  // A library that does not come back is left behind.
  for (const auto& model : models) {
    if (!model->wait_for_end(deadline)) std::_Exit(EXIT_SUCCESS);
  }
}

}  // namespace

int run_worker(const WorkerOptions& options, ProcessTitle& title) {
  prepare_process();
  try {
    serve(load(options), options, title);
    return EXIT_SUCCESS;
  } catch (const RpcError& error) {
    std::fprintf(stderr, "E worker: %s\n", error.data().value("reason", std::string(error.what())).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "E worker: %s\n", error.what());
  }
  return kExitNoLibrary;
}

std::vector<std::string> to_arguments(const WorkerOptions& options) {
  return {"work", Json{{"library", options.library},
                       {"version", options.version},
                       {"abi", options.abi},
                       {"model_dirs", options.files.models},
                       {"cache_dir", options.files.cache},
                       {"cache_bytes", options.files.cache_bytes}}
                      .dump()};
}

WorkerOptions worker_options_from(const std::vector<std::string>& arguments) {
  const Json told = arguments.size() == 1 ? Json::parse(arguments[0], nullptr, false) : Json();
  if (!told.is_object()) throw std::invalid_argument("work is for the server itself, which tells it what to do");
  try {
    return {told.at("library"),
            told.at("version"),
            told.at("abi"),
            {told.at("model_dirs"), told.at("cache_dir"), told.at("cache_bytes")}};
  } catch (const Json::exception& error) {
    throw std::invalid_argument(error.what());
  }
}

}  // namespace rkllm_mcp
