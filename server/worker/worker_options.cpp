#include "worker/worker_options.hpp"

#include <rkllm_mcp/json.hpp>

#include <stdexcept>

namespace rkllm_mcp {

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
    return {told.at("library"), told.at("version"), told.at("abi"),
            {told.at("model_dirs"), told.at("cache_dir"), told.at("cache_bytes")}};
  } catch (const Json::exception& error) {
    throw std::invalid_argument(error.what());
  }
}

}  // namespace rkllm_mcp
