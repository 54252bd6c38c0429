#include "dispatch/dispatcher.hpp"  // a worker has no dispatcher
