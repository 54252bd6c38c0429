#include "memory/postgresql/postgresql_library.hpp"

#include "memory/store.hpp"

#include <dlfcn.h>

#include <string>

namespace rkllm_mcp::memory::postgresql {
namespace {

constexpr const char* kFile = "libpq.so.5";

template <class Function>
void find(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function != nullptr) return;
  throw StoreError(StoreError::Kind::kUnavailable, std::string(kFile) + " has no " + name + "; it is too old");
}

}  // namespace

Library::Library() {
  // It stays loaded: libraries that it uses in turn do not take being unloaded.
  void* const library = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    throw StoreError(StoreError::Kind::kUnavailable,
                     "memory.database names a PostgreSQL server, and its client library "
                     "is missing; install it: apt-get install libpq5");
  }
  find(library, connect_start, "PQconnectStartParams");
  find(library, connect_poll, "PQconnectPoll");
  find(library, status, "PQstatus");
  find(library, socket, "PQsocket");
  find(library, error_message, "PQerrorMessage");
  find(library, finish, "PQfinish");
  find(library, set_nonblocking, "PQsetnonblocking");
  find(library, transaction_status, "PQtransactionStatus");
  find(library, set_notice_processor, "PQsetNoticeProcessor");
  find(library, send_query, "PQsendQuery");
  find(library, send_prepare, "PQsendPrepare");
  find(library, send_prepared, "PQsendQueryPrepared");
  find(library, flush, "PQflush");
  find(library, consume_input, "PQconsumeInput");
  find(library, is_busy, "PQisBusy");
  find(library, get_result, "PQgetResult");
  find(library, result_status, "PQresultStatus");
  find(library, error_field, "PQresultErrorField");
  find(library, command_status, "PQcmdStatus");
  find(library, command_tuples, "PQcmdTuples");
  find(library, rows, "PQntuples");
  find(library, value, "PQgetvalue");
  find(library, length, "PQgetlength");
  find(library, is_null, "PQgetisnull");
  find(library, clear, "PQclear");
  find(library, parse_address, "PQconninfoParse");
  find(library, free_options, "PQconninfoFree");
  find(library, free_memory, "PQfreemem");
}

}  // namespace rkllm_mcp::memory::postgresql
