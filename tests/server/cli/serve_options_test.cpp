#include "cli/serve_options.hpp"

#include "support/catch.hpp"
#include "support/process.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

using rkllm_mcp::as_options;
using rkllm_mcp::is_on_this_machine;
using rkllm_mcp::serve_options_for;
using rkllm_mcp::SettingsRequest;
using rkllm_mcp::client::Endpoint;
using rkllm_mcp::client::Protocol;

namespace {

SettingsRequest settings_with(std::vector<std::pair<std::string, std::string>> values) {
  SettingsRequest request;
  for (auto& [name, text] : values) request.assignments.push_back({std::move(name), std::move(text), "--set"});
  return request;
}

Endpoint place_at(const std::string& host, Protocol protocol = Protocol::kTcp) {
  Endpoint place;
  place.protocol = protocol;
  place.host = host;
  return place;
}

std::optional<std::string> options_for(const std::string& to, const SettingsRequest& request = {}) {
  return serve_options_for(to, Protocol::kTcp, request);
}

}  // namespace

TEST_CASE("this machine is a loopback address, by name or number, or a socket of its own") {
  for (const char* const host : {"localhost", "127.0.0.1", "127.9.8.7", "::1"})
    CHECK(is_on_this_machine(place_at(host)));
  CHECK(is_on_this_machine(place_at("", Protocol::kUnix)));
  for (const char* const host : {"192.0.2.1", "board", "localhost.example.org", "2001:db8::1"}) {
    CHECK_FALSE(is_on_this_machine(place_at(host)));
  }
}

TEST_CASE("what was said of the settings is said again, as a shell takes it") {
  CHECK(as_options({}).empty());
  SettingsRequest request = settings_with({{"http.port", "9000"}, {"log.file", "/var/log/a b"}});
  request.path = "my settings.json";
  CHECK(as_options(request) == " --settings 'my settings.json' --set http.port=9000 --set 'log.file=/var/log/a b'");
}

TEST_CASE("a secret is not said again, nor what the command says itself") {
  const auto request =
      settings_with({{"tools.google.api_key", "secret"}, {"tcp.port", "9000"}, {"runtime.library", "simulator"}});
  CHECK(as_options(request).find("secret") == std::string::npos);
  CHECK(as_options(request, "rkllm-mcp serve --set tcp.port=9001") == " --set runtime.library=simulator");
  CHECK(as_options(request, "rkllm-mcp serve --simulator") == " --set tcp.port=9000");
}

TEST_CASE("a server of the usual settings needs no options to be where it is looked for") {
  CHECK(options_for("tcp://127.0.0.1:8081") == "");
  CHECK(options_for("http://localhost:8080") == "");
}

TEST_CASE("a server that is to listen elsewhere is told its port, and its transport if that is off") {
  CHECK(options_for("tcp://127.0.0.1:9000") == " --set tcp.port=9000");
  CHECK(options_for("ws://127.0.0.1:9001") == " --set ws.port=9001");
  CHECK(options_for("tcp://127.0.0.1:9000", settings_with({{"tcp.enabled", "false"}})) ==
        " --set tcp.enabled=false --set tcp.enabled=true --set tcp.port=9000");
  CHECK(options_for("unix:///run/a.sock") == " --set unix.path=/run/a.sock");
  CHECK(options_for("unix:///run/a.sock", settings_with({{"unix.path", "/run/a.sock"}})) ==
        " --set unix.path=/run/a.sock");
}

TEST_CASE("a port that the server has for another transport is not given away") {
  CHECK(options_for("tcp://127.0.0.1:8080") == "");
}

TEST_CASE("nothing is proposed where another machine is looked for, or a certificate is missing") {
  CHECK_FALSE(options_for("tcp://192.0.2.1:8081"));
  CHECK_FALSE(options_for("https://localhost:8080"));
  const rkllm_mcp::test::TemporaryDirectory directory;
  CHECK(options_for("https://localhost:8080",
                    settings_with({{"tls.certificate", directory / "cert.pem"}, {"tls.key", directory / "key.pem"}})) ==
        " --set tls.certificate=" + (directory / "cert.pem") + " --set tls.key=" + (directory / "key.pem") +
            " --set http.tls=true");
}

TEST_CASE("a server that hears from everywhere is reached on this machine, one of another address is not") {
  const auto everywhere = settings_with({{"tcp.address", "0.0.0.0"}, {"auth.insecure", "true"}});
  CHECK(options_for("tcp://127.0.0.1:8081", everywhere) == as_options(everywhere));
  const auto elsewhere = settings_with({{"tcp.address", "192.0.2.1"}, {"auth.insecure", "true"}});
  CHECK(options_for("tcp://192.0.2.1:8081", elsewhere) == as_options(elsewhere));
  CHECK_FALSE(options_for("tcp://127.0.0.1:8081", elsewhere));
}

TEST_CASE("settings that are refused are proposed as they were said, for the server to say what is wrong with them") {
  CHECK(options_for("tcp://127.0.0.1:9000", settings_with({{"tcp.port", "many"}})) == " --set tcp.port=many");
}
