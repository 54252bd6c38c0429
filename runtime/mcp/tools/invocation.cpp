#include "mcp/tools/invocation.hpp"

#include "faults.hpp"
#include "jsonrpc/envelope.hpp"
#include "mcp/protocol/era.hpp"
#include "text/utf8.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

namespace rkllm_mcp::mcp {

Invocation::~Invocation() {
  if (ended_) return;
  requester_->error(RpcError(ErrorCode::kInternalError, "internal error: " + request_.name + " never ended"));
  finish();
}

void Invocation::run() {
  const auto self = shared_from_this();  // the tool may let go of it
  try {
    run_(*this);
  } catch (const RpcError& refusal) {
    error(refusal);
  } catch (...) {
    error(as_rpc_error(std::current_exception()));
    throw;  // a fault of our own
  }
}

const Json* Invocation::input(std::string_view key) const {
  const auto found = request_.inputs.find(key);
  return found == request_.inputs.end() ? nullptr : &*found;
}

void Invocation::notify(std::string_view method, const Json& params) {
  if (!ended_) requester_->notify(method, params);
}

void Invocation::progress(double done, std::optional<double> total, std::string_view message) {
  if (request_.progress_token.is_null()) return;
  Json params{{"progressToken", request_.progress_token}, {"progress", done}};
  if (total) params["total"] = *total;
  if (!message.empty()) params["message"] = message;
  notify("notifications/progress", params);
}

void Invocation::log(Severity level, std::string_view logger, const Json& data) {
  if (!request_.client.log_level || level < *request_.client.log_level || !ready()) return;
  notify("notifications/message", Json{{"level", name_of(level)}, {"logger", logger}, {"data", data}});
}

void Invocation::release_stream(std::chrono::milliseconds pause) {
  if (!ended_) request_.reply->answer().resume_after(pause);
}

void Invocation::result(Json body) {
  if (ended_) return;
  if (!body.is_object()) return error(RpcError(ErrorCode::kInternalError, "internal error: this is no result"));
  requester_->result(std::move(body));
  finish();
}

void Invocation::error(const RpcError& error) {
  if (ended_) return;
  requester_->error(error);
  finish();
}

bool Invocation::can_be_asked() const {
  return !request_.client.revision->era.has_handshake() || request_.reply->peer().facts().takes_messages;
}

bool Invocation::can_ask(std::string_view method) const {
  return request_.client.can(capability_for(method)) && can_be_asked();
}

void Invocation::ask(InputRequests requests, Json state) {
  if (ended_) return;
  for (const auto& request : requests) {
    const auto capability = capability_for(request.method);
    if (!request_.client.can(capability)) throw missing_capability(Json{{std::string(capability), Json::object()}});
  }
  if (!requests.empty() && !can_be_asked()) {
    throw RpcError(ErrorCode::kInvalidRequest,
                   "invalid request: " + request_.name +
                       " asks its client something, which cannot be told here; accept text/event-stream");
  }
  const auto self = shared_from_this();  // what is asked may be answered at once, and the tool end
  requester_->ask(*this, std::move(requests), std::move(state));
}

void Invocation::on_cancelled(std::function<void()> action) {
  if (ended_) return;
  cancelled_ = std::move(action);
  register_for_cancelling();
}

void Invocation::when_ended(std::function<void()> action) {
  if (ended_) return;
  when_ended_.push_back(std::move(action));
  register_for_cancelling();
}

void Invocation::register_for_cancelling() {
  if (registered_) return;
  registered_ = request_.session->add({.id = request_.reply->id(),
                                       .reply = request_.reply,
                                       .answers_when_cancelled = false,
                                       .outlives_exchange = request_.outlives_exchange,
                                       .on_cancelled =
                                           [weak = weak_from_this()] {
                                             const auto self = weak.lock();
                                             if (!self || self->ended_) return;
                                             if (const auto cancelled = std::exchange(self->cancelled_, {}))
                                               cancelled();
                                             self->request_.reply->nothing();
                                             self->finish();
                                           }},
                                      request_.reply->peer());
}

void Invocation::run_again(Json inputs, Json state) {
  if (ended_) return;
  request_.inputs = std::move(inputs);
  request_.state = std::move(state);
  run();
}

void Invocation::finish() {
  const auto self = weak_from_this().lock();  // what is called below may let go of it
  ended_ = true;
  cancelled_ = {};
  if (registered_) request_.session->remove(*std::exchange(registered_, std::nullopt));
  if (has_fault("a tool does not hear that its call has ended")) return;
  for (const auto& action : std::exchange(when_ended_, {})) action();
}

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& complaint) {
  throw InvalidParams(path, complaint);
}

void check_text(const Json& schema, const std::string& path, const Json& value) {
  if (!value.is_string()) refuse(path, "expected string");
  const std::size_t length = characters_in(value.get_ref<const std::string&>());
  if (length < schema.value("minLength", std::size_t{0})) refuse(path, "is too short");
  if (schema.contains("maxLength") && length > schema["maxLength"].get<std::size_t>()) {
    refuse(path, "is longer than " + schema["maxLength"].dump() + " characters");
  }
  if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end()) {
    refuse(path, "expected one of " + schema["enum"].dump());
  }
}

Json checked_number(const Json& schema, const std::string& path, Json value, bool is_integer) {
  if (!value.is_number()) refuse(path, is_integer ? "expected integer" : "expected number");
  if (is_integer && value.is_number_float()) {
    constexpr double kExact = 9007199254740992.0;  // from here on not every integer is a double
    const auto number = value.get<double>();
    if (std::trunc(number) != number || std::abs(number) >= kExact) refuse(path, "expected integer");
    value = static_cast<std::int64_t>(number);
  }
  if (schema.contains("minimum") && value < schema["minimum"]) refuse(path, "is less than " + schema["minimum"].dump());
  if (schema.contains("maximum") && value > schema["maximum"]) refuse(path, "is more than " + schema["maximum"].dump());
  return value;
}

Json checked_value(const Json& schema, const std::string& path, const Json& value) {
  const std::string type = schema.at("type").get<std::string>();
  if (type == "string") {
    check_text(schema, path, value);
  } else if (type == "integer" || type == "number") {
    return checked_number(schema, path, value, type == "integer");
  } else if (type == "boolean" && !value.is_boolean()) {
    refuse(path, "expected true or false");
  }
  return value;
}

}  // namespace

Json checked_arguments(const Json& schema, const Json& arguments) {
  Json checked = Json::object();
  if (!arguments.is_object()) refuse("params.arguments", "expected object");
  for (const auto& [name, property] : schema.at("properties").items()) {
    const auto given = arguments.find(name);
    const std::string path = "params.arguments." + name;
    if (given != arguments.end() && !given->is_null()) {
      checked[name] = checked_value(property, path, *given);
    } else if (property.contains("default")) {
      checked[name] = property["default"];
    }
  }
  if (!schema.contains("required")) return checked;
  for (const Json& name : schema["required"]) {
    if (!checked.contains(name.get<std::string>())) refuse("params.arguments." + name.get<std::string>(), "missing");
  }
  return checked;
}

}  // namespace rkllm_mcp::mcp
