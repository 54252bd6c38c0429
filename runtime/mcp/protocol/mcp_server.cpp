#include "mcp/protocol/mcp_server.hpp"

#include "auth/access_tokens.hpp"
#include "call/permission.hpp"
#include "faults.hpp"
#include "json_members.hpp"
#include "jsonrpc/envelope.hpp"
#include "jsonrpc/unread.hpp"
#include "mcp/catalogue.hpp"
#include "mcp/lists/lists.hpp"
#include "mcp/lists/resources.hpp"
#include "mcp/protocol/agreed_names.hpp"
#include "mcp/protocol/era.hpp"
#include "mcp/protocol/handshake.hpp"
#include "mcp/protocol/request_responder.hpp"
#include "mcp/protocol/revisions.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/nearest_name.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::mcp {
namespace {

constexpr std::size_t kEnvelopeBytes = 1024;  // of a list's reply besides its entries
// Both change when a runtime comes or goes, and subscribers are told. Lists differ from client to client, since each is
// shown what its token permits.
constexpr Freshness kOfDiscovery{std::chrono::minutes(1), Freshness::Scope::kPublic};
constexpr Freshness kOfLists{std::chrono::minutes(1), Freshness::Scope::kPrivate};

RpcError unsupported_revision(const std::string& asked_for) {
  const std::string told = shortened(asked_for);
  return {ErrorCode::kUnsupportedRevision, "protocol revision " + to_text(told) + " is not served this way",
          Json{{"supported", stateless_revisions()}, {"requested", told}}};
}

// What tools may ask of the client. (The rest of what it says, as much as it may be, is not kept.)
Json known_capabilities(const Json& params) {
  Json known = Json::object();
  const auto capabilities = params.find("capabilities");
  if (capabilities == params.end() || !capabilities->is_object()) return known;
  for (const char* const name : {"sampling", "elicitation", "roots"}) {
    if (capabilities->contains(name)) known[name] = Json::object();
  }
  return known;
}

bool may_hear_all(const Session& session) { return session.principal != nullptr && session.principal->may_admin; }

// Each progress notification repeats it: so it may be no longer than an id.
Json progress_token_of(const Json& params, const Server::Options& options) {
  const auto meta = params.find("_meta");
  if (meta == params.end() || !meta->is_object()) return nullptr;
  const auto token = meta->find("progressToken");
  if (token == meta->end() || !(token->is_string() || token->is_number_integer())) return nullptr;
  if (to_text(*token).size() > options.max_id_bytes) {
    count(options.counts, Limit::kIdBytes);
    throw InvalidParams("params._meta.progressToken",
                        "is longer than " + std::to_string(options.max_id_bytes) + " bytes");
  }
  return *token;
}

// The members of _meta that are nobody's but the client's.
Json free_meta_of(const Json& params) {
  const auto meta = params.find("_meta");
  if (meta == params.end() || !meta->is_object()) return nullptr;
  Json free = members_where(*meta, [](const std::string& name, const Json&) {
    return name != "progressToken" && !name.starts_with(kMetaPrefix);
  });
  if (free.empty()) return nullptr;
  return free;
}

// The error for a document that does not exist has another code in MCP than in the direct dialect.
std::exception_ptr as_missing(const std::string& uri, const std::exception_ptr& error) {
  const RpcError known = as_rpc_error(error);
  if (known.code() != ErrorCode::kResourceNotFound) return error;
  constexpr std::size_t kLongestTold = 256;
  return std::make_exception_ptr(RpcError(ErrorCode::kInvalidParams,
                                          "params.uri: no resource " + to_text(shortened(uri)) + " exists",
                                          Json{{"uri", uri.size() <= kLongestTold ? uri : shortened(uri)}}));
}

}  // namespace

Server::Server(asio::io_context& loop, const Catalogue& catalogue, const Options& options)
    : catalogue_(catalogue),
      options_(options),
      server_({{"name", catalogue.name}, {"version", catalogue.version}}),
      subscriptions_(server_),
      tasks_(
          loop, server_,
          [this](const Principal* owner, const std::string& id, const Json& state) {
            subscriptions_.task_changed(owner, id, state);
          },
          options.memory) {}

