#include "app/server.hpp"  // what counts calls does not know who builds it
const auto value = Json::parse(text);
