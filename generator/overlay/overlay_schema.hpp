// overlay/overlay.schema.json, compiled in.
#pragma once

namespace bindgen {

extern const char* const kOverlaySchema;

}  // namespace bindgen
