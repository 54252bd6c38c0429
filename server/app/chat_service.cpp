#include "app/chat_service.hpp"

#include "backend/file_rules.hpp"
#include "version.hpp"

#include "log.hpp"

#include <string>
#include <utility>

namespace rkllm_mcp {
namespace {

chat::HostOptions host_options(const Settings& settings) {
  const ChatSettings& given = settings.chat;
  chat::HostOptions options;
  options.warm_up_bytes = given.warm_up_bytes;
  options.structured_tries = given.structured_tries;
  options.most_cache_bytes = static_cast<std::uint64_t>(given.cache_bytes);
  const std::string below =
      settings.runtime.cache_dir.empty() ? FileRules::usual_cache_directory() : settings.runtime.cache_dir;
  if (!below.empty()) options.caches_folder = below + "/chat";
  return options;
}

chat::ChatRoutes::Options route_options(const Settings& settings, chat::ModelStore& store, spdlog::logger& log,
                                        std::shared_ptr<MemoryBudget> memory, std::function<bool()> is_simulated) {
  chat::ChatRoutes::Options options;
  options.heartbeat = settings.chat.heartbeat_s;
  options.stall = settings.limits.stall_s;
  options.memory = std::move(memory);
  options.store = &store;
  options.is_simulated = std::move(is_simulated);
  options.most_reply_bytes = settings.limits.max_reply_bytes;
  options.version = std::string(kProgramVersion);
  options.report = [&log, format = settings.log.format](const chat::ChatNote& note) {
    log_event(log, format, "chat", [&note] {
      return Json{{"id", note.request_id},
                  {"peer", note.peer},
                  {"path", shortened(note.path)},
                  {"token", note.asker.empty() ? Json(nullptr) : Json(note.asker)},
                  {"total_ms", static_cast<double>(note.time.count()) / 1000},
                  {"status", note.status}};
    });
  };
  return options;
}

}  // namespace

ChatService::ChatService(asio::io_context& loop, const Settings& settings, Gate& gate, chat::ModelLender& pool,
                         chat::ModelStore& store, spdlog::logger& log, std::shared_ptr<MemoryBudget> memory, chat::ChatTools::Options tools)
    : host_(pool, host_options(settings)),
      routes_(loop, gate, host_, route_options(settings, store, log, std::move(memory), tools.is_simulated)),
      tools_(loop, host_, std::move(tools)) {}

bool ChatService::handle(const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange) {
  if (!chat::ChatRoutes::serves(request)) return false;
  routes_.handle(request, exchange);
  return true;
}

Json ChatService::status() const {
  return Json{{"turns", host_.turns()},
              {"requests", routes_.open()},
              {"prompt_caches", {{"files", host_.caches().files()}, {"bytes", host_.caches().bytes()}}}};
}

}  // namespace rkllm_mcp
