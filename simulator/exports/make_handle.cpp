#include "exports/make_handle.hpp"

#include "board/library_log.hpp"
#include "engine/checked_instance.hpp"
#include "exports/convert.hpp"
#include "exports/live_handles.hpp"
#include "exports/version.hpp"

#include <exception>
#include <string>
#include <utility>

namespace rkllm_mcp::sim {

int make_handle(LLMHandle* handle, const RKLLMParam* param, std::unique_ptr<Client> client) {
  require_pointer(param, "rkllm_init: param is NULL");
  require_pointer(param->model_path, "rkllm_init: param->model_path is NULL");
  const Log log;
  log.info(kVersionText);
  void* made = nullptr;
  try {
    auto instance = std::make_unique<CheckedInstance>(options_from(*param), std::move(client));
    require_pointer(handle, "rkllm_init: handle is NULL");
    made = LiveHandles::instance().add(std::move(instance));
  } catch (const std::exception& refusal) {
    log.error(std::string("rkllm_init: ") + refusal.what());
    return -1;
  }
  *handle = made;
  return 0;
}

}  // namespace rkllm_mcp::sim
