#include "direct/direct_dialect.hpp"  // the dialects do not know each other
