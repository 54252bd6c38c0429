#include "cli/target.hpp"

#include "settings/settings.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"

#include <settings_defaults.h>

#include <optional>
#include <stdexcept>
#include <string>

using rkllm_mcp::http_place;
using rkllm_mcp::require_nobody_at;
using rkllm_mcp::server_places;
using rkllm_mcp::Settings;
using rkllm_mcp::target_of;
using rkllm_mcp::trusted_file;
using rkllm_mcp::where_of;
using rkllm_mcp::words_of;
using rkllm_mcp::words_of_refused_token;
namespace client = rkllm_mcp::client;
namespace defaults = rkllm_mcp::defaults;
using rkllm_mcp::client::Protocol;
using rkllm_mcp::test::TemporaryDirectory;
using rkllm_mcp::test::write_file;

namespace {

// Ports unlike the built-in ones.
Settings target_settings() {
  Settings settings;
  settings.http.port = 9000;
  settings.tcp.port = 9001;
  settings.ws.port = 9002;
  return settings;
}

std::string target_url(std::string_view to, const Settings& settings = target_settings(),
                       Protocol usual = Protocol::kTcp) {
  return target_of(to, settings, usual).url();
}

}  // namespace

TEST_CASE("a port alone is this machine's, with the transport that the settings have on it") {
  CHECK(target_url("9000") == "http://127.0.0.1:9000/jsonrpc");
  CHECK(target_url("9001") == "tcp://127.0.0.1:9001");
  CHECK(target_url("9002") == "ws://127.0.0.1:9002");
  CHECK(target_url("9003") == "tcp://127.0.0.1:9003");
  CHECK(target_url("9003", target_settings(), Protocol::kHttp) == "http://127.0.0.1:9003/jsonrpc");
}

TEST_CASE("a port on which the settings have TLS is spoken to with it") {
  Settings settings = target_settings();
  settings.http.tls = settings.tcp.tls = settings.ws.tls = true;
  CHECK(target_of("9000", settings, Protocol::kTcp).protocol == Protocol::kHttps);
  CHECK(target_of("9001", settings, Protocol::kTcp).protocol == Protocol::kTcps);
  CHECK(target_of("board:9002", settings, Protocol::kTcp).protocol == Protocol::kWebSockets);
}

TEST_CASE("a host without a port has the usual transport on its built-in port, whatever the settings have there") {
  Settings settings = target_settings();
  settings.http.port = defaults::kTcpPort;
  CHECK(target_url("board", settings) == "tcp://board:" + std::to_string(defaults::kTcpPort));
  CHECK(target_url("[::1]", settings) == "tcp://[::1]:" + std::to_string(defaults::kTcpPort));
  CHECK(target_url("board:" + std::to_string(defaults::kTcpPort), settings).starts_with("http://board:"));
}

TEST_CASE("a URL keeps its transport, its port and its path, and gets the port that it lacks") {
  CHECK(target_url("tcp://board:9000") == "tcp://board:9000");
  CHECK(target_of("http://board", Settings{}, Protocol::kTcp).port == defaults::kHttpPort);
  CHECK(target_of("ws://board", Settings{}, Protocol::kTcp).port == defaults::kWsPort);
  CHECK(target_of("udp://board", Settings{}, Protocol::kTcp).port == defaults::kUdpPort);
  CHECK(target_of("tcps://board", Settings{}, Protocol::kUdp).port == defaults::kTcpPort);
  CHECK(target_of("https://board", Settings{}, Protocol::kTcp).port == 443);
  CHECK(target_of("wss://[fe80::1]", Settings{}, Protocol::kTcp).port == 443);
  const client::Endpoint with_path = target_of("http://board/own", Settings{}, Protocol::kTcp);
  CHECK(with_path.port == defaults::kHttpPort);
  CHECK(with_path.path == "/own");
}

TEST_CASE("an HTTP target without a path gets the path that was asked for") {
  CHECK(target_of("http://board", Settings{}, Protocol::kTcp, "/mcp").path == "/mcp");
  CHECK(target_of("board:9000", target_settings(), Protocol::kTcp, "/mcp").path == "/mcp");
  CHECK(target_of("9000", target_settings(), Protocol::kTcp, "/mcp").path == "/mcp");
}

