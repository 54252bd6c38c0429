#include "cli/people/server_link.hpp"

#include "backend/logged_errors.hpp"
#include "cli/serve_options.hpp"
#include "cli/target.hpp"
#include "client/connection.hpp"
#include "client/http/sse_parser.hpp"
#include "clock.hpp"
#include "json_members.hpp"
#include "jsonrpc/bounded_json.hpp"
#include "text/ascii.hpp"
#include "version.hpp"

#include <settings_defaults.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

namespace rkllm_mcp {
namespace {

constexpr client::HttpPatience kPatience{std::chrono::seconds(5), client::kAnswerPatience};
constexpr std::size_t kLongestEvent = std::size_t{64} << 20U;
constexpr std::chrono::milliseconds kBetweenLooks{50};

// Why an access token is refused: as JSON-RPC tells it, or OpenAI's dialect, or Ollama's; empty if nothing does.
std::string reason_of(const Json& answer) {
  const Json* const error = member_of(answer, "error");
  if (error == nullptr) return {};
  const Json* const data = member_of(*error, "data");
  std::string reason = data != nullptr ? text_in(*data, "reason") : std::string();
  if (!reason.empty()) return reason;
  return error->is_string() ? error->get<std::string>() : text_in(*error, "message");
}

std::string message_of(const std::string& body, int status, const std::string& token) {
  const auto json = parse_bounded(body);
  if (status == 401) {
    return words_of_refused_token(token, json ? reason_of(*json) : std::string());
  }
  if (json && json->is_object() && json->contains("error")) {
    const Json& error = (*json)["error"];
    if (error.is_string()) return error.get<std::string>();
    if (error.is_object() && error.contains("message") && error["message"].is_string()) {
      return with_last_log_line(error["message"].get<std::string>(), error.value("data", Json()));
    }
  }
  if (status == 404) return "this server has nothing at that address";
  return "HTTP status " + std::to_string(status) +
         (body.empty() ? "" : ": " + std::string(without_space_around(std::string_view(body).substr(0, 200))));
}

// Ends a round trip when `is_stopped` says so. Looks from a thread of its own until it is destroyed.
class Stopper {
 public:
  Stopper(client::HttpRoundTrip& trip, const std::function<bool()>& is_stopped)
      : looker_([this, &trip, &is_stopped] { look(trip, is_stopped); }) {}
  Stopper(const Stopper&) = delete;
  Stopper& operator=(const Stopper&) = delete;
  ~Stopper() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    looker_.join();
  }

 private:
  void look(client::HttpRoundTrip& trip, const std::function<bool()>& is_stopped) {
    std::unique_lock lock(mutex_);
    bool stops = false;
    while (!changed_.wait_for(lock, kBetweenLooks, [this] { return is_over_; })) {
      stops = stops || is_stopped();
      if (stops) trip.stop();  // again and again: one call may come too early
    }
  }

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread looker_;
};

bool is_http(const client::Endpoint& endpoint) {
  return endpoint.protocol == client::Protocol::kHttp || endpoint.protocol == client::Protocol::kHttps;
}

// The value of a setting, from a server's answer to resources/read of rkllm://settings.
Json setting_at(const Json& answer, const char* name) {
  const Json& content = answer.at("result").at("contents").at(0);
  return parse_bounded(content.at("text").get<std::string>()).value_or(Json()).at("values").at(name).at("value");
}

// Where a server that was met at another of its ports says that its HTTP port is; nothing if it does not say.
std::optional<client::Endpoint> http_place_told_at(const client::Endpoint& met) {
  constexpr std::chrono::seconds kToAnswer{2};
  const auto deadline = Clock::now() + kToAnswer;
  try {
    const auto connection = client::connect(met, deadline);
    connection->send(
        Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "resources/read"}, {"params", {{"uri", "rkllm://settings"}}}}
            .dump());
    const auto text = connection->receive(deadline);
    const auto answer = text ? parse_bounded(*text) : std::nullopt;
    if (!answer || !setting_at(*answer, "http.enabled").get<bool>()) return std::nullopt;
    const bool tls = setting_at(*answer, "http.tls").get<bool>();
    client::Endpoint place{tls ? client::Protocol::kHttps : client::Protocol::kHttp,
                           met.protocol == client::Protocol::kUnix ? "127.0.0.1" : met.host,
                           setting_at(*answer, "http.port").get<std::uint16_t>(), "/"};
    return place.port == 0 ? std::nullopt : std::optional(place);
  } catch (const client::ConnectionError&) {
  } catch (const Json::exception&) {
  }
  return std::nullopt;
}