const Server::Handler* Server::handler_of(std::string_view method) {
  static constexpr std::array kHandlers{Handler{"initialize", &Server::initialize},
                                        Handler{"ping", &Server::ping},
                                        Handler{"server/discover", &Server::discover},
                                        Handler{"tools/list", &Server::tools},
                                        Handler{"tools/call", &Server::call_tool},
                                        Handler{"resources/list", &Server::resources},
                                        Handler{"resources/templates/list", &Server::resource_templates},
                                        Handler{"resources/read", &Server::read},
                                        Handler{"resources/subscribe", &Server::subscribe},
                                        Handler{"resources/unsubscribe", &Server::unsubscribe},
                                        Handler{"subscriptions/listen", &Server::listen},
                                        Handler{"prompts/list", &Server::prompts},
                                        Handler{"prompts/get", &Server::get_prompt},
                                        Handler{"completion/complete", &Server::complete_argument},
                                        Handler{"logging/setLevel", &Server::set_log_level},
                                        Handler{"tasks/get", &Server::get_task},
                                        Handler{"tasks/update", &Server::update_task},
                                        Handler{"tasks/cancel", &Server::cancel_task}};
  const auto found =
      std::find_if(kHandlers.begin(), kHandlers.end(), [method](const Handler& each) { return each.method == method; });
  return found == kHandlers.end() ? nullptr : &*found;
}

ClientContext Server::client_of(const Request& request, const Session& session) const {
  if (!is_stateless_request(request.params)) {
    const Revision& revision = newest_handshake_revision();
    return revision.era.client_of(revision, request.params, session);
  }
  const Json claim = *claimed_revision(request.params);
  if (!claim.is_string()) throw InvalidParams(std::string("params._meta.") + kMetaRevision, "expected string");
  const Revision* const revision = find_revision(claim.get<std::string>());
  if (revision == nullptr) throw unsupported_revision(claim.get<std::string>());
  return revision->era.client_of(*revision, request.params, session);
}

bool Server::handle(const Request& request, Session& session, Reply& reply) {
  const Handler* const handler = handler_of(request.method);
  const bool is_stateless = is_stateless_request(request.params);
  if (handler == nullptr && !is_stateless) return false;
  if (request.method != "ping" || is_stateless) session.speaks_mcp = true;  // callers of C functions ping, too
  const ClientContext client = client_of(request, session);
  if (handler != nullptr && client.revision->serves(request.method)) {
    (this->*handler->run)({request, client, session, reply});
    return true;
  }
  if (!is_stateless) return false;
  // A request that names a stateless revision is meant for MCP, and never is a direct call.
  throw RpcError(ErrorCode::kMethodNotFound, "revision " + std::string(client.revision->name) + " has no method " +
                                                 to_text(shortened(request.method)));
}

void Server::handle(const Notification& notification, Session& session, const Peer& client) {
  if (notification.method == "notifications/initialized" && session.handshake) return subscriptions_.add(session);
  if (notification.method != "notifications/cancelled") return;  // the others need no action
  if (has_fault("who cancels a tool's call is not heard")) return;
  const Json& params = notification.params;
  if (params.is_object() && params.contains("requestId")) session.cancel_request(params["requestId"], client);
}

void Server::handle(const Response& response, Session& session) {
  if (session.handshake) session.handshake->requests.take(response);
}

void Server::answer(const Asked& asked, Json body, const std::optional<Freshness>& freshness) const {
  asked.reply.result(asked.client.revision->era.result(std::move(body), freshness, server_));
}

// --- who is there ---------------------------------------------------------------------------------------------------

Json Server::capabilities(const Era& era) const {
  Json all{{"tools", {{"listChanged", true}}},
           {"resources", {{"subscribe", true}, {"listChanged", true}}},
           {"prompts", {{"listChanged", true}}},
           {"completions", Json::object()},
           {"logging", Json::object()}};
  if (catalogue_.offers_tasks && !era.has_handshake()) all["extensions"] = {{kTasksExtension, Json::object()}};
  return all;
}

