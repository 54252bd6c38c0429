#include "server/memory/postgresql_server.hpp"

#include "memory/postgresql/postgresql_connection.hpp"
#include "process/descriptor.hpp"

#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>
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

// A process that is nobody's child here, of which the kernel tells when it has ended.
struct Watched {
  pid_t id;
  Descriptor end;  // of a pidfd, readable then; none: it had ended before
};

std::vector<Watched> children_of(pid_t process) {
  std::vector<Watched> found;
  std::ifstream children("/proc/" + std::to_string(process) + "/task/" + std::to_string(process) + "/children");
  for (pid_t child = 0; children >> child;) {
    Descriptor end(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    if (end.number() < 0 && errno != ESRCH) throw std::system_error(errno, std::generic_category(), "pidfd_open");
    found.push_back({child, std::move(end)});
  }
  return found;
}

void await_end(const Watched& process) {
  if (process.end.number() < 0) return;
  pollfd end{process.end.number(), POLLIN, 0};
  while (::poll(&end, 1, -1) < 0 && errno == EINTR) {
  }
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
  const auto all = children_of(process_->pid());
  process_->signal(SIGKILL);
  for (const Watched& child : all) ::kill(child.id, SIGKILL);
  process_->wait();
  for (const Watched& child : all) await_end(child);  // a new server does not start before that
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