// Says that the port is not for these commands, and which one is.
std::string words_of_other_port(client::Endpoint met, const Settings& settings) {
  const auto told = http_place_told_at(met);
  met.path = met.protocol == client::Protocol::kUnix ? met.path : "/";
  const std::string words = met.url() + " is not the server's HTTP port, which this command needs: ";
  if (told) return words + "--to " + told->url();
  if (is_on_this_machine(met)) return words + "by the settings of this machine --to " + http_place(settings).url();
  const client::Endpoint usual{client::Protocol::kHttp, met.host, defaults::kHttpPort, "/"};
  return words + "usually --to " + usual.url();
}

client::Endpoint endpoint_for(const RemoteOptions& options, const Settings& settings) {
  client::Endpoint endpoint =
      options.to.empty() ? http_place(settings) : target_of(options.to, settings, client::Protocol::kHttp);
  endpoint.token = options.token;
  endpoint.ca_file = options.to.empty() ? trusted_file(options.ca_file, settings) : options.ca_file;
  if (!is_http(endpoint)) throw std::invalid_argument(words_of_other_port(endpoint, settings));
  endpoint.path = "/";  // so that url() is the server's, not one method's
  return endpoint;
}

}  // namespace

ServerLink::ServerLink(const RemoteOptions& options, const SettingsRequest& request)
    : settings_(load_settings(request).values),
      endpoint_(endpoint_for(options, settings_)),
      where_(where_of(endpoint_, request.environment)),
      settings_options_(as_options(request)) {}

bool ServerLink::is_of_settings() const { return url() == http_place(settings_).url(); }

void ServerLink::complain(client::HttpRoundTrip::End end, const client::HttpRoundTrip& trip) const {
  trip.require_reachable(url());
  if (trip.spoken() && !is_http(*trip.spoken())) {
    throw client::ConnectionError(words_of_other_port(*trip.spoken(), settings_));
  }
  const std::string text = url() + ": " + trip.complaint();
  if (end == client::HttpRoundTrip::End::kBroken) {
    throw client::ConnectionError(text +
                                  "; is that the HTTP port of an rkllm-mcp server? Those of the settings: rkllm-mcp "
                                  "settings" +
                                  settings_options_);
  }
  throw client::ConnectionError(text);
}

ServerLink::Answer ServerLink::ask(const client::HttpRequest& request) {
  client::HttpRoundTrip trip(endpoint_, kPatience);
  Answer answer{};
  const auto end = trip.run(
      request,
      [&answer](const client::HttpHead& head) {
        answer.status = head.status;
        return true;
      },
      [&answer](std::string_view bytes) {
        answer.body += bytes;
        return true;
      });
  if (end != client::HttpRoundTrip::End::kComplete) complain(end, trip);
  return answer;
}

Json ServerLink::get(const std::string& path) {
  const Answer answer = ask({"GET", path, {{"Accept", "application/json"}}});
  if (answer.status != 200) throw ServerRefuses(answer.status, message_of(answer.body, answer.status, endpoint_.token));
  auto json = parse_bounded(answer.body);
  if (!json) throw client::ConnectionError(url() + path + " is no JSON: is this an rkllm-mcp server?");
  return *std::move(json);
}

Json ServerLink::health() {
  Json health = get("/health");
  if (const Json* const models = member_of(health, "models"); models != nullptr && models->is_array()) return health;
  const auto text = [&](const char* name, const char* otherwise) {
    const Json value = health.is_object() ? health.value(name, Json(otherwise)) : Json();
    if (!value.is_string())
      throw client::ConnectionError(url() + "/health tells no health: is this an rkllm-mcp server?");
    return value.get<std::string>();
  };
  const std::string state = text("status", "there");
  if (health.contains("version")) {
    const bool is_same = text("version", "") == kProgramVersion;
    throw client::ConnectionError(url() + ": the server is " + state +
                                  (is_same ? ", but has no models here, only services: its models are at its HTTP port"
                                           : ", but of an older version than this command"));
  }
  const std::string refusal = words_of_refused_token(endpoint_.token, "");
  throw ServerRefuses(401, url() + ": " +
                               (endpoint_.token.empty() ? "the server is " + state + "; to see more, " + refusal
                                                        : refusal + "; without one it says that it is " + state));
}

