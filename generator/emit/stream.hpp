// Part of methods.hpp: how a callback becomes a stream.
#pragma once

#include "emit/blocks.hpp"

namespace bindgen {

// Writes the block of one stream: what the states of its callback mean, where in the result the parts are, and the C
// function that is given to the library.
void emit_stream(BlockWriter& writer, const Api& api, const Stream& stream);

}  // namespace bindgen
