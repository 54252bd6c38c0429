#include "worker/worker_engine.hpp"  // of the folder worker/ only two headers are open to it
