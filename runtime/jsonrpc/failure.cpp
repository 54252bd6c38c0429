#include "jsonrpc/failure.hpp"

#include "memory_budget.hpp"

#include <new>

namespace rkllm_mcp {

RpcError as_rpc_error(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const RpcError& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return no_memory();
  } catch (const std::exception& error) {
    return {ErrorCode::kInternalError, std::string("internal error: ") + error.what()};
  } catch (...) {
    return {ErrorCode::kInternalError, "internal error"};
  }
}

}  // namespace rkllm_mcp
