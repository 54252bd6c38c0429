#include "app/services/services.hpp"

#include "chat/mcp/kept_responses.hpp"
#include "version.hpp"

#include <rkllm_mcp/nearest_name.hpp>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

// A conversation has two addresses: for its owner that with its id alone, for admins that with the space as well. Those
// who watch either are told.
void tell_of_conversation(mcp::Server& mcp, const memory::Key& key) {
  mcp.resource_updated(memory::uri_of(key, key.space),
                       [&key](const Principal& principal) { return principal.name == key.space; });
  const std::string elsewhere = key.space + "/";  // nobody owns this space, so that the address names the space
  mcp.resource_updated(memory::uri_of(key, elsewhere), [](const Principal& principal) { return principal.may_admin; });
}

void check_names(const Settings& settings) {
  for (const std::string& name : settings.services.only) {
    if (name == settings.server.name || std::ranges::count(kServiceNames, name) > 0) continue;
    std::vector<std::string_view> names{settings.server.name};
    names.insert(names.end(), kServiceNames.begin(), kServiceNames.end());
    std::string known;
    for (const std::string_view each : names) known.append(known.empty() ? "" : ", ").append(each);
    const std::string meant = did_you_mean(name, names);
    throw std::runtime_error("services.only: there is no server \"" + name + "\"" + meant +
                             (meant.empty() ? "; there are: " : " There are: ") + known);
  }
}

}  // namespace

memory::MemoryOptions memory_options(const Settings& settings) {
  const MemorySettings& given = settings.memory;
  memory::MemoryOptions options;
  options.database = given.database.empty() ? memory::default_database() : given.database;
  options.keep_recent = given.keep_recent_messages;
  options.most_bytes = given.max_bytes;
  options.when_full =
      given.when_full == MemoryWhenFull::kForget ? memory::WhenFull::kForget : memory::WhenFull::kRefuse;
  options.retention_days = given.retention_days;
  options.brief_spaces = chat::KeptResponses::kSpaces;
  options.brief_days = settings.chat.responses_days;
  options.answer_bytes = static_cast<std::int64_t>(settings.limits.max_message_bytes);
  return options;
}

bool is_wanted(const Settings& settings, std::string_view name) {
  return settings.services.only.empty() || std::ranges::count(settings.services.only, name) > 0;
}

Services::Services(asio::io_context& loop, const Settings& settings, spdlog::logger& log, const TellFunction& tell,
                   std::function<void()> removed) {
  check_names(settings);
  if (is_wanted(settings, memory::kServiceName)) {
    memory_.emplace(
        loop, memory_options(settings), log,
        memory::MemoryService::Events{
            .changed =
                [tell](const memory::Key& key) { tell([&key](mcp::Server& mcp) { tell_of_conversation(mcp, key); }); },
            .list_changed = [tell] { tell([](mcp::Server& mcp) { mcp.announce(mcp::Listed::kResources); }); },
            .removed = std::move(removed)});
    all_.push_back(memory_->service());
  }
  if (is_wanted(settings, kToolServerName)) {
    tools_.emplace(loop, settings.tools);
    all_.push_back(tools_->service());
  }
}

Json Services::status() const {
  Json status = Json::object();
  if (memory_) status[memory::kServiceName] = memory_->status();
  return status;
}

bool Services::is_well() const { return !memory_ || memory_->status()["state"] == "ready"; }

void Services::stop() {
  if (memory_) memory_->stop();
  if (tools_) tools_->stop();
}

void Services::add_to(mcp::Catalogue& catalogue) const {
  for (const auto& each : all_) mcp::add_service(catalogue, each);
}

std::vector<std::string> Services::names() const {
  std::vector<std::string> names;
  for (const auto& each : all_) names.push_back(each->name);
  return names;
}

mcp::Catalogue describe_services(const Settings& settings, const Services& services) {
  mcp::Catalogue catalogue;
  catalogue.name = settings.server.name;
  catalogue.title = "Services";
  catalogue.version = std::string(kProgramVersion);
  catalogue.is_server = false;
  services.add_to(catalogue);
  return catalogue;
}

ServicesPort::ServicesPort(asio::io_context& loop, const Settings& settings, const Services& services,
                           const Dispatcher::Options& options, HttpRoutes::StatusFunction health,
                           HttpRoutes::TextFunction metrics)
    : catalogue_(describe_services(settings, services)),
      backend_(loop),
      dispatcher_(loop, no_functions_, catalogue_, backend_, options),
      routes_(dispatcher_, settings.http.session_idle_s, std::nullopt, std::move(health), std::move(metrics)) {}

}  // namespace rkllm_mcp
