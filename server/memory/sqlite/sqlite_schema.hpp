// What is in the file, by version, and what may not be touched because it is not ours. Called when a store is opened.
#pragma once

#include "memory/sqlite/sqlite_connection.hpp"

#include <string>

namespace rkllm_mcp::memory {

// Throws StoreError if there is a file at `path` that is no store of this program: another program's database, or
// something that is no database. Reads its first bytes and changes nothing.
void refuse_foreign_file(const std::string& path);

// Makes the file, closed to other users, if there is none; and its folder.
void make_private_file(const std::string& path);

// Brings the file to the version that this program writes. Throws StoreError if it was written by a newer one.
void migrate(Connection& db);

}  // namespace rkllm_mcp::memory