void Server::initialize(const Asked& asked) {
  const Json& params = asked.request.params;
  const Revision& revision = negotiated_revision(required_text_in(params, "protocolVersion"));
  if (!asked.session.shared()) {
    const auto& before = asked.session.handshake;
    if (before && before->requests.any()) {
      throw RpcError(ErrorCode::kInvalidRequest,
                     "a call waits for this client's answer: answer it, or cancel the call, before another initialize");
    }
    asked.session.handshake = std::make_shared<Handshake>(Handshake{&revision, known_capabilities(params)});
    asked.session.handshake->outlet = asked.session.outlet;
    asked.session.handshake->principal = asked.session.principal;
  }
  answer(asked,
         Json{{"protocolVersion", revision.name},
              {"capabilities", capabilities(revision.era)},
              {"serverInfo", {{"name", catalogue_.name}, {"title", catalogue_.title}, {"version", catalogue_.version}}},
              {"instructions", catalogue_.instructions}});
}

void Server::ping(const Asked& asked) { answer(asked, Json::object()); }

void Server::discover(const Asked& asked) {
  answer(asked,
         Json{{"supportedVersions", stateless_revisions()},
              {"capabilities", capabilities(asked.client.revision->era)},
              {"instructions", catalogue_.instructions}},
         kOfDiscovery);
}

void Server::set_log_level(const Asked& asked) {
  const auto level = severity_named(required_text_in(asked.request.params, "level"));
  if (!level) throw InvalidParams("params.level", "no such level");
  if (asked.session.handshake) {
    if (may_hear_all(asked.session)) asked.session.handshake->log_level = level;
    subscriptions_.add(asked.session);
  }
  answer(asked, Json::object());
}

// --- lists and documents --------------------------------------------------------------------------------------------

PageLimits Server::page_limits(const Asked& asked) const {
  const std::size_t most = asked.reply.peer().facts().max_message_bytes;
  return {options_.page_items, most - std::min(most, kEnvelopeBytes)};
}

void Server::tools(const Asked& asked) {
  answer(asked, list_tools(catalogue_, asked.session, asked.request.params, page_limits(asked)), kOfLists);
}

void Server::answer_later(const Asked& asked, const std::function<void(DoneFunction)>& begin) {
  check_quota(asked.session, asked.reply.peer(), options_.requests_per_session, options_.counts);
  // What a service tells may have changed a moment later.
  begin([this, revision = asked.client.revision, reply = asked.reply.shared_from_this(),
         progress = std::make_shared<InProgress>(asked.session, asked.reply, InProgress::Cancelled::kSilent)](
            Json body, const std::exception_ptr& error) {
    if (error) return reply->error(as_rpc_error(error));
    reply->result(revision->era.result(std::move(body), Freshness{}, server_));
  });
}

void Server::resources(const Asked& asked) {
  if (lists_documents(catalogue_, asked.request.params)) {
    return answer_later(asked, [&](DoneFunction done) {
      list_with_documents(catalogue_, asked.session, asked.request.params, page_limits(asked), std::move(done));
    });
  }
  answer(asked, list_resources(catalogue_, asked.session, asked.request.params, page_limits(asked)), kOfLists);
}

void Server::resource_templates(const Asked& asked) {
  answer(asked, list_resource_templates(catalogue_, asked.session, asked.request.params, page_limits(asked)), kOfLists);
}

void Server::prompts(const Asked& asked) {
  answer(asked, list_prompts(catalogue_, asked.session, asked.request.params, page_limits(asked)), kOfLists);
}

void Server::read(const Asked& asked) {
  const std::string uri = required_text_in(asked.request.params, "uri");
  if (const auto fetch = catalogue_.fetch ? catalogue_.fetch(uri) : nullptr) {
    check_quota(asked.session, asked.reply.peer(), options_.requests_per_session, options_.counts);
    return new_invocation(request_for(asked, uri), fetch)->run();
  }
  if (const auto* const found = service_offering(catalogue_, uri)) {
    return answer_later(asked, [&, service = *found](DoneFunction done) {
      service->documents.read(*asked.session.principal, uri,
                              [service, uri, done = std::move(done)](Json body, const std::exception_ptr& error) {
                                done(std::move(body), error ? as_missing(uri, error) : nullptr);
                              });
    });
  }
  auto reading = read_resource(catalogue_, asked.session, uri);
  answer(asked, std::move(reading.body), reading.freshness);
}

