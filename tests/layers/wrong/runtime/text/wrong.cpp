#include "log.hpp"  // of server/
