#include "dispatch/dispatcher.hpp"  // a client knows no server
