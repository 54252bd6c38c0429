#include "app/services/chat_service.hpp"

#include "backend/file_rules.hpp"
#include "chat/assistant/kept_conversation.hpp"
#include "chat/assistant/profile/profile.hpp"
#include "chat/assistant/servers/service_server.hpp"
#include "version.hpp"

#include "log.hpp"
#include "memory/memory_service.hpp"
#include "tools/tool_server.hpp"

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {
namespace {

static_assert(chat::kMemoryServer == memory::kServiceName);

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
                                        MemoryBudget memory, std::function<bool()> is_simulated,
                                        chat::ResponseStore* responses) {
  chat::ChatRoutes::Options options;
  options.responses = responses;
  options.warn_of_unkept = [&log](const std::string& id, const std::string& why) {
    log.warn("the response {} is not kept, and its client told so: {}", id, why);
  };
  options.heartbeat = settings.chat.heartbeat_s;
  options.most_held = settings.limits.stall_s;
  options.memory = std::move(memory);
  options.store = &store;
  options.answers.is_simulated = std::move(is_simulated);
  options.answers.most_reply_bytes = settings.limits.max_reply_bytes;
  options.version = std::string(kProgramVersion);
  options.warn_of_tokenizer = [&log](const std::string& path, const std::string& why) {
    log.warn("{} is not used: {}", path, why);
  };
  options.answers.report = [&log, format = settings.log.format](const chat::ChatNote& note) {
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

// How long other servers are waited for: a model may think for long, a search takes its time.
constexpr std::chrono::seconds kForTexts{300};
constexpr std::chrono::seconds kForTools{60};

chat::RemoteProvider::Options remote_options(const Settings& settings, std::chrono::seconds patience) {
  chat::RemoteProvider::Options options;
  options.patience = patience;
  options.user_agent = "rkllm-mcp/" + std::string(kProgramVersion);
  options.ca_file = settings.tools.ca_file;
  return options;
}

chat::AssistantOptions assistant_options(const Settings& settings, spdlog::logger& log) {
  chat::AssistantOptions options;
  options.summarize_threshold = settings.memory.summarize_threshold;
  options.most_summary_bytes = settings.memory.summary_max_bytes;
  options.guardrail_model = settings.chat.guardrail_model;
  options.report = [&log, format = settings.log.format](const chat::AssistantNote& note) {
    log_event(log, format, "assistant", [&note] {
      return Json{{"profile", note.profile},
                  {"peer", note.peer},
                  {"token", note.asker.empty() ? Json(nullptr) : Json(note.asker)},
                  {"server", note.server},
                  {"call", note.call},
                  {"total_ms", static_cast<double>(note.time.count()) / 1000},
                  {"outcome", note.error.empty() ? "ok" : note.error}};
    });
  };
  return options;
}

Immutable<mcp::Service> service_of_upstreams(std::vector<Immutable<mcp::Tool>> tools) {
  mcp::Service service;
  service.name = "upstreams";
  service.tools = std::move(tools);
  return Immutable(std::move(service));
}

}  // namespace

ChatService::ChatService(asio::io_context& loop, const Settings& settings, Gate& gate, chat::ModelLender& lender,
                         chat::ModelStore& store, spdlog::logger& log, MemoryBudget memory,
                         chat::ChatTools::Options tools, const std::vector<Immutable<mcp::Service>>& servers)
    : settings_(settings),
      log_(log),
      host_(lender, host_options(settings)),
      models_(host_),
      others_(loop, remote_options(settings, kForTexts)),
      remote_servers_(loop, remote_options(settings, kForTools)),
      assistants_(loop, host_,
                  {{chat::ProviderKind::kRuntime, &models_},
                   {chat::ProviderKind::kOllama, &others_},
                   {chat::ProviderKind::kOpenAi, &others_}},
                  assistant_options(settings, log)),
      responses_(tools.memory != nullptr && settings.chat.responses_days > 0
                     ? std::make_unique<chat::KeptResponses>(loop, tools.memory)
                     : nullptr),
      routes_(loop, gate, host_,
              route_options(settings, store, log, std::move(memory), tools.is_simulated, responses_.get())),
      tools_(loop, host_, std::move(tools)),
      service_(tools_.service()) {
  for (const auto& service : servers) {
    assistants_.servers().register_server(std::make_unique<chat::ServiceServer>(loop, service));
  }
  use_servers_elsewhere();
  auto upstreams = std::make_unique<chat::ServiceServer>(loop, service_of_upstreams({}));
  upstreams_ = upstreams.get();
  assistants_.servers().register_server(std::move(upstreams));
  read_profiles();
}

void ChatService::use_servers_elsewhere() {
  const char* const address = std::getenv("MCP_SERVER_URL");
  if (address == nullptr || *address == '\0') return;
  try {
    for (const auto name : std::array<std::string_view, 2>{memory::kServiceName, kToolServerName}) {
      assistants_.servers().register_server(remote_servers_.server(std::string(name), address));
    }
  } catch (const std::invalid_argument& error) {
    throw std::runtime_error(std::string("MCP_SERVER_URL: ") + error.what());
  }
  log_.info("assistants use the memory and the tool server at {} (MCP_SERVER_URL)", address);
}

void ChatService::use_upstreams(std::vector<Immutable<mcp::Tool>> tools) {
  upstreams_->renew(service_of_upstreams(std::move(tools)));
}

bool ChatService::read_profiles() {
  const bool were_some = !assistants_.profiles().empty();
  chat::ProfileFolder folder = chat::read_profiles(settings_.chat.profiles_dir);
  for (const std::string& complaint : folder.complaints) log_.error("{}", complaint);
  for (const std::string& complaint : assistants_.use(std::move(folder.profiles))) log_.error("{}", complaint);
  look_for_guardrail_model();
  mcp::Service service = *tools_.service();
  service.prompts = chat::prompts_of(assistants_.profiles());
  service_ = Immutable(std::move(service));
  return were_some || !assistants_.profiles().empty();
}

void ChatService::look_for_guardrail_model() {
  const std::string& name = settings_.chat.guardrail_model;
  if (name.empty() || assistants_.profiles().empty()) return;
  // Models that are files are known when the folders have been read.
  host_.lender().refresh([this, name, alive = alive_.watch()] {
    const bool is_path = name.find('/') != std::string::npos;
    if (alive.expired() || is_path || assistants_.is_model(name)) return;
    log_.warn("chat.guardrail_model: there is no model \"{}\" so far", name);
  });
}

Json ChatService::status() const {
  return Json{{"turns", host_.turns()},
              {"requests", routes_.open()},
              {"prompt_caches", {{"files", host_.caches().files()}, {"bytes", host_.caches().bytes()}}}};
}

}  // namespace rkllm_mcp
