// LMDB as an MCP server, spoken to as a host would.
#include "support/catch.hpp"
#include "support/process.hpp"

#include "bindgen_json.hpp"

#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>

using bindgen::Json;
using rkllm_mcp::test::has_text;
using rkllm_mcp::test::Process;

namespace {

Process::Options server() {
  Process::Options options;
  options.args = {SERVER};
  return options;
}

class Host {
 public:
  Host() : process_(server()) {
    request("initialize", {{"protocolVersion", "2025-06-18"},
                           {"capabilities", Json::object()},
                           {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
    process_.write(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
                   "\n");
  }

  Json request(const std::string& method, const Json& params = Json::object()) {
    process_.write(Json{{"jsonrpc", "2.0"}, {"id", ++id_}, {"method", method}, {"params", params}}.dump() + "\n");
    const auto line = process_.read_line();
    if (!line) throw std::runtime_error("no answer to " + method + "; the server says:\n" + process_.error_text());
    return Json::parse(*line);
  }
  Json tool(const std::string& name, const Json& arguments = Json::object()) {
    return request("tools/call", {{"name", name}, {"arguments", arguments}})["result"];
  }
  Json value(const std::string& name, const Json& arguments = Json::object()) {
    return tool(name, arguments)["structuredContent"];
  }

 private:
  Process process_;
  int id_ = 0;
};

// An empty folder of this process.
std::string folder(const std::string& name) {
  const auto path = std::filesystem::path(SCRATCH) / std::to_string(::getpid()) / name;
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path.string();
}

}  // namespace

TEST_CASE("an environment is made, opened, looked at, copied and closed") {
  Host host;
  const std::string path = folder("database");
  CHECK(host.value("mdb_env_create") == Json{{"status", 0}, {"env", "env-1"}});
  CHECK(host.value("mdb_env_set_mapsize", {{"size", 1048576}}) == Json{{"status", 0}});
  CHECK(host.value("mdb_env_open", {{"path", path}}) == Json{{"status", 0}});
  CHECK(std::filesystem::exists(std::filesystem::path(path) / "data.mdb"));
  const Json stat = host.value("mdb_env_stat")["stat"];
  CHECK(stat["ms_entries"] == 0);
  CHECK(stat["ms_psize"] == ::sysconf(_SC_PAGESIZE));
  const Json info = host.value("mdb_env_info")["stat"];
  CHECK(info["me_mapsize"] == 1048576);
  CHECK_FALSE(info.contains("me_mapaddr"));
  CHECK(host.value("mdb_env_get_path") == Json{{"status", 0}, {"path", path}});
  CHECK(host.value("mdb_env_get_flags")["flags"].is_number_unsigned());
  CHECK(host.value("mdb_env_get_maxkeysize") == Json{{"value", 511}});
  CHECK(host.value("mdb_reader_check") == Json{{"status", 0}, {"dead", 0}});
  CHECK(host.value("mdb_env_sync", {{"force", true}}) == Json{{"status", 0}});
  const std::string copy = folder("copy");
  CHECK(host.value("mdb_env_copy", {{"path", copy}}) == Json{{"status", 0}});
  CHECK(std::filesystem::exists(std::filesystem::path(copy) / "data.mdb"));
  CHECK(host.value("mdb_env_close") == Json::object());
  CHECK(host.request("mdb_env_stat")["error"]["code"] == 4002);
}

TEST_CASE("what the library answers without a handle, and what it refuses") {
  Host host;
  const Json version = host.value("mdb_version");
  CHECK(version["major"] == 0);
  CHECK(version["minor"] == 9);
  CHECK_THAT(version["value"].get<std::string>(), has_text("LMDB 0.9"));
  CHECK_THAT(host.value("mdb_strerror", {{"err", -30798}})["value"].get<std::string>(), has_text("MDB_NOTFOUND"));
  host.value("mdb_env_create");
  const Json refused = host.tool("mdb_env_open", {{"path", folder("gone") + "/nowhere"}});
  CHECK(refused["isError"] == true);
  CHECK_THAT(refused["content"][0]["text"].get<std::string>(), has_text("mdb_env_open"));
}
