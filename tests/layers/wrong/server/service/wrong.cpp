#include "app/server.hpp"  // what speaks to a service manager knows no server
