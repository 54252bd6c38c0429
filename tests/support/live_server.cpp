#include "support/live_server.hpp"

#include "support/http_client.hpp"
#include "support/paths.hpp"
#include "support/stdio_connection.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace rkllm_mcp::test {
namespace {

using Clock = std::chrono::steady_clock;

client::Protocol protocol_of(Transport transport) {
  switch (transport) {
    case Transport::kTcp: return client::Protocol::kTcp;
    case Transport::kUnix: return client::Protocol::kUnix;
    case Transport::kUdp: return client::Protocol::kUdp;
    case Transport::kHttp: return client::Protocol::kHttp;
    case Transport::kWebSocket: return client::Protocol::kWebSocket;
    case Transport::kStdio: break;
  }
  throw std::logic_error("standard input has no address");
}

std::string default_path(Transport transport) { return transport == Transport::kHttp ? "/jsonrpc" : "/"; }

}  // namespace

std::string shipped_model(std::string_view name) { return kModels + "/" + std::string(name) + ".json"; }

std::string simulator_of(const std::string& version) {
  if (version == kRuntimeVersions.back()) return kSimulator;
  std::string name = kSimulator;
  const auto suffix = name.rfind(".so");
  std::string set = "_" + version;
  std::replace(set.begin(), set.end(), '.', '_');
  return name.insert(suffix, set);
}

LiveServer::LiveServer(const Options& options) {
  const std::string ports_file = directory_ / "ports.json";
  Process::Options start;
  start.args = options.launcher;
  start.args.insert(start.args.end(),
                    {kProgram, "serve", "--settings", directory_ / "settings.json", "--ports-file", ports_file});
  start.args.insert(start.args.end(), options.runtime.begin(), options.runtime.end());
  for (const char* transport : {"tcp", "udp", "http", "ws"}) {
    start.args.insert(start.args.end(), {"--set", std::string(transport) + ".port=0"});
  }
  start.args.insert(start.args.end(), {"--set", "unix.path=" + (directory_ / "unix")});
  start.args.insert(start.args.end(), {"--set", "runtime.cache_dir=" + directory_.path()});
  for (const auto& setting : options.set) start.args.insert(start.args.end(), {"--set", setting});
  start.env.emplace_back("XDG_DATA_HOME", directory_ / "data");  // and nobody's own models
  start.unset.push_back("STATE_DIRECTORY");
  // Memory that is free counts as free, under that sanitizer too.
  start.env.emplace_back("ASAN_OPTIONS", "quarantine_size_mb=16");
  start.env.insert(start.env.end(), options.env.begin(), options.env.end());
  start.env.emplace_back("RKLLM_SIM_RECORD", directory_ / "record");
  start.input = options.with_stdio ? Process::Options::Input::kPipe : Process::Options::Input::kNull;
  process_ = std::make_unique<Process>(start);
  await_ports(ports_file);
}

void LiveServer::await_ports(const std::string& file) {
  const auto deadline = Clock::now() + Process::kPatience;
  while (!std::filesystem::exists(file)) {
    // Doubles as the pause between two looks.
    const auto status = process_->wait(std::chrono::milliseconds(2));
    if (status || Clock::now() > deadline) {
      process_->wait(std::chrono::milliseconds(500));  // for the rest of what it says
      throw std::runtime_error("the server did not start: " + process_->error_text());
    }
  }
  ports_ = Json::parse(read_file(file));
}

std::uint16_t LiveServer::port(Transport transport) const {
  return ports_.at(std::string(name_of(transport))).at("port").get<std::uint16_t>();
}

client::Endpoint LiveServer::endpoint(Transport transport, std::string path) const {
  if (transport == Transport::kUnix) return {client::Protocol::kUnix, "", 0, directory_ / "unix"};
  if (path.empty()) path = default_path(transport);
  return {protocol_of(transport), "127.0.0.1", port(transport), std::move(path)};
}

std::unique_ptr<Connection> LiveServer::connect(Transport transport) {
  if (transport == Transport::kStdio) return std::make_unique<StdioConnection>(*process_);
  return client::connect(endpoint(transport), Clock::now() + Process::kPatience);
}

Json LiveServer::health() const { return HttpClient(endpoint(Transport::kHttp)).get("/health").json(); }

void LiveServer::await_runtime(std::string_view state) const {
  const auto deadline = std::chrono::steady_clock::now() + Process::kPatience;
  for (;;) {
    const Json now = health()["runtime"]["state"];
    if (now == state) return;
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("the runtime is still " + now.dump());
  }
}

std::vector<RecordedRun> LiveServer::recorded_runs() const {
  std::vector<RecordedRun> runs;
  const std::string directory = directory_ / "record";
  if (!std::filesystem::exists(directory + "/runs.jsonl")) return runs;
  std::istringstream lines(read_file(directory + "/runs.jsonl"));
  for (std::string text; std::getline(lines, text);) {
    const Json line = Json::parse(text);
    const auto handle = line.at("handle").get<std::uint64_t>();
    const std::string file = std::to_string(handle) + "-" + line.at("run").dump() + ".txt";
    runs.push_back({handle, line.at("prompt").get<std::string>(), line.at("tokens").get<std::uint64_t>(),
                    line.at("aborted").get<bool>(), line.at("status").get<int>(), line.at("ending").get<std::string>(),
                    read_file(directory + "/" + file), line.at("prefilled").get<std::uint64_t>(),
                    line.at("reused").get<std::uint64_t>()});
  }
  return runs;
}

std::size_t LiveServer::peak_resident_bytes() const {
  const std::string status = read_file("/proc/" + std::to_string(process_->pid()) + "/status");
  constexpr std::string_view kPeak = "VmHWM:";
  return std::stoul(status.substr(status.find(kPeak) + kPeak.size())) * 1024;  // in kB
}

std::string LiveServer::write_model(std::string_view name, Json fields) const {
  Json model{{"rkllm_simulated_model", 1}, {"name", "SIMULATED " + std::string(name)}};
  model.update(fields);
  const std::string path = directory_ / (std::string(name) + ".json");
  write_file(path, model.dump());
  return path;
}

std::string LiveServer::paced_model(double tokens_per_s) const {
  return write_model("paced", {{"npu_cores", 1}, {"decode_tokens_per_s", tokens_per_s}});
}

}  // namespace rkllm_mcp::test
