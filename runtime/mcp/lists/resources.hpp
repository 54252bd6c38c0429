// resources/list and resources/read. Where services have documents, those of the catalogue come first in the list, then
// each service's, fetched from it page by page. Event loop only.
#pragma once

#include "call/session.hpp"
#include "immutable.hpp"
#include "mcp/catalogue.hpp"
#include "mcp/lists/lists.hpp"
#include "mcp/protocol/era.hpp"
#include "mcp/service.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <functional>
#include <string>

namespace rkllm_mcp::mcp {

struct ResourceReading {
  Json body;  // {"contents":[...]}
  Freshness freshness;
};

// Throws InvalidParams with {"uri"} in its data if there is no such resource, and error 4007 if the session's client
// may not read it.
ResourceReading read_resource(const Catalogue& catalogue, const Session& session, const std::string& uri);

// Whether resources/list with these params has to ask a service; if not, list_resources() has the whole answer.
bool lists_documents(const Catalogue& catalogue, const Json& params);

// One page of all resources, through `done`. Throws InvalidParams for a cursor that was never given out.
void list_with_documents(const Catalogue& catalogue, Session& session, const Json& params, const PageLimits& limits,
                         DoneFunction done);

// One page of a service's documents, for SERVICE/resources/list. `params` may have cursor and limit.
void list_documents_of(const Service& service, const Principal& principal, const Json& params, const PageLimits& limits,
                       DoneFunction done);

// What `/servers` tells of a service: {"tools":[...],"resources":[...],"prompts":[...]}, with at most so many
// documents; none if they cannot be listed just now.
void describe_service(const Service& service, const Principal& principal, std::size_t most_documents,
                      std::function<void(Json capabilities)> done);

// The service that has documents at such addresses; null if none.
const Immutable<Service>* service_offering(const Catalogue& catalogue, const std::string& uri);

}  // namespace rkllm_mcp::mcp
