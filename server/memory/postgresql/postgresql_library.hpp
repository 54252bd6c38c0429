// libpq, PostgreSQL's client library, loaded when a store asks for it: who keeps conversations in a file does not need
// it installed. Its functions by their own names, without the "PQ". Any thread.
#pragma once

#include <libpq-fe.h>

namespace rkllm_mcp::memory::postgresql {

struct Library {
  // Throws StoreError that says what to install.
  Library();

  decltype(&::PQconnectStartParams) connect_start;
  decltype(&::PQconnectPoll) connect_poll;
  decltype(&::PQstatus) status;
  decltype(&::PQsocket) socket;
  decltype(&::PQerrorMessage) error_message;
  decltype(&::PQfinish) finish;
  decltype(&::PQsetnonblocking) set_nonblocking;
  decltype(&::PQtransactionStatus) transaction_status;
  decltype(&::PQsetNoticeProcessor) set_notice_processor;
  decltype(&::PQsendQuery) send_query;
  decltype(&::PQsendPrepare) send_prepare;
  decltype(&::PQsendQueryPrepared) send_prepared;
  decltype(&::PQflush) flush;
  decltype(&::PQconsumeInput) consume_input;
  decltype(&::PQisBusy) is_busy;
  decltype(&::PQgetResult) get_result;
  decltype(&::PQresultStatus) result_status;
  decltype(&::PQresultErrorField) error_field;
  decltype(&::PQcmdStatus) command_status;
  decltype(&::PQcmdTuples) command_tuples;
  decltype(&::PQntuples) rows;
  decltype(&::PQgetvalue) value;
  decltype(&::PQgetlength) length;
  decltype(&::PQgetisnull) is_null;
  decltype(&::PQclear) clear;
  decltype(&::PQconninfoParse) parse_address;
  decltype(&::PQconninfoFree) free_options;
  decltype(&::PQfreemem) free_memory;
};

}  // namespace rkllm_mcp::memory::postgresql
