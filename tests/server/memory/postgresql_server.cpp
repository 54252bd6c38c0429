#include "server/memory/postgresql_server.hpp"

#include "memory/postgresql/connection.hpp"

#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace rkllm_mcp::test {
namespace {

namespace fs = std::filesystem;

// Debian has each version in a folder of its own.
std::string folder_of_programs() {
  int newest = 0;
  std::error_code failed;
  for (const auto& version : fs::directory_iterator("/usr/lib/postgresql", failed)) {
    if (fs::exists(version.path() / "bin/initdb"))
      newest = std::max(newest, std::atoi(version.path().filename().c_str()));
  }
  if (newest == 0) throw std::runtime_error("no PostgreSQL server is installed: apt-get install postgresql");
  return "/usr/lib/postgresql/" + std::to_string(newest) + "/bin/";
}

// Who runs it where the tests are run by root.
passwd ordinary_user() {
  for (const char* const name : {"postgres", "nobody"}) {
    if (const passwd* const user = ::getpwnam(name)) return *user;
  }
  throw std::runtime_error("there is no user postgres, and none nobody");
}

void add_children(pid_t process, std::vector<pid_t>& all) {
  std::ifstream children("/proc/" + std::to_string(process) + "/task/" + std::to_string(process) + "/children");
  for (pid_t child = 0; children >> child;) all.push_back(child);
}

}  // namespace

PostgresqlServer::PostgresqlServer() : programs_(folder_of_programs()) {
  if (::geteuid() == 0) {
    const passwd user = ordinary_user();
    if (::chown(directory_.path().c_str(), user.pw_uid, user.pw_gid) != 0) throw std::runtime_error("chown failed");
  }
  const auto made =
      run_to_end(as_ordinary_user({programs_ + "initdb", "--pgdata", directory_ / "cluster", "--username", "tester",
                                   "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync"}));
  if (made.status != 0) throw std::runtime_error("initdb failed: " + made.err);
  start();
}

PostgresqlServer::~PostgresqlServer() {
  process_->signal(SIGQUIT);
  process_->wait();
}

Process::Options PostgresqlServer::as_ordinary_user(std::vector<std::string> command) const {
  Process::Options options;
  options.directory = directory_.path();
  if (::geteuid() == 0) {
    const passwd user = ordinary_user();
    options.args = {"setpriv", "--reuid=" + std::to_string(user.pw_uid), "--regid=" + std::to_string(user.pw_gid),
                    "--clear-groups", "--pdeathsig=QUIT"};
  }
  options.args.insert(options.args.end(), command.begin(), command.end());
  return options;
}

void PostgresqlServer::start() {
  // fsync is about power cuts, which nobody tests here.
  process_ = std::make_unique<Process>(
      as_ordinary_user({programs_ + "postgres", "-D", directory_ / "cluster", "-k", directory_.path(), "-c",
                        "listen_addresses=", "-c", "fsync=off", "-c", "synchronous_commit=off", "-c",
                        "shared_buffers=16MB", "-c", "max_connections=60", "-c", "logging_collector=off"}));
  if (!process_->wait_for_error_text("database system is ready to accept connections")) {
    throw std::runtime_error("PostgreSQL does not start: " + process_->error_text());
  }
}

void PostgresqlServer::kill() {
  // It must not make a new child while its children are looked for.
  process_->signal(SIGSTOP);
  std::vector<pid_t> all;
  add_children(process_->pid(), all);
  process_->signal(SIGKILL);
  for (const pid_t child : all) ::kill(child, SIGKILL);
  process_->wait();
  // Until all of them have gone a new server does not start. They are nobody's children now.
  for (const pid_t child : all) {
    while (::kill(child, 0) == 0) ::usleep(1000);
  }
}

std::string PostgresqlServer::address_of(const std::string& database) const {
  return "postgresql://tester@/" + database + "?host=" + directory_.path();
}

std::string PostgresqlServer::new_database(const std::string& options) {
  const std::string name = "test_" + std::to_string(++databases_);
  memory::postgresql::Connection admin(address_of("postgres"), nullptr);
  admin.run_script("CREATE DATABASE " + name + " " + options);
  return address_of(name);
}

std::string PostgresqlServer::emptied_database() {
  if (emptied_.empty()) emptied_ = new_database();
  memory::postgresql::Connection admin(emptied_, nullptr);
  admin.run_script("DROP SCHEMA IF EXISTS rkllm_mcp CASCADE");
  return emptied_;
}

PostgresqlServer& shared_postgresql_server() {
  static PostgresqlServer server;
  return server;
}

}  // namespace rkllm_mcp::test