Json ServerLink::call(const std::string& method, const Json& params) {
  const Json message{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
  const Answer answer = ask({"POST", "/jsonrpc", {{"Accept", "application/json"}}, message.dump()});
  const auto json = parse_bounded(answer.body);
  if (!json || !json->is_object() || !json->contains("result")) {
    const Json error = json && json->is_object() ? json->value("error", Json()) : Json();
    const bool has_code = error.is_object() && error.contains("code") && error["code"].is_number_integer();
    throw ServerRefuses(answer.status, message_of(answer.body, answer.status, endpoint_.token),
                        has_code ? error["code"].get<int>() : 0);
  }
  return (*json)["result"];
}

Json ServerLink::resource(const std::string& uri) {
  const Json result = call("resources/read", Json{{"uri", uri}});
  const Json* const contents = member_of(result, "contents");
  const bool is_there = contents != nullptr && contents->is_array() && !contents->empty();
  auto json = is_there ? parse_bounded(text_in(contents->front(), "text")) : std::nullopt;
  if (!json) throw client::ConnectionError(url() + ": " + uri + " is no JSON: is this an rkllm-mcp server?");
  return *std::move(json);
}

Json ServerLink::send(const std::string& method, const std::string& path, const Json& body) {
  const Answer answer = ask({method, path, {{"Accept", "application/json"}}, body.dump()});
  if (answer.status != 200) throw ServerRefuses(answer.status, message_of(answer.body, answer.status, endpoint_.token));
  auto json = answer.body.empty() ? std::optional(Json()) : parse_bounded(answer.body);
  if (!json) throw client::ConnectionError(url() + path + " is no JSON: is this an rkllm-mcp server?");
  return *std::move(json);
}

bool ServerLink::stream(const std::string& path, const Json& body,
                        const std::function<void(const std::string& data)>& on_data,
                        const std::function<bool()>& is_stopped) {
  client::SseParser parser(kLongestEvent);
  return post(
      path, body, "text/event-stream",
      [&](std::string_view bytes) {
        parser.feed(bytes, [&on_data](const client::SseEvent& event) { on_data(event.data); });
      },
      is_stopped);
}

bool ServerLink::lines(const std::string& path, const Json& body,
                       const std::function<void(const std::string& line)>& on_line,
                       const std::function<bool()>& is_stopped) {
  std::string open;
  const auto split = [&](std::string_view bytes) {
    open += bytes;
    for (auto end = open.find('\n'); end != std::string::npos; end = open.find('\n')) {
      const std::string line = open.substr(0, end);
      open.erase(0, end + 1);
      on_line(line);
    }
    if (open.size() > kLongestEvent) throw client::ConnectionError(url() + path + ": a line without end");
  };
  if (!post(path, body, "application/x-ndjson", split, is_stopped)) return false;
  if (!open.empty()) on_line(open);  // the last one need not have an end
  return true;
}

bool ServerLink::post(const std::string& path, const Json& body, const char* accepted,
                      const std::function<void(std::string_view bytes)>& on_bytes,
                      const std::function<bool()>& is_stopped) {
  client::HttpRoundTrip trip(endpoint_, kPatience);
  client::HttpHead head{};
  std::string refusal;
  const Stopper stopper(trip, is_stopped);
  const auto end = trip.run(
      {"POST", path, {{"Accept", accepted}}, body.dump(-1, ' ', false, Json::error_handler_t::replace)},
      [&head](const client::HttpHead& got) {
        head = got;
        return true;
      },
      [&](std::string_view bytes) {
        if (head.status != 200) {
          refusal += bytes;
        } else {
          on_bytes(bytes);
        }
        return true;
      });
  if (end == client::HttpRoundTrip::End::kStopped) return false;
  if (end != client::HttpRoundTrip::End::kComplete) complain(end, trip);
  if (head.status != 200) throw ServerRefuses(head.status, message_of(refusal, head.status, endpoint_.token));
  return true;
}

}  // namespace rkllm_mcp
