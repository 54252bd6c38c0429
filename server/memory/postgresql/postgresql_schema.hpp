// What is in the database, by version: tables in a schema of their own, "rkllm_mcp". Called when a store is opened.
#pragma once

#include "memory/postgresql/postgresql_connection.hpp"

namespace rkllm_mcp::memory::postgresql {

// One number names this program's locks in the database, the other what is locked.
inline constexpr int kLocks = 0x726b6d6d;
inline constexpr int kWritersLock = 1;
inline constexpr int kMigrationLock = 2;

// Brings the database to the version that this program writes; another process that does the same meanwhile is waited
// for. Throws StoreError if a newer program has written it, or if the schema is another program's.
void migrate(Connection& db);

}  // namespace rkllm_mcp::memory::postgresql