TEST_CASE("an absolute path is that of a Unix socket") {
  const client::Endpoint place = target_of("/run/rkllm-mcp.sock", Settings{}, Protocol::kTcp);
  CHECK(place.protocol == Protocol::kUnix);
  CHECK(place.path == "/run/rkllm-mcp.sock");
}

TEST_CASE("what is no place is refused") {
  for (const char* const to : {"", "99999", "board:0x1F90", "ftp://board", "tcp://", ":9000"}) {
    INFO(to);
    CHECK_THROWS_AS(target_of(to, Settings{}, Protocol::kTcp), std::invalid_argument);
  }
}

TEST_CASE("the HTTP port of a server that listens everywhere is on this machine, and has the server's certificate") {
  Settings settings = target_settings();
  settings.http.address = "0.0.0.0";
  settings.tls.certificate = "/etc/own.pem";
  CHECK(http_place(settings).url() == "http://127.0.0.1:9000");
  settings.http.address = "::";
  settings.http.tls = true;
  CHECK(http_place(settings).url() == "https://[::1]:9000");
  CHECK(http_place(settings).ca_file == "/etc/own.pem");
  CHECK(http_place(settings).path == "/");
  settings.http.address = "192.168.1.7";
  CHECK(http_place(settings).host == "192.168.1.7");
}

TEST_CASE("a server is looked for on its TCP port, then on that of its services, where it has them") {
  Settings settings = target_settings();
  settings.services.port = 9004;
  settings.tcp.enabled = true;
  const auto both = server_places(settings, "/mcp");
  REQUIRE(both.size() == 2);
  CHECK(both[0].protocol == Protocol::kTcp);
  CHECK(both[0].port == 9001);
  CHECK(both[1].protocol == Protocol::kHttp);
  CHECK(both[1].port == 9004);
  CHECK(both[1].path == "/mcp");

  settings.tcp.enabled = false;
  settings.http.tls = true;
  const auto services = server_places(settings, "/mcp");
  REQUIRE(services.size() == 1);
  CHECK(services[0].protocol == Protocol::kHttps);

  settings.tcp.enabled = true;
  settings.tcp.port = 0;
  settings.services.port = 0;
  CHECK(server_places(settings, "/mcp").empty());
}

TEST_CASE("a server that listens on all addresses is looked for on this machine's own") {
  Settings settings = target_settings();
  settings.tcp.enabled = true;
  settings.services.port = 9004;
  settings.tcp.address = "0.0.0.0";
  settings.services.address = "::";
  const auto places = server_places(settings, "/mcp");
  REQUIRE(places.size() == 2);
  CHECK(places[0].host == "127.0.0.1");
  CHECK(places[1].host == "::1");
  settings.tcp.address = "192.168.1.7";
  CHECK(server_places(settings, "/mcp")[0].host == "192.168.1.7");
}

TEST_CASE("a certificate that is named goes before the server's own") {
  Settings settings;
  settings.tls.certificate = "own.pem";
  CHECK(trusted_file("named.pem", settings) == "named.pem");
  CHECK(trusted_file("", settings) == "own.pem");
  CHECK(trusted_file("", Settings{}).empty());
}

TEST_CASE("a proposed command names the server, but where it finds it by the settings that are used anyway") {
  const TemporaryDirectory home;
  write_file(home / "settings.json", R"({"http":{"port":9000}})");
  const rkllm_mcp::Environment environment{{"HOME", home.path()}, {"RKLLM_MCP_SETTINGS", home / "settings.json"}};
  const client::Endpoint found{Protocol::kHttp, "127.0.0.1", 9000, "/"};
  const client::Endpoint other{Protocol::kHttp, "127.0.0.1", 9005, "/"};
  CHECK(where_of(found, environment).empty());
  CHECK(where_of(other, environment) == " --to " + other.url());
}

TEST_CASE("a proposed command names the certificate of a server with TLS, and of no other") {
  const TemporaryDirectory home;
  const rkllm_mcp::Environment environment{{"HOME", home.path()}};
  client::Endpoint place{Protocol::kHttps, "board", 9000, "/"};
  CHECK(where_of(place, environment) == " --to https://board:9000");
  place.ca_file = "own.pem";
  CHECK(where_of(place, environment) == " --to https://board:9000 --cacert own.pem");
  place.ca_file = "of mine.pem";
  CHECK(where_of(place, environment) == " --to https://board:9000 --cacert 'of mine.pem'");
  place.protocol = Protocol::kHttp;
  CHECK(where_of(place, environment) == " --to http://board:9000");
}