void Server::complete_argument(const Asked& asked) {
  if (!asked.request.params.is_object()) throw InvalidParams("params", "expected object");
  answer(asked, complete(catalogue_, asked.session, asked.request.params));
}

// --- news -----------------------------------------------------------------------------------------------------------

// Any address may be watched: what it names may come to be.
void Server::subscribe(const Asked& asked) {
  constexpr std::size_t kMost = 256;
  std::string uri = watchable(required_text_in(asked.request.params, "uri"), "params.uri");
  if (const auto& handshake = asked.session.handshake) {
    if (handshake->resources.size() >= kMost) {
      throw RpcError(ErrorCode::kQueueFull, "too many subscriptions", Json{{"queued", kMost}, {"limit", kMost}});
    }
    handshake->resources.insert(std::move(uri));
    subscriptions_.add(asked.session);
  }
  answer(asked, Json::object());
}

void Server::unsubscribe(const Asked& asked) {
  const std::string uri = required_text_in(asked.request.params, "uri");
  const auto& handshake = asked.session.handshake;
  if (handshake && !has_fault("who has unsubscribed is told all the same")) handshake->resources.erase(uri);
  answer(asked, Json::object());
}

void Server::listen(const Asked& asked) {
  check_quota(asked.session, asked.reply.peer(), options_.requests_per_session, options_.counts);
  subscriptions_.listen(asked.request.params, asked.client, asked.session, asked.reply);
}

void Server::log(Severity level, std::string_view logger, const Json& data) {
  subscriptions_.log(level, logger, data);
  for (const auto& weak : hearers_) {
    if (const auto invocation = weak.lock()) invocation->log(level, logger, data);
  }
}

namespace {

InvalidParams no_such(const std::string& kind, const std::string& name, const std::vector<std::string_view>& known) {
  return {"params.name", "no " + kind + " " + to_text(shortened(name)) + " exists" + did_you_mean(name, known)};
}

// The names of the tools or prompts that the client may use, those that are not listed included.
template <class Entry>
std::vector<std::string_view> names_for(const std::vector<Immutable<Entry>>& entries, const Session& session) {
  std::vector<std::string_view> names;
  for (const auto& entry : entries) {
    if (is_permitted(session, entry->permission)) names.push_back(entry->name);
  }
  return names;
}

}  // namespace

// --- tools, prompts, tasks ------------------------------------------------------------------------------------------

InvocationRequest Server::request_for(const Asked& asked, std::string name) const {
  const Json& params = asked.request.params;
  InvocationRequest wanted{asked.session.shared_from_this(), asked.reply.shared_from_this(), asked.client,
                           asked.request.method, std::move(name)};
  wanted.seal = &seal_;
  if (const Json* const arguments = given_in(params, "arguments")) {
    if (!arguments->is_object()) throw InvalidParams("params.arguments", "expected object");
    wanted.arguments = *arguments;
  }
  wanted.progress_token = progress_token_of(params, options_);
  wanted.meta = free_meta_of(params);
  if (const Json* const inputs = given_in(params, "inputResponses")) {
    if (!inputs->is_object()) throw InvalidParams("params.inputResponses", "expected object");
    wanted.inputs = *inputs;
  }
  if (given_in(params, "requestState") != nullptr) {
    wanted.state = seal_.open(required_text_in(params, "requestState"), subject_of(wanted));
  }
  wanted.outlives_exchange =
      asked.client.revision->era.has_handshake() && asked.reply.peer().facts().transport == TransportKind::kHttp;
  return wanted;
}

std::shared_ptr<Invocation> Server::new_invocation(InvocationRequest wanted, const InvokeFunction& run) {
  const Revision& revision = *wanted.client.revision;
  // What the server's parts print may be about anybody's requests.
  const bool hears = may_hear_all(*wanted.session) && wanted.client.log_level && !revision.era.has_handshake();
  auto requester = std::make_unique<RequestResponder>(*wanted.reply, revision, server_);
  auto invocation = std::make_shared<Invocation>(std::move(wanted), std::move(requester), run);
  if (hears) {
    hearers_.remove_if([](const auto& each) { return each.expired(); });
    hearers_.push_back(invocation);
  }
  return invocation;
}

