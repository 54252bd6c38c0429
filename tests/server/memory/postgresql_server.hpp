// A PostgreSQL server of Debian's package postgresql, with a cluster of its own in a temporary directory, run by an
// ordinary user (it refuses root). It acknowledges commits before they are on disk unless its clients ask for more: so
// a store that relies on how a server is set up loses messages here.
#pragma once

#include "support/process.hpp"

#include <memory>
#include <string>
#include <vector>

namespace rkllm_mcp::test {

class PostgresqlServer {
 public:
  // Throws std::runtime_error if the package is missing.
  PostgresqlServer();
  PostgresqlServer(const PostgresqlServer&) = delete;
  PostgresqlServer& operator=(const PostgresqlServer&) = delete;
  ~PostgresqlServer();

  // Kills all its processes at once. start() starts it again; both return when that is done.
  void kill();
  void start();

  // A new, empty database; gives its address for memory.database.
  std::string new_database(const std::string& options = {});
  // One that is emptied by each call: what was in it goes. A new one takes most of a second.
  std::string emptied_database();
  std::string address_of(const std::string& database) const;
  std::string socket_path() const { return directory_ / ".s.PGSQL.5432"; }

 private:
  Process::Options as_ordinary_user(std::vector<std::string> command) const;

  const TemporaryDirectory directory_;
  const std::string programs_;  // the folder of its programs
  std::unique_ptr<Process> process_;
  int databases_ = 0;
  std::string emptied_;
};

// One for all tests of a program, started when the first of them asks for it.
PostgresqlServer& shared_postgresql_server();

}  // namespace rkllm_mcp::test