TEST_CASE("settings that are refused lead to no server, and the command names it") {
  const TemporaryDirectory home;
  write_file(home / "settings.json", R"({"http":{"port":"none"}})");
  const rkllm_mcp::Environment environment{{"HOME", home.path()}, {"RKLLM_MCP_SETTINGS", home / "settings.json"}};
  const client::Endpoint place = http_place(Settings{});
  CHECK(where_of(place, environment) == " --to " + place.url());
}

TEST_CASE("whom nobody answers is told how to start the server, or asked whether it runs there") {
  const client::Unreachable error("no answer");
  CHECK(words_of(error, " --simulator") == "no answer; is the server running? Start it: rkllm-mcp serve --simulator");
  CHECK(words_of(error, std::nullopt) == "no answer; is the server running there?");
}

TEST_CASE("of a host that there is not nobody is told to start a server") {
  CHECK(words_of(client::UnknownHost("no such host"), "") == "no such host");
}

TEST_CASE("whoever meets a certificate that is not known is told how to name it") {
  CHECK_THAT(words_of(client::UntrustedServer("not verified"), ""),
             rkllm_mcp::test::has_text("not verified; if it is yours") && rkllm_mcp::test::has_text("--cacert FILE"));
  CHECK(words_of(client::ConnectionError("gone"), "") == "gone");
}

TEST_CASE("whoever meets a certificate for another name is told to use that name, and not to name a file") {
  CHECK(words_of(client::MisnamedServer("mismatch"), "") == "mismatch; use the name that the certificate has");
}

TEST_CASE("whose access token is refused is told where it comes from, and who has none that one is needed") {
  CHECK(words_of(client::TokenRefused("refused"), "") ==
        "refused; the token is given by --token, or RKLLM_MCP_TOKEN in the environment");
  CHECK(words_of_refused_token("", "why") ==
        "an access token is needed: --token, or RKLLM_MCP_TOKEN in the environment");
  CHECK(
      words_of_refused_token("x", "too many") ==
      "the server refuses the access token, which comes from --token, or RKLLM_MCP_TOKEN in the environment: too many");
}

TEST_CASE("a place where a server of the settings may be is passed over only where nobody listens") {
  const auto thrown_on = [](const auto& error, const client::Endpoint& place) {
    try {
      throw error;
    } catch (const client::ConnectionError& handled) {
      require_nobody_at(place, handled);
    }
  };
  const auto places = server_places(Settings{}, "/mcp");
  thrown_on(client::Unreachable("nobody"), places[0]);
  CHECK_THROWS_AS(thrown_on(client::TokenRefused("no"), places[0]), client::TokenRefused);
  CHECK_THROWS_AS(thrown_on(client::UntrustedServer("no"), places[0]), client::UntrustedServer);
  CHECK_THROWS_AS(thrown_on(client::MisnamedServer("no"), places[0]), client::MisnamedServer);
  CHECK_THROWS_WITH(thrown_on(client::ConnectionError("odd"), places[0]),
                    "odd; if that is no server of rkllm-mcp, leave it out: --set tcp.enabled=false");
  CHECK_THROWS_WITH(thrown_on(client::ConnectionError("odd"), places[1]),
                    "odd; if that is no server of rkllm-mcp, leave it out: --set services.port=0");
  const std::string tcp_port = std::to_string(places[0].port);
  CHECK_THROWS_WITH(thrown_on(client::MisnamedServer("no"), places[0]),
                    "no; name the server, --to tcp://NAME:" + tcp_port + ", or leave it out: --set tcp.enabled=false");
  Settings with_tls;
  with_tls.http.tls = true;
  const client::Endpoint services = server_places(with_tls, "/mcp").back();
  CHECK_THROWS_WITH(thrown_on(client::UntrustedServer("no"), services),
                    "no; name the server, --to https://NAME:" + std::to_string(services.port) +
                        ", or leave it out: --set services.port=0");
}