namespace {

// Gemini CLI adds an argument of its own to every tool, and passes on what its model makes of it.
void drop_what_hosts_add(const Tool& tool, Json& arguments) {
  constexpr const char* kByGeminiCli = "wait_for_previous";
  if (!arguments.is_object()) return;  // they have not been read
  const auto own = tool.input_schema.find("properties");
  if (own == tool.input_schema.end() || !own->contains(kByGeminiCli)) arguments.erase(kByGeminiCli);
}

}  // namespace

void Server::call_tool(const Asked& asked) {
  std::string name = required_text_in(asked.request.params, "name");
  const auto* const found = catalogue_.tool(name);
  if (found == nullptr) throw no_such("tool", name, names_for(catalogue_.tools, asked.session));
  const Immutable<Tool> tool = *found;
  auto wanted = request_for(asked, std::move(name));
  if (!tool->takes_unread) {
    wanted.arguments = read_whole(std::move(wanted.arguments), kMostValuesReadOnLoop);
    wanted.inputs = read_whole(std::move(wanted.inputs), kMostValuesReadOnLoop);
  }
  drop_what_hosts_add(*tool, wanted.arguments);
  const bool knows_tasks = catalogue_.offers_tasks && asked.client.revision->serves("tasks/get") &&
                           asked.client.has_extension(kTasksExtension);
  // The function holds the tool: the catalogue may change while it runs.
  const InvokeFunction run = [tool](Invocation& invocation) { tool->run(invocation); };
  try {
    permit(asked.session, tool->permission);
    check_quota(asked.session, asked.reply.peer(), options_.requests_per_session, options_.counts);
    if (knows_tasks && tool->as_task && tool->as_task(wanted) && tasks_.make_room_for(asked.session.principal)) {
      return answer(asked, tasks_.begin(std::move(wanted), run));
    }
  } catch (const RpcError& error) {
    return answer(asked, tool_error(error));
  }
  new_invocation(std::move(wanted), run)->run();
}

// A prompt is written on the event loop, and is for a person to look at.
constexpr std::size_t kLongestPromptArgument = std::size_t{1} << 20U;

void Server::get_prompt(const Asked& asked) {
  std::string name = required_text_in(asked.request.params, "name");
  const auto* const found = catalogue_.prompt(name);
  if (found == nullptr) throw no_such("prompt", name, names_for(catalogue_.prompts, asked.session));
  const Immutable<Prompt> prompt = *found;
  permit(asked.session, prompt->permission);
  check_quota(asked.session, asked.reply.peer(), options_.requests_per_session, options_.counts);
  auto wanted = request_for(asked, std::move(name));
  std::set<std::string> given;
  const auto is_given = [&given](const std::string& argument, const Json& value) {
    if (value.is_null()) return false;
    if (!value.is_string()) throw InvalidParams("params.arguments." + argument, "expected string");
    if (value.get_ref<const std::string&>().size() > kLongestPromptArgument) {
      throw InvalidParams("params.arguments." + argument,
                          "is longer than " + std::to_string(kLongestPromptArgument) + " bytes");
    }
    given.insert(argument);
    return true;
  };
  wanted.arguments = members_where(std::move(wanted.arguments), is_given);
  for (const auto& argument : prompt->arguments) {
    if (argument.required && !given.contains(argument.name)) {
      throw InvalidParams("params.arguments." + argument.name, "missing");
    }
  }
  new_invocation(std::move(wanted), [prompt](Invocation& invocation) { prompt->run(invocation); })->run();
}

namespace {

void require_tasks(const ClientContext& client) {
  if (client.has_extension(kTasksExtension)) return;
  throw missing_capability(Json{{"extensions", {{kTasksExtension, Json::object()}}}});
}

}  // namespace

void Server::get_task(const Asked& asked) {
  require_tasks(asked.client);
  answer(asked, tasks_.get(asked.request.params, asked.session.principal));
}

void Server::update_task(const Asked& asked) {
  require_tasks(asked.client);
  answer(asked, tasks_.update(asked.request.params, asked.session.principal));
}

void Server::cancel_task(const Asked& asked) {
  require_tasks(asked.client);
  answer(asked, tasks_.cancel(asked.request.params, asked.session.principal));
}

void Server::end() {
  tasks_.cancel_all();
  subscriptions_.end();
}

}  // namespace rkllm_mcp::mcp
