// What goes wrong with a turn or a model, as an error of the tools. Pure, any thread.
#pragma once

#include "chat/turn/model_lender.hpp"
#include "chat/turn/turn_error.hpp"

#include <rkllm_mcp/errors.hpp>

#include <string>
#include <vector>

namespace rkllm_mcp::chat {

// A turn's error with the code and the data that this server's calls have for it.
RpcError rpc_error_of(const TurnError& error);
// There is no model of that name: says which one may be meant, and where all of them are listed.
RpcError no_such_model(const std::string& name, const std::vector<ModelDescription>& models);
// No model is named, and there is not exactly one that could be meant.
RpcError which_model(const std::vector<ModelDescription>& models);

}  // namespace rkllm_mcp::chat
