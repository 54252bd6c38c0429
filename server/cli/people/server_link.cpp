#include "cli/people/server_link.hpp"

#include "cli/target.hpp"
#include "client/connection.hpp"
#include "client/http/sse_parser.hpp"
#include "jsonrpc/bounded_json.hpp"
#include "text/shell_word.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace rkllm_mcp {
namespace {

constexpr client::HttpPatience kPatience{std::chrono::seconds(5), std::chrono::hours(1)};
constexpr std::size_t kLongestEvent = std::size_t{64} << 20U;
constexpr std::chrono::milliseconds kBetweenLooks{50};

constexpr const char* kHowToPresent = "an access token is needed: --token, or RKLLM_MCP_TOKEN in the environment";

// What the runtime has logged tells the cause where the error itself has only what came of it.
std::string with_last_log_line(std::string message, const Json& error) {
  const Json data = error.value("data", Json());
  const Json log = data.is_object() ? data.value("log", Json()) : Json();
  if (!log.is_array() || log.empty() || !log.back().is_string()) return message;
  const auto& line = log.back().get_ref<const std::string&>();
  return message.find(line) != std::string::npos ? message : message + "; the runtime's last word: " + line;
}

std::string message_of(const std::string& body, int status) {
  if (status == 401) return kHowToPresent;
  const auto json = parse_bounded(body);
  if (json && json->is_object() && json->contains("error")) {
    const Json& error = (*json)["error"];
    if (error.is_string()) return error.get<std::string>();
    if (error.is_object() && error.contains("message") && error["message"].is_string()) {
      return with_last_log_line(error["message"].get<std::string>(), error);
    }
  }
  if (status == 404) return "this server has nothing at that address";
  return "HTTP status " + std::to_string(status) + (body.empty() ? "" : ": " + body.substr(0, 200));
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

client::Endpoint endpoint_for(const RemoteOptions& options, const Settings& settings) {
  client::Endpoint endpoint{settings.http.tls ? client::Protocol::kHttps : client::Protocol::kHttp,
                            settings.http.address, settings.http.port, "/jsonrpc"};
  if (endpoint.host == "0.0.0.0") endpoint.host = "127.0.0.1";
  if (endpoint.host == "::") endpoint.host = "::1";
  if (!options.to.empty()) endpoint = target_of(options.to, settings, client::Protocol::kHttp);
  if (endpoint.protocol != client::Protocol::kHttp && endpoint.protocol != client::Protocol::kHttps) {
    throw std::invalid_argument(options.to +
                                ": this command needs the server's HTTP port, e.g. --to http://127.0.0.1:8080");
  }
  endpoint.token = options.token;
  endpoint.ca_file = options.to.empty() ? trusted_file(options.ca_file, settings) : options.ca_file;
  return endpoint;
}

}  // namespace

ServerLink::ServerLink(const RemoteOptions& options, const SettingsRequest& request)
    : settings_(load_settings(request).values),
      endpoint_(endpoint_for(options, settings_)),
      where_(options.to.empty() ? std::string() : " --to " + shell_word(options.to)) {
  if (!options.ca_file.empty()) where_ += " --cacert " + shell_word(options.ca_file);
  endpoint_.path = "/";  // so that url() is the server's, not one method's
}

void ServerLink::complain(client::HttpRoundTrip::End end, const client::HttpRoundTrip& trip) const {
  trip.require_reachable(url());
  const std::string text = url() + ": " + trip.complaint();
  if (end == client::HttpRoundTrip::End::kBroken) {
    throw client::ConnectionError(text +
                                  "; is that the HTTP port of an rkllm-mcp server? Those of the settings: rkllm-mcp "
                                  "settings");
  }
  throw client::ConnectionError(text);
}

ServerLink::Answer ServerLink::ask(const client::HttpQuestion& question) {
  client::HttpRoundTrip trip(endpoint_, kPatience);
  Answer answer{};
  const auto end = trip.run(
      question,
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
  if (answer.status != 200) throw ServerRefuses(answer.status, message_of(answer.body, answer.status));
  auto json = parse_bounded(answer.body);
  if (!json) throw client::ConnectionError(url() + path + " is no JSON: is this an rkllm-mcp server?");
  return *std::move(json);
}

Json ServerLink::health() {
  Json health = get("/health");
  if (health.contains("models")) return health;
  const std::string state = health.value("status", std::string("there"));
  if (health.contains("version")) {
    throw client::ConnectionError(url() + ": the server is " + state + ", but of an older version than this command");
  }
  throw ServerRefuses(401, url() + ": the server is " + state + "; to see more, " +
                               (endpoint_.token.empty() ? kHowToPresent : "it does not accept this access token"));
}

Json ServerLink::call(const std::string& method, const Json& params) {
  const Json message{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
  const Answer answer = ask({"POST", "/jsonrpc", {{"Accept", "application/json"}}, message.dump()});
  const auto json = parse_bounded(answer.body);
  if (!json || !json->is_object() || !json->contains("result")) {
    const Json error = json && json->is_object() ? json->value("error", Json()) : Json();
    const bool has_code = error.is_object() && error.contains("code") && error["code"].is_number_integer();
    throw ServerRefuses(answer.status, message_of(answer.body, answer.status), has_code ? error["code"].get<int>() : 0);
  }
  return (*json)["result"];
}

Json ServerLink::resource(const std::string& uri) {
  const Json result = call("resources/read", Json{{"uri", uri}});
  const Json contents = result.value("contents", Json::array());
  auto json = contents.empty() ? std::nullopt : parse_bounded(contents[0].value("text", std::string()));
  if (!json) throw client::ConnectionError(url() + ": " + uri + " is no JSON: is this an rkllm-mcp server?");
  return *std::move(json);
}

Json ServerLink::send(const std::string& method, const std::string& path, const Json& body) {
  const Answer answer = ask({method, path, {{"Accept", "application/json"}}, body.dump()});
  if (answer.status != 200) throw ServerRefuses(answer.status, message_of(answer.body, answer.status));
  auto json = answer.body.empty() ? std::optional(Json()) : parse_bounded(answer.body);
  if (!json) throw client::ConnectionError(url() + path + " is no JSON: is this an rkllm-mcp server?");
  return *std::move(json);
}

bool ServerLink::stream(const std::string& path, const Json& body,
                        const std::function<void(const std::string& data)>& on_data,
                        const std::function<bool()>& is_stopped) {
  client::HttpRoundTrip trip(endpoint_, kPatience);
  client::SseParser parser(kLongestEvent);
  client::HttpHead head{};
  std::string refusal;
  const Stopper stopper(trip, is_stopped);
  const auto end = trip.run(
      {"POST", path, {{"Accept", "text/event-stream"}}, body.dump(-1, ' ', false, Json::error_handler_t::replace)},
      [&head](const client::HttpHead& got) {
        head = got;
        return true;
      },
      [&](std::string_view bytes) {
        if (head.status != 200) {
          refusal += bytes;
        } else {
          parser.feed(bytes, [&on_data](const client::SseEvent& event) { on_data(event.data); });
        }
        return true;
      });
  if (end == client::HttpRoundTrip::End::kStopped) return false;
  if (end != client::HttpRoundTrip::End::kComplete) complain(end, trip);
  if (head.status != 200) throw ServerRefuses(head.status, message_of(refusal, head.status));
  return true;
}

}  // namespace rkllm_mcp
